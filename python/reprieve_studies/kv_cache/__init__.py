"""LLM servers: what suspension is worth to the time to first token with a cache on a drive."""

from reprieve_studies.kv_cache import claims, page, runs
from reprieve_studies.paper import of_runs

STUDY = of_runs(runs, claims, page, frozenset({"traces"}))

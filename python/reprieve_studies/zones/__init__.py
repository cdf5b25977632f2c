"""Zones: what suspension still buys where the host collects."""

from reprieve_studies.paper import of_runs
from reprieve_studies.zones import claims, page, runs

STUDY = of_runs(runs, claims, page)

"""Arrays against suspension: which of them keeps reads short, and both together."""

from reprieve_studies.arrays import claims, page, runs
from reprieve_studies.paper import of_runs

STUDY = of_runs(runs, claims, page)

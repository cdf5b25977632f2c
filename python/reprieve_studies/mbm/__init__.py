"""The MBM paper: plane alignment, conditional multi-plane reads and suspension in a 3D drive."""

from reprieve_studies.mbm import claims, page, runs
from reprieve_studies.paper import Paper

STUDY = Paper(runs, claims, page, runs.simulate, frozenset({"requests", "traces"})).study()

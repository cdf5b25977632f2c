"""Wu and He, FAST 2012: program and erase suspension, measured under six loads on two drives."""

from reprieve_studies.fast12 import claims, page, runs
from reprieve_studies.paper import Paper

STUDY = Paper(runs, claims, page, runs.simulate, frozenset({"requests", "traces"})).study()

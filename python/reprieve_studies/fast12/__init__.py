"""Wu and He, FAST 2012: program and erase suspension, measured under six loads on two drives."""

from reprieve_studies.fast12 import claims, page
from reprieve_studies.fast12.runs import DATA, candidate_plan, planned, simulate
from reprieve_studies.paper import Paper

STUDY = Paper(
    DATA,
    planned,
    simulate,
    claims.verdicts,
    claims.numbers,
    page.facts,
    page.sections,
    candidate_plan,
    frozenset({"requests", "traces"}),
).study()

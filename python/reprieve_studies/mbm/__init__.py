"""The MBM paper: plane alignment, conditional multi-plane reads and suspension in a 3D drive."""

from reprieve_studies.mbm import claims, page
from reprieve_studies.mbm.runs import DATA, candidate_plan, planned, simulate
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

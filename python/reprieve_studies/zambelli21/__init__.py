"""Zambelli et al., Electronics 2021: program suspension of a 3D TLC part, and of a drive of it."""

from reprieve_studies.paper import Paper
from reprieve_studies.zambelli21 import claims, page
from reprieve_studies.zambelli21.runs import DATA, candidate_plan, planned

STUDY = Paper(
    DATA,
    planned,
    claims.run,
    claims.verdicts,
    claims.numbers,
    page.facts,
    page.sections,
    candidate_plan,
    frozenset({"requests"}),
).study()

"""Starblaze, Flash Memory Summit 2017: a database's load before and after suspension."""

from reprieve_studies.paper import Paper
from reprieve_studies.starblaze import claims, page
from reprieve_studies.starblaze.runs import DATA, candidate_plan, files, planned

STUDY = Paper(
    DATA,
    planned,
    claims.run,
    claims.verdicts,
    claims.numbers,
    page.facts,
    page.sections,
    candidate_plan,
    files=lambda outcome: files(outcome.plan),
).study()

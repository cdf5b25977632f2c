"""AERO, ASPLOS 2024: erases as long as they need, and whether suspension leaves them anything."""

from reprieve_studies.aero import claims, figures
from reprieve_studies.aero.runs import DATA, Plan, mean_erases_ms, simulate
from reprieve_studies.paper import Paper, sized

STUDY = Paper(
    DATA,
    sized(DATA, Plan),
    lambda plan, bench: claims.Outcome(plan, simulate(plan, bench), mean_erases_ms()),
    claims.verdicts,
    claims.numbers,
    figures.facts,
    figures.sections,
).study()

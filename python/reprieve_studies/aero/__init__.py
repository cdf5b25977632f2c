"""AERO, ASPLOS 2024: erases as long as they need, and whether suspension leaves them anything."""

from reprieve_studies.aero import claims, page, runs
from reprieve_studies.paper import Paper

STUDY = Paper(runs, claims, page, claims.run).study()

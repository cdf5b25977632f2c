"""Zambelli et al., Electronics 2021: program suspension of a 3D TLC part, and of a drive of it."""

from reprieve_studies.paper import Paper
from reprieve_studies.zambelli21 import claims, page, runs

STUDY = Paper(runs, claims, page, claims.run, frozenset({"requests"})).study()

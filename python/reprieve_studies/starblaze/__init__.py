"""Starblaze, Flash Memory Summit 2017: a database's load before and after suspension."""

from reprieve_studies.paper import Paper
from reprieve_studies.starblaze import claims, page, runs

STUDY = Paper(runs, claims, page, claims.run, files=runs.files).study()

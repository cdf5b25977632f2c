"""A real drive: fitted to a part of what fio measured of it, and predicted in the rest."""

from reprieve_studies.study import Study
from reprieve_studies.zns_a.page import article

STUDY = Study(title="A real drive, zns-a", takes=frozenset(), run=article)

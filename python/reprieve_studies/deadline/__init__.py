"""Is a deadline worth it: today's knobs, batching and deadlines, searched alike and then judged."""

from reprieve_studies.deadline import claims, experiment, page
from reprieve_studies.paper import Paper

STUDY = Paper(experiment, claims, page, experiment.run, paper_word="expected").study()

"""Is a deadline worth it: today's knobs, batching and deadlines, searched alike and then judged."""

from reprieve_studies.deadline import claims, experiment, page
from reprieve_studies.deadline.benches import DATA
from reprieve_studies.paper import Paper, sized

STUDY = Paper(
    DATA,
    sized(DATA, experiment.Plan),
    experiment.run,
    claims.verdicts,
    claims.numbers,
    page.facts,
    page.sections,
    words={"paper_word": "expected"},
).study()

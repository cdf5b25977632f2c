"""Zones: what suspension still buys where the host collects."""

from reprieve_studies.paper import of_runs, sized
from reprieve_studies.zones import claims, page
from reprieve_studies.zones.runs import DATA, Plan, simulate

STUDY = of_runs(
    DATA,
    sized(DATA, Plan),
    simulate,
    (claims, page),
    lambda plan: {
        "Drive": DATA["device"],
        "Runs": f"{plan.reads:,} reads, {len(plan.seeds)} seeds",
    },
)

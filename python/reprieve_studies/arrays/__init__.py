"""Arrays against suspension: which of them keeps reads short, and both together."""

from reprieve_studies.arrays import claims, page
from reprieve_studies.arrays.runs import DATA, Plan, simulate
from reprieve_studies.paper import of_runs, sized

STUDY = of_runs(
    DATA,
    sized(DATA, Plan),
    simulate,
    (claims, page),
    lambda plan: {
        "Drives": f"{DATA['drives']} {DATA['drive']['device']}, RAID 5",
        "Runs": f"{plan.requests:,} requests, {len(plan.seeds)} seeds",
    },
)

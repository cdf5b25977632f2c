"""LLM servers: what suspension is worth to the time to first token with a cache on a drive."""

from dataclasses import replace

from reprieve import UserError
from reprieve_studies.kv_cache import claims, page
from reprieve_studies.kv_cache.runs import DATA, Plan, simulate
from reprieve_studies.paper import of_runs, sized
from reprieve_studies.study import Settings


def _planned(settings: Settings) -> Plan:
    plan = sized(DATA, Plan)(settings)
    for name, given in settings.traces.items():
        if name != "prompts":
            raise UserError(f"--trace {name}={given.path}: must be prompts=FILE")
        plan = replace(plan, trace=given.path.resolve())
    return plan


STUDY = of_runs(
    DATA,
    _planned,
    simulate,
    (claims, page),
    lambda plan: {
        "Drives": ", ".join(plan.devices),
        "Runs": f"{plan.prompts:,} prompts, {len(plan.seeds)} seeds",
    },
    frozenset({"traces"}),
)

"""LLM servers: what suspension is worth to the time to first token with a cache on a drive."""

from dataclasses import replace

from reprieve import UserError
from reprieve_studies.article import Article
from reprieve_studies.kv_cache import claims, page
from reprieve_studies.kv_cache.runs import DATA, Plan, simulate
from reprieve_studies.study import Settings, Study

_TITLE = "LLM servers: what suspension is worth to the time to first token"


def article(settings: Settings) -> Article:
    """Run everything and write it up."""
    plan = Plan(**DATA["plan"]["quick" if settings.quick else "full"])
    for name, given in settings.traces.items():
        if name != "prompts":
            raise UserError(f"--trace {name}={given.path}: must be prompts=FILE")
        plan = replace(plan, trace=given.path.resolve())
    with settings.bench() as bench:
        runs = simulate(bench, plan)
    numbers = claims.numbers(runs, plan)
    return Article(
        title=_TITLE,
        command=settings.command,
        facts={
            "Drives": ", ".join(plan.devices),
            "Runs": f"{plan.prompts:,} prompts, {len(plan.seeds)} seeds",
        },
        sections=page.sections(numbers),
        verdicts=claims.verdicts(runs, plan),
        paper_word="expected",
        numbers=numbers,
    )


STUDY = Study(_TITLE, frozenset({"traces"}), article)

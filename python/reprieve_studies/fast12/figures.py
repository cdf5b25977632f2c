"""The paper's figures, in its form."""

from collections.abc import Mapping
from typing import Any

from reprieve_studies.article import Figure
from reprieve_studies.charts import Bars, bars_over_seeds
from reprieve_studies.fast12.claims import METRICS, SENTENCES, of_fifo_percent, queue_ns, ratio
from reprieve_studies.fast12.runs import DATA, DEVICES, MAIN, Group, Results
from reprieve_studies.frame import Claim, listed, multiple
from reprieve_studies.loads import Load

_AVERAGE = "average"
_PAPER = "A line across a bar of the average is the paper's, where the text states it."
_SPREAD = "Bars of error are 95 % intervals over the seeds."
_CUT = "The axis is the paper's; what leaves it is cut off."


def papers(results: Results) -> list[Figure]:
    """Return Figures 1 to 7, in the joint reading."""
    rows = listed(DATA["figure"])
    return [*(_figure(results, row) for row in rows), _figure_7(results)]


def _figure(results: Results, row: Mapping[str, Any]) -> Figure:
    """Draw every load and their average."""
    number, measure, policies = row["number"], row["measure"], row["policies"]
    is_relative = measure in ("read", "write")

    def bar(group: Group, load: Load, policy: str) -> float:
        if is_relative:
            return ratio(group, load, policy, policies[0], measure)
        value = METRICS[measure](group.result(load, policy))
        return 1 + value if measure == "increase" else value

    values = {
        (device, load.label, policy): [bar(group, load, policy) for group in groups]
        for device, groups in ((device, results.groups(MAIN, device)) for device in DEVICES)
        for load in results.plan.sets[MAIN]
        for policy in policies
    }
    marks = {
        (device, _AVERAGE, claim.options["of"]): _stated(claim, device)
        for device in DEVICES for claim in SENTENCES if claim.options.get("figure") == number
    }  # fmt: skip
    chart = bars_over_seeds(
        values, row["axis"], average=_AVERAGE, marks=marks, domain=row.get("domain")
    )
    under = f"Normalised to {policies[0]}" if is_relative else f"Under {policies[0]}"
    notes = [
        f"{under}; SLC left, MLC right; after Figure {number} of the paper.",
        *([_CUT] if chart.domain else []), *_spread(chart), *([_PAPER] if marks else []),
    ]  # fmt: skip
    return Figure(
        f"figure-{number}", f"Figure {number}: {row['title']}", " ".join(notes), chart.draw
    )


def _stated(claim: Claim, device: str) -> float:
    """Return the bar that a sentence states."""
    if "how" in claim.options:
        return multiple(claim, device)
    share = claim.value[device] / 100
    return 1 + share if claim.measure == "increase" else share


def _spread(chart: Bars) -> list[str]:
    return [_SPREAD] if chart.errors else []


def _figure_7(results: Results) -> Figure:
    values = {
        (device, str(limit), policy): [of_fifo_percent(one, policy, limit) / 100 for one in seeds]
        for device in DEVICES for seeds in (queue_ns(results, device),)
        for limit in DATA["queue"]["limits"] for policy in ("RPS", "PES_IPC")
    }  # fmt: skip
    chart = bars_over_seeds(values, "mean write latency, multiple of FIFO")
    caption = (
        "Under F2, or its counterpart, compressed seven times more than for the other figures; "
        f"groups are the maximum number of writes that wait for the drive. {_SPREAD}"
    )
    return Figure(
        "figure-7", "Figure 7: writes by the size of the write queue", caption, chart.draw
    )

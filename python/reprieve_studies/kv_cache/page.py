"""The report: times to first tokens by drive, stores and what may be suspended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reprieve_studies.article import Figure, Section, Table
from reprieve_studies.charts import Dots
from reprieve_studies.kv_cache.claims import LITTLE
from reprieve_studies.kv_cache.runs import PERCENTILES
from reprieve_studies.seeds import shown


def answer(numbers: Mapping[str, Any]) -> str:
    """Say by how much suspension moves the tail, or that it does not."""
    least, most = numbers["least_gain_p99"], numbers["most_gain_p99"]
    if most <= LITTLE and least >= 1 / LITTLE:
        return "Suspension moves p99 of the time to first token by less than 5 % on every drive."
    return (
        f"Without suspension, p99 of the time to first token is {least:.2f} to {most:.2f} times "
        "as long as with it."
    )


def sections(numbers: Mapping[str, Any]) -> Sequence[Section]:
    """Return the sections of the report."""
    rows, values = list[list[str]](), dict[tuple[str, str], float]()
    for device, of in numbers["drives"].items():
        for stores, arms in of.items():
            for arm, one in arms.items():
                rows.append(
                    [device, stores, arm,
                     *(f"{one[f'first_token_{name}_ms']:,.0f}" for name in PERCENTILES),
                     _gain(one["gain"]["first_token_p99"], arm),
                     *(f"{one[f'load_{name}_ms']:,.0f}" for name in PERCENTILES),
                     _gain(one["gain"]["load_p99"], arm),
                     *(f"{share:.1f}" for share in one["waits"].values())]
                )  # fmt: skip
                values[f"{device}, stores {stores}", arm] = one["first_token_p99_ms"]
    columns = ["drive", "stores", "suspension", "first token p50, ms", "p95", "p99",
               "none over it, p99", "load p50, ms", "p95", "p99", "none over it, p99",
               "programs, %", "erases, %", "collection, %"]  # fmt: skip
    caption = (
        "Means over seeds; ratios of pairs of a seed with 95 % intervals. The last columns are "
        "shares of the waiting of the slowest 1 % of reads"
    )
    dots = Dots(values, "p99 of time to first token, ms", log=True)
    title = "Time to first token by drive and stores"
    figure = Figure("kv-cache", title, "p99, mean over the seeds, by suspension.", dots.draw)
    table = Table(caption, columns, rows, 3)
    return [Section("Times to first tokens", [answer(numbers)], [figure], [table])]


def _gain(found: Mapping[str, float | None] | None, arm: str) -> str:
    return "–" if found is None or arm == "none" else shown(found)

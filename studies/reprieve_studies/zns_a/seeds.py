"""How far the device `zns-a` and the fit of the study are from the measurements, over seeds.

`python -m reprieve_studies.zns_a.seeds` simulates all runs on the device with several seeds, and
prints as JSON the errors of those that were not fitted, and how far it is from the fitted and from
all of them: three minutes. `--fit NUMBERS` does the same with the fit of the study, which
`reprieve reproduce zns-a` leaves in `numbers.json`.
"""

import argparse
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reprieve import UserError, device
from reprieve.calibration import (
    SMALLER,
    START,
    Condition,
    Effort,
    Evaluator,
    Task,
    Term,
    Value,
    errors,
    residuals,
)
from reprieve.cli.console import say
from reprieve_studies.recorded import read_recorded
from reprieve_studies.zns_a.measurements import measurements

DEVICE = "zns-a"
SEEDS = (1, 2, 3, 4, 5)
_SMALLER = {name: keys for name, keys in SMALLER.items() if name != "buffer"}
"""The buffer is the drive's own, not the large one of a drive whose buffer is not fitted."""
SUMS = {"body": ("p50", "p90", "p99"), "p99.9": ("p99.9",), "p99.99": ("p99.99",)}
"""Percentiles whose errors are summed up together."""


def values_of(numbers: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values of a fit, from the numbers of the study."""
    return {**numbers["chosen"], **{each["key"]: each["value"] for each in numbers["intervals"]}}


def run(
    fitted: Sequence[Condition],
    held: Sequence[Condition],
    effort: Effort,
    fit: Mapping[str, Value] | None = None,
    seeds: Sequence[int] = SEEDS,
) -> dict[str, Any]:
    """Simulate all runs on the device; or on the drive that a fit has found.

    Returns, a number a seed, median and ninth tenth of the relative errors of reads of the runs
    that were not fitted, as shares, and what the fit minimizes: half the weighted sum of squares of
    the fitted runs, and of all.
    """
    task = Task((), start=DEVICE if fit is None else START, smaller=_SMALLER)
    evaluator = Evaluator(task.base(), task.weights)
    found: dict[str, Any] = {"cost": {"fitted": [], "all": []}}
    try:
        for seed in seeds:
            of_seed = replace(effort, seed=seed)
            first, others = (
                evaluator.compare([dict(fit or {})], some, of_seed)[0] or []
                for some in (fitted, held)
            )
            _add_errors(found, others)
            costs = [float(each @ each) / 2 for each in (residuals(first), residuals(others))]
            found["cost"]["fitted"].append(costs[0])
            found["cost"]["all"].append(sum(costs))
    finally:
        evaluator.close()
    return found


def _add_errors(found: dict[str, Any], terms: Sequence[Term]) -> None:
    reads = [term for term in terms if term.direction == "read"]
    for name, whats in SUMS.items():
        summed = errors(reads, whats)
        assert summed is not None, "percentiles are predicted"
        sums = found.setdefault(name, {"median": [], "ninth_tenth": []})
        sums["median"].append(summed.median)
        sums["ninth_tenth"].append(summed.ninth_tenth)


def over_seeds(numbers: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Simulate all that was measured, with the effort of the study, on the device and the fit."""
    effort, (fitted, held) = Task(()).prediction, measurements()
    found: dict[str, Any] = {"seeds": list(SEEDS), "device": run(fitted, held, effort)}
    keys = tomllib.loads(device(DEVICE))
    found["device"]["chosen"] = {
        "planes_per_die": keys["geometry"]["planes_per_die"],
        "reads_per_suspension": keys["suspension"]["reads_per_suspension"],
        "program_iterations": keys["timing"]["program_iterations"],
    }
    if numbers is not None:
        found["fit"] = run(fitted, held, effort, values_of(numbers))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", type=Path, metavar="NUMBERS", help="numbers.json of the study")
    fit = parser.parse_args(arguments).fit
    numbers = None
    if fit is not None:
        what = "numbers.json of reprieve reproduce zns-a"
        try:
            numbers = read_recorded(fit, "--fit", ("chosen", "intervals"), what)
        except UserError as error:
            parser.error(str(error))
    say(json.dumps(over_seeds(numbers), indent=1))


if __name__ == "__main__":
    main()

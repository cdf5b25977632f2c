"""Whether what is said of the real drive hangs on the seed with which it is predicted.

`python -m reprieve_studies.zns_a.seeds` predicts the runs that were not fitted with the device
`zns-a` and several seeds, and prints the errors of each as JSON: two minutes.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reprieve.calibration import Condition, Effort, Evaluator, Task, errors
from reprieve.cli.console import say
from reprieve_studies.zns_a.measurements import measurements

DEVICE = "zns-a"
SEEDS = (1, 2, 3, 4, 5)
SUMS = {"body": ("p50", "p90", "p99"), "p99.9": ("p99.9",), "p99.99": ("p99.99",)}
"""Percentiles whose errors are summed up together."""


def run(
    conditions: Sequence[Condition], effort: Effort, seeds: Sequence[int] = SEEDS
) -> dict[str, Any]:
    """Return median and ninth tenth of the relative errors of reads, as shares, a number a seed."""
    task = Task((), start=DEVICE)
    evaluator = Evaluator(task.base(), task.weights)
    found: dict[str, Any] = {"seeds": list(seeds)}
    try:
        for seed in seeds:
            (terms,) = evaluator.compare([{}], conditions, replace(effort, seed=seed))
            reads = [term for term in terms or () if term.direction == "read"]
            for name, whats in SUMS.items():
                of_seed = errors(reads, whats)
                assert of_seed is not None, "percentiles are predicted"
                sums = found.setdefault(name, {"median": [], "ninth_tenth": []})
                sums["median"].append(of_seed.median)
                sums["ninth_tenth"].append(of_seed.ninth_tenth)
    finally:
        evaluator.close()
    return found


def over_seeds() -> dict[str, Any]:
    """Predict all that was not fitted, with the effort of the study."""
    _, held = measurements()
    return run(held, Task(()).prediction)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print it."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    say(json.dumps(over_seeds(), indent=1))


if __name__ == "__main__":
    main()

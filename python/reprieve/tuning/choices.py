"""Questions that are asked often, each a search with its own choices, goal and bounds."""

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprieve._native import UserError
from reprieve.notebook import step_bar
from reprieve.scenario import ScenarioLike, Source
from reprieve.tuning import SEEDS, Settings, Tuning, check_values, tune_into
from reprieve.tuning.question import Question, bound, question

LIMITS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, "none")
SPARES = (0.05, 0.07, 0.1, 0.12, 0.15, 0.2, 0.25, 0.28, 0.35, 0.4, 0.5)
_SHARES = (0.3, 0.6, 0.8, 0.95)
"""Of the tail that is asked for, as times of `batch` and `deadline`."""
_NEAR_END = (0.05, 0.1, 0.25)
"""Of the time of a program, as the rest that is not suspended."""


@dataclass(frozen=True)
class Given:
    """A question as it is asked."""

    of: Sequence[str] = ()
    """Values in place of the usual ones: limits, devices, shares."""
    where: Sequence[str] = ()
    """Bounds, such as `write.mean <= 2ms`."""
    tail: str | None = None
    """Bound on the read p99.9, such as `400us`."""
    least: str | None = None
    """Number to minimise in place of the usual one."""
    indifferent: float = 0.02

    @property
    def bounds(self) -> list[str]:
        """All of them."""
        return [*self.where, *([] if self.tail is None else [f"read.p99_9 <= {self.tail}"])]


def _ask(given: Given, vary: Sequence[str], least: str, **more: Any) -> Question:
    goal = given.least or least
    return question(vary, given.bounds, None, goal, given.indifferent, **more)


def _limit(given: Given, drive: Mapping[str, Any]) -> Question:
    if drive["suspension"]["program"] == "none" and not drive["suspension"]["erase"]:
        raise UserError(
            "which limit: this drive suspends nothing; say how it does, such as "
            "--set policy=PES-IPC"
        )
    values = ",".join(map(str, given.of or LIMITS))
    return _ask(given, [f"suspension.max_per_operation={values}"], "read.p99_9")


def _policy(given: Given, drive: Mapping[str, Any]) -> Question:
    if given.tail is None:
        raise UserError("which policy: say which tail it has to keep, such as --tail 400us")
    tail_us = bound(f"read.p99_9 <= {given.tail}").limit / 1000
    mode = drive["suspension"]["program"].replace("none", "ipc")
    timing = drive["timing"]
    pulse_us = timing["t_program_pulse_us"] + timing["t_verify_us"]
    program_us = pulse_us * timing["program_iterations"]
    always = {
        "suspension.program": mode,
        "suspension.erase": "true",
        "scheduling.policy": "rps",
        "suspension.policy": "always",
        "suspension.max_per_operation": "none",
    }
    found = {"fifo": {"policy": "fifo"}, "rps": {"policy": "rps"}, "always": always}
    for most in (1, 2, 5, 10):
        found[f"limit-{most}"] = {**always, "suspension.max_per_operation": str(most)}
    for share in _NEAR_END:
        rest = {"suspension.min_remaining_us": f"{share * program_us:.0f}"}
        found[f"near-end-{share:.0%}"] = {**always, "suspension.policy": "threshold", **rest}
    for share in _SHARES:
        batch = {"suspension.batch.reads": "none"}
        batch["suspension.batch.oldest_us"] = f"{share * tail_us:.0f}"
        found[f"batch-{share:.0%}"] = {**always, "suspension.policy": "batch", **batch}
        slo = {"suspension.deadline.read_slo_us": f"{share * tail_us:.0f}"}
        found[f"deadline-{share:.0%}"] = {**always, "suspension.policy": "deadline", **slo}
    if wrong := [name for name in given.of if name not in found]:
        raise UserError(f"which policy: of {wrong[0]}: must be some of {', '.join(found)}")
    arms = {
        name: tuple(f"{key}={value}" for key, value in sets.items()) for name, sets in found.items()
    }
    left = {name: arms[name] for name in given.of} if given.of else arms
    return _ask(given, (), "write.mean", arms=left)


def _drive(given: Given, _drive: Mapping[str, Any]) -> Question:
    if len(given.of) < 2:  # noqa: PLR2004
        raise UserError("which drive: name two or more, such as --of pm9a3,p5520")
    return _ask(given, [f"device={','.join(given.of)}"], "read.p99_9")


def _spare(given: Given, _drive: Mapping[str, Any]) -> Question:
    if not given.bounds:
        raise UserError(
            'which spare: say what it has to reach, such as --where "waf <= 3" or --tail 2ms'
        )
    values = ",".join(map(str, given.of or SPARES))
    return _ask(given, [f"ftl.over_provisioning={values}"], "ftl.over_provisioning")


QUESTIONS: Mapping[str, Callable[[Given, Mapping[str, Any]], Question]] = {
    "limit": _limit,
    "policy": _policy,
    "drive": _drive,
    "spare": _spare,
}
"""How many suspensions, which policy, which drive, how much over-provisioning."""


def asked_of(name: str, source: Source, given: Given) -> Question:
    """Return a question about a scenario; UserError if it cannot be asked."""
    if name not in QUESTIONS:
        raise UserError(f"which {name}: must be one of {', '.join(QUESTIONS)}")
    asked = QUESTIONS[name](given, tomllib.loads(source.resolve()))
    if given.of:
        check_values(source, asked, "--of: ")
    return asked


def which(
    name: str,
    scenario: ScenarioLike,
    *,
    of: Sequence[str] = (),
    where: Sequence[str] = (),
    tail: str | None = None,
    min: str | None = None,
    out: str | os.PathLike[str],
    seeds: int = SEEDS,
    indifferent: float = 0.02,
    minutes: float | None = None,
    workers: int | None = None,
    **overrides: Any,
) -> Tuning:
    """Answer which limit, policy, drive or over-provisioning (`spare`) a load needs.

    `of`: the choices, in place of the usual ones; drives have to be named.
    `where`: bounds such as `write.mean <= 2ms`; `tail`: one on the read p99.9, such as `400us`.
    `min`: the number to minimise; by default the read p99.9 for limits and drives, the mean write
    for policies, the over-provisioning itself for `spare`.
    `out`, `seeds`, `indifferent`, `minutes` and `workers` as for `tune`; `overrides` as for `run`.

    Raises UserError for a wrong question, before anything runs.

    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    >>> found = rp.which("limit", scenario, of=["1", "5"], min="read.mean", out="limit", seeds=1)
    >>> list(found.best)
    ['suspension.max_per_operation']
    """
    source = Source.of(scenario, overrides)
    asked = asked_of(name, source, Given(of, where, tail, min, indifferent))
    with step_bar() as step:
        settings = Settings(seeds=seeds, minutes=minutes, workers=workers, step=step)
        return tune_into(source, asked, Path(out), settings)

"""Policies of your own: classes with one method that a run calls at each decision."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reprieve._native import (
    Choice,
    Decision,
    DieView,
    Operation,
    OperationView,
    SuspendView,
    UserError,
    Waiter,
)

__all__ = [
    "Choice",
    "Decision",
    "DieView",
    "Operation",
    "OperationView",
    "OwnPolicies",
    "Scheduler",
    "SuspendView",
    "SuspensionPolicy",
    "Waiter",
]


class SuspensionPolicy:
    """Decides when the controller suspends an operation, and when it resumes one.

    An exception in a method ends the run; a wrong answer raises UserError.

    >>> class Once(rp.SuspensionPolicy):
    ...     def decide(self, view):
    ...         leave = view.is_suspended or view.suspensions > 0
    ...         return rp.Decision.LEAVE if leave else rp.Decision.SUSPEND
    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> scenario = {"device": "fast12-mlc", "policy": "PES-IPC", "workload": load}
    >>> flash = rp.run(scenario, suspension_policy=Once()).summary["flash"]
    >>> flash["suspensions"]["program"] == flash["suspended_operations"]["program"]["count"]
    True
    """

    def decide(self, view: OperationView) -> Decision | int:
        """Answer SUSPEND or LEAVE while the operation runs, RESUME or LEAVE while it is suspended.

        While it runs, a later time in ns is also an answer: leave it, and ask again then. The
        method is called only while a read or write waits that may suspend the operation, and
        neither the part nor a limit forbids it.
        """
        raise NotImplementedError


class Scheduler:
    """Decides which waiting transaction a die serves next.

    An exception in a method ends the run; a wrong answer raises UserError.

    >>> class WritesFirst(rp.Scheduler):
    ...     suspends = False
    ...     def choose(self, view):
    ...         if view.write:
    ...             return rp.Choice.WRITE
    ...         if view.read:
    ...             return rp.Choice.READ
    ...         return rp.Choice.GC if view.urgent_gc or view.idle_gc else rp.Choice.WAIT
    >>> load = {"generator": "mixed", "requests": 2000, "read_fraction": 0.7, "queue_depth": 8}
    >>> scenario = {"device": "fast12-mlc", "workload": load}
    >>> slow = rp.run(scenario, scheduler=WritesFirst())
    >>> rp.run(scenario, policy="RPS").latency("read").mean < slow.latency("read").mean
    True
    """

    suspends: bool = True
    """Whether programs and erases are suspended under it."""

    reads_first: bool = True
    """Whether the data of a read goes ahead of programs that wait for the channel."""

    def choose(self, view: DieView) -> Choice:
        """Answer what a free die does next.

        Not called while the suspension policy wants the suspended operation to resume. WAIT is
        allowed only if nothing waits except garbage collection that can wait.
        """
        raise NotImplementedError

    def lets_suspend(self, view: SuspendView) -> bool:
        """Answer whether the suspension policy may suspend the running operation now."""
        raise NotImplementedError

    def asks_again(self, view: SuspendView) -> int | None:
        """Return the time in ns at which the answer of `lets_suspend` may change on its own.

        None if only another event can change it.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class OwnPolicies:
    """Policies that take the place of those that a scenario names."""

    suspension: Any = None
    scheduler: Any = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Names of those that the scenario itself gives, by key."""

    def __post_init__(self) -> None:
        """Refuse what is no policy before anything is simulated."""
        for what, policy, method in (
            ("suspension_policy", self.suspension, "decide"),
            ("scheduler", self.scheduler, "choose"),
        ):
            if policy is None:
                continue
            if inspect.isclass(policy):
                raise UserError(
                    f"{what} = {policy.__name__}: is a class; must be an object of it, "
                    f"{policy.__name__}()"
                )
            if not callable(getattr(policy, method, None)):
                raise UserError(
                    f"{what} = {policy!r}: has no method {method}; must be an object with "
                    f"{method}(view)"
                )

    def names(self) -> dict[str, str]:
        """Return where each policy comes from, by the key of the scenario that it stands for."""
        given = {"suspension.policy": self.suspension, "scheduling.policy": self.scheduler}
        return {
            key: self.labels.get(key) or f"{type(policy).__module__}.{type(policy).__qualname__}"
            for key, policy in given.items()
            if policy is not None
        }

    def note(self) -> str:
        """Return the comment for a scenario file on other dependencies of the run."""
        return "".join(
            f"# The run asked a Python policy in place of {key}: {name}\n"
            for key, name in self.names().items()
            if key not in self.labels
        )

    def methods(self) -> dict[str, object] | None:
        """Return the methods for the simulator; None if the scenario's own policies decide."""
        if self.suspension is None and self.scheduler is None:
            return None
        scheduler = self.scheduler
        return {
            "decide": None if self.suspension is None else self.suspension.decide,
            "choose": None if scheduler is None else scheduler.choose,
            "lets_suspend": _own(scheduler, "lets_suspend"),
            "asks_again": _own(scheduler, "asks_again"),
            "suspends": _flag(scheduler, "suspends"),
            "reads_first": _flag(scheduler, "reads_first"),
        }


def _own(scheduler: object, method: str) -> object | None:
    """Return a method that may be left out; None if it is."""
    found = getattr(scheduler, method, None)
    left_out = getattr(found, "__func__", None) is getattr(Scheduler, method)
    return None if left_out else found


def _flag(scheduler: object, name: str) -> bool:
    value = getattr(scheduler, name, True)
    if not isinstance(value, bool):
        raise UserError(f"{type(scheduler).__qualname__}.{name} = {value!r}: must be True or False")
    return value

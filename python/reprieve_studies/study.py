"""Interface of the studies of papers: their settings and their results."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from reprieve import UserError
from reprieve.parallel import Step, silent
from reprieve_studies.article import Article
from reprieve_studies.loads import Recording
from reprieve_studies.runs import Bench, bench

_REQUESTS_MIN = 1_000


@dataclass(frozen=True)
class Settings:
    """Settings of a reproduction."""

    quick: bool = False
    """Fewer requests of each load: under a minute on two cores, ten of a search, and rougher."""
    requests: int | None = None
    """Of each load at most; None: what `quick` says."""
    traces: Mapping[str, Recording] = field(default_factory=dict)
    """Genuine traces by the paper's name of them."""
    jobs: int | None = None
    """Simulations at a time; None: one a core."""
    step: Step = silent
    joint: bool = False
    """Search the joint reading in place of running the one that is shipped."""
    command: str = "reprieve reproduce"
    """Command line that repeats it, for the report."""
    directory: Path | None = None
    """Where results go. A study that takes long keeps there what it has simulated, and goes on
    from it when it is run again."""

    def requests_or(self, usual: int) -> int:
        """Return how many requests were asked for, or as many as is usual."""
        if self.requests is None:
            return usual
        if self.requests < _REQUESTS_MIN:
            raise UserError(f"--requests {self.requests}: must be at least {_REQUESTS_MIN}")
        return self.requests

    def bench(self) -> AbstractContextManager[Bench]:
        """Return what simulates, and stores its runs in the directory of the results."""
        folder = None if self.directory is None else self.directory / "runs"
        return bench(folder, self.jobs, self.step)


@dataclass(frozen=True)
class Study:
    """A paper that can be reproduced."""

    title: str
    takes: frozenset[str]
    """Which of "traces" and "requests" mean something to it."""
    run: Callable[[Settings], Article]
    """Runs everything, and writes it up."""
    joint: Callable[[Settings], Article] | None = None
    """Searches the joint reading, and writes it up."""

    def build(self, settings: Settings) -> Article:
        """Run everything; UserError for a setting that it does not take."""
        if settings.traces and "traces" not in self.takes:
            name, given = next(iter(settings.traces.items()))
            what = "the loads of this paper are generated; leave it out"
            raise UserError(f"--trace {name}={given.path}: {what}")
        if settings.requests is not None and "requests" not in self.takes:
            raise UserError(
                f"--requests {settings.requests}: the runs of this study have lengths of their "
                "own; leave it out, or take --quick"
            )
        if not settings.joint:
            return self.run(settings)
        if self.joint is None:
            raise UserError("--joint: this study has one reading; leave it out")
        if settings.traces or settings.requests is not None:
            raise UserError(
                "--joint: takes the study's own loads and lengths; leave out the others"
            )
        return self.joint(settings)

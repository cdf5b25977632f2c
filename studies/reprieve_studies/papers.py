"""Papers reproduced: every table and figure beside the paper's own numbers, with verdicts."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reprieve import UserError
from reprieve.outputs import ResultDirectory
from reprieve.parallel import Step, silent
from reprieve_studies import fast12, mbm, starblaze, zambelli21
from reprieve_studies.article import Article, render_article, write_figures
from reprieve_studies.verdicts import Verdict, tally, verdicts_json

__all__ = ["PAPERS", "Paper", "Settings", "reproduce", "reproduce_into"]


@dataclass(frozen=True)
class Settings:
    """How a paper is reproduced."""

    quick: bool = False
    """Fewer requests of each load: under a minute on two cores, and rougher."""
    requests: int | None = None
    """Of each load at most; None: what `quick` says."""
    traces: Mapping[str, Path] = field(default_factory=dict)
    """Genuine traces by the paper's name of them."""
    jobs: int | None = None
    """Simulations at a time; None: one a core."""
    step: Step = silent
    real_time: bool = False
    """Serve the drive to a real fio too, where the load is one of fio."""
    command: str = "reprieve reproduce"
    """Shown in the report as what repeats it."""
    full_geometry: bool = False
    """Run the paper's own blocks, where the usual runs have shorter ones."""

    def requests_or(self, usual: int) -> int:
        """Return how many requests were asked for, or as many as is usual."""
        return usual if self.requests is None else self.requests


@dataclass(frozen=True)
class Paper:
    """A paper that can be reproduced."""

    title: str
    build: Callable[[Settings], Article]
    """Runs everything."""


def _simulated(settings: Settings) -> Settings:
    if settings.real_time:
        raise UserError("--real-time: only the load of starblaze is one of fio; leave it out")
    return settings


def _scaled(settings: Settings) -> Settings:
    if settings.full_geometry:
        raise UserError(
            "--full-geometry: only mbm is usually run with shorter blocks than its paper's; leave "
            "it out"
        )
    return settings


def _without_requests(settings: Settings) -> Settings:
    if settings.requests is not None:
        raise UserError(
            f"--requests {settings.requests}: the cases of these slides run for a time; leave it "
            "out, or take --quick"
        )
    return settings


def _without_traces(settings: Settings) -> Settings:
    for name, path in settings.traces.items():
        raise UserError(
            f"--trace {name}={path}: the loads of this paper are generated; leave it out"
        )
    return settings


PAPERS: dict[str, Paper] = {
    "fast12": Paper(
        "Wu and He, Reducing SSD Read Latency via NAND Flash Program and Erase Suspension, 2012",
        lambda settings: fast12.article(
            fast12.Request(
                fast12.REQUESTS_QUICK if _scaled(_simulated(settings)).quick else fast12.REQUESTS,
                settings.traces,
            ).with_requests(settings.requests),
            settings.jobs,
            settings.step,
            settings.command,
        ),
    ),
    "starblaze": Paper(
        "Starblaze, NAND flash program and erase suspension in an SSD controller, slides of the "
        "Flash Memory Summit, 2017",
        lambda settings: starblaze.article(
            (
                starblaze.QUICK
                if _scaled(_without_requests(_without_traces(settings))).quick
                else starblaze.FULL
            ),
            settings.jobs,
            settings.step,
            settings.command,
            settings.real_time,
        ),
    ),
    "zambelli21": Paper(
        "Zambelli et al., Assessing the Role of Program Suspend Operation in 3D NAND Flash Based "
        "Solid State Drives, 2021",
        lambda settings: zambelli21.article(
            _scaled(_without_traces(_simulated(settings))).requests_or(
                zambelli21.REQUESTS_QUICK if settings.quick else zambelli21.REQUESTS
            ),
            settings.jobs,
            settings.step,
            settings.command,
        ),
    ),
    "mbm": Paper(
        "Maximize Bandwidth Management (MBM) for 3D NAND, against TBM and Sprinkler",
        lambda settings: mbm.article(
            replace(
                mbm.QUICK if _simulated(settings).quick else mbm.FULL,
                traces=settings.traces,
                full_geometry=settings.full_geometry,
            ).with_requests(settings.requests),
            settings.jobs,
            settings.step,
            settings.command,
        ),
    ),
}


def reproduce(
    paper: str,
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    traces: Mapping[str, str | os.PathLike[str]] | None = None,
    requests: int | None = None,
    jobs: int | None = None,
    full_geometry: bool = False,
    real_time: bool = False,
) -> list[Verdict]:
    """Reproduce a paper and return a verdict for each of its claims.

    `paper`: a name of `PAPERS`: "fast12", "starblaze", "zambelli21" or "mbm".
    `out`: a directory for `report.html`, `verdicts.json`, `numbers.json` and `figures/`.
    `traces`: genuine traces by the paper's name of them, in place of their twins.
    `requests`: of each load at most, or of each run.
    `full_geometry`: the blocks of the paper's drive ("mbm").
    `real_time`: run fio against the served drive too, some minutes more ("starblaze").

    Raises UserError if the paper is unknown, a trace cannot be read, or there is no fio.
    """
    files = {name: Path(path) for name, path in (traces or {}).items()}
    settings = Settings(
        quick=quick,
        requests=requests,
        traces=files,
        jobs=jobs,
        full_geometry=full_geometry,
        real_time=real_time,
    )
    if out is None:
        return list(_paper(paper).build(settings).verdicts)
    return list(reproduce_into(paper, Path(out), settings).verdicts)


def reproduce_into(paper: str, directory: Path, settings: Settings) -> Article:
    """Reproduce a paper and write its report, verdicts, numbers and figures, all at the end."""
    known = _paper(paper)
    with ResultDirectory(directory) as out:
        article = known.build(settings)
        write_figures(out, article.figures)
        for path, text in article.files.items():
            out.write(path, text)
        out.write("report.html", render_article(article))
        out.write("verdicts.json", verdicts_json(article.verdicts))
        out.write("numbers.json", numbers_json(article))
        out.commit()
    return article


def numbers_json(article: Article) -> str:
    """`numbers.json`: what pages quote, by name; `null` where a run has no such number."""
    names = ("reproduced", "not_reproduced", "not_testable")
    counts = {
        "claims": len(article.verdicts),
        **dict(zip(names, tally(article.verdicts), strict=True)),
    }
    numbers = _finite({"tally": counts, **article.numbers})
    return json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    """JSON has no infinities; a number that is none was not measured."""
    if isinstance(value, Mapping):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _paper(name: str) -> Paper:
    if name not in PAPERS:
        raise UserError(f"reproduce {name}: must be one of {', '.join(PAPERS)}")
    return PAPERS[name]

"""Papers reproduced: every table and figure beside the paper's own numbers, with verdicts."""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from reprieve import UserError
from reprieve.outputs import ResultDirectory
from reprieve_studies import (
    aero,
    arrays,
    deadline,
    drives,
    fast12,
    kv_cache,
    mbm,
    starblaze,
    zambelli21,
    zns_a,
    zones,
)
from reprieve_studies.article import Article, write_article
from reprieve_studies.loads import Recording
from reprieve_studies.study import Settings, Study
from reprieve_studies.verdicts import Verdict, aside, finite, tallies, tally

__all__ = ["PAPERS", "Settings", "reproduce", "reproduce_into"]

PAPERS: dict[str, Study] = {
    "fast12": fast12.STUDY,
    "starblaze": starblaze.STUDY,
    "zambelli21": zambelli21.STUDY,
    "mbm": mbm.STUDY,
    "zns-a": zns_a.STUDY,
    "drives": drives.STUDY,
    "aero": aero.STUDY,
    "deadline": deadline.STUDY,
    "zones": zones.STUDY,
    "arrays": arrays.STUDY,
    "kv-cache": kv_cache.STUDY,
}


def reproduce(
    paper: str,
    *,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    traces: Mapping[str, str | os.PathLike[str]] | None = None,
    requests: int | None = None,
    jobs: int | None = None,
    joint: bool = False,
) -> list[Verdict]:
    """Reproduce a paper and return a verdict for each of its claims.

    `paper`: a name of `PAPERS`, such as "fast12", "starblaze", "zambelli21", "mbm" or "drives".
    `out`: a directory for `report.html`, `verdicts.json`, `numbers.json` and `figures/`.
    `traces`: genuine traces by the paper's name of them, in place of their counterparts.
    `requests`: of each load at most, or of each run.
    `joint`: search the joint reading in place of running the one that is shipped.

    Raises UserError if the paper is unknown, or a trace cannot be read.
    """
    files = {name: Recording(Path(path)) for name, path in (traces or {}).items()}
    settings = Settings(quick, requests, files, jobs, joint=joint)
    if out is None:
        return list(_paper(paper).build(settings).verdicts)
    return list(reproduce_into(paper, Path(out), settings).verdicts)


def reproduce_into(paper: str, directory: Path, settings: Settings) -> Article:
    """Reproduce a paper and write its report, verdicts, numbers and figures, all at the end.

    Finished runs are stored in `directory` at once: a study that was killed goes on from them.
    """
    known = _paper(paper)
    with ResultDirectory(directory) as out:
        article = known.build(replace(settings, directory=directory))
        write_article(out, article)
        out.write("numbers.json", numbers_json(article))
        out.commit()
    return article


def numbers_json(article: Article) -> str:
    """`numbers.json`: what pages quote, by name; `null` where a run has no such number."""
    judged = tally(article.verdicts)
    counts = {
        "claims": sum(judged),
        **judged._asdict(),
        "aside": aside(article.verdicts),
        "classes": {of: one._asdict() for of, one in tallies(article.verdicts).items()},
        "null_model": sum(bool(one.null_model) for one in article.verdicts),
    }
    numbers = finite({"tally": counts, **article.numbers})
    return json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _paper(name: str) -> Study:
    if name not in PAPERS:
        raise UserError(f"reproduce {name}: must be one of {', '.join(PAPERS)}")
    return PAPERS[name]

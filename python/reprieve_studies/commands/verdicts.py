"""Verdicts as a table on the terminal."""

from collections.abc import Sequence

from reprieve.cli.console import sentence, show, table
from reprieve_studies.verdicts import RELATIONS, Verdict, headline

_OUTCOMES = {True: "yes", False: "NO", None: "–"}


def show_verdicts(title: str, verdicts: Sequence[Verdict], expected: str) -> None:
    """Print every verdict and the headline; `expected` names the source of the numbers."""
    rows = table(title, ["claim", "unit", expected, "ours", "holds", "kind"], left=2)
    for verdict in verdicts:
        rows.add_row(
            verdict.claim,
            "" if verdict.unit == "1" else verdict.unit,
            RELATIONS[verdict.relation] + _number(verdict.paper) + _margin(verdict.tolerance),
            _number(verdict.ours),
            "?" if verdict.undecided else _OUTCOMES[verdict.reproduced],
            verdict.kind,
        )
    show(rows)
    sentence(headline(verdicts))


def _margin(tolerance: float | None) -> str:
    """Return by how much a number may miss that of the source, to stand behind it."""
    return f" ± {_number(tolerance)}" if tolerance else ""


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.4g}"

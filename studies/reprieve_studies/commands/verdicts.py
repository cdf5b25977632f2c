"""Verdicts as a table on the terminal."""

from collections.abc import Sequence

from reprieve.cli.console import say, show, table
from reprieve_studies.verdicts import RELATIONS, Verdict, headline

_OUTCOMES = {True: "yes", False: "NO", None: "–"}


def show_verdicts(title: str, verdicts: Sequence[Verdict], expected: str) -> None:
    """Print every verdict and the headline; `expected` names the source of the numbers."""
    rows = table(
        title, ["claim", "unit", expected, "ours", "tolerance", "reproduced", "kind"], left=2
    )
    for verdict in verdicts:
        rows.add_row(
            verdict.claim,
            "" if verdict.unit == "1" else verdict.unit,
            RELATIONS[verdict.relation] + _number(verdict.paper),
            _number(verdict.ours),
            _number(verdict.tolerance),
            _OUTCOMES[verdict.reproduced] + ("?" if verdict.decided is False else ""),
            verdict.kind,
        )
    show(rows)
    say(headline(verdicts))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,.4g}"

"""Why the slowest requests of a run were slow: from the files of its results, in words."""

import json
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprieve import tables
from reprieve._native import Table, UserError
from reprieve.blame import KINDS, SHARES, slowest
from reprieve.foreign import read_json
from reprieve.latency import percent_of
from reprieve.request_log import CAUSES
from reprieve.result import Result
from reprieve.toml_values import parse_toml

FEWEST = 10
"""Requests that a part has at least of which something is said in words."""

_NAMED_SHARE = 0.05
"""Causes with less of the time are not named in words."""


@dataclass(frozen=True)
class Cause:
    """Cause of waiting, with words and advice for it."""

    words: str
    """With "behind" or "for" before it."""
    advice: str
    """Changes that reduce the waiting."""
    keys: tuple[str, ...] = ()
    """Of the scenario; those that it has are shown with their values."""
    without: tuple[str, ...] = ()
    """Overrides that take the cause away."""
    taken_away: str = ""
    """Words for the effect of `without`, after "with"."""
    eased: tuple[str, float] | None = None
    """A key that eases the cause when it is multiplied, where no override takes it away."""
    to_writes: str = ""
    """Advice for writes, if it differs."""
    keys_of_writes: tuple[str, ...] = ()
    """Keys for the advice in `to_writes`."""


def _catalogue() -> dict[str, Cause]:
    text = Path(__file__).with_name("causes.toml").read_text(encoding="utf-8")
    found = dict[str, Cause]()
    for name, of in tomllib.loads(text).items():
        lists: dict[str, Any] = {key: tuple(v) for key, v in of.items() if isinstance(v, list)}
        found[name] = Cause(**(of | lists))
    return found


CATALOGUE: Mapping[str, Cause] = _catalogue()


@dataclass(frozen=True)
class Explanation:
    """The results of a run in a directory that kept its requests."""

    directory: Path
    summary: Mapping[str, Any]
    scenario: str

    @classmethod
    def read(cls, directory: Path) -> "Explanation":
        """Read the files; raises UserError if one is missing, or the run kept no requests."""
        summary = _summary(directory / "summary.json")
        if not (directory / "requests.parquet").is_file():
            raise UserError(f"{directory / 'requests.parquet'}: is missing; {_AGAIN}")
        text = _text(directory / "scenario.toml")
        parse_toml(text, str(directory / "scenario.toml"))
        return cls(directory, summary, text)

    def kinds(self) -> Iterator[str]:
        """Return the kinds of requests that there are: "read", "write"."""
        blame = self.summary["blame"]
        return (kind for kind in KINDS if blame[kind]["all"]["requests"])

    def part(self, kind: str) -> str:
        """Return the smallest part of the requests of a kind that is enough to speak of."""
        blame = self.summary["blame"][kind]
        enough = [name for name in SHARES if blame[name]["requests"] >= FEWEST]
        return enough[-1] if enough else "all"

    def shares(self, kind: str, part: str) -> dict[str, float]:
        """Return the share of the time of a part that went behind each cause, the largest first."""
        told = self.summary["blame"][kind][part]
        whole_ns = max(told["latency_ns"], 1)
        shares = {cause: told[cause] / whole_ns for cause in CAUSES}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def sentences(self, kind: str, *, are_tried: bool = False) -> list[str]:
        """Say what the slowest requests of a kind waited behind, and what to change.

        `are_tried`: the overrides against the causes are tried after this.
        """
        part = self.part(kind)
        told = self.summary["blame"][kind][part]
        shares = self.shares(kind, part)
        who = f"all {kind}s" if part == "all" else f"the slowest {percent_of(part)} of the {kind}s"
        mean_us = told["latency_ns"] / max(told["requests"], 1) / 1000
        named = [cause for cause, share in shares.items() if share >= _NAMED_SHARE]
        waits = [f"{100 * shares[cause]:.0f} % {CATALOGUE[cause].words}" for cause in named]
        own = f"{100 * (1 - sum(shares.values())):.0f} % was not waiting"
        size = f"{told['requests']:,} requests, {mean_us:,.1f} µs on average"
        went = f"{', '.join(waits).replace(' %', ' % went', 1)}; " if waits else ""
        lines = [f"Of the time of {who} ({size}), {went}{own}."]
        return lines + [self._help(cause, kind, are_tried) for cause in named[:2]]

    def _help(self, cause: str, kind: str, are_tried: bool) -> str:
        what = f"waits {CATALOGUE[cause].words}"
        state = "not tried"
        if tries := self.trial(cause):
            how = "tried below:" if are_tried else "not tried; --counterfactual tries"
            state = f"{how} {trial_words(cause, tries)}"
        return f"What may help against {what} ({state}): {self.advice(cause, kind)}."

    def advice(self, cause: str, kind: str) -> str:
        """Say what makes the waits of a kind behind a cause less, with the keys as they are now."""
        found = CATALOGUE[cause]
        advice, keys = found.advice, found.keys
        if kind == "write" and found.to_writes:
            advice, keys = found.to_writes, found.keys_of_writes
        document = tomllib.loads(self.scenario)
        now = [f"{key} = {value}" for key in keys if (value := _value(document, key))]
        return f"{advice} (now {', '.join(now)})" if now else advice

    def triable(self) -> dict[str, tuple[str, ...]]:
        """Return overrides against the causes of the tail, those of reads first.

        The largest first; of causes that the same overrides are against, only that.
        """
        found: dict[tuple[str, ...], str] = {}
        for kind in self.kinds():
            for cause, share in self.shares(kind, self.part(kind)).items():
                if share >= _NAMED_SHARE and (sets := self.trial(cause)):
                    found.setdefault(sets, cause)
        return {cause: sets for sets, cause in found.items()}

    def trial(self, cause: str) -> tuple[str, ...]:
        """Return the overrides that take a cause away, or ease it; empty if there are none."""
        found, document = CATALOGUE[cause], tomllib.loads(self.scenario)
        if found.eased is None:
            # Leaves out what the scenario has no use for, such as a limit that is none already.
            return tuple(text for text in found.without if text.partition(".")[0] in document)
        key, factor = found.eased
        value = _value(document, key)
        return (f"{key}={json.loads(value) * factor:g}",) if value and json.loads(value) else ()

    def notes(self) -> list[str]:
        """Return what the scenario file says of the run that its keys do not."""
        lines = self.scenario.splitlines()
        return [line.removeprefix("# ") for line in lines if line.startswith("# The run ")]

    def where_to_look(self, kind: str) -> tuple[str, str]:
        """Say where a timeline shows the slowest request of a kind, or the command that draws it.

        The command is empty if there is a timeline.
        """
        (slow,) = tables.rows(self.slowest(kind, 1))
        drawn = self.directory / "timeline.perfetto-trace"
        track = "" if slow["die"] is None else f', on the track "die {slow["die"]}"'
        if drawn.is_file():
            at = f"{slow['arrival_ns'] / 1e6:,.6f} ms"
            text = f"{drawn} shows the slowest {kind}, if it was drawn then, from {at} on{track}."
            return text, ""
        took_ns = slow["completion_ns"] - slow["arrival_ns"]
        command = [
            *("reprieve", "run", str(self.directory / "scenario.toml"), "--timeline"),
            *("--timeline-from", f"{slow['arrival_ns']}ns", "--timeline-for", f"{took_ns}ns"),
            *("--out", str(self.directory / f"slowest-{kind}")),
        ]
        return f"This draws the slowest {kind}{track}:", shlex.join(command)

    def slowest(self, kind: str, count: int) -> Table:
        """Return the slowest requests of a kind, as the log has them; the slowest first."""
        path = self.directory / "requests.parquet"
        try:
            found = slowest(tables.reader(path, _OF_SLOWEST), kind, count)
        except UserError:
            raise
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: cannot read it: {error}; {_AGAIN}") from None
        if not len(found):
            raise UserError(f"{path}: has no {kind}s, of which summary.json tells; {_AGAIN}")
        return found


_AGAIN = "run it again with --requests"
_OF_SLOWEST = ("id", "op", "die", "arrival_ns", "completion_ns", *CAUSES)


def trial_words(cause: str, sets: Sequence[str]) -> str:
    """Say what the overrides against a cause change, after "with" or "tries"."""
    return CATALOGUE[cause].taken_away or ", ".join(text.replace("=", " = ") for text in sets)


def with_trials(
    source_text: str, trials: Mapping[str, tuple[str, ...]], watch: Any
) -> tuple[Result, list[Result]]:
    """Run a scenario as it is and with the overrides against each cause; return all results."""
    from reprieve.parallel import each
    from reprieve.scenario import Source
    from reprieve.simulation import simulate

    source = Source(source_text, "scenario.toml")
    names = {sets: trial_words(cause, sets) for cause, sets in trials.items()}

    def one(sets: tuple[str, ...], share: Any) -> Result:
        def both(done: float | None, requests: int) -> None:
            share(done, requests)
            watch(names.get(sets, "as it was"), done, requests)

        return simulate(source.with_sets(sets), watch=both)

    was, *others = each([(), *trials.values()], None, one)
    return was, others


def _value(document: Mapping[str, Any], key: str) -> str:
    section, _, name = key.partition(".")
    value = document.get(section, {}).get(name)
    return "" if value is None else json.dumps(value)


def _summary(path: Path) -> dict[str, Any]:
    """Read a summary, and check what is taken from it."""
    found = read_json(path, "the summary of a run")
    blame = found["blame"]
    if not blame.is_there():
        raise UserError(f"{path}: has no section blame; {_AGAIN}")
    for kind in KINDS:
        for part in ("all", *SHARES):
            told = blame[kind][part]
            told["requests"].whole()
            for figure in ("latency_ns", *CAUSES):
                told[figure].number(least=0)
    return found.table()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(
            f"{path}: cannot read it: {reason}; name the directory of a run with --requests"
        ) from None

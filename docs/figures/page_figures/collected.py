"""How much of what collection moves goes in commands of two planes, as timelines of runs say.

A summary counts commands of several planes, whoever's they are; a timeline names each operation.
"""

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from reprieve.parallel import Watch, Workshop
from reprieve_studies.mbm import limits, regimes
from reprieve_studies.mbm.paired import SEEDS_OF_MAP, Start
from reprieve_studies.mbm.readings import MBM, TBM
from reprieve_studies.runs import Setup, each_from_states

from .pages import ROOT

POLICIES = (TBM, MBM, limits.PRINTED, limits.BY_DIE, limits.APART)
_MOVE, _ERASE = "gc program", "erase"

Operation = tuple[str, int]
"""What it is, and how many planes it works on."""


def collected(workshop: Workshop) -> dict[str, Any]:
    """Run the loads at the limit that collect, and return the shares by load and policy."""
    loads = [limit for limit in limits.LIMITS if limit.collection != "none"]
    todo = {
        (limit.title, policy, seed): (
            limits.start(limit, policy, seed),
            limits.setup(limit, policy, seed),
        )
        for limit in loads
        for policy in POLICIES
        for seed in SEEDS_OF_MAP
    }

    def settle(start: Start, path: Path, watch: Watch) -> None:
        regimes.base(start).simulate(watch, save_state=path, save_state_at="start")

    _reader()  # before threads ask for it
    found = each_from_states(workshop, "what collection moves", todo, settle, pages_of)
    return {
        limit.title: {
            policy: shares(
                sum((found[limit.title, policy, seed] for seed in SEEDS_OF_MAP), Counter())
            )
            for policy in POLICIES
        }
        for limit in loads
    }


def shares(pages: Counter[str]) -> dict[str, float]:
    """Return how many pages were moved, and shares of them in %."""
    moved = sum(pages.values())
    return {
        "pages": moved,
        "in_pairs_percent": 100 * pages["in pairs"] / moved,
        "alone_percent": 100 * pages["alone"] / moved,
        "out_of_step_percent": 100 * pages["out of step"] / moved,
    }


def pages_of(setup: Setup, state: Path | None, watch: Watch) -> Counter[str]:
    """Run it and count the pages that its dies move."""
    with tempfile.TemporaryDirectory(prefix="reprieve-") as folder:
        path = Path(folder, "run.perfetto-trace")
        setup.simulate(watch, from_state=state, timeline=path)
        by_die: dict[str, list[tuple[int, Operation]]] = defaultdict(list)
        for one in _reader().read(path).all():
            if one.name in (_MOVE, _ERASE):
                by_die[one.track].append((one.begin, (one.name, one.notes.get("pages", 1))))
    found: Counter[str] = Counter()
    for operations in by_die.values():
        found += kinds(operation for _, operation in sorted(operations))
    return found


def kinds(operations: Iterable[Operation]) -> Counter[str]:
    """Count the pages that a die moves: in pairs, or one by one.

    One by one goes what only one plane collects, which the erase behind it says; and of planes that
    collect side by side what is out of step. What no erase has followed does not count.
    """
    found: Counter[str] = Counter()
    together, single = 0, 0
    for name, planes in operations:
        if name == _ERASE:
            found["in pairs"] += together
            found["out of step" if planes > 1 else "alone"] += single
            together, single = 0, 0
        elif planes > 1:
            together += planes
        else:
            single += 1
    return found


def _reader() -> Any:
    """Return what the tests read timelines with, by Perfetto's own description of the format."""
    name = "perfetto_trace"
    if name not in sys.modules:
        spec = spec_from_file_location(name, ROOT / "python" / "tests" / f"{name}.py")
        assert spec is not None, "the tests travel with the pages"
        assert spec.loader is not None, "it is a file"
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]

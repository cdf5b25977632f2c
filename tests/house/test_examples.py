"""Every example asks its question, resolves, and runs when its load is cut short."""

import json
from pathlib import Path

import pytest

from .test_docs import PROJECT, ROOT, run

EXAMPLES = list(PROJECT.files("examples/*.toml"))

# A thousand requests show that the scenario runs; what it finds is not asked here.
CUT_SHORT = {"trace": "workload.max_requests=1000", "generator": "workload.requests=1000"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_opens_with_a_question(example: str) -> None:
    assert PROJECT.lines(example)[0].startswith("# ")
    assert PROJECT.lines(example)[0].endswith("?")


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(example: str, tmp_path: Path) -> None:
    kind = "trace" if "\ntrace = " in PROJECT.text(example) else "generator"
    command = ["reprieve", "run", example, "--set", CUT_SHORT[kind], "--out", str(tmp_path)]
    done = run(command, ROOT)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    # The load is cut short for each flow, where an example has flows.
    flows = PROJECT.text(example).count("\n[flow.")
    assert len(summary.get("flows", {})) == flows
    assert summary["requests"]["total"]["count"] == 1000 * max(1, flows)
    assert ("fairness" in summary) == (flows > 1)


def test_there_are_examples() -> None:
    assert EXAMPLES

"""Every example asks its question, resolves, and runs when its load is cut short."""

import json
import tomllib
from pathlib import Path

import pytest

from .test_docs import PROJECT, ROOT, run

EXAMPLES = list(PROJECT.files("examples/*.toml"))
SWEEPS = [path for path in EXAMPLES if path.startswith("examples/sweeps/")]
SCENARIOS = [path for path in EXAMPLES if path not in SWEEPS]

# A thousand requests show that the scenario runs; what it finds is not asked here.
CUT_SHORT = {"trace": "workload.max_requests=1000", "generator": "workload.requests=1000"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_opens_with_a_question(example: str) -> None:
    assert PROJECT.lines(example)[0].startswith("# ")
    assert PROJECT.lines(example)[0].endswith("?")


@pytest.mark.parametrize("example", SCENARIOS)
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


# The rack takes longer than the others together.
@pytest.mark.parametrize(
    "example",
    [pytest.param(path, marks=pytest.mark.seconds(33 if "rack" in path else 3)) for path in SWEEPS],
)
def test_sweep_runs(example: str, tmp_path: Path) -> None:
    # In a copy of its folder, so that the paths in it lead to where they do.
    text = PROJECT.text(example).replace('"../', f'"{ROOT}/examples/sweeps/../')
    for length in ("20000", "10000", "5000"):
        text = text.replace(f'requests" = {length}', 'requests" = 300')
    text = text.replace("samples = 128", "samples = 8").replace("batch = 32", "batch = 4")
    # A rack for a day, of which two drives for three quarters of an hour will do.
    text = text.replace("seeds = 24", "seeds = 2").replace("points = 96", "points = 3")
    if example.endswith("rack.toml"):
        text += '"workload.requests" = [300]\n'
    (tmp_path / "sweep.toml").write_text(text, encoding="utf-8")
    done = run(["reprieve", "sweep", "sweep.toml"], tmp_path)
    assert done.returncode == 0, done.stderr
    document = tomllib.loads(text)
    runs = document.get("samples", 1) * len(range(document.get("seeds", 1)))
    if document["design"] == "grid":
        for values in document["axes"].values():
            # A pattern, of which there are three files.
            spread = values.get("points") if isinstance(values, dict) else len(values)
            runs *= 3 if isinstance(values, str) else spread
    found = run(["reprieve", "query", "SELECT count(*) FROM runs", "out/sweep"], tmp_path)
    assert found.stdout.split()[-1] == str(runs)


def test_there_are_examples() -> None:
    assert SCENARIOS
    assert SWEEPS

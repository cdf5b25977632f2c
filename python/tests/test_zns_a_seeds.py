"""The real drive by seed: what is summed up, on which drive, and that the seed counts."""

from __future__ import annotations

import statistics
import tomllib
from pathlib import Path

import pytest

from reprieve.calibration import SMALLER, Effort, Evaluator, Task, residuals
from reprieve.registries import device
from reprieve_studies.zns_a import seeds
from reprieve_studies.zns_a.measurements import measurements

EFFORT = Effort(2_000, 1 << 20, 1.0)


def test_each_seed_has_its_errors() -> None:
    """By hand, of what is measured against what is simulated, with the device's own buffer."""
    fitted, held = measurements()
    fast = [condition for condition in fitted if "write1000-qd8" in condition.name]
    some = [condition for condition in held if "write10-" in condition.name][:2]
    assert len(some) == 2
    found = seeds.run(fast, some, EFFORT, seeds=(1, 2))
    assert found["p99.99"]["median"][0] != found["p99.99"]["median"][1]
    buffer = tomllib.loads(device("zns-a"))["buffer"]["bytes"]
    assert buffer < SMALLER["buffer"]["bytes"] / 2
    task = Task((), start="zns-a")
    evaluator = Evaluator(task.base(), task.weights)
    first, terms = (
        evaluator.compare([{"buffer.bytes": buffer}], each, EFFORT)[0] for each in (fast, some)
    )
    evaluator.close()
    assert first is not None
    assert terms is not None
    off = [
        abs(term.simulated / term.measured - 1)
        for term in terms
        if term.direction == "read" and term.what in ("p50", "p90", "p99")
    ]
    assert len(off) == 6
    assert found["body"]["median"][0] == statistics.median(off)
    costs = [sum(each**2) / 2 for each in (residuals(first), residuals(terms))]
    assert abs(found["cost"]["fitted"][0] - costs[0]) < 1e-9
    assert abs(found["cost"]["all"][0] - sum(costs)) < 1e-9


def test_a_fit_is_simulated_as_it_was_found() -> None:
    """The values that the study found stand for keys of a drive, its number of dies among them."""
    fitted, held = measurements()
    numbers = {
        "chosen": {"geometry.dies": "8x4", "program.steps": 12},
        "intervals": [{"key": "program.t_total_us", "value": 1400.0, "low": 1.0, "high": 2.0}],
    }
    values = seeds.values_of(numbers)
    assert values == {
        "geometry.dies": "8x4",
        "program.steps": 12,
        "program.t_total_us": 1400.0,
    }
    some = [condition for condition in held if "write250-qd16" in condition.name]
    one, other = (
        seeds.run(fitted[:1], some, EFFORT, each, (1,))
        for each in (values, values | {"program.t_total_us": 2800.0})
    )
    assert one["cost"]["fitted"] == other["cost"]["fitted"], "without writes"
    assert one["cost"]["all"] != other["cost"]["all"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "No such file or directory"),
        ("{", "is no JSON"),
        ('{"chosen": {}}', 'has no "intervals"'),
        ("[]", 'has no "chosen"'),
    ],
)
def test_what_is_no_fit_is_one_sentence(
    text: str | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "numbers.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        seeds.main(["--fit", str(file)])
    assert ended.value.code == 2
    sentence = f"--fit {file}: {why}; must be numbers.json of reprieve reproduce zns-a"
    assert capsys.readouterr().err.strip().endswith(sentence)

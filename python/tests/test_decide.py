"""The policies "batch" and "deadline": when they suspend, to the nanosecond, worked out by hand.

The part is that of FAST 2012: tBUS 40 µs, tR 25, a program of 15 iterations of 20 and 24 µs,
voltage reset 4, restore 3. A program that arrives at 0 is in the array from 40 to 700 µs. A read
takes 65 µs, and the array is free at most 7 µs after a request: a restore, then a reset.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import reprieve as rp

from .drive import Reprieve

DEADLINE: dict[str, Any] = {"suspension.policy": "deadline"}
BATCH: dict[str, Any] = {"suspension.policy": "batch"}


def completions_us(reads_us: Sequence[int], **keys: Any) -> list[float]:
    """Return when a program from 0 on and reads of another block are complete."""
    commands = [(0, "program", 0, 0, 0), *((1000 * at, "read", 1, 1, 0) for at in reads_us)]
    rows = rp.rig("fast12-mlc", commands, policy="pes-ipc", **keys)
    return [row.completion_ns / 1000 for row in rows]


def deadline(reads_us: Sequence[int], slo_us: int, **more: Any) -> list[float]:
    """Run them under the policy "deadline"."""
    keys = {f"suspension.deadline.{name}": value for name, value in more.items()}
    return completions_us(
        reads_us, **DEADLINE, **{"suspension.deadline.read_slo_us": slo_us}, **keys
    )


def batch(reads_us: Sequence[int], **more: Any) -> list[float]:
    """Run them under the policy "batch"."""
    return completions_us(
        reads_us, **BATCH, **{f"suspension.batch.{k}": v for k, v in more.items()}
    )


def test_a_read_is_served_at_the_last_instant_that_keeps_it_in_time() -> None:
    # Due at 600, so that the array has to be free at 535 and is asked at 528, 4 µs into the twelfth
    # pulse. Free at 532, the read ends at 597. Then a restore of 3 µs, the verify that follows a
    # cancelled pulse, and four whole iterations.
    assert deadline([100], 500) == [600 + 24 + 4 * 44, 597]


def test_a_read_that_is_in_time_after_the_program_waits_for_it() -> None:
    # Due at 800: it may begin at 735, after the end of the program.
    assert deadline([100], 700) == [700, 765]
    # One microsecond less than what it needs behind the program: it has to be free at 699.
    assert deadline([100], 664)[1] < 764


def test_a_read_that_no_suspension_saves_waits() -> None:
    # 64 µs are less than the read itself takes, 68 less than that and a reset.
    assert deadline([100], 64) == [700, 765]
    assert deadline([100], 66) == [700, 765]


def test_a_suspension_has_to_save_as_many_reads_as_it_costs() -> None:
    assert deadline([100], 500, price=2) == [700, 765]
    # The second is due at 610 and comes after the first: free at 480, asked at 473, in a verify.
    # Free at 477; sensed to 502, out at 542; sensed to 567, out at 607.
    assert deadline([100, 110], 500, price=2)[1:] == [542, 607]


def test_writes_that_wait_raise_the_price() -> None:
    # A second program waits, so that a weight of one makes the price two.
    commands = [(0, "program", 0, 0, 0), (0, "program", 0, 0, 1), (100_000, "read", 1, 1, 0)]
    keys = {**DEADLINE, "suspension.deadline.read_slo_us": 500, "policy": "pes-ipc"}
    weight: dict[str, Any] = {"suspension.deadline.backlog_weight": 1}
    waits = rp.rig("fast12-mlc", commands, **keys, **weight)
    goes = rp.rig("fast12-mlc", commands, **keys)
    assert goes[2].completion_ns == 597_000
    assert waits[2].completion_ns == 765_000


def test_room_for_more_reads_makes_it_suspend_at_once() -> None:
    # 7 + 8 x 65 = 527 µs are more than 500. At 100 the pulse has 4 µs left: free at 104.
    assert deadline([100], 500, margin_reads=7)[1] == 104 + 65
    assert deadline([100], 500, margin_reads=6)[1] == 597


def test_a_batch_waits_for_its_reads() -> None:
    assert batch([100], reads=2) == [700, 765]
    # With the second at 110, in a verify: free at 114; 139 and 179, 204 and 244.
    assert batch([100, 110], reads=2)[1:] == [179, 244]


def test_a_batch_waits_for_the_age_of_its_oldest() -> None:
    # At 150, in a verify: free at 154.
    assert batch([100], oldest_us=50)[1] == 154 + 65
    assert batch([100, 110], oldest_us=50)[1:] == [219, 284]
    # Whichever comes first.
    assert batch([100, 110], oldest_us=50, reads=2)[1:] == [179, 244]
    assert batch([100], oldest_us=0)[1] == 104 + 65


SPREAD: dict[str, Any] = {"timing.program_iterations_weights": [[5, 1], [15, 1]]}


def first_page_of(iterations: int) -> int:
    """Return a block whose first page takes 5 or 15 iterations, from how long it takes alone."""
    commands = [(0, "program", 0, block, 0) for block in range(16)]
    alone = [rp.rig("fast12-mlc", [one], policy="pes-ipc", **SPREAD)[0] for one in commands]
    ends_ns = 40_000 + 44_000 * iterations
    return next(block for block, row in enumerate(alone) if row.completion_ns == ends_ns)


def spread(iterations: int, read_us: float, **keys: Any) -> list[float]:
    """Return when a program of so many iterations and a read of another plane are complete."""
    block = first_page_of(iterations)
    commands = [(0, "program", 0, block, 0), (round(1000 * read_us), "read", 1, 0, 0)]
    rows = rp.rig("fast12-mlc", commands, policy="pes-ipc", **SPREAD, **keys)
    return [row.completion_ns / 1000 for row in rows]


def test_what_a_program_has_left_is_what_is_to_be_expected() -> None:
    # The array is at work from 40 to 260 or to 700 µs, with equal shares: at 100 both have 380 to
    # go. The pulse has 4 µs left then, which end by themselves: free at 104, the read ends at 169.
    def threshold(iterations: int, read_us: float, least_us: float) -> list[float]:
        keys = {"suspension.policy": "threshold", "suspension.min_remaining_us": least_us}
        return spread(iterations, read_us, **keys)

    for iterations, end in ((5, 260), (15, 700)):
        assert threshold(iterations, 100, 380.001) == [end, end + 65]
        assert threshold(iterations, 100, 380)[1] == 169
    # With the border of the fifth iteration behind it, it has fifteen: at 260 a mean of 220, a
    # nanosecond later 439.999.
    assert threshold(15, 260, 220.001)[1] == 765
    assert threshold(15, 260, 220)[1] < 400
    assert threshold(15, 260.001, 439.999)[1] < 400
    assert threshold(15, 260.001, 440)[1] == 765


def test_a_read_is_saved_from_a_program_that_may_be_long() -> None:
    def within(read_slo_us: int, iterations: int, margin_reads: int = 0) -> list[float]:
        keys = {"read_slo_us": read_slo_us, "margin_reads": margin_reads}
        return spread(
            iterations, 100, **DEADLINE, **{f"suspension.deadline.{k}": v for k, v in keys.items()}
        )

    # Due at 340, it may begin at 275, which a program of five iterations makes possible, and one of
    # fifteen does not. 7 + 4 x 65 us are more than 240, so that it is now or never: free at 104.
    assert within(240, 5, 3)[1] == within(240, 15, 3)[1] == 169
    # With room the question is put again at 268: the short one is over by then, the long one stops
    # in the pulse that it began at 260: free at 272, 337.
    assert within(240, 5) == [260, 325]
    assert within(240, 15)[1] == 337
    # It may begin at 535. To be expected is an end at 480, and the worst is one at 700: asked again
    # at 528, in a pulse, the long one is free at 532.
    assert within(500, 5) == [260, 325]
    assert within(500, 15)[1] == 597


def test_a_policy_sees_an_estimate_and_the_worst_case() -> None:
    seen = []

    class Sees(rp.SuspensionPolicy):
        def decide(self, view: rp.OperationView) -> rp.Decision:
            if not view.is_erase:
                seen.append((view.elapsed_ns, view.remaining_ns, view.longest_remaining_ns))
            return rp.Decision.LEAVE

    keys: dict[str, Any] = {**ONE_DIE, "seed": 3}
    scenario = {**keys, "workload": {"generator": "mixed", "request_bytes": 4096, "requests": 400}}
    load: dict[str, Any] = {"workload.read_fraction": 0.5, "workload.rate_iops": 1500}
    load["workload.arrivals"] = "poisson"
    rp.run(scenario, suspension_policy=Sees(), **SPREAD, **load)
    assert len(seen) > 50
    for elapsed_ns, expected_ns, longest_ns in seen:
        # Data in for 40 µs, then 5 iterations of 44 with the same chance as 15.
        assert longest_ns == 700_000 - elapsed_ns
        assert expected_ns == longest_ns - (220_000 if elapsed_ns <= 260_000 else 0)
    assert {elapsed_ns <= 260_000 for elapsed_ns, _, _ in seen} == {True, False}


def test_no_read_is_late_that_a_suspension_could_save() -> None:
    # One die that programs all the time, one read at a time: each read can be saved, and is.
    scenario: dict[str, Any] = {
        "device": "fast12-mlc",
        "policy": "pes-ipc",
        "geometry": {"channels": 1, "planes_per_die": 1},
        "host": {"link_bytes_per_s": "none"},
        "suspension": {"policy": "deadline", "deadline": {"read_slo_us": 400}},
        "flow": {
            "reads": {"read_fraction": 1.0, "arrivals": "fixed", "rate_iops": 900,
                      "requests": 2000},
            "writes": {"read_fraction": 0.0, "arrivals": "closed", "queue_depth": 4,
                       "requests": 2500},
        },
        "workload": {"generator": "mixed", "request_bytes": 4096},
    }  # fmt: skip
    page: dict[str, Any] = {"suspension.same_block": "page"}
    result = rp.run(scenario, requests=True, **page)
    reads = result.requests.filter(result.requests["op"].to_numpy(zero_copy_only=False) == "read")
    took = reads["completion_ns"].to_numpy() - reads["arrival_ns"].to_numpy()
    suspended = result.summary["flash"]["suspensions"]["program"]
    assert suspended > 500
    assert took.max() <= 400_000
    scenario["suspension"] = {"policy": "always"}
    eager = rp.run(scenario, **page)
    assert suspended < 0.8 * eager.summary["flash"]["suspensions"]["program"]


ONE_DIE: dict[str, Any] = {
    "device": "fast12-mlc",
    "policy": "pes-ipc",
    "geometry": {"channels": 1, "planes_per_die": 1},
    "host": {"link_bytes_per_s": "none"},
}


def test_loads_have_service_levels_of_their_own() -> None:
    # A read from 0 to 65, a write behind it: its data crosses until 105, the array programs until
    # 765. A read at 100 ends at 830 if it waits for that. If it is due at 600, the array is asked
    # for at 528, in a verify: free at 532, and the read ends at 597.
    mixed = {"generator": "mixed", "request_bytes": 4096, "requests": 1, "arrivals": "fixed"}
    flows: dict[str, dict[str, Any]] = {
        "writes": {**mixed, "read_fraction": 0.0, "rate_iops": 1e9},
        "reads": {**mixed, "read_fraction": 1.0, "rate_iops": 10_000, "requests": 2},
    }

    def latency_us(own: dict[str, Any], slo_us: int) -> float:
        scenario = {
            **ONE_DIE,
            "suspension": {"policy": "deadline", "deadline": {"read_slo_us": slo_us}},
            "flow": {"writes": flows["writes"], "reads": {**flows["reads"], **own}},
        }
        found = rp.run(scenario).summary["requests"]["read"]["latency_ns"]["max"] / 1000
        assert isinstance(found, float)
        return found

    assert latency_us({}, 5000) == 730
    assert latency_us({"read_slo_us": 500}, 5000) == 497
    assert latency_us({"read_slo_us": 5000}, 500) == 730


@pytest.mark.parametrize(
    ("first_us", "second_us", "ends_us"),
    [
        # After the program, which ends at 830.
        (5000, 5000, [895, 960]),
        # The second is due at 740, behind the first: free at 610, asked for at 603 in a verify,
        # which is broken off by 607.
        (5000, 500, [672, 737]),
        # The first is due at 730: free at 665, asked for at 658 in a pulse, free at 662.
        (500, 5000, [727, 792]),
        # Both are: the second needs it first.
        (500, 500, [672, 737]),
    ],
)
def test_each_read_in_the_queue_has_the_level_of_its_load(
    tmp_path: Path, first_us: int, second_us: int, ends_us: list[int]
) -> None:
    """Two reads until 130, a program in the array from 170 on; a read of each load behind it."""
    flows: dict[str, dict[str, Any]] = {
        "writes": {"rows": "0.000000 ; 0 ; 8 ; W"},
        "first": {"rows": "0.000000 ; 800 ; 8 ; R\n0.000230 ; 800 ; 8 ; R"},
        "second": {"rows": "0.000000 ; 1600 ; 8 ; R\n0.000240 ; 1600 ; 8 ; R"},
    }
    for name, flow in flows.items():
        trace = tmp_path / name
        rows = flow.pop("rows").splitlines()
        trace.write_text("".join(f"{row} ; 0.0 ; 0.0\n" for row in rows))
        flow |= {"trace": str(trace), "format": "blkreplay"}
    flows["first"]["read_slo_us"] = first_us
    flows["second"]["read_slo_us"] = second_us
    rules = {"policy": "deadline", "same_block": "page", "deadline": {"read_slo_us": 5000}}
    scenario = {**ONE_DIE, "suspension": rules, "flow": flows}
    found = rp.run(scenario, requests=True).requests.to_pylist()
    reads = [row for row in found if row["op"] == "read" and row["arrival_ns"] > 0]
    assert [(row["arrival_ns"], row["completion_ns"] / 1000) for row in reads] == [
        (230_000, ends_us[0]),
        (240_000, ends_us[1]),
    ]


BUSY: dict[str, Any] = {
    **ONE_DIE,
    "flow": {
        "reads": {"read_fraction": 1, "arrivals": "poisson", "rate_iops": 3000, "requests": 54_000},
        "writes": {"read_fraction": 0, "arrivals": "closed", "queue_depth": 4, "requests": 40_000},
    },
    "workload": {"generator": "mixed", "request_bytes": 4096},
}


@pytest.mark.parametrize(
    "policy",
    [
        {"policy": "deadline", "deadline": {"read_slo_us": 500}},
        {"policy": "batch", "batch": {"oldest_us": 300}},
    ],
)
def test_a_budget_is_spent_and_kept(policy: dict[str, Any]) -> None:
    """Reads come for 18 s, and writes always wait."""

    def suspensions_per_s(rules: dict[str, Any]) -> float:
        """Return how often programs are suspended from 8 to 17 s."""
        scenario = {**BUSY, "suspension": {**rules, "same_block": "page"}}
        result = rp.run(scenario, series=True)
        assert result.series is not None
        rows = result.series.table().to_pylist()
        counted = [row for row in rows if 8e9 <= row["start_ns"] < 17e9]
        spent_ns = sum(row["length_ns"] for row in counted)
        return float(sum(row["program_suspensions"] for row in counted) / spent_ns * 1e9)

    free = suspensions_per_s(policy)
    for budget in (400, 500):
        assert free > 1.2 * budget
        kept = suspensions_per_s(policy | {"budget": {"suspensions_per_s": budget}})
        assert kept == pytest.approx(budget, rel=0.03)


@pytest.mark.parametrize(
    ("sets", "sentence"),
    [
        (
            ["suspension.policy=batch"],
            '--set: suspension.policy = "batch": needs suspension.batch.reads or '
            "suspension.batch.oldest_us, or both",
        ),
        (
            ["suspension.batch.reads=2"],
            '--set: suspension.batch.reads = 2: only while suspension.policy is "batch", but by '
            'default it is "always"',
        ),
        (
            [
                "suspension.policy=batch",
                "suspension.batch.reads=2",
                "suspension.budget.suspensions_per_s=9",
            ],
            "--set: suspension.budget.suspensions_per_s = 9: needs suspension.batch.oldest_us, "
            "which becomes longer or shorter",
        ),
        (
            [
                "suspension.policy=deadline",
                "suspension.deadline.read_slo_us=500",
                "suspension.budget.wear_per_day=9",
            ],
            "--set: suspension.budget.wear_per_day = 9: needs "
            "reliability.wear_per_program_suspend or .wear_per_erase_suspend above 0",
        ),
        (
            ["workload.read_slo_us=100"],
            '--set: workload.read_slo_us = 100: only while suspension.policy is "deadline", but '
            'by default it is "always"',
        ),
        (
            ["suspension.deadline.read_slo=3"],
            "--set: suspension.deadline.read_slo: unknown key; did you mean "
            "suspension.deadline.read_slo_us?",
        ),
        (
            ["suspension.policy=deadline"],
            "suspension.deadline.read_slo_us",
        ),
    ],
)
def test_a_mistake_is_one_sentence(
    reprieve: Reprieve, tmp_path: Path, sets: list[str], sentence: str
) -> None:
    (tmp_path / "s.toml").write_text('device = "fast12-mlc"\nload = "fin1-flows"\n')
    done = reprieve("run", "s.toml", *(word for one in sets for word in ("--set", one)))
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_table_inside_a_section_in_a_file_and_in_python(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    text = (
        'device = "fast12-mlc"\n[suspension]\npolicy = "deadline"\n'
        "[suspension.deadline]\nread_slo_us = 300\n"
    )
    path.write_text(text)
    scenario = rp.Scenario.from_file(path)
    assert scenario.suspension.deadline.read_slo_us == 300
    assert scenario.suspension.deadline.price == 1
    scenario.suspension.deadline.price = 2
    assert "[suspension.deadline]\nread_slo_us = 300\nprice = 2\n" in scenario.to_toml()
    assert scenario.to_dict()["suspension"]["deadline"] == {"read_slo_us": 300, "price": 2}
    with pytest.raises(AttributeError, match=r"did you mean suspension\.deadline\.price"):
        scenario.suspension.deadline.prise = 3  # type: ignore[attr-defined]
    path.write_text(text.replace("read_slo_us", "read_slo_ms"))
    with pytest.raises(rp.UserError, match=r"s.toml:5: suspension.deadline.read_slo_ms: unknown"):
        rp.run(path)

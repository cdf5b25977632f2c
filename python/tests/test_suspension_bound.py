"""The bound on suspensions: a linear programme, closed forms, and policies in the simulator."""

import random
from itertools import pairwise, product
from math import exp, factorial

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_array

import reprieve as rp
from reprieve_studies.deadline.benches import die_scenario
from reprieve_studies.deadline.families import Keys
from reprieve_studies.deadline.measures import Measured, of_result
from reprieve_studies.runs import Setup
from reprieve_studies.theory.suspension_bound import Die, FromRelaxation, Relaxation

DIES = [
    Die(),
    Die(slo_us=300),
    Die(read_load=0.5),
    Die(entry_us=60, resume_us=100),
    Die(read_us=40, program_us=600, entry_us=10, resume_us=0, read_load=0.2, slo_us=200),
]


def simulate(
    die: Die, keys: Keys, policy: rp.SuspensionPolicy | None = None, reads: int = 30_000
) -> Measured:
    result = Setup(die_scenario(die, reads, {}), keys).simulate(
        requests=True, suspension_policy=policy
    )
    return of_result(die.slo_us, result)


def threshold(remaining_us: float) -> Keys:
    return {"suspension.policy": "threshold", "suspension.min_remaining_us": remaining_us}


class AtRandom(rp.SuspensionPolicy):
    """Suspends for a number of reads, or with a probability at each decision."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._chance, self._reads = self._random.random(), self._random.randint(1, 6)

    def decide(self, view: rp.OperationView) -> rp.Decision:
        is_due = view.waiting_reads >= self._reads or self._random.random() < self._chance
        is_running = not view.is_suspended and view.waiting_reads > 0
        return rp.Decision.SUSPEND if is_running and is_due else rp.Decision.LEAVE


def policies(die: Die, seed: int) -> list[tuple[Keys, rp.SuspensionPolicy | None]]:
    draw = random.Random(seed)
    share = draw.random()
    return [
        (threshold(round(share * die.program_us)), None),
        ({"suspension.policy": "batch", "suspension.batch.reads": draw.randint(1, 5),
          "suspension.batch.oldest_us": round(share * die.slo_us)}, None),
        ({"suspension.policy": "deadline",
          "suspension.deadline.read_slo_us": round((0.5 + share / 2) * die.slo_us),
          "suspension.deadline.margin_reads": draw.randint(0, 3)}, None),
        ({}, AtRandom(seed)),
    ]  # fmt: skip


def dual(die: Die, found: Measured, price: float) -> float:
    """Return suspensions a second, with late reads at a price, which no policy makes smaller."""
    return found.suspensions_per_s + price * found.late_share * die.rate * 1e6


@pytest.mark.parametrize("die", DIES)
def test_no_policy_is_below_the_bound(die: Die) -> None:
    grid = Relaxation(die, 5.0)
    found = [simulate(die, *each) for each in policies(die, round(die.slo_us))]
    for price in (1.0, 4.0, 32.0):
        least = 1e6 * grid.gain(price) * (1 - die.read_load)
        assert least > 0
        # Late reads come in groups; the counts of a run have errors of a few per cent.
        assert all(dual(die, one, price) > 0.97 * least for one in found)


@pytest.mark.parametrize("die", DIES[:4])
def test_a_policy_comes_near_the_bound(die: Die) -> None:
    price, step_us = 16.0, 2.5
    found = simulate(die, {}, FromRelaxation(die, step_us, price), 200_000)
    least = 1e6 * Relaxation(die, step_us).gain(price) * (1 - die.read_load)
    assert 0.97 * least < dual(die, found, price) < 1.07 * least


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("die", DIES)
def test_the_bound_rises_as_steps_become_shorter(die: Die, in_order: bool) -> None:
    rates = [Relaxation(die, step, in_order).per_s(0.002, 4.0) for step in (10, 5, 2.5)]
    assert all(0 < coarse < fine for coarse, fine in pairwise(rates))


def test_nothing_is_needed_where_reads_may_be_as_late_as_without_suspensions() -> None:
    die = DIES[0]
    never = simulate(die, threshold(1e9))
    assert never.suspensions == 0
    grid = Relaxation(die, 10.0)
    assert grid.per_s(never.late_share, grid.best_price(never.late_share)) == 0
    assert grid.per_s(0.1 * never.late_share, 1.0) > 0


def test_each_read_that_comes_into_a_program_suspends_it() -> None:
    # A read is in time only if it comes alone and its suspension begins at once.
    die = Die(resume_us=0, slo_us=80)
    each = die.rate * die.program_us
    exact = 1e6 * (1 - die.read_load) * each / (die.program_us + die.entry_us * each)
    rates = [Relaxation(die, step, in_order=False).per_s(0, 1000.0) for step in (4, 2, 1)]
    assert rates == sorted(rates)
    # Reads less than a step apart share a suspension: 0.5 % a microsecond.
    assert 0.985 * exact < rates[-1] < exact


def test_the_recursion_solves_the_linear_programme() -> None:
    # All in steps of 10 µs; h and the gain are variables, and every choice of a policy a row.
    die = Die(read_us=30, program_us=200, entry_us=10, resume_us=0, slo_us=100)
    read, late, last, most, works, price = 3, 8, 6, 4, 20, 3.0
    mean = die.rate * 10
    few = [exp(-mean) * mean**k / factorial(k) for k in range(3)]
    chances = [*few, 1 - sum(few)]
    places = (most + 1) * (late + 1)
    gain = (works + 1) * places
    rows: list[dict[int, float]] = []
    ends: list[float] = []

    def at(left: int, q: int, u: int) -> int:
        return left * places + q * (late + 1) + u

    def joined(q: int, u: int, k: int) -> tuple[int, int]:
        after = min(q + k, most)
        older = u + 1 if q else 0
        return after, min(max(older, (after - 1) * read if k else 0), late)

    def at_most(here: int, right: list[tuple[int, float]], known: float) -> None:
        row = {here: 1.0}
        for name, factor in right:
            row[name] = row.get(name, 0.0) - factor
        rows.append(row)
        ends.append(known)

    for left, q in product(range(works + 1), range(most + 1)):
        for u in range(late + 1 if q else 1):
            here = at(left, q, u)
            if q:
                others = at(left, q - 1, max(q - 2, 0) * read)
                at_most(here, [(others, 1)], price)
            if q and u <= last:
                at_most(here, [(at(left, 0, 0), 1), (gain, -die.entry_us)], 1)
            if u == late:
                continue
            if left == 0:
                at_most(here, [], 0)
                continue
            # Suspended or not, without an arrival and with one, two or three.
            for picks in product((False, True), repeat=4):
                if (u > last and any(picks)) or (not q and picks[0]):
                    continue
                right = [(gain, -10.0)]
                for k, (chance, is_suspended) in enumerate(zip(chances, picks, strict=True)):
                    state = (0, 0) if is_suspended else joined(q, u, k)
                    right.append((at(left - 1, *state), chance))
                    right.append((gain, -chance * die.entry_us * is_suspended))
                known = sum(
                    c for c, is_suspended in zip(chances, picks, strict=True) if is_suspended
                )
                at_most(here, right, known)
    matrix = lil_array((len(rows), gain + 1))
    for number, row in enumerate(rows):
        for name, factor in row.items():
            matrix[number, name] = factor
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * (gain + 1)
    bounds[at(works, 0, 0)] = (0, None)
    target = np.zeros(gain + 1)
    target[gain] = -1
    found = linprog(target, matrix.tocsr(), ends, bounds=bounds)
    assert found.x[gain] > 1e-4
    assert Relaxation(die, 10.0, in_order=False).gain(price) == pytest.approx(
        found.x[gain], rel=1e-6
    )

"""The runs behind the report: which there are, and their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reprieve import Result
from reprieve.parallel import Watch, Workshop
from reprieve_studies.compress import Compression, compress
from reprieve_studies.fast12 import alternatives, beyond
from reprieve_studies.fast12.alternatives import ALTERNATIVES, Alternative
from reprieve_studies.fast12.measures import POLICIES, Spot
from reprieve_studies.fast12.paper import DEVICES, IDLE_SHARE, QUEUE_COMPRESSION, QUEUE_LIMITS
from reprieve_studies.loads import Load
from reprieve_studies.runs import Overrides, Setup, simulate_all

Place = tuple[str, str]
"""A device and a load by its trace."""

QUEUE_POLICIES = ("FIFO", "RPS", "PES_IPC")
_SCALE = "workload.time_scale"


@dataclass(frozen=True)
class Plan:
    """What is run."""

    papers: Sequence[Load]
    real: Sequence[Load]
    requests: int
    """Of each load at most."""

    @property
    def loads(self) -> list[Load]:
        """All of them."""
        return [*self.papers, *self.real]

    @property
    def pieces(self) -> int:
        """How many pieces of work it is."""
        every, papers = len(DEVICES) * len(self.loads), len(DEVICES) * len(self.papers)
        return (
            every * (1 + len(POLICIES))
            + papers * (1 + len(ALTERNATIVES) * len(alternatives.POLICIES))
            + 2 * len(DEVICES) * len(QUEUE_LIMITS) * len(QUEUE_POLICIES)
            + every * (1 + len(beyond.VARIANTS))
        )


@dataclass(frozen=True)
class Outcome:
    """All results."""

    plan: Plan
    compressions: Mapping[Place, Compression]
    """Until the drive idles for the paper's share."""
    compressions_of_dies: Mapping[Place, Compression]
    """Until the mean die does; the paper's loads only."""
    compressions_beyond: Mapping[Place, Compression]
    """Of the drive of `beyond`."""
    main: Mapping[Spot, Result]
    alternatives: Mapping[str, Mapping[Spot, Result]]
    """By the alternative's name; the base is `main`."""
    queue: Mapping[tuple[bool, str, int, str], Result]
    """By whether the dies idle before the last compression, device, limit and policy, under F2."""
    beyond: Mapping[Spot, Result]
    """By device, load and the variant's name."""


def run(plan: Plan, workshop: Workshop) -> Outcome:
    """Run everything."""
    places = {
        (device, load.trace): load.setup(preset, plan.requests)
        for device, preset in DEVICES.items()
        for load in plan.loads
    }
    spreads = {load.trace: load.spread for load in plan.loads}
    spread = {place: setup.with_overrides(spreads[place[1]]) for place, setup in places.items()}
    of_papers = {place: places[place] for place in places if place[1] in _names(plan.papers)}
    scales = _compress(workshop, "compressing the loads", places, {})
    scales_of_dies = _compress(workshop, "compressing by dies", of_papers, {}, of_dies=True)
    scales_beyond = _compress(workshop, "compressing on a full drive", spread, beyond.DRIVE)
    main = {
        Spot(*place, name): _at(setup, scales[place], {"policy": policy})
        for place, setup in places.items()
        for name, policy in POLICIES.items()
    }
    further = {
        (each.name, Spot(*place, name)): _alternative(
            each,
            (spread if each.full else places)[place],
            (scales_of_dies if each.of_dies else scales_beyond if each.full else scales)[place],
            name,
        )
        for each in ALTERNATIVES
        for place in of_papers
        for name in alternatives.POLICIES
    }
    queue = {
        (of_dies, device, limit, name): _queue(
            of_papers[device, "F2"],
            (scales_of_dies if of_dies else scales)[device, "F2"],
            limit,
            name,
        )
        for of_dies in (False, True)
        for device in DEVICES
        for limit in QUEUE_LIMITS
        for name in QUEUE_POLICIES
    }
    farther = {
        Spot(*place, variant.name): _at(
            setup,
            scales_beyond[place],
            {**beyond.DRIVE, "policy": POLICIES[variant.policy], **variant.overrides},
        )
        for place, setup in spread.items()
        for variant in beyond.VARIANTS
    }
    results = simulate_all(workshop, "Figures 1 to 6", main)
    others = simulate_all(workshop, "other readings", further)
    return Outcome(
        plan,
        scales,
        scales_of_dies,
        scales_beyond,
        results,
        {
            each.name: {
                spot: result for (name, spot), result in others.items() if name == each.name
            }
            for each in ALTERNATIVES
        },
        simulate_all(workshop, "Figure 7", queue),
        simulate_all(workshop, "beyond the paper", farther),
    )


def _names(loads: Sequence[Load]) -> list[str]:
    return [load.trace for load in loads]


def _compress(
    workshop: Workshop,
    what: str,
    places: Mapping[Place, Setup],
    overrides: Overrides,
    *,
    of_dies: bool = False,
) -> dict[Place, Compression]:
    def one(place: Place, watch: Watch) -> Compression:
        setup = places[place].with_overrides({**overrides, "policy": "fifo"})
        return compress(setup, IDLE_SHARE, watch, of_dies=of_dies)

    return dict(zip(places, workshop.each(what, list(places), one), strict=True))


def _at(setup: Setup, scale: Compression, overrides: Overrides) -> Setup:
    return setup.with_overrides({_SCALE: scale.time_scale, **overrides})


def _alternative(each: Alternative, setup: Setup, scale: Compression, policy: str) -> Setup:
    return _at(setup, scale, {"policy": POLICIES[policy], **each.overrides})


def _queue(setup: Setup, scale: Compression, limit: int, policy: str) -> Setup:
    overrides = {
        _SCALE: scale.time_scale / QUEUE_COMPRESSION,
        "scheduling.write_queue_limit": limit,
        "policy": POLICIES[policy],
    }
    return setup.with_overrides(overrides)

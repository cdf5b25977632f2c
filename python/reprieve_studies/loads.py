"""Loads of reproductions: counterparts, genuine traces in their place, recorded loads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reprieve import UserError
from reprieve_studies.runs import Overrides, Setup

_REAL: dict[str, tuple[str, Overrides]] = {
    "mysql": ("linux-mysql.load.gz", {}),
    "mssql": ("windows-mssql.load.gz", {}),
    # The recording holds many requests twice, on a device and on the one below it.
    "web": ("linux-webserver-600s.load.zst", {"drop_duplicates_within_us": 1000}),
}
"""Traces of 1&1 servers that travel with the project (`traces/README.md`)."""
_OF_ARRIVALS = (
    "arrivals", "rate_iops", "burst_fraction", "burst_gap_us", "burst_length",
    "simultaneous_fraction",
)  # fmt: skip
"""Keys of a generated load that a closed loop does without."""
_KIB = 1024


@dataclass(frozen=True)
class Recording:
    """A genuine trace that stands in a counterpart's place."""

    path: Path
    format: str = "auto"
    """A name of a trace format, where more than one fits."""


@dataclass(frozen=True)
class Load:
    """A load that all policies are run under."""

    trace: str
    """The paper's name of it, such as "F1"; of a real one its own."""
    label: str
    """Name in charts and tables: never the bare name of a trace for its counterpart."""
    genuine: bool
    """It is a recording, not a counterpart."""
    workload: Overrides
    """Section `[workload]`."""
    preset: str | None = None
    """The built-in load that it starts from."""
    seed: int = 1
    """Another for each counterpart: two that share their characteristics are then two samples."""
    flows: Mapping[str, int] = field(default_factory=dict)
    """Requests of each flow of the built-in load, where it has flows."""

    @property
    def spread(self) -> Overrides:
        """Keys that make a load fit a small drive, and reach all of it."""
        if self.genuine:
            return {}  # its addresses wrap around the drive's end
        return {"workload.footprint_bytes": "none", "workload.footprint_share": 1.0}

    def closed(self, depth: int) -> "Load":
        """Return a load that always keeps as many requests outstanding, whatever its arrivals."""
        if self.genuine:
            own = {**self.workload, "replay": "closed"}
        else:
            kept = {key: one for key, one in self.workload.items() if key not in _OF_ARRIVALS}
            own = {**kept, "arrivals": "closed"}
        return replace(self, workload={**own, "queue_depth": depth})

    def setup(self, device: str, requests: int, seed: int | None = None) -> Setup:
        """Return the load on a device, of at most `requests`; with another seed if given."""
        top: dict[str, object] = {"device": device, "seed": self.seed if seed is None else seed}
        if self.preset is not None:
            top["load"] = self.preset
        if self.flows:
            share = requests / sum(self.flows.values())
            counts = {name: max(1, round(share * count)) for name, count in self.flows.items()}
            tables = {name: {"requests": count} for name, count in counts.items()}
            return Setup({**top, "workload": dict(self.workload), "flow": tables}, {})
        count = "max_requests" if self.genuine else "requests"
        return Setup({**top, "workload": {**self.workload, count: requests}}, {})


def papers(
    genuine: Mapping[str, Recording], names: Sequence[str], counterpart: Callable[[str, int], Load]
) -> list[Load]:
    """Return the loads of a paper; `genuine` has a file for those that are at hand.

    `counterpart` makes the others from name and seed. UserError for a name that the paper does
    not have, or a file that is not there.
    """
    for name, found in genuine.items():
        given = f"--trace {name}={found.path}"
        if name not in names:
            raise UserError(f"{given}: must be one of {', '.join(names)}")
        if not found.path.is_file():
            raise UserError(f"{given}: there is no such file; name a trace")
    return [
        recording(name, genuine[name].path, {"format": genuine[name].format})
        if name in genuine
        else counterpart(name, seed)
        for seed, name in enumerate(names, 1)
    ]


def sizes(mean_kib: float) -> list[list[float]]:
    """Return the two powers of two around a mean size, weighted to it."""
    low = 1
    while 2 * low <= mean_kib:
        low *= 2
    share = (mean_kib - low) / low
    return [[low * _KIB, round(100 * (1 - share), 4)], [2 * low * _KIB, round(100 * share, 4)]]


def real() -> list[Load]:
    """Return the real loads of a checkout; none where only the package is installed."""
    directory = Path(__file__).resolve().parents[2] / "traces"
    return [
        recording(name, directory / file, overrides)
        for name, (file, overrides) in _REAL.items()
        if (directory / file).is_file()
    ]


def recording(name: str, path: Path, overrides: Overrides | None = None) -> Load:
    """Return the load of a recorded trace."""
    return Load(name, name, genuine=True, workload={"trace": str(path), **(overrides or {})})

"""Options of a job of fio, read by the table of options that serves job files too."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from reprieve._native import fio_options


@dataclass(frozen=True)
class Asked:
    """Load that the options of a job describe."""

    sizes: dict[str, list[tuple[int, float]]]
    """By direction, sizes in bytes with their percentages; a direction that is not here is none
    of `rw`."""
    bytes_per_s: dict[str, int]
    """Limits by direction, of each clone."""
    iops: dict[str, int]
    read_share: float | None
    """Of a mix of reads and writes."""
    is_plain: bool
    """Places follow order or chance, and no law that depends on the size of the region."""
    queue_depth: int
    """Of each clone."""
    is_synchronous: bool
    """The engine has one request outstanding, whatever the depth."""
    clones: int
    think_s: float
    delay_s: float
    ramp_s: float
    runtime_s: float | None
    is_time_based: bool
    waits: bool
    """It waited for the jobs before it."""
    offset_bytes: int | None
    """None if it is a percentage."""
    step_bytes: int | None
    """From clone to clone; None if it is a percentage."""
    size_bytes: int | None
    """None if it is a percentage, or absent."""
    of_zones: list[str]
    """Options of zoned drives, which are left out."""

    @staticmethod
    def of(options: Mapping[str, str]) -> "Asked":
        """Read options; raises UserError at one that is not simulated or has a wrong value."""
        found = json.loads(fio_options(list(options.items())))
        sizes = {each: [(size, part) for size, part in of] for each, of in found["sizes"].items()}
        return Asked(**{**found, "sizes": sizes})

    @property
    def depth(self) -> int:
        """Requests outstanding, over the clones."""
        return self.queue_depth * self.clones

    @property
    def is_paced(self) -> bool:
        """Whether requests are issued at times that do not follow from completions alone."""
        return bool(self.bytes_per_s or self.iops or self.think_s)

    def bytes_mean(self, direction: str) -> float:
        """Return the mean size of a request."""
        sizes = self.sizes[direction]
        return sum(size * percent for size, percent in sizes) / sum(each for _, each in sizes)

    @property
    def end_bytes(self) -> int:
        """The end of the region as far as it is given in bytes."""
        step = (self.step_bytes or 0) * (self.clones - 1)
        return (self.offset_bytes or 0) + step + (self.size_bytes or 0)

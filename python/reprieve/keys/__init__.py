"""The keys of a scenario, written from its schema by `make docs`: not to be edited."""

from reprieve.keys.buffer import Buffer
from reprieve.keys.channel import Channel
from reprieve.keys.ecc import Ecc
from reprieve.keys.ftl import Ftl
from reprieve.keys.geometry import Geometry
from reprieve.keys.host import Host
from reprieve.keys.measure import Measure
from reprieve.keys.nand import Nand
from reprieve.keys.parallelism import Parallelism
from reprieve.keys.power import Power
from reprieve.keys.power_loss import PowerLoss
from reprieve.keys.read_cache import ReadCache
from reprieve.keys.reliability import Reliability
from reprieve.keys.scheduling import Scheduling
from reprieve.keys.suspension import Suspension
from reprieve.keys.timing import Timing
from reprieve.keys.top import Top
from reprieve.keys.workload import Workload
from reprieve.sections import Keys

SECTIONS: dict[str, type[Keys]] = {
    "geometry": Geometry,
    "timing": Timing,
    "parallelism": Parallelism,
    "suspension": Suspension,
    "reliability": Reliability,
    "ecc": Ecc,
    "scheduling": Scheduling,
    "channel": Channel,
    "power": Power,
    "power_loss": PowerLoss,
    "ftl": Ftl,
    "nand": Nand,
    "buffer": Buffer,
    "read_cache": ReadCache,
    "host": Host,
    "workload": Workload,
    "measure": Measure,
}
"""The class of each section."""

__all__ = [
    "SECTIONS",
    "Buffer",
    "Channel",
    "Ecc",
    "Ftl",
    "Geometry",
    "Host",
    "Measure",
    "Nand",
    "Parallelism",
    "Power",
    "PowerLoss",
    "ReadCache",
    "Reliability",
    "Scheduling",
    "Suspension",
    "Timing",
    "Top",
    "Workload",
]

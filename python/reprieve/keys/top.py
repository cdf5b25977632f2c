"""Keys before every section, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

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
from reprieve.keys.workload import Workload
from reprieve.sections import Flows, Keys


class Top(Keys):
    """Keys before every section, and the sections."""

    seed: int
    """Seed of every random stream.

    Value: an integer from 0 to 18446744073709551615. Default: `1`.
    """
    device: str | None
    """The drive to start from: a built-in preset, or the path of a file of the same form.

    Value: the name of a preset or the path of a .toml file. Default: absent.
    """
    part: str | None
    """The NAND part under the drive, in place of the one that the device names.

    Value: the name of a preset or the path of a .toml file. Default: absent.
    """
    load: str | None
    """The load to start from: a built-in preset, or the path of a file of the same form.

    Value: the name of a preset or the path of a .toml file. Default: absent.
    """
    name: str | None
    """What results call this drive; else the device's name.

    Value: a string. Default: absent.
    """
    policy: Literal["fifo", "rps", "per", "pe0", "pes-ips", "pes-ipc"] | None
    """Shorthand for scheduling.policy, suspension.program and suspension.erase together.

    Default: absent. Source: Wu and He, FAST 2012, section 5. `fifo`: In order of arrival, nothing
    is suspended. `rps`: Read priority scheduling, nothing is suspended. `per`: RPS with program and
    erase as short as a read. `pe0`: RPS with program and erase of no length. `pes-ips`: RPS with
    erase and inter-phase program suspension. `pes-ipc`: RPS with erase suspension and intra-phase
    cancellation.
    """
    geometry: Geometry
    timing: Timing
    parallelism: Parallelism
    suspension: Suspension
    reliability: Reliability
    ecc: Ecc
    scheduling: Scheduling
    channel: Channel
    power: Power
    power_loss: PowerLoss
    ftl: Ftl
    nand: Nand
    buffer: Buffer
    read_cache: ReadCache
    host: Host
    workload: Workload
    measure: Measure
    flow: Flows[Workload]

    def __init__(
        self,
        *,
        seed: int | None = None,
        device: str | None = None,
        part: str | None = None,
        load: str | None = None,
        name: str | None = None,
        policy: Literal["fifo", "rps", "per", "pe0", "pes-ips", "pes-ipc"] | None = None,
        geometry: Mapping[str, Any] | None = None,
        timing: Mapping[str, Any] | None = None,
        parallelism: Mapping[str, Any] | None = None,
        suspension: Mapping[str, Any] | None = None,
        reliability: Mapping[str, Any] | None = None,
        ecc: Mapping[str, Any] | None = None,
        scheduling: Mapping[str, Any] | None = None,
        channel: Mapping[str, Any] | None = None,
        power: Mapping[str, Any] | None = None,
        power_loss: Mapping[str, Any] | None = None,
        ftl: Mapping[str, Any] | None = None,
        nand: Mapping[str, Any] | None = None,
        buffer: Mapping[str, Any] | None = None,
        read_cache: Mapping[str, Any] | None = None,
        host: Mapping[str, Any] | None = None,
        workload: Mapping[str, Any] | None = None,
        measure: Mapping[str, Any] | None = None,
        flow: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._take(
            {
                "seed": seed,
                "device": device,
                "part": part,
                "load": load,
                "name": name,
                "policy": policy,
                "geometry": geometry,
                "timing": timing,
                "parallelism": parallelism,
                "suspension": suspension,
                "reliability": reliability,
                "ecc": ecc,
                "scheduling": scheduling,
                "channel": channel,
                "power": power,
                "power_loss": power_loss,
                "ftl": ftl,
                "nand": nand,
                "buffer": buffer,
                "read_cache": read_cache,
                "host": host,
                "workload": workload,
                "measure": measure,
                "flow": flow,
            }
        )

    def _take(self, tables: Mapping[str, Any]) -> None:
        raise NotImplementedError

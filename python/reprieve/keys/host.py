"""Keys of `[host]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reprieve.sections import Keys


class Host(Keys):
    """Keys of `[host]`.

    The link to the host, and its queues.
    """

    _section = "host"

    interface: Literal["direct", "nvme", "sata"]
    """What is between the host and the drive.

    Default: `"direct"`. `direct`: Every request reaches the drive at its arrival. `nvme`:
    Submission queues, out of which the drive fetches commands. `sata`: One queue of 32 commands
    (NCQ), and a link that is half duplex.
    """
    order: Literal["free", "in_order"]
    """In which order requests and their data cross the host link.

    Default: `"free"`. `free`: Commands take their own way, and reads overtake writes. `in_order`:
    One request at a time crosses the link, in either direction; none overtakes another.
    """
    queues: int
    """Submission queues.

    Value: an integer from 1 to 65535. Default: `1`. Only while host.interface is nvme. Source: NVM
    Express Base Specification 2.0: at most 65,535.
    """
    queue_entries: int
    """Commands of one queue that may be outstanding; others wait.

    Value: an integer from 1 to 65535. Default: `1023`. Only while host.interface is nvme. Source:
    Linux 6.1, drivers/nvme/host/pci.c: 1,024 entries, one of them free.
    """
    outstanding: int | None
    """Commands of all queues that the drive works on at a time; absent: no limit.

    Value: an integer from 1 to 4294967295, or "none". Default: absent. Only while host.interface is
    nvme.
    """
    arbitration: Literal["round-robin", "weighted", "weighted-classes", "strict-priority"]
    """From which queue the next command is fetched.

    Default: `"round-robin"`. Only while host.interface is nvme. Source: NVM Express Base
    Specification 2.0, section 3.4.4. `round-robin`: Every queue in turn, for arbitration_burst
    commands at most. `weighted`: Every queue in turn, for as many commands at most as its weight in
    queue_weights. `weighted-classes`: Urgent queues first; then the classes in turn, for as many
    commands as class_weights. `strict-priority`: The highest class of queue_priorities that has a
    command; round robin within it.
    """
    arbitration_burst: int
    """Commands that a queue may send in its turn.

    Value: an integer from 1 to 4294967295. Default: `1`. Only while host.arbitration is round-robin
    or strict-priority or weighted-classes. Source: NVM Express Base Specification 2.0, section
    3.4.4.
    """
    queue_weights: Sequence[int]
    """Commands that each queue may send in its turn, in the order of the queues.

    Value: a list of integers from 1 to 65535. It must be given. Only while host.arbitration is
    weighted.
    """
    class_weights: Sequence[int]
    """Commands that the high, the medium and the low class may send in a round.

    Value: a list of integers from 1 to 256. It must be given. Only while host.arbitration is
    weighted-classes. Source: NVM Express Base Specification 2.0, section 3.4.4.
    """
    queue_priorities: Sequence[Literal["urgent", "high", "medium", "low"]]
    """The class of each queue, in the order of the queues.

    It must be given. Only while host.arbitration is strict-priority or weighted-classes. `urgent`:
    Before every other. `high`: After urgent. `medium`: After high. `low`: After medium.
    """
    t_command_us: float
    """Time that fetching a command takes; commands are fetched one after the other.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`. Only
    while host.interface is nvme or sata.
    """
    link_bytes_per_s: int | None
    """Rate of the host link in each direction; absent: transfers take no time.

    Value: an integer from 1 to 1000000000000, or "none". Default: absent.
    """
    pcie_generation: int | None
    """PCI Express generation of the link, in place of link_bytes_per_s.

    Value: an integer from 1 to 6, or "none". Default: absent. Only while host.interface is direct
    or nvme. Source: PCI Express Base Specification 6.0: 8b/10b to 2.0, 128b/130b to 5.0, then
    FLITs.
    """
    pcie_max_payload_bytes: int | None
    """Data in a PCI Express packet at most; absent: packets take nothing besides data.

    Value: an integer from 128 to 4096, or "none". Default: absent. Only while host.interface is
    direct or nvme. Source: PCI Express Base Specification 6.0: Max_Payload_Size, 128 to 4096.
    """
    pcie_packet_bytes: int
    """Bytes of a packet besides its data: header, sequence number, check sum, framing.

    Value: an integer from 0 to 64. Default: `24`. Only while host.pcie_max_payload_bytes is given.
    Source: PCI Express Base Specification 6.0: 16 with 64-bit addresses, 4 (LCRC), 4.
    """
    commands_cross_link: bool
    """Whether doorbells, queue entries and requests for data cross the link besides data.

    Value: true or false. Default: `false`. Only while host.interface is nvme.
    """
    pcie_lanes: int
    """Lanes of the link.

    Value: an integer from 1 to 16. Default: `4`. Only while host.pcie_generation is given.
    """

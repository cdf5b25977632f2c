"""Keys of `[workload]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reprieve.sections import Keys


class Workload(Keys):
    """Keys of `[workload]`.

    What the drive is asked to do: a trace, a generator, or a fio file. Tables `[flow.NAME]` ask for
    several loads at once; each has the keys that differ from these.
    """

    _section = "workload"

    trace: str | None
    """The trace to replay, plain, .gz or .zst: a file, a folder, or a pattern with `*`.

    Value: the path of a file. Default: absent.
    """
    generator: Literal["mixed"] | None
    """The generator of requests, in place of a trace.

    Default: absent. `mixed`: Random draws of operation, size, address and inter-arrival time.
    """
    fio: str | None
    """A job file of fio in place of both; each of its jobs is a flow.

    Value: the path of a file. Default: absent.
    """
    unwritten: Literal["flash", "zero"]
    """What the read of a page that was never written costs.

    Default: `"flash"`. `flash`: Like any page: a flash read. `zero`: Answered without a flash read.
    """
    queues: Sequence[int] | None
    """Submission queues that the requests go to by turns; absent: all, or a flow's own.

    Value: a list of integers from 0 to 65534, or "none". Default: absent. Only while host.interface
    is nvme.
    """
    format: Literal[
        "auto",
        "alibaba",
        "arc",
        "blkparse",
        "blkreplay",
        "blktrace",
        "cloudphysics-csv",
        "columns",
        "diskmon",
        "disksim",
        "disksim-validate",
        "etw",
        "fiu",
        "iolog",
        "k5cloud",
        "mqsim",
        "msbytes",
        "msr",
        "oracle-general",
        "oracle-general-opns",
        "recording",
        "spc",
        "srt",
        "ssdsim",
        "systor17",
        "tencent",
        "vscsi",
    ]
    """How the trace is written.

    Default: `"auto"`. Only while workload.trace is given. `auto`: Found out from the content.
    `alibaba`: Alibaba block traces: device,R or W,offset,bytes,microseconds. `arc`: ARC's .lis:
    block blocks ignored number; the scenario gives operation and time. `blkparse`: blkparse's text:
    device cpu number seconds pid action rwbs sector + sectors. `blkreplay`: blkreplay .load:
    seconds ; sector ; sectors ; R, W or D ; delay ; duration. `blktrace`: blktrace's binary files,
    one for each processor; events Q or D are the requests. `cloudphysics-csv`: CloudPhysics CSV:
    version,seconds,SCSI code (hexadecimal),bytes,sector. `columns`: Any rows of text; the key
    columns names their fields and units. `diskmon`: DiskMon text: number, seconds, duration, disk,
    Read or Write, sector, sectors. `disksim`: DiskSim ASCII: ms device block blocks flags
    (hexadecimal, bit 0: read). `disksim-validate`: DiskSim's validate: R or W, buffer, block,
    blocks, service us, us to the next. `etw`: Microsoft ETW CSV: DiskRead and DiskWrite in
    microseconds, hexadecimal bytes. `fiu`: FIU: ns pid process sector sectors W or R major minor
    md5. `iolog`: fio's write_iolog, versions 2 and 3: file, action, offset, bytes. `k5cloud`:
    Fujitsu K5 cloud: volume,seconds,R or W,offset,bytes. `mqsim`: MQSim: ns device sector sectors
    type (0 write, 1 read). `msbytes`: Five columns in bytes: ms device offset bytes type (1 read, 0
    write). `msr`: MSR Cambridge CSV: FILETIME,host,disk,Read or Write,offset,bytes,response.
    `oracle-general`: libCacheSim's oracleGeneral: seconds, block, bytes; row_op says what it does.
    `oracle-general-opns`: libCacheSim's oracleGeneralOpNS: seconds, block, bytes, operation, name
    space. `recording`: reprieve serve --record:
    arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns. `spc`: SPC (UMass): ASU,sector,bytes,r or
    w,seconds; each ASU is a device. `srt`: HP SRT 1.3 (DiskSim's hpl): a text heading, then
    big-endian records. `ssdsim`: SSDsim: ns device sector sectors op (1 read, 0 write); the columns
    of mqsim. `systor17`: SYSTOR '17: seconds,response,R or W,unit,offset,bytes; a folder of such
    files. `tencent`: Tencent block traces: seconds,sector,sectors,0 read or 1 write,volume.
    `vscsi`: vSCSI (CloudPhysics), versions 1 and 2: binary records with microseconds.
    """
    columns: str | None
    """The columns of a trace of format columns, such as "time_s,device,sector,bytes,op".

    Value: a string. Default: absent. Only while workload.trace is given.
    """
    sector_bytes: int | None
    """What addresses count, where a format leaves it open; absent: the format's own, mostly 512.

    Value: an integer from 1 to 1048576, or "none". Default: absent. Only while workload.trace is
    given.
    """
    blktrace_action: Literal["queue", "issue"] | None
    """Which events of blktrace are the requests; absent: "queue".

    Default: absent. Only while workload.trace is given. `queue`: Events Q: what the host asks,
    before the block layer merges. `issue`: Events D: what the device gets.
    """
    etw_time: Literal["begin", "end"] | None
    """When a request of an ETW trace arrives; absent: "begin".

    Default: absent. Only while workload.trace is given. `begin`: A request arrives its elapsed time
    before the timestamp. `end`: It arrives at the timestamp, which is that of its completion.
    """
    iolog_wait: Literal["relative-us", "absolute-ms"] | None
    """What `wait` means in a log of fio of version 2; absent: "relative-us".

    Default: absent. Only while workload.trace is given. `relative-us`: Microseconds since the last
    wait, as fio's manual says. `absolute-ms`: Milliseconds since the start, as fio 3.33 does.
    """
    same_second: Literal["spread", "as-written"] | None
    """Where the rows of one second lie if the trace's clock has whole ones; absent: "spread".

    Default: absent. Only while workload.trace is given. `spread`: At equal distances within it, in
    the order of the file. `as-written`: All at its beginning.
    """
    row_op: Literal["read", "write"] | None
    """The operation of every row of a trace that names none.

    Default: absent. Only while workload.trace is given. `read`: Every row reads. `write`: Every row
    writes.
    """
    row_interval_us: float | None
    """The time from row to row of a trace that has none.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while workload.trace is given.
    """
    zero_length: Literal["drop", "error"] | None
    """What becomes of rows of no length; absent: "drop".

    Default: absent. Only while workload.trace is given. `drop`: Such rows are left out and counted.
    `error`: The run ends and names the row.
    """
    replay: Literal["open", "closed"]
    """When a request of the trace reaches the drive.

    Default: `"open"`. Only while workload.trace is given. `open`: When the trace says, whatever the
    drive does. `closed`: When one completes: queue_depth outstanding, times unused.
    """
    start_s: float
    """Earlier rows are left out; in trace time.

    Value: a time in seconds, whole in nanoseconds, from 0 to 1000000000. Default: `0`. Only while
    workload.trace is given.
    """
    duration_s: float | None
    """Rows from this long after the start are left out.

    Value: a time in seconds, whole in nanoseconds, from 0 to 1000000000, or "none". Default:
    absent. Only while workload.trace is given.
    """
    max_requests: int | None
    """The run ends after this many.

    Value: an integer from 1 to 18446744073709551615, or "none". Default: absent. Only while
    workload.trace is given.
    """
    devices: Literal["concatenate", "merge"] | Sequence[int]
    """Each device of the trace gets its own range, or all share one, or only these count.

    Value: "concatenate", "merge" or a list of different device numbers. Default: `"concatenate"`.
    Only while workload.trace is given.
    """
    address: Literal["modulo", "scale", "clamp", "drop", "error"]
    """What becomes of an address past the end of the drive.

    Default: `"modulo"`. Only while workload.trace is given. `modulo`: Wrap around the end of the
    drive. `scale`: Map the extent of the trace onto the drive, linearly. `clamp`: The last address
    at which the request fits. `drop`: Leave the request out and count it. `error`: Stop, naming the
    row.
    """
    drop_duplicates_within_us: float | None
    """A row that repeats another within this time is dropped; absent: none is.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while workload.trace is given.
    """
    sort_window_requests: int
    """Rows within which a time that runs back is sorted into place; 0: it is an error.

    Value: an integer from 0 to 16777216. Default: `0`. Only while workload.trace is given.
    """
    requests: int
    """How many requests.

    Value: an integer from 1 to 18446744073709551615. It must be given. Only while
    workload.generator is mixed.
    """
    read_fraction: float
    """Share of reads.

    Value: a number at least 0 and at most 1. It must be given. Only while workload.generator is
    mixed.
    """
    trim_fraction: float
    """Share of trims.

    Value: a number at least 0 and at most 1. Default: `0.0`. Only while workload.generator is
    mixed.
    """
    flush_every_requests: int | None
    """Every so many requests one is a flush; absent: none is.

    Value: an integer from 2 to 18446744073709551615, or "none". Default: absent. Only while
    workload.generator is mixed.
    """
    fua_fraction: float
    """Share of the writes that are acknowledged only when they are programmed (FUA).

    Value: a number at least 0 and at most 1. Default: `0.0`. Only while workload.generator is
    mixed.
    """
    request_bytes: int | Sequence[tuple[int, float]]
    """Size of a request.

    Value: a multiple of 512 from 512 to 1073741824, or a list of [such a multiple, weight above 0].
    Default: `4096`. Only while workload.generator is mixed.
    """
    read_request_bytes: int | Sequence[tuple[int, float]] | None
    """Size of a read; absent: that of any request.

    Value: a multiple of 512 from 512 to 1073741824, or a list of [such a multiple, weight above 0],
    or "none". Default: absent. Only while workload.generator is mixed.
    """
    write_request_bytes: int | Sequence[tuple[int, float]] | None
    """Size of a write; absent: that of any request.

    Value: a multiple of 512 from 512 to 1073741824, or a list of [such a multiple, weight above 0],
    or "none". Default: absent. Only while workload.generator is mixed.
    """
    align_bytes: int
    """Every address is a multiple of this.

    Value: a multiple of 512 from 512 to 1073741824. Default: that of `geometry.page_bytes`. Only
    while workload.generator is mixed.
    """
    addresses: Literal["uniform", "sequential", "zipf", "hot-cold"]
    """Where in the space a request goes.

    Default: `"uniform"`. Only while workload.generator is mixed. `uniform`: Every place alike.
    `sequential`: One after the other, from the start again at the end. `zipf`: The place of rank r
    with a frequency of r^-zipf_theta. `hot-cold`: hot_fraction of the requests go to hot_share of
    the space.
    """
    zipf_theta: float
    """Exponent of the Zipf law.

    Value: a number above 0 and at most 10. It must be given. Only while workload.addresses is zipf.
    """
    zipf_unit_bytes: int | None
    """Length of a place of the Zipf law; absent: the alignment, at least 4096.

    Value: a multiple of 512 from 512 to 1073741824, or "none". Default: absent. Only while
    workload.addresses is zipf.
    """
    hot_share: float
    """Share of the space that is hot.

    Value: a number above 0 and below 1. It must be given. Only while workload.addresses is
    hot-cold.
    """
    hot_fraction: float
    """Share of requests to the hot space.

    Value: a number at least 0 and at most 1. It must be given. Only while workload.addresses is
    hot-cold.
    """
    read_sequential_fraction: float
    """Share of the reads that begin where the last read ended, or aligned just behind.

    Value: a number at least 0 and at most 1. Default: `0.0`. Only while workload.addresses is
    uniform or zipf or hot-cold.
    """
    write_sequential_fraction: float
    """Share of the writes that begin where the last write ended, or aligned just behind.

    Value: a number at least 0 and at most 1. Default: `0.0`. Only while workload.addresses is
    uniform or zipf or hot-cold.
    """
    footprint_start_bytes: int
    """The first address; a multiple of the alignment.

    Value: a multiple of 512 from 0 to 1152921504606846976. Default: `0`. Only while
    workload.generator is mixed.
    """
    footprint_bytes: int | None
    """How much of the user capacity is addressed, from the first address on.

    Value: a multiple of 512 from 512 to 1152921504606846976, or "none". Default: absent. Only while
    workload.generator is mixed.
    """
    footprint_share: float | None
    """The same as a share of what lies behind the first address; without either, all of it.

    Value: a number above 0 and at most 1, or "none". Default: absent. Only while workload.generator
    is mixed.
    """
    arrivals: Literal["closed", "poisson", "fixed", "hyperexponential"]
    """When a request reaches the drive.

    Default: `"closed"`. Only while workload.generator is mixed. `closed`: A new request when one
    completes: queue_depth outstanding. `poisson`: At random, rate_iops a second on average.
    `fixed`: At equal distances, rate_iops a second. `hyperexponential`: In bursts: gaps of a short
    and of a long phase.
    """
    queue_depth: int
    """Requests kept outstanding.

    Value: an integer from 1 to 65536. It must be given. Only while workload.arrivals is closed or
    workload.replay is closed.
    """
    rate_iops: float
    """Requests a second.

    Value: a number above 0 and at most 1000000000. It must be given. Only while workload.arrivals
    is poisson or fixed or hyperexponential.
    """
    simultaneous_fraction: float
    """Share of the requests that arrive together with the one before.

    Value: a number at least 0 and below 1. Default: `0.0`. Only while workload.arrivals is
    hyperexponential.
    """
    burst_fraction: float
    """Share of the other gaps that are of the short phase.

    Value: a number above 0 and below 1. It must be given. Only while workload.arrivals is
    hyperexponential. Source: Wajahat et al., Performance Evaluation 142, 2020: two phases fit
    traces best.
    """
    burst_gap_us: float
    """Mean of the short phase; the rate and the rest settle that of the long one.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Only while workload.arrivals is hyperexponential.
    """
    burst_length: float | None
    """Mean number of short gaps in a row; absent: each gap is drawn anew.

    Value: a number at least 1 and at most 1000000000, or "none". Default: absent. Only while
    workload.arrivals is hyperexponential.
    """
    time_scale: float
    """Multiplies the times between arrivals: 0.1 is ten times the load.

    Value: a number above 0 and at most 1000000000. Default: `1.0`. Only while workload.arrivals is
    poisson or fixed or hyperexponential or workload.trace is given.
    """

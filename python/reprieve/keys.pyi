"""The keys of a scenario, written from its schema by `make docs`: not to be edited."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from reprieve.sections import Flows, Keys

class SuspensionBatch(Keys):
    """Keys of `[suspension.batch]`.

    When the policy "batch" suspends: for enough reads, or for one that has waited long enough.
    """

    reads: int | None
    """Suspend once so many reads wait at the die; absent: however many do. Value: an integer from 1
    to 4294967295, or "none". Default: absent. Only while suspension.policy is batch. Source: (N, n)
    preemption, as in Drekic and Stanford, Queueing Systems 35, 2000."""
    oldest_us: float | None
    """Suspend once the oldest of them has waited so long; absent: however long it does. Value: a
    time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent.
    Only while suspension.policy is batch."""

class SuspensionDeadline(Keys):
    """Keys of `[suspension.deadline]`.

    When the policy "deadline" suspends: at the last instant at which it still saves a read.
    """

    read_slo_us: float
    """The time within which a read has to be complete, from its arrival at the die. Value: a time
    in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given. Only while
    suspension.policy is deadline."""
    margin_reads: int
    """Room for so many reads that may come in addition. Value: an integer from 0 to 4294967295.
    Default: `0`. Only while suspension.policy is deadline."""
    price: float
    """Reads that a suspension must save at least. Value: a number at least 0 and at most
    1000000000. Default: `1`. Only while suspension.policy is deadline."""
    backlog_weight: float
    """How much the price rises with the programs and erases that wait at the die: it is multiplied
    by 1 and this for each of them. Value: a number at least 0 and at most 1000000000. Default: `0`.
    Only while suspension.policy is deadline."""

class SuspensionBudget(Keys):
    """Keys of `[suspension.budget]`.

    What suspensions may cost: every 0.2 s of simulated time the policy becomes more patient if more
    was spent, and less if less was.
    """

    suspensions_per_s: float | None
    """Suspensions a second, of all dies together; absent: no limit. Value: a number above 0 and at
    most 1000000000, or "none". Default: absent. Only while suspension.policy is batch or
    deadline."""
    wear_per_day: float | None
    """Cycles of wear that suspensions cost all blocks together in a day; absent: no limit. Value: a
    number above 0 and at most 1000000000000000, or "none". Default: absent. Only while
    suspension.policy is batch or deadline."""
    lost_write_share: float | None
    """Share of the time of all dies for which programs and erases stand suspended; absent: no
    limit. Value: a number above 0 and at most 1, or "none". Default: absent. Only while
    suspension.policy is batch or deadline."""

class Geometry(Keys):
    """Keys of `[geometry]`.

    How many of what the drive has; at most 2147483632 pages in all.
    """

    channels: int
    """Independent buses between controller and flash. Value: an integer from 1 to 2147483648. It
    must be given."""
    dies_per_channel: int
    """Dies that share a channel. Value: an integer from 1 to 2147483648. It must be given."""
    chips_per_channel: int
    """Chips (packages) on a channel; divides dies_per_channel. Value: an integer from 1 to
    2147483648. Default: that of `geometry.dies_per_channel`."""
    planes_per_die: int
    """Planes of a die; parts on the market have up to 8. Value: an integer from 1 to 128. It must
    be given."""
    blocks_per_plane: int
    """Erase blocks of a plane. Value: an integer from 1 to 2147483648. It must be given."""
    pages_per_block: int
    """Pages of a block. Value: an integer from 1 to 2147483648. It must be given."""
    page_bytes: int
    """User bytes of a page. Value: a multiple of 512 from 512 to 16777216. It must be given."""

class Timing(Keys):
    """Keys of `[timing]`.

    How long the part takes.
    """

    t_command_us: float
    """Command and address cycles on the channel (tCMD). Value: a time in microseconds, whole in
    nanoseconds, from 0 to 10000000000. Default: `0`."""
    t_bus_us: float
    """One page over the channel (tBUS). Value: a time in microseconds, whole in nanoseconds, from 0
    to 10000000000. It must be given. Source: Wu and He, FAST 2012, Table 1."""
    t_read_us: float
    """Array read of a page (tR). Value: a time in microseconds, whole in nanoseconds, from 0 to
    10000000000. It must be given. Source: Wu and He, FAST 2012, Table 1."""
    read_law: Literal["fixed", "exponential"]
    """How array reads vary; every law has the mean t_read_us. Default: `"fixed"`. `fixed`: Every
    read takes the same time. `exponential`: Drawn for each read: hypothetical, as theory has it."""
    program_iterations: int
    """Iterations of pulse and verify (ISPP) of a page program. Value: an integer from 1 to 1000. It
    must be given. Source: Wu and He, FAST 2012, Table 1."""
    t_program_pulse_us: float
    """Program pulse of one iteration. Value: a time in microseconds, whole in nanoseconds, from 0
    to 10000000000. It must be given. Source: Wu and He, FAST 2012, Table 1."""
    t_verify_us: float
    """Program verify of one iteration. Value: a time in microseconds, whole in nanoseconds, from 0
    to 10000000000. It must be given. Source: Wu and He, FAST 2012, Table 1."""
    t_erase_us: float
    """Erase pulse, all its segments together. Value: a time in microseconds, whole in nanoseconds,
    from 0 to 10000000000. It must be given. Source: Wu and He, FAST 2012, Table 1."""
    erase_segments: int
    """Equal segments of the erase pulse, with a safe point between any two; divides it. Value: an
    integer from 1 to 1000000. Default: `1`. Source: Kim et al., USENIX ATC 2019, as reported by
    others."""
    t_erase_verify_us: float
    """Verify after the erase pulse. Value: a time in microseconds, whole in nanoseconds, from 0 to
    10000000000. Default: that of `timing.t_verify_us`. Source: Wu and He, FAST 2012, section
    4.1."""
    t_voltage_reset_us: float
    """Reset of the operating voltages; inside a phase, no longer than that. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given. Source: Wu and He,
    FAST 2012, Table 1."""
    t_buffer_us: float
    """Restoring the page buffer from the shadow buffer before a program goes on. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`. Source: Wu and He, FAST
    2012, Table 1."""
    t_suspend_overhead_us: float
    """From the stop of an operation's phases to a free array, in every kind of suspension. Value: a
    time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`. Source:
    Zambelli et al. 2021."""
    t_erase_suspend_overhead_us: float
    """From the stop of an erase to a free array. Value: a time in microseconds, whole in
    nanoseconds, from 0 to 10000000000. Default: that of `timing.t_suspend_overhead_us`."""
    cache_register: bool
    """Whether the array is free at the end of tR: the data waits in a second register. Value: true
    or false. Default: `false`."""
    wordline_pages: int
    """Pages of a block that one program takes together; divides pages_per_block. Value: an integer
    from 1 to 16. Default: `1`."""
    t_load_gap_us: float
    """Between the transfers of two pages of a wordline. Value: a time in microseconds, whole in
    nanoseconds, from 0 to 10000000000. Default: `0`."""
    page_types: int | None
    """Types of pages, as many as a cell has bits; absent: all pages are alike. Value: an integer
    from 2 to 4, or "none". Default: absent."""
    page_type_order: Literal["modulo", "interleaved"]
    """Which page of a block has which type. Default: `"modulo"`. Only while timing.page_types is
    given. `modulo`: The types by turns: page p has type p modulo page_types. `interleaved`: Of
    three types: six pages of the first, two of the second, then two of each by turns (Yaakobi et
    al., ICNC 2012)."""
    t_read_us_by_type: Sequence[float] | None
    """Array read of a page of each type, in place of t_read_us; absent: alike. Value: a list of
    times in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent.
    Only while timing.page_types is given."""
    program_iterations_by_type: Sequence[int] | None
    """Iterations of a program of each type, in place of program_iterations; absent: alike. Value: a
    list of integers from 1 to 1000, or "none". Default: absent. Only while timing.page_types is
    given."""
    program_iterations_weights: Sequence[tuple[int, int]] | None
    """Iterations by wordline, `[[24, 1], [25, 3]]`, in place of program_iterations. Value: a list
    of 1 to 16 pairs [integer from 1 to 1000, weight from 1 to 65535] of different integers, or
    "none". Default: absent. Source: Zambelli et al., Electronics 10, 1394 (2021)."""
    values: Literal["typical", "maximum"]
    """Which times hold of a part that has two of them. Default: `"typical"`. Source: Starblaze,
    Flash Memory Summit 2017: a typical and a maximum of each time. `typical`: Those without an
    ending. `maximum`: Those that end in _max, where the part has them."""
    t_read_us_max: float | None
    """The maximum of t_read_us; absent: alike. Value: a time in microseconds, whole in nanoseconds,
    from 0 to 10000000000, or "none". Default: absent. Source: Starblaze, Flash Memory Summit 2017:
    a typical and a maximum of each time."""
    program_iterations_max: int | None
    """The maximum of program_iterations; absent: alike. Value: an integer from 1 to 1000, or
    "none". Default: absent. Source: Starblaze, Flash Memory Summit 2017: a typical and a maximum of
    each time."""
    t_erase_us_max: float | None
    """The maximum of t_erase_us; absent: alike. Value: a time in microseconds, whole in
    nanoseconds, from 0 to 10000000000, or "none". Default: absent. Source: Starblaze, Flash Memory
    Summit 2017: a typical and a maximum of each time."""

class Parallelism(Keys):
    """Keys of `[parallelism]`.

    What a die can do at once.
    """

    multi_plane: Literal["none", "page", "block"]
    """What of different planes one read, program or erase takes together. Default: `"none"`.
    Source: data sheets of NAND parts; page alone is the rule of MQSim (FAST 2018). `none`: Nothing:
    a command is of one plane. `page`: Pages of the same number in their blocks, or any blocks.
    `block`: The same, of blocks of the same number in their planes."""
    joint_read_done: Literal["page", "command"]
    """When a page is there that one command reads with others. Default: `"page"`. Only while
    parallelism.multi_plane is page or block. Source: MBM paper, section I: a read waits for the
    data of others in its command. `page`: When it has left its die. `command`: When the last of
    them has."""
    independent_plane_reads: bool
    """Whether each plane reads by itself while others read. Value: true or false. Default: `false`.
    Source: Micron data sheets of 3D parts: independent multi-plane reads."""
    cache_program: bool
    """Whether the page of the next program comes in while one runs. Value: true or false. Default:
    `false`. Source: data sheets of NAND parts."""

class Suspension(Keys):
    """Keys of `[suspension]`.

    What the part can suspend, and when the controller asks for it.
    """

    program: Literal["none", "ips", "ipc", "iteration", "sliced"]
    """How a program stops. Default: `"none"`. Source: Wu and He, FAST 2012, section 4. `none`:
    Never. `ips`: At the end of the phase in progress. `ipc`: The phase is cancelled; a voltage
    reset later the array is free. `iteration`: At the end of the pulse and verify in progress (3D
    parts). `sliced`: At the end of the slice in progress: the program is cut up."""
    slice_iterations: int
    """Iterations of a slice. Value: an integer from 1 to 1000. It must be given. Only while
    suspension.program is sliced. Source: US patent 9,892,794."""
    t_slice_overhead_us: float
    """What every slice begins with. Value: a time in microseconds, whole in nanoseconds, from 0 to
    10000000000. It must be given. Only while suspension.program is sliced."""
    retention_iterations: int
    """Iterations that a program has more after an early suspension and then a long run. Value: an
    integer from 0 to 1000. Default: `0`. Source: Zambelli et al., Electronics 10, 1394 (2021)."""
    retention_first_share: float
    """Early: before this share of the program's undisturbed array time is done. Value: a number at
    least 0 and at most 1. Default: `0.2`. Source: Zambelli et al., Electronics 10, 1394 (2021)."""
    retention_second_share: float
    """Long: a later run without a suspension for at least this share of it. Value: a number at
    least 0 and at most 1. Default: `0.7`. Source: Zambelli et al., Electronics 10, 1394 (2021)."""
    erase: bool
    """Whether an erase can be suspended. Value: true or false. Default: `false`."""
    erase_mode: Literal["immediate", "deferred", "timeout"]
    """When an erase makes way. Default: `"immediate"`. Source: Kim et al., USENIX ATC 2019, as
    reported by others. `immediate`: The phase is broken off; a voltage reset later it is free.
    `deferred`: At the end of the segment in progress; not in the verify. `timeout`: Immediate up to
    an age of the erase, deferred from then on."""
    erase_timeout_us: float
    """From this long after the end of its command on an erase is suspended as deferred. Value: a
    time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given. Only while
    suspension.erase_mode is timeout."""
    erase_resume: Literal["exact", "redo_phase", "restart"]
    """With what a suspended erase goes on. Default: `"exact"`. `exact`: With what was left of the
    pulse (Wu and He, FAST 2012). `redo_phase`: With the whole of the phase that was broken off.
    `restart`: From the beginning of the pulse (Samsung OneNAND)."""
    reset_inside_phase: bool
    """Whether the last t_voltage_reset_us of a phase is its reset; else phases have none. Value:
    true or false. Default: `true`. Source: Wu and He, FAST 2012, section 4.1."""
    shadow_buffer: bool
    """Whether the page buffer is restored on the chip; else over the channel (tBUS). Value: true or
    false. Default: `true`. Source: Wu and He, FAST 2012, section 4."""
    restore: Literal["atomic", "interruptible"]
    """Whether a request breaks off a restore from the shadow buffer, or a set-up. Default:
    `"atomic"`. `atomic`: Never: the request takes effect at its end. `interruptible`: It is broken
    off, and done anew on the next resume."""
    resume_at: Literal["data_out", "array_read"]
    """From when on the array is free after a read during a suspension. Default: `"data_out"`.
    `data_out`: When its page has left over the channel. `array_read`: At the end of tR; the page
    waits in a second register."""
    multi_plane: Literal["whole", "plane"]
    """Which planes of an operation make way for a read. Default: `"whole"`. Source: US patent
    11,687,285. `whole`: All: the operation is suspended whole. `plane`: The plane of the read
    alone; the others go on meanwhile."""
    vth_reached: Literal["never", "always", "proportional"]
    """Whether a cancelled program pulse had already brought the cells to their target. Default:
    `"never"`. `never`: The worst case: the pulse is done again. `always`: The best case: the next
    iteration follows. `proportional`: With a probability of the elapsed share of the pulse."""
    same_block: Literal["block", "wordline", "page"]
    """Which reads wait for a program that runs or is suspended; an erase holds its block. Default:
    `"block"`. Source: Numonyx J3, Spansion S29GL: the block; Intel W30, Sharp LRS1383: the
    location. `block`: Those of its block. `wordline`: Those of its wordline. `page`: Those of the
    page, or pages, that it programs."""
    max_per_program: int | None
    """A program that was suspended this often runs to its end; absent: no limit. Value: an integer
    from 1 to 4294967295, or "none". Default: absent."""
    max_per_erase: int | None
    """An erase that was suspended this often runs to its end; absent: no limit. Value: an integer
    from 1 to 4294967295, or "none". Default: absent."""
    max_per_operation: int | None
    """An operation that was suspended this often runs to its end; absent: no limit. Value: an
    integer from 1 to 4294967295, or "none". Default: absent."""
    min_progress_us: float
    """An operation is not suspended again sooner than this after its resume. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`."""
    reads_per_suspension: int | None
    """A suspended operation resumes after so many reads, though more wait; absent: once none does.
    Value: an integer from 1 to 4294967295, or "none". Default: absent."""
    policy: Literal["always", "batch", "deadline", "threshold"]
    """When the controller asks for a suspension. The Python package also takes the policy `NAME` of
    a program: `FILE.py:NAME` or `MODULE:NAME`. Default: `"always"`. `always`: every read that may
    suspend the operation in its way does. `batch`: for suspension.batch.reads reads, or once the
    oldest has waited oldest_us. `deadline`: at the last instant that keeps a read within
    suspension.deadline.read_slo_us. `threshold`: not within min_remaining_us of the end, nor after
    max_suspended_us in suspension."""
    min_remaining_us: float | None
    """An operation with less than this left is not suspended; absent: no such limit. Where
    wordlines differ in iterations, what is left is what is to be expected. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent. Only
    while suspension.policy is threshold."""
    max_suspended_us: float | None
    """After this much time in suspension an operation runs to its end; absent: no limit. Value: a
    time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent.
    Only while suspension.policy is threshold."""
    host_read_suspends: Sequence[Literal["program", "gc_program", "erase"]]
    """What a host read may suspend. Value: a list out of "program", "gc_program", "erase". Default:
    `["program", "gc_program", "erase"]`."""
    rmw_read_suspends: Sequence[Literal["program", "gc_program", "erase"]]
    """What the read of a read-modify-write may suspend. Value: a list out of "program",
    "gc_program", "erase". Default: `[]`."""
    gc_read_suspends: Sequence[Literal["program", "gc_program", "erase"]]
    """What a read of garbage collection may suspend. Value: a list out of "program", "gc_program",
    "erase". Default: `[]`."""
    host_write_suspends: Sequence[Literal["program", "gc_program", "erase"]]
    """What the program of a host write may suspend, and run inside: `["erase"]` or `[]`. Value: a
    list out of "program", "gc_program", "erase". Default: `[]`. Source: Wu, Huang and He, Journal
    of Systems Architecture 60(4), 2014."""
    batch: SuspensionBatch
    deadline: SuspensionDeadline
    budget: SuspensionBudget

class Reliability(Keys):
    """Keys of `[reliability]`.

    Raw bit errors, epsilon + alpha C^k + beta C^m t^n + gamma C^p R^q + delta S, and wear.
    """

    model: Literal["none", "power"]
    """Whether cells err and wear. Default: `"none"`. `none`: Cells neither err nor wear out.
    `power`: Power laws of cycles, age and reads; blocks count their wear."""
    epsilon: float
    """Share of bits that are wrong from the start. Value: a number at least 0 and at most 0.5.
    Default: `0`. Source: Kim, Choi and Min, FAST 2019, for the form."""
    alpha: float
    """Factor of wear, over the cycles C of the block. Value: a number at least 0 and at most 0.5.
    Default: `0`. Source: Kim, Choi and Min, FAST 2019, for the form."""
    k: float
    """Exponent of the cycles in wear. Value: a number at least 0 and at most 10. Default: `1`.
    Source: Kim, Choi and Min, FAST 2019, for the form."""
    beta: float
    """Factor of retention, over cycles C and days t. Value: a number at least 0 and at most 0.5.
    Default: `0`. Source: Kim, Choi and Min, FAST 2019, for the form."""
    m: float
    """Exponent of the cycles in retention. Value: a number at least 0 and at most 10. Default: `1`.
    Source: Kim, Choi and Min, FAST 2019, for the form."""
    n: float
    """Exponent of the days since the page was programmed. Value: a number at least 0 and at most
    10. Default: `1`. Source: Kim, Choi and Min, FAST 2019, for the form."""
    gamma: float
    """Factor of read disturb, over cycles C and reads R. Value: a number at least 0 and at most
    0.5. Default: `0`. Source: Kim, Choi and Min, FAST 2019, for the form."""
    p: float
    """Exponent of the cycles in read disturb. Value: a number at least 0 and at most 10. Default:
    `1`. Source: Kim, Choi and Min, FAST 2019, for the form."""
    q: float
    """Exponent of the reads of the block since its erase. Value: a number at least 0 and at most
    10. Default: `1`. Source: Kim, Choi and Min, FAST 2019, for the form."""
    delta: float
    """Added for each suspension S of the program that wrote the page. Value: a number at least 0
    and at most 0.5. Default: `0`. Source: Zambelli et al. 2021, Figure 9: no change, so 0."""
    rber_factor_by_type: Sequence[float] | None
    """Factor of the rate of pages of each type; absent: alike. Value: a list of numbers at least 0
    and at most 1000, or "none". Default: absent. Only while timing.page_types is given."""
    rated_cycles: int | None
    """Cycles that a block is rated for; absent: the summary tells no lifetime. Value: an integer
    from 1 to 100000000, or "none". Default: absent."""
    age_days: float
    """Days that the data of before the first request has lain there. Value: a number at least 0 and
    at most 36500. Default: `0`. Only while reliability.model is power."""
    cycles_at_start: int
    """Cycles of the blocks before the first request. Value: an integer from 0 to 100000000.
    Default: `0`. Only while reliability.model is power."""
    cycles_spread: float
    """Each block draws its cycles at the start from within so much of their mean. Value: a number
    at least 0 and at most 1. Default: `0`. Only while reliability.model is power."""
    wear_per_program_suspend: float
    """Share of a cycle that the suspension of a program costs its block. Value: a number at least 0
    and at most 1. Default: `0`. Only while reliability.model is power. Source: US9886214B2 and
    US10152273B2 book suspensions as wear; no figure is published."""
    wear_per_erase_suspend: float
    """Share of a cycle that the suspension of an erase costs its block. Value: a number at least 0
    and at most 1. Default: `0`. Only while reliability.model is power. Source: US9886214B2 and
    US10152273B2 book suspensions as wear; no figure is published."""
    wear_per_suspend: float
    """Share of a cycle that the suspension of a program or erase costs its block. Value: a number
    at least 0 and at most 1. Default: `0`. Only while reliability.model is power. Source:
    US9886214B2 and US10152273B2 book suspensions as wear; no figure is published."""
    warranty_days: int
    """Days over which the rated cycles last, for drive writes a day. Value: an integer from 1 to
    36500. Default: `1825`. Only while reliability.model is power. Source: five years, usual for
    enterprise drives."""

class Ecc(Keys):
    """Keys of `[ecc]`.

    The error-correcting code, and what follows where it fails.
    """

    code: Literal["none", "ldpc"]
    """What corrects raw bit errors. Default: `"none"`. Only while reliability.model is power.
    `none`: Errors are counted as a rate, and harm nobody. `ldpc`: Hard decoding, read retry, soft
    decoding."""
    codeword_bytes: int
    """User data of a codeword. Value: an integer from 64 to 1048576. Default: `1024`. Only while
    ecc.code is ldpc. Source: 72 bits per 1 KiB: Park et al., ASPLOS 2021 (unconfirmed)."""
    code_rate: float
    """User data as a share of the codeword. Value: a number above 0 and at most 1. Default: `0.9`.
    Only while ecc.code is ldpc. Source: assumed."""
    correctable_bits: int
    """Wrong bits of a codeword that hard decoding corrects. Value: an integer from 0 to 1048576.
    Default: `72`. Only while ecc.code is ldpc. Source: 72 bits per 1 KiB: Park et al., ASPLOS 2021
    (unconfirmed)."""
    t_decode_min_us: float
    """Hard decoding without an error. Value: a time in microseconds, whole in nanoseconds, from 0
    to 10000000000. Default: `1`. Only while ecc.code is ldpc. Source: Microsemi 2014: 1, 4 and 20
    us for 1, 4 and 20 iterations of LDPC."""
    t_decode_typ_us: float
    """Hard decoding at half the limit. Value: a time in microseconds, whole in nanoseconds, from 0
    to 10000000000. Default: `4`. Only while ecc.code is ldpc. Source: Microsemi 2014: 1, 4 and 20
    us for 1, 4 and 20 iterations of LDPC."""
    t_decode_max_us: float
    """Hard decoding at the limit, and beyond. Value: a time in microseconds, whole in nanoseconds,
    from 0 to 10000000000. Default: `20`. Only while ecc.code is ldpc. Source: Microsemi 2014: 1, 4
    and 20 us for 1, 4 and 20 iterations of LDPC."""
    retries_max: int
    """How often a page is sensed again, with other voltages, if hard decoding fails. Value: an
    integer from 0 to 100. Default: `8`. Only while ecc.code is ldpc. Source: assumed."""
    retry_rber_factor: float
    """Rate of raw bit errors of such a sense, as a share of that of the one before. Value: a number
    at least 0 and at most 1. Default: `0.7`. Only while ecc.code is ldpc. Source: assumed."""
    soft_senses: int
    """Further senses for soft decoding after the last retry; 0: there is none. Value: an integer
    from 0 to 100. Default: `2`. Only while ecc.code is ldpc. Source: assumed: one on each side of
    the last."""
    soft_correctable_bits: int
    """Wrong bits of a codeword that soft decoding corrects. Value: an integer from 0 to 1048576.
    Default: `108`. Only while ecc.code is ldpc. Source: assumed: half as many again as hard
    decoding."""
    t_soft_decode_us: float
    """Soft decoding. Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000.
    Default: `20`. Only while ecc.code is ldpc. Source: assumed: as long as the longest hard
    decoding."""

class Scheduling(Keys):
    """Keys of `[scheduling]`.

    Which transaction a die serves next.
    """

    policy: Literal["fifo", "rps", "rps-age", "deadline", "microcode", "per", "pe0"]
    """Order in which a die serves its transactions. The Python package also takes the policy `NAME`
    of a program: `FILE.py:NAME` or `MODULE:NAME`. Default: `"rps"`. `fifo`: one queue a die in
    order of arrival, whatever the operation; nothing is suspended. `rps`: pending reads before
    pending programs and erases; with suspension it is PES. `rps-age`: rps, but a write older than
    age_limit_us goes first, unsuspended. `deadline`: each class has a deadline from its arrival,
    and the earliest goes first. `microcode`: a queue for each class, served as the steps of the
    scenario say, the first that applies. `per`: rps on a hypothetical part whose programs and
    erases take tR in the array. `pe0`: rps on a hypothetical part whose programs and erases take no
    time in the array."""
    write_queue_limit: int | None
    """Pending programs at which they go ahead of reads; absent: no limit. Value: an integer from 1
    to 4294967295, or "none". Default: absent. Source: Wu and He, FAST 2012, section 5.3."""
    write_queue_limit_scope: Literal["die", "drive"]
    """Which programs the limit counts. Default: `"die"`. Only while scheduling.write_queue_limit is
    given. Source: Wu and He, FAST 2012, section 5.3: the flash controller limits its write queue.
    `die`: The programs that wait at each die, which has a limit of its own. `drive`: The programs
    that wait at all dies of the drive together."""
    age_limit_us: float
    """A write that waits so long goes first. Value: a time in microseconds, whole in nanoseconds,
    from 0 to 10000000000. Default: `10000`. Only while scheduling.policy is rps-age."""
    read_deadline_us: float
    """Deadline of a read, from its arrival. Value: a time in microseconds, whole in nanoseconds,
    from 0 to 10000000000. Default: `1000`. Only while scheduling.policy is deadline."""
    write_deadline_us: float
    """Deadline of a write, likewise. Value: a time in microseconds, whole in nanoseconds, from 0 to
    10000000000. Default: `10000`. Only while scheduling.policy is deadline."""
    gc_deadline_us: float
    """Deadline of garbage collection, from when it is urgent or its operation begins. Value: a time
    in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `10000`. Only while
    scheduling.policy is deadline."""
    steps: Sequence[str]
    """What goes first at a die: the first step for which something waits. Value: a list of steps:
    host_read, host_write, gc_read, gc_program, erase or resume, each with conditions behind it:
    after_us=N, queued=N (host_write), urgent (gc_read, gc_program, erase), of=CLASS (resume).
    Default: `["host_read", "gc_read", "gc_program", "erase", "host_write", "resume"]`. Only while
    scheduling.policy is microcode. Source: after Starblaze, Flash Memory Summit 2017: a microcoded
    controller."""
    dispatch: Literal["none", "fcfs", "mbm", "paq", "slacker", "sprinkler", "vas"]
    """What goes first of all that waits in the drive, and what is held back. Default: `"none"`.
    `none`: each die serves its queues without regard to the others. `fcfs`: pages go in order of
    arrival, each when its chip is free, and until then all that came later waits. `mbm`: writes get
    their planes when a chip is idle: by its parallelism, up to an even share of the channels' load;
    what long reads have touched is spread over the dies. `paq`: of the first operations that wait,
    those go to the dies whose chips are free, and with them what one command can take; the others
    are held back. `slacker`: a page operation passes those before it that can wait so long, because
    another page of their request takes longer. `sprinkler`: of what waits for a die, what most
    planes can do together goes first, then what has most pages of one request; chips at the same
    place of all channels before the next. `vas`: requests go in order of arrival: the pages of the
    oldest each when its chip is free, those of the next when all of them have gone."""
    paq_window_pages: int
    """Page operations that have waited longest, among which the next are chosen. Value: an integer
    from 1 to 4294967295. Default: `64`. Only while scheduling.dispatch is paq."""
    paq_conflict: Literal["chip", "die"]
    """What two operations that no command takes together may not share. Default: `"chip"`. Only
    while scheduling.dispatch is paq. `chip`: A chip: its dies work one after the other. `die`: A
    die: those of a chip work side by side."""
    mbm_channel_limit: Literal["exact", "printed", "none"]
    """How many of the writes that wait a channel may begin. Default: `"exact"`. Only while
    scheduling.dispatch is mbm. Source: MBM paper, Algorithm 1: Channel_Max_Subs. `exact`: As many
    as make the channels carry alike, as water finds its level. `printed`: The same, rounded up for
    every channel, as the paper has it. `none`: As many as there are."""
    mbm_share_when: Literal["instant", "arrival"]
    """When the shares of the channels are computed. Default: `"instant"`. Only while
    scheduling.mbm_channel_limit is exact or printed. `instant`: At every instant at which writes
    wait. `arrival`: When writes have come, and when all shares are used up."""
    mbm_share_writes: Literal["under-way", "all"]
    """Which writes count as what a channel has to do. Default: `"under-way"`. Only while
    scheduling.mbm_channel_limit is exact or printed. Source: MBM paper, Algorithm 1:
    execute_w_subs. `under-way`: Those that wait at its dies or are being programmed. `all`: All
    that it was ever given."""
    mbm_share_read_weight: int
    """How many writes a page to be read counts for in what a channel has to do. Value: an integer
    from 0 to 64. Default: `1`. Only while scheduling.mbm_channel_limit is exact or printed. Source:
    MBM paper, Algorithm 1: read_len."""
    mbm_share_collection: bool
    """Whether a die that collects garbage counts for a page that its channel has to do. Value: true
    or false. Default: `false`. Only while scheduling.mbm_channel_limit is exact or printed."""
    mbm_unit: Literal["chip", "die"]
    """What begins writes together when all of it is idle. Default: `"chip"`. Only while
    scheduling.dispatch is mbm. Source: MBM paper, section IV: SSD transaction. `chip`: A chip: its
    dies work together, and wait for each other. `die`: A die: those of a chip begin one by one."""
    mbm_ties: Literal["rotating", "in-order"]
    """Which of channels and chips that are equal is first. Default: `"rotating"`. Only while
    scheduling.dispatch is mbm. `rotating`: The one behind the one that was chosen last. `in-order`:
    The lowest in number."""
    mbm_alignment: Literal["lagging", "largest"]
    """Which planes of a die are programmed together. Default: `"lagging"`. Only while
    scheduling.dispatch is mbm. `lagging`: Those that have got least far, until they have caught up.
    `largest`: The most that stand at one page, of equals those that have got least far."""
    mbm_chips: Literal["least-then-greatest", "in-order"]
    """Which idle chip of a channel gets writes first. Default: `"least-then-greatest"`. Only while
    scheduling.dispatch is mbm. Source: MBM paper, section IV.C: Minimizing Chip consumption
    Strategy. `least-then-greatest`: First the idle chip that can program fewest pages at once, then
    those that can most. `in-order`: The idle chips of a channel in order."""
    mbm_first_chip: Literal["channel", "instant", "request"]
    """Of what the chip that can program fewest pages is the first. Default: `"channel"`. Only while
    scheduling.mbm_chips is least-then-greatest. `channel`: For each channel at each instant.
    `instant`: For the drive at each instant. `request`: For each request."""
    mbm_joint_reads: Literal["request", "any"]
    """Of which requests the pages are that one multi-plane read takes. Default: `"request"`. Only
    while scheduling.dispatch is mbm. Source: MBM paper, section IV.B: Read Strategy. `request`: Of
    one request. `any`: Of any."""
    mbm_read_areas: Literal["spread", "even", "as-others"]
    """Where writes go to what long reads have touched. Default: `"spread"`. Only while
    scheduling.dispatch is mbm. Source: MBM paper, section IV.B: Read Strategy. `spread`: Over all
    dies by their logical numbers, busy or not. `even`: Around the channels, to idle chips as all
    other writes. `as-others`: As all other writes."""
    mbm_read_threshold_pages: int
    """A read of more pages is long. Value: an integer from 1 to 4294967295. Default: `4`. Only
    while scheduling.mbm_read_areas is spread or even."""
    mbm_read_area_bytes: int
    """What a long read marks: stretches of this length that it touches. Value: a multiple of 512
    from 512 to 1099511627776. Default: `1048576`. Only while scheduling.mbm_read_areas is spread or
    even."""
    mbm_read_area_end: Literal["short-read", "never"]
    """When what a long read has marked is like everything else again. Default: `"short-read"`. Only
    while scheduling.mbm_read_areas is spread or even. Source: MBM paper, section IV.B: of a read
    that is not long the area is not read-intensive. `short-read`: With a read of it that is not
    long. `never`: Never."""
    mbm_redistribution: Literal["either", "channels", "transactions", "none"]
    """When pages of a long read are written anew, to where writes of their area go. Default:
    `"either"`. Only while scheduling.mbm_read_areas is spread or even. Source: MBM paper, section
    IV.B. `either`: Where one of its channels or one of its dies has more than its share.
    `channels`: Where one of its channels has more than an even share of its pages. `transactions`:
    Where one of its dies needs more commands than an even spread would. `none`: Never."""
    mbm_redistributed_pages: int
    """Pages that are being written anew at one time, at most. Value: an integer from 1 to
    4294967295. Default: `8`. Only while scheduling.mbm_redistribution is either or channels or
    transactions."""
    mbm_writes_per_redistributed_page: int | None
    """Pages of the host that are programmed for each one written anew, at least; absent: any.
    Value: an integer from 1 to 4294967295, or "none". Default: absent. Only while
    scheduling.mbm_redistribution is either or channels or transactions."""
    mbm_redistribution_when: Literal["any-time", "spare"]
    """When pages are written anew. Default: `"any-time"`. Only while scheduling.mbm_redistribution
    is either or channels or transactions. `any-time`: As soon as a read has found them uneven,
    among the host's writes. `spare`: Only where no write waits for a chip or a die."""

class Channel(Keys):
    """Keys of `[channel]`.

    What a channel carries, and in which order.
    """

    order: Literal["asked", "data_first", "commands_first"]
    """Who of those that wait has the channel next. Default: `"asked"`. Source: data_first: measured
    on MQSim 7ec40e3. `asked`: As asked; where the scheduler prefers reads, theirs first.
    `data_first`: Pages that leave as asked, then dies in turn. `commands_first`: Commands of reads
    and erases, then as asked."""
    transfer_unit_bytes: int | None
    """A read sends out only the units of its page that it needs; absent: the whole page. Value: a
    multiple of 512 from 512 to 16777216, or "none". Default: absent."""

class Power(Keys):
    """Keys of `[power]`.

    What the flash draws from its supplies, and what it may draw at once.
    """

    account: Literal["off", "on"]
    """Whether power and energy are accounted for. Default: `"off"`. `off`: No: the other keys of
    the section are not looked at. `on`: Yes."""
    p_idle_mw: float
    """A die of which nothing runs and nothing is suspended. Value: a number at least 0 and at most
    1000000. It must be given. Only while power.account is on."""
    p_base_mw: float
    """The part of each power below that a command draws once, whatever the number of its planes:
    charge pumps and logic. A command on n planes draws p_base_mw + n (p - p_base_mw). Value: a
    number at least 0 and at most 1000000. Default: that of `power.p_idle_mw`. Only while
    power.account is on."""
    p_sense_mw: float
    """A die while one of its planes senses a page. Value: a number at least 0 and at most 1000000.
    It must be given. Only while power.account is on."""
    p_program_pulse_mw: float
    """A die in a program pulse, on one plane. Value: a number at least 0 and at most 1000000. It
    must be given. Only while power.account is on."""
    p_program_verify_mw: float
    """A die in a program verify, on one plane. Value: a number at least 0 and at most 1000000. It
    must be given. Only while power.account is on."""
    p_erase_pulse_mw: float
    """A die in an erase pulse, on one plane. Value: a number at least 0 and at most 1000000. It
    must be given. Only while power.account is on."""
    p_erase_verify_mw: float
    """A die in an erase verify, on one plane. Value: a number at least 0 and at most 1000000.
    Default: that of `power.p_program_verify_mw`. Only while power.account is on."""
    p_suspended_mw: float
    """A die with a suspended operation of which nothing runs. Value: a number at least 0 and at
    most 1000000. Default: that of `power.p_idle_mw`. Only while power.account is on. Source:
    Zambelli et al. 2021, Figure 3b: the idle consumption during a suspension."""
    p_sense_mw_by_type: Sequence[int] | None
    """p_sense_mw by page type; absent: alike. Value: a list of integers from 0 to 1000000, or
    "none". Default: absent. Only while power.account is on."""
    p_program_pulse_mw_by_type: Sequence[int] | None
    """p_program_pulse_mw by page type; absent: alike. Value: a list of integers from 0 to 1000000,
    or "none". Default: absent. Only while power.account is on."""
    p_program_verify_mw_by_type: Sequence[int] | None
    """p_program_verify_mw by page type; absent: alike. Value: a list of integers from 0 to 1000000,
    or "none". Default: absent. Only while power.account is on."""
    e_resume_nj: float
    """Energy of a die for a resume, to bring its voltages up again. Value: a number at least 0 and
    at most 1000000000. Default: `0`. Only while power.account is on."""
    e_io_pj_per_bit: float | None
    """A bit over the channel, in or out; goes before io_capacitance_pf. Value: a number at least 0
    and at most 1000000, or "none". Default: absent. Only while power.account is on."""
    io_capacitance_pf: float | None
    """Capacitance of a line of the channel: a bit takes 1/2 io_activity C vdd_q_v^2. Value: a
    number at least 0 and at most 1000000, or "none". Default: absent. Only while power.account is
    on."""
    io_activity: float
    """Share of bits at which a line changes; of random data the half. Value: a number at least 0
    and at most 1. Default: `0.5`. Only while power.account is on."""
    vdd_core_v: float | None
    """Voltage of the core supply, to state currents. Value: a number above 0 and at most 100, or
    "none". Default: absent. Only while power.account is on. Source: Zambelli et al. 2021, Table 2:
    2.7 to 3.6 V."""
    vdd_q_v: float | None
    """Voltage of the I/O supply. Value: a number above 0 and at most 100, or "none". Default:
    absent. Only while power.account is on. Source: Zambelli et al. 2021, Table 2: 1.2 to 1.8 V."""
    series_us: float | None
    """Width of the bins of the time series of power; absent: none is kept. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent. Only
    while power.account is on."""
    max_active_dies: int | None
    """Dies that may sense, program or erase at once; absent: all. Value: an integer from 1 to
    2147483648, or "none". Default: absent. Only while power.account is on."""
    budget_mw: float | None
    """What all dies together may draw; absent: no limit. Value: a number at least 0 and at most
    1000000, or "none". Default: absent. Only while power.account is on."""
    budget_counts: Literal["mean", "peak"]
    """As what a program or an erase counts under budget_mw. Default: `"mean"`. Only while
    power.account is on. `mean`: Its mean over pulses and verifies. `peak`: The phase that draws
    most."""

class PowerLoss(Keys):
    """Keys of `[power_loss]`.

    What the drive does when its power fails, and how long it lives on.
    """

    mode: Literal["off", "on"]
    """Whether the drive is prepared for a loss of power. Default: `"off"`. `off`: No: the other
    keys of the section are not looked at. `on`: Yes."""
    at_us: float | None
    """When the power fails, which ends the run; absent: it does not. Value: a time in microseconds,
    whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent. Only while
    power_loss.mode is on."""
    policy: Literal["wait", "suspend_erase", "suspend", "reset"]
    """What becomes of the operation that a die is at work on when the power fails. Default:
    `"wait"`. Only while power_loss.mode is on. `wait`: It is waited for. `suspend_erase`: An erase
    is suspended; a program is waited for. `suspend`: It is suspended. `reset`: It is broken off by
    a reset of the die, and of no use."""
    p_controller_mw: float
    """The controller with its memory, from the failure until all is safe. Value: a number at least
    0 and at most 1000000. It must be given. Only while power_loss.mode is on."""
    hold_up_us: float | None
    """How long the drive lives on at most; absent: as long as the capacitor lasts. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent. Only
    while power_loss.mode is on."""
    capacitance_uf: float | None
    """The capacitor from which the drive lives on; absent: hold_up_us says how long. Value: a
    number above 0 and at most 1000000000, or "none". Default: absent. Only while power_loss.mode is
    on."""
    capacitor_start_v: float | None
    """Voltage of the charged capacitor, with which needed capacitances are stated. Value: a number
    above 0 and at most 1000, or "none". Default: absent. Only while power_loss.mode is on."""
    capacitor_min_v: float | None
    """Voltage at which the drive stops. Value: a number above 0 and at most 1000, or "none".
    Default: absent. Only while power_loss.mode is on."""
    conversion_efficiency: float
    """Share of the capacitor's energy that reaches controller and flash. Value: a number above 0
    and at most 1. Default: `1.0`. Only while power_loss.mode is on."""
    t_program_us: float | None
    """Program of a page that is saved, as in SLC mode; absent: as of the part's page 0. Value: a
    time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent.
    Only while power_loss.mode is on."""
    planes: int
    """Pages that a die saves with one program, on as many planes. Value: an integer from 1 to 128.
    Default: `1`. Only while power_loss.mode is on."""
    t_reset_read_us: float
    """Reset of a die that senses. Value: a time in microseconds, whole in nanoseconds, from 0 to
    10000000000. Default: `5`. Only while power_loss.mode is on. Source: ONFI 1.0, tRST: at most 5,
    10 and 500 us during read, program and erase."""
    t_reset_program_us: float
    """Reset of one that programs. Value: a time in microseconds, whole in nanoseconds, from 0 to
    10000000000. Default: `10`. Only while power_loss.mode is on. Source: ONFI 1.0, tRST: at most 5,
    10 and 500 us during read, program and erase."""
    t_reset_erase_us: float
    """Reset of one that erases. Value: a time in microseconds, whole in nanoseconds, from 0 to
    10000000000. Default: `500`. Only while power_loss.mode is on. Source: ONFI 1.0, tRST: at most
    5, 10 and 500 us during read, program and erase."""
    oob_bytes: int
    """Bytes read of each programmed page when the mapping is rebuilt. Value: an integer from 1 to
    4096. Default: `16`. Only while power_loss.mode is on."""

class Ftl(Keys):
    """Keys of `[ftl]`.

    Mapping, placement and garbage collection.
    """

    over_provisioning: float
    """Share of the raw pages kept from the user. Value: a number above 0 and below 1. It must be
    given."""
    placement: Literal[
        "cwdp",
        "cwpd",
        "cdwp",
        "cdpw",
        "cpwd",
        "cpdw",
        "wcdp",
        "wcpd",
        "wdcp",
        "wdpc",
        "wpcd",
        "wpdc",
        "dcwp",
        "dcpw",
        "dwcp",
        "dwpc",
        "dpcw",
        "dpwc",
        "pcwd",
        "pcdw",
        "pwcd",
        "pwdc",
        "pdcw",
        "pdwc",
        "dynamic",
        "aligned",
        "wordline",
    ]
    """In which plane a page is written. Default: `"cwdp"`. `cwdp`: stripes over channels first,
    then chips, dies, planes. `cwpd`: stripes over channels first, then chips, planes, dies. `cdwp`:
    stripes over channels first, then dies, chips, planes. `cdpw`: stripes over channels first, then
    dies, planes, chips. `cpwd`: stripes over channels first, then planes, chips, dies. `cpdw`:
    stripes over channels first, then planes, dies, chips. `wcdp`: stripes over chips first, then
    channels, dies, planes. `wcpd`: stripes over chips first, then channels, planes, dies. `wdcp`:
    stripes over chips first, then dies, channels, planes. `wdpc`: stripes over chips first, then
    dies, planes, channels. `wpcd`: stripes over chips first, then planes, channels, dies. `wpdc`:
    stripes over chips first, then planes, dies, channels. `dcwp`: stripes over dies first, then
    channels, chips, planes. `dcpw`: stripes over dies first, then channels, planes, chips. `dwcp`:
    stripes over dies first, then chips, channels, planes. `dwpc`: stripes over dies first, then
    chips, planes, channels. `dpcw`: stripes over dies first, then planes, channels, chips. `dpwc`:
    stripes over dies first, then planes, chips, channels. `pcwd`: stripes over planes first, then
    channels, chips, dies. `pcdw`: stripes over planes first, then channels, dies, chips. `pwcd`:
    stripes over planes first, then chips, channels, dies. `pwdc`: stripes over planes first, then
    chips, dies, channels. `pdcw`: stripes over planes first, then dies, channels, chips. `pdwc`:
    stripes over planes first, then dies, chips, channels. `dynamic`: the next plane in the order
    cwdp whose die is idle, else the next; none that is full. `aligned`: by turns all planes of a
    die, then the next die: open blocks fill alike, as multi-plane programs want it. `wordline`: all
    pages of a wordline of all planes of a die, then the next die: a die has its program as soon as
    it has its data, and dies program one after another."""
    gc_victim: Literal["greedy", "d-choices", "random", "fifo", "windowed-greedy", "cost-benefit"]
    """Which block garbage collection empties. Default: `"greedy"`. `greedy`: the full block with
    the fewest valid pages. `d-choices`: the emptiest of gc_choices full blocks drawn at random.
    `random`: a full block drawn at random: one choice. `fifo`: the full block that was filled
    longest ago. `windowed-greedy`: the emptiest of the gc_window_blocks full blocks that were
    filled longest ago. `cost-benefit`: the full block with the greatest (1 - u) age / (1 + u), u
    being its share of valid pages."""
    gc_choices: int
    """Full blocks drawn at random, of which the emptiest is the victim. Value: an integer from 1 to
    65536. Default: `10`. Only while ftl.gc_victim is d-choices. Source: Van Houdt, SIGMETRICS 2013:
    d = 10 comes close to greedy."""
    gc_window_blocks: int
    """Blocks filled longest ago, of which the emptiest is the victim. Value: an integer from 1 to
    65536. Default: `64`. Only while ftl.gc_victim is windowed-greedy. Source: Hu et al., SYSTOR
    2009, for the policy; the number is ours."""
    gc_start_free_share: float
    """Background collection of a plane runs while fewer of its blocks than this are free. Value: a
    number at least 0 and below 1. Default: `0.05`."""
    gc_hard_free_blocks: int
    """With so few free blocks a plane takes host writes only into its open block. Value: an integer
    from 1 to 65536. Default: `2`."""
    gc_background: bool
    """Whether collection uses idle time, or only runs when it is forced. Value: true or false.
    Default: `true`."""
    partial_write: Literal["read_modify_write", "track_sectors", "pad"]
    """What a write of part of a page does about the rest of the page. Default:
    `"read_modify_write"`. Source: MQSim 7ec40e3, for "track_sectors". `read_modify_write`: The rest
    of the page is read first. `track_sectors`: The rest is read first only if the page holds
    sectors that the write leaves. `pad`: Nothing is read: the program carries padding in place of
    the rest."""
    gc_preemptible: bool
    """Whether the host gets in between the steps of collecting a block. Value: true or false.
    Default: `true`."""
    gc_holds_channel: bool
    """Whether a die that moves the pages of a block keeps its channel to itself meanwhile. Value:
    true or false. Default: `false`. Only while ftl.gc_preemptible is false. Source: behaviour of
    SSDsim: a channel carries nothing else while a block is collected."""
    gc_rate_pages_per_write: float | None
    """Pages moved for each page the host writes while few blocks are free; absent: idle time only.
    Value: a number above 0 and at most 65536, or "none". Default: absent."""
    gc_dies_max: int | None
    """Dies that collect at a time while none has to; absent: no limit. Value: an integer from 1 to
    4294967295, or "none". Default: absent."""
    gc_parallel_planes: bool
    """Whether planes of a die collect side by side, with commands that take several where they fit.
    Value: true or false. Default: `false`. Source: Shahidi et al., SC 2016: parallel garbage
    collection."""
    gc_victims_in_step: bool
    """Whether planes that collect side by side choose victims as a set, so that their open blocks
    for moved pages end at the same page. Value: true or false. Default: `false`. Only while
    ftl.gc_parallel_planes is true."""
    stream: Literal["single", "hot-cold"]
    """Which of the open blocks of a plane takes a page of the host. Default: `"single"`. `single`:
    one open block for all pages. `hot-cold`: one for pages rewritten within hot_window_share, one
    for others; under even writes, or with victims at random, only dearer."""
    hot_window_share: float
    """A page is hot that is rewritten within so many writes, as a share of the logical pages.
    Value: a number above 0 and at most 1000. Default: `0.5`. Only while ftl.stream is hot-cold."""
    gc_stream: Literal["shared", "separate"]
    """Where garbage collection writes the pages that it moves. Default: `"shared"`. `shared`: Moved
    pages go into the open block of their stream. `separate`: Moved pages have an open block of
    their own in each plane; under even writes, or with victims at random, that is only dearer."""
    free_block: Literal["oldest", "least-worn"]
    """Which free block is written next. Default: `"oldest"`. `oldest`: The one that was erased
    longest ago. `least-worn`: The one with the fewest erases."""
    static_wear_spread: int | None
    """Erases by which a block may be ahead of the least worn before that is moved; absent: never.
    Costs a block of each plane and moves without gain, for nothing where writes are even. Value: an
    integer from 2 to 4294967295, or "none". Default: absent."""
    count_erases: bool
    """Whether the summary has the erases of a block: mean, extremes and deviation. Value: true or
    false. Default: `false`."""
    factory_bad_share: float
    """Probability with which a block is bad from the start. Value: a number at least 0 and below 1.
    Default: `0`."""
    mapping: Literal["flat", "demand"]
    """Where the mapping of logical to physical pages is kept. Default: `"flat"`. Source: Gupta, Kim
    and Urgaonkar, ASPLOS 2009: DFTL. `flat`: All of it is in memory. `demand`: In flash, with a
    cache of entries in memory."""
    map_cache_bytes: int
    """Memory for cached entries of the mapping, 8 bytes each. Value: a multiple of 8 from 64 to
    34359738368. Default: `1048576`. Only while ftl.mapping is demand."""
    map_cache_policy: Literal["segmented", "lru"]
    """Which entry leaves a full cache. Default: `"segmented"`. Only while ftl.mapping is demand.
    Source: Gupta, Kim and Urgaonkar, ASPLOS 2009: segmented LRU. `segmented`: Least recently used,
    half of it kept for entries used twice. `lru`: Least recently used."""
    wordline_timeout_us: float
    """How long a host page waits for the others of its wordline before it is padded. Value: a time
    in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `1000`."""
    wait_for_planes: bool
    """Whether a complete wordline waits for one of each other plane of its die, as long at most.
    Value: true or false. Default: `false`. Only while parallelism.multi_plane is page or block."""
    twin_blocks: bool
    """Whether blocks of one number on all planes of a die are filled, collected and erased as one.
    Value: true or false. Default: `false`. Source: Tavakkol, Mehrvarzy and Sarbazi-Azad, IEEE CAL
    2016: TBM, as reported by others."""
    copyback: bool
    """Whether collection moves pages within their plane without the channel. Value: true or false.
    Default: `false`."""
    precondition: Literal["none", "sequential", "steady"]
    """State of the drive before the first request. Default: `"none"`. `none`: Nothing written.
    `sequential`: Every logical page written once, in order. `steady`: Sequential, then random
    overwrites to the steady state."""

class Precondition(Keys):
    """Keys of `[precondition]`.

    The load whose equilibrium a drive in its steady state starts in. A table `[precondition.load]`
    gives one by hand, with the keys of `[workload]`.
    """

    load: Literal["scenario", "random-writes"]
    """Whose equilibrium it is, where no table gives one. Default: `"scenario"`. Only while
    ftl.precondition is steady. `scenario`: That of the run: a generator's, a trace's as its rows
    show it, or that of fio's first jobs that write; random writes where the run has none that
    writes. `random-writes`: Random writes of the mapping unit over the whole drive, until it has
    nothing left to collect: how a drive without a load of its own is found."""

class Nand(Keys):
    """Keys of `[nand]`.

    What goes wrong on the part.
    """

    program_failure: float
    """Probability that a program fails, which retires its block. Value: a number at least 0 and
    below 1. Default: `0`."""
    erase_failure: float
    """Probability that an erase fails, which retires the block. Value: a number at least 0 and
    below 1. Default: `0`."""

class Buffer(Keys):
    """Keys of `[buffer]`.

    The write buffer.
    """

    bytes: int
    """Capacity of the write buffer; at least one page. Value: an integer from 512 to 1099511627776.
    Default: `67108864`. Source: Wu and He, FAST 2012, section 3.1: 64 MB."""
    acknowledge: Literal["through", "back"]
    """When a write is acknowledged. Default: `"through"`. `through`: When its last page is
    programmed. `back`: When its last page is in the buffer."""
    replacement: Literal["immediate", "fifo", "lru"]
    """When a page in the buffer goes to the flash, and which goes first. Default: `"immediate"`.
    Only while buffer.acknowledge is back. `immediate`: Every page goes at once. `fifo`: Above a
    watermark, the page that came into the buffer first. `lru`: Above a watermark, the page written
    or read longest ago."""
    high_watermark: float
    """Pages go to the flash when more than this share of the buffer is dirty. Value: a number at
    least 0 and below 1. Default: `0.8`. Only while buffer.replacement is fifo or lru."""
    low_watermark: float
    """They go until no more than this share is dirty; at most the high watermark. Value: a number
    at least 0 and below 1. Default: `0.5`. Only while buffer.replacement is fifo or lru."""
    flush_idle_us: float | None
    """All dirty pages go when no request has been open for so long; absent: they stay. Value: a
    time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent.
    Only while buffer.replacement is fifo or lru."""
    read_hits: bool
    """Whether reads of pages in the write buffer are answered from it; else from the flash. Value:
    true or false. Default: `true`."""

class ReadCache(Keys):
    """Keys of `[read_cache]`.

    The cache of pages that were read.
    """

    bytes: int
    """Capacity of the read cache; 0: there is none. Value: an integer from 0 to 1099511627776.
    Default: `0`."""
    replacement: Literal["fifo", "lru"]
    """Which page makes room for another. Default: `"lru"`. `fifo`: The page that came into the
    cache first. `lru`: The page used longest ago."""
    fill_on_write: bool
    """Whether pages that are written come into the cache; else they leave it. Value: true or false.
    Default: `false`."""

class Host(Keys):
    """Keys of `[host]`.

    The link to the host, and its queues.
    """

    interface: Literal["direct", "nvme", "sata"]
    """What is between the host and the drive. Default: `"direct"`. `direct`: Every request reaches
    the drive at its arrival. `nvme`: Submission queues, out of which the drive fetches commands.
    `sata`: One queue of 32 commands (NCQ), and a link that is half duplex."""
    order: Literal["free", "in_order"]
    """In which order requests and their data cross the host link. Default: `"free"`. `free`:
    Commands take their own way, and reads overtake writes. `in_order`: One request at a time
    crosses the link, in either direction; none overtakes another."""
    queues: int
    """Submission queues. Value: an integer from 1 to 65535. Default: `1`. Only while host.interface
    is nvme. Source: NVM Express Base Specification 2.0: at most 65,535."""
    queue_entries: int
    """Commands of one queue that may be outstanding; others wait. Value: an integer from 1 to
    65535. Default: `1023`. Only while host.interface is nvme. Source: Linux 6.1,
    drivers/nvme/host/pci.c: 1,024 entries, one of them free."""
    outstanding: int | None
    """Commands of all queues that the drive works on at a time; absent: no limit. Value: an integer
    from 1 to 4294967295, or "none". Default: absent. Only while host.interface is nvme."""
    arbitration: Literal["round-robin", "weighted", "weighted-classes", "strict-priority"]
    """From which queue the next command is fetched. Default: `"round-robin"`. Only while
    host.interface is nvme. Source: NVM Express Base Specification 2.0, section 3.4.4.
    `round-robin`: Every queue in turn, for arbitration_burst commands at most. `weighted`: Every
    queue in turn, for as many commands at most as its weight in queue_weights. `weighted-classes`:
    Urgent queues first; then the classes in turn, for as many commands as class_weights.
    `strict-priority`: The highest class of queue_priorities that has a command; round robin within
    it."""
    arbitration_burst: int
    """Commands that a queue may send in its turn. Value: an integer from 1 to 4294967295. Default:
    `1`. Only while host.arbitration is round-robin or strict-priority or weighted-classes. Source:
    NVM Express Base Specification 2.0, section 3.4.4."""
    queue_weights: Sequence[int]
    """Commands that each queue may send in its turn, in the order of the queues. Value: a list of
    integers from 1 to 65535. It must be given. Only while host.arbitration is weighted."""
    class_weights: Sequence[int]
    """Commands that the high, the medium and the low class may send in a round. Value: a list of
    integers from 1 to 256. It must be given. Only while host.arbitration is weighted-classes.
    Source: NVM Express Base Specification 2.0, section 3.4.4."""
    queue_priorities: Sequence[Literal["urgent", "high", "medium", "low"]]
    """The class of each queue, in the order of the queues. It must be given. Only while
    host.arbitration is strict-priority or weighted-classes. `urgent`: Before every other. `high`:
    After urgent. `medium`: After high. `low`: After medium."""
    t_command_us: float
    """Time that fetching a command takes; commands are fetched one after the other. Value: a time
    in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`. Only while
    host.interface is nvme or sata."""
    t_controller_us: float
    """Time that every command spends in the controller and in which it holds up no other. Value: a
    time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`."""
    t_controller_write_us: float
    """The same of a write, a trim or a flush. Value: a time in microseconds, whole in nanoseconds,
    from 0 to 10000000000. Default: that of `host.t_controller_us`."""
    link_bytes_per_s: int | None
    """Rate of the host link in each direction; absent: transfers take no time. Value: an integer
    from 1 to 1000000000000, or "none". Default: absent."""
    pcie_generation: int | None
    """PCI Express generation of the link, in place of link_bytes_per_s. Value: an integer from 1 to
    6, or "none". Default: absent. Only while host.interface is direct or nvme. Source: PCI Express
    Base Specification 6.0: 8b/10b to 2.0, 128b/130b to 5.0, then FLITs."""
    pcie_max_payload_bytes: int | None
    """Data in a PCI Express packet at most; absent: packets take nothing besides data. Value: an
    integer from 128 to 4096, or "none". Default: absent. Only while host.interface is direct or
    nvme. Source: PCI Express Base Specification 6.0: Max_Payload_Size, 128 to 4096."""
    pcie_packet_bytes: int
    """Bytes of a packet besides its data: header, sequence number, check sum, framing. Value: an
    integer from 0 to 64. Default: `24`. Only while host.pcie_max_payload_bytes is given. Source:
    PCI Express Base Specification 6.0: 16 with 64-bit addresses, 4 (LCRC), 4."""
    commands_cross_link: bool
    """Whether doorbells, queue entries and requests for data cross the link besides data. Value:
    true or false. Default: `false`. Only while host.interface is nvme."""
    pcie_lanes: int
    """Lanes of the link. Value: an integer from 1 to 16. Default: `4`. Only while
    host.pcie_generation is given."""

class Workload(Keys):
    """Keys of `[workload]`.

    What the drive is asked to do: a trace, a generator, or a fio file. Tables `[flow.NAME]` ask for
    several loads at once; each has the keys that differ from these.
    """

    trace: str | None
    """The trace to replay, plain, .gz or .zst: a file, a folder, a tar archive, or a pattern with
    `*`. Value: the path of a file. Default: absent."""
    generator: Literal["mixed"] | None
    """The generator of requests, in place of a trace. Default: absent. `mixed`: Random draws of
    operation, size, address and inter-arrival time."""
    fio: str | None
    """A job file of fio in place of both; each of its jobs is a flow. Value: the path of a file.
    Default: absent."""
    unwritten: Literal["flash", "zero"]
    """What the read of a page that was never written costs. Default: `"flash"`. `flash`: Like any
    page: a flash read. `zero`: Answered without a flash read."""
    queues: Sequence[int] | None
    """Submission queues that the requests go to by turns; absent: all, or a flow's own. Value: a
    list of integers from 0 to 65534, or "none". Default: absent. Only while host.interface is
    nvme."""
    channels: Sequence[int] | None
    """Channels on which the pages of this flow are placed; absent: all. Flows have the same dies,
    or none in common: each set of dies has its share of the logical space, of spare blocks and of
    garbage collection to itself. Value: a list of integers from 0 to 65534, or "none". Default:
    absent."""
    dies: Sequence[int] | None
    """Dies that hold the pages of a flow, counted over the drive, channel by channel; absent: all.
    Value: a list of integers from 0 to 65534, or "none". Default: absent."""
    read_slo_us: float | None
    """The time within which a read of this load has to be complete, from its arrival at the die;
    absent: suspension.deadline.read_slo_us. Value: a time in microseconds, whole in nanoseconds,
    from 0 to 10000000000, or "none". Default: absent. Only while suspension.policy is deadline."""
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
        "ftrace",
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
    """How the trace is written. Default: `"auto"`. Only while workload.trace is given. `auto`:
    Found out from the content. `alibaba`: Alibaba block traces: device,R or
    W,offset,bytes,microseconds. `arc`: ARC's .lis: block blocks ignored number; the scenario gives
    operation and time. `blkparse`: blkparse's text: device cpu number seconds pid action rwbs
    sector + sectors. `blkreplay`: blkreplay .load: seconds ; sector ; sectors ; R, W or D ; delay ;
    duration. `blktrace`: blktrace's binary files, one for each processor; events Q, I or D are the
    requests. `cloudphysics-csv`: CloudPhysics CSV: version,seconds,SCSI code
    (hexadecimal),bytes,sector. `columns`: Any rows of text; the key columns names their fields and
    units. `diskmon`: DiskMon text: number, seconds, duration, disk, Read or Write, sector, sectors.
    `disksim`: DiskSim ASCII: ms device block blocks flags (hexadecimal, bit 0: read).
    `disksim-validate`: DiskSim's validate: R or W, buffer, block, blocks, service us, us to the
    next. `etw`: Microsoft ETW CSV: DiskRead and DiskWrite in microseconds, hexadecimal bytes.
    `fiu`: FIU: ns pid process sector sectors W or R major minor md5. `ftrace`: Linux tracepoints as
    text: trace-cmd report, perf script, or tracing/trace. `iolog`: fio's write_iolog, versions 2
    and 3: file, action, offset, bytes. `k5cloud`: Fujitsu K5 cloud: volume,seconds,R or
    W,offset,bytes. `mqsim`: MQSim: ns device sector sectors type (0 write, 1 read). `msbytes`: Five
    columns in bytes: ms device offset bytes type (1 read, 0 write). `msr`: MSR Cambridge CSV:
    FILETIME,host,disk,Read or Write,offset,bytes,response. `oracle-general`: libCacheSim's
    oracleGeneral: seconds, block, bytes; row_op says what it does. `oracle-general-opns`:
    libCacheSim's oracleGeneralOpNS: seconds, block, bytes, operation, name space. `recording`:
    reprieve serve --record: arrival_ns,op,lba,bytes,fua,completion_ns,answered_ns. `spc`: SPC
    (UMass): ASU,sector,bytes,r or w,seconds; each ASU is a device. `srt`: HP SRT 1.3 (DiskSim's
    hpl): a text heading, then big-endian records. `ssdsim`: SSDsim: ns device sector sectors op (1
    read, 0 write); the columns of mqsim. `systor17`: SYSTOR '17: seconds,response,R or
    W,unit,offset,bytes; a folder of such files. `tencent`: Tencent block traces:
    seconds,sector,sectors,0 read or 1 write,volume. `vscsi`: vSCSI (CloudPhysics), versions 1 and
    2: binary records with microseconds."""
    columns: str | None
    """The columns of a trace of format columns, such as "time_s,device,sector,bytes,op". Value: a
    string. Default: absent. Only while workload.trace is given."""
    sector_bytes: int | None
    """What addresses count, where a format leaves it open; absent: the format's own, mostly 512.
    Value: an integer from 1 to 1048576, or "none". Default: absent. Only while workload.trace is
    given."""
    blktrace_action: Literal["queue", "insert", "issue"] | None
    """Which events of blktrace or ftrace are the requests; absent: "queue", and of ftrace the only
    kind that there is. Default: absent. Only while workload.trace is given. `queue`: Events Q: what
    the host asks, before the block layer merges. `insert`: Events I: what a scheduler of the host
    gets. `issue`: Events D: what the device gets."""
    etw_time: Literal["begin", "end"] | None
    """When a request of an ETW trace arrives; absent: "begin". Default: absent. Only while
    workload.trace is given. `begin`: A request arrives its elapsed time before the timestamp.
    `end`: It arrives at the timestamp, which is that of its completion."""
    iolog_wait: Literal["relative-us", "absolute-ms"] | None
    """What `wait` means in a log of fio of version 2; absent: "relative-us". Default: absent. Only
    while workload.trace is given. `relative-us`: Microseconds since the last wait, as fio's manual
    says. `absolute-ms`: Milliseconds since the start, as fio 3.33 does."""
    same_second: Literal["spread", "as-written"] | None
    """Where the rows of one second lie if the trace's clock has whole ones; absent: "spread".
    Default: absent. Only while workload.trace is given. `spread`: At equal distances within it, in
    the order of the file. `as-written`: All at its beginning."""
    row_op: Literal["read", "write"] | None
    """The operation of every row of a trace that names none. Default: absent. Only while
    workload.trace is given. `read`: Every row reads. `write`: Every row writes."""
    row_interval_us: float | None
    """The time from row to row of a trace that has none. Value: a time in microseconds, whole in
    nanoseconds, from 0 to 10000000000, or "none". Default: absent. Only while workload.trace is
    given."""
    zero_length: Literal["drop", "error"] | None
    """What becomes of rows of no length; absent: "drop". Default: absent. Only while workload.trace
    is given. `drop`: Such rows are left out and counted. `error`: The run ends and names the
    row."""
    replay: Literal["open", "closed"]
    """When a request of the trace reaches the drive. Default: `"open"`. Only while workload.trace
    is given. `open`: When the trace says, whatever the drive does. `closed`: When one completes:
    queue_depth outstanding, times unused."""
    clock: Literal["shared", "own"] | None
    """Whose clock the trace's times are of, where several flows have traces; absent: "shared", if
    its first row is within a day of the earliest. Default: absent. Only while workload.replay is
    open. `shared`: That of all flows: it begins with the earliest first row of their traces. `own`:
    Its own, which begins with its first row."""
    start_s: float
    """Earlier rows are left out; in trace time. Value: a time in seconds, whole in nanoseconds,
    from 0 to 1000000000. Default: `0`. Only while workload.trace is given."""
    duration_s: float | None
    """Rows from this long after the start are left out. Value: a time in seconds, whole in
    nanoseconds, from 0 to 1000000000, or "none". Default: absent. Only while workload.trace is
    given."""
    repeat: int
    """How often the trace, or the part of it, is replayed. Each pass begins one mean gap between
    its requests after the last request of the pass before. Value: an integer from 1 to
    1099511627776. Default: `1`. Only while workload.trace is given."""
    max_requests: int | None
    """The run ends after this many requests of all passes. Value: an integer from 1 to
    18446744073709551615, or "none". Default: absent. Only while workload.trace is given."""
    devices: Literal["concatenate", "merge"] | Sequence[int]
    """Each device of the trace gets its own range, or all share one, or only these count. Value:
    "concatenate", "merge" or a list of different device numbers. Default: `"concatenate"`. Only
    while workload.trace is given."""
    address: Literal["modulo", "scale", "clamp", "drop", "error"]
    """What becomes of an address past the end of the drive. Default: `"modulo"`. Only while
    workload.trace is given. `modulo`: Wrap around the end of the drive. `scale`: Map the extent of
    the trace onto the drive, linearly. `clamp`: The last address at which the request fits. `drop`:
    Leave the request out and count it. `error`: Stop, naming the row."""
    drop_duplicates_within_us: float | None
    """A row that repeats another within this time is dropped; absent: none is. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default: absent. Only
    while workload.trace is given."""
    sort_window_requests: int
    """Rows within which a time that runs back is sorted into place; 0: it is an error. Value: an
    integer from 0 to 16777216. Default: `0`. Only while workload.trace is given."""
    requests: int
    """How many requests. Value: an integer from 1 to 18446744073709551615. It must be given. Only
    while workload.generator is mixed."""
    read_fraction: float
    """Share of reads. Value: a number at least 0 and at most 1. It must be given. Only while
    workload.generator is mixed."""
    trim_fraction: float
    """Share of trims. Value: a number at least 0 and at most 1. Default: `0.0`. Only while
    workload.generator is mixed."""
    flush_every_requests: int | None
    """Every so many requests one is a flush; absent: none is. Value: an integer from 2 to
    18446744073709551615, or "none". Default: absent. Only while workload.generator is mixed."""
    fua_fraction: float
    """Share of the writes that are acknowledged only when they are programmed (FUA). Value: a
    number at least 0 and at most 1. Default: `0.0`. Only while workload.generator is mixed."""
    request_bytes: int | Sequence[tuple[int, float]]
    """Size of a request. Value: a multiple of 512 from 512 to 1073741824, or a list of [such a
    multiple, weight above 0]. Default: `4096`. Only while workload.generator is mixed."""
    read_request_bytes: int | Sequence[tuple[int, float]] | None
    """Size of a read; absent: that of any request. Value: a multiple of 512 from 512 to 1073741824,
    or a list of [such a multiple, weight above 0], or "none". Default: absent. Only while
    workload.generator is mixed."""
    write_request_bytes: int | Sequence[tuple[int, float]] | None
    """Size of a write; absent: that of any request. Value: a multiple of 512 from 512 to
    1073741824, or a list of [such a multiple, weight above 0], or "none". Default: absent. Only
    while workload.generator is mixed."""
    align_bytes: int
    """Every address is a multiple of this. Value: a multiple of 512 from 512 to 1073741824.
    Default: that of `geometry.page_bytes`. Only while workload.generator is mixed."""
    addresses: Literal["uniform", "sequential", "zipf", "hot-cold"]
    """Where in the space a request goes. Default: `"uniform"`. Only while workload.generator is
    mixed. `uniform`: Every place alike. `sequential`: One after the other, from the start again at
    the end. `zipf`: The place of rank r with a frequency of r^-zipf_theta. `hot-cold`: hot_fraction
    of the requests go to hot_share of the space."""
    zipf_theta: float
    """Exponent of the Zipf law. Value: a number above 0 and at most 10. It must be given. Only
    while workload.addresses is zipf."""
    zipf_unit_bytes: int | None
    """Length of a place of the Zipf law; absent: the alignment, at least 4096. Value: a multiple of
    512 from 512 to 1073741824, or "none". Default: absent. Only while workload.addresses is
    zipf."""
    hot_share: float
    """Share of the space that is hot. Value: a number above 0 and below 1. It must be given. Only
    while workload.addresses is hot-cold."""
    hot_fraction: float
    """Share of requests to the hot space. Value: a number at least 0 and at most 1. It must be
    given. Only while workload.addresses is hot-cold."""
    read_sequential_fraction: float
    """Share of the reads that begin where the last read ended, or aligned just behind. Value: a
    number at least 0 and at most 1. Default: `0.0`. Only while workload.addresses is uniform or
    zipf or hot-cold."""
    write_sequential_fraction: float
    """Share of the writes that begin where the last write ended, or aligned just behind. Value: a
    number at least 0 and at most 1. Default: `0.0`. Only while workload.addresses is uniform or
    zipf or hot-cold."""
    sequential_streams: int
    """Streams of the reads, and of the writes, that such requests go on from, each with its size.
    Value: an integer from 1 to 65536. Default: `1`. Only while workload.addresses is uniform or
    zipf or hot-cold."""
    repeat_fraction: float
    """Share of the requests that repeat address and size of an earlier one of the same operation.
    Value: a number at least 0 and at most 1. Default: `0.0`. Only while workload.addresses is
    uniform or zipf or hot-cold."""
    repeat_window_requests: int
    """How many requests back that one is at most; the logarithm of the distance is uniform. Value:
    an integer from 1 to 1048576. Default: `1024`. Only while workload.addresses is uniform or zipf
    or hot-cold."""
    size_run_fraction: float | Sequence[float] | None
    """Chance that a request keeps the size of the one before of its operation: one for each size of
    request_bytes, or one for all. Shares of sizes stay the same. What goes on or repeats then does
    so from requests of its own size. Absent: each size is drawn. Value: a number at least 0 and
    below 1, or a list of such numbers, or "none". Default: absent. Only while workload.addresses is
    uniform or zipf or hot-cold."""
    sequential_by_size: float | Sequence[float] | None
    """Share of the requests of each size that begin where one of that size ended, or one for all
    sizes; absent: that of the operation. Value: a number at least 0 and at most 1, or a list of
    such numbers, or "none". Default: absent. Only while workload.size_run_fraction is given."""
    repeat_by_size: float | Sequence[float] | None
    """Share of the requests of each size that repeat the address of an earlier one of that size, or
    one for all sizes; absent: repeat_fraction. Value: a number at least 0 and at most 1, or a list
    of such numbers, or "none". Default: absent. Only while workload.size_run_fraction is given."""
    footprint_start_bytes: int
    """The first address; a multiple of the alignment. Value: a multiple of 512 from 0 to
    1152921504606846976. Default: `0`. Only while workload.generator is mixed."""
    footprint_bytes: int | None
    """How much of the user capacity is addressed, from the first address on. Value: a multiple of
    512 from 512 to 1152921504606846976, or "none". Default: absent. Only while workload.generator
    is mixed."""
    footprint_share: float | None
    """The same as a share of what lies behind the first address; without either, all of it. Value:
    a number above 0 and at most 1, or "none". Default: absent. Only while workload.generator is
    mixed."""
    arrivals: Literal["closed", "poisson", "fixed", "hyperexponential", "trains"]
    """When a request reaches the drive. Default: `"closed"`. Only while workload.generator is
    mixed. `closed`: A new request when one completes: queue_depth outstanding. `poisson`: At
    random, rate_iops a second on average. `fixed`: At equal distances, rate_iops a second.
    `hyperexponential`: In bursts: gaps of a short and of a long phase. `trains`: In trains, whose
    starts cluster on all scales of time."""
    queue_depth: int
    """Requests kept outstanding. Value: an integer from 1 to 65536. It must be given. Only while
    workload.replay is closed or workload.arrivals is closed."""
    rate_iops: float
    """Requests a second. Value: a number above 0 and at most 1000000000. It must be given. Only
    while workload.arrivals is poisson or fixed or hyperexponential or trains."""
    simultaneous_fraction: float
    """Share of the requests that arrive together with the one before. Value: a number at least 0
    and below 1. Default: `0.0`. Only while workload.arrivals is hyperexponential."""
    burst_fraction: float
    """Share of the other gaps that are of the short phase. Value: a number above 0 and below 1. It
    must be given. Only while workload.arrivals is hyperexponential. Source: Wajahat et al.,
    Performance Evaluation 142, 2020: two phases fit traces best."""
    burst_gap_us: float
    """Mean of the short phase; the rate and the rest settle that of the long one. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given. Only while
    workload.arrivals is hyperexponential."""
    burst_length: float | None
    """Mean number of short gaps in a row; absent: each gap is drawn anew. Value: a number at least
    1 and at most 1000000000, or "none". Default: absent. Only while workload.arrivals is
    hyperexponential."""
    train_requests: float
    """Mean number of requests of a train; the number is geometric. Value: a number at least 1 and
    at most 1000000. It must be given. Only while workload.arrivals is trains."""
    train_gap_us: float
    """Mean of the gaps of a train that take time; they are exponential. Value: a time in
    microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given. Only while
    workload.arrivals is trains."""
    train_simultaneous_fraction: float
    """Share of the gaps of a train that take none. Value: a number at least 0 and at most 1.
    Default: `0.0`. Only while workload.arrivals is trains."""
    train_bias: float | Sequence[float]
    """Share of the trains of an interval that start in the busier one of its halves; 0.5: no
    bursts. A list has a share for each halving from train_span_s on, the last one for all further
    halvings. Value: a number at least 0.5 and at most 0.99, or a list of such numbers. It must be
    given. Only while workload.arrivals is trains. Source: the b-model of Wang et al., ICDE 2002."""
    train_span_s: float
    """The longest interval that is halved so; one follows the other. Value: a time in seconds,
    whole in nanoseconds, from 0 to 1000000000. It must be given. Only while workload.arrivals is
    trains."""
    train_independent_s: float
    """Within so little time trains start at random, and do not cluster. Value: a time in seconds,
    whole in nanoseconds, from 0 to 1000000000. Default: `0`. Only while workload.arrivals is
    trains."""
    train_tick_us: float
    """The tick of the clock; what starts within it starts together. Value: a time in microseconds,
    whole in nanoseconds, from 0 to 10000000000. It must be given. Only while workload.arrivals is
    trains."""
    time_scale: float
    """Multiplies the times between arrivals: 0.1 is ten times the load. Value: a number above 0 and
    at most 1000000000. Default: `1.0`. Only while workload.trace is given or workload.arrivals is
    poisson or fixed or hyperexponential or trains."""

class Measure(Keys):
    """Keys of `[measure]`.

    From when on a run is measured; what comes before is simulated and not counted.
    """

    from_request: int
    """Requests with a lower number in order of arrival are excluded. Value: an integer from 0 to
    9223372036854775807. Default: `0`."""
    from_s: float
    """Requests that arrive earlier in simulated time are excluded. Value: a time in seconds, whole
    in nanoseconds, from 0 to 1000000000. Default: `0`."""
    warmup: Literal["none", "auto"]
    """Who finds the end of the transient. Default: `"none"`. Source: auto: MSER-5; White,
    Simulation 69(6), 1997; White, Cobb and Spratt, Winter Simulation Conference 2000. `none`:
    Nothing is excluded but what the other keys say. `auto`: The run finds the end of its transient,
    and is simulated again from there."""

class Top(Keys):
    """Keys before every section, and the sections."""

    seed: int
    """Seed of every random stream. Value: an integer from 0 to 18446744073709551615. Default:
    `1`."""
    device: str | None
    """The drive to start from: a built-in preset, or the path of a file of the same form. Value:
    the name of a preset or the path of a .toml file. Default: absent."""
    part: str | None
    """The NAND part under the drive, in place of the one that the device names. Value: the name of
    a preset or the path of a .toml file. Default: absent."""
    load: str | None
    """The load to start from: a built-in preset, or the path of a file of the same form. Value: the
    name of a preset or the path of a .toml file. Default: absent."""
    name: str | None
    """What results call this drive; else the device's name. Value: a string. Default: absent."""
    policy: Literal["fifo", "rps", "per", "pe0", "pes-ips", "pes-ipc"] | None
    """Shorthand for scheduling.policy, suspension.program and suspension.erase together. Default:
    absent. Source: Wu and He, FAST 2012, section 5. `fifo`: In order of arrival, nothing is
    suspended. `rps`: Read priority scheduling, nothing is suspended. `per`: RPS with program and
    erase as short as a read. `pe0`: RPS with program and erase of no length. `pes-ips`: RPS with
    erase and inter-phase program suspension. `pes-ipc`: RPS with erase suspension and intra-phase
    cancellation."""
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
    precondition: Precondition
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
        precondition: Mapping[str, Any] | None = None,
        nand: Mapping[str, Any] | None = None,
        buffer: Mapping[str, Any] | None = None,
        read_cache: Mapping[str, Any] | None = None,
        host: Mapping[str, Any] | None = None,
        workload: Mapping[str, Any] | None = None,
        measure: Mapping[str, Any] | None = None,
        flow: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None: ...
    def _take(self, tables: Mapping[str, Any]) -> None: ...

SECTIONS: dict[str, type[Keys]]
"""The class of each section."""

def class_name(section: str) -> str: ...

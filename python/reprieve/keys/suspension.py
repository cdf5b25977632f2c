"""Keys of `[suspension]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reprieve.sections import Keys


class Suspension(Keys):
    """Keys of `[suspension]`.

    What the part can suspend, and when the controller asks for it.
    """

    _section = "suspension"

    program: Literal["none", "ips", "ipc", "iteration", "sliced"]
    """How a program stops.

    Default: `"none"`. Source: Wu and He, FAST 2012, section 4. `none`: Never. `ips`: At the end of
    the phase in progress. `ipc`: The phase is cancelled; a voltage reset later the array is free.
    `iteration`: At the end of the pulse and verify in progress (3D parts). `sliced`: At the end of
    the slice in progress: the program is cut up.
    """
    slice_iterations: int
    """Iterations of a slice.

    Value: an integer from 1 to 1000. It must be given. Only while suspension.program is sliced.
    Source: US patent 9,892,794.
    """
    t_slice_overhead_us: float
    """What every slice begins with.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Only while suspension.program is sliced.
    """
    retention_iterations: int
    """Iterations that a program has more after an early suspension and then a long run.

    Value: an integer from 0 to 1000. Default: `0`. Source: Zambelli et al., Electronics 10, 1394
    (2021).
    """
    retention_first_share: float
    """Early: before this share of the program's undisturbed array time is done.

    Value: a number at least 0 and at most 1. Default: `0.2`. Source: Zambelli et al., Electronics
    10, 1394 (2021).
    """
    retention_second_share: float
    """Long: a later run without a suspension for at least this share of it.

    Value: a number at least 0 and at most 1. Default: `0.7`. Source: Zambelli et al., Electronics
    10, 1394 (2021).
    """
    erase: bool
    """Whether an erase can be suspended.

    Value: true or false. Default: `false`.
    """
    erase_mode: Literal["immediate", "deferred", "timeout"]
    """When an erase makes way.

    Default: `"immediate"`. Source: Kim et al., USENIX ATC 2019, as reported by others. `immediate`:
    The phase is broken off; a voltage reset later it is free. `deferred`: At the end of the segment
    in progress; not in the verify. `timeout`: Immediate up to an age of the erase, deferred from
    then on.
    """
    erase_timeout_us: float
    """From this long after the end of its command on an erase is suspended as deferred.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Only while suspension.erase_mode is timeout.
    """
    erase_resume: Literal["exact", "redo_phase", "restart"]
    """With what a suspended erase goes on.

    Default: `"exact"`. `exact`: With what was left of the pulse (Wu and He, FAST 2012).
    `redo_phase`: With the whole of the phase that was broken off. `restart`: From the beginning of
    the pulse (Samsung OneNAND).
    """
    reset_inside_phase: bool
    """Whether the last t_voltage_reset_us of a phase is its reset; else phases have none.

    Value: true or false. Default: `true`. Source: Wu and He, FAST 2012, section 4.1.
    """
    shadow_buffer: bool
    """Whether the page buffer is restored on the chip; else over the channel (tBUS).

    Value: true or false. Default: `true`. Source: Wu and He, FAST 2012, section 4.
    """
    restore: Literal["atomic", "interruptible"]
    """Whether a request breaks off a restore from the shadow buffer, or a set-up.

    Default: `"atomic"`. `atomic`: Never: the request takes effect at its end. `interruptible`: It
    is broken off, and done anew on the next resume.
    """
    resume_at: Literal["data_out", "array_read"]
    """From when on the array is free after a read during a suspension.

    Default: `"data_out"`. `data_out`: When its page has left over the channel. `array_read`: At the
    end of tR; the page waits in a second register.
    """
    multi_plane: Literal["whole", "plane"]
    """Which planes of an operation make way for a read.

    Default: `"whole"`. Source: US patent 11,687,285. `whole`: All: the operation is suspended
    whole. `plane`: The plane of the read alone; the others go on meanwhile.
    """
    vth_reached: Literal["never", "always", "proportional"]
    """Whether a cancelled program pulse had already brought the cells to their target.

    Default: `"never"`. `never`: The worst case: the pulse is done again. `always`: The best case:
    the next iteration follows. `proportional`: With a probability of the elapsed share of the
    pulse.
    """
    same_block: Literal["block", "wordline", "page"]
    """Which reads wait for a program that runs or is suspended; an erase holds its block.

    Default: `"block"`. Source: Numonyx J3, Spansion S29GL: the block; Intel W30, Sharp LRS1383: the
    location. `block`: Those of its block. `wordline`: Those of its wordline. `page`: Those of the
    page, or pages, that it programs.
    """
    max_per_program: int | None
    """A program that was suspended this often runs to its end; absent: no limit.

    Value: an integer from 1 to 4294967295, or "none". Default: absent.
    """
    max_per_erase: int | None
    """An erase that was suspended this often runs to its end; absent: no limit.

    Value: an integer from 1 to 4294967295, or "none". Default: absent.
    """
    max_per_operation: int | None
    """An operation that was suspended this often runs to its end; absent: no limit.

    Value: an integer from 1 to 4294967295, or "none". Default: absent.
    """
    min_progress_us: float
    """An operation is not suspended again sooner than this after its resume.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`.
    """
    policy: Literal["always", "threshold"]
    """When the controller asks for a suspension.

    Default: `"always"`. `always`: every read that may suspend the operation in its way does.
    `threshold`: not within min_remaining_us of the end, nor after max_suspended_us in suspension.
    """
    min_remaining_us: float | None
    """An operation with less than this left is not suspended; absent: no such limit.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while suspension.policy is threshold.
    """
    max_suspended_us: float | None
    """After this much time in suspension an operation runs to its end; absent: no limit.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Only while suspension.policy is threshold.
    """
    host_read_suspends: Sequence[Literal["program", "gc_program", "erase"]]
    """What a host read may suspend.

    Value: a list out of "program", "gc_program", "erase". Default: `["program", "gc_program",
    "erase"]`.
    """
    rmw_read_suspends: Sequence[Literal["program", "gc_program", "erase"]]
    """What the read of a read-modify-write may suspend.

    Value: a list out of "program", "gc_program", "erase". Default: `[]`.
    """
    gc_read_suspends: Sequence[Literal["program", "gc_program", "erase"]]
    """What a read of garbage collection may suspend.

    Value: a list out of "program", "gc_program", "erase". Default: `[]`.
    """
    host_write_suspends: Sequence[Literal["program", "gc_program", "erase"]]
    """What the program of a host write may suspend, and run inside: `["erase"]` or `[]`.

    Value: a list out of "program", "gc_program", "erase". Default: `[]`. Source: Wu, Huang and He,
    Journal of Systems Architecture 60(4), 2014.
    """

"""Keys of `[timing]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reprieve.sections import Keys


class Timing(Keys):
    """Keys of `[timing]`.

    How long the part takes.
    """

    _section = "timing"

    t_command_us: float
    """Command and address cycles on the channel (tCMD).

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`.
    """
    t_bus_us: float
    """One page over the channel (tBUS).

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Source: Wu and He, FAST 2012, Table 1.
    """
    t_read_us: float
    """Array read of a page (tR).

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Source: Wu and He, FAST 2012, Table 1.
    """
    read_law: Literal["fixed", "exponential"]
    """How array reads vary; every law has the mean t_read_us.

    Default: `"fixed"`. `fixed`: Every read takes the same time. `exponential`: Drawn for each read:
    hypothetical, as theory has it.
    """
    program_iterations: int
    """Iterations of pulse and verify (ISPP) of a page program.

    Value: an integer from 1 to 1000. It must be given. Source: Wu and He, FAST 2012, Table 1.
    """
    t_program_pulse_us: float
    """Program pulse of one iteration.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Source: Wu and He, FAST 2012, Table 1.
    """
    t_verify_us: float
    """Program verify of one iteration.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Source: Wu and He, FAST 2012, Table 1.
    """
    t_erase_us: float
    """Erase pulse, all its segments together.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Source: Wu and He, FAST 2012, Table 1.
    """
    erase_segments: int
    """Equal segments of the erase pulse, with a safe point between any two; divides it.

    Value: an integer from 1 to 1000000. Default: `1`. Source: Kim et al., USENIX ATC 2019, as
    reported by others.
    """
    t_erase_verify_us: float
    """Verify after the erase pulse.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: that of
    `timing.t_verify_us`. Source: Wu and He, FAST 2012, section 4.1.
    """
    t_voltage_reset_us: float
    """Reset of the operating voltages; inside a phase, no longer than that.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. It must be given.
    Source: Wu and He, FAST 2012, Table 1.
    """
    t_buffer_us: float
    """Restoring the page buffer from the shadow buffer before a program goes on.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`.
    Source: Wu and He, FAST 2012, Table 1.
    """
    t_suspend_overhead_us: float
    """Added to a suspension at the end of an atomic iteration (3D parts).

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`.
    Source: Zambelli et al. 2021.
    """
    cache_register: bool
    """Whether the array is free at the end of tR: the data waits in a second register.

    Value: true or false. Default: `false`.
    """
    wordline_pages: int
    """Pages of a block that one program takes together; divides pages_per_block.

    Value: an integer from 1 to 16. Default: `1`.
    """
    t_load_gap_us: float
    """Between the transfers of two pages of a wordline.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `0`.
    """
    page_types: int | None
    """Types of pages, as many as a cell has bits; absent: all pages are alike.

    Value: an integer from 2 to 4, or "none". Default: absent.
    """
    page_type_order: Literal["modulo", "interleaved"]
    """Which page of a block has which type.

    Default: `"modulo"`. Only while timing.page_types is given. `modulo`: The types by turns: page p
    has type p modulo page_types. `interleaved`: Of three types: six pages of the first, two of the
    second, then two of each by turns (Yaakobi et al., ICNC 2012).
    """
    t_read_us_by_type: Sequence[float] | None
    """Array read of a page of each type, in place of t_read_us; absent: alike.

    Value: a list of times in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none".
    Default: absent. Only while timing.page_types is given.
    """
    program_iterations_by_type: Sequence[int] | None
    """Iterations of a program of each type, in place of program_iterations; absent: alike.

    Value: a list of integers from 1 to 1000, or "none". Default: absent. Only while
    timing.page_types is given.
    """
    program_iterations_weights: Sequence[tuple[int, int]] | None
    """Iterations by wordline, `[[24, 1], [25, 3]]`, in place of program_iterations.

    Value: a list of 1 to 16 pairs [integer from 1 to 1000, weight from 1 to 65535] of different
    integers, or "none". Default: absent. Source: Zambelli et al., Electronics 10, 1394 (2021).
    """
    values: Literal["typical", "maximum"]
    """Which times hold of a part that has two of them.

    Default: `"typical"`. Source: Starblaze, Flash Memory Summit 2017: a typical and a maximum of
    each time. `typical`: Those without an ending. `maximum`: Those that end in _max, where the part
    has them.
    """
    t_read_us_max: float | None
    """The maximum of t_read_us; absent: alike.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Source: Starblaze, Flash Memory Summit 2017: a typical and a maximum of each time.
    """
    program_iterations_max: int | None
    """The maximum of program_iterations; absent: alike.

    Value: an integer from 1 to 1000, or "none". Default: absent. Source: Starblaze, Flash Memory
    Summit 2017: a typical and a maximum of each time.
    """
    t_erase_us_max: float | None
    """The maximum of t_erase_us; absent: alike.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000, or "none". Default:
    absent. Source: Starblaze, Flash Memory Summit 2017: a typical and a maximum of each time.
    """

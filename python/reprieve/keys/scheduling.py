"""Keys of `[scheduling]`, written from the schema by `make docs`: not to be edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from reprieve.sections import Keys


class Scheduling(Keys):
    """Keys of `[scheduling]`.

    Which transaction a die serves next.
    """

    _section = "scheduling"

    policy: Literal["fifo", "rps", "rps-age", "deadline", "microcode", "per", "pe0"]
    """Order in which a die serves its transactions.

    Default: `"rps"`. `fifo`: one queue a die in order of arrival, whatever the operation; nothing
    is suspended. `rps`: pending reads before pending programs and erases; with suspension it is
    PES. `rps-age`: rps, but a write older than age_limit_us goes first, unsuspended. `deadline`:
    each class has a deadline from its arrival, and the earliest goes first. `microcode`: a queue
    for each class, served as the steps of the scenario say, the first that applies. `per`: rps on a
    hypothetical part whose programs and erases take tR in the array. `pe0`: rps on a hypothetical
    part whose programs and erases take no time in the array.
    """
    write_queue_limit: int | None
    """Pending programs at which they go ahead of reads; absent: no limit.

    Value: an integer from 1 to 4294967295, or "none". Default: absent. Source: Wu and He, FAST
    2012, section 5.3.
    """
    write_queue_limit_scope: Literal["die", "drive"]
    """Which programs the limit counts.

    Default: `"die"`. Only while scheduling.write_queue_limit is given. Source: Wu and He, FAST
    2012, section 5.3: the flash controller limits its write queue. `die`: The programs that wait at
    each die, which has a limit of its own. `drive`: The programs that wait at all dies of the drive
    together.
    """
    age_limit_us: float
    """A write that waits so long goes first.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `10000`.
    Only while scheduling.policy is rps-age.
    """
    read_deadline_us: float
    """Deadline of a read, from its arrival.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `1000`.
    Only while scheduling.policy is deadline.
    """
    write_deadline_us: float
    """Deadline of a write, likewise.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `10000`.
    Only while scheduling.policy is deadline.
    """
    gc_deadline_us: float
    """Deadline of garbage collection, from when it is urgent or its operation begins.

    Value: a time in microseconds, whole in nanoseconds, from 0 to 10000000000. Default: `10000`.
    Only while scheduling.policy is deadline.
    """
    steps: Sequence[str]
    """What goes first at a die: the first step for which something waits.

    Value: a list of steps: host_read, host_write, gc_read, gc_program, erase or resume, each with
    conditions behind it: after_us=N, queued=N (host_write), urgent (gc_read, gc_program, erase),
    of=CLASS (resume). Default: `["host_read", "gc_read", "gc_program", "erase", "host_write",
    "resume"]`. Only while scheduling.policy is microcode. Source: after Starblaze, Flash Memory
    Summit 2017: a microcoded controller.
    """
    dispatch: Literal["none", "mbm", "paq", "slacker", "sprinkler"]
    """What goes first of all that waits in the drive, and what is held back.

    Default: `"none"`. `none`: each die serves its queues without regard to the others. `mbm`:
    writes get their planes when a chip is idle: by its parallelism, up to an even share of the
    channels' load; what long reads have touched is spread over the dies. `paq`: of the first
    operations that wait, those go to the dies whose chips are free, and with them what one command
    can take; the others are held back. `slacker`: a page operation passes those before it that can
    wait so long, because another page of their request takes longer. `sprinkler`: of what waits for
    a die, what most planes can do together goes first, then what has most pages of one request;
    chips at the same place of all channels before the next.
    """
    paq_window_pages: int
    """Page operations that have waited longest, among which the next are chosen.

    Value: an integer from 1 to 4294967295. Default: `64`. Only while scheduling.dispatch is paq.
    """
    paq_conflict: Literal["chip", "die"]
    """What two operations that no command takes together may not share.

    Default: `"chip"`. Only while scheduling.dispatch is paq. `chip`: A chip: its dies work one
    after the other. `die`: A die: those of a chip work side by side.
    """
    mbm_channel_limit: Literal["exact", "printed", "none"]
    """How many of the writes that wait a channel may begin.

    Default: `"exact"`. Only while scheduling.dispatch is mbm. Source: MBM paper, Algorithm 1:
    Channel_Max_Subs. `exact`: As many as make the channels carry alike, as water finds its level.
    `printed`: The same, rounded up for every channel, as the paper has it. `none`: As many as there
    are.
    """
    mbm_share_when: Literal["instant", "arrival"]
    """When the shares of the channels are computed.

    Default: `"instant"`. Only while scheduling.mbm_channel_limit is exact or printed. `instant`: At
    every instant at which writes wait. `arrival`: When writes have come, and when all shares are
    used up.
    """
    mbm_share_writes: Literal["under-way", "all"]
    """Which writes count as what a channel has to do.

    Default: `"under-way"`. Only while scheduling.mbm_channel_limit is exact or printed. Source: MBM
    paper, Algorithm 1: execute_w_subs. `under-way`: Those that wait at its dies or are being
    programmed. `all`: All that it was ever given.
    """
    mbm_share_read_weight: int
    """How many writes a page to be read counts for in what a channel has to do.

    Value: an integer from 0 to 64. Default: `1`. Only while scheduling.mbm_channel_limit is exact
    or printed. Source: MBM paper, Algorithm 1: read_len.
    """
    mbm_share_collection: bool
    """Whether a die that collects garbage counts for a page that its channel has to do.

    Value: true or false. Default: `false`. Only while scheduling.mbm_channel_limit is exact or
    printed.
    """
    mbm_ties: Literal["rotating", "in-order"]
    """Which of channels and chips that are equal is first.

    Default: `"rotating"`. Only while scheduling.dispatch is mbm. `rotating`: The one behind the one
    that was chosen last. `in-order`: The lowest in number.
    """
    mbm_alignment: Literal["lagging", "largest"]
    """Which planes of a die are programmed together.

    Default: `"lagging"`. Only while scheduling.dispatch is mbm. `lagging`: Those that have got
    least far, until they have caught up. `largest`: The most that stand at one page, of equals
    those that have got least far.
    """
    mbm_chips: Literal["least-then-greatest", "in-order"]
    """Which idle chip of a channel gets writes first.

    Default: `"least-then-greatest"`. Only while scheduling.dispatch is mbm. Source: MBM paper,
    section IV.C: Minimizing Chip consumption Strategy. `least-then-greatest`: First the idle chip
    that can program fewest pages at once, then those that can most. `in-order`: The idle chips of a
    channel in order.
    """
    mbm_first_chip: Literal["channel", "instant", "request"]
    """Of what the chip that can program fewest pages is the first.

    Default: `"channel"`. Only while scheduling.mbm_chips is least-then-greatest. `channel`: For
    each channel at each instant. `instant`: For the drive at each instant. `request`: For each
    request.
    """
    mbm_joint_reads: Literal["request", "any"]
    """Of which requests the pages are that one multi-plane read takes.

    Default: `"request"`. Only while scheduling.dispatch is mbm. Source: MBM paper, section IV.B:
    Read Strategy. `request`: Of one request. `any`: Of any.
    """
    mbm_read_areas: Literal["spread", "as-others"]
    """Where writes go to what long reads have touched.

    Default: `"spread"`. Only while scheduling.dispatch is mbm. Source: MBM paper, section IV.B:
    Read Strategy. `spread`: Over all dies by their logical numbers. `as-others`: As all other
    writes.
    """
    mbm_read_threshold_pages: int
    """A read of more pages is long.

    Value: an integer from 1 to 4294967295. Default: `4`. Only while scheduling.mbm_read_areas is
    spread.
    """
    mbm_read_area_bytes: int
    """What a long read marks: stretches of this length that it touches.

    Value: a multiple of 512 from 512 to 1099511627776. Default: `1048576`. Only while
    scheduling.mbm_read_areas is spread.
    """
    mbm_read_area_end: Literal["short-read", "never"]
    """When what a long read has marked is like everything else again.

    Default: `"short-read"`. Only while scheduling.mbm_read_areas is spread. Source: MBM paper,
    section IV.B: of a read that is not long the area is not read-intensive. `short-read`: With a
    read of it that is not long. `never`: Never.
    """
    mbm_redistribution: Literal["either", "channels", "transactions", "none"]
    """When pages of a long read are written anew, to where their logical numbers put them.

    Default: `"either"`. Only while scheduling.mbm_read_areas is spread. Source: MBM paper, section
    IV.B. `either`: Where one of its channels or one of its dies has more than its share.
    `channels`: Where one of its channels has more than an even share of its pages. `transactions`:
    Where one of its dies needs more commands than an even spread would. `none`: Never.
    """
    mbm_redistributed_pages: int
    """Pages that are being written anew at one time, at most.

    Value: an integer from 1 to 4294967295. Default: `8`. Only while scheduling.mbm_redistribution
    is either or channels or transactions.
    """

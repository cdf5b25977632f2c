//! Keys of priority: at a die, over all queues of the drive, and on a channel.

use crate::row::*;
use crate::types::*;

const DEADLINE: &[Need] = &[is("scheduling.policy", &["deadline"])];
const LIMITED: &[Need] = &[is("scheduling.mbm_channel_limit", &["exact", "printed"])];
const MBM: &[Need] = &[is("scheduling.dispatch", &["mbm"])];
const SPREAD: &[Need] = &[is("scheduling.mbm_read_areas", &["spread", "even"])];
const MOVES: &[Need] =
    &[is("scheduling.mbm_redistribution", &["either", "channels", "transactions"])];
const READ_STRATEGY: &str = "MBM paper, section IV.B: Read Strategy";

section! {
    /// Which transaction a die serves next.
    SCHEDULING "scheduling"

    /// Order in which a die serves its transactions. The Python package also takes the policy
    /// `NAME` of a program: `FILE.py:NAME` or `MODULE:NAME`.
    policy [scheduling.policy] registered(|all| all.schedulers.into()), or("'rps'"),
        bounds(&["pe0", "per"]);
    /// Pending programs at which they go ahead of reads; absent: no limit.
    write_queue_limit [scheduling.write_queue_limit] count(1, U32), absent(),
        from("Wu and He, FAST 2012, section 5.3"), while_served();
    /// Which programs the limit counts.
    write_queue_limit_scope [scheduling.write_queue_limit_scope] choice(LimitScope::WORDS),
        or("'die'"), when(&[given("scheduling.write_queue_limit")]),
        from("Wu and He, FAST 2012, section 5.3: the flash controller limits its write queue"),
        while_served();
    /// A write that waits this long goes first.
    age_limit_us [scheduling.age_limit] us(), or("10000"),
        when(&[is("scheduling.policy", &["rps-age"])]);
    /// Deadline of a read, from its arrival.
    read_deadline_us [scheduling.deadlines??.read] us(), or("1000"), when(DEADLINE);
    /// Deadline of a write, likewise.
    write_deadline_us [scheduling.deadlines?.write] us(), or("10000"), when(DEADLINE);
    /// Deadline of garbage collection, from when it is urgent or its operation begins.
    gc_deadline_us [scheduling.deadlines?.gc] us(), or("10000"), when(DEADLINE);
    /// Priority at a die: the first step whose queue is not empty is served.
    steps [scheduling.steps] steps(),
        or("['host_read', 'gc_read', 'gc_program', 'erase', 'host_write', 'resume']"),
        when(&[is("scheduling.policy", &["microcode"])]),
        from("after Starblaze, Flash Memory Summit 2017: a microcoded controller");
    /// Priority over all queues of the drive, and which work is held back.
    dispatch [scheduling.dispatch.policy] registered(|all| all.dispatchers.into()), or("'none'");
    /// Page operations that have waited longest, among which the next are chosen.
    paq_window_pages [scheduling.dispatch.paq??.window] count(1, U32), or("64"),
        when(&[is("scheduling.dispatch", &["paq"])]);
    /// The resource that two operations without a joint command may not share.
    paq_conflict [scheduling.dispatch.paq?.conflict] choice(Conflict::WORDS), or("'chip'"),
        when(&[is("scheduling.dispatch", &["paq"])]);
    /// The number of waiting writes that a channel may start.
    mbm_channel_limit [scheduling.dispatch.mbm??.share] variant_of {
        "exact" = Some(ShareRules { rounding: Rounding::Exact, .. }) =>
            Some(ShareRules { rounding: Rounding::Exact, ..Default::default() }),
            "As many as make the channels carry alike, as water finds its level.";
        "printed" = Some(ShareRules { rounding: Rounding::Printed, .. }) =>
            Some(ShareRules { rounding: Rounding::Printed, ..Default::default() }),
            "As exact, rounded up for every channel, as the paper has it.";
        "none" = None => None, "As many as there are.";
    }, or("'exact'"), when(MBM), from("MBM paper, Algorithm 1: Channel_Max_Subs");
    /// When the shares of the channels are computed.
    mbm_share_when [scheduling.dispatch.mbm?.share?.on_arrival] one_of {
        "instant" = false, "At every instant at which writes wait.";
        "arrival" = true, "When writes have come, and when all shares are used up.";
    }, or("'instant'"), when(LIMITED);
    /// Which writes count as load of a channel.
    mbm_share_writes [scheduling.dispatch.mbm?.share?.counts_all_writes] one_of {
        "under-way" = false, "Those that wait at its dies or are being programmed.";
        "all" = true, "All that it was ever given.";
    }, or("'under-way'"), when(LIMITED), from("MBM paper, Algorithm 1: execute_w_subs");
    /// The number of writes that a page to be read counts for in the load of a channel.
    mbm_share_read_weight [scheduling.dispatch.mbm?.share?.read_weight] count(0, 64), or("1"),
        when(LIMITED), from("MBM paper, Algorithm 1: read_len");
    /// Whether a die that collects garbage counts as one page of its channel's load.
    mbm_share_collection [scheduling.dispatch.mbm?.share?.counts_collection] flag(), or("false"),
        when(LIMITED);
    /// The unit that starts writes together when all of it is idle.
    mbm_unit [scheduling.dispatch.mbm?.unit] choice(TransactionUnit::WORDS), or("'chip'"),
        when(MBM), from("MBM paper, section IV: SSD transaction");
    /// Which of equal channels and chips is first.
    mbm_ties [scheduling.dispatch.mbm?.ties] choice(Ties::WORDS), or("'rotating'"), when(MBM);
    /// Which planes of a die are programmed together.
    mbm_alignment [scheduling.dispatch.mbm?.alignment] choice(Alignment::WORDS), or("'lagging'"),
        when(MBM);
    /// Which idle chip of a channel gets writes first.
    mbm_chips [scheduling.dispatch.mbm?.chips] variant_of {
        "least-then-greatest" = Chips::LeastThenGreatest(_) =>
            Chips::LeastThenGreatest(FirstOf::Channel),
            "First the idle chip that can program fewest pages at once, then those that can most.";
        "in-order" = Chips::InOrder => Chips::InOrder, "The idle chips of a channel in order.";
    }, or("'least-then-greatest'"), when(MBM),
        from("MBM paper, section IV.C: Minimizing Chip consumption Strategy");
    /// The unit for which the chip that can program fewest pages is the first.
    mbm_first_chip [scheduling.dispatch.mbm?.chips as Chips::LeastThenGreatest]
        choice(FirstOf::WORDS), or("'channel'"),
        when(&[is("scheduling.mbm_chips", &["least-then-greatest"])]);
    /// The requests whose pages one multi-plane read takes.
    mbm_joint_reads [scheduling.dispatch.mbm?.joins_requests] one_of {
        "request" = false, "Of one request.";
        "any" = true, "Of any.";
    }, or("'request'"), when(MBM), from(READ_STRATEGY);
    /// The destination of writes to areas that long reads have touched.
    mbm_read_areas [scheduling.dispatch.mbm?.read_areas] variant_of {
        "spread" = Some(ReadAreas { spread: Spread::ByNumber, .. }) =>
            Some(ReadAreas { spread: Spread::ByNumber, ..Default::default() }),
            "Over all dies by their logical numbers, busy or not.";
        "even" = Some(ReadAreas { spread: Spread::Even, .. }) =>
            Some(ReadAreas { spread: Spread::Even, ..Default::default() }),
            "Around the channels, to idle chips as all other writes.";
        "as-others" = None => None, "As all other writes.";
    }, or("'spread'"), when(MBM), from(READ_STRATEGY);
    /// A read of more pages is long.
    mbm_read_threshold_pages [scheduling.dispatch.mbm?.read_areas?.threshold_pages] count(1, U32),
        or("4"), when(SPREAD);
    /// Unit that a long read marks: stretches of this length that it touches.
    mbm_read_area_bytes [scheduling.dispatch.mbm?.read_areas?.area_bytes] sectors(1 << 40),
        or("1048576"), when(SPREAD);
    /// When an area that a long read has marked becomes unmarked.
    mbm_read_area_end [scheduling.dispatch.mbm?.read_areas?.short_reads_end] one_of {
        "short-read" = true, "With a read of it that is not long.";
        "never" = false, "Never.";
    }, or("'short-read'"), when(SPREAD),
        from("MBM paper, section IV.B: of a read that is not long the area is not read-intensive");
    /// When pages of a long read are rewritten, to the destination of writes of their area.
    mbm_redistribution [scheduling.dispatch.mbm?.read_areas?.redistribution] variant_of {
        "either" = Some(Redistribution { trigger: Trigger::Either, .. }) =>
            Some(Redistribution::by(Trigger::Either)),
            "Where one of its channels or one of its dies has more than its share.";
        "channels" = Some(Redistribution { trigger: Trigger::Channels, .. }) =>
            Some(Redistribution::by(Trigger::Channels)),
            "Where one of its channels has more than an even share of its pages.";
        "transactions" = Some(Redistribution { trigger: Trigger::Transactions, .. }) =>
            Some(Redistribution::by(Trigger::Transactions)),
            "Where one of its dies needs more commands than an even spread would.";
        "none" = None => None, "Never.";
    }, or("'either'"), when(SPREAD), from("MBM paper, section IV.B");
    /// Pages being rewritten at one time, at most.
    mbm_redistributed_pages [scheduling.dispatch.mbm?.read_areas?.redistribution?.pages_max]
        count(1, U32),
        or("8"), when(MOVES);
    /// Pages of the host that are programmed for each rewritten one, at least; absent: any.
    mbm_writes_per_redistributed_page
        [scheduling.dispatch.mbm?.read_areas?.redistribution?.writes_per_page]
        count(1, U32), absent(), when(MOVES);
    /// When pages are rewritten.
    mbm_redistribution_when
        [scheduling.dispatch.mbm?.read_areas?.redistribution?.makes_way] one_of {
        "any-time" = false, "As soon as a read has found them uneven, among the host's writes.";
        "spare" = true, "Only where no write waits for a chip or a die.";
    }, or("'any-time'"), when(MOVES);
}

section! {
    /// The order of transfers on a channel, and their unit.
    CHANNEL "channel"

    /// Which of the waiting transfers has the channel next.
    order [channel.order] choice(ChannelOrder::WORDS), or("'asked'"),
        from("data_first: measured on MQSim 7ec40e3");
    /// A read sends out only the units of its page that it needs; absent: the whole page.
    transfer_unit_bytes [channel.transfer_unit_bytes] sectors(1 << 24), absent();
}

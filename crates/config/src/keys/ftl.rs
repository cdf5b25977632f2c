//! Keys of the translation layer, and of failures of the part.

use crate::row::*;
use crate::types::*;

section! {
    /// Mapping, placement and garbage collection.
    FTL "ftl"

    /// Share of the raw pages kept from the user.
    over_provisioning [ftl.over_provisioning] open(0.0, 1.0);
    /// Bytes of a mapping unit, of which 1, 2, 4 and so on fill a page: 4096 in drives since 2018.
    mapping_bytes [ftl.mapping_bytes] sectors(1 << 24), same_as("geometry.page_bytes");
    /// In which plane a page is written.
    placement [ftl.placement] registered(|all| all.placements.into()), or("'cwdp'");
    /// Which block garbage collection empties.
    gc_victim [ftl.gc_victim] registered(|all| all.gc_victims.into()), or("'greedy'");
    /// Full blocks drawn at random, of which the emptiest is the victim.
    gc_choices [ftl.gc_choices] count(1, 1 << 16), or("10"),
        when(&[is("ftl.gc_victim", &["d-choices"])]),
        from("Van Houdt, SIGMETRICS 2013: d = 10 comes close to greedy");
    /// Blocks filled longest ago, of which the emptiest is the victim.
    gc_window_blocks [ftl.gc_window_blocks] count(1, 1 << 16), or("64"),
        when(&[is("ftl.gc_victim", &["windowed-greedy"])]),
        from("Hu et al., SYSTOR 2009, for the policy; the number is ours");
    /// Background collection of a plane runs while fewer of its blocks than this are free.
    gc_start_free_share [ftl.gc_start_free_share] below(0.0, 1.0), or("0.05");
    /// With only this many free blocks a plane takes host writes only into its open block.
    gc_hard_free_blocks [ftl.gc_hard_free_blocks] count(1, 1 << 16), or("2");
    /// Whether collection uses idle time, or only runs when it is forced.
    gc_background [ftl.gc_background] flag(), or("true");
    /// The handling of the rest of a page when only part of it is written.
    partial_write [ftl.partial_write] choice(PartialWrite::WORDS), or("'read_modify_write'"),
        from("MQSim 7ec40e3, for \"track_sectors\"");
    /// Whether host operations may run between the steps of collecting a block.
    gc_preemptible [ftl.gc.preemptible] flag(), or("true");
    /// Whether a die that moves the pages of a block keeps its channel to itself meanwhile.
    gc_holds_channel [ftl.gc.holds_channel] flag(), or("false"),
        when(&[is("ftl.gc_preemptible", &["false"])]),
        from("behaviour of SSDsim: a channel carries nothing else while a block is collected");
    /// The pace of collection, besides idle time, while few blocks are free.
    gc_pace [ftl.gc.follows_free_space] one_of {
        "fixed" = false, "That of gc_rate_pages_per_write.";
        "free-space" = true,
            "Each page of the host pays for the moves that gain one: twice that at the reserve of \
             blocks, none where collection begins.";
    }, or("'fixed'");
    /// Pages moved for each page the host writes while few blocks are free; absent: idle time only.
    gc_rate_pages_per_write [ftl.gc.rate_pages_per_write] above(0.0, 65_536.0), absent(),
        when(&[is("ftl.gc_pace", &["fixed"])]);
    /// Dies that collect at a time while none has to; absent: no limit.
    gc_dies_max [ftl.gc.dies_max] count(1, U32), absent();
    /// Time between the starts of two busy windows: outside them a plane collects only when it has
    /// to, and within them it need not wait for idle time; absent: there are none.
    busy_window_period_us [ftl.gc.busy_window??.period] us(), absent(),
        from("Li et al., SOSP 2021 (IODA), busy time windows; NVMe 1.4, predictable latency mode");
    /// Length of a busy window.
    busy_window_us [ftl.gc.busy_window?.length] us(), or("100000"),
        when(&[given("ftl.busy_window_period_us")]),
        from("Li et al., SOSP 2021 (IODA): 100 ms");
    /// Start of the first busy window.
    busy_window_start_us [ftl.gc.busy_window?.start] us(), or("0"),
        when(&[given("ftl.busy_window_period_us")]);
    /// Whether planes of a die collect side by side, with commands that take several where they
    /// fit.
    gc_parallel_planes [ftl.gc.parallel_planes] flag(), or("false"),
        from("Shahidi et al., SC 2016: parallel garbage collection");
    /// Whether planes that collect side by side choose victims as a set, so that their open blocks
    /// for moved pages end at the same page.
    gc_victims_in_step [ftl.gc.victims_in_step] flag(), or("false"),
        when(&[is("ftl.gc_parallel_planes", &["true"])]);
    /// Which of the open blocks of a plane takes a page of the host.
    stream [ftl.streams.policy] registered(|all| all.streams.into()), or("'single'");
    /// A page is hot if it is rewritten within this many writes, a share of the logical pages.
    hot_window_share [ftl.streams.hot_window_share] above(0.0, 1000.0), or("0.5"),
        when(&[is("ftl.stream", &["hot-cold"])]);
    /// Placement handles, each with an open block of its own in every plane. With gc_stream =
    /// "shared" moved pages keep theirs (persistently isolated); with "separate" those of all are
    /// mixed (initially isolated).
    placement_handles [ftl.streams.handles] count(1, 16), or("2"),
        when(&[is("ftl.stream", &["placement"])]),
        from("NVMe TP4146, Flexible Data Placement: reclaim unit handles and their types");
    /// Where garbage collection writes the pages that it moves.
    gc_stream [ftl.streams.gc_separate] one_of {
        "shared" = false, "Moved pages go into the open block of their stream.";
        "separate" = true, "Moved pages have an open block of their own in each plane; under even \
            writes, or with victims at random, that is only dearer.";
    }, or("'shared'");
    /// Which free block is written next.
    free_block [ftl.wear.least_worn_first] one_of {
        "oldest" = false, "The one that was erased longest ago.";
        "least-worn" = true, "The one with the fewest erases.";
    }, or("'oldest'");
    /// Erases by which a block may be ahead of the least worn before that is moved; absent: never.
    /// Costs a block of each plane and moves without gain, for nothing where writes are even.
    static_wear_spread [ftl.wear.static_spread] count(2, U32), absent();
    /// Whether the summary has the erases of a block: mean, extremes and deviation.
    count_erases [ftl.wear.count_erases] flag(), or("false");
    /// Time in which the drive reads all its data once, page by page, to see how well it reads;
    /// absent: it does not.
    scan_period_s [ftl.scan??.period] s(), absent();
    /// Retries of such a read, or of one of the host, from which on the block of the page is moved
    /// in idle time; absent: none is.
    refresh_retries [ftl.scan?.refresh_retries] count(1, 200), absent(),
        when(&[given("ftl.scan_period_s"), is("ecc.code", &["ldpc"])]);
    /// Probability with which a block is bad from the start.
    factory_bad_share [ftl.faults.factory_bad_share] below(0.0, 1.0), or("0");
    /// Where the mapping of logical to physical pages is kept.
    mapping [ftl.demand] variant_of {
        "flat" = None => None, "All of it is in memory.";
        "demand" = Some(_) => Some(Default::default()),
            "In flash, with a cache of entries in memory.";
    }, or("'flat'"), from("Gupta, Kim and Urgaonkar, ASPLOS 2009: DFTL");
    /// Memory for cached entries of the mapping, 8 bytes each.
    map_cache_bytes [ftl.demand?.cache_bytes] multiple(8, 64, 1 << 35), or("1048576"),
        when(&[is("ftl.mapping", &["demand"])]);
    /// Which entry leaves a full cache.
    map_cache_policy [ftl.demand?.segmented] one_of {
        "segmented" = true, "Least recently used, half of it kept for entries used twice.";
        "lru" = false, "Least recently used.";
    }, or("'segmented'"), when(&[is("ftl.mapping", &["demand"])]),
        from("Gupta, Kim and Urgaonkar, ASPLOS 2009: segmented LRU");
    /// How long written data waits for what else its program takes, the rest of its page or
    /// wordline, before that is padded.
    wordline_timeout_us [ftl.wordline_timeout] us(), or("1000");
    /// Whether a complete program of a page or wordline waits for one of each other plane of its
    /// die, as long at most.
    wait_for_planes [ftl.wait_for_planes] flag(), or("false"),
        when(&[is("parallelism.multi_plane", &["page", "block"])]);
    /// Whether blocks of one number on all planes of a die are filled, collected and erased as one.
    twin_blocks [ftl.twin_blocks] flag(), or("false"),
        from("Tavakkol, Mehrvarzy and Sarbazi-Azad, IEEE CAL 2016: TBM, as reported by others");
    /// Whether collection moves pages within their plane without the channel.
    copyback [ftl.copyback] flag(), or("false");
    /// State of the drive before the first request.
    precondition [ftl.precondition] choice(Precondition::WORDS), or("'none'"), environment();
}

section! {
    /// Failures of the part.
    NAND "nand"

    /// Probability that a program fails, which retires its block.
    program_failure [ftl.faults.program_failure] below(0.0, 1.0), or("0");
    /// Probability that an erase fails, which retires the block.
    erase_failure [ftl.faults.erase_failure] below(0.0, 1.0), or("0");
}

section! {
    /// The load in whose equilibrium a steady drive starts. A table
    /// `[precondition.load]` gives one by hand, with the keys of `[workload]`.
    PRECONDITION "precondition"

    /// The equilibrium to start in, where no table gives one.
    load [equilibrium] one_of {
        "scenario" = EquilibriumLoad::Scenario,
            "That of the run: a generator's, a trace's as its rows show it, or that of \
            fio's first jobs that write; random writes where the run has none that writes.";
        "random-writes" = EquilibriumLoad::RandomWrites,
            "Random writes of the mapping unit over the whole drive, until it has \
            nothing left to collect: how a drive without a load of its own is found.";
    }, or("'scenario'"), when(&[is("ftl.precondition", &["steady"])]);
}

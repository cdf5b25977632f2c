//! Drives saved at random instants, under every policy and feature, go on as if they had not been.

use reprieve_base::{Op, Stream, Time};
use reprieve_embed::{Ask, Completion, Details, Drive, Queue, Route};
use reprieve_ssd::registries;

/// A busy little drive.
const DRIVE: &str = "device = \"fast12-slc\"\n[geometry]\nchannels = 2\ndies_per_channel = 2\n\
    planes_per_die = 2\nblocks_per_plane = 24\npages_per_block = 8\n[ftl]\n\
    over_provisioning = 0.45\nprecondition = \"steady\"\n[workload]\nunwritten = \"zero\"\n";

/// Features that have state of their own; each runs under several suspension policies.
const FEATURES: &[&[&str]] = &[
    &[],
    &["buffer.acknowledge=back", "ftl.gc_background=true"],
    &["buffer.acknowledge=back", "buffer.replacement=lru", "buffer.flush_idle_us=500"],
    &["host.interface=nvme", "host.queues=3", "host.t_command_us=1", "host.pcie_generation=3"],
    &["host.interface=nvme", "host.pcie_generation=3", "host.commands_cross_link=true"],
    &["host.interface=sata", "host.link_bytes_per_s=300000000"],
    &["read_cache.bytes=32768"],
    &["ftl.mapping=demand", "ftl.map_cache_bytes=256"],
    &["ftl.mapping_bytes=512", "ftl.partial_write=track_sectors"],
    &["ftl.partial_write=track_sectors", "suspension.max_per_operation=1"],
    &["ftl.count_erases=true", "ftl.static_wear_spread=3"],
    &["ftl.factory_bad_share=0.02", "nand.erase_failure=0.002", "nand.program_failure=0.001"],
    &["ftl.copyback=true"],
    &["ftl.gc_parallel_planes=true", "parallelism.multi_plane=page"],
    &["ftl.twin_blocks=true", "parallelism.multi_plane=block"],
    &["parallelism.multi_plane=page", "parallelism.independent_plane_reads=true"],
    &[
        "parallelism.multi_plane=page",
        "parallelism.independent_plane_reads=true",
        "suspension.multi_plane=plane",
    ],
    &[
        "power.account=on",
        "thermal.model=rc",
        "thermal.c_per_w=500",
        "thermal.time_constant_s=0.002",
        "thermal.start_c=40",
        "thermal.light_c=41",
        "thermal.heavy_c=42",
        "thermal.poll_us=50",
        "thermal.light_budget_mw=900",
        "thermal.heavy_budget_mw=450",
    ],
    &["ftl.busy_window_period_us=9000", "ftl.busy_window_us=3000"],
    &[
        "ftl.scan_period_s=0.02",
        "ftl.refresh_retries=1",
        "reliability.model=power",
        "reliability.epsilon=0.001",
        "ecc.code=ldpc",
        "ecc.correctable_bits=10",
    ],
    &[
        "timing.wordline_pages=2",
        "timing.coarse_iterations=2",
        "ftl.over_provisioning=0.65",
        "ftl.precondition=sequential",
    ],
    &["parallelism.cache_program=true"],
    &["timing.wordline_pages=2", "ftl.over_provisioning=0.65", "buffer.acknowledge=back"],
    &[
        "slc_cache.mode=static",
        "slc_cache.blocks_per_plane=2",
        "slc_cache.fold=pressure",
        "ftl.precondition=sequential",
        "slc_cache.t_slc_read_us=5",
        "slc_cache.slc_program_iterations=2",
        "timing.wordline_pages=2",
        "ftl.over_provisioning=0.7",
    ],
    &[
        "slc_cache.mode=dynamic",
        "ftl.precondition=sequential",
        "slc_cache.t_slc_read_us=5",
        "slc_cache.slc_program_iterations=2",
        "timing.wordline_pages=2",
        "ftl.over_provisioning=0.65",
        "reliability.model=power",
        "reliability.epsilon=0.001",
        "ecc.code=ldpc",
        "ecc.first_sense=block",
        "ecc.correctable_bits=10",
    ],
    &["timing.read_law=exponential", "timing.program_iterations_weights=[[4, 1], [9, 1]]"],
    &[
        "suspension.program=sliced",
        "suspension.slice_iterations=1",
        "suspension.t_slice_overhead_us=5",
    ],
    &["suspension.host_write_suspends=[\"erase\"]"],
    &[
        "suspension.budget.suspensions_per_s=2000",
        "suspension.policy=batch",
        "suspension.batch.oldest_us=200",
    ],
    &["power.account=on"],
    &["power.account=on", "power.max_active_dies=2"],
    &[
        "reliability.model=power",
        "reliability.epsilon=0.001",
        "reliability.delta=0.0001",
        "reliability.cycles_at_start=1000",
        "ecc.code=ldpc",
        "ecc.retries_max=3",
        "ecc.correctable_bits=30",
    ],
    &["scheduling.write_queue_limit=6"],
    &[
        "scheduling.dispatch=mbm",
        "scheduling.mbm_read_areas=spread",
        "scheduling.mbm_read_threshold_pages=2",
        "scheduling.mbm_read_area_bytes=16384",
        "scheduling.mbm_redistribution=either",
        "scheduling.mbm_redistribution_when=any-time",
        "scheduling.mbm_writes_per_redistributed_page=4",
        "scheduling.mbm_redistributed_pages=8",
    ],
];

/// Keys that go with those of a registry, or with one of its policies.
const NEEDED: &[(&str, &[&str])] = &[
    ("host.arbitration", &["host.interface=nvme", "host.queues=4"]),
    ("host.arbitration=weighted", &["host.queue_weights=[1, 2, 3, 4]"]),
    (
        "host.arbitration=weighted-classes",
        &[
            "host.queue_priorities=['urgent', 'high', 'medium', 'low']",
            "host.class_weights=[4, 2, 1]",
        ],
    ),
    (
        "host.arbitration=strict-priority",
        &["host.queue_priorities=['urgent', 'high', 'medium', 'low']"],
    ),
    ("ftl.stream=placement", &["ftl.precondition=sequential"]),
    ("suspension.policy=batch", &["suspension.batch.reads=2"]),
    ("suspension.policy=deadline", &["suspension.deadline.read_slo_us=500"]),
];

/// Trace of a drive: its instants, and the completions that were taken, with their details.
type Seen = Vec<(Time, Option<Completion>, Option<Details>)>;

/// The instant of a drive, its oldest completion, which is taken, and the details of that.
fn taken(drive: &mut Drive) -> (Time, Option<Completion>, Option<Details>) {
    let details = drive.details().copied();
    (drive.now(), drive.poll(), details)
}

/// Submits, advances and takes at random.
fn use_for(drive: &mut Drive, draws: &mut Stream, rounds: u64) -> Seen {
    let sectors = drive.capacity_bytes() / 512;
    let mut seen = Vec::new();
    for _ in 0..rounds {
        for _ in 0..draws.below(4) {
            let ops = [Op::Flush, Op::Trim, Op::Read, Op::Read, Op::Read, Op::Write, Op::Write];
            let op = ops[draws.below(7) as usize];
            let (length, fua) = (1 + draws.below(16), op == Op::Write && draws.below(5) == 0);
            let lba = draws.below(sectors - length);
            let (lba, bytes) = if op == Op::Flush { (0, 0) } else { (lba, length as u32 * 512) };
            let later_ns = [0, 0, 1, 900, 200_000][draws.below(5) as usize];
            let at = Time::from_ns(drive.now().ns() + later_ns);
            let ask = Ask { tag: draws.below(9), op, lba, bytes, fua };
            let queue = [Queue::Any, Queue::Number(1), Queue::Class(2)][draws.below(3) as usize];
            let handle = Some(1).filter(|_| draws.below(2) == 0);
            if drive.submit_by(at, ask, Route { queue, handle }).is_err() {
                drive.submit(at, ask).expect("a request");
            }
        }
        if draws.below(40) == 0 {
            let later_ns = draws.below(2) * 300_000;
            drive.measure_from(Time::from_ns(drive.now().ns() + later_ns)).expect("not before");
        }
        for _ in 0..draws.below(12) {
            if drive.next() == Time::NEVER {
                break;
            }
            drive.advance(drive.next()).expect("it is the next instant");
            seen.push((drive.now(), None, None));
        }
        for _ in 0..draws.below(6) {
            seen.push(taken(drive));
        }
    }
    seen
}

/// Lets a drive come to its end; what is seen of it, and its summary.
fn ended(drive: &mut Drive) -> (Seen, String) {
    let mut seen = Vec::new();
    while drive.open_requests() > 0 {
        drive.advance(drive.next()).expect("it is the next instant");
        seen.push(taken(drive));
    }
    (seen, drive.summary())
}

/// Saves a drive at random instants: what is restored saves the same bytes and has the same future.
fn save_often(sets: &[String], seed: u64, instants: u64) {
    let mut drive = Drive::open(DRIVE, "test.toml", sets).expect("a drive");
    if seed % 2 == 0 {
        drive.keep_details().expect("it has had no request");
    }
    let mut draws = Stream::new(seed, "test.saved", 0);
    for instant in 0..instants {
        let what = format!("{sets:?}, instant {instant} of seed {seed}");
        use_for(&mut drive, &mut draws, 3);
        let saved = drive.save();
        let mut again = Drive::restore(&saved).expect("it was saved just now");
        assert!(again.save() == saved, "what is restored is saved otherwise: {what}");
        if instant % 8 > 0 {
            drive = again;
            continue;
        }
        let mut clone = drive.try_clone().expect("it is small");
        let [one, other] = [&mut again, &mut clone]
            .map(|drive| (use_for(drive, &mut draws.clone(), 6), drive.save(), ended(drive)));
        assert!(one == other, "a restored drive and a clone part: {what}");
        assert!(use_for(&mut drive, &mut draws, 6) == one.0, "another future: {what}");
        assert!(drive.save() == one.1, "another state: {what}");
    }
}

/// Every policy of every registry.
fn policies() -> Vec<Vec<String>> {
    let all = registries();
    let mut found = Vec::new();
    for (key, entries) in [
        ("scheduling.policy", all.schedulers),
        ("scheduling.dispatch", all.dispatchers),
        ("suspension.policy", all.suspend_policies),
        ("ftl.placement", all.placements),
        ("host.arbitration", all.arbitrations),
        ("ftl.gc_victim", all.gc_victims),
        ("ftl.stream", all.streams),
    ] {
        for entry in entries {
            let set = format!("{key}={}", entry.name);
            let needed = NEEDED.iter().filter(|(name, _)| [key, &set].contains(name));
            let mut sets = vec![set.clone()];
            sets.extend(needed.flat_map(|(_, sets)| sets.iter().map(|set| set.to_string())));
            found.push(sets);
        }
    }
    found
}

#[test]
fn a_drive_that_is_saved_at_any_instant_goes_on() {
    let times: f64 = std::env::var("REPRIEVE_CASES").map_or(1.0, |n| n.parse().expect("a number"));
    let features = FEATURES.iter().map(|sets| sets.iter().map(|set| set.to_string()).collect());
    let cases: Vec<Vec<String>> = features.chain(policies()).collect();
    for (case, sets) in (0..).zip(&cases) {
        let scheduled = sets.iter().any(|set| set.starts_with("scheduling.policy"));
        for (place, program) in ["ipc", "ips", "none"].into_iter().enumerate() {
            let mut all = vec![format!("seed={case}"), format!("suspension.erase={}", place < 2)];
            if !scheduled {
                all.push("scheduling.policy=rps".to_owned());
            }
            if !sets.iter().any(|set| set.starts_with("suspension.program")) {
                all.push(format!("suspension.program={program}"));
            }
            all.extend_from_slice(sets);
            save_often(&all, case * 3 + place as u64, (60.0 * times) as u64);
        }
    }
}

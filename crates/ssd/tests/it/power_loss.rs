//! Power that fails after every event: nothing that was promised is lost, and the drive goes on.

use std::collections::BTreeMap;

use reprieve_base::{Dur, Time};
use reprieve_ssd::power_loss::Stamp;
use reprieve_ssd::scenario::LossPolicy;
use reprieve_ssd::{Cut, Options, Recovered, Ssd};
use serde_json::Value;

use super::cases::times;
use super::drive;

/// A busy little drive with everything that a loss of power can meet.
const DRIVE: &str = "seed = 7\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 14\n\
    pages_per_block = 4\n[ftl]\nover_provisioning = 0.5\nprecondition = \"steady\"\n\
    [buffer]\nacknowledge = \"back\"\nbytes = 65536\n\
    [power_loss]\nmode = \"on\"\np_controller_mw = 1000\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 70\nread_fraction = 0.3\n\
    trim_fraction = 0.08\nfua_fraction = 0.1\nflush_every_requests = 20\n\
    request_bytes = [[512, 1], [2048, 3], [6144, 1]]\nalign_bytes = 512\nqueue_depth = 8\n";

/// Sets of policies, of which each has something of its own under way when the power fails.
const DRIVES: [&[&str]; 54] = [
    &[],
    &[
        "reliability.model=power",
        "timing.t_erase_loops_us=[100, 300]",
        "timing.t_erase_us_by_cycles=[[0, [[150, 1], [900, 2]]], [3, [[1900, 1]]]]",
        "policy=pes-ipc",
    ],
    &["policy=pes-ips"],
    &["policy=fifo", "ftl.gc_background=false"],
    &["ftl.gc_victim=fifo", "ftl.placement=dynamic"],
    &["ftl.precondition=none", "ftl.gc_start_free_share=0.6"],
    &["ftl.precondition=sequential", "ftl.copyback=true"],
    &["buffer.acknowledge=through"],
    &["buffer.replacement=lru", "buffer.flush_idle_us=500"],
    &["suspension.host_write_suspends=[\"erase\"]", "suspension.max_per_operation=2"],
    &["parallelism.multi_plane=page", "ftl.placement=aligned", "ftl.gc_parallel_planes=true"],
    &[
        "parallelism.multi_plane=page",
        "ftl.gc_parallel_planes=true",
        "ftl.gc_stream=separate",
        "ftl.gc_victims_in_step=true",
    ],
    &["device=fast12-mlc", "suspension.program=iteration", "suspension.erase_mode=deferred"],
    &["host.interface=nvme", "host.queues=2", "host.queue_entries=4", "host.t_command_us=2"],
    &["ftl.twin_blocks=true", "parallelism.multi_plane=page"],
    &["ftl.twin_blocks=true", "parallelism.multi_plane=block", "policy=fifo"],
    &["ftl.twin_blocks=true", "parallelism.multi_plane=page", "geometry.planes_per_die=3"],
    &[
        "ftl.twin_blocks=true",
        "parallelism.multi_plane=page",
        "geometry.dies_per_channel=1",
        "geometry.planes_per_die=4",
        "policy=pes-ips",
        "ftl.precondition=sequential",
    ],
    &["timing.wordline_pages=2", "policy=pes-ips", "ftl.over_provisioning=0.7"],
    &["timing.wordline_pages=2", "ftl.over_provisioning=0.7", "parallelism.multi_plane=page"],
    &["parallelism.cache_program=true"],
    &["parallelism.independent_plane_reads=true", "parallelism.multi_plane=page"],
    &["ftl.stream=hot-cold", "ftl.gc_hard_free_blocks=3", "ftl.over_provisioning=0.7"],
    &["ftl.gc_stream=separate", "policy=pes-ips"],
    &["ftl.factory_bad_share=0.1", "geometry.blocks_per_plane=24"],
    &[
        "nand.program_failure=0.02",
        "geometry.blocks_per_plane=32",
        "workload.requests=200",
        "workload.read_fraction=0",
    ],
    &["nand.erase_failure=0.1", "geometry.blocks_per_plane=32", "ftl.gc_stream=separate"],
    &["reliability.model=power", "ecc.code=ldpc"],
    &["scheduling.dispatch=fcfs", "parallelism.multi_plane=page"],
    &["scheduling.dispatch=vas", "policy=pes-ips"],
    &["scheduling.dispatch=paq", "parallelism.multi_plane=page"],
    &["scheduling.dispatch=sprinkler", "parallelism.multi_plane=page"],
    &["scheduling.dispatch=mbm", "parallelism.multi_plane=page", "policy=pes-ips"],
    &["scheduling.dispatch=mbm", "ftl.placement=dynamic", "buffer.acknowledge=through"],
    &["ftl.mapping=demand", "ftl.map_cache_bytes=64", "geometry.blocks_per_plane=20"],
    &[
        "ftl.mapping=demand",
        "ftl.map_cache_bytes=256",
        "ftl.map_cache_policy=lru",
        "geometry.blocks_per_plane=20",
        "ftl.precondition=none",
        "parallelism.multi_plane=page",
    ],
    &[
        "ftl.mapping=demand",
        "ftl.map_cache_bytes=64",
        "geometry.blocks_per_plane=24",
        "ftl.stream=hot-cold",
        "ftl.gc_hard_free_blocks=4",
        "ftl.over_provisioning=0.7",
    ],
    &[
        "ftl.mapping=demand",
        "ftl.map_cache_bytes=64",
        "geometry.blocks_per_plane=40",
        "nand.program_failure=0.01",
        "workload.requests=150",
        "policy=pes-ips",
    ],
    &[
        "timing.wordline_pages=2",
        "geometry.blocks_per_plane=32",
        "ftl.factory_bad_share=0.05",
        "nand.erase_failure=0.02",
    ],
    &["ftl.partial_write=track_sectors", "ftl.precondition=none"],
    &["ftl.partial_write=track_sectors", "buffer.acknowledge=through", "policy=pes-ips"],
    &[
        "ftl.partial_write=track_sectors",
        "ftl.mapping=demand",
        "ftl.map_cache_bytes=64",
        "geometry.blocks_per_plane=20",
    ],
    &["ftl.twin_blocks=true", "parallelism.multi_plane=page", "parallelism.cache_program=true"],
    &[
        "ftl.twin_blocks=true",
        "parallelism.multi_plane=page",
        "parallelism.independent_plane_reads=true",
    ],
    &["ftl.mapping_bytes=512", "ftl.over_provisioning=0.7"],
    &["ftl.mapping_bytes=1024", "parallelism.multi_plane=page", "policy=pes-ips"],
    &["ftl.mapping_bytes=512", "buffer.acknowledge=through", "ftl.placement=dynamic"],
    &[
        "ftl.mapping_bytes=1024",
        "timing.wordline_pages=2",
        "parallelism.multi_plane=page",
        "ftl.placement=wordline",
        "ftl.gc_parallel_planes=true",
        "ftl.over_provisioning=0.75",
    ],
    &[
        "ftl.mapping_bytes=512",
        "ftl.mapping=demand",
        "ftl.map_cache_bytes=64",
        "geometry.blocks_per_plane=24",
        "ftl.over_provisioning=0.7",
    ],
    &[
        "ftl.mapping_bytes=1024",
        "parallelism.independent_plane_reads=true",
        "parallelism.multi_plane=page",
        "parallelism.cache_program=true",
        "buffer.replacement=lru",
        "buffer.flush_idle_us=500",
    ],
    &PLANES_APART,
    &[PLANES_APART[0], PLANES_APART[1], PLANES_APART[2], "policy=pes-ips"],
    &[PLANES_APART[0], PLANES_APART[1], PLANES_APART[2], "suspension.shadow_buffer=false"],
    &[
        "reliability.model=power",
        "timing.wordline_pages=2",
        "ftl.over_provisioning=0.7",
        "parallelism.independent_plane_reads=true",
        "parallelism.multi_plane=page",
        "parallelism.cache_program=true",
    ],
];

/// Planes that make way by themselves.
const PLANES_APART: [&str; 3] = [
    "parallelism.multi_plane=page",
    "parallelism.independent_plane_reads=true",
    "suspension.multi_plane=plane",
];

/// How long the drive lives on: not at all, not long enough, and for ever.
const HOLD_UPS: [&[&str]; 3] =
    [&[], &["power_loss.hold_up_us=900"], &["power_loss.hold_up_us=10000000"]];

fn start(sets: &[&str]) -> Ssd {
    let check = Some(format!("a loss of power with {sets:?}"));
    let options = Options { check, ..Options::default() };
    Ssd::with(drive::load_with(DRIVE, sets), &options).expect("a drive")
}

/// Lets the power of a drive fail after every instant, at that instant and just before the next.
/// In `make test` these are a fifth of the events.
fn at_every_event(sets: &[&str], mut each: impl FnMut(&Ssd, Time, u64)) {
    let step = if times() < 1.0 { 5 } else { 1 };
    let mut ssd = start(sets);
    let mut number = 0;
    let mut at = Time::ZERO;
    while ssd.run_until(at).expect("a generator without bad rows") {
        let next = ssd.next_instant();
        if number / 2 % step == 0 {
            each(&ssd, at, number);
            if next < Time::NEVER {
                each(&ssd, Time::from_ns(next.ns() - 1), number + 1);
            }
        }
        number += 2;
        at = next;
    }
    assert!(number > 200, "{sets:?}: {number} cuts");
}

fn policies(ssd: &Ssd) -> impl Iterator<Item = LossPolicy> {
    LossPolicy::ALL.into_iter().filter(|policy| policy.is_possible(ssd.scenario()))
}

/// The scan once more, by another way: all that can be read, in order, the last of each page.
fn assert_found(ssd: &Ssd, cut: &Cut, recovered: &Recovered) {
    let mut all: Vec<(u32, u64, u32, u32)> = Vec::new();
    let mut unreadable = 0;
    ssd.power_loss().read_all(cut, |page, stamp: Option<Stamp>| match stamp {
        None => unreadable += 1,
        Some(stamp) => {
            all.extend(stamp.lpn().map(|lpn| (lpn, stamp.version, stamp.moves, page)));
        }
    });
    all.sort_unstable();
    let last: BTreeMap<u32, (u64, u32)> =
        all.iter().map(|(lpn, version, _, page)| (*lpn, (*version, *page))).collect();
    for lpn in 0..ssd.scenario().logical_pages() {
        let found = recovered.found.version(lpn).zip(recovered.found.page(lpn));
        assert_eq!(found, last.get(&lpn).copied(), "logical page {lpn} at {}", cut.at);
    }
    assert_eq!(recovered.found.unreadable_pages, unreadable);
}

#[test]
fn nothing_that_was_promised_is_lost_whenever_the_power_fails() {
    let mut sums = Vec::new();
    for hold_up in HOLD_UPS {
        let (mut saved, mut lost) = (0, 0);
        for drive in DRIVES {
            let sets = [drive, hold_up].concat();
            at_every_event(&sets, |ssd, at, _| {
                for policy in policies(ssd) {
                    let cut = ssd.power_loss().cut(at, policy);
                    let recovered = ssd.power_loss().recover(&cut);
                    ssd.power_loss().check_cut(&cut, &recovered);
                    assert_found(ssd, &cut, &recovered);
                    saved += recovered.saved.len();
                    lost += cut.dump.len() - recovered.saved.len();
                }
            });
        }
        sums.push((saved > 0, lost > 0));
    }
    // Without protection all is lost that was only acknowledged, and with enough of it nothing.
    assert_eq!(sums, [(false, true), (true, true), (true, false)]);
}

#[test]
fn the_drive_goes_on_after_every_loss_of_power() {
    for drive in DRIVES {
        for hold_up in HOLD_UPS {
            let sets = [drive, hold_up].concat();
            let after = [&sets[..], &["workload.requests=40", "seed=9"]].concat();
            at_every_event(&sets, |ssd, at, number| {
                if number % 9 > 0 {
                    return;
                }
                let all: Vec<LossPolicy> = policies(ssd).collect();
                let cut = ssd.power_loss().cut(at, all[number as usize / 9 % all.len()]);
                let recovered = ssd.power_loss().recover(&cut);
                let check = Some(format!("a drive after {at} of {sets:?}"));
                let options = Options { check, ..Options::default() };
                let mut next = ssd
                    .after(&recovered, drive::load_with(DRIVE, &after), &options)
                    .expect("room for what was saved");
                while next.step(1000).expect("a generator without bad rows") {}
                assert!(next.progress().1 >= 40, "{after:?}");
            });
        }
    }
}

#[test]
fn a_drive_that_keeps_track_of_sectors_goes_on_with_whole_pages() {
    // Nothing beside a page says which of its sectors hold data: all of a page that is found do.
    let empty = "ftl.precondition=none";
    let after = [empty, "ftl.partial_write=track_sectors", "workload.requests=40", "seed=9"];
    let mut saved = 0;
    at_every_event(&[empty, "power_loss.hold_up_us=10000000"], |ssd, at, number| {
        if number % 9 > 0 {
            return;
        }
        let recovered = ssd.power_loss().recover(&ssd.power_loss().cut(at, LossPolicy::Wait));
        saved += recovered.saved.len();
        let options = Options { check: Some(format!("after {at}")), ..Options::default() };
        let mut next = ssd
            .after(&recovered, drive::load_with(DRIVE, &after), &options)
            .expect("room for what was saved");
        while next.step(1000).expect("a generator without bad rows") {}
    });
    assert!(saved > 0, "no page was in the buffer");
}

/// Devices as they are, but for their size, with what a loss of power has to live with.
const DEVICES: [&[&str]; 10] = [
    &["device=tlc-enterprise"],
    &[
        "device=tlc-enterprise",
        "ftl.mapping_bytes=4096",
        "workload.request_bytes=[[4096,1],[512,1]]",
    ],
    &["device=tlc-enterprise", "reliability.model=power", "ecc.code=ldpc"],
    &["device=tlc-enterprise", "ftl.gc_stream=separate", "ftl.gc_hard_free_blocks=3"],
    &["device=tlc-enterprise", "ftl.factory_bad_share=0.02", "nand.program_failure=0.0005"],
    &["device=tlc-enterprise", "ftl.twin_blocks=true", "parallelism.multi_plane=page"],
    &["device=tlc-enterprise", "part=tlc3d-zambelli", "geometry.pages_per_block=24"],
    &[
        "device=tlc-enterprise",
        "part=tlc3d-zambelli",
        "reliability.model=power",
        "geometry.pages_per_block=24",
        "parallelism.cache_program=true",
    ],
    &["device=tlc-enterprise", "ftl.mapping=demand", "ftl.map_cache_bytes=4096"],
    &["device=qlc-enterprise", "nand.erase_failure=0.001", "ftl.over_provisioning=0.2"],
];

const SMALL: &str = "seed = 7\ndevice = \"tlc-enterprise\"\npolicy = \"pes-ips\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nblocks_per_plane = 40\n\
    pages_per_block = 16\n[ftl]\nprecondition = \"steady\"\nmapping_bytes = 16384\n\
    [buffer]\nacknowledge = \"back\"\nbytes = 2097152\n\
    [power_loss]\nmode = \"on\"\np_controller_mw = 1000\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 2000\nread_fraction = 0.3\n\
    trim_fraction = 0.05\nfua_fraction = 0.05\nflush_every_requests = 50\n\
    request_bytes = 16384\nqueue_depth = 16\n";

/// Cuts a device; each is looked at under every policy.
const CUTS: u64 = 1000;

#[test]
#[ignore = "minutes: make long"]
fn a_thousand_random_cuts_of_each_device_lose_nothing_that_was_promised() {
    for sets in DEVICES {
        // None, enough for some of the pages, and enough for all.
        let hold_ups =
            [&[][..], &["power_loss.hold_up_us=6000"], &["power_loss.hold_up_us=10000000"]];
        for hold_up in hold_ups {
            let sets = [sets, hold_up].concat();
            let options =
                || Options { check: Some(format!("cuts of {sets:?}")), ..Options::default() };
            let drive = || Ssd::with(drive::load_with(SMALL, &sets), &options()).expect("a drive");
            let mut whole = drive();
            while whole.step(1000).expect("a generator without bad rows") {}
            let length_ns = whole.now().ns();
            let mut stream = reprieve_base::Stream::new(2026, "test.cuts", 0);
            let mut instants: Vec<u64> = (0..CUTS).map(|_| stream.below(length_ns)).collect();
            instants.sort_unstable();
            let mut ssd = drive();
            let (mut saved, mut lost) = (0, 0);
            for at in instants.into_iter().map(Time::from_ns) {
                if !ssd.run_until(at).expect("a generator without bad rows") {
                    break;
                }
                for policy in policies(&ssd) {
                    let cut = ssd.power_loss().cut(at, policy);
                    let recovered = ssd.power_loss().recover(&cut);
                    ssd.power_loss().check_cut(&cut, &recovered);
                    saved += recovered.saved.len();
                    lost += cut.dump.len() - recovered.saved.len();
                }
            }
            println!(
                "{sets:?}: {CUTS} cuts, {saved} pages saved, {lost} lost that were not promised"
            );
        }
    }
}

/// One die on its own channel: a page crosses it in 20 us and is programmed in 5 times 28 us.
const ONE_DIE: &str = "device = \"fast12-slc\"\npolicy = \"pes-ips\"\n[geometry]\nchannels = 1\n\
    dies_per_channel = 1\nplanes_per_die = 1\nblocks_per_plane = 14\npages_per_block = 8\n\
    [ftl]\nover_provisioning = 0.5\n[buffer]\nacknowledge = \"back\"\nbytes = 65536\n\
    [power_loss]\nmode = \"on\"\np_controller_mw = 1000\nhold_up_us = 100000\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 200\nread_fraction = 0\n\
    request_bytes = 2048\nqueue_depth = 1\n";

/// What each policy comes to at an instant: name, and the number at a key.
fn told(ssd: &Ssd, at: Time, key: &str) -> Vec<(String, u64)> {
    let Value::Array(rows) = ssd.power_loss().tell_cuts(at) else { panic!("a list of policies") };
    let number = |row: &Value| row[key].as_u64().unwrap_or_else(|| panic!("{key} is no count"));
    let name = |row: &Value| row["policy"].as_str().expect("a name").to_string();
    rows.iter().map(|row| (name(row), number(row))).collect()
}

fn expected(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
    rows.iter().map(|(name, ns)| ((*name).to_string(), *ns)).collect()
}

#[test]
fn a_page_of_the_mapping_is_written_anew_if_an_entry_of_it_had_changed() {
    // One page of 512 entries is the whole mapping. A write changes an entry in memory, which the
    // loss of power takes; a read does not. The recovery knows the mapping from what is beside the
    // pages, so the drive programs the page of the mapping, once.
    let of = |sets: &[&str]| {
        let always = [
            "geometry.blocks_per_plane=32",
            "ftl.mapping=demand",
            "ftl.precondition=sequential",
            "buffer.acknowledge=through",
            "policy=fifo",
        ];
        drive::load_with(ONE_DIE, &[&always[..], sets].concat())
    };
    for (read_fraction, stale) in [("workload.read_fraction=0", 1), ("workload.read_fraction=1", 0)]
    {
        let mut ssd =
            Ssd::new(of(&[read_fraction, "workload.requests=1"]), false).expect("a drive");
        let at = Time::from_ns(3_000_000);
        assert!(!ssd.run_until(at).expect("a generator without bad rows"), "it is still at work");
        let recovered = ssd.power_loss().recover(&ssd.power_loss().cut(at, LossPolicy::Wait));
        // Reads for as long as the page of the mapping takes.
        let reads = of(&["workload.read_fraction=1", "workload.requests=20"]);
        let mut next = ssd.after(&recovered, reads, &Options::default()).expect("room for it");
        while next.step(1).expect("a generator without bad rows") {}
        let programs = next.summary()["flash"]["mapping"]["programs"].as_u64();
        assert_eq!(programs, Some(stale), "{read_fraction}");
    }
}

#[test]
fn a_program_in_the_way_is_waited_for_suspended_or_reset() {
    // The page has crossed the host link at 1.024 us; to the die that is the instant 61.
    let at = Time::from_ns(62_024);
    let cut = |sets: &[&str], key| {
        let always = ["workload.requests=1", "ftl.precondition=none"];
        let scenario = drive::load_with(ONE_DIE, &[&always[..], sets].concat());
        let mut ssd = Ssd::new(scenario, false).expect("a drive");
        // The one request is complete long since, as its page is in the buffer.
        assert!(!ssd.run_until(at).expect("a generator without bad rows"));
        told(&ssd, at, key)
    };
    // The program ends at 160 us. By IPS it is suspended at the end of its second pulse, at 68, by
    // IPC at 65, and a reset takes 10: then the page crosses once more and is programmed.
    let times = |sets: &[&str]| cut(sets, "time_to_safety_ns");
    let ips = [
        ("wait", 99_000),
        ("suspend_erase", 99_000),
        ("suspend", 7_000 + 160_000),
        ("reset", 10_000 + 160_000),
    ];
    assert_eq!(times(&[]), expected(&ips));
    let mut ipc = ips;
    ipc[2].1 = 4_000 + 160_000;
    assert_eq!(times(&["suspension.program=ipc"]), expected(&ipc));
    // In SLC mode, of 50 us here, to suspend is worth it.
    let mut slc = ips;
    (slc[2].1, slc[3].1) = (7_000 + 70_000, 10_000 + 70_000);
    assert_eq!(times(&["power_loss.t_program_us=50"]), expected(&slc));
    let programmed = [("wait", 1), ("suspend_erase", 1), ("suspend", 0), ("reset", 0)];
    assert_eq!(cut(&[], "programmed_pages"), expected(&programmed));
    let stopped = [("wait", 0), ("suspend_erase", 0), ("suspend", 1), ("reset", 1)];
    assert_eq!(cut(&[], "stopped_programs"), expected(&stopped));
}

/// What each policy comes to at 62.024 us of two writes of a page, of which the second comes as the
/// first is acknowledged: their pages have crossed the host link at 1.024 and 2.048 us.
fn two_pages(sets: &[&str], key: &str) -> Vec<(String, u64)> {
    let at = Time::from_ns(62_024);
    let always = ["workload.requests=2", "ftl.precondition=none"];
    let scenario = drive::load_with(ONE_DIE, &[&always[..], sets].concat());
    let mut ssd = Ssd::new(scenario, false).expect("a drive");
    ssd.run_until(at).expect("a generator without bad rows");
    told(&ssd, at, key)
}

#[test]
fn a_page_that_was_loaded_is_programmed_where_the_die_is_waited_for() {
    // A third request waits for both.
    let sets = [
        "parallelism.cache_program=true",
        "workload.requests=3",
        "workload.flush_every_requests=3",
    ];
    // The first is programmed from 21.024 to 161.024 us; the second, loaded by 41.024, follows by
    // itself until 301.024. Else both are saved, one after the other: two times 160 after the
    // suspension, at the end of the second pulse, or the reset.
    let rows = [
        ("wait", 239_000),
        ("suspend_erase", 239_000),
        ("suspend", 7_000 + 320_000),
        ("reset", 10_000 + 320_000),
    ];
    assert_eq!(two_pages(&sets, "time_to_safety_ns"), expected(&rows));
    let programmed = [("wait", 2), ("suspend_erase", 2), ("suspend", 0), ("reset", 0)];
    assert_eq!(two_pages(&sets, "programmed_pages"), expected(&programmed));
}

#[test]
fn planes_that_work_apart_are_each_waited_for_suspended_or_reset() {
    // Two pages are programmed on two planes, from 40 on, to 180. The read of another page of
    // plane 1 comes at 50 and makes that plane stop at 60; it is sensed to 70, and the plane goes
    // on at 90, after the page has left: restored to 93, verify to 101, to the end at 213.
    let (drive, _) = ONE_DIE.split_once("[workload]").expect("it has a load");
    let text = format!("{drive}[host]\nlink_bytes_per_s = \"none\"\n")
        .replace("planes_per_die = 1", "planes_per_die = 2");
    let requests = [(0, 'W', 0, 4), (0, 'W', 4, 4), (50_000, 'R', 132, 4)];
    let told_at = |at_us: u64, key: &str| {
        let mut ssd = drive::replaying(&text, &PLANES_APART, &requests);
        let at = Time::from_ns(at_us * 1000);
        ssd.run_until(at).expect("rows without mistakes");
        told(&ssd, at, key)
    };
    // At 75 plane 0 is in its second pulse, which ends at 88, and plane 1 is suspended: of two
    // pages one ends at 180 if it is waited for. What is not programmed is saved, 160 a page, once
    // the die is free.
    let rows = [
        ("wait", 105_000 + 160_000),
        ("suspend_erase", 105_000 + 160_000),
        ("suspend", 13_000 + 320_000),
        ("reset", 10_000 + 320_000),
    ];
    assert_eq!(told_at(75, "time_to_safety_ns"), expected(&rows));
    let programmed = [("wait", 1), ("suspend_erase", 1), ("suspend", 0), ("reset", 0)];
    assert_eq!(told_at(75, "programmed_pages"), expected(&programmed));
    // At 110 both run: plane 0 is in the pulse to 116, plane 1 in that to 121. They end at 180 and
    // 213, or are suspended by 121.
    let rows = [
        ("wait", 103_000),
        ("suspend_erase", 103_000),
        ("suspend", 11_000 + 320_000),
        ("reset", 10_000 + 320_000),
    ];
    assert_eq!(told_at(110, "time_to_safety_ns"), expected(&rows));
    let programmed = [("wait", 2), ("suspend_erase", 2), ("suspend", 0), ("reset", 0)];
    assert_eq!(told_at(110, "programmed_pages"), expected(&programmed));
}

#[test]
fn a_wordline_is_saved_by_one_program() {
    let sets = ["timing.wordline_pages=2"];
    // Two pages cross in 40 us from 2.048 on, and their wordline is programmed until 182.048. The
    // first pulse ends at 62.048. Saved, they take one program again, or two of a page each.
    let rows = [
        ("wait", 120_024),
        ("suspend_erase", 120_024),
        ("suspend", 24 + 180_000),
        ("reset", 10_000 + 180_000),
    ];
    assert_eq!(two_pages(&sets, "time_to_safety_ns"), expected(&rows));
    let programmed = [("wait", 2), ("suspend_erase", 2), ("suspend", 0), ("reset", 0)];
    assert_eq!(two_pages(&sets, "programmed_pages"), expected(&programmed));
    let apart = [&sets[..], &["power_loss.t_program_us=50"]].concat();
    assert_eq!(two_pages(&apart, "time_to_safety_ns")[3].1, 10_000 + 2 * 70_000);
}

#[test]
fn an_erase_in_the_way_is_waited_for_suspended_or_reset() {
    let sets = ["ftl.precondition=steady", "workload.queue_depth=8"];
    let mut ssd = Ssd::new(drive::load_with(ONE_DIE, &sets), false).expect("a drive");
    let mut at = Time::ZERO;
    let (mut seen, mut ran) = (0, false);
    while ssd.run_until(at).expect("a generator without bad rows") {
        // Nothing is read, so that an erase runs from its beginning to its end.
        let runs = told(&ssd, at, "stopped_erases")[2].1 == 1;
        let begins = !std::mem::replace(&mut ran, runs) && runs;
        let cut = at + Dur::from_us(100);
        if begins && ssd.next_instant() > cut {
            let pages = told(&ssd, cut, "saved_pages")[0].1;
            // 1508 us less 100, or the voltage reset, or the reset of the die; then 160 a page.
            let rows = [
                ("wait", 1_408_000 + pages * 160_000),
                ("suspend_erase", 4_000 + pages * 160_000),
                ("suspend", 4_000 + pages * 160_000),
                ("reset", 500_000 + pages * 160_000),
            ];
            assert!(pages > 0);
            assert_eq!(told(&ssd, cut, "time_to_safety_ns"), expected(&rows), "at {cut}");
            seen += 1;
        }
        at = ssd.next_instant();
    }
    assert!(seen > 5, "{seen} erases");
}

//! Once it has grown to its load a drive allocates nothing; alone here, for its counting allocator.

use reprieve_ssd::scenario::{self, Sources};
use reprieve_ssd::{Ssd, registries};

/// The MLC drive of FAST 2012 with blocks enough for a quick run: 16 dies, full, and collecting.
const DRIVE: &str = "device = \"fast12-mlc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nblocks_per_plane = 64\n[ftl]\nprecondition = \"steady\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 1000000\nread_fraction = 0.7\n";

/// Requests after which everything has its size.
const WARM_UP: u64 = 100_000;
const MEASURED: u64 = 200_000;

/// Erases, programs of garbage collection, suspensions of programs.
fn activity(ssd: &Ssd) -> [u64; 3] {
    let summary = ssd.summary();
    ["/flash/erases", "/flash/gc_programs", "/flash/suspensions/program"]
        .map(|key| summary.pointer(key).and_then(|count| count.as_u64()).expect("a count"))
}

fn assert_allocates_nothing(sets: &[&str]) {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let sources = Sources { text: DRIVE, path: "drive.toml", sets: &sets };
    let scenario = scenario::load(&sources, registries()).expect("a scenario without mistakes");
    let mut ssd = Ssd::new(scenario, false).expect("a drive that fits into memory");
    // The first steps precondition the drive and complete no request.
    while ssd.progress().1 < WARM_UP {
        assert!(ssd.step(WARM_UP / 10).expect("a generator without bad rows"));
    }
    let before = activity(&ssd);
    let info = allocation_counter::measure(|| {
        assert!(ssd.step(MEASURED).expect("a generator without bad rows"));
    });
    for (before, after) in before.into_iter().zip(activity(&ssd)) {
        assert!(after >= before + 500, "too little happened: {before} before, {after} after");
    }
    assert_eq!(info.count_total, 0, "{info:?} with {sets:?}");
}

const CLOSED: &str = "workload.queue_depth=64";
/// About half of what the drive can do.
const POISSON: [&str; 2] = ["workload.arrivals=poisson", "workload.rate_iops=12000"];
const WRITE_BACK: &str = "buffer.acknowledge=back";

#[test]
fn a_closed_loop_allocates_nothing() {
    assert_allocates_nothing(&[CLOSED]);
}

#[test]
fn random_arrivals_allocate_nothing() {
    assert_allocates_nothing(&POISSON);
}

#[test]
fn decoding_allocates_nothing() {
    let errors = ["reliability.model=power", "reliability.epsilon=0.007", "ecc.code=ldpc"];
    assert_allocates_nothing(&[&[CLOSED], &errors[..]].concat());
}

#[test]
fn write_back_allocates_nothing() {
    assert_allocates_nothing(&[CLOSED, WRITE_BACK]);
    let [arrivals, rate] = POISSON;
    assert_allocates_nothing(&[arrivals, rate, WRITE_BACK]);
}

#[test]
fn partial_pages_and_trims_allocate_nothing() {
    assert_allocates_nothing(&[
        CLOSED,
        "workload.read_fraction=0.6",
        "workload.trim_fraction=0.05",
        "workload.request_bytes=[[512, 1], [4096, 2], [16384, 1]]",
        "workload.align_bytes=512",
    ]);
}

#[test]
fn queues_dirty_pages_and_a_read_cache_allocate_nothing() {
    assert_allocates_nothing(&[
        CLOSED,
        WRITE_BACK,
        "buffer.replacement=lru",
        "read_cache.bytes=1048576",
        "workload.fua_fraction=0.1",
        "workload.flush_every_requests=100",
        "host.interface=nvme",
        "host.queues=8",
        "host.outstanding=48",
    ]);
}

#[test]
fn an_allocation_would_be_noticed() {
    let info = allocation_counter::measure(|| drop(std::hint::black_box(vec![0u8; 100])));
    assert_eq!((info.count_total, info.bytes_total), (1, 100));
}

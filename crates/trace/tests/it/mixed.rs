//! The generator: exact where it is determined, within its own statistics where it draws.

use proptest::prelude::*;
use reprieve_base::{Op, Request, Time};
use reprieve_trace::{
    Addresses, Arrivals, Footprint, MixedConfig, Workload, WorkloadConfig, formats, generators,
};

const MIB: u64 = 1 << 20;

/// A plain load, which tests change.
pub(crate) fn config() -> MixedConfig {
    MixedConfig {
        requests: 100_000,
        read_fraction: 0.7,
        trim_fraction: 0.1,
        flush_every_requests: None,
        fua_fraction: 0.0,
        footprint_start_bytes: 0,
        sizes: vec![(4096, 1.0)],
        read_sizes: None,
        write_sizes: None,
        align_bytes: 4096,
        addresses: Addresses::Uniform,
        read_sequential_fraction: 0.0,
        write_sequential_fraction: 0.0,
        sequential_streams: 1,
        repeat_fraction: 0.0,
        repeat_window: 1024,
        size_run_fraction: Vec::new(),
        sequential_by_size: Vec::new(),
        repeat_by_size: Vec::new(),
        footprint: Footprint::Share(1.0),
        arrivals: Arrivals::Closed { queue_depth: 8 },
        time_scale: 1.0,
    }
}

fn generate(config: &MixedConfig, capacity: u64, seed: u64) -> Vec<Request> {
    let config = WorkloadConfig::Mixed(config.clone());
    let mut workload = Workload::open(&config, capacity, seed).expect("a good configuration");
    let mut requests = Vec::new();
    while let Some(request) = workload.next_request().expect("generators do not fail") {
        requests.push(request);
    }
    assert_eq!(workload.progress(), Some(1.0));
    assert_eq!(workload.counts().requests, requests.len() as u64);
    requests
}

/// A share of `count` requests is as expected, within five standard errors.
#[track_caller]
fn assert_share(found: usize, count: usize, expected: f64) {
    let share = found as f64 / count as f64;
    let error = (expected * (1.0 - expected) / count as f64).sqrt();
    assert!((share - expected).abs() < 5.0 * error, "{share}, expected {expected}");
}

#[test]
fn operations_have_their_shares() {
    let requests = generate(&config(), MIB, 1);
    assert_eq!(requests.len(), 100_000);
    let count = |op| requests.iter().filter(|request| request.op == op).count();
    assert_share(count(Op::Read), 100_000, 0.7);
    assert_share(count(Op::Trim), 100_000, 0.1);
    assert_share(count(Op::Write), 100_000, 0.2);
    let reads = MixedConfig { read_fraction: 1.0, trim_fraction: 0.0, ..config() };
    assert!(generate(&reads, MIB, 1).iter().all(|request| request.op == Op::Read));
    let writes = MixedConfig { read_fraction: 0.0, trim_fraction: 0.0, ..config() };
    assert!(generate(&writes, MIB, 1).iter().all(|request| request.op == Op::Write));
}

#[test]
fn a_closed_loop_has_no_arrivals() {
    let workload = Workload::open(&WorkloadConfig::Mixed(config()), MIB, 1).expect("good");
    assert_eq!((workload.queue_depth(), workload.progress()), (Some(8), Some(0.0)));
    assert!(generate(&config(), MIB, 1).iter().all(|request| request.arrival == Time::ZERO));
    let open = MixedConfig { arrivals: Arrivals::Fixed { rate_iops: 1e6 }, ..config() };
    let workload = Workload::open(&WorkloadConfig::Mixed(open.clone()), MIB, 1).expect("good");
    assert_eq!(workload.queue_depth(), None);
    let requests = generate(&open, MIB, 1);
    assert!(requests.iter().zip(0..).all(|(request, k)| request.arrival.ns() == k * 1_000));
}

#[test]
fn one_source_of_randomness_does_not_move_another() {
    let base = generate(&config(), MIB, 1);
    let sizes = vec![(4096, 1.0), (8192, 1.0)];
    let arrivals = Arrivals::Poisson { rate_iops: 1e3 };
    let addresses = Addresses::Zipf { theta: 0.9, unit_bytes: None };
    let other = generate(&MixedConfig { sizes, arrivals, addresses, ..config() }, MIB, 1);
    assert!(base.iter().zip(&other).all(|(a, b)| a.op == b.op));
    let reads = generate(&MixedConfig { read_fraction: 0.1, ..config() }, MIB, 1);
    assert!(base.iter().zip(&reads).all(|(a, b)| a.lba == b.lba));
    assert_eq!(base, generate(&config(), MIB, 1));
    assert_ne!(base, generate(&config(), MIB, 2));
}

#[test]
fn uniform_addresses_are_uniform_to_the_last_place() {
    // 16 places: chi-square with 15 degrees of freedom, 99.99 % quantile 44.3.
    let mut counts = [0f64; 16];
    for request in generate(&config(), 64 * 1024, 3) {
        assert_eq!(request.lba % 8, 0);
        counts[request.lba as usize / 8] += 1.0;
    }
    let chi2: f64 = counts.iter().map(|c| (c - 6250.0).powi(2) / 6250.0).sum();
    assert!(chi2 < 44.3, "chi-square {chi2}");
}

#[test]
fn sequential_addresses_wrap_where_the_next_does_not_fit() {
    // 9 sectors of footprint, 3 at a time aligned to 4: sectors 0 and 4, then 8 + 3 > 9 wraps.
    let config = MixedConfig {
        requests: 5,
        sizes: vec![(1536, 1.0)],
        align_bytes: 2048,
        addresses: Addresses::Sequential,
        ..config()
    };
    let lbas: Vec<u64> = generate(&config, 9 * 512, 1).iter().map(|r| r.lba).collect();
    assert_eq!(lbas, [0, 4, 0, 4, 0]);
}

#[test]
fn sizes_have_their_weights() {
    let sizes = vec![(512, 1.0), (4096, 6.0), (131_072, 3.0)];
    let config = MixedConfig { sizes, align_bytes: 512, ..config() };
    let requests = generate(&config, MIB, 1);
    for (bytes, share) in [(512, 0.1), (4096, 0.6), (131_072, 0.3)] {
        let count = requests.iter().filter(|request| request.bytes == bytes).count();
        assert_share(count, requests.len(), share);
    }
}

#[test]
fn the_hot_part_gets_its_share_and_no_more() {
    let addresses = Addresses::HotCold { hot_share: 0.2, hot_fraction: 0.9 };
    let requests = generate(&MixedConfig { addresses, ..config() }, 10 * MIB, 1);
    // 2 MiB are 4,096 sectors; the last request of the hot part begins at 4,088.
    let hot: Vec<u64> = requests.iter().map(|r| r.lba).filter(|lba| *lba < 4096).collect();
    assert_share(hot.len(), requests.len(), 0.9);
    assert_eq!((hot.iter().min(), hot.iter().max()), (Some(&0), Some(&4088)));
    let cold = requests.iter().map(|r| r.lba).filter(|lba| *lba >= 4096);
    assert_share(cold.filter(|lba| *lba < 12_288).count(), requests.len() - hot.len(), 0.5);
}

#[test]
fn the_most_popular_unit_has_the_share_of_zipfs_law() {
    let addresses = Addresses::Zipf { theta: 0.99, unit_bytes: None };
    let requests = generate(&MixedConfig { addresses, ..config() }, 4 * MIB, 1);
    let mut counts = vec![0usize; 1024];
    for request in &requests {
        counts[request.lba as usize / 8] += 1;
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let total: f64 = (1..=1024).map(|k| f64::from(k).powf(-0.99)).sum();
    assert_share(counts[0], requests.len(), 1.0 / total);
    assert_share(counts[1], requests.len(), 2f64.powf(-0.99) / total);
}

#[test]
fn a_footprint_is_kept() {
    let config = MixedConfig { footprint: Footprint::Share(0.25), ..config() };
    let highest = generate(&config, MIB, 1).iter().map(|request| request.lba).max();
    // 256 KiB are 512 sectors; 64 places of 8 sectors, the last of them at 504.
    assert_eq!(highest, Some(504));
}

#[test]
fn loads_that_do_not_fit_the_drive_are_mistakes() {
    let base = config();
    let small_part = Addresses::HotCold { hot_share: 0.001, hot_fraction: 0.5 };
    let slow = Arrivals::Poisson { rate_iops: 1e-6 };
    let cases = [
        ("request_bytes", MixedConfig { sizes: vec![(2 * MIB as u32, 1.0)], ..base.clone() }),
        ("request_bytes", MixedConfig { addresses: small_part, ..base.clone() }),
        ("rate_iops", MixedConfig { arrivals: slow, ..base.clone() }),
    ];
    for (key, config) in cases {
        let error = Workload::open(&WorkloadConfig::Mixed(config), MIB, 1);
        let error = error.expect_err(key).to_string();
        assert!(error.starts_with(&format!("workload.{key} = ")), "{error}");
    }
}

#[test]
fn registries_name_each_entry_once_and_say_what_it_is() {
    for registry in [formats(), generators()] {
        for (index, entry) in registry.iter().enumerate() {
            assert!(registry[..index].iter().all(|other| other.name != entry.name));
            assert!(entry.doc.ends_with('.') && entry.doc.len() > 20, "{entry:?}");
        }
    }
}

proptest! {
    /// Whatever the sizes, alignment and way of choosing: aligned, and within the footprint.
    #[test]
    fn every_request_fits_into_the_footprint(
        sizes in prop::collection::vec((1u32..64, 0.1f64..10.0), 1..4),
        align in 1u32..40,
        capacity_sectors in 512u64..5_000,
        footprint_share in 0.5f64..=1.0,
        kind in 0usize..4,
        seed in any::<u64>(),
    ) {
        let addresses = [
            Addresses::Uniform,
            Addresses::Sequential,
            Addresses::Zipf { theta: 1.1, unit_bytes: None },
            Addresses::HotCold { hot_share: 0.5, hot_fraction: 0.5 },
        ][kind];
        let config = MixedConfig {
            requests: 200,
            sizes: sizes.iter().map(|(sectors, weight)| (sectors * 512, *weight)).collect(),
            align_bytes: align * 512,
            addresses,
            footprint: Footprint::Share(footprint_share),
            ..config()
        };
        let footprint_sectors = (capacity_sectors as f64 * footprint_share) as u64;
        for request in generate(&config, capacity_sectors * 512, seed) {
            prop_assert_eq!(request.lba % u64::from(align), 0);
            let end = request.lba + u64::from(request.bytes) / 512;
            prop_assert!(end <= footprint_sectors, "{:?}", request);
        }
    }
}

#[test]
fn every_so_many_requests_one_is_a_flush() {
    let flushing = MixedConfig { flush_every_requests: Some(5), ..config() };
    let requests = generate(&flushing, 1 << 30, 1);
    let ops: Vec<Op> = requests.iter().take(20).map(|request| request.op).collect();
    for (number, op) in ops.iter().enumerate() {
        assert_eq!(*op == Op::Flush, (number + 1) % 5 == 0, "request {number} is {op:?}");
    }
}

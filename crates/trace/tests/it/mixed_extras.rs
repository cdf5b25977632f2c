//! The generator's bursts, runs, sizes of an operation and footprints, against closed forms.

use reprieve_base::{Dur, Op, Request};
use reprieve_trace::{
    Addresses, Arrivals, Footprint, Hyperexponential, MixedConfig, Profile, Workload,
    WorkloadConfig,
};

use crate::profile::of_load;

const MIB: u64 = 1 << 20;

fn config() -> MixedConfig {
    MixedConfig {
        requests: 400_000,
        read_fraction: 0.5,
        trim_fraction: 0.0,
        arrivals: Arrivals::Fixed { rate_iops: 1e3 },
        ..crate::mixed::config()
    }
}

/// 1,000 requests a second, a fifth of them together with the one before; of the others three
/// quarters in bursts of 0.2 ms.
const PHASES: Hyperexponential = Hyperexponential {
    rate_iops: 1e3,
    simultaneous_fraction: 0.2,
    burst_fraction: 0.75,
    burst_gap: Dur::from_us(200),
    burst_length: None,
};

fn bursts(phases: Hyperexponential) -> MixedConfig {
    MixedConfig { arrivals: Arrivals::Hyperexponential(phases), ..config() }
}

fn open(config: &MixedConfig, seed: u64) -> Workload {
    Workload::open(&WorkloadConfig::Mixed(config.clone()), 64 * MIB, seed).expect("good")
}

fn generate(config: &MixedConfig, seed: u64) -> Vec<Request> {
    let mut workload = open(config, seed);
    let next = || workload.next_request().expect("generators do not fail");
    std::iter::from_fn(next).collect()
}

fn profiled(config: &MixedConfig) -> Profile {
    of_load(&WorkloadConfig::Mixed(config.clone()), 64 * MIB, 7).expect("good")
}

#[track_caller]
fn assert_near(found: f64, expected: f64, error: f64) {
    assert!((found - expected).abs() < 5.0 * error, "{found}, expected {expected} ± {error}");
}

/// Standard error of a share of `count`.
fn share_error(share: f64, count: f64) -> f64 {
    (share * (1.0 - share) / count).sqrt()
}

#[test]
fn bursts_have_their_rate_variance_and_simultaneous_arrivals() {
    let found = profiled(&bursts(PHASES));
    // Gaps that take time have a mean of 1 / 0.8 = 1.25 ms; 0.75 of them 0.2 ms, so the others
    // (1.25 - 0.15) / 0.25 = 4.4 ms. Second moment over all, of exponentials 2 m^2 each:
    // 0.8 * 2 * (0.75 * 0.04 + 0.25 * 19.36) = 7.792 ms^2; variance 6.792, over 1^2.
    let mean = found.interarrival_ns_mean.expect("many gaps");
    assert_near(mean, 1e6, 6.792f64.sqrt() * 1e6 / 400_000f64.sqrt());
    // Fourth moments 24 m^4: 0.8 * 24 * (0.75 * 0.0016 + 0.25 * 374.8) = 1,799 ms^4 bound the
    // error of the second moment by sqrt(1799 / 400,000) = 0.067.
    assert_near(found.interarrival_scv.expect("a mean"), 6.792, 0.067);
    assert_near(found.same_time_share.expect("gaps"), 0.2, share_error(0.2, 400_000.0));
    assert_near(found.interarrival_correlation.expect("gaps"), 0.0, 1.0 / 400_000f64.sqrt());
}

#[test]
fn trains_of_bursts_are_as_long_as_said_and_change_no_share() {
    let trains = Hyperexponential {
        simultaneous_fraction: 0.0,
        burst_gap: Dur::ZERO,
        burst_length: Some(12.0),
        ..PHASES
    };
    // Short gaps have no length here: 0.75 of the gaps are 0, in runs of 12, and the long ones
    // have a mean of 4 ms. A gap is short after a long one with 0.75 / 0.25 / 12 = 0.25, so
    // phases are correlated by 1 - 1/12 - 1/4 = 2/3 from one to the next.
    let found = profiled(&bursts(trains));
    // Correlated shares have a larger error, here by sqrt((1 + 2/3) / (1 - 2/3)) = 2.24.
    let error = 2.24 * share_error(0.75, 400_000.0);
    assert_near(found.same_time_share.expect("gaps"), 0.75, error);
    // E g^2 = 0.25 * 2 * 16 = 8 ms^2, so the variance is 7; between the phases it is
    // 0.75 * 0.25 * 16 = 3; 3/7 of 2/3 is the correlation of neighbours.
    assert_near(found.interarrival_correlation.expect("gaps"), 2.0 / 7.0, 0.004);
    let requests = generate(&bursts(trains), 7);
    let zero: Vec<bool> = requests.windows(2).map(|w| w[0].arrival == w[1].arrival).collect();
    let ends = zero.windows(2).filter(|pair| pair[0] && !pair[1]).count();
    let mean = zero.iter().filter(|zero| **zero).count() as f64 / ends as f64;
    // Lengths are geometric: a standard deviation of sqrt(12 * 11) over some 25,000 runs.
    assert_near(mean, 12.0, (132f64 / 25_000.0).sqrt());
    // Without a length each gap is drawn anew: runs of 1 / (1 - 0.75) = 4.
    let anew = generate(&bursts(Hyperexponential { burst_length: None, ..trains }), 7);
    let zero: Vec<bool> = anew.windows(2).map(|w| w[0].arrival == w[1].arrival).collect();
    let ends = zero.windows(2).filter(|pair| pair[0] && !pair[1]).count();
    let mean = zero.iter().filter(|zero| **zero).count() as f64 / ends as f64;
    assert_near(mean, 4.0, (12f64 / 75_000.0).sqrt());
}

#[test]
fn a_scale_multiplies_every_arrival_by_itself() {
    for arrivals in [
        Arrivals::Poisson { rate_iops: 1e3 },
        Arrivals::Fixed { rate_iops: 3e3 },
        Arrivals::Hyperexponential(PHASES),
    ] {
        let base = MixedConfig { requests: 5_000, arrivals, ..config() };
        let scaled = generate(&MixedConfig { time_scale: 0.07, ..base.clone() }, 3);
        for (plain, scaled) in generate(&base, 3).iter().zip(&scaled) {
            let expected = (plain.arrival.ns() as f64 * 0.07).round() as u64;
            assert_eq!(scaled.arrival.ns(), expected);
            assert_eq!((plain.op, plain.lba, plain.bytes), (scaled.op, scaled.lba, scaled.bytes));
        }
    }
}

#[test]
fn reads_and_writes_have_sizes_of_their_own() {
    let config = MixedConfig {
        trim_fraction: 0.25,
        sizes: vec![(12_288, 1.0)],
        read_sizes: Some(vec![(512, 3.0), (1024, 1.0)]),
        write_sizes: Some(vec![(2048, 1.0)]),
        align_bytes: 512,
        ..config()
    };
    let requests = generate(&config, 1);
    let reads: Vec<_> = requests.iter().filter(|r| r.op == Op::Read).collect();
    let short = reads.iter().filter(|r| r.bytes == 512).count() as f64 / reads.len() as f64;
    assert_near(short, 0.75, share_error(0.75, reads.len() as f64));
    assert!(reads.iter().all(|r| r.bytes == 512 || r.bytes == 1024));
    let of = |op, bytes| requests.iter().filter(|r| r.op == op).all(|r| r.bytes == bytes);
    assert!(of(Op::Write, 2048) && of(Op::Trim, 12_288));
    let found = profiled(&config);
    let mean = found.read_size_bytes.expect("reads").mean;
    assert_near(mean, 640.0, 512.0 * share_error(0.75, reads.len() as f64));
    assert_eq!(found.write_size_bytes.expect("writes").mean, 2048.0);
}

#[test]
fn runs_go_on_where_the_last_of_their_kind_ended() {
    let config = MixedConfig {
        read_sequential_fraction: 0.75,
        write_sequential_fraction: 0.1,
        align_bytes: 512,
        ..config()
    };
    let found = profiled(&config);
    // 64 MiB have 131,065 places: chance alone adds nothing that could be seen.
    let error = |share| share_error(share, 200_000.0);
    assert_near(found.read_sequential_share.expect("reads"), 0.75, error(0.75));
    assert_near(found.write_sequential_share.expect("writes"), 0.1, error(0.1));
    // A read follows a read's end, and so the last request's with 0.5 * 0.75 + 0.5 * 0.1 halved.
    assert_near(found.sequential_share, 0.5 * 0.425, error(0.21));
    // Where only writes go on, reads and the draws of everything else are as without.
    let writes = MixedConfig { read_sequential_fraction: 0.0, ..config.clone() };
    let none = MixedConfig { write_sequential_fraction: 0.0, ..writes.clone() };
    let (writes, none) = (generate(&writes, 1), generate(&none, 1));
    assert!(writes.iter().zip(&none).all(|(a, b)| a.op == b.op && a.bytes == b.bytes));
    assert_ne!(writes, none);
}

#[test]
fn a_run_that_reaches_the_end_of_the_footprint_begins_elsewhere() {
    // 7 places of 3 sectors, aligned to 4: from 0, 4, ... 24; what goes on from 24 does not fit.
    let config = MixedConfig {
        requests: 2_000,
        read_fraction: 1.0,
        sizes: vec![(1536, 1.0)],
        align_bytes: 2048,
        read_sequential_fraction: 1.0,
        footprint: Footprint::Bytes(28 * 512),
        ..config()
    };
    let requests = generate(&config, 2);
    for pair in requests.windows(2) {
        let goes_on = pair[1].lba == pair[0].lba + 4;
        assert!(if pair[0].lba < 24 { goes_on } else { pair[1].lba <= 24 }, "{pair:?}");
    }
    assert!(requests.iter().any(|request| request.lba == 24));
}

#[test]
fn a_footprint_in_bytes_is_the_same_on_every_drive() {
    let config = MixedConfig { footprint: Footprint::Bytes(MIB), ..config() };
    let highest = |capacity| {
        let workload = WorkloadConfig::Mixed(config.clone());
        let found = of_load(&workload, capacity, 7).expect("it fits");
        (found.address_bytes_max, found.footprint_pages)
    };
    // 256 pages, each of which 400,000 uniform requests hit.
    assert_eq!((highest(MIB), highest(64 * MIB)), ((MIB, 256), (MIB, 256)));
    let workload = WorkloadConfig::Mixed(config.clone());
    let error = Workload::open(&workload, MIB - 512, 7).expect_err("too small").to_string();
    let what = "is more than the drive has; must be at most 1048064";
    assert_eq!(error, format!("workload.footprint_bytes = 1048576: {what}"));
}

#[test]
fn places_of_zipfs_law_may_be_of_any_aligned_length() {
    let addresses = Addresses::Zipf { theta: 0.5, unit_bytes: Some(2560) };
    let config = MixedConfig { addresses, align_bytes: 512, sizes: vec![(2560, 1.0)], ..config() };
    let requests = generate(&config, 1);
    assert!(requests.iter().all(|request| request.lba % 5 == 0));
    // 5 sectors and the 8 of a page have no common factor: every eighth place is at a page.
    let aligned = requests.iter().filter(|request| request.lba % 8 == 0).count();
    assert!((0.11..0.14).contains(&(aligned as f64 / 400_000.0)), "{aligned}");
}

#[test]
fn what_is_off_moves_no_draw() {
    let base = MixedConfig { arrivals: Arrivals::Poisson { rate_iops: 1e3 }, ..config() };
    let same = MixedConfig {
        read_sizes: Some(base.sizes.clone()),
        write_sizes: Some(base.sizes.clone()),
        footprint: Footprint::Bytes(64 * MIB),
        ..base.clone()
    };
    assert_eq!(generate(&base, 9), generate(&same, 9));
    let runs = MixedConfig { read_sequential_fraction: 0.5, ..base.clone() };
    let (base, runs) = (generate(&base, 9), generate(&runs, 9));
    assert!(base.iter().zip(&runs).all(|(a, b)| (a.op, a.arrival) == (b.op, b.arrival)));
}

#[test]
fn settings_of_bursts_and_runs_that_contradict_each_other_are_mistakes() {
    let with = |phases| bursts(phases);
    let cases = [
        ("burst_gap_us", with(Hyperexponential { burst_gap: Dur::from_us(1251), ..PHASES })),
        ("burst_length", with(Hyperexponential { burst_length: Some(2.9), ..PHASES })),
        (
            "time_scale",
            MixedConfig {
                time_scale: 2.0,
                arrivals: Arrivals::Closed { queue_depth: 1 },
                ..config()
            },
        ),
        (
            "zipf_unit_bytes",
            MixedConfig {
                addresses: Addresses::Zipf { theta: 1.0, unit_bytes: Some(5120) },
                ..config()
            },
        ),
    ];
    for (key, config) in cases {
        assert_eq!(config.contradiction().expect(key).0, key);
    }
    let large = MixedConfig { write_sizes: Some(vec![(1 << 27, 1.0)]), ..config() };
    let slow = with(Hyperexponential { rate_iops: 1e-6, ..PHASES });
    for (key, config) in [("write_request_bytes", large), ("rate_iops", slow)] {
        let error = Workload::open(&WorkloadConfig::Mixed(config), 64 * MIB, 1).expect_err(key);
        assert!(error.to_string().starts_with(&format!("workload.{key} = ")), "{key}: {error}");
    }
    // At the very bound the phases are one, and a burst of three can be kept.
    open(&with(Hyperexponential { burst_gap: Dur::from_us(1250), ..PHASES }), 1);
    open(&with(Hyperexponential { burst_length: Some(3.0), ..PHASES }), 1);
}

#[test]
fn forced_unit_access_is_a_share_of_the_writes_and_changes_nothing_else() {
    let plain = generate(&config(), 3);
    assert!(plain.iter().all(|request| !request.fua));
    let forced = generate(&MixedConfig { fua_fraction: 0.25, ..config() }, 3);
    let writes = forced.iter().filter(|request| request.op == Op::Write).count() as f64;
    let fua = forced.iter().filter(|request| request.fua).count() as f64;
    assert_near(fua / writes, 0.25, share_error(0.25, writes));
    for (plain, forced) in plain.iter().zip(&forced) {
        assert!(!forced.fua || forced.op == Op::Write, "{forced:?}");
        assert_eq!(*plain, Request { fua: false, ..*forced });
    }
    let all = generate(&MixedConfig { fua_fraction: 1.0, ..config() }, 3);
    assert!(all.iter().all(|request| request.fua == (request.op == Op::Write)));
}

#[test]
fn a_footprint_that_begins_elsewhere_is_the_same_moved() {
    let sequential =
        MixedConfig { read_sequential_fraction: 0.5, footprint: Footprint::Bytes(MIB), ..config() };
    let here = generate(&sequential, 5);
    let there = generate(&MixedConfig { footprint_start_bytes: 3 * MIB, ..sequential }, 5);
    for (here, there) in here.iter().zip(&there) {
        assert_eq!(there.lba, here.lba + 3 * MIB / 512);
    }
    // Half of what lies behind it.
    let half = MixedConfig {
        footprint_start_bytes: 32 * MIB,
        footprint: Footprint::Share(0.5),
        ..config()
    };
    let lbas: Vec<u64> = generate(&half, 5).iter().map(|request| request.lba * 512).collect();
    let (first, last) = (lbas.iter().min().expect("many"), lbas.iter().max().expect("many"));
    assert_eq!((*first, *last), (32 * MIB, 48 * MIB - 4096), "all 4,096 places by 400,000 draws");
}

//! The built-in loads: each runs on both drives of FAST 2012, and is what its file says.

use reprieve_ssd::{Ssd, scenario};
use reprieve_trace::{Arrivals, Footprint, MixedConfig, Profile, WorkloadConfig, profile_load};

use super::drive;

/// Requests to measure a load by.
const REQUESTS: u64 = 300_000;

fn loaded(name: &str, device: &str, requests: u64) -> scenario::Scenario {
    let mut sets = vec![format!("load={name}"), format!("device={device}")];
    // A flow has its own count; which flows a load has is what its tables say.
    let load = scenario::loads().iter().find(|load| load.name == name).expect("built in");
    let flows: Vec<&str> = load
        .toml
        .lines()
        .filter_map(|line| line.strip_prefix("[flow.")?.strip_suffix(']'))
        .collect();
    match flows.len() as u64 {
        0 => sets.push(format!("workload.requests={requests}")),
        of => {
            sets.extend(flows.iter().map(|flow| format!("flow.{flow}.requests={}", requests / of)))
        }
    }
    drive::load_with("", &sets.iter().map(String::as_str).collect::<Vec<_>>())
}

fn mixed(scenario: &scenario::Scenario) -> &MixedConfig {
    match &scenario.workload {
        Some(WorkloadConfig::Mixed(config)) => config,
        other => panic!("{other:?} is no generator"),
    }
}

fn profiled(name: &str) -> (MixedConfig, Profile) {
    let scenario = loaded(name, "fast12-slc", REQUESTS);
    let workload = scenario.workload.as_ref().expect("a load is a workload");
    let found = profile_load(workload, 1 << 34, scenario.seed).expect("a good load");
    (mixed(&scenario).clone(), found)
}

#[track_caller]
fn assert_near(what: &str, found: f64, expected: f64, error: f64) {
    assert!((found - expected).abs() < error, "{what}: {found}, expected {expected} ± {error}");
}

#[test]
fn every_load_runs_on_both_drives_of_the_paper() {
    for preset in scenario::loads() {
        for device in ["fast12-slc", "fast12-mlc"] {
            let scenario = loaded(preset.name, device, 500);
            let mut ssd = Ssd::new(scenario, false).expect("it fits into memory");
            while ssd.step(500).expect("a generator without bad rows") {}
            let summary = ssd.summary();
            assert_eq!(summary["workload"]["requests"], 500, "{} {device}", preset.name);
        }
    }
}

/// Mean and squared coefficient of variation of the gaps that a configuration describes: zeros,
/// and two exponential phases whose second moments are `2 m^2`.
fn gaps(config: &MixedConfig) -> (f64, f64) {
    let Arrivals::Hyperexponential(phases) = config.arrivals else {
        panic!("{:?} is not bursty", config.arrivals)
    };
    let mean_ns = 1e9 / phases.rate_iops;
    let taking_time = 1.0 - phases.simultaneous_fraction;
    let (share, short_ns) = (phases.burst_fraction, phases.burst_gap.ns() as f64);
    let long_ns = (mean_ns / taking_time - share * short_ns) / (1.0 - share);
    let square = 2.0 * taking_time * (share * short_ns.powi(2) + (1.0 - share) * long_ns.powi(2));
    (mean_ns, square / mean_ns.powi(2) - 1.0)
}

fn mean_bytes(sizes: &[(u32, f64)]) -> f64 {
    let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    sizes.iter().map(|(bytes, weight)| f64::from(*bytes) * weight).sum::<f64>() / total
}

#[test]
fn the_profile_of_every_load_is_what_its_file_says() {
    for preset in scenario::loads().iter().filter(|load| load.name.ends_with("-like")) {
        let (config, found) = profiled(preset.name);
        let count = REQUESTS as f64;
        let near = |what: &str, found, expected, error| {
            assert_near(&format!("{} {what}", preset.name), found, expected, error);
        };
        // Five standard errors of a share are at most 5 * 0.5 / sqrt(of how many).
        let reads = found.reads as f64;
        near("reads", reads / count, config.read_fraction, 2.5 / count.sqrt());
        let of_reads = config.read_sizes.as_ref().unwrap_or(&config.sizes);
        let of_writes = config.write_sizes.as_ref().unwrap_or(&config.sizes);
        for (what, found, sizes, of) in [
            ("read size", &found.read_size_bytes, of_reads, reads),
            ("write size", &found.write_size_bytes, of_writes, count - reads),
        ] {
            let mean = mean_bytes(sizes);
            let square =
                mean_bytes(&sizes.iter().map(|(b, w)| (*b, w * f64::from(*b))).collect::<Vec<_>>());
            let deviation = (mean * square - mean * mean).max(0.0).sqrt();
            let found = found.as_ref().expect("both occur").mean;
            near(what, found, mean, 5.0 * deviation / of.sqrt() + 1e-6);
        }
        // Chance and overlap add a little to runs: a hot place may follow itself.
        let runs = [
            (found.read_sequential_share, config.read_sequential_fraction),
            (found.write_sequential_share, config.write_sequential_fraction),
        ];
        for (found, expected) in runs {
            near("runs", found.expect("both occur"), expected, 0.01);
        }
        let (mean_ns, scv) = gaps(&config);
        // Trains are up to a hundred gaps long: a mean over 300,000 gaps has an error of about
        // sqrt(10 * (1 + 2 * 1.9)) / sqrt(300,000) = 1.4 %, and fourth moments make that of the
        // squares 3 % and more.
        near("mean gap", found.interarrival_ns_mean.expect("gaps") / mean_ns, 1.0, 0.07);
        near("cv²", found.interarrival_scv.expect("gaps") / scv, 1.0, 0.2);
        let Arrivals::Hyperexponential(phases) = config.arrivals else { panic!("seen above") };
        let same = found.same_time_share.expect("gaps");
        near("simultaneous", same, phases.simultaneous_fraction, 2.5 / count.sqrt());
        let Footprint::Bytes(bytes) = config.footprint else { panic!("a load's is in bytes") };
        assert!(found.address_bytes_max <= bytes, "{}: {found:?}", preset.name);
    }
}

#[test]
fn loads_have_the_characteristics_that_are_published() {
    // Typed in from the sources that the files name: reads, mean KiB of reads and of writes,
    // share of sequential reads and writes where it is published.
    let published = [
        ("fin1-like", 1_235_633.0 / 5_334_987.0, 2.38, 3.85, None),
        ("dap-like", 0.56, 62.1, 97.2, Some((0.97, 0.16))),
        ("msn-like", 0.74, 8.7, 12.6, Some((0.06, 0.06))),
        ("cello3-like", 0.1963, 7.06, 7.06, None),
        ("cello8-like", 0.1963, 7.06, 7.06, None),
    ];
    for (name, read_fraction, read_kib, write_kib, runs) in published {
        let (_, found) = profiled(name);
        assert_near(name, found.reads as f64 / REQUESTS as f64, read_fraction, 0.005);
        let kib = |sizes: Option<reprieve_trace::SizeProfile>| sizes.expect("any").mean / 1024.0;
        let (reads, writes) = (kib(found.read_size_bytes), kib(found.write_size_bytes));
        assert_near(name, reads / read_kib, 1.0, 0.02);
        assert_near(name, writes / write_kib, 1.0, 0.025);
        if let Some((read, write)) = runs {
            assert_near(name, found.read_sequential_share.expect("reads"), read, 0.01);
            assert_near(name, found.write_sequential_share.expect("writes"), write, 0.01);
        }
    }
    let reads = 3_046_112.0 / 3_699_194.0;
    assert_near("fin2-like", profiled("fin2-like").1.reads as f64 / REQUESTS as f64, reads, 0.005);
}

#[test]
fn the_disks_of_cello_are_one_load_with_two_seeds() {
    let [three, eight] =
        ["cello3-like", "cello8-like"].map(|name| loaded(name, "fast12-slc", REQUESTS));
    assert_eq!(three.workload, eight.workload);
    assert_eq!((three.seed, eight.seed), (3, 8));
    // Lee et al. 2013: 31.32 % of the writes come within 1.5 ms. Generated gaps do not know
    // what they are before, so the share is that of all gaps.
    let requests = {
        let workload = three.workload.as_ref().expect("a load");
        let mut open = reprieve_trace::Workload::open(workload, 1 << 34, 3).expect("good");
        let next = || open.next_request().expect("generators do not fail");
        std::iter::from_fn(next).map(|request| request.arrival.ns()).collect::<Vec<_>>()
    };
    let short = requests.windows(2).filter(|pair| pair[1] - pair[0] < 1_500_000).count();
    assert_near("bursty", short as f64 / REQUESTS as f64, 0.3132, 0.005);
}

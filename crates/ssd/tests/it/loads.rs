//! The built-in loads: each runs on both drives of FAST 2012, and is what its file says.

use reprieve_ssd::{Ssd, scenario};
use reprieve_trace::{
    Arrivals, Footprint, Load, MixedConfig, Profile, WorkloadConfig, profile_loads,
};

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

/// The flow of reads or of writes of a load, its profile, and the seed of the load.
fn profiled(name: &str, flow: &str) -> (MixedConfig, Profile, u64) {
    let scenario = loaded(name, "fast12-slc", REQUESTS);
    let flow = scenario.flows.iter().find(|one| one.name == flow).expect("reads and writes");
    let WorkloadConfig::Mixed(config) = &flow.workload else { panic!("{name} is no generator") };
    let load = Load { config: &flow.workload, seed: scenario.seed, bytes: 0..1 << 34 };
    let found = profile_loads(&[load], u64::MAX).expect("a good load");
    (config.clone(), found, scenario.seed)
}

/// Requests of each flow, as the file has them.
fn whole(name: &str) -> Vec<f64> {
    let sets = [format!("load={name}"), "device=fast12-slc".to_string()];
    let scenario = drive::load_with("", &sets.each_ref().map(String::as_str));
    let count = |flow: &scenario::Flow| match &flow.workload {
        WorkloadConfig::Mixed(config) => config.requests as f64,
        other => panic!("{other:?} is no generator"),
    };
    scenario.flows.iter().map(count).collect()
}

fn mean_kib(sizes: &[(u32, f64)]) -> f64 {
    let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
    sizes.iter().map(|(bytes, weight)| f64::from(*bytes) / 1024.0 * weight).sum::<f64>() / total
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

#[test]
fn loads_have_the_characteristics_that_are_published() {
    // Typed in from the sources that the files name: reads, mean KiB of reads and of writes,
    // share of sequential reads and writes where it is published.
    let published = [
        ("fin1-flows", 1_235_633.0 / 5_334_987.0, Some((2.38, 3.85)), None),
        ("fin2-flows", 3_046_112.0 / 3_699_194.0, None, None),
        ("dap-flows", 0.56, Some((62.1, 97.2)), Some((0.97, 0.16))),
        ("msn-flows", 0.74, Some((8.7, 12.6)), Some((0.06, 0.06))),
        ("cello3-flows", 0.1963, Some((7.06, 7.06)), None),
        ("cello8-flows", 0.1963, Some((7.06, 7.06)), None),
    ];
    for (name, read_fraction, kib, runs) in published {
        let counts = whole(name);
        assert_near(name, counts[0] / (counts[0] + counts[1]), read_fraction, 0.005);
        let [(of_reads, reads, _), (of_writes, writes, _)] =
            ["reads", "writes"].map(|flow| profiled(name, flow));
        assert_eq!((reads.reads, writes.reads), (reads.requests, 0), "{name}");
        for (config, found) in [(&of_reads, &reads), (&of_writes, &writes)] {
            let Footprint::Bytes(bytes) = config.footprint else { panic!("a load's is in bytes") };
            assert!(found.address_bytes_max <= bytes, "{name}: {found:?}");
        }
        if let Some((read, write)) = kib {
            assert_near(name, mean_kib(&of_reads.sizes) / read, 1.0, 0.01);
            assert_near(name, mean_kib(&of_writes.sizes) / write, 1.0, 0.01);
        }
        if let Some((read, write)) = runs {
            assert_near(name, reads.read_sequential_share.expect("reads"), read, 0.01);
            assert_near(name, writes.write_sequential_share.expect("writes"), write, 0.01);
        }
    }
}

#[test]
fn the_disks_of_cello_are_one_load_with_two_seeds() {
    let of = |name| ["reads", "writes"].map(|flow| profiled(name, flow));
    let ([reads_3, writes_3], [reads_8, writes_8]) = (of("cello3-flows"), of("cello8-flows"));
    assert_eq!((&reads_3.0, &writes_3.0), (&reads_8.0, &writes_8.0));
    assert_eq!((writes_3.2, writes_8.2), (3, 8));
    // Lee et al. 2013: 31.32 % of the writes come within 1.5 ms, as do those of a train behind its
    // first but for the tail of their exponential gaps.
    let Arrivals::Trains(trains) = &writes_3.0.arrivals else { panic!("in trains") };
    let behind = 1.0 - 1.0 / trains.requests;
    let near = behind * (1.0 - (-1_500_000.0 / trains.gap.ns() as f64).exp());
    assert_near("bursty", near, 0.3132, 0.001);
}

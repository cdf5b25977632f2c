//! Loads as presets: their place among the layers, what they may say, what they exclude.

use reprieve_base::Dur;
use reprieve_trace::{
    Addresses, Arrivals, Footprint, Hyperexponential, KvChats, KvConfig, KvPrompts, KvStore,
    KvTierConfig, MixedConfig, WorkloadConfig,
};

use super::super::{Scenario, Sources, load, load_rig, loads, print};
use super::{REGISTRIES, bad, good};

/// The path of a load without flows.
const BURSTY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/bursty.toml");

const LOADED: &str = concat!(
    "device = \"fast12-mlc\"\nload = \"",
    env!("CARGO_MANIFEST_DIR"),
    "/src/tests/bursty.toml\"\n"
);

fn mixed(scenario: &Scenario) -> &MixedConfig {
    match &scenario.workload {
        Some(WorkloadConfig::Mixed(config)) => config,
        other => panic!("{other:?} is no generator"),
    }
}

#[test]
fn a_load_is_what_its_file_says() {
    let scenario = good(LOADED, &[]);
    let config = mixed(&scenario);
    assert_eq!((config.requests, config.read_fraction), (5_334_987, 0.2316));
    assert_eq!(config.footprint, Footprint::Bytes(710_908 * 3584));
    assert_eq!(config.addresses, Addresses::Zipf { theta: 1.0, unit_bytes: Some(3584) });
    let phases = Hyperexponential {
        rate_iops: 122.0,
        simultaneous_fraction: 0.4544,
        burst_fraction: 0.94,
        burst_gap: Dur::from_us(9540),
        burst_length: Some(93.0),
    };
    assert_eq!(config.arrivals, Arrivals::Hyperexponential(phases));
    assert_eq!((config.time_scale, config.align_bytes, scenario.seed), (1.0, 512, 1));
}

#[test]
fn file_and_override_win_over_a_load_and_a_load_over_defaults() {
    let scenario = good(&format!("{LOADED}[workload]\nrequests = 7\n"), &[]);
    assert_eq!((mixed(&scenario).requests, mixed(&scenario).align_bytes), (7, 512));
    let text = format!("{LOADED}[workload]\nrequests = 7\ntime_scale = 0.5\n");
    let scenario = good(&text, &["workload.requests=9"]);
    let config = mixed(&scenario);
    assert_eq!((config.requests, config.time_scale, config.read_fraction), (9, 0.5, 0.2316));
    // The seed of a load is of its own layer too.
    assert_eq!(good(LOADED, &["load=cello3-flows"]).seed, 3);
    assert_eq!(good(LOADED, &["load=cello8-flows"]).seed, 8);
    assert_eq!(good(&format!("seed = 5\n{LOADED}"), &["load=cello8-flows"]).seed, 5);
    // A later choice of arrivals puts aside what the load says of its own.
    let closed = good(LOADED, &["workload.arrivals=closed", "workload.queue_depth=4"]);
    assert_eq!(mixed(&closed).arrivals, Arrivals::Closed { queue_depth: 4 });
    // Of the two ways to give a footprint the later layer's holds; "none" is no way.
    let share = good(LOADED, &["workload.footprint_share=0.5"]);
    assert_eq!(mixed(&share).footprint, Footprint::Share(0.5));
    let whole = good(LOADED, &["workload.footprint_bytes=none"]);
    assert_eq!(mixed(&whole).footprint, Footprint::Share(1.0));
    let equal = good(LOADED, &["workload.read_request_bytes=none"]);
    assert_eq!((&mixed(&equal).read_sizes, &mixed(&equal).sizes), (&None, &vec![(4096, 1.0)]));
}

#[test]
fn every_load_is_printed_so_that_it_loads_the_same() {
    for preset in loads() {
        for device in ["fast12-slc", "fast12-mlc"] {
            let text = format!("device = \"{device}\"\nload = \"{}\"\n", preset.name);
            let scenario = good(&text, &["workload.time_scale=0.07"]);
            let printed = print(&scenario);
            assert!(!printed.contains("load ="), "{printed}");
            assert_eq!(good(&printed, &[]), scenario, "{}", preset.name);
        }
    }
}

#[test]
fn a_load_may_lie_in_a_file_of_its_own() {
    let folder = std::env::temp_dir().join(format!("reprieve-loads-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("a file of the test");
    };
    let body = "generator = \"mixed\"\nrequests = 3\nread_fraction = 1\nqueue_depth = 2\n";
    write("mine.toml", &format!("seed = 4\n[workload]\n{body}"));
    write("drive.toml", &format!("[workload]\n{body}[ftl]\ngc_background = true\n"));
    write("trace.toml", "[workload]\ntrace = \"a.gz\"\n");
    let path = folder.join("s.toml");
    let loaded = |name: &str| {
        let text = format!("device = \"fast12-mlc\"\nload = \"./{name}\"\n");
        let path = path.to_str().expect("a plain name");
        load(&Sources { text: &text, path, sets: &[] }, &REGISTRIES).map_err(|e| e.to_string())
    };
    let mine = loaded("mine.toml").expect("a good load");
    assert_eq!((mine.seed, mixed(&mine).requests), (4, 3));
    let only = "a load has only seed and a generator's keys of [workload] and flows";
    let drive = loaded("drive.toml").expect_err("it has a key of the drive");
    assert!(drive.ends_with(&format!("drive.toml:7: ftl.gc_background = true: {only}")), "{drive}");
    let trace = loaded("trace.toml").expect_err("it has a trace");
    assert!(trace.ends_with(&format!("2: workload.trace = \"a.gz\": {only}")), "{trace}");
    // Its flows stand below those of the scenario, key by key.
    write("flows.toml", &format!("[workload]\n{body}[flow.a]\nrequests = 7\n[flow.b]\n"));
    let text = "device = \"fast12-mlc\"\nload = \"./flows.toml\"\n[flow.b]\nrequests = 9\n";
    let path = path.to_str().expect("a plain name");
    let flows = load(&Sources { text, path, sets: &[] }, &REGISTRIES).expect("a good load").flows;
    let found: Vec<_> = flows
        .iter()
        .map(|flow| match &flow.workload {
            WorkloadConfig::Mixed(load) => (flow.name.as_str(), load.requests),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, [("a", 7), ("b", 9)]);
    std::fs::remove_dir_all(&folder).expect("the test's own folder");
}

#[test]
fn mistakes_about_loads_are_named() {
    let names: Vec<&str> = loads().iter().map(|load| load.name).collect();
    let names = names.join(", ");
    assert_eq!(
        bad(LOADED, &["load=fin1-flow"]),
        format!(
            "--set: load = \"fin1-flow\": must be one of {names}, or a path that ends in .toml; \
             did you mean \"fin1-flows\"?"
        )
    );
    let contradicts = format!("contradicts load = \"{BURSTY}\" at s.toml:2; give one of them");
    assert_eq!(
        bad(&format!("{LOADED}[workload]\ntrace = \"a.gz\"\n"), &[]),
        format!("s.toml:4: workload.trace = \"a.gz\": {contradicts}")
    );
    assert_eq!(
        bad(LOADED, &["workload.trace=a.gz"]),
        format!("--set: workload.trace = \"a.gz\": {contradicts}")
    );
    let rig = load_rig("fast12-mlc", &["load=fin1-flows".to_string()], &REGISTRIES);
    assert_eq!(
        rig.expect_err("the rig has no workload").to_string(),
        "--set: load = \"fin1-flows\": the rig has no workload; leave it out"
    );
}

#[test]
fn values_of_a_generator_that_do_not_fit_each_other_are_named() {
    // 122 requests a second of which 0.4544 take no time: 1e6 / 122 / 0.5456 = 15,023.316 us.
    assert_eq!(
        bad(LOADED, &["workload.burst_gap_us=15024"]),
        "--set: workload.burst_gap_us = 15024: the short phase's mean must be at most that of all \
         gaps, which rate_iops = 122 and simultaneous_fraction = 0.4544 make 15023.316"
    );
    good(LOADED, &["workload.burst_gap_us=15023"]);
    // 0.94 / 0.06 = 15.667 short gaps in a row where no two long ones are neighbours.
    assert_eq!(
        bad(LOADED, &["workload.burst_length=15.6"]),
        "--set: workload.burst_length = 15.6: must be at least 15.667, so that long gaps are few \
         enough for burst_fraction = 0.94"
    );
    good(LOADED, &["workload.burst_length=15.7"]);
    assert_eq!(
        bad(LOADED, &["workload.zipf_unit_bytes=3584", "workload.align_bytes=1024"]),
        "--set: workload.zipf_unit_bytes = 3584: must be a multiple of align_bytes = 1024"
    );
    // 11,744,051 pages of 4,096 bytes.
    assert_eq!(
        bad(LOADED, &["workload.footprint_bytes=48103633408"]),
        "--set: workload.footprint_bytes = 48103633408: is more than the user has; must be at \
         most 48103632896"
    );
    good(LOADED, &["workload.footprint_bytes=48103632896"]);
    let text = format!("{LOADED}[workload]\nfootprint_bytes = 512\nfootprint_share = 0.5\n");
    assert_eq!(
        bad(&text, &[]),
        "s.toml:4: workload.footprint_bytes = 512: contradicts workload.footprint_share = 0.5 at \
         s.toml:5; give one of them"
    );
    let text = format!("{LOADED}[workload]\narrivals = \"closed\"\nqueue_depth = 2\n");
    assert_eq!(
        bad(&format!("{text}time_scale = 0.5\n"), &[]),
        "s.toml:6: workload.time_scale = 0.5: only while workload.trace is given or \
         workload.generator is \"kv-cache\" or workload.arrivals is \"poisson\" or \
         \"fixed\" or \"hyperexponential\" or \"trains\", but it is \"closed\" at s.toml:4"
    );
}

#[test]
fn the_bias_of_trains_is_a_number_or_one_for_each_halving() {
    let text = format!(
        "{LOADED}[workload]\narrivals = \"trains\"\nrate_iops = 100\ntrain_requests = 2\n\
         train_gap_us = 10\ntrain_span_s = 100\ntrain_tick_us = 1000\n"
    );
    let bias = |value: &str| {
        let scenario = good(&text, &[&format!("workload.train_bias={value}")]);
        let Arrivals::Trains(trains) = mixed(&scenario).arrivals.clone() else { panic!("trains") };
        let printed = print(&scenario);
        let line = printed.lines().find(|line| line.starts_with("train_bias"));
        (trains.bias, line.expect("printed").to_string())
    };
    let (one, line) = bias("0.75");
    assert_eq!(one, [0.75]);
    assert!(line.starts_with("train_bias = 0.75"), "{line}");
    let (several, line) = bias("[0.75, 0.5, 0.625]");
    assert_eq!(several, [0.75, 0.5, 0.625]);
    assert!(line.starts_with("train_bias = [0.75, 0.5, 0.625]"), "{line}");
    let expected = "must be a number at least 0.5 and at most 0.99, or a list of such numbers";
    for wrong in ["0.4", "[]", "[0.6, 1.0]", "\"high\""] {
        let error = bad(&text, &[&format!("workload.train_bias={wrong}")]);
        assert!(error.contains(expected), "{wrong}: {error}");
    }
    // 100 s are halved 17 times to get below a millisecond.
    let long = format!("workload.train_bias=[{}]", ["0.6"; 18].join(", "));
    assert!(bad(&text, &[&long]).contains("must have 1 to 17 values"));
}

#[test]
fn a_cache_of_an_llm_server_is_what_its_keys_say_and_is_printed() {
    let text = "device = \"fast12-mlc\"\n[workload]\ngenerator = \"kv-cache\"\nrequests = 7\n\
        kv_dram_bytes = 1000\ntime_scale = 2\n";
    let sets = ["workload.kv_store=computed", "workload.kv_store_bytes_per_s=5"];
    let scenario = good(text, &sets);
    let chats = KvChats {
        rate_per_s: 3.4,
        turns: 1.63,
        prompt_tokens: 10_765.0,
        turn_tokens: 1239.0,
        think: Dur::from_us(215_000_000),
    };
    let tier = KvTierConfig {
        bytes_per_token: 131_072,
        block_tokens: 512,
        request_bytes: 131_072,
        dram_bytes: 1000,
        store: KvStore::Computed,
        store_bytes_per_s: Some(5),
    };
    let prompts = KvPrompts::Chats(chats);
    let expected = KvConfig { prompts_max: 7, prompts, time_scale: 2.0, tier };
    assert_eq!(scenario.workload, Some(WorkloadConfig::Kv(Box::new(expected))));
    assert_eq!(good(&print(&scenario), &[]), scenario);
    let traced = ["workload.kv_prompts=trace", &format!("workload.kv_trace={BURSTY}")];
    let scenario = good(text, &traced);
    assert_eq!(good(&print(&scenario), &[]), scenario);
    let steady = "ftl.precondition=steady";
    assert_eq!(
        bad(text, &[steady]),
        "s.toml: ftl.precondition = \"steady\": the generator kv-cache has no equilibrium; must be \
         \"none\" or \"sequential\", or beside precondition.load = \"random-writes\""
    );
    assert!(good(text, &[steady, "precondition.load=random-writes"]).overwrites().are_even());
    assert_eq!(
        bad(text, &["zones.model=host-managed"]),
        "s.toml:3: workload.generator = \"kv-cache\": a drive with zones is not overwritten in \
         place; must be \"mixed\""
    );
}

#[test]
fn units_that_are_always_written_together_make_a_larger_one() {
    let text = "device = \"fast12-mlc\"\n[geometry]\npage_bytes = 16384\n[ftl]\n\
        mapping_bytes = 4096\n[workload]\ngenerator = \"mixed\"\nrequests = 1\n\
        read_fraction = 0.5\nqueue_depth = 1\n";
    let larger = |sets: &[&str]| {
        let drive = good(text, sets).overwrites().in_larger_units()?;
        assert!(drive.ftl.fills_programs && drive.overwrites().are_even());
        assert_eq!(drive.capacity_bytes(), good(text, sets).capacity_bytes());
        Some(drive.ftl.mapping_bytes)
    };
    let whole = "workload.align_bytes=16384";
    assert_eq!(larger(&["workload.request_bytes=16384", whole]), Some(16_384));
    assert_eq!(larger(&["workload.request_bytes=65536", whole]), Some(16_384));
    assert_eq!(larger(&["workload.request_bytes=[[16384, 1], [32768, 1]]", whole]), Some(16_384));
    let half = "workload.align_bytes=8192";
    assert_eq!(larger(&["workload.request_bytes=8192", half]), Some(8192));
    // Reads do not move units.
    let apart = ["workload.read_request_bytes=4096", "workload.request_bytes=16384", whole];
    assert_eq!(larger(&apart), Some(16_384));
    for sets in [
        &["workload.request_bytes=4096"][..],
        &["workload.request_bytes=16384"],
        &["workload.request_bytes=[[16384, 1], [4096, 1]]", whole],
        &[
            whole,
            "workload.trim_fraction=0.1",
            "workload.write_request_bytes=16384",
            "workload.request_bytes=4096",
        ],
    ] {
        assert_eq!(larger(sets), None, "{sets:?}");
    }
    assert!(good(text, &["workload.request_bytes=4096"]).overwrites().are_even());
    assert!(!good(text, &["workload.request_bytes=16384"]).overwrites().are_even());
}

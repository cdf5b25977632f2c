//! Precedence of part, device, file and overrides, the shorthand, and paths.

use std::fs;
use std::path::Path;

use reprieve_base::Dur;
use reprieve_nand::ProgramSuspension;
use reprieve_trace::{Addresses, Arrivals, DeviceSelection, MixedConfig, WorkloadConfig};

use super::super::{Scenario, Sources, load};
use super::{BASE, REGISTRIES, bad, good};

fn mixed(scenario: Scenario) -> MixedConfig {
    match scenario.workload {
        Some(WorkloadConfig::Mixed(config)) => config,
        other => panic!("not a generated workload: {other:?}"),
    }
}

/// A folder with these files, and a scenario in it.
fn in_folder(
    files: &[(&str, &str)],
    scenario: &str,
) -> (tempfile::TempDir, Result<Scenario, String>) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("made");
        fs::write(path, text).expect("a file can be written");
    }
    let path = folder.path().join("s.toml");
    let path = path.to_str().expect("a temporary folder's name is UTF-8");
    let loaded = load(&Sources { text: scenario, path, sets: &[] }, &REGISTRIES);
    (folder, loaded.map_err(|error| error.to_string()))
}

#[test]
fn a_later_layer_wins_key_by_key() {
    let text = format!("{BASE}[timing]\nt_read_us = 30\nt_bus_us = 41\n");
    let scenario = good(&text, &["timing.t_read_us=31"]);
    assert_eq!(scenario.timing.read, Dur::from_us(31), "the override");
    assert_eq!(scenario.timing.bus, Dur::from_us(41), "the file");
    assert_eq!(scenario.timing.erase, Dur::from_us(3300), "the part");
    assert_eq!(scenario.seed, 1, "the default");
    // Another part under the same device.
    let scenario = good(&text, &["part=slc-fast12"]);
    assert_eq!(scenario.timing.erase, Dur::from_us(1500));
    assert_eq!(scenario.timing.bus, Dur::from_us(41));
    // Of two overrides of one key the later holds.
    assert_eq!(good(BASE, &["seed=5", "seed=6"]).seed, 6);
}

#[test]
fn a_default_can_be_another_key() {
    let scenario = good(BASE, &["timing.t_verify_us=30", "geometry.dies_per_channel=3"]);
    assert_eq!(scenario.geometry.chips_per_channel, 1, "the device has its own");
    assert_eq!(scenario.timing.erase_verify, Dur::from_us(24), "the part has its own");
    let alone = "\
[geometry]
channels = 1
dies_per_channel = 3
planes_per_die = 1
blocks_per_plane = 100
pages_per_block = 4
page_bytes = 8192
[timing]
t_bus_us = 1
t_read_us = 1
program_iterations = 1
t_program_pulse_us = 2
t_verify_us = 1.5
t_erase_us = 3
t_voltage_reset_us = 0
[ftl]
over_provisioning = 0.2
[workload]
generator = \"mixed\"
requests = 1
read_fraction = 1
queue_depth = 1
";
    let scenario = good(alone, &[]);
    assert_eq!(scenario.geometry.chips_per_channel, 3);
    assert_eq!(scenario.timing.erase_verify, Dur::from_ns(1500));
    assert_eq!(scenario.device, "custom");
    assert_eq!(mixed(scenario).align_bytes, 8192);
}

#[test]
fn decimals_are_exact() {
    let read_ns = |text: &str| good(BASE, &[&format!("timing.t_read_us={text}")]).timing.read.ns();
    // 1234567.891 × 1000 is 1234567891.0000002 in binary floating point.
    assert_eq!(read_ns("1234567.891"), 1_234_567_891);
    assert_eq!(read_ns("0.5"), 500);
    assert_eq!(read_ns("2.5e1"), 25_000);
    assert_eq!(read_ns("1e-3"), 1);
    assert_eq!(read_ns("1_000"), 1_000_000);
    assert_eq!(read_ns("0x10"), 16_000);
    assert_eq!(read_ns("10000000000"), 10_000_000_000_000);
    assert_eq!(read_ns("0.0000"), 0);
}

#[test]
fn an_override_takes_toml_or_a_bare_word() {
    assert_eq!(good(BASE, &["ftl.gc_victim=random"]).ftl.gc_victim, "random");
    assert_eq!(good(BASE, &["ftl.gc_victim=\"random\""]).ftl.gc_victim, "random");
    assert_eq!(good(BASE, &[" seed = 7 "]).seed, 7);
    assert_eq!(good(BASE, &["name=a=b"]).device, "a=b");
    let sizes = mixed(good(BASE, &["workload.request_bytes=[[4096, 0.7], [8192, 3]]"])).sizes;
    assert_eq!(sizes, [(4096, 0.7), (8192, 3.0)]);
    let rules = good(BASE, &["suspension.host_read_suspends=[\"erase\"]"]).suspend_rules;
    assert!(rules.host_read_suspends.erase && !rules.host_read_suspends.program);
    // The part must support the controller's suspensions, which have no effect alone.
    let both = |sets: &[&str]| {
        let scenario = good(BASE, sets);
        (scenario.suspend_rules.host_write_suspends.erase, scenario.suspension.program_in_erase)
    };
    assert_eq!(both(&[]), (false, false));
    assert_eq!(both(&["suspension.host_write_suspends=[\"erase\"]"]), (true, true));
}

#[test]
fn none_takes_back_what_an_earlier_layer_gave() {
    let text = format!("{BASE}[suspension]\nmax_per_erase = 3\n");
    assert_eq!(good(&text, &[]).suspension.max_per_erase, Some(3));
    assert_eq!(good(&text, &["suspension.max_per_erase=none"]).suspension.max_per_erase, None);
    assert_eq!(good(BASE, &["host.link_bytes_per_s=none"]).host.link_bytes_per_s, None);
}

#[test]
fn a_name_for_two_keys_gives_both() {
    let limits = |text: &str, sets: &[&str]| {
        let suspension = good(text, sets).suspension;
        (suspension.max_per_program, suspension.max_per_erase)
    };
    let text = format!("{BASE}[suspension]\nmax_per_operation = 3\n");
    assert_eq!(limits(&text, &[]), (Some(3), Some(3)));
    // A later layer has the last word, by either name.
    assert_eq!(limits(&text, &["suspension.max_per_program=5"]), (Some(5), Some(3)));
    assert_eq!(limits(&text, &["suspension.max_per_erase=none"]), (Some(3), None));
    assert_eq!(limits(&text, &["suspension.max_per_operation=none"]), (None, None));
    let one = format!("{BASE}[suspension]\nmax_per_program = 3\n");
    assert_eq!(limits(&one, &[]), (Some(3), None));
    assert_eq!(limits(&one, &["suspension.max_per_operation=7"]), (Some(7), Some(7)));
    // The part has a limit of ten for both.
    let part = ["device=tlc3d-1tb", "suspension.max_per_erase=1"];
    assert_eq!(limits(BASE, &part), (Some(10), Some(1)));
    // Of one layer it is one or the other, whatever they say.
    let both = format!("{text}max_per_erase = 3\n");
    assert_eq!(
        bad(&both, &[]),
        "s.toml:9: suspension.max_per_erase = 3: contradicts suspension.max_per_operation = 3 at \
         s.toml:8, which stands for it; give one"
    );
    let wear = ["reliability.model=power", "reliability.wear_per_suspend=0.5"];
    let of = |sets: &[&str]| {
        let ageing = good(BASE, sets).reliability.ageing.expect("it ages");
        (ageing.suspend_wear.per_program, ageing.suspend_wear.per_erase)
    };
    assert_eq!(of(&wear), (0.5, 0.5));
    assert_eq!(of(&[wear[0], "reliability.wear_per_erase_suspend=0.25"]), (0.0, 0.25));
    assert_eq!(
        bad(BASE, &[&wear[..], &["reliability.wear_per_program_suspend=0"]].concat()),
        "--set: reliability.wear_per_program_suspend = 0: contradicts \
         reliability.wear_per_suspend = 0.5 at --set, which stands for it; give one"
    );
    // Errors about it name the key as written.
    let off = bad(BASE, &["reliability.wear_per_suspend=0.5"]);
    assert!(off.starts_with("--set: reliability.wear_per_suspend = 0.5: only while"), "{off}");
}

#[test]
fn the_shorthand_stands_for_three_keys() {
    let cases = [
        ("fifo", "fifo", ProgramSuspension::None, false),
        ("RPS", "rps", ProgramSuspension::None, false),
        ("per", "per", ProgramSuspension::None, false),
        ("PE0", "pe0", ProgramSuspension::None, false),
        ("pes-ips", "rps", ProgramSuspension::Ips, true),
        ("PES-IPC", "rps", ProgramSuspension::Ipc, true),
    ];
    for (policy, scheduler, program, erase) in cases {
        let scenario = good(BASE, &[&format!("policy={policy}")]);
        assert_eq!(scenario.scheduling.policy, scheduler, "{policy}");
        assert_eq!(scenario.suspension.program, program, "{policy}");
        assert_eq!(scenario.suspension.erase, erase, "{policy}");
    }
    // One layer may repeat the values of the shorthand, and a later one may change them.
    good(BASE, &["policy=rps", "suspension.erase=false"]);
    let text = format!("policy = \"pes-ipc\"\n{BASE}");
    let scenario = good(&text, &["suspension.erase=false"]);
    assert_eq!(scenario.suspension.program, ProgramSuspension::Ipc);
    assert!(!scenario.suspension.erase);
    let text = format!("{text}[suspension]\nprogram = \"ips\"\n");
    assert_eq!(
        bad(&text, &[]),
        "s.toml:9: suspension.program = \"ips\": contradicts policy = \"pes-ipc\" at s.toml:1, \
         which means \"ipc\""
    );
}

#[test]
fn a_later_choice_puts_aside_what_it_rules_out() {
    let poisson = ["workload.arrivals=poisson", "workload.rate_iops=1e4"];
    let config = mixed(good(BASE, &poisson));
    assert_eq!(config.arrivals, Arrivals::Poisson { rate_iops: 1e4 });
    let text = format!("{BASE}addresses = \"hot-cold\"\nhot_share = 0.2\nhot_fraction = 0.8\n");
    assert_eq!(
        mixed(good(&text, &[])).addresses,
        Addresses::HotCold { hot_share: 0.2, hot_fraction: 0.8 }
    );
    let config = mixed(good(&text, &["workload.addresses=sequential"]));
    assert_eq!(config.addresses, Addresses::Sequential);
    let device = "part = \"mlc-fast12\"\n[geometry]\nchannels = 1\ndies_per_channel = 1\n\
        [suspension]\npolicy = \"threshold\"\nmin_remaining_us = 9\n\
        [ftl]\nover_provisioning = 0.3\n";
    let text = "device = \"./d.toml\"\n[suspension]\npolicy = \"always\"\n\
        [workload]\ntrace = \"t.spc\"\ndevices = [3, 0]\n";
    let (_folder, scenario) = in_folder(&[("t.spc", ""), ("d.toml", device)], text);
    let scenario = scenario.expect("the threshold's parameter is put aside");
    let parameters = &scenario.suspend_rules.parameters;
    assert_eq!(parameters.dur("suspension.min_remaining_us"), None);
    assert_eq!(scenario.device, "./d.toml");
    let Some(WorkloadConfig::Trace(config)) = scenario.workload else { panic!("no trace") };
    assert_eq!(config.devices, DeviceSelection::Only(vec![3, 0]));
}

#[test]
fn relative_paths_are_tried_from_the_scenario_s_folder_first() {
    let device = "part = \"p.toml\"\n[geometry]\nchannels = 2\ndies_per_channel = 1\n\
        [ftl]\nover_provisioning = 0.1\n";
    let part = "[geometry]\nplanes_per_die = 1\npages_per_block = 2\npage_bytes = 512\n\
        blocks_per_plane = 100\n[timing]\nt_bus_us = 1\nt_read_us = 7\nprogram_iterations = 1\n\
        t_program_pulse_us = 1\nt_verify_us = 1\nt_erase_us = 1\nt_voltage_reset_us = 0\n";
    let files = [("sub/d.toml", device), ("sub/p.toml", part), ("t.gz", "")];
    let text = "device = \"sub/d.toml\"\n[workload]\ntrace = \"t.gz\"\n";
    let (folder, scenario) = in_folder(&files, text);
    let scenario = scenario.expect("the part lies beside its device");
    assert_eq!(scenario.timing.read, Dur::from_us(7));
    let Some(WorkloadConfig::Trace(config)) = scenario.workload else { panic!("no trace") };
    assert_eq!(config.path, folder.path().join("t.gz"));

    // A file of this crate: tests run in its folder, so the second try finds it.
    let (_folder, scenario) = in_folder(&files, &text.replace("t.gz", "Cargo.toml"));
    let Some(WorkloadConfig::Trace(config)) = scenario.expect("found").workload else { panic!() };
    assert_eq!(config.path, Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));

    // A folder and a pattern are traces, too.
    for written in ["sub", "t.*"] {
        let (folder, scenario) = in_folder(&files, &text.replace("t.gz", written));
        let scenario = scenario.expect("found");
        let Some(WorkloadConfig::Trace(config)) = scenario.workload else { panic!("no trace") };
        assert_eq!(config.path, folder.path().join(written));
    }

    let (folder, error) = in_folder(&files, &text.replace("t.gz", "no.gz"));
    let (first, second) = (folder.path(), Path::new(env!("CARGO_MANIFEST_DIR")));
    assert_eq!(
        error.expect_err("there is no such file"),
        format!(
            "{}: workload.trace = \"no.gz\": there is neither a file {} nor {}",
            folder.path().join("s.toml:3").display(),
            first.join("no.gz").display(),
            second.join("no.gz").display()
        )
    );
}

#[test]
fn a_device_and_a_part_keep_to_what_is_theirs() {
    let error = |file: &str, text: &str, scenario: &str| {
        let (folder, loaded) = in_folder(&[(file, text)], scenario);
        let error = loaded.expect_err("the file has a mistake");
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    let with_device = BASE.replace("fast12-mlc", "d.toml");
    assert_eq!(
        error("d.toml", "\nseed = 3\n", &with_device),
        "d.toml:2: seed = 3: a device has only part, policy and sections but [workload] and \
         [measure]"
    );
    assert_eq!(
        error("p.toml", "[ftl]\nplacement = \"cwdp\"\n", &format!("part = \"p.toml\"\n{BASE}")),
        "p.toml:2: ftl.placement = \"cwdp\": a part has only [geometry], [timing], [suspension], \
         [reliability] and [power]"
    );
    assert_eq!(
        error("d.toml", "[ftl]\nover_provisioning = 2\n", &format!("{with_device}{ALONE}")),
        "d.toml:2: ftl.over_provisioning = 2: must be a number above 0 and below 1"
    );
    assert_eq!(
        error("d.toml", "", &with_device),
        "s.toml: geometry.channels is missing: must be an integer from 1 to 2147483648; \
         device \"d.toml\" has none"
    );
}

/// Sections that make a drive complete but for its over-provisioning.
const ALONE: &str = "\
[geometry]
channels = 1
dies_per_channel = 1
planes_per_die = 1
blocks_per_plane = 100
pages_per_block = 4
page_bytes = 512
[timing]
t_bus_us = 1
t_read_us = 1
program_iterations = 1
t_program_pulse_us = 1
t_verify_us = 1
t_erase_us = 1
t_voltage_reset_us = 0
";

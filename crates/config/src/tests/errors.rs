//! Every mistake a user can make, and the sentence that answers it.

use super::super::load_rig;
use super::{BASE, REGISTRIES, bad, device_names, good};

/// Each override on `BASE` makes this error, word by word.
fn each(cases: &[(&str, &str)]) {
    for (set, error) in cases {
        assert_eq!(bad(BASE, &[set]), *error, "{set}");
    }
}

#[test]
fn a_key_that_nothing_knows_is_named_with_its_neighbour() {
    each(&[
        (
            "timing.t_reed_us=3",
            "--set: timing.t_reed_us: unknown key; did you mean timing.t_read_us?",
        ),
        ("t_read_us=3", "--set: t_read_us: unknown key; t_read_us belongs to [timing]"),
        ("ftl.t_read_us=3", "--set: ftl.t_read_us: unknown key; t_read_us belongs to [timing]"),
        (
            "ftl.policy=\"rps\"",
            "--set: ftl.policy: unknown key; policy stands before every section or belongs to \
             [suspension] or belongs to [scheduling] or belongs to [power_loss]",
        ),
        ("t_reed_us=3", "--set: t_reed_us: unknown key; did you mean timing.t_read_us?"),
        ("tming.t_read_us=3", "--set: [tming]: unknown section; did you mean [timing]?"),
        ("timing=4", "--set: timing = 4: it is a section; write [timing] above its keys"),
        (
            "geometry.zzzzzzzzzzzzzzzz=4",
            "--set: geometry.zzzzzzzzzzzzzzzz: unknown key; [geometry] has channels, \
             dies_per_channel, chips_per_channel, planes_per_die, blocks_per_plane, \
             pages_per_block, page_bytes",
        ),
    ]);
}

#[test]
fn the_line_of_the_file_is_named() {
    let text = format!("{BASE}[timing]\nt_bus_us = 1\n\nt_read_us = -3\n");
    assert_eq!(
        bad(&text, &[]),
        "s.toml:10: timing.t_read_us = -3: must be a time in microseconds, whole in nanoseconds, \
         from 0 to 10000000000"
    );
    let dotted = format!("timing.t_reed_us = 3\n{BASE}");
    assert!(bad(&dotted, &[]).starts_with("s.toml:1: timing.t_reed_us: unknown key"));
    let inline = format!("\n\ntiming = {{ t_bus_us = 1, t_reed_us = 3 }}\n{BASE}");
    assert!(bad(&inline, &[]).starts_with("s.toml:3: timing.t_reed_us: unknown key"));
    // The first mistake of the file is reported.
    let two = format!("{BASE}[timing]\nzz_second = 1\n[buffer]\naa_third = 1\n");
    assert!(bad(&two, &[]).starts_with("s.toml:8: timing.zz_second"));
}

#[test]
fn a_value_of_the_wrong_type_or_out_of_range_says_what_would_be_right() {
    each(&[
        ("seed=1.5", "--set: seed = 1.5: must be an integer from 0 to 18446744073709551615"),
        ("seed=-1", "--set: seed = -1: must be an integer from 0 to 18446744073709551615"),
        ("suspension.erase=1", "--set: suspension.erase = 1: must be true or false"),
        ("suspension.erase=maybe", "--set: suspension.erase = \"maybe\": must be true or false"),
        (
            "geometry.channels=0",
            "--set: geometry.channels = 0: must be an integer from 1 to 2147483648",
        ),
        (
            "geometry.page_bytes=1000",
            "--set: geometry.page_bytes = 1000: must be a multiple of 512 from 512 to 16777216",
        ),
        (
            "ftl.over_provisioning=1",
            "--set: ftl.over_provisioning = 1: must be a number above 0 and below 1",
        ),
        (
            "ftl.over_provisioning=nan",
            "--set: ftl.over_provisioning = nan: must be a number above 0 and below 1",
        ),
        (
            "workload.read_fraction=1.01",
            "--set: workload.read_fraction = 1.01: must be a number at least 0 and at most 1",
        ),
        (
            "timing.t_read_us=0.0005",
            "--set: timing.t_read_us = 0.0005: must be a time in microseconds, whole in \
             nanoseconds, from 0 to 10000000000",
        ),
        (
            "timing.t_read_us=10000000000.001",
            "--set: timing.t_read_us = 10000000000.001: must be a time in microseconds, whole in \
             nanoseconds, from 0 to 10000000000",
        ),
        (
            "suspension.max_per_operation=0",
            "--set: suspension.max_per_operation = 0: must be an integer from 1 to 4294967295, \
             or \"none\"",
        ),
        (
            "suspension.host_read_suspends=[\"read\"]",
            "--set: suspension.host_read_suspends = [\"read\"]: must be a list out of \
             \"program\", \"gc_program\", \"erase\"",
        ),
        (
            "suspension.host_write_suspends=[\"erase\", \"program\"]",
            "--set: suspension.host_write_suspends = [\"erase\", \"program\"]: the page buffer \
             holds one page, and data sheets allow no program inside a suspended program; must be \
             [\"erase\"] or []",
        ),
        (
            "suspension.host_write_suspends=[\"gc_program\"]",
            "--set: suspension.host_write_suspends = [\"gc_program\"]: the page buffer holds one \
             page, and data sheets allow no program inside a suspended program; must be \
             [\"erase\"] or []",
        ),
        (
            "workload.request_bytes=[[4096, 0]]",
            "--set: workload.request_bytes = [[4096, 0]]: must be a multiple of 512 from 512 to \
             1073741824, or a list of [such a multiple, weight above 0]",
        ),
        ("name=2026-11-21", "--set: name = 2026-11-21: must be a string"),
    ]);
}

#[test]
fn a_name_that_no_registry_has_is_answered_with_the_choices() {
    let error = format!(
        "--set: device = \"fast12-mlx\": must be one of {}, or a path that ends in .toml; did you \
         mean \"fast12-mlc\"?",
        device_names()
    );
    assert_eq!(bad(BASE, &["device=fast12-mlx"]), error);
    each(&[
        (
            "ftl.gc_victim=greddy",
            "--set: ftl.gc_victim = \"greddy\": must be one of \"greedy\", \"random\", \
             \"d-choices\"; did you mean \"greedy\"?",
        ),
        (
            "scheduling.policy=zzzzzzz",
            "--set: scheduling.policy = \"zzzzzzz\": must be one of \"fifo\", \"rps\", \
             \"rps-age\", \"deadline\", \"microcode\", \"per\", \"pe0\"",
        ),
        (
            "suspension.program=icp",
            "--set: suspension.program = \"icp\": must be one of \"none\", \"ips\", \"ipc\", \
             \"iteration\", \"sliced\"; did you mean \"ipc\"?",
        ),
        (
            "policy=pes-icp",
            "--set: policy = \"pes-icp\": must be one of fifo, rps, per, pe0, pes-ips, pes-ipc; \
             did you mean \"pes-ipc\"?",
        ),
        (
            "device=3",
            "--set: device = 3: must be a string: the name of a preset or the path of a \
                      .toml file",
        ),
    ]);
}

#[test]
fn an_impossible_drive_is_refused() {
    each(&[
        (
            // 16 dies × 4 planes × 300,000 blocks × 128 pages = 2,457,600,000.
            "geometry.blocks_per_plane=300000",
            "--set: geometry.blocks_per_plane = 300000: the drive has more than 2147483632 \
             pages; channels × dies_per_channel × planes_per_die × blocks_per_plane × \
             pages_per_block must be at most that",
        ),
        (
            "geometry.chips_per_channel=2",
            "--set: geometry.chips_per_channel = 2: must divide geometry.dies_per_channel = 1",
        ),
        (
            "timing.t_voltage_reset_us=20.001",
            "--set: timing.t_voltage_reset_us = 20.001: is longer than timing.t_program_pulse_us \
             (20000 ns), a phase that can be broken off; must be at most that",
        ),
        (
            "timing.erase_segments=7",
            "--set: timing.erase_segments = 7: must divide timing.t_erase_us (3300000 ns) into \
             equal segments of whole nanoseconds",
        ),
        (
            "buffer.bytes=4095",
            "--set: buffer.bytes = 4095: must hold at least one page of 4096 bytes",
        ),
    ]);
    good(BASE, &["timing.t_voltage_reset_us=20"]);
    // Without a reset inside the phases, or where nothing breaks them off, it has any length.
    let inside = "suspension.reset_inside_phase=false";
    good(BASE, &["timing.t_voltage_reset_us=5000", inside]);
    // Segments of the erase are phases: 3300 us in 1100 have 3 us each, less than the reset of 4.
    let segments = "timing.erase_segments=1100";
    let said = bad(BASE, &[segments]);
    assert!(said.contains("than timing.t_erase_us / 1100 (3000 ns), a phase that can"), "{said}");
    good(BASE, &[segments, "suspension.erase_mode=deferred"]);
    good(BASE, &[segments, inside]);
    good(BASE, &["timing.erase_segments=825"]);
    // 2^31 - 16 pages are just possible: 16 dies × 1 plane × 1 block × 134217727 pages.
    let largest = "planes_per_die = 1\npages_per_block = 1\nblocks_per_plane = 134217727\n";
    let text = format!("{BASE}[geometry]\n{largest}");
    assert_eq!(good(&text, &[]).geometry.pages(), (1 << 31) - 16);
    assert!(bad(&text, &["geometry.blocks_per_plane=134217728"]).contains("more than"));
    // Products beyond 64 bits are refused all the same.
    let huge = "geometry.channels=2147483648";
    let more = "geometry.dies_per_channel=2147483648";
    let most = "geometry.pages_per_block=2147483648";
    assert!(bad(BASE, &[huge, more, most]).contains("more than 2147483632 pages"));
}

#[test]
fn too_little_over_provisioning_is_answered_with_what_would_do() {
    // Needed: a reserve of 2, 3 under way and 1 more = 6 blocks of 2048, a share of 0.0029297.
    assert_eq!(
        bad(BASE, &["ftl.over_provisioning=0.001"]),
        "--set: ftl.over_provisioning = 0.001: leaves 2 spare blocks of 2048 in a plane, and \
         garbage collection with ftl.gc_hard_free_blocks = 2 needs 6; must be at least 0.00293"
    );
    good(BASE, &["ftl.over_provisioning=0.00293"]);
    assert!(bad(BASE, &["ftl.over_provisioning=0.002928"]).contains("leaves 5 spare"));
    // A reserve of 10 needs 14 blocks of 20: a share of 0.7.
    let sets = ["geometry.blocks_per_plane=20", "ftl.gc_hard_free_blocks=10"];
    assert!(bad(BASE, &sets).ends_with(
        "leaves 6 spare blocks of 20 in a plane, and garbage \
        collection with ftl.gc_hard_free_blocks = 10 needs 14; must be at least 0.7"
    ));
    good(BASE, &[sets[0], sets[1], "ftl.over_provisioning=0.7"]);
    assert_eq!(
        bad(BASE, &["geometry.blocks_per_plane=6"]),
        "--set: geometry.blocks_per_plane = 6: garbage collection with ftl.gc_hard_free_blocks = \
         2 needs 6 spare blocks in a plane; must be at least 7"
    );
    good(BASE, &["geometry.blocks_per_plane=7", "ftl.over_provisioning=0.858"]);
}

#[test]
fn a_key_that_does_not_apply_is_refused() {
    each(&[
        (
            "suspension.min_remaining_us=3",
            "--set: suspension.min_remaining_us = 3: only while suspension.policy is \
             \"threshold\", but by default it is \"always\"",
        ),
        (
            "suspension.erase_timeout_us=3",
            "--set: suspension.erase_timeout_us = 3: only while suspension.erase_mode is \
             \"timeout\", but by default it is \"immediate\"",
        ),
        (
            "workload.time_scale=2",
            "--set: workload.time_scale = 2: only while workload.trace is given or \
             workload.generator is \"kv-cache\" or workload.arrivals is \"poisson\" or \
             \"fixed\" or \"hyperexponential\" or \"trains\", but by default it is \"closed\"",
        ),
        (
            "workload.rate_iops=3",
            "--set: workload.rate_iops = 3: only while workload.arrivals is \"poisson\" or \
             \"fixed\" or \"hyperexponential\" or \"trains\", but by default it is \"closed\"",
        ),
        (
            "workload.zipf_theta=1",
            "--set: workload.zipf_theta = 1: only while workload.addresses is \"zipf\", but by \
             default it is \"uniform\"",
        ),
    ]);
    let file = "[workload]\ntrace = \"Cargo.toml\"\nqueue_depth = 4\n";
    let open = format!("device = \"fast12-mlc\"\n{file}");
    assert_eq!(
        bad(&open, &[]),
        "s.toml:4: workload.queue_depth = 4: only while workload.replay is \"closed\" or \
         workload.arrivals is \"closed\", but by default it is \"open\""
    );
    good(&open, &["workload.replay=closed"]);
    good(&format!("{open}replay = \"closed\"\n"), &["workload.replay=open"]);
    assert_eq!(
        bad(&open, &["workload.replay=closed", "workload.time_scale=2"]),
        "--set: workload.time_scale = 2: must be 1 in a closed loop, which has no arrivals to scale"
    );
    let text = format!("{BASE}arrivals = \"closed\"\nrate_iops = 9\n");
    assert_eq!(
        bad(&text, &[]),
        "s.toml:8: workload.rate_iops = 9: only while workload.arrivals is \"poisson\" or \
         \"fixed\" or \"hyperexponential\" or \"trains\", but it is \"closed\" at s.toml:7"
    );
    let both = format!("{BASE}trace = \"a.gz\"\n");
    assert_eq!(
        bad(&both, &[]),
        "s.toml:7: workload.trace = \"a.gz\": contradicts workload.generator = \"mixed\" at \
         s.toml:3; give one of them"
    );
    let over = "workload.trim_fraction=0.4";
    assert_eq!(
        bad(BASE, &[over]),
        "s.toml:5: workload.read_fraction = 0.7: with workload.trim_fraction = 0.4 must be at \
         most 1 in all"
    );
}

#[test]
fn a_missing_key_is_named() {
    let devices = device_names();
    let workload = BASE.split_once('\n').expect("BASE has lines").1;
    assert_eq!(
        bad(workload, &[]),
        format!(
            "s.toml: geometry.channels is missing: must be an integer from 1 to 2147483648; or \
             give device, one of {devices}, which has one"
        )
    );
    assert_eq!(
        bad("device = \"fast12-mlc\"\n", &[]),
        "s.toml: [workload] has neither trace nor generator nor fio; give one, such as generator = \
         \"mixed\""
    );
    assert_eq!(
        bad(&BASE.replace("queue_depth = 4\n", ""), &[]),
        "s.toml: workload.queue_depth is missing: must be an integer from 1 to 65536"
    );
    let bare = "device = \"fast12-mlc\"\n[workload]\ngenerator = \"mixed\"\n";
    let requests = "s.toml: workload.requests is missing: must be an integer from 1 to \
                    18446744073709551615; missing as well: workload.read_fraction, workload.";
    assert_eq!(bad(bare, &[]), format!("{requests}queue_depth"));
    // The required keys of a load depend on its arrivals.
    assert_eq!(bad(bare, &["workload.arrivals=poisson"]), format!("{requests}rate_iops"));
    let zipf = format!("{BASE}addresses = \"zipf\"\n");
    assert_eq!(
        bad(&zipf, &[]),
        "s.toml: workload.zipf_theta is missing: must be a number above 0 and at most 10"
    );
    let timeout = bad(BASE, &["suspension.erase_mode=timeout"]);
    assert!(timeout.starts_with("s.toml: suspension.erase_timeout_us is missing"), "{timeout}");
}

#[test]
fn an_override_that_is_none_is_refused() {
    assert_eq!(
        bad(BASE, &["seed"]),
        "--set: \"seed\": must be KEY=VALUE, such as timing.t_read_us=30"
    );
    for set in ["workload.devices=[1, 2", "name=\"open", "name="] {
        assert!(bad(BASE, &[set]).contains(": not a TOML value: "), "{set}");
    }
}

#[test]
fn the_rig_has_a_device_and_no_workload() {
    let rig = |device: &str, sets: &[&str]| {
        let sets: Vec<_> = sets.iter().map(|set| set.to_string()).collect();
        load_rig(device, &sets, &REGISTRIES).map_err(|error| error.to_string())
    };
    let scenario = rig("fast12-slc", &["timing.t_read_us=11"]).expect("it is complete");
    assert_eq!(scenario.workload, None);
    assert_eq!(scenario.timing.read.ns(), 11_000);
    assert_eq!(scenario.device, "fast12-slc");
    // The rig has no mapping, so a handful of blocks is enough for it.
    rig("fast12-slc", &["geometry.blocks_per_plane=2"]).expect("the rig moves no page");
    assert_eq!(
        rig("fast12-slc", &["workload.generator=mixed"]),
        Err("--set: workload.generator = \"mixed\": the rig has no workload; leave it out"
            .to_string())
    );
    assert_eq!(
        rig("fast12", &[]),
        Err(format!(
            "--device: device = \"fast12\": must be one of {}, or a path that ends in .toml; did \
             you mean \"fast12-slc\"?",
            device_names()
        ))
    );
}

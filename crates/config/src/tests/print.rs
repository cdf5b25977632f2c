//! The printed scenario: complete, and read back as the same.

use proptest::prelude::*;

use super::super::read::{self, Rank};
use super::super::{Key, Scenario, keys, print};
use super::{BASE, good};

fn reloaded(scenario: &Scenario) -> Scenario {
    good(&print(scenario), &[])
}

/// By hand: the keys that only stack layers, those of a trace, and those of other choices.
const APPLY_ELSEWHERE: [&str; 154] = [
    "device",
    "part",
    "load",
    "policy",
    "timing.t_erase_us_by_cycles",
    "timing.page_type_order",
    "timing.t_read_us_by_type",
    "timing.program_iterations_by_type",
    "parallelism.joint_read_done",
    "suspension.slice_iterations",
    "suspension.t_slice_overhead_us",
    "suspension.erase_timeout_us",
    // Printed as the two that it stands for.
    "suspension.max_per_operation",
    "scheduling.write_queue_limit_scope",
    "scheduling.age_limit_us",
    "scheduling.read_deadline_us",
    "scheduling.write_deadline_us",
    "scheduling.gc_deadline_us",
    "scheduling.steps",
    "scheduling.paq_window_pages",
    "scheduling.paq_conflict",
    "scheduling.mbm_channel_limit",
    "scheduling.mbm_share_when",
    "scheduling.mbm_share_writes",
    "scheduling.mbm_share_read_weight",
    "scheduling.mbm_share_collection",
    "scheduling.mbm_unit",
    "scheduling.mbm_ties",
    "scheduling.mbm_alignment",
    "scheduling.mbm_chips",
    "scheduling.mbm_first_chip",
    "scheduling.mbm_joint_reads",
    "scheduling.mbm_read_areas",
    "scheduling.mbm_read_threshold_pages",
    "scheduling.mbm_read_area_bytes",
    "scheduling.mbm_read_area_end",
    "scheduling.mbm_redistribution",
    "scheduling.mbm_redistributed_pages",
    "scheduling.mbm_writes_per_redistributed_page",
    "scheduling.mbm_redistribution_when",
    "thermal.model",
    "thermal.ambient_c",
    "thermal.start_c",
    "thermal.c_per_w",
    "thermal.time_constant_s",
    "thermal.p_controller_mw",
    "thermal.poll_us",
    "thermal.light_c",
    "thermal.heavy_c",
    "thermal.hysteresis_c",
    "thermal.light_budget_mw",
    "thermal.heavy_budget_mw",
    "ftl.gc_choices",
    "ftl.gc_window_blocks",
    "ftl.gc_holds_channel",
    "ftl.busy_window_us",
    "ftl.busy_window_start_us",
    "ftl.gc_victims_in_step",
    "ftl.hot_window_share",
    "ftl.placement_handles",
    "ftl.refresh_retries",
    "ftl.map_cache_bytes",
    "ftl.map_cache_policy",
    "ftl.wait_for_planes",
    "slc_cache.blocks_per_plane",
    "slc_cache.min_free_share",
    "slc_cache.fold",
    "slc_cache.t_slc_read_us",
    "slc_cache.slc_program_iterations",
    "slc_cache.program_suspends",
    "slc_cache.wear_per_erase",
    "slc_cache.rber_factor",
    "precondition.load",
    "zones.size_bytes",
    "zones.planes",
    "zones.max_open",
    "zones.max_active",
    "zones.reset",
    "buffer.replacement",
    "buffer.high_watermark",
    "buffer.low_watermark",
    "buffer.flush_idle_us",
    "buffer.throttle_below_free_share",
    "buffer.quota_window_us",
    "read_cache.replacement",
    "read_cache.fill_on_write",
    "host.queues",
    "host.queue_entries",
    "host.outstanding",
    "host.arbitration",
    "host.arbitration_burst",
    "host.queue_weights",
    "host.class_weights",
    "host.queue_priorities",
    "host.t_command_us",
    "host.pcie_packet_bytes",
    "host.commands_cross_link",
    "host.pcie_lanes",
    "workload.trace",
    "workload.fio",
    "workload.queues",
    "workload.placement",
    "workload.format",
    "workload.columns",
    "workload.sector_bytes",
    "workload.blktrace_action",
    "workload.etw_time",
    "workload.iolog_wait",
    "workload.same_second",
    "workload.row_op",
    "workload.row_interval_us",
    "workload.zero_length",
    "workload.replay",
    "workload.clock",
    "workload.start_s",
    "workload.duration_s",
    "workload.repeat",
    "workload.max_requests",
    "workload.devices",
    "workload.address",
    "workload.drop_duplicates_within_us",
    "workload.sort_window_requests",
    "workload.zipf_theta",
    "workload.zipf_unit_bytes",
    "workload.hot_share",
    "workload.hot_fraction",
    "workload.sequential_by_size",
    "workload.repeat_by_size",
    "workload.rate_iops",
    "workload.simultaneous_fraction",
    "workload.burst_fraction",
    "workload.burst_gap_us",
    "workload.burst_length",
    "workload.train_requests",
    "workload.train_gap_us",
    "workload.train_simultaneous_fraction",
    "workload.train_bias",
    "workload.train_span_s",
    "workload.train_independent_s",
    "workload.train_tick_us",
    "workload.time_scale",
    "workload.kv_prompts",
    "workload.kv_trace",
    "workload.kv_rate_per_s",
    "workload.kv_turns",
    "workload.kv_prompt_tokens",
    "workload.kv_turn_tokens",
    "workload.kv_think_s",
    "workload.kv_bytes_per_token",
    "workload.kv_block_tokens",
    "workload.kv_request_bytes",
    "workload.kv_dram_bytes",
    "workload.kv_store",
    "workload.kv_store_bytes_per_s",
];

#[test]
fn every_key_that_applies_is_printed_once_and_no_preset_is_needed() {
    let printed = print(&good(BASE, &["policy=pes-ips"]));
    let leaves = read::read(&printed, "printed", Rank::File).expect("it is TOML");
    let leaves = leaves.leaves;
    // Those of errors and wear, of power, and of its loss, are in tests of their own.
    let is_here =
        |key: &&Key| !["reliability", "ecc", "power", "power_loss"].contains(&key.section());
    let of_policy = |key: &&Key| key.when.iter().any(|need| need.key == "suspension.policy");
    let names =
        keys().iter().filter(is_here).filter(|key| !of_policy(key)).map(|key| key.full_name);
    // Those of a suspension policy are its own affair.
    let missing: Vec<_> = names.filter(|name| !leaves.contains_key(name)).collect();
    assert_eq!(missing, APPLY_ELSEWHERE);
    assert!(printed.contains("\nname = \"fast12-mlc\"\n"), "{printed}");
}

#[test]
fn powers_are_printed_where_somebody_asks_for_them() {
    let powers = |sets: &[&str]| {
        let printed = print(&good(BASE, sets));
        let leaves = read::read(&printed, "printed", Rank::File).expect("it is TOML").leaves;
        leaves.keys().filter(|name| name.starts_with("power.")).count()
    };
    let all = keys().iter().filter(|key| key.section() == "power").count();
    assert_eq!(powers(&[]), 1);
    assert_eq!(powers(&["power.account=on"]), all);
    for sets in [
        vec!["power.account=on", "power.p_sense_mw=31.245", "power.e_io_pj_per_bit=0.3"],
        vec![
            "power.account=on",
            "timing.page_types=3",
            "power.p_sense_mw_by_type=[50, 60, 70]",
            "power.budget_mw=500.5",
            "power.budget_counts=peak",
            "power.max_active_dies=3",
            "power.series_us=0.5",
        ],
        vec![
            "power.account=on",
            "thermal.model=rc",
            "thermal.start_c=-1.5",
            "thermal.c_per_w=12.25",
            "thermal.time_constant_s=60",
            "thermal.light_budget_mw=800.5",
            "thermal.heavy_budget_mw=400",
        ],
    ] {
        let scenario = good(BASE, &sets);
        assert_eq!(reloaded(&scenario), scenario, "{sets:?}");
    }
}

/// Each set changes something, and is in what is printed.
fn are_read_back(all: &[Vec<&str>]) {
    for sets in all {
        let scenario = good(BASE, sets);
        assert_ne!(scenario, good(BASE, &[]), "{sets:?} change something");
        assert_eq!(reloaded(&scenario), scenario, "{sets:?}");
    }
}

#[test]
fn awkward_values_of_the_flash_are_read_back() {
    are_read_back(&[
        vec!["name=\"a \\\"quote\\\", a \\\\ and a \\t\""],
        vec!["seed=18446744073709551615"],
        vec!["timing.t_read_us=0.001", "timing.t_bus_us=12.34"],
        vec!["suspension.policy=threshold", "suspension.min_remaining_us=0.5"],
        vec!["suspension.erase_mode=timeout", "suspension.erase_timeout_us=0.25"],
        vec!["suspension.erase_mode=deferred", "timing.erase_segments=7", "timing.t_erase_us=70"],
        vec!["suspension.reset_inside_phase=false", "timing.t_voltage_reset_us=5000"],
        vec!["timing.page_types=3", "timing.t_read_us_by_type=[56.5, 77.5, 106]"],
        vec!["timing.page_types=3", "timing.page_type_order=interleaved"],
        vec!["timing.page_types=2", "timing.program_iterations_by_type=[7, 1]"],
        vec!["timing.program_iterations_weights=[[24, 1], [25, 65535]]"],
        vec!["suspension.retention_iterations=3", "suspension.retention_first_share=0.123456"],
        vec![
            "suspension.program=sliced",
            "suspension.slice_iterations=3",
            "suspension.t_slice_overhead_us=0.5",
        ],
        vec!["part=tlc3d-starblaze", "timing.values=maximum"],
        vec!["part=tlc3d-aero"],
        vec!["scheduling.policy=microcode"],
        vec!["ftl.copyback=true"],
        vec!["timing.wordline_pages=4", "timing.t_load_gap_us=1.5"],
        vec!["ftl.wordline_timeout_us=7"],
        vec!["parallelism.multi_plane=block"],
        vec!["parallelism.multi_plane=page", "timing.wordline_pages=4", "ftl.wait_for_planes=true"],
        vec!["parallelism.multi_plane=page", "ftl.gc_parallel_planes=true"],
        vec![
            "parallelism.multi_plane=page",
            "ftl.gc_stream=separate",
            "ftl.gc_parallel_planes=true",
            "ftl.gc_victims_in_step=true",
        ],
        vec!["parallelism.multi_plane=page", "parallelism.joint_read_done=command"],
        vec!["parallelism.cache_program=true"],
        vec!["parallelism.independent_plane_reads=true"],
        vec!["suspension.host_read_suspends=[]"],
        vec!["suspension.host_write_suspends=[\"erase\"]"],
        vec!["ftl.gc_victim=d-choices", "ftl.gc_choices=3"],
        vec!["ftl.stream=hot-cold", "ftl.hot_window_share=0.3", "ftl.gc_stream=separate"],
        vec!["ftl.stream=placement", "ftl.placement_handles=3", "workload.placement=2"],
        vec![
            "zones.model=host-managed",
            "zones.max_open=3",
            "zones.reset=erased",
            "zones.planes=4",
            "workload.read_fraction=1",
        ],
        vec!["ftl.gc_preemptible=false", "ftl.gc_dies_max=3"],
        vec!["ftl.gc_preemptible=false", "ftl.gc_holds_channel=true"],
        vec!["ftl.gc_rate_pages_per_write=0.75"],
        vec!["ftl.free_block=least-worn", "ftl.static_wear_spread=9"],
        vec!["ftl.count_erases=true"],
        vec!["ftl.factory_bad_share=0.01", "nand.program_failure=1e-5"],
        vec!["nand.erase_failure=0.25"],
        vec!["ftl.mapping=demand"],
        vec!["ftl.partial_write=track_sectors"],
        vec!["ftl.partial_write=pad"],
        vec!["ftl.mapping=demand", "ftl.map_cache_bytes=800", "ftl.map_cache_policy=lru"],
    ]);
}

#[test]
fn awkward_values_of_host_and_load_are_read_back() {
    are_read_back(&[
        vec!["workload.request_bytes=[[4096, 2.5]]"],
        vec!["workload.trace=Cargo.toml", "workload.devices=[7, 1]", "workload.duration_s=0.25"],
        vec!["workload.trace=Cargo.toml", "workload.devices=merge", "workload.unwritten=zero"],
        vec!["workload.trace=Cargo.toml", "workload.replay=closed", "workload.queue_depth=3"],
        vec!["workload.trace=Cargo.toml", "workload.columns=time_s,sector,bytes,op"],
        vec!["workload.trace=Cargo.toml", "workload.sector_bytes=1024", "workload.row_op=write"],
        vec!["workload.trace=Cargo.toml", "workload.row_op=read", "workload.row_interval_us=2.5"],
        vec!["workload.trace=Cargo.toml", "workload.blktrace_action=issue"],
        vec!["workload.trace=Cargo.toml", "workload.repeat=3"],
        vec!["workload.trace=Cargo.toml", "workload.etw_time=end", "workload.address=clamp"],
        vec!["workload.trace=Cargo.toml", "workload.iolog_wait=absolute-ms"],
        vec!["workload.trace=Cargo.toml", "workload.same_second=as-written"],
        vec!["workload.trace=Cargo.toml", "workload.zero_length=error", "workload.address=drop"],
        vec!["channel.order=data_first", "channel.transfer_unit_bytes=1024"],
        vec!["channel.order=commands_first"],
        vec!["scheduling.policy=rps-age", "scheduling.age_limit_us=0.5"],
        vec!["scheduling.policy=deadline", "scheduling.read_deadline_us=7"],
        vec![
            "scheduling.policy=deadline",
            "scheduling.write_deadline_us=8",
            "scheduling.gc_deadline_us=9",
        ],
        vec!["workload.arrivals=fixed", "workload.rate_iops=1e-3", "workload.time_scale=0.3"],
        vec!["workload.read_request_bytes=[[512, 1.0], [1024, 3.0]]"],
        vec!["workload.write_request_bytes=8192", "workload.write_sequential_fraction=0.25"],
        vec!["workload.footprint_bytes=1048576"],
        vec!["workload.footprint_share=0.5"],
        vec!["workload.footprint_start_bytes=1048576", "workload.footprint_bytes=8192"],
        vec!["host.pcie_generation=5", "host.pcie_lanes=2"],
        vec!["host.pcie_max_payload_bytes=256", "host.pcie_packet_bytes=20"],
        vec!["host.interface=nvme", "host.commands_cross_link=true"],
        vec!["buffer.acknowledge=back", "buffer.replacement=lru", "buffer.low_watermark=0.1"],
        vec!["buffer.acknowledge=back", "buffer.replacement=fifo", "buffer.flush_idle_us=7"],
        vec!["read_cache.bytes=65536", "read_cache.fill_on_write=true"],
        vec!["read_cache.bytes=65536", "read_cache.replacement=fifo"],
        vec!["host.interface=sata", "host.t_command_us=0.5"],
        vec!["host.order=in_order", "buffer.read_hits=false"],
        vec!["scheduling.write_queue_limit=7", "scheduling.write_queue_limit_scope=drive"],
        vec!["host.interface=nvme", "host.queues=3", "host.outstanding=7"],
        vec!["host.interface=nvme", "host.arbitration=weighted", "host.queue_weights=[9]"],
        vec![
            "host.interface=nvme",
            "host.queues=2",
            "host.arbitration=strict-priority",
            "host.queue_priorities=[\"high\", \"low\"]",
        ],
        vec![
            "host.interface=nvme",
            "host.arbitration=weighted-classes",
            "host.class_weights=[4, 2, 1]",
            "host.queue_priorities=[\"medium\"]",
        ],
        vec!["workload.addresses=zipf", "workload.zipf_theta=1", "workload.zipf_unit_bytes=12288"],
    ]);
}

#[test]
fn awkward_values_of_dispatchers_are_read_back() {
    are_read_back(&[
        vec![
            "scheduling.dispatch=sprinkler",
            "ftl.twin_blocks=true",
            "parallelism.multi_plane=page",
        ],
        [SLC, &["slc_cache.mode=static", "slc_cache.blocks_per_plane=3"]].concat(),
        [SLC, &["slc_cache.mode=dynamic", "slc_cache.fold=pressure"]].concat(),
        vec!["scheduling.dispatch=paq", "scheduling.paq_conflict=die"],
        vec!["scheduling.dispatch=mbm"],
        vec![
            "scheduling.dispatch=mbm",
            "scheduling.mbm_channel_limit=printed",
            "scheduling.mbm_share_when=arrival",
            "scheduling.mbm_share_writes=all",
            "scheduling.mbm_share_read_weight=0",
            "scheduling.mbm_share_collection=true",
            "scheduling.mbm_unit=die",
            "scheduling.mbm_ties=in-order",
            "scheduling.mbm_alignment=largest",
            "scheduling.mbm_first_chip=request",
            "scheduling.mbm_joint_reads=any",
            "scheduling.mbm_read_area_end=never",
            "scheduling.mbm_redistribution=channels",
            "scheduling.mbm_redistributed_pages=3",
            "scheduling.mbm_writes_per_redistributed_page=20",
            "scheduling.mbm_redistribution_when=spare",
        ],
        vec![
            "scheduling.dispatch=mbm",
            "scheduling.mbm_channel_limit=none",
            "scheduling.mbm_chips=in-order",
            "scheduling.mbm_read_areas=as-others",
        ],
        vec!["scheduling.dispatch=mbm", "scheduling.mbm_redistribution=none"],
        vec!["scheduling.dispatch=mbm", "scheduling.mbm_read_areas=even"],
    ]);
}

const SLC: &[&str] = &[
    "slc_cache.t_slc_read_us=30",
    "slc_cache.slc_program_iterations=3",
    "timing.wordline_pages=2",
];

/// Overrides of everything that has a range, valid in any combination.
fn sets() -> impl Strategy<Value = Vec<String>> {
    let us = |key: &'static str, ns: std::ops::Range<u64>| {
        ns.prop_map(move |ns| format!("{key}={}.{:03}", ns / 1000, ns % 1000))
    };
    let word = |key: &'static str, words: &'static [&'static str]| {
        prop::sample::select(words).prop_map(move |word| format!("{key}={word}"))
    };
    let drive = (
        (1u32..9, 1u32..4).prop_map(|(dies, chips)| {
            format!("geometry.dies_per_channel={}|geometry.chips_per_channel={chips}", dies * chips)
        }),
        (64u32..3000).prop_map(|count| format!("geometry.blocks_per_plane={count}")),
        (1u32..32).prop_map(|count| format!("geometry.page_bytes={}", count * 512)),
        us("timing.t_read_us", 0..1_000_000),
        us("timing.t_erase_us", 10_000..9_000_000_000),
        us("timing.t_voltage_reset_us", 0..10_001),
        (0.2f64..0.9).prop_map(|share| format!("ftl.over_provisioning={share:?}")),
        (1u32..5).prop_map(|count| format!("ftl.gc_hard_free_blocks={count}")),
    );
    let policies = (
        word("suspension.program", &["none", "ips", "ipc", "iteration"]),
        word("suspension.erase_resume", &["exact", "redo_phase", "restart"]),
        word("suspension.vth_reached", &["never", "always", "proportional"]),
        word(
            "suspension.same_block",
            &["wordline", "block|suspension.max_per_program=1", "page|suspension.max_per_erase=9"],
        ),
        word("suspension.gc_read_suspends", &["[]", "[\"erase\"]", "[\"erase\", \"program\"]"]),
        word("ftl.precondition", &["none", "sequential", "steady"]),
        word("buffer.acknowledge", &["through", "back"]),
        word("scheduling.write_queue_limit", &["none", "64"]),
        (
            word("timing.read_law", &["fixed", "exponential"]),
            word("suspension.restore", &["atomic", "interruptible"]),
            word("suspension.resume_at", &["data_out", "array_read"]),
            word("suspension.reset_inside_phase", &["true", "false"]),
            word(
                "suspension.erase_mode",
                &["immediate", "deferred", "timeout|suspension.erase_timeout_us=1.5"],
            ),
        ),
    );
    let workload = (
        (0.0f64..=0.5).prop_map(|share| format!("workload.read_fraction={share:?}")),
        (0.0f64..=0.5).prop_map(|share| format!("workload.trim_fraction={share:?}")),
        prop_oneof![
            Just("workload.addresses=sequential".to_string()),
            (0.01f64..3.0)
                .prop_map(|t| format!("workload.addresses=zipf|workload.zipf_theta={t:?}")),
        ],
        (1.0f64..1e6)
            .prop_map(|rate| format!("workload.arrivals=poisson|workload.rate_iops={rate:?}")),
        any::<u64>().prop_map(|seed| format!("seed={seed}")),
    );
    (drive, policies, workload).prop_map(|(d, p, w)| {
        let all = [
            d.0, d.1, d.2, d.3, d.4, d.5, d.6, d.7, p.0, p.1, p.2, p.3, p.4, p.5, p.6, p.7, p.8.0,
            p.8.1, p.8.2, p.8.3, p.8.4, w.0, w.1, w.2, w.3, w.4,
        ];
        all.iter().flat_map(|set| set.split('|')).map(str::to_string).collect()
    })
}

proptest! {
    #[test]
    fn loading_what_was_printed_gives_the_same(sets in sets()) {
        let sets: Vec<_> = sets.iter().map(String::as_str).collect();
        let scenario = good(BASE, &sets);
        let printed = print(&scenario);
        let again = good(&printed, &[]);
        prop_assert_eq!(&again, &scenario);
        prop_assert_eq!(print(&again), printed);
    }
}

#[test]
fn clocks_and_dies_of_flows_are_read_back() {
    let text = "device = \"fast12-mlc\"\n[workload]\ntrace = \"Cargo.toml\"\n\
                [flow.a]\nclock = \"own\"\nchannels = [1, 0]\n[flow.b]\ndies = [5]\nrepeat = 2\n";
    let scenario = good(text, &[]);
    assert_eq!(scenario.parts()[0].dies, [0, 1]);
    assert_eq!(reloaded(&scenario), scenario);
}

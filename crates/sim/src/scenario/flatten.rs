//! From the typed scenario back to the values of its keys: the inverse of `build`.

use reprieve_base::{Dur, Geometry};
use reprieve_nand::{EraseMode, Parallelism, Suspension, Timing};
use reprieve_trace::{
    Addresses, Arrivals, Footprint, Hyperexponential, MixedConfig, TraceConfig, WorkloadConfig,
};

use super::resolve::Values;
use super::value::Value;
use super::words::Word;
use super::{
    Ftl, Scenario, SuspendRules, dispatch, front, measure, power, power_loss, reliability,
};

pub(super) type Pair = (&'static str, Option<Value>);

/// The values that make this scenario.
pub(super) fn values(scenario: &Scenario) -> Values {
    let mut pairs = vec![
        ("seed", count(scenario.seed)),
        ("name", text(&scenario.device)),
        ("scheduling.policy", text(&scenario.scheduling.policy)),
        ("scheduling.write_queue_limit", scenario.scheduling.write_queue_limit.and_then(count)),
        (
            "scheduling.write_queue_limit_scope",
            scenario
                .scheduling
                .write_queue_limit
                .and_then(|_| text(scenario.scheduling.write_queue_limit_scope.word())),
        ),
        ("scheduling.age_limit_us", scenario.scheduling.age_limit.and_then(dur)),
        ("scheduling.steps", scenario.scheduling.steps.clone().map(Value::Steps)),
        ("channel.order", text(scenario.channel.order.word())),
        ("channel.transfer_unit_bytes", scenario.channel.transfer_unit_bytes.and_then(count)),
    ];
    pairs.extend(dispatch::pairs(&scenario.scheduling.dispatch));
    pairs.extend(front::pairs(scenario));
    pairs.extend(power::pairs(&scenario.power));
    pairs.extend(power_loss::pairs(&scenario.power_loss));
    pairs.extend(measure::pairs(&scenario.measure));
    if let Some(deadlines) = scenario.scheduling.deadlines {
        pairs.extend([
            ("scheduling.read_deadline_us", dur(deadlines.read)),
            ("scheduling.write_deadline_us", dur(deadlines.write)),
            ("scheduling.gc_deadline_us", dur(deadlines.gc)),
        ]);
    }
    pairs.extend(geometry(&scenario.geometry));
    pairs.extend(timing(&scenario.timing));
    pairs.extend(suspension(&scenario.suspension));
    pairs.extend(parallelism(&scenario.parallelism));
    pairs.extend(reliability::pairs(scenario));
    pairs.extend(suspend_rules(&scenario.suspend_rules));
    pairs.extend(scenario.suspend_rules.parameters.pairs());
    pairs.extend(ftl(&scenario.ftl));
    pairs.extend(super::ftl::pairs(&scenario.ftl));
    if scenario.workload.is_some() || scenario.fio.is_some() {
        let unwritten = if scenario.host.unwritten_costs_read { "flash" } else { "zero" };
        pairs.push(("workload.unwritten", text(unwritten)));
        pairs.push(front::queues_pair(&scenario.queues));
        pairs.push(("workload.fio", scenario.fio.as_deref().and_then(text)));
    }
    match &scenario.workload {
        Some(WorkloadConfig::Trace(config)) => pairs.extend(trace(config)),
        Some(WorkloadConfig::Mixed(config)) => pairs.extend(mixed(config)),
        // Its file says what it is.
        Some(WorkloadConfig::Fio(_)) | None => {}
    }
    Values::of(pairs)
}

pub(super) fn count(count: impl Into<u64>) -> Option<Value> {
    Some(Value::Count(count.into()))
}

pub(super) fn number(number: f64) -> Option<Value> {
    Some(Value::Number(number))
}

pub(super) fn flag(flag: bool) -> Option<Value> {
    Some(Value::Flag(flag))
}

pub(super) fn dur(dur: Dur) -> Option<Value> {
    Some(Value::Duration(dur))
}

pub(super) fn text(text: &str) -> Option<Value> {
    Some(Value::Text(text.to_string()))
}

fn geometry(geometry: &Geometry) -> [Pair; 7] {
    [
        ("geometry.channels", count(geometry.channels)),
        ("geometry.dies_per_channel", count(geometry.dies_per_channel)),
        ("geometry.chips_per_channel", count(geometry.chips_per_channel)),
        ("geometry.planes_per_die", count(geometry.planes_per_die)),
        ("geometry.blocks_per_plane", count(geometry.blocks_per_plane)),
        ("geometry.pages_per_block", count(geometry.pages_per_block)),
        ("geometry.page_bytes", count(geometry.page_bytes)),
    ]
}

fn timing(timing: &Timing) -> Vec<Pair> {
    let mut pairs = vec![
        ("timing.values", text("typical")),
        ("timing.t_command_us", dur(timing.command)),
        ("timing.t_bus_us", dur(timing.bus)),
        ("timing.t_read_us", dur(timing.read)),
        ("timing.read_law", text(timing.read_law.word())),
        ("timing.program_iterations", count(timing.program_iterations)),
        ("timing.t_program_pulse_us", dur(timing.program_pulse)),
        ("timing.t_verify_us", dur(timing.verify)),
        ("timing.t_erase_us", dur(timing.erase)),
        ("timing.erase_segments", count(timing.erase_segments)),
        ("timing.t_erase_verify_us", dur(timing.erase_verify)),
        ("timing.t_voltage_reset_us", dur(timing.voltage_reset)),
        ("timing.t_buffer_us", dur(timing.buffer)),
        ("timing.t_suspend_overhead_us", dur(timing.suspend_overhead)),
        ("timing.cache_register", flag(timing.cache_register)),
    ];
    let (pages, gap) = match timing.wordline {
        None => (1, Dur::ZERO),
        Some(wordline) => (wordline.pages, wordline.load_gap),
    };
    pairs.extend([("timing.wordline_pages", count(pages)), ("timing.t_load_gap_us", dur(gap))]);
    if let Some(types) = &timing.page_types {
        let used = types.count as usize;
        let iterations = types.program_iterations[..used].iter().copied().map(u64::from);
        // Of wordlines that have an own number, or one for all their pages, none goes by type.
        let by_type = timing.spread.is_none() && timing.wordline.is_none();
        pairs.extend([
            ("timing.page_types", count(types.count)),
            ("timing.page_type_order", text(types.order.word())),
            ("timing.t_read_us_by_type", Some(Value::Durations(types.read[..used].to_vec()))),
            (
                "timing.program_iterations_by_type",
                by_type.then(|| Value::Counts(iterations.collect())),
            ),
        ]);
    }
    if let Some(spread) = &timing.spread {
        let weights = Value::Weights(spread.entries().to_vec());
        pairs.push(("timing.program_iterations_weights", Some(weights)));
    }
    if let Some(slices) = timing.slices {
        pairs.extend([
            ("suspension.slice_iterations", count(slices.iterations)),
            ("suspension.t_slice_overhead_us", dur(slices.overhead)),
        ]);
    }
    pairs
}

fn suspension(suspension: &Suspension) -> [Pair; 17] {
    let retention = &suspension.retention;
    let share = |ppm: u32| number(f64::from(ppm) / 1e6);
    let (erase_mode, erase_timeout) = match suspension.erase_mode {
        EraseMode::Immediate => ("immediate", None),
        EraseMode::Deferred => ("deferred", None),
        EraseMode::Timeout(limit) => ("timeout", dur(limit)),
    };
    [
        ("suspension.program", text(suspension.program.word())),
        ("suspension.retention_iterations", count(retention.iterations)),
        ("suspension.retention_first_share", share(retention.first_share_ppm)),
        ("suspension.retention_second_share", share(retention.second_share_ppm)),
        ("suspension.erase", flag(suspension.erase)),
        ("suspension.erase_mode", text(erase_mode)),
        ("suspension.erase_timeout_us", erase_timeout),
        ("suspension.erase_resume", text(suspension.erase_resume.word())),
        ("suspension.reset_inside_phase", flag(suspension.reset_inside_phase)),
        ("suspension.shadow_buffer", flag(suspension.shadow_buffer)),
        ("suspension.restore", text(suspension.restore.word())),
        ("suspension.resume_at", text(suspension.resume_at.word())),
        ("suspension.vth_reached", text(suspension.vth_reached.word())),
        ("suspension.same_block", text(suspension.same_block.word())),
        ("suspension.max_per_program", suspension.max_per_program.and_then(count)),
        ("suspension.max_per_erase", suspension.max_per_erase.and_then(count)),
        ("suspension.min_progress_us", dur(suspension.min_progress)),
    ]
}

fn parallelism(parallelism: &Parallelism) -> [Pair; 4] {
    let stops = if parallelism.plane_suspension { "plane" } else { "whole" };
    [
        ("suspension.multi_plane", text(stops)),
        ("parallelism.multi_plane", text(parallelism.multi_plane.word())),
        ("parallelism.independent_plane_reads", flag(parallelism.independent_plane_reads)),
        ("parallelism.cache_program", flag(parallelism.cache_program)),
    ]
}

fn suspend_rules(rules: &SuspendRules) -> [Pair; 5] {
    [
        ("suspension.policy", text(&rules.policy)),
        ("suspension.host_read_suspends", Some(Value::Operations(rules.host_read_suspends))),
        ("suspension.rmw_read_suspends", Some(Value::Operations(rules.rmw_read_suspends))),
        ("suspension.gc_read_suspends", Some(Value::Operations(rules.gc_read_suspends))),
        ("suspension.host_write_suspends", Some(Value::Operations(rules.host_write_suspends))),
    ]
}

fn ftl(ftl: &Ftl) -> [Pair; 12] {
    [
        ("ftl.over_provisioning", number(ftl.over_provisioning)),
        ("ftl.placement", text(&ftl.placement)),
        ("ftl.gc_victim", text(&ftl.gc_victim)),
        ("ftl.gc_choices", ftl.gc_choices.and_then(count)),
        ("ftl.gc_window_blocks", ftl.gc_window_blocks.and_then(count)),
        ("ftl.gc_start_free_share", number(ftl.gc_start_free_share)),
        ("ftl.gc_hard_free_blocks", count(ftl.gc_hard_free_blocks)),
        ("ftl.gc_background", flag(ftl.gc_background)),
        ("ftl.wordline_timeout_us", dur(ftl.wordline_timeout)),
        ("ftl.twin_blocks", flag(ftl.twin_blocks)),
        ("ftl.copyback", flag(ftl.copyback)),
        ("ftl.precondition", text(ftl.precondition.word())),
    ]
}

fn trace(config: &TraceConfig) -> Vec<Pair> {
    let path = config.path.to_str().expect("a path out of a scenario is UTF-8");
    let mut pairs = super::reading::pairs(&config.reading);
    pairs.extend([
        ("workload.trace", text(path)),
        ("workload.replay", text(if config.queue_depth.is_some() { "closed" } else { "open" })),
        ("workload.queue_depth", config.queue_depth.and_then(count)),
        ("workload.time_scale", number(config.time_scale)),
        ("workload.start_s", dur(config.start)),
        ("workload.duration_s", config.duration.and_then(dur)),
        ("workload.max_requests", config.max_requests.and_then(count)),
        ("workload.devices", Some(Value::Devices(config.devices.clone()))),
        ("workload.address", text(config.address.word())),
        ("workload.drop_duplicates_within_us", config.drop_duplicates_within.and_then(dur)),
        ("workload.sort_window_requests", count(config.sort_window_requests)),
    ]);
    pairs
}

fn mixed(config: &MixedConfig) -> Vec<Pair> {
    let sizes = |sizes: &Vec<(u32, f64)>| Some(Value::Sizes(sizes.clone()));
    let (footprint_bytes, footprint_share) = match config.footprint {
        Footprint::Bytes(bytes) => (count(bytes), None),
        Footprint::Share(share) => (None, number(share)),
    };
    let mut pairs = vec![
        ("workload.generator", text("mixed")),
        ("workload.requests", count(config.requests)),
        ("workload.read_fraction", number(config.read_fraction)),
        ("workload.trim_fraction", number(config.trim_fraction)),
        ("workload.flush_every_requests", config.flush_every_requests.and_then(count)),
        ("workload.fua_fraction", number(config.fua_fraction)),
        ("workload.request_bytes", sizes(&config.sizes)),
        ("workload.read_request_bytes", config.read_sizes.as_ref().and_then(sizes)),
        ("workload.write_request_bytes", config.write_sizes.as_ref().and_then(sizes)),
        ("workload.align_bytes", count(config.align_bytes)),
        ("workload.footprint_start_bytes", count(config.footprint_start_bytes)),
        ("workload.footprint_bytes", footprint_bytes),
        ("workload.footprint_share", footprint_share),
    ];
    pairs.extend(addresses(config));
    pairs.extend(arrivals(config));
    pairs
}

fn addresses(config: &MixedConfig) -> Vec<Pair> {
    let mut pairs = match config.addresses {
        Addresses::Uniform => vec![("workload.addresses", text("uniform"))],
        Addresses::Sequential => return vec![("workload.addresses", text("sequential"))],
        Addresses::Zipf { theta, unit_bytes } => vec![
            ("workload.addresses", text("zipf")),
            ("workload.zipf_theta", number(theta)),
            ("workload.zipf_unit_bytes", unit_bytes.and_then(count)),
        ],
        Addresses::HotCold { hot_share, hot_fraction } => vec![
            ("workload.addresses", text("hot-cold")),
            ("workload.hot_share", number(hot_share)),
            ("workload.hot_fraction", number(hot_fraction)),
        ],
    };
    pairs.extend([
        ("workload.read_sequential_fraction", number(config.read_sequential_fraction)),
        ("workload.write_sequential_fraction", number(config.write_sequential_fraction)),
    ]);
    pairs
}

fn arrivals(config: &MixedConfig) -> Vec<Pair> {
    let (word, rate_iops) = match config.arrivals {
        Arrivals::Closed { queue_depth } => {
            let depth = ("workload.queue_depth", count(queue_depth));
            return vec![("workload.arrivals", text("closed")), depth];
        }
        Arrivals::Poisson { rate_iops } => ("poisson", rate_iops),
        Arrivals::Fixed { rate_iops } => ("fixed", rate_iops),
        Arrivals::Hyperexponential(phases) => ("hyperexponential", phases.rate_iops),
    };
    let mut pairs = vec![
        ("workload.arrivals", text(word)),
        ("workload.rate_iops", number(rate_iops)),
        ("workload.time_scale", number(config.time_scale)),
    ];
    if let Arrivals::Hyperexponential(phases) = config.arrivals {
        let Hyperexponential {
            simultaneous_fraction, burst_fraction, burst_gap, burst_length, ..
        } = phases;
        pairs.extend([
            ("workload.simultaneous_fraction", number(simultaneous_fraction)),
            ("workload.burst_fraction", number(burst_fraction)),
            ("workload.burst_gap_us", dur(burst_gap)),
            ("workload.burst_length", burst_length.and_then(number)),
        ]);
    }
    pairs
}

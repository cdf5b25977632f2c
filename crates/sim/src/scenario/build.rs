//! From settled values to the typed scenario; nothing is decided here.

use std::path::PathBuf;

use reprieve_base::Geometry;
use reprieve_nand::{
    EraseMode, IterationSpread, PAGE_TYPES_MAX, PageTypes, Parallelism, Retention, Slices,
    Suspension, Timing, Wordline,
};
use reprieve_trace::{
    Addresses, Arrivals, Footprint, Hyperexponential, MixedConfig, TraceConfig, WorkloadConfig,
};

use super::resolve::Values;
use super::value::Value;
use super::words::Word;
use super::{
    Channel, Deadlines, Ftl, LimitScope, Parameters, Scenario, Scheduling, SuspendRules, dispatch,
    front, measure, power, power_loss, reliability,
};

/// The scenario that these values describe; the schema has seen to their ranges.
pub(super) fn scenario(values: &Values, device: Option<String>) -> Scenario {
    let name = values.text_if_on("name").map(str::to_string);
    Scenario {
        seed: values.count("seed"),
        device: name.or(device).unwrap_or_else(|| "custom".to_string()),
        geometry: geometry(values),
        timing: timing(values),
        suspension: suspension(values),
        parallelism: parallelism(values),
        reliability: reliability::reliability(values),
        ecc: reliability::ecc(values),
        suspend_rules: suspend_rules(values),
        scheduling: Scheduling {
            policy: values.text("scheduling.policy").to_string(),
            write_queue_limit: values.u32_if_on("scheduling.write_queue_limit"),
            write_queue_limit_scope: values
                .text_if_on("scheduling.write_queue_limit_scope")
                .map_or(LimitScope::Die, Word::of_word),
            age_limit: values.dur_if_on("scheduling.age_limit_us"),
            deadlines: values.dur_if_on("scheduling.read_deadline_us").map(|read| Deadlines {
                read,
                write: values.dur("scheduling.write_deadline_us"),
                gc: values.dur("scheduling.gc_deadline_us"),
            }),
            steps: values.steps_if_on("scheduling.steps").map(<[_]>::to_vec),
            dispatch: dispatch::dispatch(values),
        },
        channel: Channel {
            order: Word::of_word(values.text("channel.order")),
            transfer_unit_bytes: values.u32_if_on("channel.transfer_unit_bytes"),
        },
        power: power::power(values),
        power_loss: power_loss::power_loss(values),
        ftl: ftl(values),
        buffer: front::buffer(values),
        read_cache: front::read_cache(values),
        host: front::host(values),
        workload: workload(values),
        fio: values.text_if_on("workload.fio").map(str::to_string),
        queues: front::queues(values),
        flows: Vec::new(),
        measure: measure::measure(values),
    }
}

fn geometry(values: &Values) -> Geometry {
    Geometry {
        channels: values.u32("geometry.channels"),
        chips_per_channel: values.u32("geometry.chips_per_channel"),
        dies_per_channel: values.u32("geometry.dies_per_channel"),
        planes_per_die: values.u32("geometry.planes_per_die"),
        blocks_per_plane: values.u32("geometry.blocks_per_plane"),
        pages_per_block: values.u32("geometry.pages_per_block"),
        page_bytes: values.u32("geometry.page_bytes"),
    }
}

fn timing(values: &Values) -> Timing {
    // A part that has no maximum of a time has one time.
    let slow = values.text("timing.values") == "maximum";
    let dur = |name, max| {
        let max = if slow { values.dur_if_on(max) } else { None };
        max.unwrap_or_else(|| values.dur(name))
    };
    let iterations = if slow { values.u32_if_on("timing.program_iterations_max") } else { None };
    Timing {
        command: values.dur("timing.t_command_us"),
        bus: values.dur("timing.t_bus_us"),
        read: dur("timing.t_read_us", "timing.t_read_us_max"),
        read_law: Word::of_word(values.text("timing.read_law")),
        program_iterations: iterations.unwrap_or_else(|| values.u32("timing.program_iterations")),
        program_pulse: values.dur("timing.t_program_pulse_us"),
        verify: values.dur("timing.t_verify_us"),
        erase: dur("timing.t_erase_us", "timing.t_erase_us_max"),
        erase_segments: values.u32("timing.erase_segments"),
        erase_verify: values.dur("timing.t_erase_verify_us"),
        voltage_reset: values.dur("timing.t_voltage_reset_us"),
        buffer: values.dur("timing.t_buffer_us"),
        suspend_overhead: values.dur("timing.t_suspend_overhead_us"),
        cache_register: values.flag("timing.cache_register"),
        page_types: page_types(values),
        wordline: match values.u32("timing.wordline_pages") {
            1 => None,
            pages => Some(Wordline { pages, load_gap: values.dur("timing.t_load_gap_us") }),
        },
        spread: values.weights_if_on("timing.program_iterations_weights").map(IterationSpread::new),
        slices: values.u32_if_on("suspension.slice_iterations").map(|iterations| Slices {
            iterations,
            overhead: values.dur("suspension.t_slice_overhead_us"),
        }),
    }
}

fn page_types(values: &Values) -> Option<PageTypes> {
    let count = values.u32_if_on("timing.page_types")?;
    let mut types = PageTypes {
        count,
        order: Word::of_word(values.text("timing.page_type_order")),
        read: [values.dur("timing.t_read_us"); PAGE_TYPES_MAX],
        program_iterations: [values.u32("timing.program_iterations"); PAGE_TYPES_MAX],
    };
    // Lists of another length are refused afterwards, by `check`.
    if let Some(reads) = values.durs_if_on("timing.t_read_us_by_type") {
        types.read.iter_mut().zip(reads).for_each(|(read, given)| *read = *given);
    }
    if let Some(counts) = values.counts_if_on("timing.program_iterations_by_type") {
        for (iterations, given) in types.program_iterations.iter_mut().zip(counts) {
            *iterations = u32::try_from(*given).expect("the schema bounds it");
        }
    }
    Some(types)
}

fn suspension(values: &Values) -> Suspension {
    Suspension {
        program: Word::of_word(values.text("suspension.program")),
        erase: values.flag("suspension.erase"),
        erase_resume: Word::of_word(values.text("suspension.erase_resume")),
        erase_mode: match values.text("suspension.erase_mode") {
            "immediate" => EraseMode::Immediate,
            "deferred" => EraseMode::Deferred,
            "timeout" => EraseMode::Timeout(values.dur("suspension.erase_timeout_us")),
            other => panic!("erase mode {other} is in the schema and not built"),
        },
        reset_inside_phase: values.flag("suspension.reset_inside_phase"),
        shadow_buffer: values.flag("suspension.shadow_buffer"),
        restore: Word::of_word(values.text("suspension.restore")),
        resume_at: Word::of_word(values.text("suspension.resume_at")),
        vth_reached: Word::of_word(values.text("suspension.vth_reached")),
        same_block: Word::of_word(values.text("suspension.same_block")),
        max_per_program: values.u32_if_on("suspension.max_per_program"),
        max_per_erase: values.u32_if_on("suspension.max_per_erase"),
        min_progress: values.dur("suspension.min_progress_us"),
        // What the controller does not ask for, the part need not be able to do.
        program_in_erase: values.operations("suspension.host_write_suspends").erase,
        retention: Retention {
            iterations: values.u32("suspension.retention_iterations"),
            first_share_ppm: millionths(values, "suspension.retention_first_share"),
            second_share_ppm: millionths(values, "suspension.retention_second_share"),
        },
    }
}

/// A share in millionths; `check` refuses afterwards what is not whole in them.
fn millionths(values: &Values, name: &'static str) -> u32 {
    (values.number(name) * 1e6).round() as u32
}

fn parallelism(values: &Values) -> Parallelism {
    Parallelism {
        multi_plane: Word::of_word(values.text("parallelism.multi_plane")),
        independent_plane_reads: values.flag("parallelism.independent_plane_reads"),
        cache_program: values.flag("parallelism.cache_program"),
        plane_suspension: values.text("suspension.multi_plane") == "plane",
    }
}

fn suspend_rules(values: &Values) -> SuspendRules {
    SuspendRules {
        policy: values.text("suspension.policy").to_string(),
        parameters: Parameters::of(values, "suspension.policy"),
        host_read_suspends: values.operations("suspension.host_read_suspends"),
        rmw_read_suspends: values.operations("suspension.rmw_read_suspends"),
        gc_read_suspends: values.operations("suspension.gc_read_suspends"),
        host_write_suspends: values.operations("suspension.host_write_suspends"),
    }
}

fn ftl(values: &Values) -> Ftl {
    Ftl {
        over_provisioning: values.number("ftl.over_provisioning"),
        placement: values.text("ftl.placement").to_string(),
        gc_victim: values.text("ftl.gc_victim").to_string(),
        gc_choices: values.u32_if_on("ftl.gc_choices"),
        gc_window_blocks: values.u32_if_on("ftl.gc_window_blocks"),
        gc_start_free_share: values.number("ftl.gc_start_free_share"),
        gc_hard_free_blocks: values.u32("ftl.gc_hard_free_blocks"),
        gc_background: values.flag("ftl.gc_background"),
        gc: super::ftl::gc_control(values),
        streams: super::ftl::streams(values),
        wear: super::ftl::wear(values),
        faults: super::ftl::faults(values),
        demand: super::ftl::demand(values),
        wordline_timeout: values.dur("ftl.wordline_timeout_us"),
        twin_blocks: values.flag("ftl.twin_blocks"),
        copyback: values.flag("ftl.copyback"),
        partial_write: Word::of_word(values.text("ftl.partial_write")),
        precondition: Word::of_word(values.text("ftl.precondition")),
    }
}

fn workload(values: &Values) -> Option<WorkloadConfig> {
    if let Some(path) = values.text_if_on("workload.trace") {
        return Some(WorkloadConfig::Trace(trace(values, PathBuf::from(path))));
    }
    values.text_if_on("workload.generator").map(|name| match name {
        "mixed" => WorkloadConfig::Mixed(mixed(values)),
        other => panic!("generator {other} is registered and no workload is built for it"),
    })
}

fn trace(values: &Values, path: PathBuf) -> TraceConfig {
    let Value::Devices(devices) = values.need("workload.devices") else {
        panic!("workload.devices is no selection of devices")
    };
    TraceConfig {
        path,
        reading: super::reading::read(values),
        queue_depth: match values.text("workload.replay") {
            "open" => None,
            "closed" => Some(values.u32("workload.queue_depth")),
            other => panic!("replay {other} is in the schema and not built"),
        },
        time_scale: values.number("workload.time_scale"),
        start: values.dur("workload.start_s"),
        duration: values.dur_if_on("workload.duration_s"),
        max_requests: values.count_if_on("workload.max_requests"),
        devices: devices.clone(),
        address: Word::of_word(values.text("workload.address")),
        drop_duplicates_within: values.dur_if_on("workload.drop_duplicates_within_us"),
        sort_window_requests: values.u32("workload.sort_window_requests"),
    }
}

fn mixed(values: &Values) -> MixedConfig {
    let sizes = |name| values.sizes_if_on(name).cloned();
    MixedConfig {
        requests: values.count("workload.requests"),
        read_fraction: values.number("workload.read_fraction"),
        trim_fraction: values.number("workload.trim_fraction"),
        flush_every_requests: values.count_if_on("workload.flush_every_requests"),
        fua_fraction: values.number("workload.fua_fraction"),
        sizes: sizes("workload.request_bytes").expect("it has a default"),
        read_sizes: sizes("workload.read_request_bytes"),
        write_sizes: sizes("workload.write_request_bytes"),
        align_bytes: values.u32("workload.align_bytes"),
        addresses: addresses(values),
        // Where every request goes on from the last there is no further choice.
        read_sequential_fraction: values
            .number_if_on("workload.read_sequential_fraction")
            .unwrap_or(0.0),
        write_sequential_fraction: values
            .number_if_on("workload.write_sequential_fraction")
            .unwrap_or(0.0),
        footprint_start_bytes: values.count("workload.footprint_start_bytes"),
        footprint: match values.count_if_on("workload.footprint_bytes") {
            Some(bytes) => Footprint::Bytes(bytes),
            None => {
                Footprint::Share(values.number_if_on("workload.footprint_share").unwrap_or(1.0))
            }
        },
        arrivals: arrivals(values),
        // A closed loop has no arrivals to scale.
        time_scale: values.number_if_on("workload.time_scale").unwrap_or(1.0),
    }
}

fn addresses(values: &Values) -> Addresses {
    match values.text("workload.addresses") {
        "uniform" => Addresses::Uniform,
        "sequential" => Addresses::Sequential,
        "zipf" => Addresses::Zipf {
            theta: values.number("workload.zipf_theta"),
            unit_bytes: values.u32_if_on("workload.zipf_unit_bytes"),
        },
        "hot-cold" => Addresses::HotCold {
            hot_share: values.number("workload.hot_share"),
            hot_fraction: values.number("workload.hot_fraction"),
        },
        other => panic!("addresses {other} are in the schema and not built"),
    }
}

fn arrivals(values: &Values) -> Arrivals {
    match values.text("workload.arrivals") {
        "closed" => Arrivals::Closed { queue_depth: values.u32("workload.queue_depth") },
        "poisson" => Arrivals::Poisson { rate_iops: values.number("workload.rate_iops") },
        "fixed" => Arrivals::Fixed { rate_iops: values.number("workload.rate_iops") },
        "hyperexponential" => Arrivals::Hyperexponential(Hyperexponential {
            rate_iops: values.number("workload.rate_iops"),
            simultaneous_fraction: values.number("workload.simultaneous_fraction"),
            burst_fraction: values.number("workload.burst_fraction"),
            burst_gap: values.dur("workload.burst_gap_us"),
            burst_length: values.number_if_on("workload.burst_length"),
        }),
        other => panic!("arrivals {other} are in the schema and not built"),
    }
}

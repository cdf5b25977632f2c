//! What no single key can tell: values that do not fit each other.

use reprieve_base::{Dur, UserError};
use reprieve_nand::{EraseMode, MultiPlane, PageOrder, ProgramSuspension};
use reprieve_trace::{Footprint, MixedConfig, WorkloadConfig, misfit};

use super::dispatch;
use super::front;
use super::maxima;
use super::measure;
use super::power;
use super::power_loss;
use super::reliability;
use super::resolve::{Resolved, Use};
use super::schema;
use super::twins;
use super::{Faults, OperationSet, Scenario};

/// Page numbers are 31 bits wide, and the last sixteen stand for "no page" and the like.
const PAGES_MAX: u64 = (1 << 31) - 16;

/// Blocks of a plane that garbage collection has under way besides its reserve: the open block of
/// the host, its own, and the one it erases.
const GC_BLOCKS: u64 = 3;

/// Planes of a die that multi-plane commands can tell apart.
const PLANES_MAX: u32 = 128;

/// Refuses a scenario that cannot be run, naming the key that is nearest to the cause.
pub(super) fn check(
    scenario: &Scenario,
    resolved: &Resolved,
    purpose: Use,
) -> Result<(), UserError> {
    maxima::check(resolved)?;
    erase_segments(scenario, resolved)?;
    page_types(scenario, resolved)?;
    wordline(scenario, resolved, purpose)?;
    iterations(resolved)?;
    voltage_reset(scenario, resolved)?;
    host_write_suspends(scenario, resolved)?;
    multi_plane(scenario, resolved)?;
    cache_program(scenario, resolved)?;
    power::check(scenario, resolved)?;
    plane_suspension(scenario, resolved)?;
    reliability::check(scenario, resolved)?;
    measure::check(scenario, resolved, purpose)?;
    if purpose == Use::Rig && scenario.scheduling.dispatch.policy != "none" {
        let what = "the rig has one die, and nothing to dispatch; must be \"none\"";
        return Err(resolved.fault("scheduling.dispatch", what));
    }
    if purpose != Use::Rig {
        copyback(scenario, resolved)?;
        twins::check(scenario, resolved)?;
        gc_parallel_planes(scenario, resolved)?;
        transfer_unit(scenario, resolved)?;
        over_provisioning(scenario, resolved)?;
        front::check(scenario, resolved)?;
        power_loss::check(scenario, resolved)?;
        dispatch::check(scenario, resolved)?;
        if purpose == Use::Serve && scenario.power_loss.is_some() {
            let what = "a served drive does not lose its power; must be \"off\"";
            return Err(resolved.fault("power_loss.mode", what));
        }
        workload(scenario, resolved)?;
    }
    Ok(())
}

/// The counts whose product is the number of pages.
const FACTORS: [&str; 5] = [
    "geometry.channels",
    "geometry.dies_per_channel",
    "geometry.planes_per_die",
    "geometry.blocks_per_plane",
    "geometry.pages_per_block",
];

/// Checks the counts before they are multiplied anywhere else.
pub(super) fn geometry(resolved: &Resolved) -> Result<(), UserError> {
    let product = FACTORS.iter().try_fold(1u64, |product, name| {
        product.checked_mul(resolved.values.count(name)).filter(|pages| *pages <= PAGES_MAX)
    });
    if product.is_none() {
        // The last layer that had a say is where the mistake was made.
        let rank = |name: &str| resolved.leaves.get(name).map(|leaf| leaf.rank);
        let name = FACTORS.iter().max_by_key(|name| rank(name)).expect("there are five");
        let what = format!(
            "the drive has more than {PAGES_MAX} pages; channels × dies_per_channel × \
             planes_per_die × blocks_per_plane × pages_per_block must be at most that"
        );
        return Err(resolved.fault(name, what));
    }
    let dies = resolved.values.count("geometry.dies_per_channel");
    let chips = resolved.values.count("geometry.chips_per_channel");
    if dies % chips != 0 {
        let what = format!("must divide geometry.dies_per_channel = {dies}");
        return Err(resolved.fault("geometry.chips_per_channel", what));
    }
    Ok(())
}

/// Segments are equal, and a nanosecond is not divided.
fn erase_segments(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let timing = &scenario.timing;
    if timing.erase.ns() % u64::from(timing.erase_segments) == 0 {
        return Ok(());
    }
    let what = format!(
        "must divide timing.t_erase_us ({}) into equal segments of whole nanoseconds",
        timing.erase
    );
    Err(resolved.fault("timing.erase_segments", what))
}

/// A list has an entry for each type of pages, and an order is one of so many types.
fn page_types(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let Some(types) = &scenario.timing.page_types else { return Ok(()) };
    let values = &resolved.values;
    let lists = [
        ("timing.t_read_us_by_type", values.durs_if_on("timing.t_read_us_by_type").map(Vec::len)),
        (
            "timing.program_iterations_by_type",
            values.counts_if_on("timing.program_iterations_by_type").map(<[u64]>::len),
        ),
    ];
    for (name, length) in lists {
        if length.is_some_and(|length| length != types.count as usize) {
            let what =
                format!("must have one entry for each of timing.page_types = {}", types.count);
            return Err(resolved.fault(name, what));
        }
    }
    if types.order == PageOrder::Interleaved && types.count != 3 {
        let what = format!("is an order of three types; must be \"modulo\" with {}", types.count);
        return Err(resolved.fault("timing.page_type_order", what));
    }
    Ok(())
}

/// A wordline has one count of iterations, and shares are kept as whole millionths.
fn iterations(resolved: &Resolved) -> Result<(), UserError> {
    let values = &resolved.values;
    let by_type = values.counts_if_on("timing.program_iterations_by_type").is_some();
    if by_type && values.weights_if_on("timing.program_iterations_weights").is_some() {
        let what = "iterations go by type already; must be absent with \
                    timing.program_iterations_by_type";
        return Err(resolved.fault("timing.program_iterations_weights", what));
    }
    for name in ["suspension.retention_first_share", "suspension.retention_second_share"] {
        let share = values.number(name);
        if (share * 1e6).round() / 1e6 != share {
            return Err(resolved.fault(name, "must have at most six decimals"));
        }
    }
    Ok(())
}

/// A cancelled phase ends with a voltage reset, so it has room for one.
fn voltage_reset(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let (timing, suspension) = (&scenario.timing, &scenario.suspension);
    if !suspension.reset_inside_phase {
        return Ok(());
    }
    let cancels = suspension.program == ProgramSuspension::Ipc;
    let erases = suspension.erase && suspension.erase_mode != EraseMode::Deferred;
    let segments = timing.erase_segments;
    let segment = Dur::from_ns(timing.erase.ns() / u64::from(segments));
    let segment_name = match segments {
        1 => "timing.t_erase_us".to_string(),
        _ => format!("timing.t_erase_us / {segments}"),
    };
    let phases = [
        (cancels, timing.program_pulse, "timing.t_program_pulse_us"),
        (cancels, timing.verify, "timing.t_verify_us"),
        (erases, segment, &segment_name),
        (erases, timing.erase_verify, "timing.t_erase_verify_us"),
    ];
    for (cancelled, phase, key) in phases {
        // A phase of no length is never found in progress, so it is never cancelled.
        if cancelled && phase.ns() > 0 && phase < timing.voltage_reset {
            let what = format!(
                "is longer than {key} ({phase}), a phase that can be broken off; \
                 must be at most that"
            );
            return Err(resolved.fault("timing.t_voltage_reset_us", what));
        }
    }
    Ok(())
}

/// A program runs inside a suspended erase and inside nothing else.
fn host_write_suspends(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let set = &scenario.suspend_rules.host_write_suspends;
    if !set.program && !set.gc_program {
        return Ok(());
    }
    let what = "the page buffer holds one page, and data sheets allow no program inside a \
                suspended program; must be [\"erase\"] or []";
    Err(resolved.fault("suspension.host_write_suspends", what))
}

/// A wordline is part of a block and programmed at once.
fn wordline(scenario: &Scenario, resolved: &Resolved, purpose: Use) -> Result<(), UserError> {
    let Some(wordline) = scenario.timing.wordline else {
        if resolved.values.dur("timing.t_load_gap_us") == Dur::ZERO {
            return Ok(());
        }
        let what = "one page has no gap; must be 0 with timing.wordline_pages = 1";
        return Err(resolved.fault("timing.t_load_gap_us", what));
    };
    let pages = wordline.pages;
    let refuse = |what: &str| {
        let what = format!("{what}; must be 1 with it");
        Err(resolved.fault("timing.wordline_pages", what))
    };
    let values = &resolved.values;
    if scenario.geometry.pages_per_block % pages != 0 {
        let per_block = scenario.geometry.pages_per_block;
        let what = format!("must divide geometry.pages_per_block = {per_block}");
        Err(resolved.fault("timing.wordline_pages", what))
    } else if values.counts_if_on("timing.program_iterations_by_type").is_some() {
        refuse("a wordline has one program, and timing.program_iterations_by_type gives several")
    } else if scenario.ftl.copyback {
        refuse("copybacks of whole wordlines are not modelled (ftl.copyback)")
    } else if purpose != Use::Rig {
        wordline_ftl(scenario, resolved)?;
        wordline_spare(scenario, resolved, pages)
    } else {
        Ok(())
    }
}

/// Pages of a wordline go to one open block, and fail and are lost one by one.
fn wordline_ftl(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let ftl = &scenario.ftl;
    let Faults { factory_bad_share, program_failure, erase_failure } = ftl.faults;
    let beyond = [
        (ftl.streams.policy != "single", "ftl.stream", "\"single\""),
        (ftl.demand.is_some(), "ftl.mapping", "\"flat\""),
        (factory_bad_share > 0.0, "ftl.factory_bad_share", "0"),
        (program_failure > 0.0, "nand.program_failure", "0"),
        (erase_failure > 0.0, "nand.erase_failure", "0"),
    ];
    let Some((_, name, wanted)) = beyond.into_iter().find(|(is_set, ..)| *is_set) else {
        return Ok(());
    };
    let what = format!(
        "is not modelled with programs of whole wordlines; must be {wanted} with \
         timing.wordline_pages above 1"
    );
    Err(resolved.fault(name, what))
}

/// Collection moves whole wordlines, so that a victim has to have as many invalid pages.
fn wordline_spare(scenario: &Scenario, resolved: &Resolved, pages: u32) -> Result<(), UserError> {
    let geometry = &scenario.geometry;
    let user = u64::from(scenario.logical_pages()).div_ceil(u64::from(geometry.planes()));
    let own = u64::from(scenario.ftl.streams.gc_separate);
    let kept = u64::from(scenario.ftl.gc_hard_free_blocks) + GC_BLOCKS - 1 + own;
    let blocks = u64::from(geometry.blocks_per_plane);
    let room = blocks.saturating_sub(kept) * u64::from(geometry.pages_per_block);
    let padded = u64::from(pages - 1) * blocks;
    if user + padded <= room {
        return Ok(());
    }
    let what = format!(
        "leaves {user} pages of the user in a plane, and with timing.wordline_pages = {pages}, of \
         which collection may have to pad all but one in each block, there is room for {}; must \
         be larger",
        room.saturating_sub(padded)
    );
    Err(resolved.fault("ftl.over_provisioning", what))
}

/// The second register has the page of the next program, and no other way leads in.
fn cache_program(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let suspension = &scenario.suspension;
    let what = if !scenario.parallelism.cache_program {
        return Ok(());
    } else if suspension.program != ProgramSuspension::None && !suspension.shadow_buffer {
        "the page of a suspended program could not come back past that of the next; must be false \
         with suspension.shadow_buffer = false"
    } else if scenario.ftl.faults.program_failure > 0.0 {
        "a page that is loaded for a block on which the program before it fails is not modelled; \
         must be false with nand.program_failure above 0"
    } else {
        return Ok(());
    };
    Err(resolved.fault("parallelism.cache_program", what))
}

/// A plane that makes way apart needs its own page buffer, and nothing else can come between.
fn plane_suspension(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let (parallelism, suspension) = (&scenario.parallelism, &scenario.suspension);
    let rules = &scenario.suspend_rules;
    let what = if !parallelism.plane_suspension {
        return Ok(());
    } else if !parallelism.independent_plane_reads {
        "a plane that makes way alone reads into a page buffer of its own; must be \"whole\" with \
         parallelism.independent_plane_reads = false"
    } else if scenario.geometry.planes_per_die > PLANES_MAX {
        "dies of more than 128 planes suspend no single ones here; must be \"whole\" with them"
    } else if suspension.program != ProgramSuspension::None && !suspension.shadow_buffer {
        "the page of one plane alone is not sent again over the channel here; must be \"whole\" \
         with suspension.shadow_buffer = false"
    } else if parallelism.cache_program {
        "a page is not loaded here beside planes that are suspended; must be \"whole\" with \
         parallelism.cache_program = true"
    } else if rules.host_write_suspends.erase {
        "programs inside erases of which one plane is suspended are not modelled; must be \
         \"whole\" with suspension.host_write_suspends = [\"erase\"]"
    } else if rules.gc_read_suspends != OperationSet::default() {
        "reads of garbage collection suspend no single planes here; must be \"whole\" unless \
         suspension.gc_read_suspends = []"
    } else if !scenario.ftl.gc.preemptible {
        "garbage collection that runs through lets no read in beside it; must be \"whole\" with \
         ftl.gc_preemptible = false"
    } else if scenario.power.is_some() {
        "the power of planes that work apart is not accounted for; must be \"whole\" with \
         power.account = \"on\""
    } else if scenario.timing.spread.is_some() {
        "planes whose programs differ in length are not told apart; must be \"whole\" with \
         timing.program_iterations_weights"
    } else {
        return Ok(());
    };
    Err(resolved.fault("suspension.multi_plane", what))
}

/// The page of a copyback is nowhere but in the chip.
fn copyback(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    if !scenario.ftl.copyback {
        return Ok(());
    }
    let suspension = &scenario.suspension;
    if suspension.program != ProgramSuspension::None && !suspension.shadow_buffer {
        let what = "the page of a suspended copyback could not be restored over the channel; must \
                    be false with suspension.shadow_buffer = false";
        return Err(resolved.fault("ftl.copyback", what));
    }
    if scenario.suspend_rules.gc_read_suspends != OperationSet::default() {
        let what = "a copyback is no read of garbage collection, and suspends nothing; must be [] \
                    with ftl.copyback = true";
        return Err(resolved.fault("suspension.gc_read_suspends", what));
    }
    Ok(())
}

/// Planes collect side by side where a die can do something on several at once.
fn gc_parallel_planes(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let parallelism = &scenario.parallelism;
    let what = if !scenario.ftl.gc.parallel_planes {
        return Ok(());
    } else if scenario.geometry.planes_per_die > PLANES_MAX {
        "dies of more than 128 planes are not modelled with it; must be false with them"
    } else if scenario.ftl.copyback {
        "copybacks of several planes are not modelled; must be false with ftl.copyback = true"
    } else if parallelism.multi_plane == MultiPlane::None && !parallelism.independent_plane_reads {
        "a die does nothing on several planes at once; must be false with parallelism.multi_plane \
         = \"none\" and parallelism.independent_plane_reads = false"
    } else {
        return Ok(());
    };
    Err(resolved.fault("ftl.gc_parallel_planes", what))
}

/// A set of planes has 128 at most.
fn multi_plane(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let by_plane = scenario.timing.wordline.is_some();
    if scenario.geometry.planes_per_die > PLANES_MAX
        && (by_plane || scenario.parallelism.multi_plane != MultiPlane::None)
    {
        let what = format!(
            "dies of more than {PLANES_MAX} planes have no programs of several pages here; must \
             be at most that"
        );
        return Err(resolved.fault("geometry.planes_per_die", what));
    }
    Ok(())
}

/// A page consists of whole units.
fn transfer_unit(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let page_bytes = scenario.geometry.page_bytes;
    match scenario.channel.transfer_unit_bytes {
        Some(unit_bytes) if page_bytes % unit_bytes != 0 => {
            let what = format!("must divide geometry.page_bytes = {page_bytes}");
            Err(resolved.fault("channel.transfer_unit_bytes", what))
        }
        _ => Ok(()),
    }
}

/// Garbage collection needs blocks to move to: its reserve, and those it has under way.
fn over_provisioning(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let (geometry, ftl) = (&scenario.geometry, &scenario.ftl);
    let user_pages_per_plane = scenario.logical_pages().div_ceil(geometry.planes());
    let user_blocks = u64::from(user_pages_per_plane.div_ceil(geometry.pages_per_block));
    let blocks = u64::from(geometry.blocks_per_plane);
    let spare_blocks = blocks - user_blocks;
    let needed_blocks = u64::from(ftl.gc_hard_free_blocks) + GC_BLOCKS + 1;
    if spare_blocks >= needed_blocks && user_blocks > 0 {
        return Ok(());
    }
    let reserve = ftl.gc_hard_free_blocks;
    if blocks <= needed_blocks {
        let what = format!(
            "garbage collection with ftl.gc_hard_free_blocks = {reserve} needs {needed_blocks} \
             spare blocks in a plane; must be at least {}",
            needed_blocks + 1
        );
        return Err(resolved.fault("geometry.blocks_per_plane", what));
    }
    if user_blocks == 0 {
        let what = "leaves the user not a page; must be smaller";
        return Err(resolved.fault("ftl.over_provisioning", what));
    }
    // Rounded up to six decimals, so that the number we name does pass.
    let least = (needed_blocks as f64 / blocks as f64 * 1e6).ceil() / 1e6;
    let what = format!(
        "leaves {spare_blocks} spare blocks of {blocks} in a plane, and garbage collection with \
         ftl.gc_hard_free_blocks = {reserve} needs {needed_blocks}; must be at least {least}"
    );
    Err(resolved.fault("ftl.over_provisioning", what))
}

fn workload(scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let values = &resolved.values;
    if values.dur_if_on("workload.duration_s").is_some_and(|duration| duration.ns() == 0) {
        let what = "must be above 0, or \"none\" for no limit";
        return Err(resolved.fault("workload.duration_s", what));
    }
    if values.text_if_on("workload.generator").is_some() {
        let (reads, trims) =
            (values.number("workload.read_fraction"), values.number("workload.trim_fraction"));
        if reads + trims > 1.0 {
            let what = format!("with workload.trim_fraction = {trims} must be at most 1 in all");
            return Err(resolved.fault("workload.read_fraction", what));
        }
    }
    match &scenario.workload {
        Some(WorkloadConfig::Mixed(config)) => mixed(config, scenario, resolved),
        Some(WorkloadConfig::Trace(config)) => consistent(config.contradiction(), resolved),
        Some(WorkloadConfig::Fio(_)) | None => Ok(()),
    }
}

fn mixed(config: &MixedConfig, scenario: &Scenario, resolved: &Resolved) -> Result<(), UserError> {
    let capacity_bytes = scenario.capacity_bytes();
    if config.footprint_start_bytes >= capacity_bytes {
        let what = format!("is past the end of the drive; must be below {capacity_bytes}");
        return Err(resolved.fault("workload.footprint_start_bytes", what));
    }
    let rest_bytes = capacity_bytes - config.footprint_start_bytes;
    match config.footprint {
        Footprint::Bytes(bytes) if bytes > rest_bytes => {
            let what = format!("is more than the user has; must be at most {rest_bytes}");
            return Err(resolved.fault("workload.footprint_bytes", what));
        }
        _ => {}
    }
    consistent(config.contradiction(), resolved)?;
    let misfit = misfit(config, capacity_bytes);
    misfit.map_or(Ok(()), |(key, error)| Err(resolved.at(&key, error)))
}

/// The error of two values of the workload that do not fit each other.
fn consistent(
    contradiction: Option<(&str, String, String)>,
    resolved: &Resolved,
) -> Result<(), UserError> {
    match contradiction {
        None => Ok(()),
        Some((name, _, what)) => {
            let key = schema::key(&format!("workload.{name}"));
            Err(resolved.fault(key.expect("the generator names keys of ours").full_name, what))
        }
    }
}

//! Rules of a part: its shape, its times, and the needs of its suspension.

use reprieve_base::{Dur, UserError};
use reprieve_nand::{ERASE_LOOPS_MAX, EraseMode, PageOrder, ProgramSuspension, Timing};

use super::one_for_each;
use crate::resolve::Resolved;
use crate::value::{Value, of};

/// Page numbers have 31 bits, of which the last sixteen are reserved, such as for "no page".
pub(super) const PAGES_MAX: u64 = (1 << 31) - 16;

pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    geometry(resolved)?;
    maxima(resolved)?;
    erase_segments(resolved)?;
    erase_loops(resolved)?;
    page_types(resolved)?;
    wordlines(resolved)?;
    shares(resolved)?;
    voltage_reset(resolved)?;
    nested_programs(resolved)
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
fn geometry(resolved: &Resolved) -> Result<(), UserError> {
    let product = FACTORS.iter().try_fold(1u64, |product, name| {
        product.checked_mul(of(&resolved.values[name])).filter(|pages| *pages <= PAGES_MAX)
    });
    if product.is_none() {
        // The mistake is in the last layer that set one of them.
        let rank = |name: &str| resolved.leaves.get(name).map(|leaf| leaf.rank);
        let name = FACTORS.iter().max_by_key(|name| rank(name)).expect("there are five");
        let what = format!(
            "the drive has more than {PAGES_MAX} pages; channels × dies_per_channel × \
             planes_per_die × blocks_per_plane × pages_per_block must be at most that"
        );
        return Err(resolved.fault(name, what));
    }
    let (dies, chips) = (resolved.geometry.dies_per_channel, resolved.geometry.chips_per_channel);
    let what = || format!("must divide geometry.dies_per_channel = {dies}");
    resolved.refuse("geometry.chips_per_channel", dies % chips != 0, what)
}

/// Every time that is set to its maximum has one.
fn maxima(resolved: &Resolved) -> Result<(), UserError> {
    let is_given = |names: &[&str]| names.iter().any(|name| resolved.values.contains_key(name));
    let maxima = ["timing.t_read_us_max", "timing.program_iterations_max", "timing.t_erase_us_max"];
    let what = if resolved.values["timing.values"] == Value::from("typical") {
        return Ok(());
    } else if is_given(&["timing.t_read_us_by_type", "timing.program_iterations_by_type"]) {
        "types of pages have one time each; must be \"typical\" with times by type"
    } else if resolved.timing.spread.is_some() {
        "wordlines differ already; must be \"typical\" with timing.program_iterations_weights"
    } else if !is_given(&maxima) {
        "the part has no maximum; must be \"typical\", or timing.t_read_us_max, \
         timing.program_iterations_max or timing.t_erase_us_max must be given"
    } else {
        return Ok(());
    };
    Err(resolved.fault("timing.values", what))
}

/// Segments are equal, and a nanosecond is not divided.
fn erase_segments(resolved: &Resolved) -> Result<(), UserError> {
    let (erase, segments) = (resolved.timing.erase, resolved.timing.erase_segments);
    let what = || {
        format!("must divide timing.t_erase_us ({erase}) into equal segments of whole nanoseconds")
    };
    resolved.refuse("timing.erase_segments", erase.ns() % u64::from(segments) != 0, what)
}

/// Erases in loops have lengths, loops and erases are longer than a verify, and cycles are counted.
fn erase_loops(resolved: &Resolved) -> Result<(), UserError> {
    const LOOPS: &str = "timing.t_erase_loops_us";
    const LENGTHS: &str = "timing.t_erase_us_by_cycles";
    if !resolved.values.contains_key(LOOPS) {
        return Ok(());
    }
    let Timing { erase_loops, erase_segments, erase_verify, .. } = resolved.timing;
    let Some(loops) = erase_loops else {
        let what = format!("must be 1 to {ERASE_LOOPS_MAX} times above 0");
        return Err(resolved.fault(LOOPS, what));
    };
    let Some(lengths) = resolved.erase_lengths() else {
        return Err(resolved.fault(LOOPS, format!("needs {LENGTHS}, how long erases take in all")));
    };
    let too_short = || format!("must be longer than timing.t_erase_verify_us ({erase_verify})");
    resolved.refuse(LOOPS, loops.lengths().iter().any(|one| *one <= erase_verify), too_short)?;
    resolved.refuse(LENGTHS, lengths.shortest() <= erase_verify, too_short)?;
    resolved.refuse("timing.erase_segments", erase_segments > 1, || {
        format!(
            "the safe points of an erase in loops are the ends of the loops; must be 1 with {LOOPS}"
        )
    })?;
    let has_max = resolved.values.contains_key("timing.t_erase_us_max");
    resolved.refuse("timing.t_erase_us_max", has_max, || {
        format!("an erase in loops has no maximum; must be absent with {LOOPS}")
    })?;
    let is_uncounted = lengths.rows() > 1 && resolved.reliability.ageing.is_none();
    resolved.refuse(LENGTHS, is_uncounted, || {
        "has several rows, and no cycles are counted; must have one row with reliability.model = \
         \"none\""
    })
}

/// A list has an entry for each page type, and an order fits their number.
fn page_types(resolved: &Resolved) -> Result<(), UserError> {
    let Some(types) = &resolved.timing.page_types else { return Ok(()) };
    let lists = ["timing.t_read_us_by_type", "timing.program_iterations_by_type"];
    let lists = lists.map(|name| (name, resolved.values.get(name).map(|list| list.items().len())));
    one_for_each(resolved, &lists, "timing.page_types", types.count as usize)?;
    let is_of_others = types.order == PageOrder::Interleaved && types.count != 3;
    let what = || format!("is an order of three types; must be \"modulo\" with {}", types.count);
    resolved.refuse("timing.page_type_order", is_of_others, what)
}

/// A wordline is part of a block, and one page has no gap.
fn wordlines(resolved: &Resolved) -> Result<(), UserError> {
    let per_block = resolved.geometry.pages_per_block;
    match resolved.timing.wordline {
        None if of::<Dur>(&resolved.values["timing.t_load_gap_us"]) != Dur::ZERO => {
            let what = "one page has no gap; must be 0 with timing.wordline_pages = 1";
            Err(resolved.fault("timing.t_load_gap_us", what))
        }
        None if resolved.ftl.wait_for_planes && resolved.units_per_page() == 1 => {
            let what = "a page waits for no other; must be false with timing.wordline_pages = 1";
            Err(resolved.fault("ftl.wait_for_planes", what))
        }
        Some(wordline) if per_block % wordline.pages != 0 => {
            let what = format!("must divide geometry.pages_per_block = {per_block}");
            Err(resolved.fault("timing.wordline_pages", what))
        }
        _ => Ok(()),
    }
}

/// Shares are kept as whole millionths.
fn shares(resolved: &Resolved) -> Result<(), UserError> {
    for name in ["suspension.retention_first_share", "suspension.retention_second_share"] {
        let share: f64 = of(&resolved.values[name]);
        let is_between = (share * 1e6).round() / 1e6 != share;
        resolved.refuse(name, is_between, || "must have at most six decimals")?;
    }
    Ok(())
}

/// A cancelled phase ends with a voltage reset, so it has room for one.
fn voltage_reset(resolved: &Resolved) -> Result<(), UserError> {
    let (timing, suspension) = (&resolved.timing, &resolved.suspension);
    if !suspension.reset_inside_phase {
        return Ok(());
    }
    let cancels = suspension.program == ProgramSuspension::Ipc;
    let erases = suspension.erase && suspension.erase_mode != EraseMode::Deferred;
    let segments = timing.erase_segments;
    let (segment, segment_name) = match (&timing.erase_loops, segments) {
        // The last loop of an erase may be shorter, and then ends before it is broken off.
        (Some(loops), _) => {
            let shortest = loops.lengths().iter().min().expect("there is a loop");
            (*shortest - timing.erase_verify, "the pulse of timing.t_erase_loops_us".to_string())
        }
        (None, 1) => (timing.erase, "timing.t_erase_us".to_string()),
        (None, _) => (
            Dur::from_ns(timing.erase.ns() / u64::from(segments)),
            format!("timing.t_erase_us / {segments}"),
        ),
    };
    let phases = [
        (cancels, timing.program_pulse, "timing.t_program_pulse_us"),
        (cancels, timing.verify, "timing.t_verify_us"),
        (erases, segment, &segment_name),
        (erases, timing.erase_verify, "timing.t_erase_verify_us"),
    ];
    // A phase of no length is never in progress, and so never cancelled.
    let is_short = |phase: Dur| phase.ns() > 0 && phase < timing.voltage_reset;
    for (cancels, phase, key) in phases {
        resolved.refuse("timing.t_voltage_reset_us", cancels && is_short(phase), || {
            format!(
                "is longer than {key} ({phase}), a phase that can be broken off; must be at most \
                 that"
            )
        })?;
    }
    Ok(())
}

/// A program runs inside a suspended erase and inside nothing else.
fn nested_programs(resolved: &Resolved) -> Result<(), UserError> {
    let set = &resolved.suspend_rules.host_write_suspends;
    resolved.refuse("suspension.host_write_suspends", set.program || set.gc_program, || {
        "the page buffer holds one page, and data sheets allow no program inside a suspended \
         program; must be [\"erase\"] or []"
    })
}

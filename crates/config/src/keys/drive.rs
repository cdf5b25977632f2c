//! Keys before every section, and keys of a part: shape and timing.

use reprieve_base::Dur;
use reprieve_nand::{
    EraseLoops, IterationSpread, PAGE_TYPES_MAX, PageOrder, PageTypes, ReadLaw, SPREAD_MAX,
    Wordline,
};

use crate::row::*;
use crate::types::*;

const LOOPED: &[Need] = &[given("timing.t_erase_loops_us")];
const TYPED: &[Need] = &[given("timing.page_types")];
const STARBLAZE: &str = "Starblaze, Flash Memory Summit 2017: a typical and a maximum of each time";
const FAST12: &str = "Wu and He, FAST 2012, Table 1";
const AERO: &str = "Cho et al., AERO, ASPLOS 2024, and the data of its simulator";
const Z21: &str = "Zambelli et al., Electronics 10, 1394 (2021)";

/// The values of `policy`, with the keys that each sets.
macro_rules! shorthands {
    ($($name:literal = $scheduling:literal $program:literal $erase:literal, $doc:literal;)+) => {
        /// The words of `policy`.
        pub const SHORTHANDS: &[Entry] = &[$(Entry { name: $name, doc: $doc }),+];

        /// Each word with its scheduling.policy, suspension.program and suspension.erase.
        pub(crate) const MEANINGS: &[(&str, &str, &str, bool)] =
            &[$(($name, $scheduling, $program, $erase)),+];
    };
}

shorthands! {
    "fifo" = "fifo" "none" false, "In order of arrival, nothing is suspended.";
    "rps" = "rps" "none" false, "Read priority scheduling, nothing is suspended.";
    "per" = "per" "none" false, "RPS with program and erase as short as a read.";
    "pe0" = "pe0" "none" false, "RPS with program and erase of no length.";
    "pes-ips" = "rps" "ips" true, "RPS with erase and inter-phase program suspension.";
    "pes-ipc" = "rps" "ipc" true, "RPS with erase suspension and intra-phase cancellation.";
}

section! {
    /// Keys before every section.
    TOP ""

    /// Seed of every random stream.
    seed [seed] count(0, u64::MAX), or("1"), environment();
    /// The drive to start from: a built-in preset, or the path of a file of the same form.
    device [] preset(), absent();
    /// The NAND part under the drive, in place of the one that the device names.
    part [] preset(), absent();
    /// The load to start from: a built-in preset, or the path of a file of the same form.
    load [] preset(), absent(), environment();
    /// Name of the drive in results; else the device's name.
    name (|s| Some(Value::Text(s.device.clone())), |s, value, _| s.device = of(value)) text(),
        absent();
    /// Shorthand for scheduling.policy, suspension.program and suspension.erase together.
    policy [] choice(SHORTHANDS), absent(), bounds(&["pe0", "per"]),
        from("Wu and He, FAST 2012, section 5");
}

section! {
    /// The shape of the drive; at most 2147483632 pages in all.
    GEOMETRY "geometry"

    /// Independent buses between controller and flash.
    channels [geometry.channels] count(1, 1 << 31);
    /// Dies that share a channel.
    dies_per_channel [geometry.dies_per_channel] count(1, 1 << 31);
    /// Chips (packages) on a channel; divides dies_per_channel.
    chips_per_channel [geometry.chips_per_channel] count(1, 1 << 31),
        same_as("geometry.dies_per_channel");
    /// Planes of a die; parts on the market have up to 8.
    planes_per_die [geometry.planes_per_die] count(1, 128);
    /// Erase blocks of a plane.
    blocks_per_plane [geometry.blocks_per_plane] count(1, 1 << 31);
    /// Pages of a block.
    pages_per_block [geometry.pages_per_block] count(1, 1 << 31);
    /// User bytes of a page.
    page_bytes [geometry.page_bytes] sectors(1 << 24);
}

section! {
    /// Timing of the part.
    TIMING "timing"

    /// Command and address cycles on the channel (tCMD).
    t_command_us [timing.command] us(), or("0");
    /// One page over the channel (tBUS).
    t_bus_us [timing.bus] us(), from(FAST12);
    /// Array read of a page (tR).
    t_read_us [timing.read] us(), bounds(&["0"]), from(FAST12);
    /// How array reads vary; every law has the mean t_read_us.
    read_law [timing.read_law] one_of {
        "fixed" = ReadLaw::Fixed, "Every read takes the same time.";
        "exponential" = ReadLaw::Exponential,
            "Drawn for each read: hypothetical, as theory has it.";
    }, or("'fixed'");
    /// Iterations of pulse and verify (ISPP) of a page program.
    program_iterations [timing.program_iterations] count(1, 1_000), from(FAST12);
    /// Program pulse of one iteration.
    t_program_pulse_us [timing.program_pulse] us(), bounds(&["0"]), from(FAST12);
    /// Program verify of one iteration.
    t_verify_us [timing.verify] us(), from(FAST12);
    /// Erase pulse, all its segments together; without a meaning with t_erase_loops_us.
    t_erase_us [timing.erase] us(), bounds(&["0"]), from(FAST12);
    /// Loops of an erase, each a pulse and a verify, in order, the last of them again and again;
    /// absent: an erase is one pulse.
    t_erase_loops_us (
        |s| s.timing.erase_loops.map(|loops| loops.lengths().to_vec()).value(),
        // A rule refuses a list that makes no loops.
        |s, value, _| s.timing.erase_loops = EraseLoops::new(&of::<Vec<Dur>>(value))
    ) us_list(), absent(), from(AERO);
    /// Array time of an erase in loops by the cycles of its block, as shares of blocks:
    /// `[[500, [[3500, 92], [7000, 8]]], [2500, [[7000, 1]]]]`, times in microseconds.
    t_erase_us_by_cycles [erase_us_by_cycles] weights_by_count(10_000_000, 64), absent(),
        when(LOOPED), from(AERO);
    /// Equal segments of the erase pulse, with a safe point between any two; divides it.
    erase_segments [timing.erase_segments] count(1, 1_000_000), or("1"),
        from("Kim et al., USENIX ATC 2019, as reported by others");
    /// Verify after the erase pulse.
    t_erase_verify_us [timing.erase_verify] us(), same_as("timing.t_verify_us"),
        from("Wu and He, FAST 2012, section 4.1");
    /// Reset of the operating voltages; within a phase, no longer than the phase.
    t_voltage_reset_us [timing.voltage_reset] us(), from(FAST12);
    /// Restoring the page buffer from the shadow buffer before a program resumes.
    t_buffer_us [timing.buffer] us(), or("0"), from(FAST12);
    /// From the stop of an operation's phases to a free array, in every kind of suspension.
    t_suspend_overhead_us [timing.suspend_overhead] us(), or("0"), from("Zambelli et al. 2021");
    /// From the stop of an erase to a free array.
    t_erase_suspend_overhead_us [timing.erase_suspend_overhead] us(),
        same_as("timing.t_suspend_overhead_us");
    /// Whether the array is free at the end of tR: the data waits in a second register.
    cache_register [timing.cache_register] flag(), or("false");
    /// Pages of a block that one program takes together; divides pages_per_block.
    wordline_pages (
        |s| s.timing.pages_together().value(),
        |s, value, _| {
            let wordline = Wordline { pages: of(value), load_gap: Dur::ZERO };
            s.timing.wordline = Some(wordline).filter(|wordline| wordline.pages > 1);
        }
    ) count(1, 16), or("1");
    /// Between the transfers of two pages of a wordline.
    t_load_gap_us (
        |s| s.timing.wordline.map_or(Dur::ZERO, |wordline| wordline.load_gap).value(),
        |s, value, _| {
            if let Some(wordline) = &mut s.timing.wordline {
                wordline.load_gap = of(value);
            }
        }
    ) us(), or("0");
    /// Iterations of a first, coarse program of a wordline; the fine one, of program_iterations,
    /// follows after the coarse one of the next wordline. Absent: a wordline is programmed once.
    coarse_iterations [timing.coarse_iterations] count(1, 1_000), absent(),
        from("Shibata et al., ISSCC 2019: a wordline of QLC in two steps");
    /// Types of pages, as many as a cell has bits; absent: all pages are alike.
    page_types (
        |s| s.timing.page_types.map(|types| types.count).value(),
        |s, value, _| {
            let order = PageOrder::Modulo;
            let read = [s.timing.read; PAGE_TYPES_MAX];
            let program_iterations = [s.timing.program_iterations; PAGE_TYPES_MAX];
            let types = PageTypes { count: of(value), order, read, program_iterations };
            s.timing.page_types = Some(types);
        }
    ) count(2, PAGE_TYPES_MAX as u64), absent();
    /// Which page of a block has which type.
    page_type_order [timing.page_types?.order] one_of {
        "modulo" = PageOrder::Modulo, "The types by turns: page p has type p modulo page_types.";
        "interleaved" = PageOrder::Interleaved,
            "Of three types: six pages of the first, two of the second, then two of each by turns \
             (Yaakobi et al., ICNC 2012).";
    }, or("'modulo'"), when(TYPED);
    /// Array read of a page of each type, in place of t_read_us; absent: alike.
    t_read_us_by_type (
        |s| s.timing.page_types.map(|types| types.read[..types.count as usize].to_vec()).value(),
        |s, value, _| {
            let types = s.timing.page_types.as_mut().expect("the key applies with types alone");
            types.read.iter_mut().zip(of::<Vec<Dur>>(value)).for_each(|(read, of)| *read = of);
        }
    ) us_list(), absent(), when(TYPED);
    /// Iterations of a program of each type, in place of program_iterations; absent: alike.
    program_iterations_by_type (
        |s| {
            // Wordlines with separate iterations, or one number for all their pages, have no types.
            let types = s.timing.page_types.filter(|_| {
                s.timing.spread.is_none() && s.timing.wordline.is_none()
            })?;
            types.program_iterations[..types.count as usize].to_vec().value()
        },
        |s, value, _| {
            let types = s.timing.page_types.as_mut().expect("the key applies with types alone");
            let given = of::<Vec<u32>>(value);
            types.program_iterations.iter_mut().zip(given).for_each(|(count, of)| *count = of);
        }
    ) counts(1, 1_000), absent(), when(TYPED);
    /// Iterations by wordline, `[[24, 1], [25, 3]]`, in place of program_iterations.
    program_iterations_weights (
        |s| s.timing.spread.map(|spread| spread.entries().to_vec()).value(),
        |s, value, _| s.timing.spread = Some(IterationSpread::new(&of::<Vec<(u16, u16)>>(value)))
    ) weights(1000, SPREAD_MAX), absent(), from(Z21);
    /// Which times to use of a part that has typical and maximum ones.
    values (|_| Some(Value::from("typical")), |_, _, _| {}) words {
        "typical", "Those without an ending.";
        "maximum", "Those that end in _max, where the part has them.";
    }, or("'typical'"), from(STARBLAZE);
    /// The maximum of t_read_us; absent: alike.
    t_read_us_max (|_| None, |s, value, all| slow(all, value, &mut s.timing.read)) us(), absent(),
        from(STARBLAZE);
    /// The maximum of program_iterations; absent: alike.
    program_iterations_max (
        |_| None,
        |s, value, all| slow(all, value, &mut s.timing.program_iterations)
    ) count(1, 1_000), absent(), from(STARBLAZE);
    /// The maximum of t_erase_us; absent: alike.
    t_erase_us_max (|_| None, |s, value, all| slow(all, value, &mut s.timing.erase)) us(), absent(),
        from(STARBLAZE);
}

/// Replaces a time by its maximum, if selected.
fn slow<T: Field>(all: &Values, max: &Value, time: &mut T) {
    if all.get("timing.values") == Some(&Value::from("maximum")) {
        *time = of(max);
    }
}

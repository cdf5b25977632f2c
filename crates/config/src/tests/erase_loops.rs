//! Keys of erases in loops: what they mean, what does not go together, and their parts.

use reprieve_base::Dur;

use super::{BASE, bad, good};

const LOOPS: &str = "timing.t_erase_loops_us=[1000, 2500, 3500]";
const LENGTHS: &str = "timing.t_erase_us_by_cycles=[[500, [[7000, 8], [3500, 92]]]]";

/// Asserts the error of sets given together with the loops and their lengths.
fn refused(sets: &[&str], error: &str) {
    let all = [&[LOOPS, LENGTHS], sets].concat();
    assert_eq!(bad(BASE, &all), format!("--set: {error}"), "{sets:?}");
}

#[test]
fn loops_and_lengths_are_those_of_the_keys() {
    assert_eq!(good(BASE, &[]).timing.erase_loops, None);
    let scenario = good(BASE, &[LOOPS, LENGTHS]);
    let loops = scenario.timing.erase_loops.expect("they are given");
    assert_eq!(loops.lengths(), [1_000, 2_500, 3_500].map(Dur::from_us));
    let lengths = scenario.erase_lengths().expect("they are given");
    let of = |rank| lengths.of(rank, 100, 0.0);
    assert_eq!([of(0), of(91), of(92), of(99)], [3_500, 3_500, 7_000, 7_000].map(Dur::from_us));
    // Rows may come in any order of their cycles.
    let rows = "timing.t_erase_us_by_cycles=[[20, [[7000, 1]]], [10, [[3500, 1]]]]";
    let sets = [LOOPS, rows, "reliability.model=power"];
    let lengths = good(BASE, &sets).erase_lengths().expect("they are given");
    assert_eq!(lengths.of(0, 1, 15.0), Dur::from_us(5_250));
}

#[test]
fn what_makes_no_erase_is_refused() {
    assert_eq!(
        bad(BASE, &[LOOPS]),
        "--set: timing.t_erase_loops_us = [1000, 2500, 3500]: needs timing.t_erase_us_by_cycles, \
         how long erases take in all"
    );
    refused(
        &["timing.t_erase_loops_us=[9, 9, 9, 9, 9, 9, 9, 9, 9]"],
        "timing.t_erase_loops_us = [9, 9, 9, 9, 9, 9, 9, 9, 9]: must be 1 to 8 times above 0",
    );
    refused(
        &["timing.t_erase_loops_us=[0]"],
        "timing.t_erase_loops_us = [0]: must be 1 to 8 times above 0",
    );
    refused(
        &["timing.t_erase_verify_us=1000"],
        "timing.t_erase_loops_us = [1000, 2500, 3500]: must be longer than \
         timing.t_erase_verify_us (1000000 ns)",
    );
    let short = "timing.t_erase_us_by_cycles=[[0, [[99, 1], [3500, 1]]]]";
    refused(
        &["timing.t_erase_verify_us=99", short],
        "timing.t_erase_us_by_cycles = [[0, [[99, 1], [3500, 1]]]]: must be longer than \
         timing.t_erase_verify_us (99000 ns)",
    );
    refused(
        &["timing.erase_segments=2"],
        "timing.erase_segments = 2: the safe points of an erase in loops are the ends of the \
         loops; must be 1 with timing.t_erase_loops_us",
    );
    refused(
        &["timing.t_erase_us_max=9000"],
        "timing.t_erase_us_max = 9000: an erase in loops has no maximum; must be absent with \
         timing.t_erase_loops_us",
    );
    refused(
        &["timing.t_erase_us_by_cycles=[[0, [[3500, 1]]], [500, [[7000, 1]]]]"],
        "timing.t_erase_us_by_cycles = [[0, [[3500, 1]]], [500, [[7000, 1]]]]: has several rows, \
         and no cycles are counted; must have one row with reliability.model = \"none\"",
    );
    refused(
        &["suspension.program=none", "suspension.erase=true", "timing.t_voltage_reset_us=995"],
        "timing.t_voltage_reset_us = 995: is longer than the pulse of timing.t_erase_loops_us \
         (976000 ns), a phase that can be broken off; must be at most that",
    );
}

#[test]
fn a_table_has_different_cycles_and_different_lengths() {
    for wrong in ["[[0, [[3500, 1]]], [0, [[7000, 1]]]]", "[[0, [[7, 1], [7, 2]]]]", "[[0, []]]"] {
        let set = format!("timing.t_erase_us_by_cycles={wrong}");
        let error = bad(BASE, &[LOOPS, &set]);
        assert!(error.ends_with("the integers of a list different, or \"none\""), "{error}");
    }
}

/// Mean erases in microseconds at 500, 2,500 and 4,500 cycles, of 160 chips: Cho et al., AERO,
/// ASPLOS 2024, by the data of its simulator.
const MEANS_US: [(&str, [u64; 3]); 5] = [
    ("tlc3d-ispe", [3_780, 9_765, 15_610]),
    ("tlc3d-iispe", [3_745, 6_895, 15_610]),
    ("tlc3d-dpes", [3_745, 9_870, 14_385]),
    ("tlc3d-aero", [2_660, 7_095, 13_010]),
    ("tlc3d-aero-plus", [2_435, 5_235, 11_620]),
];

#[test]
fn the_parts_of_aero_have_its_means_and_differ_in_nothing_else() {
    let of = |part: &str| good(BASE, &[&format!("part={part}"), "device=tlc3d-1tb"]);
    let plain = of("tlc3d-ispe");
    for (part, means_us) in MEANS_US {
        let scenario = of(part);
        let lengths = scenario.erase_lengths().expect("it erases in loops");
        for (cycles, mean_us) in [500.0, 2_500.0, 4_500.0].into_iter().zip(means_us) {
            let sum: u64 = (0..200).map(|rank| lengths.of(rank, 200, cycles).ns()).sum();
            assert_eq!(sum, 200 * 1_000 * mean_us, "{part} at {cycles}");
        }
        let mut alike = scenario.clone();
        alike.timing.erase_loops = plain.timing.erase_loops;
        alike.erase_us_by_cycles = plain.erase_us_by_cycles.clone();
        assert_eq!(alike, plain, "{part}");
    }
    // 76.5, 18.5 and 5 per cent at 1,000 cycles: 4.4975 ms.
    let lengths = plain.erase_lengths().expect("it erases in loops");
    let sum: u64 = (0..200).map(|rank| lengths.of(rank, 200, 1_000.0).ns()).sum();
    assert_eq!(sum, 200 * 4_497_500);
}

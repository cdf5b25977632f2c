//! The procedure against sums by hand, on a part with one wordline.
//!
//! Ten iterations of 100 µs, 20 more until the array is free, 5 to restore the page; a program
//! begins with 40 over the channel, which is no part of it. All in µs.

use reprieve_base::Dur;
use reprieve_config::{self as scenario, Scenario};

use super::{Run, Variety, run};
use crate::registries;

const ALIKE: Variety = Variety { length_share: 0.0, start_share: 0.0 };

fn tiny(sets: &[&str]) -> Scenario {
    let own = [
        "geometry.pages_per_block=1",
        "timing.program_iterations=10",
        "timing.t_program_pulse_us=60",
        "timing.t_verify_us=40",
        "timing.t_buffer_us=5",
        "timing.t_suspend_overhead_us=20",
        "suspension.program=iteration",
        "scheduling.policy=rps",
    ];
    let sets: Vec<String> = own.iter().chain(sets).map(|set| (*set).to_string()).collect();
    scenario::load_rig("fast12-mlc", &sets, registries()).expect("the settings are right")
}

/// Suspensions, tEPS in all and at most, the program without and with the last delay.
fn row(runs: &[Run], delay1_tenths: u32, delay2_tenths: u32) -> [u64; 5] {
    let fits =
        |run: &&Run| (run.delay1_tenths, run.delay2_tenths) == (delay1_tenths, delay2_tenths);
    let fits = |run: &&Run| !run.is_drawn && fits(run);
    let found: Vec<&Run> = runs.iter().filter(fits).collect();
    let [run] = found[..] else { panic!("one wordline, one type of page: {found:?}") };
    let us = |dur: Dur| dur.ns() / 1_000;
    assert_eq!(us(run.undisturbed) * 1_000, run.undisturbed.ns());
    let lengths = [run.eps_total, run.eps_worst, run.suspended, run.timers].map(us);
    [u64::from(run.suspensions), lengths[0], lengths[1], lengths[2], lengths[3]]
}

#[test]
fn every_delay_leads_to_the_sums_by_hand() {
    let runs = run(&tiny(&[]), 1, &ALIKE).expect("it can be measured");
    assert_eq!(runs.len(), 200);
    assert!(runs.iter().all(|run| run.undisturbed == Dur::from_us(1_000) && run.wordline == 0));
    // One iteration a run: 100 is the end of the first, and 95 after each restore lie in the next.
    // The tenth has no suspension. 1000 + 9 × (20 + 5).
    assert_eq!(row(&runs, 1, 1), [9, 20 + 8 * 25, 25, 1_225, 1_225]);
    // Three, three, three and one: 320 + 2 × 325 + 105, or 300 for the last delay.
    assert_eq!(row(&runs, 3, 3), [3, 20 + 2 * 25, 25, 1_075, 1_270]);
    // Seven and three: 720 + 305, or 700.
    assert_eq!(row(&runs, 7, 7), [1, 20, 20, 1_025, 1_420]);
    // Two, then eight, of which the last needs no suspension: 220 + 805 and 220 + 900.
    assert_eq!(row(&runs, 2, 9), [1, 20, 20, 1_025, 1_120]);
    // The program ends with the first delay.
    assert_eq!(row(&runs, 10, 1), [0, 0, 0, 1_000, 1_000]);
}

#[test]
fn early_retention_loss_shows_where_the_first_delay_is_short_and_the_second_long() {
    let runs =
        run(&tiny(&["suspension.retention_iterations=2"]), 1, &ALIKE).expect("it can be measured");
    // One, then ten of eleven, then one: 120 + 1025 + 105, or 1000 at last.
    assert_eq!(row(&runs, 1, 10), [2, 45, 25, 1_250, 2_145]);
    // One, six, three: too short a run.
    assert_eq!(row(&runs, 1, 6), [2, 45, 25, 1_050, 1_345]);
    // Two are done: not early.
    assert_eq!(row(&runs, 2, 10), [1, 20, 20, 1_025, 1_220]);
}

#[test]
fn limits_and_guards_of_the_part_hold() {
    let runs =
        run(&tiny(&["suspension.max_per_operation=2"]), 1, &ALIKE).expect("it can be measured");
    // 120 + 125, and eight iterations after a restore.
    assert_eq!(row(&runs, 1, 1), [2, 45, 25, 120 + 125 + 805, 120 + 125 + 805]);
    // A request at 100 after the resume waits until 150, and for the iteration that ends at 205.
    let runs =
        run(&tiny(&["suspension.min_progress_us=150"]), 1, &ALIKE).expect("it can be measured");
    // One, four times two, and one: 120 + 4 × 225 + 105.
    assert_eq!(row(&runs, 1, 1), [5, 20 + 4 * 75, 75, 1_125, 1_125]);
}

#[test]
fn a_sliced_program_is_suspended_between_its_slices() {
    let sets = [
        "suspension.program=sliced",
        "suspension.slice_iterations=5",
        "suspension.t_slice_overhead_us=50",
    ];
    // The 20 come after the rest of the first slice as well.
    let runs = run(&tiny(&sets), 1, &ALIKE).expect("it can be measured");
    assert_eq!(row(&runs, 1, 1), [1, 460, 460, 1_125, 1_125]);
    let sets = [&sets[..], &["timing.t_suspend_overhead_us=0"]].concat();
    let runs = run(&tiny(&sets), 1, &ALIKE).expect("it can be measured");
    // Two slices of 550: a delay of 110, and the rest of the first slice; then 5 + 550.
    assert_eq!(row(&runs, 1, 1), [1, 440, 440, 1_105, 1_105]);
    assert_eq!(row(&runs, 5, 10), [1, 0, 0, 1_105, 550 + 1_100]);
    assert_eq!(row(&runs, 6, 1), [0, 0, 0, 1_100, 1_100]);
}

#[test]
fn wordlines_are_drawn_by_seed_and_each_type_of_page_is_read() {
    let sets = [
        "geometry.pages_per_block=60",
        "timing.wordline_pages=3",
        "timing.page_types=3",
        "timing.program_iterations_weights=[[9, 1], [11, 1]]",
    ];
    let wordlines = |sets: &[&str]| {
        let runs = run(&tiny(sets), 8, &ALIKE).expect("it can be measured");
        assert_eq!(runs.len(), 2 * 100 * 8 * 3);
        for of_wordline in runs[..24].chunks(3) {
            let same = of_wordline.iter().map(|run| run.wordline == of_wordline[0].wordline);
            assert!(same.into_iter().all(|same| same));
            let types: Vec<u32> = of_wordline.iter().map(|run| run.page_type).collect();
            assert_eq!(types, [0, 1, 2]);
            let length = of_wordline[0].undisturbed;
            assert!(length == Dur::from_us(900) || length == Dur::from_us(1_100));
        }
        let numbers: Vec<u32> = runs[..24].iter().step_by(3).map(|run| run.wordline).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next) && numbers[7] < 20, "{numbers:?}");
        numbers
    };
    let other: Vec<&str> = sets.into_iter().chain(["seed=2"]).collect();
    assert_eq!(wordlines(&sets), wordlines(&sets));
    assert_ne!(wordlines(&sets), wordlines(&other));
}

#[test]
fn drawn_delays_lie_around_their_steps_and_meet_every_phase() {
    let runs = run(&tiny(&[]), 1, &ALIKE).expect("it can be measured");
    let drawn: Vec<&Run> = runs.iter().filter(|run| run.is_drawn).collect();
    assert_eq!(drawn.len(), 100);
    for run in &drawn {
        for (delay, tenths) in run.delays.iter().zip([run.delay1_tenths, run.delay2_tenths]) {
            let us = delay.ns() as f64 / 1_000.0;
            assert!((us - 100.0 * f64::from(tenths)).abs() <= 50.0, "{run:?}");
        }
    }
    // A first delay of D is followed by the rest of its iteration and 20: 120 - D mod 100.
    let once: Vec<_> = drawn.iter().filter(|run| run.suspensions == 1).collect();
    assert!(once.len() > 10, "{}", once.len());
    for run in once {
        let into = run.delays[0].ns() % 100_000;
        assert_eq!(run.eps_worst.ns(), 20_000 + (100_000 - into) % 100_000, "{run:?}");
    }
}

#[test]
fn wordlines_differ_in_the_length_of_their_iterations_and_in_their_start() {
    let variety = Variety { length_share: 0.1, start_share: 0.5 };
    let runs = run(&tiny(&["geometry.pages_per_block=64"]), 64, &variety).expect("as above");
    let of_each = |run: &&Run| run.delay1_tenths == 10 && run.delay2_tenths == 10 && !run.is_drawn;
    let whole: Vec<f64> =
        runs.iter().filter(of_each).map(|run| run.undisturbed.ns() as f64 / 1e3).collect();
    assert_eq!(whole.len(), 64);
    // Ten iterations of 90 to 110, after 0 to 50: 1025 in the mean, with a deviation of
    // sqrt(200^2 / 12 + 50^2 / 12) = 59.5, of the mean of 64 of them 7.4.
    assert!(whole.iter().all(|us| (900.0..=1150.0).contains(us)));
    let mean = whole.iter().sum::<f64>() / 64.0;
    assert!((mean - 1025.0).abs() < 4.0 * 7.4, "{mean}");
    let spread = whole.iter().map(|us| (us - mean).powi(2)).sum::<f64>() / 64.0;
    assert!((40.0..80.0).contains(&spread.sqrt()), "{spread}");
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let sentence = |sets: &[&str], wordlines| {
        run(&tiny(sets), wordlines, &ALIKE).expect_err("it cannot be measured").to_string()
    };
    assert_eq!(
        sentence(&["suspension.program=none"], 1),
        "suspension.program = \"none\": the part suspends no programs; must be one of \"ips\", \
         \"ipc\", \"iteration\", \"sliced\""
    );
    assert_eq!(sentence(&[], 2), "wordlines = 2: a block of this part has 1; must be from 1 to 1");
    // One iteration: each request comes 4 into the pulse, which is done again.
    let sets = ["suspension.program=ipc", "timing.program_iterations=1"];
    let starved = sentence(&sets, 1);
    assert!(starved.starts_with("wordline 0: its program is suspended 10000 times"), "{starved}");
}

//! Temperature and throttling, by closed form and by hand.
//!
//! SLC of FAST 2012 on two dies of a channel each: a page over the bus 20 us, a program 5 x 28.

use super::drive::{self, Outcome, TraceRow};

/// Idle dies draw 1 mW, programs 30, and transfers nothing; a watt warms the drive by 50 degrees in
/// the end, with a time constant of 1 ms.
const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 2\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n\
    [power]\naccount = \"on\"\np_idle_mw = 1\np_sense_mw = 1\np_program_pulse_mw = 30\n\
    p_program_verify_mw = 30\np_erase_pulse_mw = 30\np_suspended_mw = 1\n\
    e_io_pj_per_bit = 0\n\
    [thermal]\nmodel = \"rc\"\nc_per_w = 50\ntime_constant_s = 0.001\npoll_us = 100\n\
    light_budget_mw = 40\nheavy_budget_mw = 35\n";

/// A run of these rows, and a read at its beginning, without which they would be the beginning.
fn run(sets: &[&str], rows: &[TraceRow]) -> Outcome {
    let first = [at_us(0, 'R', 16)];
    drive::replay(DRIVE, sets, &[&first, rows].concat())
}

/// A write or read of a page; even pages are of the first die.
fn at_us(us: u64, op: char, page: u64) -> TraceRow {
    (us * 1000, op, 4 * page, 4)
}

fn done_us(outcome: &Outcome) -> Vec<u64> {
    outcome.rows[1..].iter().map(|row| row.completion_ns / 1000).collect()
}

/// Time without a limit, with the light and with the heavy one, in microseconds.
fn levels_us(outcome: &Outcome) -> [u64; 3] {
    ["unthrottled_s", "light_s", "heavy_s"]
        .map(|name| (outcome.number(&format!("thermal.{name}")) * 1e6).round() as u64)
}

#[test]
fn an_idle_drive_warms_up_as_one_body() {
    // 2 mW of two dies and 998 mW of the controller: 50 degrees in the end. The read is complete 30
    // us after it comes; the firmware last looked at 1.7 ms. Its array draws as much as an idle
    // one.
    let sets = ["thermal.p_controller_mw=998", "thermal.light_c=100", "thermal.heavy_c=110"];
    let outcome = run(&sets, &[at_us(1_700, 'R', 0)]);
    let expected_c = 25.0 + 50.0 * (1.0 - f64::exp(-1.7));
    assert!((outcome.number("thermal.end_c") - expected_c).abs() < 1e-9);
    assert_eq!(outcome.number("thermal.highest_c"), outcome.number("thermal.end_c"));
    assert_eq!(levels_us(&outcome), [1_700, 0, 0]);
    // Looks before the measured part, which begins between two of them, count as well.
    let outcome = run(&[&sets[..], &["measure.from_s=0.00165"]].concat(), &[at_us(1_700, 'R', 0)]);
    assert!((outcome.number("thermal.end_c") - expected_c).abs() < 1e-9);
    // From 75 degrees on nothing changes.
    let outcome = run(&[&sets[..], &["thermal.start_c=75"]].concat(), &[at_us(1_700, 'R', 0)]);
    assert!((outcome.number("thermal.end_c") - 75.0).abs() < 1e-9);
}

#[test]
fn energy_of_programs_warms_the_drive() {
    // A program from 0 to 160 us takes 29 mW above idle. By steps: 2 + 29 mW in the first, 2 + 0.6
    // x 29 in the second, 2 in the third.
    let outcome = drive::replay(DRIVE, &[], &[at_us(0, 'W', 0), at_us(300, 'R', 16)]);
    let mean_mw = [31.0 - 0.2 * 29.0, 2.0 + 0.6 * 29.0, 2.0];
    let rise_c = mean_mw.iter().fold(0.0, |rise, mw| {
        let end_c = 50.0 * mw / 1e3;
        end_c + (rise - end_c) * f64::exp(-0.1)
    });
    assert!((outcome.number("thermal.end_c") - 25.0 - rise_c).abs() < 1e-9);
}

#[test]
fn a_hot_drive_programs_one_die_at_a_time() {
    // 2 W: 100 degrees in the end. The light limit of 70 degrees is reached after -ln(0.55) ms, 598
    // us, and seen at 600: programs that run go on, of those that come at 1000 us one waits.
    let sets = ["thermal.p_controller_mw=1998", "thermal.heavy_c=125"];
    let rows = [at_us(550, 'W', 0), at_us(550, 'W', 1), at_us(1_000, 'W', 2), at_us(1_000, 'W', 3)];
    let outcome = run(&sets, &rows);
    assert_eq!(done_us(&outcome), [710, 710, 1_160, 1_320]);
    assert_eq!(levels_us(&outcome), [600, 700, 0]);
    assert_eq!(outcome.count("thermal.rises"), 1);
    // With a heavy limit from 80 degrees on, after -ln(0.45) ms, 799 us: the dies' idle power only,
    // under which one die at a time may still work.
    let heavy = ["thermal.p_controller_mw=1998", "thermal.heavy_budget_mw=2"];
    let outcome = run(&heavy, &rows);
    assert_eq!(done_us(&outcome), [710, 710, 1_160, 1_320]);
    assert_eq!(levels_us(&outcome), [600, 200, 500]);
    assert_eq!(outcome.count("thermal.rises"), 2);
    // A limit of its own that is lower holds all the time.
    let outcome = run(&[&sets[..], &["power.budget_mw=40"]].concat(), &rows);
    assert_eq!(done_us(&outcome), [710, 870, 1_160, 1_320]);
}

#[test]
fn a_limit_ends_below_its_temperature_while_a_die_waits() {
    // From 90 degrees it falls to 25 + 65 e^-t, and a program adds half a degree at most: 83.8,
    // 78.2, 73.2, 68.6 and 64.4 at the first five looks. The heavy limit ends below 78, at 300 us,
    // the light one below 68, at 500. The second program waits until then, not for the first.
    let rows = [at_us(400, 'W', 0), at_us(400, 'W', 1)];
    let outcome = run(&["thermal.start_c=90"], &rows);
    assert_eq!(done_us(&outcome), [560, 660]);
    assert_eq!(levels_us(&outcome), [100, 200, 300]);
    assert_eq!(outcome.count("thermal.rises"), 0);
    assert_eq!(outcome.number("thermal.highest_c"), 90.0);
    // Without hysteresis the light limit ends below 70, at 400 us.
    let outcome = run(&["thermal.start_c=90", "thermal.hysteresis_c=0"], &rows);
    assert_eq!(done_us(&outcome), [560, 560]);
}

#[test]
fn a_suspended_program_resumes_under_a_limit_and_reads_go_first() {
    // Reads draw nothing above idle, so a limit on programs leaves them alone: the read suspends
    // the program at the end of its iteration, 8 us of verify included, and its die's power is then
    // free for the other die, whose program had waited.
    let sets = ["thermal.p_controller_mw=1998", "thermal.heavy_c=125", "policy=pes-ips"];
    let rows = [at_us(1_000, 'W', 2), at_us(1_001, 'W', 3), at_us(1_030, 'R', 16)];
    let outcome = run(&sets, &rows);
    // Iterations end at 1048 and 1076. At 1040 the pulse of the first has ended: IPS stops at a
    // phase's end. The read senses 10 us and leaves in 20.
    let read_us = done_us(&outcome)[2];
    assert_eq!(read_us, 1_040 + 10 + 20);
    // The other program runs meanwhile, 160 us; the first has 120 us left, and 3 to restore.
    assert_eq!(done_us(&outcome)[..2], [1_200 + 3 + 120, 1_200]);
}

#[test]
fn what_cannot_be_is_refused() {
    let cases = [
        ("thermal.heavy_c=70", "must be above thermal.light_c = 70"),
        ("thermal.heavy_budget_mw=41", "must be at most thermal.light_budget_mw = 40"),
        ("thermal.time_constant_s=0", "must be above 0"),
        ("thermal.poll_us=0", "must be above 0"),
        ("parallelism.cache_program=true", "a program that is loaded and begins by itself"),
        ("thermal.light_budget_mw=1", "is less than all dies draw idle; must be at least 2"),
    ];
    drive::assert_refused(DRIVE, &cases);
}

//! Power and energy by hand, on the rig and on small drives; and what a budget does to them.
//!
//! SLC of FAST 2012: page over the bus 20 us, tR 10, program 5 x (20 + 8), voltage reset 4, restore
//! 3. A page is 16384 bits; at 10 pJ a bit it takes 163.84 nJ, over 20 us that is 8.192 mW.

use reprieve_base::{PageAddress, Time};
use reprieve_ssd::power::PowerStep;
use reprieve_ssd::rig::{self, RigCommand, RigOp};
use reprieve_ssd::scenario::{self, Scenario};
use reprieve_ssd::{Options, Ssd, registries};

use super::drive::{self, Outcome, TraceRow};

/// Idle 1, sensing 20, pulse 30, verify 25, suspended 5 mW; a resume takes 7 nJ.
const POWERS: &str = "[power]\naccount = \"on\"\np_idle_mw = 1\np_sense_mw = 20\n\
    p_program_pulse_mw = 30\np_program_verify_mw = 25\np_erase_pulse_mw = 28\n\
    p_suspended_mw = 5\ne_resume_nj = 7\ne_io_pj_per_bit = 10\nvdd_core_v = 2\nvdd_q_v = 1\n";

/// One plane a die, a die a channel; 4 sectors a page, pages in turn over the channels.
fn slc(channels: u32) -> String {
    format!(
        "device = \"fast12-slc\"\n{POWERS}\
         [geometry]\nchannels = {channels}\nplanes_per_die = 1\nblocks_per_plane = 16\n\
         pages_per_block = 4\n[ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n"
    )
}

const fn us(us: u64) -> u64 {
    us * 1000
}

/// A write or read of a page at a time in microseconds.
const fn row(at_us: u64, op: char, page: u64) -> TraceRow {
    (us(at_us), op, 4 * page, 4)
}

fn done_us(outcome: &Outcome) -> Vec<u64> {
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

/// The energy at a path of the summary in nanojoules, to the picojoule.
fn nanojoules(outcome: &Outcome, path: &str) -> f64 {
    let number = outcome.number(&format!("power.energy_uj.{path}"));
    (number * 1e6).round() / 1e3
}

/// Every step of power of the rig.
fn metered(scenario: &Scenario, commands: &[RigCommand]) -> Vec<PowerStep> {
    let asked = rig::Asked { power: true, ..Default::default() };
    rig::run_with(scenario, commands, asked).expect("legal commands").power
}

/// Steps of power in microseconds, core and I/O in milliwatts.
fn steps(policy: &str, commands: &[(u64, RigOp, u32)]) -> Vec<(u64, f64, f64)> {
    let mut sets: Vec<String> = vec![format!("policy={policy}")];
    let powers = POWERS.lines().filter_map(|line| line.split_once(" = "));
    sets.extend(powers.map(|(key, value)| format!("power.{key}={value}")));
    let scenario = scenario::load_rig("fast12-slc", &sets, registries()).expect("good keys");
    let commands: Vec<_> = commands
        .iter()
        .map(|&(at_us, op, block)| RigCommand {
            arrival: Time::from_ns(us(at_us)),
            op,
            at: PageAddress { plane: 0, block, page: 0 },
        })
        .collect();
    let trace = metered(&scenario, &commands);
    let mw = |uw: u64| uw as f64 / 1e3;
    trace.iter().map(|step| (step.from.ns() / 1000, mw(step.core_uw), mw(step.io_uw))).collect()
}

#[test]
fn single_iterations_and_the_idle_of_a_suspension_are_visible() {
    // The read comes in the second pulse, which ends at 68: it senses to 78, its page leaves to 98;
    // the buffer is restored to 101. What is suspended adds 4 mW to the read's 20.
    let commands = [(0, RigOp::Program, 0), (61, RigOp::Read, 1)];
    let mut expected = vec![
        (0, 1.0, 8.192),
        (20, 30.0, 0.0),
        (40, 25.0, 0.0),
        (48, 30.0, 0.0),
        (68, 24.0, 0.0),
        (78, 5.0, 8.192),
        (98, 1.0, 0.0),
        (101, 25.0, 0.0),
    ];
    for pulse in [109, 137, 165] {
        expected.extend([(pulse, 30.0, 0.0), (pulse + 20, 25.0, 0.0)]);
    }
    expected.push((193, 1.0, 0.0));
    assert_eq!(steps("pes-ips", &commands), expected);
}

#[test]
fn a_cancelled_pulse_draws_until_its_voltages_are_reset() {
    // Cancelled at 61, reset to 65; sensing to 75, out to 95, restored to 98, then the verify that
    // looks whether the target was reached, to 106, and the pulse again.
    let commands = [(0, RigOp::Program, 0), (61, RigOp::Read, 1)];
    let steps = steps("pes-ipc", &commands);
    let expected = [
        (48, 30.0, 0.0),
        (65, 24.0, 0.0),
        (75, 5.0, 8.192),
        (95, 1.0, 0.0),
        (98, 25.0, 0.0),
        (106, 30.0, 0.0),
    ];
    assert_eq!(steps[3..9], expected);
    assert_eq!(steps.last(), Some(&(218, 1.0, 0.0)));
}

#[test]
fn a_trace_of_power_needs_powers() {
    let scenario = scenario::load_rig("fast12-slc", &[], registries()).expect("a built-in device");
    let asked = rig::Asked { power: true, ..Default::default() };
    let error = rig::run_with(&scenario, &[], asked).err().expect("nobody accounts for power");
    let expected = "power.account = \"off\": must be \"on\" for a trace of power";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn energy_by_class_is_that_of_the_phases() {
    let rows = [row(0, 'W', 0), row(61, 'R', 16)];
    let outcome = drive::replay(&slc(1), &["policy=pes-ips"], &rows);
    assert_eq!(done_us(&outcome), [193, 98]);
    // A milliwatt for a microsecond is a nanojoule.
    let idle = 193.0;
    let write = 5.0 * 20.0 * 29.0 + 5.0 * 8.0 * 24.0;
    let read = 10.0 * 19.0;
    let suspension = 30.0 * 4.0 + 7.0;
    let core = idle + write + read + suspension;
    let expected = [
        ("by_class.host_write.core", write),
        ("by_class.host_read.core", read),
        ("by_class.suspension.core", suspension),
        ("by_class.erase.core", 0.0),
        ("by_class.host_write.io", 163.84),
        ("by_class.host_read.io", 163.84),
        ("idle", idle),
        ("core", core),
        ("io", 327.68),
        ("total", core + 327.68),
    ];
    for (path, energy) in expected {
        assert_eq!(nanojoules(&outcome, path), energy, "{path}");
    }
    let near = |path: &str, expected: f64| {
        let number = outcome.number(path);
        assert!((number / expected - 1.0).abs() < 1e-12, "{path}: {number}, not {expected}");
    };
    near("power.mean_mw.core", core / 193.0);
    near("power.mean_mw.io", 327.68 / 193.0);
    near("power.mean_ma.core", core / 193.0 / 2.0);
    near("power.host_byte_nj", (core + 327.68) / 4096.0);
    near("power.peak_mw.core", 30.0);
    near("power.peak_mw.io", 8.192);
    let states = ["sense", "program_pulse", "program_verify", "suspended", "idle"];
    let times = states.map(|state| outcome.count(&format!("power.states_ns.{state}")) / 1000);
    // Suspended only while nothing is sensed: 78 to 98. Idle: data in and restore.
    assert_eq!(times, [10, 100, 40, 20, 23]);
}

#[test]
fn what_a_cancellation_costs_is_booked_apart() {
    let rows = [row(0, 'W', 0), row(61, 'R', 16)];
    let outcome = drive::replay(&slc(1), &["policy=pes-ipc"], &rows);
    assert_eq!(done_us(&outcome), [218, 95]);
    // 17 us of a pulse for nothing, a verify to see that, 30 us of suspension, one resume.
    let suspension = 17.0 * 29.0 + 8.0 * 24.0 + 30.0 * 4.0 + 7.0;
    assert_eq!(nanojoules(&outcome, "by_class.suspension.core"), suspension);
    let write = 5.0 * 20.0 * 29.0 + 5.0 * 8.0 * 24.0;
    assert_eq!(nanojoules(&outcome, "by_class.host_write.core"), write);
}

#[test]
fn a_type_of_page_has_its_own_power() {
    // Pages 0, 1, 2 of a block: pulses of 100 us in all, verifies of 40.
    let sets = [
        "timing.page_types=3",
        "power.p_program_pulse_mw_by_type=[30, 40, 60]",
        "power.p_sense_mw_by_type=[20, 21, 31]",
    ];
    let rows = [row(0, 'W', 0), row(200, 'W', 1), row(400, 'W', 2), row(600, 'R', 2)];
    let outcome = drive::replay(&slc(1), &sets, &rows);
    let pulses = 100.0 * (29.0 + 39.0 + 59.0);
    let write = pulses + 3.0 * 40.0 * 24.0;
    assert_eq!(nanojoules(&outcome, "by_class.host_write.core"), write);
    assert_eq!(nanojoules(&outcome, "by_class.host_read.core"), 300.0);
}

#[test]
fn planes_of_a_command_share_its_base() {
    // Both pages come in by 40, and are programmed together to 180. 10 mW above idle are drawn
    // once, and each plane adds 19 in a pulse and 14 in a verify; a single read draws its 20.
    let sets = [
        "geometry.planes_per_die=2",
        "parallelism.multi_plane=page",
        "power.p_base_mw=11",
        "power.budget_mw=1000",
    ];
    let rows = [row(0, 'W', 0), row(0, 'W', 1), row(300, 'R', 0)];
    let outcome = drive::replay(&slc(1), &sets, &rows);
    assert_eq!(done_us(&outcome), [180, 180, 330]);
    let write = 100.0 * (10.0 + 2.0 * 19.0) + 40.0 * (10.0 + 2.0 * 14.0);
    assert_eq!(nanojoules(&outcome, "by_class.host_write.core"), write);
    assert_eq!(nanojoules(&outcome, "by_class.host_read.core"), 10.0 * 19.0);
    assert_eq!(outcome.number("power.peak_mw.core"), 49.0);
}

/// Steps of power of a program of two planes and a read at 50 of one of them, which makes way
/// alone.
fn steps_apart(sets: &[&str]) -> Vec<(u64, f64, f64)> {
    let always = [
        "policy=pes-ips",
        "parallelism.multi_plane=page",
        "parallelism.independent_plane_reads=true",
        "suspension.multi_plane=plane",
        "power.p_base_mw=3",
    ];
    let mut all: Vec<String> = always.iter().chain(sets).map(ToString::to_string).collect();
    let powers = POWERS.lines().filter_map(|line| line.split_once(" = "));
    all.extend(powers.map(|(key, value)| format!("power.{key}={value}")));
    let scenario = scenario::load_rig("fast12-slc", &all, registries()).expect("good keys");
    let at = |plane, block| PageAddress { plane, block, page: 0 };
    let commands =
        [(0, RigOp::Program, at(0, 0)), (0, RigOp::Program, at(1, 0)), (50, RigOp::Read, at(1, 1))];
    let command = |(at_us, op, at)| RigCommand { arrival: Time::from_ns(us(at_us)), op, at };
    let trace = metered(&scenario, &commands.map(command));
    let mw = |uw: u64| uw as f64 / 1e3;
    trace.iter().map(|step| (step.from.ns() / 1000, mw(step.core_uw), mw(step.io_uw))).collect()
}

#[test]
fn a_plane_that_makes_way_alone_draws_by_itself() {
    // Base 2 above idle; a plane adds 27 in a pulse, 22 in a verify, 17 when it senses; what is
    // suspended 4. The pages come in by 40. Plane 0 goes on to 180. Plane 1 stops at 60, its base
    // until then being that of plane 0; it is read to 70, the page leaves to 90, and it has a base
    // of its own: restored to 93, verify to 101, four iterations to 213.
    let io = 8.192;
    let (pulse, verify) = (2.0 + 27.0, 2.0 + 22.0);
    let expected = [
        (0, 1.0, io),
        (40, 1.0 + pulse + 27.0, 0.0),
        (60, 1.0 + verify + 4.0 + 2.0 + 17.0, 0.0),
        (68, 1.0 + pulse + 4.0 + 2.0 + 17.0, 0.0),
        (70, 1.0 + pulse + 4.0, io),
        (88, 1.0 + verify + 4.0, io),
        (90, 1.0 + verify, 0.0),
        (93, 1.0 + verify + verify, 0.0),
        (96, 1.0 + pulse + verify, 0.0),
        (101, 1.0 + pulse + pulse, 0.0),
        (116, 1.0 + verify + pulse, 0.0),
        (121, 1.0 + verify + verify, 0.0),
    ];
    let steps = steps_apart(&[]);
    assert_eq!(steps[..expected.len()], expected);
    // Both verify from 177 to 180, plane 1 alone to 185; then its last iteration.
    let expected = [
        (177, 1.0 + verify + verify, 0.0),
        (180, 1.0 + verify, 0.0),
        (185, 1.0 + pulse, 0.0),
        (205, 1.0 + verify, 0.0),
        (213, 1.0, 0.0),
    ];
    assert_eq!(steps[steps.len() - 5..], expected);
    // Without a shadow buffer its page crosses the channel once more, from 90 to 110.
    let steps = steps_apart(&["suspension.shadow_buffer=false"]);
    let expected = [(88, 1.0 + verify + 4.0, io), (90, 1.0 + verify, io), (96, 1.0 + pulse, io)];
    assert_eq!(steps[5..8], expected);
    assert_eq!(steps.last(), Some(&(230, 1.0, 0.0)));
}

#[test]
fn what_planes_apart_take_is_booked_whole() {
    // Writes of pages 0 and 1 are programmed together; the read of page 33, a page of plane 1 in
    // another block, makes that plane stop, as above. Meter and classes are held against each
    // other at the end, under the checker; the classes by hand: a base for as long as the two are
    // one command and plane 0 goes on, another for plane 1 from 90 on.
    let sets = [
        "geometry.planes_per_die=2",
        "parallelism.multi_plane=page",
        "parallelism.independent_plane_reads=true",
        "suspension.multi_plane=plane",
        "policy=pes-ips",
        "power.p_base_mw=3",
    ];
    let rows = [row(0, 'W', 0), row(0, 'W', 1), row(50, 'R', 33)];
    let outcome = drive::replay(&slc(1), &sets, &rows);
    assert_eq!(done_us(&outcome), [180, 213, 90]);
    let base = 2.0 * (140.0 + (213.0 - 93.0));
    let write = 2.0 * (100.0 * 27.0 + 40.0 * 22.0) + base;
    assert_eq!(nanojoules(&outcome, "by_class.host_write.core"), write);
    assert_eq!(nanojoules(&outcome, "by_class.host_read.core"), 10.0 * 19.0);
    // From 60 to 90 at 4, and what a resume takes.
    assert_eq!(nanojoules(&outcome, "by_class.suspension.core"), 30.0 * 4.0 + 7.0);
}

#[test]
fn a_plane_needs_room_to_go_on() {
    // Idle 1 each, a plane that programs counts 29, one that senses 19, what is suspended 4. The
    // first die's plane 1 makes way as above; a program of two planes of the other die runs from
    // 70 to 250. At 90 there are 2 + 29 + 4 + 58, and plane 1 needs 25 more. With less it goes on
    // at 180, when plane 0 is done: restored to 183, 120 more.
    let sets = [
        "geometry.planes_per_die=2",
        "parallelism.multi_plane=page",
        "parallelism.independent_plane_reads=true",
        "suspension.multi_plane=plane",
        "policy=pes-ips",
        "power.budget_counts=peak",
    ];
    let rows = [row(0, 'W', 0), row(0, 'W', 2), row(50, 'R', 66), row(70, 'W', 1), row(70, 'W', 3)];
    let done =
        |budget: &str| done_us(&drive::replay(&slc(2), &[&sets[..], &[budget]].concat(), &rows));
    assert_eq!(done("power.budget_mw=118"), [180, 213, 90, 250, 250]);
    assert_eq!(done("power.budget_mw=117.999"), [180, 303, 90, 250, 250]);
    assert_eq!(done("power.budget_mw=93"), [180, 303, 90, 250, 250]);
}

#[test]
fn a_run_that_ends_in_the_middle_has_spent_what_it_ran() {
    // The last completion is that of the read, whose page leaves at 98; the write is
    // acknowledged at once by a write-back buffer, and its program is suspended from 68 on.
    let sets = ["policy=pes-ips", "buffer.acknowledge=back", "buffer.bytes=65536"];
    let outcome = drive::replay(&slc(1), &sets, &[row(0, 'W', 0), row(61, 'R', 16)]);
    assert_eq!(outcome.rows[1].completion_ns, us(98));
    let write = 40.0 * 29.0 + 8.0 * 24.0;
    assert_eq!(nanojoules(&outcome, "by_class.host_write.core"), write);
    // It goes on at that very instant.
    assert_eq!(nanojoules(&outcome, "by_class.suspension.core"), 30.0 * 4.0 + 7.0);
}

/// The bins of a drive's series: start, length, core and I/O in picojoules.
fn series(text: &str) -> Vec<[i64; 4]> {
    let mut ssd = Ssd::with(drive::load(text), &Options::default()).expect("a small drive");
    while ssd.step(1000).expect("a workload without bad rows") {}
    let bins = ssd.power_series().expect("a series was asked for");
    let row = |at: usize| [bins.start_ns[at], bins.length_ns[at], bins.core_pj[at], bins.io_pj[at]];
    (0..bins.start_ns.len()).map(row).collect()
}

#[test]
fn the_series_has_the_energy_of_each_bin() {
    let one = "[workload]\ngenerator = \"mixed\"\nrequests = 1\nread_fraction = 0\n\
        request_bytes = 2048\nqueue_depth = 1\n";
    let text = slc(1).replace("[geometry]", "series_us = 50\n[geometry]");
    // To 50: pulse from 20 to 40, verify to 48, 2 of the second pulse. To 100: 18 of that, a
    // verify, 20 + 4 of the third iteration. To 150: 4 + 28 + 18. To 160: 2 + 8.
    let nj = [
        50 + 22 * 29 + 8 * 24,
        50 + 38 * 29 + 12 * 24,
        50 + 38 * 29 + 12 * 24,
        10 + 2 * 29 + 8 * 24,
    ];
    let bins = series(&format!("{text}{one}"));
    let expected: Vec<_> = nj
        .iter()
        .enumerate()
        .map(|(at, nj)| {
            let length = if at == 3 { 10_000 } else { 50_000 };
            [at as i64 * 50_000, length, nj * 1000, if at == 0 { 163_840 } else { 0 }]
        })
        .collect();
    assert_eq!(bins, expected);
}

#[test]
fn one_die_at_a_time_and_reads_first() {
    let rows = [row(0, 'W', 0), row(1, 'W', 1), row(2, 'R', 2)];
    let done =
        |policy: &str, limit: &str| done_us(&drive::replay(&slc(3), &[policy, limit], &rows));
    // Free: each on its own channel.
    assert_eq!(done("policy=rps", "power.max_active_dies=3"), [160, 161, 32]);
    // The read goes before the write that came before it; the array is free when it has sensed.
    assert_eq!(done("policy=rps", "power.max_active_dies=1"), [160, 330, 190]);
    // By age alone.
    assert_eq!(done("policy=fifo", "power.max_active_dies=1"), [160, 320, 350]);
}

#[test]
fn a_suspended_program_needs_room_to_go_on() {
    let rows = [row(0, 'W', 0), row(1, 'W', 1), row(61, 'R', 16)];
    let sets = ["policy=pes-ips", "power.max_active_dies=1"];
    // Suspended at 68 for the read, which senses to 78. Then the other die programs to 238. The
    // restore follows, and the 92 that are left.
    assert_eq!(done_us(&drive::replay(&slc(2), &sets, &rows)), [333, 238, 98]);
}

#[test]
fn a_budget_counts_means_or_peaks() {
    // Two programs, which are idle with 2 mW and take 772 / 28 = 27.572 more each, or 29.
    let done = |budget: &str, counts: &str| {
        let budget = format!("power.budget_mw={budget}");
        let counts = format!("power.budget_counts={counts}");
        let rows = [row(0, 'W', 0), row(0, 'W', 1)];
        done_us(&drive::replay(&slc(2), &[&budget, &counts], &rows))
    };
    assert_eq!(done("57.144", "mean"), [160, 160]);
    assert_eq!(done("57.143", "mean"), [160, 320]);
    assert_eq!(done("60", "peak"), [160, 160]);
    assert_eq!(done("59.999", "peak"), [160, 320]);
    // What is too little for one lets one at a time run all the same.
    assert_eq!(done("2", "mean"), [160, 320]);
}

/// What cannot be: the error of a scenario with these keys.
fn error(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let workload = "generator = \"mixed\"\nrequests = 1\nread_fraction = 0\nqueue_depth = 1\n";
    let text = format!("{}[workload]\n{workload}", slc(2));
    let sources = scenario::Sources { text: &text, path: "s.toml", sets: &sets };
    scenario::load(&sources, registries()).expect_err("the keys do not fit").to_string()
}

#[test]
fn powers_that_do_not_fit_are_refused() {
    assert_eq!(
        error(&["power.p_sense_mw=0.5"]),
        "--set: power.p_sense_mw = 0.5: must be at least power.p_idle_mw = 1"
    );
    assert_eq!(
        error(&["power.p_base_mw=0.5"]),
        "--set: power.p_base_mw = 0.5: must be at least power.p_idle_mw = 1"
    );
    assert_eq!(
        error(&["power.p_base_mw=20.5"]),
        "s.toml:5: power.p_sense_mw = 20: must be at least power.p_base_mw = 20.5"
    );
    assert_eq!(
        error(&["power.p_sense_mw_by_type=[2, 3]"]),
        "--set: power.p_sense_mw_by_type = [2, 3]: is by page type, and all pages are alike: give \
         timing.page_types"
    );
    assert_eq!(
        error(&["timing.page_types=3", "power.p_sense_mw_by_type=[2, 3]"]),
        "--set: power.p_sense_mw_by_type = [2, 3]: must have one entry for each of \
         timing.page_types = 3"
    );
    assert_eq!(
        error(&["power.budget_mw=1.9"]),
        "--set: power.budget_mw = 1.9: is less than all dies draw idle; must be at least 2"
    );
    assert!(error(&["power.e_io_pj_per_bit=none", "power.io_capacitance_pf=none"]).ends_with(
        "needs the energy of a bit over the channel: give power.e_io_pj_per_bit, or \
         power.io_capacitance_pf and power.vdd_q_v"
    ));
    assert!(
        error(&["power.account=off", "power.series_us=5"])
            .contains("power.series_us = 5: only while power.account is \"on\"")
    );
}

#[test]
fn a_bit_costs_what_its_line_takes() {
    // 1/2 x 0.5 x 40 pF x (1 V)^2 is 10 pJ, as above.
    let sets = ["power.e_io_pj_per_bit=none", "power.io_capacitance_pf=40"];
    let outcome = drive::replay(&slc(1), &sets, &[row(0, 'W', 0)]);
    assert_eq!(nanojoules(&outcome, "io"), 163.84);
}

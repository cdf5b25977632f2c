//! The scheduler of steps: schedules computed by hand, and read priority as one of its programs.
//!
//! SLC of FAST 2012: page over the bus 20 us, tR 10, program 5 x (20 + 8), erase 1500 + 8, voltage
//! reset and set-up 4, restore 3. One die, no host link: a read takes 30 us, a write 160.

use proptest::prelude::*;
use reprieve_ssd::registries;
use reprieve_ssd::scenario::{self, Sources};

use super::cases;
use super::drive::{self, TraceRow};

const SLC: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n\
    [suspension]\nerase = false\nprogram = \"none\"\n";

const fn us(us: u64) -> u64 {
    us * 1000
}

/// The page of block 4, which no write of these tests goes to.
const fn read_at(at_us: u64) -> TraceRow {
    (us(at_us), 'R', 64, 4)
}

const fn write_at(at_us: u64, page: u64) -> TraceRow {
    (us(at_us), 'W', 4 * page, 4)
}

/// Completions in microseconds under these steps, behind which every other class follows.
fn done_on(text: &str, steps: &[&str], sets: &[&str], rows: &[TraceRow]) -> Vec<u64> {
    let all = ["host_read", "gc_read", "gc_program", "erase", "host_write", "resume"];
    let list: Vec<String> = steps.iter().chain(&all).map(|step| format!("'{step}'")).collect();
    let steps = format!("scheduling.steps=[{}]", list.join(", "));
    let sets: Vec<&str> =
        ["scheduling.policy=microcode", &steps].iter().chain(sets).copied().collect();
    let outcome = drive::replay(text, &sets, rows);
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

fn done_us(steps: &[&str], sets: &[&str], rows: &[TraceRow]) -> Vec<u64> {
    done_on(SLC, steps, sets, rows)
}

#[test]
fn the_first_step_for_which_something_waits_goes_first() {
    let rows = [read_at(0), write_at(5, 0), read_at(10), read_at(20)];
    // Reads to 90, then the write; or the write from 30 to 190, then the reads.
    assert_eq!(done_us(&[], &[], &rows), [30, 250, 60, 90]);
    assert_eq!(done_us(&["host_write"], &[], &rows), [30, 190, 220, 250]);
}

#[test]
fn a_step_may_want_a_queue_of_some_length() {
    // At 30 two writes wait: one goes, and then the read, which is not one of two any more.
    let rows = [read_at(0), write_at(1, 0), write_at(2, 1), read_at(3)];
    assert_eq!(done_us(&["host_write queued=2"], &[], &rows), [30, 190, 380, 220]);
    assert_eq!(done_us(&["host_write queued=3"], &[], &rows), [30, 220, 380, 60]);
}

#[test]
fn a_step_may_want_a_wait_of_some_length() {
    // Reads every 25 us, faster than they are served. At 120 the write of 5 has waited for 115.
    let mut rows: Vec<TraceRow> = (0..10).map(|number| read_at(25 * number)).collect();
    rows.insert(1, write_at(5, 0));
    for (step, done) in [("host_write after_us=115", 280), ("host_write after_us=115.001", 310)] {
        assert_eq!(done_us(&[step], &[], &rows)[1], done, "{step}");
    }
    // Nothing else waits: conditions keep no die idle.
    assert_eq!(done_us(&["host_write after_us=1000"], &[], &[write_at(0, 0)]), [160]);
}

#[test]
fn what_stands_above_resume_suspends() {
    // Program from 0: data in to 20, pulse to 40, verify to 48, pulse to 68. The read at 30 has
    // the program suspended at 40 and is done at 70; restore to 73, 120 left.
    let ips = ["suspension.program=ips"];
    let rows = [write_at(0, 0), read_at(30)];
    assert_eq!(done_us(&[], &ips, &rows), [193, 70]);
    // Below resume it waits for the end.
    assert_eq!(done_us(&["resume"], &ips, &rows), [160, 190]);
    // After 25 us, at 55: in the pulse to 68, read to 98, restore to 101, 92 left.
    assert_eq!(done_us(&["host_read after_us=25", "resume"], &ips, &rows), [193, 98]);
    // After 150 us the program is over.
    assert_eq!(done_us(&["host_read after_us=150", "resume"], &ips, &rows), [160, 190]);
}

#[test]
fn a_suspended_operation_resumes_when_its_step_says() {
    let ips = ["suspension.program=ips"];
    let rows = [write_at(0, 0), read_at(30), read_at(50), read_at(60)];
    // Suspended from 40: reads to 70, 100, 130, restore to 133, 120 left.
    assert_eq!(done_us(&[], &ips, &rows), [253, 70, 100, 130]);
    // At 70 it has been suspended for 30: restore to 73, on to 193, and not again.
    assert_eq!(done_us(&["resume after_us=30"], &ips, &rows), [193, 70, 223, 253]);
    // After 31: one more read, to 100; restore to 103, 120 left.
    assert_eq!(done_us(&["resume after_us=31"], &ips, &rows), [223, 70, 100, 253]);
    // For erases alone: programs are suspended as before. For programs: not at all.
    assert_eq!(done_us(&["resume of=erase"], &ips, &rows), [253, 70, 100, 130]);
    assert_eq!(done_us(&["resume of=host_write"], &ips, &rows), [160, 190, 220, 250]);
}

/// One plane of eight blocks of four pages, of which the user has three, written in order; the
/// block filled longest ago is the victim.
const FULL: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 8\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.625\ngc_hard_free_blocks = 1\ngc_background = false\n\
    gc_victim = \"fifo\"\nprecondition = \"sequential\"\n\
    [suspension]\nerase = false\nprogram = \"none\"\n[host]\nlink_bytes_per_s = \"none\"\n";

#[test]
fn collection_has_a_queue_for_each_of_its_steps() {
    // Thirteen writes, one each millisecond, fill three blocks and open a fourth: from 12160 on
    // block 0, of which page 3 is left, is collected: read 30 us, program 160, erase 1508.
    let pages = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 4, 5];
    let mut rows: Vec<TraceRow> =
        pages.iter().zip(0..).map(|(page, ms)| write_at(1000 * ms, *page)).collect();
    // Two reads wait when it begins, and another comes while the page is moved.
    let read = |at_us| (us(at_us), 'R', 4 * 9, 4);
    rows.extend([read(12_100), read(12_101), read(12_225)]);
    let reads = |steps: &[&str]| done_on(FULL, steps, &[], &rows)[13..].to_vec();
    // Reads to 12190 and 12220, the move's read to 12250, the third read to 12280.
    assert_eq!(reads(&[]), [12_190, 12_220, 12_280]);
    // The move's read to 12190, reads to 12220, 12250 and 12280, then its program.
    assert_eq!(reads(&["gc_read"]), [12_220, 12_250, 12_280]);
    assert_eq!(reads(&["gc_read urgent"]), [12_220, 12_250, 12_280]);
    // Read and program of the move, to 12350; then the reads, then the erase.
    assert_eq!(reads(&["gc_read", "gc_program"]), [12_380, 12_410, 12_440]);
    // All of it, to 13858.
    assert_eq!(reads(&["gc_read", "gc_program", "erase"]), [13_888, 13_918, 13_948]);
    // At 12190 it has waited for 30: read to 12220, then the second host read.
    assert_eq!(reads(&["gc_read after_us=30"]), [12_190, 12_250, 12_280]);
    assert_eq!(reads(&["gc_read after_us=31"]), [12_190, 12_220, 12_280]);
    // The move's program alone goes before reads, once the read has been let through.
    assert_eq!(reads(&["gc_program"]), [12_190, 12_220, 12_440]);
}

#[test]
fn an_erase_is_put_off_for_as_long_as_its_step_says() {
    // As above; the erase runs from 12350, and a read at 12400 has it suspended at 12404, after
    // 50 of its pulse. The read is done at 12434, another of 12420 at 12464.
    let pages = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 4, 5];
    let mut rows: Vec<TraceRow> =
        pages.iter().zip(0..).map(|(page, ms)| write_at(1000 * ms, *page)).collect();
    rows.extend([12_400, 12_420].map(|at_us| (us(at_us), 'R', 4 * 9, 4)));
    let sets = ["suspension.erase=true"];
    let reads = |steps: &[&str]| done_on(FULL, steps, &sets, &rows)[13..].to_vec();
    assert_eq!(reads(&[]), [12_434, 12_464]);
    assert_eq!(reads(&["resume of=host_write"]), [12_434, 12_464]);
    assert_eq!(reads(&["resume of=erase"]), [13_888, 13_918]);
    // At 12434 it was suspended for 30: set-up 4, pulse 1450, verify 8 to 13896, and the read.
    assert_eq!(reads(&["resume of=erase after_us=30"]), [12_434, 13_926]);
    assert_eq!(reads(&["resume of=erase after_us=31"]), [12_434, 12_464]);
    // What reads may not suspend at all they do not, whatever the steps.
    let sets = ["suspension.erase=true", "suspension.host_read_suspends=['program']"];
    assert_eq!(done_on(FULL, &[], &sets, &rows)[13..], [13_888, 13_918]);
}

#[test]
fn steps_that_are_none_are_named() {
    let mistakes = |steps: &str| {
        let sets = ["scheduling.policy=microcode".to_string(), format!("scheduling.steps={steps}")];
        let text = format!("{SLC}[workload]\ngenerator = \"mixed\"\nrequests = 1\n");
        let sources = Sources { text: &text, path: "s.toml", sets: &sets };
        scenario::load(&sources, registries()).expect_err("a mistake").to_string()
    };
    for (steps, parts) in [
        ("[]", &["scheduling.steps", "no step host_read"][..]),
        ("['host_read', 'gc_read', 'gc_program', 'erase', 'host_write']", &["no step resume"]),
        ("['host_raed']", &["step \"host_raed\"", "did you mean host_read?"]),
        ("['host_read queued=2']", &["\"queued=2\" is no condition"]),
        ("['host_write urgent']", &["\"urgent\" is no condition"]),
        ("['gc_read after_us=soon']", &["after_us must be a time in microseconds"]),
        ("['resume of=host_read']", &["of must be one of host_write, gc_program, erase"]),
        ("['host_write queued=0']", &["queued must be a whole number above 0"]),
        ("[3]", &["step 3: must be a string"]),
        ("'host_read'", &["must be a list of steps"]),
    ] {
        let error = mistakes(steps);
        for part in parts {
            assert!(error.contains(part), "{error} lacks {part}");
        }
    }
}

#[test]
fn steps_are_printed_as_they_are_read() {
    let steps = "['gc_read urgent after_us=1.5', 'resume of=erase after_us=2000', 'host_read', \
                 'host_write queued=8', 'gc_read', 'gc_program', 'erase', 'resume']";
    let set = format!("scheduling.steps={steps}");
    let text = format!(
        "{SLC}[workload]\ngenerator = \"mixed\"\nrequests = 1\nread_fraction = 1.0\n\
                        queue_depth = 1\n"
    );
    let scenario = drive::load_with(&text, &["scheduling.policy=microcode", &set]);
    let printed = scenario::print(&scenario);
    assert!(printed.contains("\"gc_read urgent after_us=1.5\""), "{printed}");
    assert_eq!(drive::load(&printed), scenario);
}

proptest! {
    #![proptest_config(cases::many(40))]

    /// Its usual steps are read priority, on every drive.
    #[test]
    fn the_usual_steps_are_read_priority(case in cases::case()) {
        let text = case.toml();
        let with = |name: &str| {
            // Policies of suspension may have the names of schedulers.
            let mut section = "";
            let mut kept = String::new();
            for line in text.lines().filter(|line| !line.starts_with("steps = ")) {
                section = if line.starts_with('[') { line } else { section };
                let is_scheduler = section == "[scheduling]" && line.starts_with("policy = ");
                match is_scheduler {
                    true => kept += &format!("policy = \"{name}\"\n"),
                    false => kept += &format!("{line}\n"),
                }
            }
            drive::run_drawn(&kept, &[])
        };
        prop_assert_eq!(with("microcode"), with("rps"));
    }
}

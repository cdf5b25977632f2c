//! Schedulers with limits of time, on a drive: every nanosecond computed by hand.
//!
//! SLC of FAST 2012: page over the bus 20 us, tR 10, program 5 x (20 + 8), erase 1500 + 8, voltage
//! reset and set-up 4, restore 3. One die, no host link: a read takes 30 us, a write 160.

use super::drive::{self, Outcome, TraceRow};

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

/// Completions in microseconds, which are whole.
fn done_us(sets: &[&str], rows: &[TraceRow]) -> Vec<u64> {
    let outcome: Outcome = drive::replay(SLC, sets, rows);
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

/// Reads every 25 us from 0 on, faster than the die serves them, and a write at 5.
fn reads_and_a_write(reads: u64) -> Vec<TraceRow> {
    let mut rows: Vec<TraceRow> = (0..reads).map(|number| read_at(25 * number)).collect();
    rows.insert(1, write_at(5, 0));
    rows
}

#[test]
fn a_write_over_age_goes_before_reads() {
    let rows = reads_and_a_write(10);
    // Read priority: ten reads to 300, then the write.
    assert_eq!(done_us(&["scheduling.policy=rps"], &rows)[1], 460);
    // The write is 100 us old at 105; the read in progress ends at 120.
    let age = ["scheduling.policy=rps-age", "scheduling.age_limit_us=100"];
    let done = done_us(&age, &rows);
    assert_eq!(done, [30, 280, 60, 90, 120, 310, 340, 370, 400, 430, 460]);
    // At 120 it is 115 us old, and not a nanosecond less.
    for (limit, write) in [("115", 280), ("115.001", 310)] {
        let limit = format!("scheduling.age_limit_us={limit}");
        let done = done_us(&["scheduling.policy=rps-age", &limit], &rows);
        assert_eq!(done[1], write, "{limit}");
    }
    // A limit that nothing reaches: read priority.
    let never = ["scheduling.policy=rps-age", "scheduling.age_limit_us=1000"];
    assert_eq!(done_us(&never, &rows), done_us(&["scheduling.policy=rps"], &rows));
}

#[test]
fn a_write_over_age_is_not_suspended_and_resumes() {
    // Program from 0: data in to 20, pulses and verifies from there. Inter-phase suspension: the
    // read at 30 waits for the end of the pulse, 40, and is done at 70; restore to 73.
    let ips = ["scheduling.policy=rps-age", "suspension.program=ips"];
    let age = |limit: &str, rows: &[TraceRow]| {
        let limit = format!("scheduling.age_limit_us={limit}");
        done_us(&[&ips[..], &[&limit]].concat(), rows)
    };
    let one = [write_at(0, 0), read_at(30)];
    // 40 of the program's 160 are done at 40; 30 of reading, 3 of restoring.
    assert_eq!(age("1000", &one), [193, 70]);
    // Over age when the read comes: it waits.
    assert_eq!(age("30", &one), [160, 190]);
    // Over age when it has made way, at 40: it goes on at once, restore to 43 and 120 left.
    assert_eq!(age("30.001", &one), [163, 193]);
    assert_eq!(age("40", &one), [163, 193]);
    assert_eq!(age("40.001", &one), [193, 70]);
    // A second read comes in time to be served in the same suspension, but for the age.
    let two = [write_at(0, 0), read_at(30), read_at(50)];
    assert_eq!(age("1000", &two), [223, 70, 100]);
    assert_eq!(age("70", &two), [193, 70, 223]);
    assert_eq!(age("70.001", &two), [223, 70, 100]);
}

#[test]
fn a_write_over_age_that_waits_keeps_what_runs_from_suspension() {
    // The second write comes at 0 too; the read at 30 finds both 30 us old.
    let ips = ["scheduling.policy=rps-age", "suspension.program=ips"];
    let rows = [write_at(0, 0), write_at(0, 1), read_at(200)];
    // At 200 the first is done at 160, the second in its first pulse, 180 to 200, and 200 us old.
    let old = [&ips[..], &["scheduling.age_limit_us=200"]].concat();
    assert_eq!(done_us(&old, &rows), [160, 320, 350]);
    // At its end the pulse stops where it is: the read from 200 to 230, restore, 120 left.
    let young = [&ips[..], &["scheduling.age_limit_us=201"]].concat();
    assert_eq!(done_us(&young, &rows), [160, 353, 230]);
}

fn deadlines(read: u32, write: u32, sets: &[&str], rows: &[TraceRow]) -> Vec<u64> {
    let deadlines = [
        "scheduling.policy=deadline".to_string(),
        format!("scheduling.read_deadline_us={read}"),
        format!("scheduling.write_deadline_us={write}"),
    ];
    let deadlines: Vec<&str> = deadlines.iter().map(String::as_str).collect();
    done_us(&[&deadlines[..], sets].concat(), rows)
}

#[test]
fn what_is_due_first_goes_first() {
    // A read runs to 30. A write that came at 1 and a read that came at 20 wait.
    let rows = [read_at(0), write_at(1, 0), read_at(20)];
    // Due at 101 and 70: the read; and the other way round at 101 and 120.
    assert_eq!(deadlines(50, 100, &[], &rows), [30, 220, 60]);
    assert_eq!(deadlines(100, 100, &[], &rows), [30, 190, 220]);
    // Due at the same instant, the older goes first.
    assert_eq!(deadlines(100, 119, &[], &rows), [30, 190, 220]);
    assert_eq!(deadlines(99, 119, &[], &rows), [30, 220, 60]);
}

#[test]
fn a_read_suspends_what_is_due_after_it() {
    let ips = ["suspension.program=ips"];
    let rows = [write_at(0, 0), read_at(30)];
    // Due at 100 and 80; and at 100 and 100, where the older goes on.
    assert_eq!(deadlines(50, 100, &ips, &rows), [193, 70]);
    assert_eq!(deadlines(70, 100, &ips, &rows), [160, 190]);
    // The second read is due at 120, after the program: it resumes, 40 + 30 + 3 + 120.
    let two = [write_at(0, 0), read_at(30), read_at(50)];
    assert_eq!(deadlines(60, 100, &ips, &two), [193, 70, 223]);
    assert_eq!(deadlines(60, 200, &ips, &two), [223, 70, 100]);
    // Due at the same instant as the program, 100.
    assert_eq!(deadlines(50, 100, &ips, &two), [193, 70, 223]);
}

//! Write queue limits of each die and of the drive, on two dies, by hand.
//!
//! SLC of FAST 2012 without a link: read 30 us, program 20 + 5 x 28. Even pages are on die 0.

use reprieve_ssd::rig::RigOp::{Erase, Read};

use super::drive::{self, TraceRow};
use super::multi_plane::rig_us;

const SLC: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 2\nplanes_per_die = 1\nblocks_per_plane = 64\n\
    [host]\nlink_bytes_per_s = \"none\"\n[ftl]\nprecondition = \"sequential\"\n\
    [scheduling]\nwrite_queue_limit = 2\n";
const OF_DRIVE: &str = "scheduling.write_queue_limit_scope=drive";

const fn write(at_us: u64, page: u64) -> TraceRow {
    (1000 * at_us, 'W', 4 * page, 4)
}

const fn read(at_us: u64, page: u64) -> TraceRow {
    (1000 * at_us, 'R', 4 * page, 4)
}

fn done_us(sets: &[&str], rows: &[TraceRow]) -> Vec<u64> {
    let outcome = drive::replay(SLC, sets, rows);
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

#[test]
fn programs_of_two_dies_reach_the_limit_of_the_drive() {
    // Each die programs one page until 160 and has another and a read waiting.
    let rows = [write(0, 0), write(0, 1), write(0, 2), write(0, 3), read(1, 20), read(1, 21)];
    assert_eq!(done_us(&["policy=rps"], &rows), [160, 160, 350, 350, 190, 190]);
    // Of the drive two wait: die 0, whose turn is first, programs, and die 1 is below the limit.
    assert_eq!(done_us(&["policy=rps", OF_DRIVE], &rows), [160, 160, 320, 350, 350, 190]);
    assert_eq!(done_us(&["policy=fifo", OF_DRIVE], &rows), [160, 160, 320, 320, 350, 350]);
}

#[test]
fn a_die_may_suspend_again_when_another_has_brought_the_drive_below_its_limit() {
    // Die 0 programs until 160 and has two waiting from 101 on; the program of die 1 began at 100,
    // with pulses from 120, 148 and 176 on. Its read comes at 121.
    let rows = [write(0, 0), write(100, 1), write(101, 2), write(101, 4), read(121, 21)];
    // By dies: suspended from 140 to 170; then 3, verify 8, and 4 x 28.
    assert_eq!(done_us(&["policy=pes-ips"], &rows), [160, 293, 320, 480, 170]);
    // Of the drive: asked at 160, when one of the two begins. Suspended from 168 to 198; then 3,
    // verify 8, and 3 x 28.
    assert_eq!(done_us(&["policy=pes-ips", OF_DRIVE], &rows), [160, 293, 320, 480, 198]);
}

#[test]
fn a_suspended_program_resumes_when_the_drive_comes_to_its_limit() {
    // Suspended at 40 for three reads. At 50 die 0 gets three programs, of which two wait.
    let reads = [read(21, 21), read(22, 23), read(23, 25)];
    let rows = [&[write(0, 1)], &reads[..], &[write(50, 0), write(50, 2), write(50, 4)]].concat();
    assert_eq!(done_us(&["policy=pes-ips"], &rows), [253, 70, 100, 130, 210, 370, 530]);
    // It resumes behind the first read, 70 + 3 + 8 + 4 x 28, and no other suspends it.
    assert_eq!(done_us(&["policy=pes-ips", OF_DRIVE], &rows), [193, 70, 223, 253, 210, 370, 530]);
}

#[test]
fn a_suspended_program_goes_on_after_so_many_reads() {
    // Suspended from 40 on, the end of its first pulse; the three reads have come by then.
    let rows = [write(0, 1), read(21, 21), read(22, 23), read(23, 25)];
    let with = |sets: &[&str]| done_us(&[&["scheduling.policy=rps"], sets].concat(), &rows);
    let ips = "suspension.program=ips";
    let (one, two) = ("suspension.reads_per_suspension=1", "suspension.reads_per_suspension=2");
    // All of them to 130; restore 3, verify 8, and 4 x 28.
    assert_eq!(with(&[ips]), [253, 70, 100, 130]);
    // Two to 100; restore to 103, verify to 111; the third to 141, and 3 + 4 x 28.
    assert_eq!(with(&[ips, two]), [256, 70, 100, 141]);
    // One to 70; restore, verify to 81; the next to 111; restore, pulse to 134; the last to 164;
    // restore 3, verify 8, and 3 x 28.
    assert_eq!(with(&[ips, one]), [259, 70, 111, 164]);
    // Whole iterations of 28 after each restore: to 48, from 81 to 109, from 142 to 170.
    assert_eq!(with(&[one, "suspension.program=iteration"]), [259, 78, 139, 200]);
    // No sooner than 30 after the resume, so that each run is a verify and a pulse: to 101, and
    // from 131 + 3 to 162.
    assert_eq!(with(&[ips, one, "suspension.min_progress_us=30"]), [259, 70, 131, 192]);
}

#[test]
fn a_suspended_erase_goes_on_after_so_many_reads() {
    // The pulse of 1500 begins at 0 and is cancelled: free 4 after a request, and set up for 4 when
    // it goes on. A read takes 30.
    let rows = [(0, Erase, 0, 0, 0), (100, Read, 0, 1, 0), (101, Read, 0, 1, 1)];
    let whole = rig_us(&["policy=pes-ipc"], &rows);
    // Both reads to 164, the set-up to 168; what was left of pulse and verify at 100.
    assert_eq!(whole, [(168 + 1508 - 100, 1), (134, 0), (164, 0)]);
    // One to 134, the set-up to 138, 16 of the pulse to 154; the other from 158 to 188; set-up.
    let progress = "suspension.min_progress_us=20";
    let one = rig_us(&["policy=pes-ipc", "suspension.reads_per_suspension=1", progress], &rows);
    assert_eq!(one, [(192 + 1408 - 16, 2), (134, 0), (188, 0)]);
}

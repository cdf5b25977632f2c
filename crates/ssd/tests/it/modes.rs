//! Modes that the paper's parts do not have, on a drive: every nanosecond computed by hand.
//!
//! SLC of FAST 2012: page over the bus 20 us, tR 10, program 5 x (20 + 8), erase 1500 + 8, voltage
//! reset and set-up 4, restore 3. No host link.

use reprieve_base::Stream;

use super::drive::{self, Outcome, TraceRow};

/// One die of 16 blocks of 4 pages, of which the user has half; 4 sectors a page.
const SLC: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n";

/// Eight blocks of four pages, of which the user has three, written in order; one is kept free.
const TINY: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 8\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.625\ngc_hard_free_blocks = 1\ngc_background = false\n\
    precondition = \"sequential\"\n[host]\nlink_bytes_per_s = \"none\"\n";

const fn us(us: u64) -> u64 {
    us * 1000
}

/// The page of block 4, which no write of these tests goes to.
const fn read_at(at_us: u64) -> TraceRow {
    (us(at_us), 'R', 64, 4)
}

/// Completions in microseconds, which are whole.
fn done_us(outcome: &Outcome) -> Vec<u64> {
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

/// A write at 0 and reads at these times.
fn write_and_reads(sets: &[&str], reads_us: &[u64]) -> Outcome {
    let mut rows = vec![(0, 'W', 0, 4)];
    rows.extend(reads_us.iter().map(|&at_us| read_at(at_us)));
    drive::replay(SLC, sets, &rows)
}

/// An erase of garbage collection from 12350 on, on a drive that has filled up, with reads of
/// another block at these times: completions of the reads, and of the write that waits.
fn erase_and_reads(sets: &[&str], reads_us: &[u64]) -> (Vec<u64>, u64, Outcome) {
    let pages = [0, 1, 2, 4, 5, 8, 0, 1, 0, 5, 0, 5, 9];
    let writes = pages.into_iter().enumerate();
    let mut rows: Vec<TraceRow> =
        writes.map(|(index, page)| (us(1000) * index as u64, 'W', 4 * page, 4)).collect();
    // The thirteenth is done at 12160. Collection moves page 3, read to 12190 and program to 12350;
    // then it erases the block. The next write waits for all of that.
    rows.push((us(12_170), 'W', 24, 4));
    // Page 3 lies in an open block by now.
    rows.extend(reads_us.iter().map(|&at_us| (us(at_us), 'R', 12, 4)));
    let outcome = drive::replay(TINY, sets, &rows);
    let done = done_us(&outcome);
    (done[14..].to_vec(), done[13], outcome)
}

#[test]
fn an_erase_alone_takes_1508() {
    let (_, write_us, outcome) = erase_and_reads(&["policy=rps"], &[]);
    assert_eq!(write_us, 12_350 + 1_508 + 160);
    assert_eq!(outcome.count("flash.erases"), 1);
}

#[test]
fn a_reset_outside_the_phase_takes_its_time() {
    let outside = ["policy=pes-ipc", "suspension.reset_inside_phase=false"];
    // At 38 the pulse has 2 left: within its reset, it ends. Read 40 to 70, restore to 73, verify
    // to 81, 4 x 28.
    assert_eq!(done_us(&write_and_reads(&outside[..1], &[38])), [193, 70]);
    // Broken off: free at 42, read to 72, restore to 75, verify to 83, 5 x 28.
    let outcome = write_and_reads(&outside, &[38]);
    assert_eq!(done_us(&outcome), [223, 72]);
    assert_eq!(outcome.rows[1].part_ns("suspend_wait_ns"), us(4));
    // The last verify ends at 160. At 159: free at 163, read to 193, restore to 196, verify to 204.
    assert_eq!(done_us(&write_and_reads(&outside, &[159])), [204, 193]);
    assert_eq!(done_us(&write_and_reads(&outside, &[160])), [160, 190]);
}

#[test]
fn a_program_goes_on_while_the_page_leaves() {
    let early = ["policy=pes-ips", "suspension.resume_at=array_read"];
    // Suspended at 68, sensed at 78, out to 98. Restore to 81, verify to 89, 3 x 28.
    let outcome = write_and_reads(&early, &[61]);
    assert_eq!(done_us(&outcome), [173, 98]);
    assert_eq!(outcome.rows[0].part_ns("suspended_ns"), us(10));
    assert_eq!(outcome.number("device.die_busy_share"), 1.0);
    // The second page is sensed at 88 and waits for the register until 98: out to 118, and the
    // program resumes at 98.
    let outcome = write_and_reads(&early, &[61, 62]);
    assert_eq!(done_us(&outcome), [193, 98, 118]);
    assert_eq!(outcome.rows[2].part_ns("bus_wait_ns"), us(10));
    let late = write_and_reads(&early[..1], &[61, 62]);
    assert_eq!(done_us(&late), [223, 98, 128]);
    // Over the channel the page comes back from 98 on: 20, verify 8, 3 x 28.
    let bare = [early[0], early[1], "suspension.shadow_buffer=false"];
    assert_eq!(done_us(&write_and_reads(&bare, &[61])), [210, 98]);
}

#[test]
fn a_die_whose_page_leaves_from_the_second_register_is_not_busy() {
    // Transfers of 300. The program runs from 300; the read of 420 finds a pulse that ends at 432:
    // sensed at 442, restore to 445, verify to 453. The page leaves until 742.
    let sets = ["policy=pes-ips", "suspension.resume_at=array_read", "timing.t_bus_us=300"];
    let outcome = write_and_reads(&sets, &[420]);
    assert_eq!(done_us(&outcome), [453, 742]);
    assert_eq!(outcome.number("device.die_busy_share"), 453.0 / 742.0);
    // A second write waits for the register and the channel; a read for neither: sensed at 464, it
    // stays in the page buffer until the channel has taken it, from 742 to 1042.
    let rows = [(0, 'W', 0, 4), read_at(420), read_at(454)];
    let outcome = drive::replay(SLC, &sets, &rows);
    assert_eq!(done_us(&outcome), [453, 742, 1042]);
    let busy_ns = outcome.number("device.die_busy_share") * us(1042) as f64;
    assert!((busy_ns - us(453 + 1042 - 454) as f64).abs() < 1.0, "{busy_ns}");
    let rows = [(0, 'W', 0, 4), (us(1), 'W', 4, 4), read_at(420)];
    assert_eq!(done_us(&drive::replay(SLC, &sets, &rows)), [453, 742 + 300 + 140, 742]);
}

#[test]
fn without_suspension_the_second_register_does_not_exist() {
    let rows: Vec<TraceRow> = (0..20).map(|n| (us(7) * n, 'R', 4 * n, 4)).collect();
    let early = drive::replay(SLC, &["policy=rps", "suspension.resume_at=array_read"], &rows);
    assert_eq!(early, drive::replay(SLC, &["policy=rps"], &rows));
    assert_eq!(done_us(&early)[..3], [30, 60, 90]);
}

#[test]
fn an_erase_is_deferred_to_its_next_safe_point() {
    // The pulse from 12350 has segments of 300: to 12650, 12950, 13250, 13550, 13850. The read of
    // 13000 waits to 13250; two segments, verify and write follow it.
    let five = "timing.erase_segments=5";
    let deferred = ["policy=pes-ips", five, "suspension.erase_mode=deferred"];
    let (reads, write_us, outcome) = erase_and_reads(&deferred, &[13_000]);
    assert_eq!((reads, write_us), (vec![13_280], 13_280 + 600 + 8 + 160));
    assert_eq!(outcome.rows[14].part_ns("suspend_wait_ns"), us(250));
    // In the verify it waits for the end.
    let (reads, write_us, _) = erase_and_reads(&deferred, &[13_851]);
    assert_eq!((reads, write_us), (vec![13_888], 13_888 + 160));
    // Broken off: free at 13004, read to 13034; then the whole segment and the two after it.
    let redo = ["policy=pes-ips", five, "suspension.erase_resume=redo_phase"];
    let (reads, write_us, _) = erase_and_reads(&redo, &[13_000]);
    assert_eq!((reads, write_us), (vec![13_034], 13_034 + 900 + 8 + 160));
    // Exact: set-up 4, and what was left, 850.
    let (reads, write_us, _) = erase_and_reads(&redo[..2], &[13_000]);
    assert_eq!((reads, write_us), (vec![13_034], 13_034 + 4 + 850 + 8 + 160));
}

/// Loops of 500 with a verify of 8: from 12350 to 12850, to 13350, and of 508 to 13858.
const LOOPS: [&str; 3] = [
    "policy=pes-ips",
    "timing.t_erase_loops_us=[500]",
    "timing.t_erase_us_by_cycles=[[0, [[1508, 1]]]]",
];

#[test]
fn an_erase_in_loops_takes_as_long_as_its_table_says() {
    let (_, write_us, outcome) = erase_and_reads(&LOOPS, &[]);
    assert_eq!(write_us, 12_350 + 1_508 + 160);
    assert_eq!(outcome.count("flash.erases"), 1);
}

#[test]
fn an_erase_in_loops_makes_way_in_a_loop_or_at_its_end() {
    // Broken off: free at 13004, read to 13034; set-up 4, 342 of the pulse, verify, a loop of 508.
    let (reads, write_us, _) = erase_and_reads(&LOOPS, &[13_000]);
    assert_eq!((reads, write_us), (vec![13_034], 13_034 + 4 + 342 + 8 + 508 + 160));
    let [loops @ .., lengths] = LOOPS;
    let deferred = [&loops[..], &[lengths, "suspension.erase_mode=deferred"]].concat();
    let (reads, write_us, outcome) = erase_and_reads(&deferred, &[13_000]);
    assert_eq!((reads, write_us), (vec![13_380], 13_380 + 508 + 160));
    assert_eq!(outcome.rows[14].part_ns("suspend_wait_ns"), us(350));
    // In the verify too; in the last loop not at all.
    let (reads, write_us, _) = erase_and_reads(&deferred, &[13_345]);
    assert_eq!((reads, write_us), (vec![13_380], 13_380 + 508 + 160));
    let (reads, write_us, _) = erase_and_reads(&deferred, &[13_351]);
    assert_eq!((reads, write_us), (vec![13_888], 13_888 + 160));
    // What is left decides: 858 at 13000, for a policy that wants 859.
    let policy = ["suspension.policy=threshold", "suspension.min_remaining_us=859"];
    let (reads, _, _) = erase_and_reads(&[&LOOPS[..], &policy].concat(), &[13_000]);
    assert_eq!(reads, [13_888]);
    let policy = ["suspension.policy=threshold", "suspension.min_remaining_us=858"];
    let (reads, _, _) = erase_and_reads(&[&LOOPS[..], &policy].concat(), &[13_000]);
    assert_eq!(reads, [13_034]);
}

#[test]
fn an_erase_is_deferred_once_it_is_old() {
    // 650 after 12350 is the instant of the read.
    let five = "timing.erase_segments=5";
    let mode = "suspension.erase_mode=timeout";
    let old = ["policy=pes-ips", five, mode, "suspension.erase_timeout_us=650"];
    let (reads, write_us, _) = erase_and_reads(&old, &[13_000]);
    assert_eq!((reads, write_us), (vec![13_280], 14_048));
    let young = ["policy=pes-ips", five, mode, "suspension.erase_timeout_us=650.001"];
    let (reads, write_us, _) = erase_and_reads(&young, &[13_000]);
    assert_eq!((reads, write_us), (vec![13_034], 14_056));
}

#[test]
fn a_restore_and_a_set_up_are_broken_off() {
    let undo = ["policy=pes-ips", "suspension.restore=interruptible"];
    // Restore from 98 on. At 99 the array is free at once: read to 129, restore to 132, verify to
    // 140, 3 x 28. Atomic, the read is done at 131 and the program at 226.
    assert_eq!(done_us(&write_and_reads(&undo, &[61, 99])), [224, 98, 129]);
    assert_eq!(done_us(&write_and_reads(&undo[..1], &[61, 99])), [226, 98, 131]);
    // Set-up from 13034 to 13038: broken off at 13035, free at 13039, read to 13069, set-up 4,
    // and the 850 that were left at 13000.
    let (reads, write_us, _) = erase_and_reads(&undo, &[13_000, 13_035]);
    assert_eq!((reads, write_us), (vec![13_034, 13_069], 13_069 + 4 + 850 + 8 + 160));
    let (reads, write_us, _) = erase_and_reads(&undo[..1], &[13_000, 13_035]);
    assert_eq!((reads, write_us), (vec![13_034, 13_068], 13_068 + 4 + 850 + 8 + 160));
}

#[test]
fn array_reads_are_drawn_for_each_die_by_itself() {
    // A millisecond apart, so that none waits; pages lie on the two dies by turns.
    let rows: Vec<TraceRow> = (0..40).map(|n| (us(1000) * n, 'R', 4 * (n % 8), 4)).collect();
    let sets = ["policy=rps", "timing.read_law=exponential", "geometry.channels=2", "seed=9"];
    let outcome = drive::replay(SLC, &sets, &rows);
    let mut draws = [Stream::new(9, "nand.read", 0), Stream::new(9, "nand.read", 1)];
    for (index, row) in outcome.rows.iter().enumerate() {
        let read_ns = (-(1.0 - draws[index % 2].unit()).ln() * 10_000.0).round() as u64;
        assert_eq!(row.latency_ns(), read_ns + us(20), "read {index}");
        assert_eq!(row.part_ns("array_ns"), read_ns, "read {index}");
    }
}

#[test]
fn the_summary_says_what_suspension_cost_its_operations() {
    // Alone 160; suspended from 68 to 98 it ends at 193. The second write follows undisturbed.
    let rows = [(0, 'W', 0, 4), (us(1), 'W', 4, 4), read_at(61)];
    let outcome = drive::replay(SLC, &["policy=pes-ips"], &rows);
    let of = |key: &str| outcome.number(&format!("flash.suspended_operations.{key}"));
    assert_eq!(outcome.count("flash.suspended_operations.program.count"), 1);
    assert_eq!(of("program.undisturbed_ns_mean"), us(160) as f64);
    assert_eq!(of("program.actual_ns_mean"), us(193) as f64);
    assert_eq!(of("program.suspended_ns_mean"), us(30) as f64);
    assert_eq!(of("program.increase_mean"), 33.0 / 160.0);
    let nothing = ["count", "undisturbed_ns_mean", "actual_ns_mean", "suspended_ns_mean"];
    for key in nothing.iter().chain(&["increase_mean"]) {
        assert_eq!(of(&format!("erase.{key}")), 0.0, "{key}");
    }
    // A wordline of seven iterations: 20 + 196 alone, and from 98 on 3 + 8 + 5 x 28.
    let seven = ["policy=pes-ips", "timing.program_iterations_weights=[[7, 1]]"];
    let longer = drive::replay(SLC, &seven, &rows);
    let of = |key: &str| longer.number(&format!("flash.suspended_operations.program.{key}"));
    assert_eq!((of("undisturbed_ns_mean"), of("actual_ns_mean")), (216e3, 249e3));
    // Twice: 99 meets the restore to 101, read to 131, restore to 134, verify to 142, 3 x 28. And
    // another program, suspended once: from 1000 on as the first.
    let rows = [(0, 'W', 0, 4), read_at(61), read_at(99), (us(1000), 'W', 4, 4), read_at(1061)];
    let outcome = drive::replay(SLC, &["policy=pes-ips"], &rows);
    let of = |key: &str| outcome.number(&format!("flash.suspended_operations.program.{key}"));
    assert_eq!(done_us(&outcome), [226, 98, 131, 1193, 1098]);
    assert_eq!(of("count"), 2.0);
    assert_eq!(of("actual_ns_mean"), us(226 + 193) as f64 / 2.0);
    assert_eq!(of("suspended_ns_mean"), us(30 + 30 + 30) as f64 / 2.0);
    assert!((of("increase_mean") - (66.0 + 33.0) / 160.0 / 2.0).abs() < 1e-12);
    // An erase of garbage collection: 4 + 30 + 4 more than 1508.
    let (_, _, outcome) = erase_and_reads(&["policy=pes-ips"], &[13_000]);
    let of = |key: &str| outcome.number(&format!("flash.suspended_operations.erase.{key}"));
    assert_eq!(of("count"), 1.0);
    assert_eq!(of("undisturbed_ns_mean"), us(1_508) as f64);
    assert_eq!(of("actual_ns_mean"), us(1_546) as f64);
    assert_eq!(of("suspended_ns_mean"), us(30) as f64);
    assert_eq!(of("increase_mean"), 38.0 / 1_508.0);
}

//! Busy windows, outside which nothing is collected that need not be, by hand.
//!
//! SLC of FAST 2012 on one die without a link: a read is 10 us in the array and 20 us on the bus, a
//! program 160 us. A block has four pages. Fewer than 22 of 24 free blocks are few.

use super::drive::{self, Outcome, TraceRow};

const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"rps\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 24\npages_per_block = 4\n\
    [host]\nlink_bytes_per_s = \"none\"\n\
    [ftl]\nover_provisioning = 0.5\ngc_start_free_share = 0.9\ngc_stream = \"separate\"\n";
const PERIOD: &str = "ftl.busy_window_period_us=100000";
const START: &str = "ftl.busy_window_start_us=50000";

fn at_us(us: u64, op: char, page: u64) -> TraceRow {
    (us * 1000, op, 4 * page, 4)
}

/// Nine writes, which fill two blocks and overwrite page 0 of the first, and these rows.
fn run(sets: &[&str], rows: &[TraceRow]) -> Outcome {
    let writes = (0..8).chain([0]).map(|page| at_us(0, 'W', page));
    drive::replay(DRIVE, sets, &writes.chain(rows.iter().copied()).collect::<Vec<_>>())
}

fn moved(outcome: &Outcome) -> (u64, u64) {
    (outcome.count("flash.gc_programs"), outcome.count("flash.erases"))
}

#[test]
fn a_block_is_collected_in_the_window_alone() {
    // Without windows as soon as the die is idle; with them from 50 ms on.
    let rows = [at_us(40_000, 'R', 3)];
    assert_eq!(moved(&run(&[], &rows)), (3, 1));
    let length = "ftl.busy_window_us=10000";
    assert_eq!(moved(&run(&[PERIOD, START, length], &rows)), (0, 0));
    // The read at 50,005 us waits for one of collection until 50,030.
    let rows = [at_us(49_969, 'R', 3), at_us(50_005, 'R', 3), at_us(59_000, 'R', 3)];
    let outcome = run(&[PERIOD, START, length], &rows);
    let done_us: Vec<u64> = outcome.rows[9..].iter().map(|row| row.completion_ns / 1000).collect();
    assert_eq!((done_us, moved(&outcome)), (vec![49_999, 50_060, 59_030], (3, 1)));
}

#[test]
fn a_die_that_is_never_idle_collects_in_its_window() {
    // A write takes 160 us and the next comes after 150: 20 of them, from 50 ms on.
    let rows: Vec<TraceRow> = (0..20).map(|row| at_us(50_000 + 150 * row, 'W', 20 + row)).collect();
    let window = |start| run(&[PERIOD, "ftl.busy_window_us=10000", start], &rows);
    assert!(moved(&window(START)).0 >= 3);
    assert_eq!(moved(&window("ftl.busy_window_start_us=80000")), (0, 0));
}

#[test]
fn no_step_begins_after_the_window() {
    // A page takes 190 us, and is begun before 100 us have passed; the next window has the next.
    let length = "ftl.busy_window_us=100";
    for (until_us, pages) in [(49_000, 0), (51_000, 1), (149_000, 1), (151_000, 2)] {
        let outcome = run(&[PERIOD, START, length], &[at_us(until_us, 'R', 3)]);
        assert_eq!(moved(&outcome), (pages, 0), "until {until_us} us");
    }
}

#[test]
fn a_plane_without_free_blocks_collects_at_any_time() {
    let writes: Vec<TraceRow> = (0..500).map(|row| at_us(row * 200, 'W', row * 7 % 48)).collect();
    let far = ["ftl.busy_window_period_us=1e9", "ftl.busy_window_start_us=9e8"];
    let outcome = run(&far, &writes);
    // 509 pages of 24 blocks of four: at least 127 blocks were filled.
    assert!(outcome.count("flash.erases") >= 127 - 24, "{}", outcome.count("flash.erases"));
}

//! What comparing with published drives needs, by hand: closed replay, parts of pages, channel
//! orders, and the figures that others report.
//!
//! SLC of FAST 2012: page over the bus 20 us, tR 10, program 5 x (20 + 8); 4 sectors a page.

use super::drive::{self, Outcome, TraceRow};

/// Dies on one channel, 16 blocks of 4 pages each, of which the user has half. Consecutive pages
/// go to consecutive dies.
const SLC: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n[scheduling]\n";

const FOUR_DIES: [&str; 3] =
    ["geometry.dies_per_channel=4", "geometry.chips_per_channel=4", "timing.t_command_us=1"];

const fn us(us: u64) -> u64 {
    us * 1000
}

fn done_ns(outcome: &Outcome) -> Vec<u64> {
    outcome.rows.iter().map(|row| row.completion_ns).collect()
}

#[test]
fn a_closed_replay_sends_a_row_when_one_completes_and_looks_at_no_times() {
    let rows: [TraceRow; 3] =
        [(0, 'R', 0, 4), (us(5_000_000), 'R', 4, 4), (us(9_000_000), 'R', 8, 4)];
    let closed = ["workload.replay=closed", "workload.queue_depth=2"];
    let outcome = drive::replay(SLC, &closed, &rows);
    // One die, 30 us a read: two at once, the third when the first is done.
    let times: Vec<_> =
        outcome.rows.iter().map(|row| (row.arrival_ns, row.completion_ns)).collect();
    assert_eq!(times, [(0, us(30)), (0, us(60)), (us(30), us(90))]);
    let open = drive::replay(SLC, &[], &rows);
    assert_eq!(done_ns(&open), [us(30), us(5_000_030), us(9_000_030)]);
}

/// Completion of one request of a fresh drive whose pages leave in units.
fn one_in_units(unit_bytes: u32, sets: &[&str], row: TraceRow) -> u64 {
    let unit = format!("channel.transfer_unit_bytes={unit_bytes}");
    let sets = [&[unit.as_str()], sets].concat();
    done_ns(&drive::replay(SLC, &sets, &[row]))[0]
}

#[test]
fn a_read_sends_out_the_units_that_it_touches() {
    // The same with the channel to itself and with another die on it.
    for sets in [&[][..], &["geometry.dies_per_channel=2", "geometry.chips_per_channel=2"]] {
        // 10 us of array, and 5 us a sector.
        assert_eq!(one_in_units(512, sets, (0, 'R', 1, 2)), us(20));
        // Two units of two sectors each, for one sector of either.
        assert_eq!(one_in_units(1024, sets, (0, 'R', 1, 2)), us(30));
        assert_eq!(one_in_units(1024, sets, (0, 'R', 3, 1)), us(20));
        assert_eq!(one_in_units(2048, sets, (0, 'R', 3, 1)), us(30));
        // A quarter of 5 ns is 1.25 ns, rounded up.
        let odd = [sets, &["timing.t_bus_us=0.005"]].concat();
        assert_eq!(one_in_units(512, &odd, (0, 'R', 3, 1)), us(10) + 2);
    }
    // The last sector of a page and the first of the next, one after the other on one die.
    assert_eq!(one_in_units(512, &[], (0, 'R', 3, 2)), us(30));
}

#[test]
fn a_write_of_part_of_a_page_reads_the_units_that_it_does_not_replace() {
    // Two of four sectors are left to read: 10 + 10; then the page whole, 20 + 140.
    assert_eq!(one_in_units(512, &[], (0, 'W', 1, 2)), us(180));
    assert_eq!(one_in_units(1024, &[], (0, 'W', 2, 2)), us(180));
    // Half of either unit is left: both are read.
    assert_eq!(one_in_units(1024, &[], (0, 'W', 1, 2)), us(190));
}

fn on_four_dies(order: &str, rows: &[TraceRow]) -> Vec<u64> {
    let order = format!("channel.order={order}");
    let sets = [&FOUR_DIES[..], &["policy=rps", &order]].concat();
    done_ns(&drive::replay(SLC, &sets, rows))
}

#[test]
fn a_command_goes_before_the_pages_that_leave() {
    // Commands 0 to 1 and 1 to 2, pages sensed at 11 and 12. The third comes while the first
    // leaves, 11 to 31, and the second already waits.
    let rows = [(0, 'R', 0, 4), (0, 'R', 4, 4), (us(15), 'R', 8, 4)];
    // Second out 31 to 51, command 51 to 52, sensed at 62, out.
    for order in ["asked", "data_first"] {
        assert_eq!(on_four_dies(order, &rows), [us(31), us(51), us(82)], "{order}");
    }
    // Command 31 to 32, second out 32 to 52; the third is sensed at 42 and follows.
    assert_eq!(on_four_dies("commands_first", &rows), [us(31), us(52), us(72)]);
}

#[test]
fn pages_that_leave_go_before_commands_that_asked_sooner() {
    // As above, but the third comes before the second page is sensed, at 12.
    let rows = [(0, 'R', 0, 4), (0, 'R', 4, 4), (us(11) + 500, 'R', 8, 4)];
    assert_eq!(on_four_dies("asked", &rows), [us(31), us(52), us(72)]);
    assert_eq!(on_four_dies("data_first", &rows), [us(31), us(51), us(82)]);
}

#[test]
fn dies_that_begin_something_take_turns_whatever_it_is() {
    // The first read leaves from 11 to 31. Meanwhile die 3 wants to read and die 1 to write.
    let rows = [(0, 'R', 0, 4), (us(12), 'R', 12, 4), (us(13), 'W', 4, 4)];
    // The turn after die 0 is die 1's: command and page 31 to 52, program to 192. Then the command
    // to die 3, sensed at 63, out.
    assert_eq!(on_four_dies("data_first", &rows), [us(31), us(83), us(192)]);
    // Reads first: command to 32, page of the write to 53, then the page sensed at 42 leaves.
    for order in ["asked", "commands_first"] {
        assert_eq!(on_four_dies(order, &rows), [us(31), us(73), us(193)], "{order}");
    }
}

#[test]
fn turns_go_around() {
    // Die 2 reads first, its page leaves from 11 to 31; then die 3, and die 0 before die 1.
    let rows = [(0, 'R', 8, 4), (us(12), 'W', 4, 4), (us(13), 'W', 0, 4), (us(14), 'W', 12, 4)];
    let done = [us(31), us(234), us(213), us(192)];
    assert_eq!(on_four_dies("data_first", &rows), done);
    // In the order in which they asked: dies 1, 0, 3.
    assert_eq!(on_four_dies("asked", &rows), [us(31), us(192), us(213), us(234)]);
}

/// With fewer blocks, in which these rows find the same.
const MQSIM: &str = "device = \"mqsim-default-like\"\n[geometry]\nblocks_per_plane = 256\n";
const ONE_AT_A_TIME: [&str; 2] = ["workload.replay=closed", "workload.queue_depth=1"];

#[test]
fn the_mqsim_drive_takes_as_long_as_mqsim_reports() {
    // MQSim 7ec40e3 at queue depth 1: 102,442 and 777,501 ns for 8 KiB. It has 8 ns for asking
    // for the data of a write, and here the packet is four bytes shorter: 7.
    let second = |sets: &[&str], row: TraceRow| {
        let sets = [&ONE_AT_A_TIME[..], sets].concat();
        drive::replay(MQSIM, &sets, &[(0, 'R', 0, 8), row]).rows[1].latency_ns()
    };
    assert_eq!(second(&[], (0, 'R', 16, 16)), 102_442);
    assert_eq!(second(&[], (0, 'W', 16, 16)), 777_501 - 1);
    // 4 KiB out of a page of 8: 12,288 ns less on the channel, 1,248 less on the link.
    assert_eq!(second(&[], (0, 'R', 24, 8)), 102_442 - 12_288 - 1_248);
    // With pages of 4 KiB: 88,906 and 763,965 ns for 4 KiB.
    let small = ["geometry.page_bytes=4096", "timing.t_bus_us=12.288"];
    assert_eq!(second(&small, (0, 'R', 8, 8)), 88_906);
    assert_eq!(second(&small, (0, 'W', 8, 8)), 763_965 - 1);
    // Without a completion before it, whose doorbell of 8 ns goes first: the medians of MQSim's
    // replay of a web search.
    let first = |row| done_ns(&drive::replay(MQSIM, &[], &[row]))[0];
    assert_eq!(first((0, 'R', 16, 16)), 102_434);
    assert_eq!(first((0, 'W', 16, 16)), 777_493 - 1);
}

#[test]
fn the_mqsim_drive_reads_before_a_program_what_the_page_holds() {
    // 4 KiB into a page of 8: 1,248 ns less on the link than for 8 KiB. Here a program takes the
    // whole page in; MQSim sends the sectors written, which takes 12,288 ns less.
    let first = (0, 'R', 0, 8);
    let program = 777_501 - 1 - 1_248;
    // Half a page at 6 ns for two bytes, behind a command and tR.
    let read = 290 + 75_020 + 12_288;
    let second =
        |row: TraceRow| drive::replay(MQSIM, &ONE_AT_A_TIME, &[first, row]).rows[1].latency_ns();
    // A page never written, the half that was read, and the other one, which leaves that half.
    assert_eq!(second((0, 'W', 16, 8)), program);
    assert_eq!(second((0, 'W', 0, 8)), program);
    assert_eq!(second((0, 'W', 8, 8)), read + program);
}

#[test]
fn the_mqsim_drive_has_reads_that_leave_in_a_row_again_and_again() {
    // Two reads at a time, of different channels. A leaves, 1,248 + 11 ns, and B behind it, until
    // s. The next A rings meanwhile and asks behind B, until s + 7; its entry follows the two
    // doorbells that the end of B brings, of 8 ns each, until s + 39. Channel, array and page take
    // 87,598 ns, and it leaves: 1,259 + 39 + 87,598 + 1,259 since the last A was done. B asks
    // from s + 19 and has its entry at s + 62, but leaves behind A: as long again.
    let small = ["geometry.page_bytes=4096", "timing.t_bus_us=12.288", "workload.replay=closed"];
    let sets = [&small[..], &["workload.queue_depth=2"]].concat();
    let rows: Vec<TraceRow> = (0..20).map(|n| (0, 'R', 8 * n, 8)).collect();
    let outcome = drive::replay(MQSIM, &sets, &rows);
    let of = |n: usize| outcome.rows[n].latency_ns();
    for n in (4..20).step_by(2) {
        assert_eq!((of(n), of(n + 1)), (90_155, 90_155), "{n}");
    }
}

//! Few requests at exact instants: the drive's every nanosecond, computed by hand.
//!
//! SLC of FAST 2012: page over the bus 20 us, tR 10, program 5 x (20 + 8), erase 1500 + 8. MLC: 40,
//! 25, 15 x (20 + 24). Their host link of 2 GB/s takes a page in 1.024 and 2.048 us.

use super::drive::{self, Outcome, Row, TraceRow};

/// One SLC die of 16 blocks of 4 pages, of which the user has half; 4 sectors a page.
const SLC: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n";

/// The same of MLC; 8 sectors a page.
const MLC: &str = "device = \"fast12-mlc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\n";

const NO_LINK: &str = "host.link_bytes_per_s=none";

const fn us(us: u64) -> u64 {
    us * 1000
}

/// Completions in microseconds, which are whole.
fn done_us(outcome: &Outcome) -> Vec<u64> {
    let done = outcome.rows.iter().map(|row| row.completion_ns);
    done.inspect(|ns| assert_eq!(ns % 1000, 0, "{ns}")).map(|ns| ns / 1000).collect()
}

/// Checks the parts of a latency; those not named are 0.
fn assert_parts(row: &Row, parts: &[(&str, u64)]) {
    let sum: u64 = parts.iter().map(|(_, ns)| ns).sum();
    assert_eq!(row.latency_ns(), sum, "{row:?}");
    for (name, ns) in parts {
        assert_eq!(row.part_ns(name), *ns, "{name} of {row:?}");
    }
}

#[test]
fn one_read() {
    let slc = drive::replay(SLC, &[], &[(0, 'R', 0, 4)]);
    let parts = [("array_ns", us(10)), ("bus_ns", us(20)), ("link_ns", 1024)];
    assert_parts(&slc.rows[0], &parts);
    let mlc = drive::replay(MLC, &[], &[(0, 'R', 0, 8)]);
    let parts = [("array_ns", us(25)), ("bus_ns", us(40)), ("link_ns", 2048)];
    assert_parts(&mlc.rows[0], &parts);
    // A sector of a page: a whole page on the bus, 512 bytes on the link.
    let sector = drive::replay(MLC, &[], &[(0, 'R', 3, 1)]);
    assert_parts(&sector.rows[0], &[("array_ns", us(25)), ("bus_ns", us(40)), ("link_ns", 256)]);
}

#[test]
fn one_write() {
    let slc = drive::replay(SLC, &[], &[(0, 'W', 0, 4)]);
    let parts = [("link_ns", 1024), ("bus_ns", us(20)), ("array_ns", us(140))];
    assert_parts(&slc.rows[0], &parts);
    let mlc = drive::replay(MLC, &[], &[(0, 'W', 0, 8)]);
    let parts = [("link_ns", 2048), ("bus_ns", us(40)), ("array_ns", us(660))];
    assert_parts(&mlc.rows[0], &parts);
}

#[test]
fn a_partial_page_is_read_before_it_is_programmed() {
    // Sectors 2 to 9: half of page 0, all of page 1, half of page 2; 4096 bytes on the link.
    let rows: [TraceRow; 1] = [(0, 'W', 2, 8)];
    // Reads first: both old pages 0 to 60, then page 1, page 0, page 2 until 540.
    let rps = drive::replay(SLC, &["policy=rps"], &rows);
    let parts = [
        ("link_ns", 2048),
        ("rmw_ns", us(60)),
        ("queue_ns", us(320)),
        ("bus_ns", us(20)),
        ("array_ns", us(140)),
    ];
    assert_parts(&rps.rows[0], &parts);
    // In order: old page 0 to 30, page 1 to 190, old page 2 to 220, page 0 to 380, page 2 to 540.
    let fifo = drive::replay(SLC, &["policy=fifo"], &rows);
    let parts = [
        ("link_ns", 2048),
        ("rmw_ns", us(220)),
        ("queue_ns", us(160)),
        ("bus_ns", us(20)),
        ("array_ns", us(140)),
    ];
    assert_parts(&fifo.rows[0], &parts);
    for outcome in [rps, fifo] {
        assert_eq!(outcome.count("device.partial_writes"), 2);
        assert_eq!(outcome.count("flash.rmw_reads"), 2);
        assert_eq!(outcome.count("flash.host_reads"), 0);
        assert_eq!(outcome.count("flash.host_programs"), 3);
    }
    // Nothing is there to be read: three programs one after the other.
    let zero = drive::replay(SLC, &["policy=rps", "workload.unwritten=zero"], &rows);
    assert_eq!(zero.rows[0].latency_ns(), 2048 + 3 * us(160));
    assert_eq!(zero.count("flash.reads"), 0);
}

#[test]
fn write_back_acknowledges_a_page_in_the_buffer() {
    let back = ["buffer.acknowledge=back"];
    let outcome = drive::replay(SLC, &back, &[(0, 'W', 0, 4), (us(500), 'W', 4, 8)]);
    assert_parts(&outcome.rows[0], &[("link_ns", 1024)]);
    assert_parts(&outcome.rows[1], &[("link_ns", 2048)]);
    // A buffer of one page: the second page waits for the program of the first.
    let one_page = ["buffer.acknowledge=back", "buffer.bytes=2048"];
    let outcome = drive::replay(SLC, &one_page, &[(0, 'W', 0, 8)]);
    assert_parts(&outcome.rows[0], &[("link_ns", 2048), ("buffer_ns", us(160))]);
}

#[test]
fn an_overwrite_in_a_write_back_buffer_saves_a_program() {
    // Page 0 is being programmed when page 1 comes, twice: its second write replaces the first.
    let rows = [(0, 'W', 0, 4), (us(10), 'W', 4, 4), (us(20), 'W', 4, 4), (us(900), 'R', 4, 4)];
    let back = drive::replay(SLC, &["policy=rps", "buffer.acknowledge=back"], &rows);
    assert_eq!(back.count("device.merged_writes"), 1);
    assert_eq!(back.count("flash.host_programs"), 2);
    assert_parts(&back.rows[2], &[("link_ns", 1024)]);
    // Acknowledged when programmed, each is programmed: 160 each from 1.024 on.
    let through = drive::replay(SLC, &["policy=rps"], &rows);
    assert_eq!(through.count("device.merged_writes"), 0);
    assert_eq!(through.count("flash.host_programs"), 3);
    assert_eq!(through.rows[2].completion_ns, 1024 + 3 * us(160));
}

#[test]
fn a_flush_waits_for_the_writes_before_it_and_no_others() {
    // A page every 10 us into a write-back buffer, every fourth request a flush. The one die needs
    // 160 us a page: the first three are in flash at 480, the next three at 960.
    let text = format!(
        "{SLC}[buffer]\nacknowledge = \"back\"\n[workload]\ngenerator = \"mixed\"\nrequests = 8\n\
         read_fraction = 0\nrequest_bytes = 2048\naddresses = \"sequential\"\n\
         arrivals = \"fixed\"\nrate_iops = 100000\nflush_every_requests = 4\n"
    );
    let outcome = drive::run(drive::load_with(&text, &[NO_LINK]));
    assert_eq!(done_us(&outcome), [0, 10, 20, 480, 40, 50, 60, 960]);
    assert_parts(&outcome.rows[3], &[("buffer_ns", us(450))]);
    assert_eq!(outcome.count("requests.flush.count"), 2);
}

#[test]
fn a_closed_loop_of_requests_that_take_no_time_ends() {
    // Each trim completes as it arrives and makes way for the next: a million in one instant.
    let text = format!(
        "{SLC}[workload]\ngenerator = \"mixed\"\nrequests = 1000000\nread_fraction = 0\n\
         trim_fraction = 1\nrequest_bytes = 2048\narrivals = \"closed\"\nqueue_depth = 1\n"
    );
    let outcome = drive::run(drive::load_with(&text, &[NO_LINK]));
    assert_eq!(outcome.count("requests.trim.count"), 1_000_000);
    assert_eq!(outcome.count("device.simulated_ns"), 0);
}

#[test]
fn a_full_buffer_holds_the_next_write_back() {
    let rows = [(0, 'W', 0, 4), (0, 'W', 4, 4)];
    let outcome = drive::replay(SLC, &["buffer.bytes=2048"], &rows);
    assert_eq!(outcome.rows[0].completion_ns, 161_024);
    // Over the link second, at 2.048; room at 161.024.
    let parts = [
        ("link_ns", 2048),
        ("buffer_ns", 161_024 - 2048),
        ("bus_ns", us(20)),
        ("array_ns", us(140)),
    ];
    assert_parts(&outcome.rows[1], &parts);
}

#[test]
fn a_read_of_a_page_in_the_buffer_costs_no_flash() {
    let outcome = drive::replay(SLC, &["policy=rps"], &[(0, 'W', 0, 4), (us(50), 'R', 0, 4)]);
    assert_parts(&outcome.rows[1], &[("link_ns", 1024)]);
    assert_eq!(outcome.count("device.buffer_hits"), 1);
    assert_eq!(outcome.count("flash.reads"), 0);
    // Once it is programmed, at 161.024, it is read from the flash.
    let outcome = drive::replay(SLC, &["policy=rps"], &[(0, 'W', 0, 4), (us(162), 'R', 0, 4)]);
    assert_eq!(outcome.rows[1].latency_ns(), 31_024);
    assert_eq!(outcome.count("device.buffer_hits"), 0);
}

#[test]
fn a_trimmed_page_costs_no_flash() {
    let rows =
        [(0, 'W', 0, 8), (us(1000), 'D', 0, 5), (us(2000), 'R', 0, 4), (us(3000), 'R', 4, 4)];
    let outcome = drive::replay(SLC, &[], &rows);
    assert_parts(&outcome.rows[1], &[]);
    // Page 0 is gone, page 1 of which a sector was trimmed is not.
    assert_parts(&outcome.rows[2], &[("link_ns", 1024)]);
    assert_eq!(outcome.rows[3].latency_ns(), 31_024);
    assert_eq!(outcome.count("device.trimmed_pages"), 1);
    assert_eq!(outcome.count("device.trims_of_part_of_a_page"), 1);
    assert_eq!(outcome.count("device.zero_reads"), 1);
    assert_eq!(outcome.count("flash.reads"), 1);
    // Written again it is there again.
    let rows = [(0, 'D', 0, 4), (us(1), 'W', 0, 4), (us(500), 'R', 0, 4)];
    assert_eq!(drive::replay(SLC, &[], &rows).rows[2].latency_ns(), 31_024);
}

#[test]
fn a_page_waits_for_the_channel() {
    let two = [NO_LINK, "policy=rps", "geometry.dies_per_channel=2"];
    // Pages 0 and 1 are on different dies: both sensed at 10, out to 30 and to 50.
    let outcome = drive::replay(SLC, &two, &[(0, 'R', 0, 4), (0, 'R', 4, 4)]);
    assert_eq!(done_us(&outcome), [30, 50]);
    let parts = [("array_ns", us(10)), ("bus_wait_ns", us(20)), ("bus_ns", us(20))];
    assert_parts(&outcome.rows[1], &parts);
    // Data in has the channel to 20; the page sensed at 15 leaves to 40.
    let outcome = drive::replay(SLC, &two, &[(0, 'W', 0, 4), (us(5), 'R', 4, 4)]);
    assert_eq!(done_us(&outcome), [160, 40]);
    // One request of both pages is complete with the second.
    assert_eq!(done_us(&drive::replay(SLC, &two, &[(0, 'R', 0, 8)])), [50]);
    // A cache register frees the array at 10: the second page of a die is sensed at 20, and the
    // pages leave one after the other without a gap.
    let cached = [NO_LINK, "policy=rps", "timing.cache_register=true"];
    let outcome = drive::replay(SLC, &cached, &[(0, 'R', 0, 4), (0, 'R', 4, 4)]);
    assert_eq!(done_us(&outcome), [30, 50]);
}

#[test]
fn who_has_the_channel_next() {
    // Three dies. Two programs at 0: data in to 20, the second waits. A page of the third die is
    // sensed at 15.
    let rows = [(0, 'W', 0, 4), (0, 'W', 4, 4), (us(5), 'R', 8, 4)];
    let three = |policy| [NO_LINK, policy, "geometry.dies_per_channel=3"];
    // Reads first: out to 40, then the data in to 60.
    let outcome = drive::replay(SLC, &three("policy=rps"), &rows);
    assert_eq!(done_us(&outcome), [160, 200, 40]);
    // In order: data in to 40, out to 60.
    let outcome = drive::replay(SLC, &three("policy=fifo"), &rows);
    assert_eq!(done_us(&outcome), [160, 180, 60]);
}

#[test]
fn a_command_takes_the_channel() {
    let one = [NO_LINK, "policy=rps", "timing.t_command_us=1"];
    // Command 1, tR 10, out 20; command 1, in 20, program 140.
    let outcome = drive::replay(SLC, &one, &[(0, 'R', 0, 4), (us(100), 'W', 4, 4)]);
    assert_eq!(done_us(&outcome), [31, 261]);
    // Two dies: commands 0 to 1 and 1 to 2, sensed at 11 and 12, out to 31 and 51.
    let two = [NO_LINK, "policy=rps", "timing.t_command_us=1", "geometry.dies_per_channel=2"];
    let outcome = drive::replay(SLC, &two, &[(0, 'R', 0, 4), (0, 'R', 4, 4)]);
    assert_eq!(done_us(&outcome), [31, 51]);
    let parts =
        [("queue_ns", us(1)), ("array_ns", us(10)), ("bus_wait_ns", us(19)), ("bus_ns", us(21))];
    assert_parts(&outcome.rows[1], &parts);
}

#[test]
fn programs_go_first_while_too_many_wait() {
    let rows = [(0, 'W', 0, 4), (us(1), 'W', 4, 4), (us(2), 'W', 8, 4), (us(61), 'R', 32, 4)];
    // Suspended: pulse to 68, read to 98, restore 3, verify 8, 3 x 28.
    let ips = [NO_LINK, "policy=pes-ips"];
    assert_eq!(done_us(&drive::replay(SLC, &ips, &rows)), [193, 353, 513, 98]);
    // Two programs wait at 61: nothing is suspended and one of them goes ahead of the read.
    let limit = [NO_LINK, "policy=pes-ips", "scheduling.write_queue_limit=2"];
    let outcome = drive::replay(SLC, &limit, &rows);
    assert_eq!(done_us(&outcome), [160, 320, 510, 350]);
    assert_eq!(outcome.count("flash.suspensions.program"), 0);
    // Without suspension the read goes before the programs, with the limit after one of them.
    let rps = [NO_LINK, "policy=rps"];
    assert_eq!(done_us(&drive::replay(SLC, &rps, &rows)), [160, 350, 510, 190]);
    let limited = [NO_LINK, "policy=rps", "scheduling.write_queue_limit=2"];
    assert_eq!(done_us(&drive::replay(SLC, &limited, &rows)), [160, 320, 510, 350]);
}

#[test]
fn a_read_suspends_a_program_as_on_the_rig() {
    // Policy, read and program done after the program's start, the read coming 61 after it: the
    // worked examples of the rig. In the drive the data crosses the link first and last.
    let slc = [("fifo", 190, 160), ("rps", 190, 160), ("pes-ips", 98, 193), ("pes-ipc", 95, 218)];
    let mlc = [("fifo", 765, 700), ("rps", 765, 700), ("pes-ips", 149, 768), ("pes-ipc", 130, 773)];
    for (text, link_ns, sectors, table) in [(SLC, 1024, 4, slc), (MLC, 2048, 8, mlc)] {
        for (policy, read_us, program_us) in table {
            // The first page goes into block 0; an unwritten page 16 lies in block 4.
            let read = (link_ns + us(61), 'R', 16 * sectors, sectors);
            let policy = format!("policy={policy}");
            let outcome = drive::replay(text, &[&policy], &[(0, 'W', 0, sectors), read]);
            let done = outcome.rows.iter().map(|row| row.completion_ns).collect::<Vec<_>>();
            let want = [link_ns + us(program_us), link_ns + us(read_us) + link_ns];
            assert_eq!(done, want, "{policy}");
            let suspends = policy.contains("pes");
            assert_eq!(outcome.count("flash.suspensions.program"), u64::from(suspends));
            assert_eq!(outcome.rows[0].part_ns("suspended_ns") > 0, suspends, "{policy}");
        }
    }
}

/// Eight blocks of four pages, of which the user has three, written in order; one is kept free.
const TINY: &str = "device = \"fast12-slc\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 8\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.625\ngc_hard_free_blocks = 1\ngc_background = false\n\
    precondition = \"sequential\"\n[host]\nlink_bytes_per_s = \"none\"\n";

/// Thirteen writes, one each millisecond, that fill blocks 3 to 5 and open block 6; then `more`.
///
/// Valid pages at last: block 0 {3}, block 1 {6, 7}, block 2 {10, 11}, block 3 {2, 4}, block 4
/// {8, 1}, block 5 {0, 5}, block 6 {9}. One block is free: greedy reclaims block 0.
fn fill_tiny(more: &[TraceRow]) -> Vec<TraceRow> {
    let pages = [0, 1, 2, 4, 5, 8, 0, 1, 0, 5, 0, 5, 9];
    let writes = pages.into_iter().enumerate();
    let writes = writes.map(|(index, page)| (us(1000) * index as u64, 'W', 4 * page, 4));
    writes.chain(more.iter().copied()).collect()
}

#[test]
fn garbage_collection_reads_programs_and_erases() {
    let more = [
        (us(12_170), 'R', 12, 4),
        (us(12_180), 'W', 24, 4),
        (us(12_300), 'R', 12, 4),
        (us(13_000), 'R', 12, 4),
    ];
    let collected = |outcome: &Outcome| {
        let count = |key: &str| outcome.count(&format!("flash.{key}"));
        [count("gc_reads"), count("gc_programs"), count("erases"), count("host_reads")]
    };
    // The thirteenth write is done at 12160. Collection: read to 12190; the host's read of the same
    // page to 12220; program to 12380; host's read to 12410; erase to 13918; host's read to 13948;
    // and at last the write, to 14108.
    let outcome = drive::replay(TINY, &["policy=rps"], &fill_tiny(&more));
    assert_eq!(done_us(&outcome)[12..], [12_160, 12_220, 14_108, 12_410, 13_948]);
    assert_eq!(collected(&outcome), [1, 1, 1, 3]);
    // Suspended: program from 12220, data in to 12240, its third pulse to 12316, read to 12346,
    // restore to 12349, verify to 12357, two iterations to 12413. Erase broken off at 13000, free
    // at 13004, read to 13034, set-up to 13038, the other 913 to 13951, verify to 13959; write.
    let outcome = drive::replay(TINY, &["policy=pes-ips"], &fill_tiny(&more));
    assert_eq!(done_us(&outcome)[12..], [12_160, 12_220, 14_119, 12_346, 13_034]);
    assert_eq!(collected(&outcome), [1, 1, 1, 3]);
    assert_eq!(outcome.count("flash.suspensions.program"), 1);
    assert_eq!(outcome.count("flash.suspensions.erase"), 1);
    assert_eq!(outcome.count("flash.suspended_ns.program"), us(30));
    assert_eq!(outcome.count("flash.suspended_ns.erase"), us(30));
}

#[test]
fn a_page_overwritten_while_it_is_moved_is_not_programmed() {
    // Page 3 is trimmed while collection reads it: the erase follows at 12190, to 13698.
    let more = [(us(12_170), 'D', 12, 4), (us(12_180), 'W', 24, 4)];
    let outcome = drive::replay(TINY, &["policy=rps"], &fill_tiny(&more));
    assert_eq!(done_us(&outcome)[13..], [12_170, 13_858]);
    assert_eq!(outcome.count("flash.gc_reads"), 1);
    assert_eq!(outcome.count("flash.gc_programs"), 0);
    assert_eq!(outcome.count("flash.erases"), 1);
}

#[test]
fn a_block_without_valid_pages_is_erased_at_once() {
    // Block 0 loses its last page before collection begins: it is erased at once, 12160 to 13668.
    let mut rows = fill_tiny(&[(us(12_200), 'W', 24, 4)]);
    rows.insert(12, (us(11_500), 'D', 12, 4));
    let outcome = drive::replay(TINY, &["policy=rps"], &rows);
    assert_eq!(done_us(&outcome)[13..], [12_160, 13_828]);
    assert_eq!(outcome.count("flash.gc_reads"), 0);
    assert_eq!(outcome.count("flash.erases"), 1);
}

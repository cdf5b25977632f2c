//! Commands on several planes, calculated by hand on rig and drive.
//!
//! The SLC part: transfers of 20, reads of 10, five iterations of 28, erases of 1508.

use reprieve_base::{PageAddress, Time};
use reprieve_ssd::rig::{self, RigCommand, RigOp};
use reprieve_ssd::{registries, scenario};

use super::drive::{self, Outcome};

use RigOp::{Erase, Program, Read};

const PAGE: &str = "parallelism.multi_plane=page";
const BLOCK: &str = "parallelism.multi_plane=block";

/// Arrival in us, operation, plane, block, page.
pub type Row = (u64, RigOp, u32, u32, u32);

/// Completions in whole microseconds, and suspensions, in the order of the commands.
pub fn rig_us(sets: &[&str], rows: &[Row]) -> Vec<(u64, u32)> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario =
        scenario::load_rig("fast12-slc", &sets, registries()).expect("a built-in device");
    let command = |&(arrival_us, op, plane, block, page): &Row| RigCommand {
        arrival: Time::from_ns(arrival_us * 1000),
        op,
        at: PageAddress { plane, block, page },
    };
    let commands: Vec<_> = rows.iter().map(command).collect();
    let results = rig::run(&scenario, &commands).expect("legal commands");
    let row = |result: &rig::RigResult| {
        let ns = result.completion.ns();
        assert_eq!(ns % 1000, 0, "{result:?}");
        (ns / 1000, result.suspensions)
    };
    results.iter().map(row).collect()
}

/// Completions without suspensions.
fn done_us(sets: &[&str], rows: &[Row]) -> Vec<u64> {
    rig_us(sets, rows).into_iter().map(|(us, _)| us).collect()
}

#[test]
fn two_planes_take_the_array_once() {
    let programs = [(0, Program, 0, 0, 0), (0, Program, 1, 3, 0)];
    assert_eq!(done_us(&[], &programs), [160, 320]);
    assert_eq!(done_us(&[PAGE], &programs), [180, 180]);
    let reads = [(0, Read, 0, 0, 5), (0, Read, 1, 3, 5)];
    assert_eq!(done_us(&[], &reads), [30, 60]);
    assert_eq!(done_us(&[PAGE], &reads), [30, 50]);
    let erases = [(0, Erase, 0, 0, 0), (0, Erase, 1, 3, 0)];
    assert_eq!(done_us(&[], &erases), [1508, 3016]);
    assert_eq!(done_us(&[PAGE], &erases), [1508, 1508]);
    // Each plane has its own command cycles.
    let command = "timing.t_command_us=1";
    assert_eq!(done_us(&[PAGE, command], &programs), [182, 182]);
    assert_eq!(done_us(&[PAGE, command], &reads), [32, 52]);
    assert_eq!(done_us(&[PAGE, command], &erases), [1510, 1510]);
}

#[test]
fn all_planes_of_a_die_go_together() {
    let programs: Vec<Row> = (0..4).map(|plane| (0, Program, plane, 0, 0)).collect();
    assert_eq!(done_us(&[PAGE], &programs), [220; 4]);
    let reads: Vec<Row> = (0..4).map(|plane| (0, Read, plane, 0, 0)).collect();
    assert_eq!(done_us(&[PAGE], &reads), [30, 50, 70, 90]);
    // With a cache register the next four are sensed meanwhile, and follow without a gap.
    let more: Vec<Row> = (0..8).map(|index| (0, Read, index % 4, 0, index / 4)).collect();
    let in_line: Vec<u64> = (0..8).map(|index| 30 + 20 * index).collect();
    assert_eq!(done_us(&[PAGE, "timing.cache_register=true"], &more), in_line);
}

#[test]
fn pages_have_the_same_number_and_with_block_the_blocks_too() {
    // The second page of plane 1 has another number than the first of plane 0.
    let programs = [(0, Program, 1, 0, 0), (0, Program, 0, 0, 0), (0, Program, 1, 0, 1)];
    assert_eq!(done_us(&[PAGE], &programs), [180, 180, 340]);
    assert_eq!(done_us(&[PAGE], &[(0, Read, 0, 0, 1), (0, Read, 1, 0, 2)]), [30, 60]);
    let blocks = [(0, Read, 0, 0, 1), (0, Read, 1, 1, 1), (0, Read, 2, 0, 1)];
    assert_eq!(done_us(&[PAGE], &blocks), [30, 50, 70]);
    assert_eq!(done_us(&[BLOCK], &blocks), [30, 80, 50]);
    let erases = [(0, Erase, 0, 0, 0), (0, Erase, 1, 1, 0), (0, Erase, 2, 0, 0)];
    assert_eq!(done_us(&[BLOCK], &erases), [1508, 3016, 1508]);
    let programs = [(0, Program, 0, 0, 0), (0, Program, 1, 1, 0)];
    assert_eq!(done_us(&[BLOCK], &programs), [160, 320]);
}

#[test]
fn what_waits_for_a_plane_keeps_its_order() {
    // The program of plane 1 stands behind its erase.
    let rows = [(0, Program, 0, 0, 0), (0, Erase, 1, 1, 0), (0, Program, 1, 1, 0)];
    assert_eq!(done_us(&[PAGE], &rows), [160, 1668, 1828]);
    // One that comes later than the command goes by itself.
    let rows = [(0, Program, 0, 0, 0), (1, Program, 1, 0, 0)];
    assert_eq!(done_us(&[PAGE], &rows), [160, 320]);
}

#[test]
fn the_planes_are_suspended_together() {
    // Data in to 40, first iteration to 68: the read, at 61, goes from there to 98. Then 3 for the
    // restore of both, and four iterations.
    let rows = [(0, Program, 0, 0, 0), (0, Program, 1, 3, 0), (61, Read, 2, 0, 0)];
    assert_eq!(rig_us(&[PAGE, "policy=pes-ips"], &rows), [(213, 1), (213, 1), (98, 0)]);
    // Without a shadow buffer both pages cross the channel again.
    let bare = "suspension.shadow_buffer=false";
    assert_eq!(rig_us(&[PAGE, "policy=pes-ips", bare], &rows), [(250, 1), (250, 1), (98, 0)]);
    // Cancelled in its first pulse, at 55, free at 59; read to 89; 3, verify 8, 140.
    let rows = [(0, Program, 0, 0, 0), (0, Program, 1, 3, 0), (55, Read, 2, 0, 0)];
    assert_eq!(rig_us(&[PAGE, "policy=pes-ipc"], &rows), [(240, 1), (240, 1), (89, 0)]);
    // An erase: free at 504, read to 534, set-up 4, 1000 of the pulse, verify 8.
    let rows = [(0, Erase, 0, 0, 0), (0, Erase, 1, 3, 0), (500, Read, 2, 0, 0)];
    assert_eq!(rig_us(&[PAGE, "policy=pes-ips"], &rows), [(1546, 1), (1546, 1), (534, 0)]);
}

const SAME_BLOCK: &str = "suspension.same_block=block";

#[test]
fn reads_go_together_during_a_suspension_too() {
    let rows =
        [(0, Program, 0, 0, 0), (61, Read, 2, 0, 7), (61, Read, 0, 0, 7), (61, Read, 3, 1, 7)];
    // The second pulse is from 48 to 68. Two reads leave to 98 and 118; then 3, verify 8 and three
    // iterations. Of the program's own block nothing is read before its end.
    let done = rig_us(&[PAGE, "policy=pes-ips", SAME_BLOCK], &rows);
    assert_eq!(done, [(213, 1), (98, 0), (243, 0), (118, 0)]);
}

#[test]
fn the_block_of_every_plane_is_closed_while_they_are_suspended() {
    let rows =
        [(0, Program, 0, 0, 0), (0, Program, 1, 3, 0), (61, Read, 1, 3, 7), (61, Read, 1, 2, 7)];
    let done = rig_us(&[PAGE, "policy=pes-ips", SAME_BLOCK], &rows);
    assert_eq!(done, [(213, 1), (213, 1), (243, 0), (98, 0)]);
}

/// One channel, one die of two planes, pages of 2048 bytes; nothing is written.
const PAIR: &str = "device = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 2\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\ngc_background = false\nplacement = \"pcwd\"\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

fn done_ns(outcome: &Outcome) -> Vec<u64> {
    outcome.rows.iter().map(|row| row.completion_ns).collect()
}

#[test]
fn a_write_of_two_pages_is_one_program_on_a_drive() {
    let rows = [(0, 'W', 0, 8), (1_000_000, 'R', 0, 8)];
    let outcome = drive::replay(PAIR, &[PAGE], &rows);
    assert_eq!(done_ns(&outcome), [180_000, 1_050_000]);
    assert_eq!(outcome.count("flash.multi_plane_commands.program"), 1);
    assert_eq!(outcome.count("flash.multi_plane_commands.read"), 1);
    // Every page counts, and its time adds up: in the queue 0, transfers 40, array 140.
    assert_eq!(outcome.count("flash.programs"), 2);
    let write = &outcome.rows[0];
    let parts = ["queue_ns", "bus_ns", "array_ns"].map(|name| write.part_ns(name));
    assert_eq!(parts, [0, 40_000, 140_000]);
    // The page that leaves last waited for the channel while the other left.
    let read = &outcome.rows[1];
    let parts = ["array_ns", "bus_wait_ns", "bus_ns"].map(|name| read.part_ns(name));
    assert_eq!(parts, [10_000, 20_000, 20_000]);
    let outcome = drive::replay(PAIR, &[], &rows);
    assert_eq!(done_ns(&outcome), [320_000, 1_060_000]);
    assert!(outcome.summary.pointer("/flash/multi_plane_commands").is_none());
}

#[test]
fn an_open_block_of_another_number_of_pages_keeps_planes_apart() {
    // One page to plane 0 alone: from then on its open block is a page ahead of plane 1's.
    let rows = [(0, 'W', 0, 4), (1_000_000, 'W', 8, 8)];
    let outcome = drive::replay(PAIR, &[PAGE], &rows);
    assert_eq!(done_ns(&outcome), [160_000, 1_320_000]);
    // `aligned` gives the page that follows to the other plane, whatever its number is.
    let rows = [(0, 'W', 0, 4), (500_000, 'W', 16, 4), (1_000_000, 'W', 8, 8)];
    let outcome = drive::replay(PAIR, &[PAGE, "ftl.placement=aligned"], &rows);
    assert_eq!(done_ns(&outcome), [160_000, 660_000, 1_180_000]);
    let outcome = drive::replay(PAIR, &[PAGE], &rows);
    assert_eq!(done_ns(&outcome), [160_000, 660_000, 1_320_000]);
}

#[test]
fn blocks_without_a_valid_page_are_erased_together() {
    // 128 pages, of which the user has 64: written in order four times, each block becomes wholly
    // invalid when its plane's other ones do.
    let writes: Vec<_> =
        (0..128u64).map(|index| (1_000_000 * index, 'W', index % 32 * 8, 8)).collect();
    let outcome = drive::replay(PAIR, &[PAGE], &writes);
    let erases = outcome.count("flash.erases");
    assert!(erases > 20, "{erases}");
    assert_eq!(outcome.count("flash.gc_programs"), 0);
    assert_eq!(2 * outcome.count("flash.multi_plane_commands.erase"), erases);
    assert_eq!(outcome.count("flash.multi_plane_commands.program"), 128);
    // Their numbers are the same as well, as both planes take blocks in the same order.
    let outcome = drive::replay(PAIR, &[BLOCK], &writes);
    assert_eq!(2 * outcome.count("flash.multi_plane_commands.erase"), erases);
}

#[test]
fn a_busy_drive_comes_to_its_end_and_writes_faster() {
    for (policy, more) in [
        ("fifo", ""),
        ("rps", ""),
        ("pes-ips", ""),
        ("pes-ipc", "timing.cache_register=true"),
        ("pes-ipc", "suspension.shadow_buffer=false"),
        ("pes-ips", "suspension.resume_at=array_read"),
        ("pes-ips", "ftl.copyback=true"),
        ("rps", "scheduling.write_queue_limit=4"),
    ] {
        let text = format!(
            "seed = 5\ndevice = \"fast12-mlc\"\npolicy = \"{policy}\"\n\
             [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 4\n\
             blocks_per_plane = 24\npages_per_block = 8\n\
             [ftl]\nover_provisioning = 0.3\nprecondition = \"steady\"\nplacement = \"aligned\"\n\
             [workload]\ngenerator = \"mixed\"\nrequests = 1500\nread_fraction = 0.5\n\
             request_bytes = 16384\nqueue_depth = 16\n"
        );
        let sets: Vec<_> = [more].into_iter().filter(|set| !set.is_empty()).collect();
        let alone = drive::run(drive::load_with(&text, &sets));
        let with = [PAGE].into_iter().chain(sets.iter().copied()).collect::<Vec<_>>();
        let outcome = drive::run(drive::load_with(&text, &with));
        let what = format!("{policy} {more}");
        assert_eq!(outcome.count("requests.total.count"), 1500, "{what}");
        assert!(outcome.count("flash.multi_plane_commands.program") > 100, "{what}");
        assert!(outcome.count("flash.multi_plane_commands.read") > 10, "{what}");
        let mean = |outcome: &Outcome| outcome.number("requests.write.latency_ns.mean");
        // With the limit, pages that go together leave the queue sooner, and reads go first more.
        assert!(mean(&outcome) < mean(&alone) || more.contains("limit"), "{what}");
        let repeated = drive::run(drive::load_with(&text, &with));
        assert_eq!(repeated, outcome, "{what}");
    }
}

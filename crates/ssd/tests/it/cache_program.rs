//! Programs whose data comes in while others run, calculated by hand on rig and drive.
//!
//! The SLC part: transfers of 20, reads of 10, five iterations of 28.

use reprieve_ssd::rig::RigOp::{Erase, Program, Read};

use super::drive::{self, Outcome};
use super::multi_plane::rig_us;

const CACHE: &str = "parallelism.cache_program=true";

fn done_us(sets: &[&str], rows: &[super::multi_plane::Row]) -> Vec<u64> {
    rig_us(sets, rows).into_iter().map(|(us, _)| us).collect()
}

#[test]
fn data_in_overlaps_the_array() {
    let rows = [(0, Program, 0, 0, 0), (0, Program, 0, 0, 1), (0, Program, 0, 0, 2)];
    assert_eq!(done_us(&[], &rows), [160, 320, 480]);
    assert_eq!(done_us(&[CACHE], &rows), [160, 300, 440]);
    assert_eq!(done_us(&[CACHE, "timing.t_command_us=1"], &rows), [161, 301, 441]);
    // Where transfers take longer the array waits for them: data in to 200, 400 and 600.
    assert_eq!(done_us(&[CACHE, "timing.t_bus_us=200"], &rows), [340, 540, 740]);
    // One that comes while the first runs.
    let rows = [(0, Program, 0, 0, 0), (150, Program, 0, 0, 1)];
    assert_eq!(done_us(&[CACHE], &rows), [160, 310]);
    // The first page of a block is not loaded.
    let rows = [(0, Program, 0, 0, 0), (0, Program, 1, 0, 0)];
    assert_eq!(done_us(&[CACHE], &rows), [160, 320]);
    // An erase is loaded neither behind a program nor is a program behind it.
    let rows = [(0, Program, 0, 0, 0), (0, Erase, 0, 1, 0), (0, Program, 0, 0, 1)];
    assert_eq!(done_us(&[CACHE], &rows), [160, 1668, 1828]);
    // On several planes: data in to 40, array to 180; the next two in to 80, array to 320.
    let rows: Vec<_> = (0..4).map(|index| (0, Program, index % 2, 0, index / 2)).collect();
    let sets = [CACHE, "parallelism.multi_plane=page"];
    assert_eq!(done_us(&sets, &rows), [180, 180, 320, 320]);
}

#[test]
fn a_program_is_loaded_only_if_it_would_be_next() {
    // A read waits that nobody suspends for: it goes before the second program.
    let rows = [(0, Program, 0, 0, 0), (5, Read, 2, 0, 0), (10, Program, 0, 0, 1)];
    assert_eq!(done_us(&[CACHE, "policy=rps"], &rows), [160, 190, 350]);
    assert_eq!(done_us(&[CACHE, "policy=fifo"], &rows), [160, 190, 350]);
    // A program that has been loaded is next, whatever comes.
    let rows = [(0, Program, 0, 0, 0), (5, Program, 0, 0, 1), (30, Read, 2, 0, 0)];
    assert_eq!(done_us(&[CACHE, "policy=rps"], &rows), [160, 300, 330]);
    assert_eq!(done_us(&[CACHE, "policy=fifo"], &rows), [160, 300, 330]);
    // At the write queue limit programs go ahead of reads, and so they load.
    let rows =
        [(0, Program, 0, 0, 0), (5, Read, 2, 0, 0), (10, Program, 0, 0, 1), (10, Program, 0, 0, 2)];
    let limit = "scheduling.write_queue_limit=2";
    assert_eq!(done_us(&[CACHE, "policy=rps", limit], &rows), [160, 330, 300, 490]);
}

#[test]
fn the_program_that_runs_is_suspended_and_the_next_waits_for_it() {
    let sets = [CACHE, "policy=pes-ips"];
    let rows = |read_us| [(0, Program, 0, 0, 0), (0, Program, 0, 0, 1), (read_us, Read, 2, 0, 0)];
    // The second pulse ends at 68: read to 98; restore 3, verify 8, 84; then 140.
    assert_eq!(rig_us(&sets, &rows(61)), [(193, 1), (333, 0), (98, 0)]);
    // While the second page comes in, to 40: the first pulse ends then.
    assert_eq!(rig_us(&sets, &rows(30)), [(193, 1), (333, 0), (70, 0)]);
    // Cancelled at 30, free at 34, sensed at 44; to 64; then 3, verify 8, 140.
    let done = rig_us(&[CACHE, "policy=pes-ipc"], &rows(30));
    assert_eq!(done, [(215, 1), (355, 0), (64, 0)]);
    // The second program, from 160: its second pulse ends at 208.
    assert_eq!(rig_us(&sets, &rows(201)), [(160, 0), (333, 1), (238, 0)]);
}

#[test]
fn reads_have_no_register_while_a_program_waits_in_it() {
    let reads = [(61, Read, 2, 0, 0), (61, Read, 3, 0, 0)];
    let sets = [CACHE, "policy=pes-ips", "timing.cache_register=true"];
    // Alone: sensed at 78 and 88, held to 98, when the program goes on; out to 98 and 118.
    let rows = [&[(0, Program, 0, 0, 0)][..], &reads].concat();
    assert_eq!(rig_us(&sets, &rows), [(193, 1), (98, 0), (118, 0)]);
    // With another waiting each read holds the array to its end: 98, sensed at 108, 128.
    let rows = [&[(0, Program, 0, 0, 0), (0, Program, 0, 0, 1)][..], &reads].concat();
    assert_eq!(rig_us(&sets, &rows), [(223, 1), (363, 0), (98, 0), (128, 0)]);
}

/// One channel, one die of one plane; nothing is written.
const ONE: &str = "device = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
    [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
    [ftl]\nover_provisioning = 0.5\ngc_background = false\n\
    [host]\nlink_bytes_per_s = \"none\"\n";

#[test]
fn a_write_of_several_pages_is_shorter_by_their_transfers() {
    let rows = [(0, 'W', 0, 16)];
    let done = |sets: &[&str]| drive::replay(ONE, sets, &rows).rows[0];
    assert_eq!(done(&[]).completion_ns, 640_000);
    let row = done(&[CACHE]);
    assert_eq!(row.completion_ns, 20_000 + 4 * 140_000);
    // The last page waits in the queue to 300, crosses to 320, waits in the register to 440.
    let parts = ["queue_ns", "bus_ns", "array_ns"].map(|name| row.part_ns(name));
    assert_eq!(parts, [420_000, 20_000, 140_000]);
}

#[test]
fn a_busy_drive_writes_faster() {
    for (policy, more) in [
        ("fifo", ""),
        ("rps", ""),
        ("per", ""),
        ("pe0", ""),
        ("pes-ips", ""),
        ("pes-ipc", "timing.cache_register=true"),
        ("pes-ips", "suspension.resume_at=array_read"),
        ("pes-ips", "parallelism.multi_plane=page"),
        ("pes-ipc", "parallelism.independent_plane_reads=true"),
        ("rps", "ftl.copyback=true"),
        ("rps", "timing.t_command_us=0.5"),
    ] {
        let text = format!(
            "seed = 5\ndevice = \"fast12-slc\"\npolicy = \"{policy}\"\n\
             [geometry]\nchannels = 2\ndies_per_channel = 1\nplanes_per_die = 4\n\
             blocks_per_plane = 24\npages_per_block = 8\n\
             [ftl]\nover_provisioning = 0.3\nprecondition = \"steady\"\n\
             [workload]\ngenerator = \"mixed\"\nrequests = 20000\nread_fraction = 0.2\n\
             request_bytes = 8192\nqueue_depth = 16\n"
        );
        let sets: Vec<_> = [more].into_iter().filter(|set| !set.is_empty()).collect();
        let alone = drive::run(drive::load_with(&text, &sets));
        let with = [CACHE].into_iter().chain(sets.iter().copied()).collect::<Vec<_>>();
        let outcome = drive::run(drive::load_with(&text, &with));
        let what = format!("{policy} {more}");
        assert_eq!(outcome.count("requests.total.count"), 20_000, "{what}");
        let mean = |outcome: &Outcome| outcome.number("requests.write.latency_ns.mean");
        // A part whose programs take no time has nothing to overlap.
        let gains = mean(&outcome) < mean(&alone);
        assert!(gains || policy == "pe0", "{what}: {} {}", mean(&outcome), mean(&alone));
        assert_eq!(drive::run(drive::load_with(&text, &with)), outcome, "{what}");
    }
}

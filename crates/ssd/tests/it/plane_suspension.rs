//! Planes that make way for their own reads alone, calculated by hand on the rig and tried on a
//! drive.
//!
//! The SLC part: transfers of 20, reads of 10, five iterations of pulse 20 and verify 8, restores
//! of 3. A program of two planes has its data at 40, its first pulse to 60, its end at 180.

use reprieve_ssd::rig::RigOp::{Program, Read};

use super::drive::{self, Outcome, TraceRow};
use super::multi_plane::{Row, rig_us};

const BOTH: [&str; 3] =
    ["policy=pes-ips", "parallelism.multi_plane=page", "parallelism.independent_plane_reads=true"];
const PLANE: &str = "suspension.multi_plane=plane";

const PROGRAMS: [Row; 2] = [(0, Program, 0, 0, 0), (0, Program, 1, 0, 0)];

/// Completions and suspensions where the whole operation makes way, and where a plane does.
fn both_ways(more: &[&str], rows: &[Row]) -> [Vec<(u64, u32)>; 2] {
    let whole = [&BOTH, more].concat();
    let plane = [&whole[..], &[PLANE]].concat();
    let rows = [&PROGRAMS, rows].concat();
    [rig_us(&whole, &rows), rig_us(&plane, &rows)]
}

#[test]
fn the_plane_of_the_read_stops_and_finishes_later() {
    // Free at 60, sensed at 70, out at 90; restore to 93, verify to 101, four iterations.
    let [whole, plane] = both_ways(&[], &[(50, Read, 1, 1, 2)]);
    assert_eq!(whole, [(213, 1), (213, 1), (90, 0)]);
    assert_eq!(plane, [(180, 0), (213, 1), (90, 0)]);
    // On again when the page is sensed: restore to 73.
    let [whole, plane] = both_ways(&["suspension.resume_at=array_read"], &[(50, Read, 1, 1, 2)]);
    assert_eq!(whole, [(193, 1), (193, 1), (90, 0)]);
    assert_eq!(plane, [(180, 0), (193, 1), (90, 0)]);
    // The next read comes in the verify, stops it at 101, is sensed at 111 and out at 131; restore
    // to 134, four iterations.
    let [_, plane] = both_ways(&[], &[(50, Read, 1, 1, 2), (95, Read, 1, 1, 3)]);
    assert_eq!(plane, [(180, 0), (246, 2), (90, 0), (131, 0)]);
}

#[test]
fn each_plane_goes_on_when_its_own_page_has_left() {
    // Both are sensed at 70 and leave to 90 and 110.
    let [whole, plane] = both_ways(&[], &[(50, Read, 0, 1, 2), (50, Read, 1, 1, 2)]);
    assert_eq!(whole, [(233, 1), (233, 1), (90, 0), (110, 0)]);
    assert_eq!(plane, [(213, 1), (233, 1), (90, 0), (110, 0)]);
    // Commands of 1: data in at 42, the pulse at 62. The commands of the reads follow each other,
    // sensed at 73 and 74, out at 93 and 113; restores, 120 more.
    let command = "timing.t_command_us=1";
    let [_, plane] = both_ways(&[command], &[(50, Read, 0, 1, 2), (50, Read, 1, 1, 2)]);
    assert_eq!(plane, [(216, 1), (236, 1), (93, 0), (113, 0)]);
}

#[test]
fn without_a_shadow_buffer_the_page_of_the_plane_comes_again() {
    // Free at 60, sensed at 70, out at 90. All pages come again to 130, or one to 110; then the
    // verify and four iterations, 120.
    let none = ["suspension.shadow_buffer=false"];
    let [whole, plane] = both_ways(&none, &[(50, Read, 1, 1, 2)]);
    assert_eq!(whole, [(250, 1), (250, 1), (90, 0)]);
    assert_eq!(plane, [(180, 0), (230, 1), (90, 0)]);
    // Both planes stop. The pages that were read leave to 90 and 110, and those of the programs
    // come again one after the other, to 130 and 150.
    let [_, plane] = both_ways(&none, &[(50, Read, 0, 1, 2), (50, Read, 1, 1, 2)]);
    assert_eq!(plane, [(250, 1), (270, 1), (90, 0), (110, 0)]);
}

#[test]
fn a_plane_at_rest_reads_and_stops_nothing() {
    // Sensed at 60, out at 80, while planes 0 and 1 are programmed.
    let [whole, plane] = both_ways(&[], &[(50, Read, 2, 1, 2)]);
    assert_eq!(whole, [(213, 1), (213, 1), (90, 0)]);
    assert_eq!(plane, [(180, 0), (180, 0), (80, 0)]);
    // Its own block is not read before it is programmed.
    let [_, plane] = both_ways(&[], &[(50, Read, 1, 0, 0)]);
    assert_eq!(plane, [(180, 0), (180, 0), (210, 0)]);
}

#[test]
fn the_die_takes_what_is_next_when_its_last_plane_is_done() {
    // From 213 on: data 20, five iterations of 28.
    let [_, plane] = both_ways(&[], &[(50, Read, 1, 1, 2), (60, Program, 2, 0, 0)]);
    assert_eq!(plane, [(180, 0), (213, 1), (90, 0), (373, 0)]);
    // Under a policy that suspends nothing, planes at rest wait too.
    let rows = [&PROGRAMS, &[(50, Read, 2, 1, 2)][..]].concat();
    let fifo = [&["policy=fifo", PLANE], &BOTH[1..]].concat();
    assert_eq!(rig_us(&fifo, &rows), [(180, 0), (180, 0), (210, 0)]);
}

#[test]
fn a_plane_that_makes_way_goes_on_with_the_iterations_of_its_command() {
    // Three or five iterations a page, of 28 each, by a hash: the first page on two planes that
    // differ, where each is programmed alone.
    let spread = "timing.program_iterations_weights=[[3,1],[5,1]]";
    let alone = |plane| rig_us(&[BOTH[0], spread], &[(0, Program, plane, 0, 0)])[0].0;
    let lengths: Vec<u64> = (0..4).map(alone).collect();
    let slow = (0..4).find(|plane| lengths[*plane] == 160).expect("one has five") as u32;
    let fast = (0..4).find(|plane| lengths[*plane] == 104).expect("one has three") as u32;
    let rows = [(0, Program, slow, 0, 0), (0, Program, fast, 0, 0)];
    // Together data in at 40, five iterations to 180; the read suspends the pulse that ends at 60,
    // as in the first test, and the plane that would need three ends with the fifth.
    for plane in [slow, fast] {
        let rows = [&rows[..], &[(50, Read, plane, 1, 2)]].concat();
        let done = rig_us(&[&BOTH[..], &[PLANE, spread]].concat(), &rows);
        let of = |own: u32| if own == plane { (213, 1) } else { (180, 0) };
        assert_eq!(done, [of(slow), of(fast), (90, 0)], "{plane}");
    }
}

#[test]
fn the_controller_keeps_its_limits() {
    // At 50 a plane has 130 to go.
    let limit = ["suspension.policy=threshold", "suspension.min_remaining_us=131"];
    let [_, plane] = both_ways(&limit, &[(50, Read, 1, 1, 2)]);
    assert_eq!(plane, [(180, 0), (180, 0), (210, 0)]);
    let limit = ["suspension.policy=threshold", "suspension.min_remaining_us=130"];
    let [_, plane] = both_ways(&limit, &[(50, Read, 1, 1, 2)]);
    assert_eq!(plane, [(180, 0), (213, 1), (90, 0)]);
    // The second read, which waits from 65 on, would have to begin at 90, after 30 of suspension.
    let limit = ["suspension.policy=threshold", "suspension.max_suspended_us=30"];
    let [_, plane] = both_ways(&limit, &[(50, Read, 1, 1, 2), (65, Read, 1, 1, 3)]);
    assert_eq!(plane[1], (213, 1));
    assert_eq!(plane[3], (243, 0));
    // No second suspension, and none before 40 of progress: from 90 to 130, the end of a pulse.
    let [_, plane] =
        both_ways(&["suspension.max_per_operation=1"], &[(50, Read, 1, 1, 2), (95, Read, 1, 1, 3)]);
    assert_eq!(plane, [(180, 0), (213, 1), (90, 0), (243, 0)]);
    // Restore to 93, verify to 101, pulse to 121, verify to 129, pulse to 149: that one.
    let [_, plane] =
        both_ways(&["suspension.min_progress_us=40"], &[(50, Read, 1, 1, 2), (95, Read, 1, 1, 3)]);
    assert_eq!(plane[3], (179, 0));
}

#[test]
fn a_page_of_the_mapping_keeps_its_age_where_planes_make_way() {
    // One die of twelve blocks; eight writes to 7190 fill the cache of the mapping. The read at
    // 8000 needs an entry more: the page of the mapping that the first one is in is read to 8090
    // and then programmed, with its data in at 8110 and pulses from 8110 and 8138 on.
    let text = "device = \"fast12-slc\"\n\
        [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 12\n\
        pages_per_block = 4\n[scheduling]\npolicy = \"rps-age\"\n\
        [suspension]\nprogram = \"ips\"\nerase = true\n\
        [parallelism]\nindependent_plane_reads = true\n\
        [ftl]\nover_provisioning = 0.75\ngc_hard_free_blocks = 2\ngc_background = false\n\
        precondition = \"sequential\"\nmapping = \"demand\"\nmap_cache_bytes = 64\n\
        map_cache_policy = \"lru\"\n[host]\nlink_bytes_per_s = \"none\"\n";
    let mut rows: Vec<TraceRow> = (0..8).map(|page| (1_000_000 * page, 'W', 4 * page, 4)).collect();
    rows.extend([(8_000_000, 'R', 32, 4), (8_150_000, 'R', 4, 4)]);
    let last_us = |limit: &str, planes: &str| {
        let outcome = drive::replay(text, &[limit, planes], &rows);
        assert_eq!(outcome.count("flash.mapping.evicted_pages"), 1);
        outcome.rows.last().expect("ten rows").completion_ns / 1000
    };
    for planes in ["suspension.multi_plane=whole", PLANE] {
        // At 8150 the program is 60 us old, which is over age: the read comes after it, at 8250.
        assert_eq!(last_us("scheduling.age_limit_us=60", planes), 8_280, "{planes}");
        // Younger, it makes way at the end of the pulse, at 8158.
        assert_eq!(last_us("scheduling.age_limit_us=100", planes), 8_188, "{planes}");
    }
}

#[test]
fn a_drive_reads_faster_beside_planes_at_work() {
    for (policy, more) in [
        ("pes-ips", ""),
        ("pes-ipc", "timing.cache_register=true"),
        ("pes-ipc", "suspension.resume_at=array_read"),
        ("pes-ips", "timing.t_command_us=0.5"),
        ("pes-ips", "timing.wordline_pages=2"),
        ("pes-ips", "ftl.copyback=true"),
        ("pes-ips", "scheduling.write_queue_limit=4"),
        ("pes-ipc", "suspension.min_progress_us=50"),
        ("pes-ips", "ftl.gc_preemptible=false"),
        ("pes-ips", "timing.program_iterations_weights=[[4,1],[5,2]]"),
    ] {
        let text = format!(
            "seed = 5\ndevice = \"fast12-mlc\"\npolicy = \"{policy}\"\n\
             [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 4\n\
             blocks_per_plane = 24\npages_per_block = 8\n\
             [timing]\nt_bus_us = 10\n\
             [parallelism]\nmulti_plane = \"page\"\nindependent_plane_reads = true\n\
             [ftl]\nover_provisioning = 0.4\nprecondition = \"steady\"\nplacement = \"aligned\"\n\
             [suspension]\nsame_block = \"block\"\n\
             [workload]\ngenerator = \"mixed\"\nrequests = 4000\nread_fraction = 0.7\n\
             request_bytes = 4096\nqueue_depth = 32\n"
        );
        let sets: Vec<_> = [more].into_iter().filter(|set| !set.is_empty()).collect();
        let whole = drive::run(drive::load_with(&text, &sets));
        let with = [PLANE].into_iter().chain(sets.iter().copied()).collect::<Vec<_>>();
        let outcome = drive::run(drive::load_with(&text, &with));
        let what = format!("{policy} {more}");
        assert_eq!(outcome.count("requests.total.count"), 4000, "{what}");
        assert!(outcome.count("flash.suspensions.program") > 0, "{what}");
        let mean = |outcome: &Outcome| outcome.number("requests.read.latency_ns.mean");
        assert!(mean(&outcome) < mean(&whole), "{what}: {} {}", mean(&outcome), mean(&whole));
        assert_eq!(drive::run(drive::load_with(&text, &with)), outcome, "{what}");
    }
}

//! Planes that read by themselves, calculated by hand on the rig and tried on a drive.
//!
//! The SLC part: transfers of 20, reads of 10, five iterations of 28.

use reprieve_ssd::rig::RigOp::{Program, Read};

use super::drive;
use super::multi_plane::rig_us;

const PLANES: &str = "parallelism.independent_plane_reads=true";

#[test]
fn planes_sense_at_once_and_pages_leave_in_line() {
    // Other pages, other blocks.
    let rows = [(0, Read, 0, 0, 1), (0, Read, 1, 7, 2), (0, Read, 2, 3, 4), (0, Read, 3, 0, 0)];
    let done =
        |sets: &[&str]| rig_us(sets, &rows).into_iter().map(|(us, _)| us).collect::<Vec<_>>();
    assert_eq!(done(&[]), [30, 60, 90, 120]);
    assert_eq!(done(&[PLANES]), [30, 50, 70, 90]);
    // Commands follow each other, and the first page leaves after the last of them that is due:
    // 4 commands to 4, the first page sensed at 11.
    assert_eq!(done(&[PLANES, "timing.t_command_us=1"]), [31, 51, 71, 91]);
    // A read that comes later begins later.
    let rows = [(0, Read, 0, 0, 1), (25, Read, 1, 7, 2)];
    assert_eq!(rig_us(&[PLANES], &rows), [(30, 0), (55, 0)]);
}

#[test]
fn two_reads_of_a_plane_share_its_buffer() {
    let rows = [(0, Read, 0, 0, 1), (0, Read, 0, 7, 2), (0, Read, 0, 2, 2), (0, Read, 1, 0, 0)];
    // The second begins when the first has left, at 30, and leaves behind plane 1's, from 50 to 70;
    // the third is sensed from there.
    assert_eq!(rig_us(&[PLANES], &rows), [(30, 0), (70, 0), (100, 0), (50, 0)]);
    // With cache registers the second is sensed at 20 and held to 30, the third from there on.
    let cached = "timing.cache_register=true";
    assert_eq!(rig_us(&[PLANES, cached], &rows), [(30, 0), (70, 0), (90, 0), (50, 0)]);
}

#[test]
fn a_program_waits_until_all_planes_are_free() {
    let rows = [(0, Read, 0, 0, 1), (0, Read, 1, 7, 2), (5, Program, 2, 0, 0), (20, Read, 3, 0, 0)];
    // Reads go first as long as they come.
    assert_eq!(rig_us(&[PLANES], &rows), [(30, 0), (50, 0), (230, 0), (70, 0)]);
    // In order of arrival the last read waits for the program, from 50 to 210.
    assert_eq!(rig_us(&[PLANES, "policy=fifo"], &rows), [(30, 0), (50, 0), (210, 0), (240, 0)]);
    // In order of arrival a read that waits for its plane lets a later one begin on another, but
    // nothing goes before the program.
    let rows = [(0, Read, 0, 0, 1), (0, Read, 0, 1, 1), (1, Read, 1, 0, 0), (2, Program, 2, 0, 0)];
    assert_eq!(rig_us(&[PLANES, "policy=fifo"], &rows), [(30, 0), (70, 0), (50, 0), (230, 0)]);
}

#[test]
fn planes_read_by_themselves_during_a_suspension() {
    // The second pulse is from 48 to 68. Both are sensed at 78 and leave to 98 and 118; restore 3,
    // verify 8, three iterations.
    let rows = [(0, Program, 0, 0, 0), (61, Read, 0, 1, 7), (61, Read, 3, 1, 2)];
    let sets = [PLANES, "policy=pes-ips"];
    assert_eq!(rig_us(&sets, &rows), [(213, 1), (98, 0), (118, 0)]);
    // With second registers the program goes on when both are sensed.
    let sets = [PLANES, "policy=pes-ips", "suspension.resume_at=array_read"];
    assert_eq!(rig_us(&sets, &rows), [(173, 1), (98, 0), (118, 0)]);
    // Nothing reads while a program runs that nobody may suspend.
    let rows = [(0, Program, 0, 0, 0), (61, Read, 1, 1, 7), (61, Read, 3, 1, 2)];
    let done = rig_us(&[PLANES, "policy=rps"], &rows);
    assert_eq!(done, [(160, 0), (190, 0), (210, 0)]);
}

#[test]
fn a_busy_drive_reads_faster() {
    for (policy, more) in [
        ("fifo", ""),
        ("rps", ""),
        ("pes-ips", ""),
        ("pes-ipc", "timing.cache_register=true"),
        ("pes-ipc", "suspension.shadow_buffer=false"),
        ("pes-ips", "suspension.resume_at=array_read"),
        ("pes-ips", "parallelism.multi_plane=page"),
        ("rps", "ftl.copyback=true"),
        ("rps", "timing.t_command_us=0.5"),
    ] {
        let text = format!(
            "device = \"fast12-mlc\"\npolicy = \"{policy}\"\n\
             [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 4\n\
             blocks_per_plane = 24\npages_per_block = 8\n\
             [timing]\nt_bus_us = 10\n\
             [ftl]\nover_provisioning = 0.3\nprecondition = \"steady\"\n\
             [workload]\ngenerator = \"mixed\"\nrequests = 12000\nread_fraction = 0.9\n\
             request_bytes = 4096\nqueue_depth = 32\n"
        );
        let what = format!("{policy} {more}");
        // Collection comes in waves that make three per cent of one seed, of five that are gained.
        let mean = |sets: &[&str]| {
            let of_seed = |seed: u32| {
                let seed = format!("seed={seed}");
                let outcome = drive::run(drive::load_with(&text, &[sets, &[&seed]].concat()));
                assert_eq!(outcome.count("requests.total.count"), 12_000, "{what}");
                outcome.number("requests.read.latency_ns.mean")
            };
            (1..=3).map(of_seed).sum::<f64>() / 3.0
        };
        let sets: Vec<_> = [more].into_iter().filter(|set| !set.is_empty()).collect();
        let with = [PLANES].into_iter().chain(sets.iter().copied()).collect::<Vec<_>>();
        let (alone, beside) = (mean(&sets), mean(&with));
        assert!(beside < alone, "{what}: {beside} {alone}");
        assert_eq!(
            drive::run(drive::load_with(&text, &with)),
            drive::run(drive::load_with(&text, &with)),
            "{what}"
        );
    }
}

//! Features of a die together, calculated by hand on the rig: programs of wordlines and of several
//! planes inside suspended erases, and cache programs of wordlines.
//!
//! The SLC part: transfers of 20, reads of 10, five iterations of pulse 20 and verify 8, erases of
//! 1500 and 8, resets and set-ups of 4, restores of 3.

use reprieve_ssd::rig::RigOp::{Erase, Program, Read};

use super::multi_plane::{Row, rig_us};

const WRITES_SUSPEND: &str = "suspension.host_write_suspends=[\"erase\"]";
const WORDLINES: &str = "timing.wordline_pages=2";
const CACHE: &str = "parallelism.cache_program=true";
const PLANES: &str = "parallelism.multi_plane=page";

#[test]
fn a_wordline_comes_in_while_another_is_programmed() {
    let rows: Vec<Row> = (0..4).map(|page| (0, Program, 0, 0, page)).collect();
    // Two transfers and 140 of array work, one after the other.
    let alone = rig_us(&[WORDLINES], &rows);
    assert_eq!(alone, [(180, 0), (180, 0), (360, 0), (360, 0)]);
    // The second is in from 40 to 80, and its array work begins at 180.
    let cached = rig_us(&[WORDLINES, CACHE], &rows);
    assert_eq!(cached, [(180, 0), (180, 0), (320, 0), (320, 0)]);
}

#[test]
fn a_wordline_is_programmed_inside_an_erase() {
    let rows: [Row; 3] = [(0, Erase, 0, 0, 0), (500, Program, 0, 1, 0), (500, Program, 0, 1, 1)];
    // Free at 504, data in to 544, array to 684; set-up to 688, 1000 of the pulse, verify.
    let done = rig_us(&["policy=pes-ipc", WORDLINES, WRITES_SUSPEND], &rows);
    assert_eq!(done, [(1696, 1), (684, 0), (684, 0)]);
}

#[test]
fn two_planes_are_programmed_inside_an_erase_of_both() {
    let erases: [Row; 2] = [(0, Erase, 0, 0, 0), (0, Erase, 1, 0, 0)];
    let programs: [Row; 2] = [(500, Program, 0, 1, 0), (500, Program, 1, 1, 0)];
    let sets = ["policy=pes-ips", PLANES, WRITES_SUSPEND];
    let done = rig_us(&sets, &[erases, programs].concat());
    assert_eq!(done, [(1696, 1), (1696, 1), (684, 0), (684, 0)]);
    // A read at 601 stops the programs at the end of the pulse that began there, at 620; sensed at
    // 630, out at 650; restore 3, verify 8, two iterations: 717. The erases are on again from
    // there: set-up 4, 1000, 8.
    let read: [Row; 1] = [(601, Read, 0, 2, 0)];
    let done = rig_us(&sets, &[&erases[..], &programs, &read].concat());
    assert_eq!(done, [(1729, 1), (1729, 1), (717, 1), (717, 1), (650, 0)]);
    // A block that is being erased takes no program until it is.
    let own: [Row; 2] = [(500, Program, 0, 0, 0), (500, Program, 1, 0, 0)];
    let done = rig_us(&sets, &[erases, own].concat());
    assert_eq!(done, [(1508, 0), (1508, 0), (1688, 0), (1688, 0)]);
}

#[test]
fn no_page_is_loaded_inside_an_erase() {
    // The first from 504 to 664; the second is not loaded beside it, as the erase below keeps the
    // other register: 664 to 824. Set-up 4, 1000, 8.
    let rows: [Row; 3] = [(0, Erase, 0, 0, 0), (500, Program, 0, 1, 0), (500, Program, 0, 1, 1)];
    let done = rig_us(&["policy=pes-ipc", CACHE, WRITES_SUSPEND], &rows);
    assert_eq!(done, [(1836, 1), (664, 0), (824, 0)]);
    // Outside an erase it is.
    let rows: [Row; 2] = [(0, Program, 0, 1, 0), (0, Program, 0, 1, 1)];
    let done = rig_us(&["policy=pes-ipc", CACHE, WRITES_SUSPEND], &rows);
    assert_eq!(done, [(160, 0), (300, 0)]);
}

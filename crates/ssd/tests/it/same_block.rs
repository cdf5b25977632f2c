//! Which reads wait for a program, calculated by hand on the rig and on a drive.
//!
//! The SLC part: transfers of 20, reads of 10, five iterations of pulse 20 and verify 8, restores
//! of 3. A program has its data at 20; its second pulse is from 48 to 68.

use reprieve_ssd::rig::RigOp::{Erase, Program, Read};

use super::drive;
use super::multi_plane::{Row, rig_us};

const IPS: &str = "policy=pes-ips";
const RULES: [&str; 3] = ["block", "wordline", "page"];

/// Completions and suspensions under each rule.
fn ruled(sets: &[&str], rows: &[Row]) -> [Vec<(u64, u32)>; 3] {
    RULES.map(|rule| {
        let rule = format!("suspension.same_block={rule}");
        rig_us(&[&[IPS, &rule], sets].concat(), rows)
    })
}

#[test]
fn a_read_beside_the_page_that_is_programmed() {
    // Another page: held with the block to 160; else free at 68, out at 98, restore to 101, verify
    // to 109, three iterations.
    let rows = |page| [(0, Program, 0, 0, 0), (61, Read, 0, 0, page)];
    let (waits, goes) = (vec![(160, 0), (190, 0)], vec![(193, 1), (98, 0)]);
    assert_eq!(ruled(&[], &rows(1)), [waits.clone(), goes.clone(), goes.clone()]);
    // Its own page.
    assert_eq!(ruled(&[], &rows(0)), [waits.clone(), waits.clone(), waits.clone()]);
    // Of two bits a cell, page 1 is on its wordline and page 2 is not.
    let typed = ["timing.page_types=2"];
    assert_eq!(ruled(&typed, &rows(1)), [waits.clone(), waits.clone(), goes.clone()]);
    assert_eq!(ruled(&typed, &rows(2)), [waits.clone(), goes.clone(), goes.clone()]);
    // The erase of a block ends at 1508.
    let rows = [(0, Erase, 0, 0, 0), (61, Read, 0, 0, 5)];
    let waits = vec![(1508, 0), (1538, 0)];
    assert_eq!(ruled(&[], &rows), [waits.clone(), waits.clone(), waits]);
}

#[test]
fn a_read_behind_one_that_waits() {
    // The page itself waits to the end; the read behind it does not.
    let rows = [(0, Program, 0, 0, 0), (61, Read, 0, 0, 0), (61, Read, 0, 0, 9)];
    let [block, wordline, page] = ruled(&[], &rows);
    assert_eq!(block, [(160, 0), (190, 0), (220, 0)]);
    assert_eq!([wordline, page], [[(193, 1), (223, 0), (98, 0)]; 2]);
}

#[test]
fn a_read_beside_a_wordline_that_is_programmed() {
    // Two pages come in to 40; the first pulse is from 40 to 60, the end at 180. The read of page 2
    // is out at 90; restore to 93, verify to 101, four iterations.
    let sets = ["timing.wordline_pages=2"];
    let rows = |page| [(0, Program, 0, 0, 0), (0, Program, 0, 0, 1), (50, Read, 0, 0, page)];
    let (waits, goes) = ([(180, 0), (180, 0), (210, 0)], [(213, 1), (213, 1), (90, 0)]);
    let both = |own: [(u64, u32); 3]| [waits.to_vec(), own.to_vec(), own.to_vec()];
    assert_eq!(ruled(&sets, &rows(1)), both(waits));
    assert_eq!(ruled(&sets, &rows(2)), both(goes));
}

#[test]
fn a_read_beside_a_program_of_several_planes() {
    let programs = |read| [(0, Program, 0, 0, 0), (0, Program, 1, 0, 0), read];
    let (waits, whole) = ([(180, 0), (180, 0), (210, 0)], [(213, 1), (213, 1), (90, 0)]);
    let both = |own: [(u64, u32); 3]| [waits.to_vec(), own.to_vec(), own.to_vec()];
    let pairs = "parallelism.multi_plane=page";
    assert_eq!(ruled(&[pairs], &programs((50, Read, 1, 0, 3))), both(whole));
    assert_eq!(ruled(&[pairs], &programs((50, Read, 1, 0, 0))), both(waits));
    // The plane of the read alone makes way.
    let lanes = ["parallelism.independent_plane_reads=true", "suspension.multi_plane=plane", pairs];
    let plane = [(180, 0), (213, 1), (90, 0)];
    assert_eq!(ruled(&lanes, &programs((50, Read, 1, 0, 3))), both(plane));
    assert_eq!(ruled(&lanes, &programs((50, Read, 1, 0, 0))), both(waits));
}

#[test]
fn a_read_beside_a_program_inside_an_erase() {
    // The erase is free at 504, the program's data in at 524, its second pulse from 552 to 572.
    let nested = ["suspension.host_write_suspends=[\"erase\"]"];
    let rows =
        |block, page| [(0, Erase, 0, 0, 0), (500, Program, 0, 1, 0), (561, Read, 0, block, page)];
    // Of the program's block: after its end at 664, when the erase is still suspended; set-up 4,
    // the other 1000 of the pulse, verify 8. Or inside: out at 602, restore 3, verify 8, 84 more.
    let waits = vec![(1706, 1), (664, 0), (694, 0)];
    let goes = vec![(1709, 1), (697, 1), (602, 0)];
    assert_eq!(ruled(&nested, &rows(1, 3)), [waits, goes.clone(), goes]);
    // Of the erase's block: after its end, at 664 + 1012.
    let waits = vec![(1676, 1), (664, 0), (1706, 0)];
    assert_eq!(ruled(&nested, &rows(0, 3)), [waits.clone(), waits.clone(), waits]);
}

#[test]
fn programs_and_erases_have_limits_of_their_own() {
    let program = [(0, Program, 0, 0, 0), (61, Read, 0, 2, 0), (99, Read, 0, 2, 1)];
    // The second read meets the restore from 98 to 101: free there, out at 131; restore 3 and 92.
    let (free, once) = ([(226, 2), (98, 0), (131, 0)], [(193, 1), (98, 0), (223, 0)]);
    let erase = [(0, Erase, 0, 0, 0), (500, Read, 0, 2, 0), (900, Read, 0, 2, 1)];
    // Free at 504 and 904, out 30 later, set-up 4; 604 of the pulse and the verify, 8, follow 938.
    let (erase_free, erase_once) =
        ([(1584, 2), (534, 0), (934, 0)], [(1546, 1), (534, 0), (1576, 0)]);
    for (limit, of_program, of_erase) in [
        ("suspension.max_per_operation=none", free, erase_free),
        ("suspension.max_per_program=1", once, erase_free),
        ("suspension.max_per_erase=1", free, erase_once),
        ("suspension.max_per_operation=1", once, erase_once),
    ] {
        assert_eq!(rig_us(&[IPS, limit], &program), of_program, "{limit}");
        assert_eq!(rig_us(&[IPS, limit], &erase), of_erase, "{limit}");
    }
}

#[test]
fn a_drive_reads_the_block_that_it_programs() {
    // Two pages of one block, the second from 200 on, with its second pulse from 248 to 268; then
    // the first is read.
    let text = "device = \"fast12-slc\"\npolicy = \"pes-ips\"\n\
        [geometry]\nchannels = 1\nplanes_per_die = 1\nblocks_per_plane = 16\npages_per_block = 4\n\
        [ftl]\nover_provisioning = 0.5\n[host]\nlink_bytes_per_s = \"none\"\n";
    let rows = [(0, 'W', 0, 4), (200_000, 'W', 4, 4), (261_000, 'R', 0, 4)];
    let done = |rule: &str| {
        let rule = format!("suspension.same_block={rule}");
        let outcome = drive::replay(text, &[&rule], &rows);
        outcome.rows.iter().map(|row| row.completion_ns / 1000).collect::<Vec<_>>()
    };
    assert_eq!(RULES.map(done), [[160, 360, 390], [160, 393, 298], [160, 393, 298]]);
}

//! Programs of different lengths on rig and drive, calculated by hand.
//!
//! The SLC part: 20 over the channel, five iterations of 28; a read takes 10 and 20.

use reprieve_ssd::rig::RigOp::{Program, Read};

use super::multi_plane::{Row, rig_us};

const PROGRAM_THEN_READ: [Row; 2] = [(0, Program, 0, 0, 0), (30, Read, 1, 0, 0)];

#[test]
fn a_wordline_s_count_takes_the_place_of_the_part_s() {
    let rows = [(0, Program, 0, 0, 0)];
    assert_eq!(rig_us(&["timing.program_iterations_weights=[[3, 1]]"], &rows), [(104, 0)]);
    // PER programs take tR, whatever their wordlines.
    let per = ["timing.program_iterations_weights=[[3, 1]]", "policy=per"];
    assert_eq!(rig_us(&per, &rows), [(30, 0)]);
}

#[test]
fn early_retention_loss_makes_a_program_longer() {
    let sets = [
        "policy=pes-ips",
        "suspension.retention_iterations=2",
        "suspension.retention_first_share=0.2",
        "suspension.retention_second_share=0.8",
    ];
    // The pulse ends at 40, 20 of 140 done; the read at 70; 3, then 120 left, and twice 28.
    assert_eq!(rig_us(&sets, &PROGRAM_THEN_READ), [(249, 1), (70, 0)]);
    // After the verify, at 48, 28 are done: the read at 78; 3 and 112.
    let rows = [PROGRAM_THEN_READ[0], (41, Read, 1, 0, 0)];
    assert_eq!(rig_us(&sets, &rows), [(193, 1), (78, 0)]);
}

#[test]
fn a_sliced_program_makes_way_between_slices() {
    let sets = [
        "suspension.program=sliced",
        "suspension.slice_iterations=2",
        "suspension.t_slice_overhead_us=6",
    ];
    // Slices of 62 to 82 and 144, of 34 to 178.
    assert_eq!(rig_us(&sets, &PROGRAM_THEN_READ[..1]), [(178, 0)]);
    // The read from 82 to 112; then 3, 62 and 34.
    assert_eq!(rig_us(&sets, &PROGRAM_THEN_READ), [(211, 1), (112, 0)]);
}

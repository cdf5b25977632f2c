//! Restores and set-ups that a request breaks off, and that are done anew on the next resume.
//!
//! The restore takes 30, set-up and reset 40 each; without a shadow buffer a page takes 2000.

use reprieve_nand::{EraseResume, ProgramSuspension, Restore, Suspension};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, part, suspending};

fn interruptible() -> Suspension {
    Suspension { restore: Restore::Interruptible, ..suspending(ProgramSuspension::Ips) }
}

#[test]
fn a_restore_from_the_shadow_buffer_is_broken_off_at_once() {
    // Resumed at 3000 for 30: at the resume, within, and at the end.
    for request_ns in [3_000, 3_001, 3_029, 3_030] {
        let mut device = Device::new(part(), interruptible());
        device.issue(0, PROGRAM);
        assert_eq!(device.suspend_and_resume(2_300, 2_400, 3_000), 3_870);
        // Restore 30, verify 80, two iterations of 380, whatever the first had done.
        assert_eq!(device.suspend_and_resume(request_ns, request_ns, 4_000), 4_870);
        // And once more.
        assert_eq!(device.suspend_and_resume(4_015, 4_015, 5_000), 5_870);
        assert_eq!(device.die.operations().suspensions(), 3);
    }
}

#[test]
fn a_set_up_that_is_broken_off_takes_a_reset() {
    // Resumed at 10000 for 40. At the resume nothing is set, at the end the reset is not due.
    let rows = [(10_000, 10_000), (10_001, 10_041), (10_039, 10_079), (10_040, 10_040)];
    for (request_ns, free_ns) in rows {
        let mut device = Device::new(part(), interruptible());
        device.issue(0, ERASE);
        // 2000 of the pulse are done: 40 + 3000 + 90.
        assert_eq!(device.suspend_and_resume(2_100, 2_140, 10_000), 13_130);
        assert_eq!(device.suspend_and_resume(request_ns, free_ns, 20_000), 23_130);
        assert_eq!(device.suspend_and_resume(20_020, 20_060, 30_000), 33_130);
    }
}

#[test]
fn the_first_set_up_can_be_broken_off_too() {
    let mut device = Device::new(part(), interruptible());
    device.issue(0, ERASE);
    // During the command, which is atomic: 40 + 5000 + 90.
    assert_eq!(device.suspend_and_resume(60, 100, 1_000), 6_130);
    assert_eq!(device.suspend_and_resume(1_010, 1_050, 2_000), 7_130);
}

#[test]
fn transfers_stay_atomic() {
    let mut device = Device::new(part(), interruptible());
    device.issue(0, PROGRAM);
    assert_eq!(device.suspend_and_resume(500, 2_100, 3_000), 4_170);
    // Without a shadow buffer the restore is a transfer: 3000 to 5000, then 1140.
    let bare = Suspension { shadow_buffer: false, ..interruptible() };
    let mut device = Device::new(part(), bare);
    device.issue(0, PROGRAM);
    assert_eq!(device.suspend_and_resume(500, 2_100, 3_000), 6_140);
    assert_eq!(device.suspend_and_resume(3_010, 5_000, 6_000), 9_140);
}

#[test]
fn atomic_restores_wait() {
    let mut device = Device::new(part(), suspending(ProgramSuspension::Ips));
    device.issue(0, PROGRAM);
    assert_eq!(device.suspend_and_resume(2_300, 2_400, 3_000), 3_870);
    assert_eq!(device.suspend_and_resume(3_001, 3_030, 4_000), 4_870);
}

#[test]
fn without_a_set_up_the_pulse_is_broken_off() {
    let redo = Suspension { erase_resume: EraseResume::RedoPhase, ..interruptible() };
    let mut device = Device::new(part(), redo);
    device.issue(0, ERASE);
    assert_eq!(device.suspend_and_resume(2_100, 2_140, 10_000), 15_090);
    assert_eq!(device.suspend_and_resume(10_001, 10_041, 20_000), 25_090);
    assert_eq!(device.issue(25_050, Ask::Suspend), Answer::RunsToEnd);
}

//! What a run of a program or erase spends in pulses and verifies: by hand, and phase by phase.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Activity, Parallelism, Part, ProgramSuspension, Run, Suspension};

use crate::device::{Answer, Ask, Device, ERASE, PROGRAM, SHAPE, of_mode, part, suspending};

/// A run of the device's operation, from `from_ns` on.
fn run(device: &Device, from_ns: u64) -> Run {
    device.die.run(Time::from_ns(from_ns)).expect("an operation runs")
}

/// What a run spends in pulses and verifies until `end_ns`; both ways have to agree.
#[track_caller]
fn spent(run: &Run, end_ns: u64) -> [u64; 2] {
    let (timing, end) = (part(), Time::from_ns(end_ns));
    let mut walked = [0; 2];
    let mut segment = Some(run.first());
    let mut from_ns = 0;
    while let Some(now) = segment {
        assert!(now.end <= end, "a phase until {} in a run until {end}", now.end);
        let pulses = [Activity::ProgramPulse, Activity::ErasePulse];
        if let Some(activity) = now.activity {
            walked[usize::from(!pulses.contains(&activity))] += now.end.ns() - from_ns;
        }
        from_ns = now.end.ns();
        segment = run.after(&now, &timing);
    }
    assert_eq!(from_ns, end_ns, "the last phase does not end with the run");
    let closed = run.spent(end, &timing).map(Dur::ns);
    assert_eq!(closed, walked);
    closed
}

/// The run of an operation begun at 0 and stopped at `asked_ns`, and when the array is free.
fn stopped(suspension: Suspension, operation: Ask, asked_ns: u64) -> (Run, u64) {
    let mut device = Device::new(part(), suspension);
    device.issue(0, operation);
    let begun = run(&device, 0);
    let Answer::FreeAt(free_ns) = device.issue(asked_ns, Ask::Suspend) else {
        panic!("the operation makes way")
    };
    let timing = of_mode(part(), &suspension);
    let whole = Part { shape: SHAPE, timing, suspension, parallelism: Parallelism::NONE };
    (begun.stopped(Time::from_ns(asked_ns), Time::from_ns(free_ns), &whole), free_ns)
}

#[test]
fn an_undisturbed_operation_spends_its_phases() {
    // Three pulses of 300 and verifies of 80 from 2100 on; a pulse of 5000 and a verify of 90.
    let mut device = Device::new(part(), suspending(ProgramSuspension::None));
    device.issue(0, PROGRAM);
    let program = run(&device, 0);
    assert_eq!(spent(&program, 3_240), [900, 240]);
    assert_eq!(program.undisturbed(&part()).map(Dur::ns), [900, 240]);
    // In the second pulse, 50 of it; in the second verify, 30 of it.
    assert_eq!(program.spent(Time::from_ns(2_530), &part()).map(Dur::ns), [350, 80]);
    assert_eq!(program.spent(Time::from_ns(2_810), &part()).map(Dur::ns), [600, 110]);
    let mut device = Device::new(part(), suspending(ProgramSuspension::None));
    device.issue(0, ERASE);
    assert_eq!(spent(&run(&device, 0), 5_190), [5_000, 90]);
}

#[test]
fn a_stopped_program_spends_what_it_ran() {
    use ProgramSuspension::{Ipc, Ips, Iteration};
    let rows = [
        // In its data: nothing.
        (Ips, 1_000, 2_100, [0, 0]),
        // To the end of the first pulse, of the first verify, of the second pulse.
        (Ips, 2_250, 2_400, [300, 0]),
        (Ips, 2_401, 2_480, [300, 80]),
        (Ips, 2_480, 2_480, [300, 80]),
        (Ips, 2_781, 2_860, [600, 160]),
        // Cancelled, and a voltage reset of 40 at the power of what was cancelled.
        (Ipc, 2_250, 2_290, [190, 0]),
        (Ipc, 2_410, 2_450, [300, 50]),
        // To the end of the verify, and an overhead of 13 at its power.
        (Iteration, 2_250, 2_493, [300, 93]),
        (Iteration, 2_480, 2_493, [300, 93]),
        (Iteration, 2_400, 2_493, [300, 93]),
        (Iteration, 2_850, 2_873, [600, 173]),
    ];
    for (mode, asked_ns, free_ns, expected) in rows {
        let (run, free_at_ns) = stopped(suspending(mode), PROGRAM, asked_ns);
        assert_eq!(free_at_ns, free_ns, "{mode:?} at {asked_ns}");
        assert_eq!(spent(&run, free_ns), expected, "{mode:?} at {asked_ns}");
    }
}

#[test]
fn a_stopped_erase_sets_its_voltages_at_the_power_of_its_pulse() {
    let suspension = suspending(ProgramSuspension::None);
    // Pulse from 100; cancelled at 1000, reset until 1040.
    let (first, free_ns) = stopped(suspension, ERASE, 1_000);
    assert_eq!((spent(&first, free_ns), free_ns), ([940, 0], 1_040));
    // Set-up of 40 from 10000 on, 4100 of the pulse are left, then the verify.
    let mut device = Device::new(part(), suspension);
    device.issue(0, ERASE);
    assert_eq!(device.suspend_and_resume(1_000, 1_040, 10_000), 14_230);
    let resumed = run(&device, 10_000);
    let closed = resumed.spent(Time::from_ns(14_230), &part()).map(Dur::ns);
    assert_eq!(closed, [4_140, 90]);
    let set_up = resumed.first();
    assert_eq!((set_up.activity, set_up.end.ns()), (Some(Activity::ErasePulse), 10_040));
}

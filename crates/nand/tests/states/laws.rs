//! The laws of a die: in each state, and between a state and the next.

use reprieve_base::{PageAddress, Time};
use reprieve_nand::{
    Elapsed, EraseMode, EraseResume, Part, PlaneWork, ProgramSuspension, Restore, Suspend,
};

use crate::search::{SUSPENSIONS_MAX, State, drain, pages_inside};
use crate::spec::{Action, Answer, Buffer, Kind, Op, Work};

/// Checks the laws of a single state.
pub fn hold_in(part: &Part, state: &State) {
    says_what_it_is(part, state);
    pages_are_kept(part, state);
    limits_hold(part, state);
    all_ends(part, state);
}

/// A die says of itself what the specification says of it.
fn says_what_it_is(part: &Part, State { die, world, now }: &State) {
    let inner = world.innermost();
    let place = |op: &Op| (op.pages[0].plane, op.pages[0].block);
    let runs = inner.filter(|op| op.work == Work::Runs);
    let idle = world.is_array_idle();
    assert_eq!(die.is_free(), idle && world.plane_buffers_free(), "{world:#?}");
    assert_eq!(die.is_running(), runs.is_some());
    assert_eq!(die.running_until(), runs.map(|op| op.until(*now)), "{world:#?}");
    assert_eq!(die.is_suspended(), world.is_suspended());
    assert_eq!(die.output_in_use(), world.output_in_use());
    assert_eq!(die.takes_reads(), idle);
    assert_eq!(die.operations().block(), inner.map(place));
    let outer = world.ops.iter().filter(|op| !op.alone).rev().nth(1);
    assert_eq!(die.operations().outer_block(), outer.map(place));
    assert_eq!(die.operations().suspensions(), inner.map_or(0, |op| op.suspensions));
    let rest = |op: &Op| op.work == Work::Suspended;
    let rests = world.ops.iter().all(rest) && world.reads.buffer == Buffer::Free;
    assert_eq!(die.is_at_rest(), rests && world.plane_buffers_free(), "{world:#?}");
    for plane in 0..part.shape.planes {
        let work = world.work_on_plane(plane).map_or(PlaneWork::None, |op| match op.work {
            Work::Runs => PlaneWork::Running(op.until(*now)),
            Work::Entering(left_ns) => PlaneWork::Suspending(Time::from_ns(now.ns() + left_ns)),
            Work::Suspended => PlaneWork::Suspended,
        });
        assert_eq!(die.plane_work(plane), work, "plane {plane} of {world:#?}");
    }
    let needs = inner.is_some_and(|op| op.needs_channel(part));
    assert_eq!(die.resume_needs_channel(), needs);
}

/// Checks that programmed pages stay until their block is erased, and can be read unless an
/// operation holds them.
fn pages_are_kept(part: &Part, State { die, world, .. }: &State) {
    for plane in 0..part.shape.planes {
        for block in 0..part.shape.blocks_per_plane {
            let pages = world.pages[plane as usize][block as usize];
            assert_eq!(die.programmed(plane, block), pages, "{world:#?}");
            for page in 0..part.shape.pages_per_block {
                let at = PageAddress { plane, block, page };
                assert_eq!(die.bars_read(at), world.bars(part, at), "{at:?} in {world:#?}");
                assert_eq!(die.works_on(at), world.works_on(at), "{at:?} in {world:#?}");
            }
        }
    }
}

fn most(part: &Part, kind: Kind) -> u32 {
    let most = match kind {
        Kind::Program => part.suspension.max_per_program,
        Kind::Erase => part.suspension.max_per_erase,
    };
    most.unwrap_or(SUSPENSIONS_MAX)
}

fn limits_hold(part: &Part, State { world, .. }: &State) {
    for op in &world.ops {
        assert!(op.suspensions <= most(part, op.kind), "{world:#?}");
    }
    let whole = world.ops.iter().filter(|op| !op.alone).count();
    assert!(whole <= 2 && (whole < 2 || world.ops[0].kind == Kind::Erase), "{world:#?}");
}

/// Every operation ends once and every page leaves once, if suspensions are resumed.
pub fn all_ends(part: &Part, state: &State) {
    let operations = state.world.operations();
    let pages = pages_inside(&state.world);
    assert_eq!(drain(part, state.clone()), (operations, pages), "{:#?}", state.world);
}

/// Checks the laws of a step.
pub fn hold_between(part: &Part, before: &State, action: Action, answer: Answer, after: &State) {
    match (action, answer) {
        (Action::Tick, _) => work_goes_on(before, after),
        (Action::Suspend(plane), answer) => costs_what_is_named(part, before, plane, answer),
        (Action::Elapse(_), Answer::Came(Elapsed::Suspended)) => {
            assert!(after.die.is_suspended() || after.die.operations().has_suspended_plane());
        }
        _ => {}
    }
}

/// A nanosecond does a nanosecond of work where something works, and none elsewhere.
fn work_goes_on(before: &State, after: &State) {
    for (old, new) in before.world.ops.iter().zip(&after.world.ops) {
        let done_ns = old.nominal_left_ns() - new.nominal_left_ns();
        assert_eq!(done_ns, u64::from(old.makes_progress()), "{old:#?}");
    }
}

/// A suspension takes no time but what the model names, and no longer than the part promises.
fn costs_what_is_named(part: &Part, before: &State, plane: Option<u32>, answer: Answer) {
    let op = match plane {
        Some(plane) => before.world.work_on_plane(plane),
        None => before.world.innermost(),
    };
    let op = op.expect("something runs");
    let active = before.die.active_operation(plane).expect("something runs");
    let cost = active.suspension_cost(before.now);
    let Answer::FreeIn(free_ns) = answer else {
        assert_eq!(cost, None, "{op:#?}");
        return;
    };
    // The die itself, suspended and resumed at once.
    let mut die = before.die.clone();
    let free_at = Time::from_ns(before.now.ns() + free_ns);
    let end = match plane {
        Some(plane) => {
            assert_eq!(die.suspend_plane(before.now, plane), Ok(Suspend::FreeAt(free_at)));
            die.elapse_piece(free_at, plane);
            die.resume_plane(free_at, plane)
        }
        None => {
            assert_eq!(die.suspend(before.now), Ok(Suspend::FreeAt(free_at)));
            die.elapse(free_at);
            die.resume(free_at)
        }
    };
    // While a page leaves, what needs the channel waits.
    let Ok(end) = end else { return };
    let cost_ns = (end - before.now).ns() as i64 - op.left_ns() as i64;
    let (least_ns, most_ns) = cost_bounds(part, op, plane.is_some());
    assert!((least_ns..=most_ns).contains(&cost_ns), "{cost_ns} of {op:#?}");
    if plane.is_none() || op.pages.len() == 1 {
        let cost = cost.expect("it makes way");
        assert_eq!(cost.free_at, free_at, "{op:#?}");
        assert_eq!(cost.resume_cost.ns(), cost_ns.max(0) as u64, "{op:#?}");
    }
    let is_first_transfer = op.suspensions == 0 && op.is_in_transfer();
    let promised = before.die.operations().longest_entry(part, op.kind == Kind::Erase, plane).ns();
    assert!(is_first_transfer || free_ns <= promised, "{free_ns} beyond {promised}: {op:#?}");
}

/// The least and the most that a suspension adds to the array time of an operation.
fn cost_bounds(part: &Part, op: &Op, alone: bool) -> (i64, i64) {
    let (timing, suspension) = (&part.timing, &part.suspension);
    let ns = |dur: reprieve_base::Dur| dur.ns() as i64;
    let reset_ns = ns(timing.voltage_reset);
    let is_program = op.kind == Kind::Program;
    let planes = if alone { 1 } else { op.pages.len() as i64 };
    let restore_ns = match (is_program, suspension.shadow_buffer) {
        (true, true) => ns(timing.buffer),
        (true, false) => ns(timing.bus) * planes,
        (false, _) if suspension.erase_resume == EraseResume::Exact => reset_ns,
        (false, _) => 0,
    };
    let overhead_ns = ns(timing.suspend_overhead_of(!is_program));
    let interruptible = suspension.restore == Restore::Interruptible;
    if op.is_in_prelude() {
        let spared_ns = if interruptible { op.prelude_left_ns() as i64 } else { 0 };
        let reset_ns = if interruptible { reset_ns } else { 0 };
        return (-spared_ns, restore_ns + reset_ns);
    }
    let nothing_lost = match suspension.program {
        _ if !is_program => suspension.erase_mode == EraseMode::Deferred,
        ProgramSuspension::Ipc => false,
        _ => true,
    };
    if nothing_lost && suspension.erase_resume != EraseResume::Restart {
        let restore_ns = if is_program { restore_ns } else { 0 };
        return (restore_ns + overhead_ns, restore_ns + overhead_ns);
    }
    let exact = !is_program && suspension.erase_resume == EraseResume::Exact;
    if exact && op.is_in_pulse() {
        // Broken off with a reset and set up again, or at its end, without either.
        return (overhead_ns, overhead_ns + 2 * reset_ns);
    }
    let lost_ns = op.nominal_ns(part) as i64;
    let least_ns = match is_program {
        // The verify that says whether a pulse has reached its target may spare its rest.
        true => restore_ns + overhead_ns - ns(timing.program_pulse),
        false => overhead_ns,
    };
    (least_ns, restore_ns + overhead_ns + reset_ns + ns(timing.verify) + lost_ns)
}

//! What a suspension would come to, for those who weigh it: asked of a die, and not done.

use reprieve_base::{Dur, Stream, Time};

use super::{Array, Die, PlaneWork, may_stop};
use crate::operation::{Estimate, Kind, Operation, Stop};
use crate::refusal::Refusal;
use crate::timing::{EraseMode, ProgramSuspension, Restore, Suspension};

/// What a running operation would do if it were asked to make way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// When the array would be free.
    pub free_at: Time,
    /// The array time beyond what it has left that a resumption takes: restore or set-up, and
    /// phases that are done again.
    pub resume_cost: Dur,
}

impl Die {
    /// Whether the part and its limits let an operation be asked to make way at `now`: that on
    /// `plane` alone, or all that works together.
    pub fn may_suspend(&self, now: Time, plane: Option<u32>) -> Result<(), Refusal> {
        match plane {
            None => match self.array {
                Array::Running(_) if self.is_whole() => {}
                Array::Suspending(_) => return Err(Refusal::AlreadySuspending),
                _ if self.suspended => return Err(Refusal::Nested),
                _ => return Err(Refusal::NothingToSuspend),
            },
            Some(_) if !self.part.parallelism.plane_suspension => {
                return Err(Refusal::NotSuspendable);
            }
            Some(plane) => match self.plane_work(plane) {
                PlaneWork::Running(_) => {}
                PlaneWork::Suspending(_) => return Err(Refusal::AlreadySuspending),
                PlaneWork::Suspended => return Err(Refusal::Nested),
                PlaneWork::None => return Err(Refusal::NothingToSuspend),
            },
        }
        let operation = self.operation_on(plane).expect("what runs is an operation");
        may_stop(operation, now, &self.part.suspension)
    }

    /// What becomes of the running operation if it is asked to make way at `now`; `None`: it ends
    /// before that takes effect.
    pub fn outlook(&self, now: Time, plane: Option<u32>) -> Option<Outlook> {
        self.outlook_of(*self.operation_on(plane)?, now)
    }

    /// The same as far as a controller knows it, to whom a program may take as long as any.
    pub fn foreseen(&self, now: Time, plane: Option<u32>) -> Option<Outlook> {
        self.outlook_of(self.at_longest(plane)?, now)
    }

    /// How much longer a running program goes on, as far as a controller knows; `None`: it knows,
    /// as all wordlines take as long.
    pub fn estimate(&self, now: Time, plane: Option<u32>) -> Option<Estimate> {
        let spread = self.part.timing.spread.as_ref()?;
        let operation = self.operation_on(plane).filter(|one| one.kind == Kind::Program)?;
        Some(operation.estimate(now, &self.part.timing, spread))
    }

    fn outlook_of(&self, mut operation: Operation, now: Time) -> Option<Outlook> {
        let (timing, suspension) = (&self.part.timing, &self.part.suspension);
        let left = operation.end(timing) - now;
        let free_at = stopped(&mut operation, self, now, suspension)?;
        operation.resume(free_at, timing, suspension);
        let takes = free_at - now + (operation.end(timing) - free_at);
        // Phases that are gone through before the array is free are part of what was left.
        Some(Outlook { free_at, resume_cost: takes.saturating_sub(left) })
    }

    /// The longest that an array may take to be free after a request that comes at any instant of a
    /// program, or of an erase: the longest phase that is not broken off, after a restore or set-up
    /// that is not either.
    pub fn longest_entry(&self, is_erase: bool) -> Dur {
        let (timing, suspension) = (&self.part.timing, &self.part.suspension);
        let iteration = timing.program_pulse + timing.verify;
        let phase = match (is_erase, suspension.program) {
            (true, _) => match suspension.erase_mode {
                EraseMode::Immediate => timing.voltage_reset,
                _ => Dur::from_ns(timing.erase.ns() / u64::from(timing.erase_segments))
                    .max(timing.voltage_reset),
            },
            (_, ProgramSuspension::None) => Dur::ZERO,
            (_, ProgramSuspension::Ipc) => timing.voltage_reset,
            (_, ProgramSuspension::Ips) => timing.program_pulse.max(timing.verify),
            (_, ProgramSuspension::Iteration) => iteration + timing.suspend_overhead,
            (_, ProgramSuspension::Sliced) => timing.slices.map_or(iteration, |slices| {
                iteration * u64::from(slices.iterations) + slices.overhead
            }),
        };
        if suspension.restore == Restore::Interruptible {
            return phase;
        }
        let restore = match (is_erase, suspension.shadow_buffer) {
            (true, _) => timing.voltage_reset,
            (false, true) => timing.buffer,
            (false, false) => timing.bus,
        };
        restore + phase
    }

    /// The next instant at which the running operation could stop without a phase that is broken
    /// off, as far as a controller knows; `None`: it ends before.
    pub fn safe_point(&self, now: Time, plane: Option<u32>) -> Option<Time> {
        let mut suspension = self.part.suspension;
        suspension.erase_mode = EraseMode::Deferred;
        if suspension.program == ProgramSuspension::Ipc {
            suspension.program = ProgramSuspension::Ips;
        }
        stopped(&mut self.at_longest(plane)?, self, now, &suspension)
    }

    /// When the restore or set-up ends with which a running operation goes on; `None`: it was never
    /// suspended.
    pub fn goes_on_at(&self, plane: Option<u32>) -> Option<Time> {
        self.operation_on(plane)?.goes_on_at()
    }

    /// The running operation as if its wordlines took as long as any.
    fn at_longest(&self, plane: Option<u32>) -> Option<Operation> {
        let operation = *self.operation_on(plane)?;
        let spread = self.part.timing.spread.as_ref();
        Some(match spread.filter(|_| operation.kind == Kind::Program) {
            Some(spread) => operation.of_count(spread.highest()),
            None => operation,
        })
    }

    /// The program or erase on a plane, or that begun last on all.
    fn operation_on(&self, plane: Option<u32>) -> Option<&Operation> {
        let piece = plane.and_then(|plane| self.piece_on(plane));
        piece.or(self.operation.as_ref().map(|(operation, _)| operation))
    }
}

/// Stops a copy of an operation; which way a draw goes changes no instant of it.
fn stopped(
    operation: &mut Operation,
    die: &Die,
    now: Time,
    suspension: &Suspension,
) -> Option<Time> {
    let mut vth: Stream = die.vth.clone();
    match operation.stop(now, &die.part.timing, suspension, &mut vth) {
        Stop::AtEnd => None,
        Stop::At(free_at) => Some(free_at),
    }
}

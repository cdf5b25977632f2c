//! Estimates of a suspension, for policies; the die does not change.

use reprieve_base::{Dur, Stream, Time};

use super::{Array, Die, Operations, PlaneWork};
use crate::command::Part;
use crate::operation::{Estimate, Kind, Operation, Stop};
use crate::refusal::Refusal;
use crate::timing::{EraseMode, ProgramSuspension, Restore, Suspension};

/// Costs of a suspension of the running operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuspensionCost {
    /// When the array is free.
    pub free_at: Time,
    /// Array time that the suspension adds: restore or set-up, and repeated phases.
    pub resume_cost: Dur,
}

/// A running or suspended program or erase.
#[derive(Clone, Copy, Debug)]
pub struct ActiveOperation<'a> {
    operation: &'a Operation,
    part: &'a Part,
    vth: &'a Stream,
}

impl Die {
    /// Returns the operation of a plane that was suspended alone, or else the last that started.
    #[inline]
    pub fn active_operation(&self, plane: Option<u32>) -> Option<ActiveOperation<'_>> {
        let operation = self.operations.on(plane)?;
        Some(ActiveOperation { operation, part: &self.part, vth: &self.vth })
    }

    /// Whether the part accepts a suspend command at `now`, for `plane` alone or for all planes.
    pub fn may_suspend(&self, now: Time, plane: Option<u32>) -> Result<(), Refusal> {
        match plane {
            None => match self.array {
                Array::Running(_) if self.operations.is_whole() => {}
                Array::Suspending(_) => return Err(Refusal::AlreadySuspending),
                _ if self.operations.is_suspended() => return Err(Refusal::Nested),
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
        let operation = self.operations.on(plane).expect("what runs is an operation");
        may_stop(operation, now, &self.part.suspension)
    }
}

impl ActiveOperation<'_> {
    /// Returns the costs of a suspension requested at `now`; `None`: it ends before that takes
    /// effect.
    pub fn suspension_cost(&self, now: Time) -> Option<SuspensionCost> {
        self.cost_of_suspending(*self.operation, now)
    }

    /// As `suspension_cost`, if the program takes as long as the slowest.
    pub fn worst_suspension_cost(&self, now: Time) -> Option<SuspensionCost> {
        self.cost_of_suspending(self.at_longest(), now)
    }

    fn cost_of_suspending(&self, mut operation: Operation, now: Time) -> Option<SuspensionCost> {
        let (timing, suspension) = (&self.part.timing, &self.part.suspension);
        let left = operation.end(timing) - now;
        let free_at = self.stop(&mut operation, now, suspension)?;
        operation.resume(free_at, timing, suspension);
        let takes = free_at - now + (operation.end(timing) - free_at);
        // Phases before the array is free are part of the remaining time.
        Some(SuspensionCost { free_at, resume_cost: takes.saturating_sub(left) })
    }

    /// Estimates the remaining time of a program whose wordlines differ; `None`: it is exact.
    pub fn estimate(&self, now: Time) -> Option<Estimate> {
        let spread = self.part.timing.spread.as_ref()?;
        let is_program = self.operation.kind == Kind::Program;
        is_program.then(|| self.operation.estimate(now, &self.part.timing, spread))
    }

    /// Returns the next instant at which no phase would be aborted, if the program takes as long as
    /// the slowest; `None`: the operation ends before.
    pub fn safe_point(&self, now: Time) -> Option<Time> {
        let mut suspension = self.part.suspension;
        suspension.erase_mode = EraseMode::Deferred;
        if suspension.program == ProgramSuspension::Ipc {
            suspension.program = ProgramSuspension::Ips;
        }
        self.stop(&mut self.at_longest(), now, &suspension)
    }

    /// Returns the end of the restore or set-up after a resume; `None`: it was never suspended.
    pub fn goes_on_at(&self) -> Option<Time> {
        self.operation.goes_on_at()
    }

    /// Returns the operation with the iterations of the slowest wordline.
    fn at_longest(&self) -> Operation {
        let spread = self.part.timing.spread.as_ref();
        match spread.filter(|_| self.operation.kind == Kind::Program) {
            Some(spread) => self.operation.of_count(spread.highest()),
            None => *self.operation,
        }
    }

    /// Stops a copy of the operation; the result does not depend on the random stream.
    fn stop(&self, operation: &mut Operation, now: Time, suspension: &Suspension) -> Option<Time> {
        match operation.stop(now, &self.part.timing, suspension, &mut self.vth.clone()) {
            Stop::AtEnd => None,
            Stop::At(free_at) => Some(free_at),
        }
    }
}

impl Operations {
    /// Returns the longest time from a suspend command to a free array or plane: an uninterruptible
    /// restore or set-up, then the longest uninterruptible phase.
    pub fn longest_entry(&self, part: &Part, is_erase: bool, plane: Option<u32>) -> Dur {
        let (timing, suspension) = (&part.timing, &part.suspension);
        let planes = plane.map_or(self.planes(), |_| 1);
        let iteration = timing.program_pulse + timing.verify;
        let phase = match (is_erase, suspension.program) {
            (true, _) => match suspension.erase_mode {
                EraseMode::Immediate => timing.voltage_reset,
                _ => timing.longest_to_safe_point().max(timing.voltage_reset),
            },
            (_, ProgramSuspension::None) => Dur::ZERO,
            (_, ProgramSuspension::Ipc) => timing.voltage_reset,
            (_, ProgramSuspension::Ips) => timing.program_pulse.max(timing.verify),
            (_, ProgramSuspension::Iteration) => iteration,
            (_, ProgramSuspension::Sliced) => timing.slices.map_or(iteration, |slices| {
                iteration * u64::from(slices.iterations) + slices.overhead
            }),
        };
        let phase = match suspension.program {
            ProgramSuspension::None if !is_erase => phase,
            _ => phase + timing.suspend_overhead_of(is_erase),
        };
        let restore = match (is_erase, suspension.shadow_buffer) {
            // Repeated data-in is not interrupted.
            (false, false) => timing.data_in() * u64::from(planes),
            _ if suspension.restore == Restore::Interruptible => Dur::ZERO,
            (true, _) => timing.voltage_reset,
            (false, true) => timing.buffer,
        };
        restore + phase
    }
}

/// Whether the part can suspend an operation at `now`.
#[inline]
fn may_stop(operation: &Operation, now: Time, suspension: &Suspension) -> Result<(), Refusal> {
    let (able, most) = match operation.kind {
        Kind::Program => {
            (suspension.program != ProgramSuspension::None, suspension.max_per_program)
        }
        Kind::Erase => (suspension.erase, suspension.max_per_erase),
    };
    if !able {
        return Err(Refusal::NotSuspendable);
    }
    if most.is_some_and(|most| operation.suspensions >= most) {
        return Err(Refusal::LimitReached);
    }
    let from = operation.suspendable_from(suspension);
    if now < from { Err(Refusal::TooSoon { until: from }) } else { Ok(()) }
}

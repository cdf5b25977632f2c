//! A run of a program or erase, from a start or resume to a stop or the end, as its phases.
//!
//! Computed in two ways with equal results: phase by phase, and in closed form.

use reprieve_base::{Dur, Time};

use super::{Kind, Operation, Position, Prelude, Stage};
use crate::command::Part;
use crate::power::Activity;
use crate::timing::{ProgramSuspension, Timing};
use crate::wordlines::Slices;

/// A run: the operation at its start, and its stop.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Run {
    operation: Operation,
    from: Time,
    stop: Option<StopPoint>,
}

/// A stop: no phase starts at `no_phase_from` or later, and the last ends at `free_at`.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct StopPoint {
    no_phase_from: Time,
    free_at: Time,
}

/// A stretch of a run with one activity.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Segment {
    /// Activity; `None`: it waits for data or for a page buffer.
    pub activity: Option<Activity>,
    /// End.
    pub end: Time,
    /// The next phase, unless the stretch is the last.
    next: Option<Position>,
    /// It is the overhead of the slice that `next` begins.
    begins_slice: bool,
}

/// Array time of a run: of its pulses, and of its verifies.
pub type PhaseTimes = [Dur; 2];

impl Run {
    pub(crate) fn new(operation: Operation, from: Time) -> Run {
        Run { operation, from, stop: None }
    }

    /// Returns the run after a request at `asked` that frees the array at `free_at`.
    pub fn stopped(self, asked: Time, free_at: Time, part: &Part) -> Run {
        let Operation { kind, prelude_end, .. } = self.operation;
        let (timing, suspension) = (&part.timing, &part.suspension);
        let goes_on = match (kind, suspension.program) {
            _ if asked <= prelude_end => false,
            // Its iteration, slice or loop is completed.
            (Kind::Program, program) => {
                matches!(program, ProgramSuspension::Iteration | ProgramSuspension::Sliced)
            }
            (Kind::Erase, _) => {
                timing.erase_loops.is_some() && self.operation.is_deferred(asked, suspension)
            }
        };
        let overhead = timing.suspend_overhead_of(kind == Kind::Erase);
        let no_phase_from =
            if goes_on { Time::from_ns(free_at.ns() - overhead.ns()) } else { asked };
        Run { stop: Some(StopPoint { no_phase_from, free_at }), ..self }
    }

    /// Returns the planes on which the operation works.
    pub fn planes(&self) -> u32 {
        self.operation.planes
    }

    /// Returns the run on `planes` planes.
    pub fn on_planes(self, planes: u32) -> Run {
        Run { operation: self.operation.on_planes(planes), ..self }
    }

    /// Returns the times of the whole operation without suspension.
    pub fn undisturbed(&self, timing: &Timing) -> PhaseTimes {
        match self.operation.kind {
            Kind::Program => {
                [timing.program_pulse, timing.verify].map(|phase| phase * self.iterations())
            }
            Kind::Erase => [self.operation.pulses(timing), timing.erase_verify * self.iterations()],
        }
    }

    fn iterations(&self) -> u64 {
        u64::from(self.operation.iterations)
    }

    /// The activities of which [`PhaseTimes`] are the times.
    pub fn activities(&self) -> [Activity; 2] {
        match self.operation.kind {
            Kind::Program => [Activity::ProgramPulse, Activity::ProgramVerify],
            Kind::Erase => [Activity::ErasePulse, Activity::EraseVerify],
        }
    }

    /// Returns the time until `until` in each kind of phase, in closed form.
    pub fn spent(&self, until: Time, timing: &Timing) -> PhaseTimes {
        let Some(StopPoint { no_phase_from, free_at }) = self.stop else {
            return self.split(until, timing);
        };
        if until <= no_phase_from {
            return self.split(until, timing);
        }
        let [pulse, verify] = self.split(no_phase_from, timing);
        let over = until.min(free_at) - no_phase_from;
        if no_phase_from <= self.operation.prelude_end {
            return [if self.sets_voltages() { pulse + over } else { pulse }, verify];
        }
        let [before, _] = self.split(Time::from_ns(no_phase_from.ns() - 1), timing);
        if pulse > before { [pulse + over, verify] } else { [pulse, verify + over] }
    }

    fn sets_voltages(&self) -> bool {
        self.operation.prelude == Prelude::SetUp
    }

    /// Returns the time until `until` in each kind of phase, without a stop.
    fn split(&self, until: Time, timing: &Timing) -> PhaseTimes {
        let Operation { prelude_end, position: at, kind, .. } = self.operation;
        let set_up =
            if self.sets_voltages() { until.min(prelude_end) - self.from } else { Dur::ZERO };
        if until <= prelude_end {
            return [set_up, Dur::ZERO];
        }
        let left = (until - prelude_end).ns();
        if kind == Kind::Erase {
            let [pulse, verify] = self.operation.split_erase(Dur::from_ns(left), timing);
            return [set_up + pulse, verify];
        }
        let (pulse, verify) = (timing.program_pulse.ns(), timing.verify.ns());
        let first = if at.stage == Stage::Pulse { 0 } else { left.min(verify) };
        let left = without_overheads(left - first, timing);
        let iteration = (pulse + verify).max(1);
        let (whole, rest) = (left / iteration, left % iteration);
        let in_pulses = whole * pulse + rest.min(pulse);
        [set_up + Dur::from_ns(in_pulses), Dur::from_ns(first + left - in_pulses)]
    }

    /// Returns the first stretch: data-in, restore or set-up, perhaps of no length.
    pub fn first(&self) -> Segment {
        let activity = self.sets_voltages().then_some(Activity::ErasePulse);
        self.bounded(activity, self.operation.prelude_end, Some(self.operation.position))
    }

    /// Returns the next stretch.
    pub fn after(&self, segment: &Segment, timing: &Timing) -> Option<Segment> {
        let at = segment.next?;
        if let Some(slices) = self.slices(timing) {
            let is_first = at.stage == Stage::Pulse && at.iteration % slices.iterations == 0;
            if is_first && !segment.begins_slice {
                let overhead = self.bounded(None, segment.end + slices.overhead, Some(at));
                return Some(Segment { begins_slice: true, ..overhead });
            }
        }
        let [pulse, verify] = self.activities();
        let activity = if at.stage == Stage::Pulse { pulse } else { verify };
        let length = match (self.operation.kind, at.stage) {
            (Kind::Program, Stage::Pulse) => timing.program_pulse,
            (Kind::Program, _) => timing.verify,
            (Kind::Erase, Stage::Pulse) => at.pulse_left,
            (Kind::Erase, _) => timing.erase_verify,
        };
        Some(self.bounded(Some(activity), segment.end + length, self.phase_after(at, timing)))
    }

    /// Returns a stretch that ends at `end`, unless a stop makes it the last.
    fn bounded(&self, activity: Option<Activity>, end: Time, next: Option<Position>) -> Segment {
        match self.stop {
            Some(stop) if end >= stop.no_phase_from => {
                Segment { activity, end: stop.free_at, next: None, begins_slice: false }
            }
            _ => Segment { activity, end, next, begins_slice: false },
        }
    }

    fn slices(&self, timing: &Timing) -> Option<Slices> {
        timing.slices.filter(|_| self.operation.kind == Kind::Program)
    }

    fn phase_after(&self, at: Position, timing: &Timing) -> Option<Position> {
        let is_last = at.stage == Stage::Verify
            && at.iteration + 1 == self.operation.iterations + self.operation.owed;
        if is_last {
            return None;
        }
        Some(match (at.stage, self.operation.kind) {
            (Stage::Pulse, _) => Position { stage: Stage::Verify, ..at },
            (_, Kind::Erase) => self.operation.start_of(at.iteration + 1, timing),
            (_, Kind::Program) => self.operation.after(at),
        })
    }
}

/// Returns the array time of a stretch from a slice's start on without overheads of slices.
fn without_overheads(ns: u64, timing: &Timing) -> u64 {
    let Some(Slices { iterations, overhead }) = timing.slices else { return ns };
    let work = (timing.program_pulse + timing.verify).ns() * u64::from(iterations);
    let slice = overhead.ns() + work;
    ns / slice * work + (ns % slice).saturating_sub(overhead.ns())
}

//! A program or erase as its phases: position, stops, and the time that is left.
//!
//! Phases are never stepped one by one: the position follows from the time since the last start or
//! resume, so that an operation without suspension costs one computation.

mod erase;
mod estimate;
mod run;

use reprieve_base::{Dur, Stream, Time};

use crate::command::Elapsed;
use crate::timing::{
    EraseResume, ProgramSuspension, Restore, Retention, Suspension, Timing, VthReached,
};

pub use estimate::Estimate;
pub use run::{PhaseTimes, Run, Segment};

/// Kinds of operations on the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Kind {
    Program,
    Erase,
}

impl Kind {
    /// Returns the result when an operation of this kind is complete.
    #[inline(always)]
    pub(crate) fn complete(self) -> Elapsed {
        match self {
            Kind::Program => Elapsed::Programmed,
            Kind::Erase => Elapsed::Erased,
        }
    }
}

/// The next phase of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Stage {
    /// A program pulse, or the erase pulse with `pulse_left` to go.
    Pulse,
    /// The verify that ends an iteration or a loop of an erase.
    Verify,
    /// The verify after a cancelled pulse that has not reached its target: the pulse is repeated.
    CheckVerify,
}

/// Position in the sequence of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Position {
    /// Iteration of a program or loop of an erase, counted from 0.
    iteration: u32,
    stage: Stage,
    /// Erase: the rest of the pulse of its loop.
    pulse_left: Dur,
    /// Erase aborted in its pulse: the voltages have to be set before the pulse continues.
    needs_set_up: bool,
}

/// Steps before the phases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Prelude {
    /// Command, or a page over the channel: atomic.
    Transfer,
    /// The page is restored from the shadow buffer.
    Restore,
    /// The voltages of an erase are set again.
    SetUp,
}

/// The phase at some instant: `begin < instant <= end`.
struct Phase {
    at: Position,
    begin: Time,
    end: Time,
}

/// A program or erase from its start to its end, through any number of suspensions.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Operation {
    pub(crate) kind: Kind,
    /// Planes on which it works.
    planes: u32,
    /// Program: of a block in SLC mode, which takes one page of its wordline.
    is_slc: bool,
    /// Program: wordlines whose maximum it takes, at first one for each plane.
    wordlines: u32,
    /// Iterations of a program, or loops of an erase, in all.
    iterations: u32,
    /// Erase: the pulse of its last loop.
    last_pulse: Dur,
    /// Program: iterations among them that suspensions have added.
    added: u32,
    /// Program: iterations added to the current run if it is not suspended too soon.
    owed: u32,
    /// Program: its first suspension was early, and no long run has followed.
    is_early: bool,
    position: Position,
    prelude: Prelude,
    /// End of the prelude of the current run.
    prelude_end: Time,
    /// When its command, and a program's data, were complete.
    begun: Time,
    /// Time of the last resume, if any.
    resumed_at: Option<Time>,
    /// Number of suspensions.
    pub(crate) suspensions: u32,
}

/// The answer to a suspend request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The operation ends before the request takes effect.
    AtEnd,
    /// The array is free at this instant and the operation suspended.
    At(Time),
}

impl Operation {
    /// Creates a program of `iterations` loops from `prelude_end` on, after command and data-in.
    pub(crate) fn program(prelude_end: Time, iterations: u32) -> Operation {
        Operation::new(Kind::Program, prelude_end, iterations)
    }

    /// Returns the operation on `planes` planes.
    pub(crate) fn on_planes(self, planes: u32) -> Operation {
        Operation { planes, wordlines: self.wordlines.max(planes), ..self }
    }

    /// Returns the program on a block in SLC mode, or not.
    pub(crate) fn in_slc(self, is_slc: bool) -> Operation {
        Operation { is_slc, ..self }
    }

    fn new(kind: Kind, prelude_end: Time, iterations: u32) -> Operation {
        let position = Position {
            iteration: 0,
            stage: Stage::Pulse,
            pulse_left: Dur::ZERO,
            needs_set_up: false,
        };
        Operation {
            kind,
            planes: 1,
            is_slc: false,
            wordlines: 1,
            iterations,
            last_pulse: Dur::ZERO,
            added: 0,
            owed: 0,
            is_early: false,
            position,
            prelude: Prelude::Transfer,
            prelude_end,
            begun: prelude_end,
            resumed_at: None,
            suspensions: 0,
        }
    }

    /// Whether data of the operation crosses the channel at `now`.
    pub(crate) fn is_in_transfer(&self, now: Time) -> bool {
        self.prelude == Prelude::Transfer && now < self.prelude_end
    }

    /// Returns the end of the operation without suspension.
    pub(crate) fn end(&self, timing: &Timing) -> Time {
        self.prelude_end + self.left(timing)
    }

    /// Returns the earliest instant at which `min_progress` permits a suspension.
    pub(crate) fn suspendable_from(&self, suspension: &Suspension) -> Time {
        self.resumed_at.map_or(Time::ZERO, |resumed| resumed + suspension.min_progress)
    }

    /// Returns the array time from the current position, without a prelude.
    #[inline]
    fn left(&self, timing: &Timing) -> Dur {
        let at = self.position;
        match self.kind {
            Kind::Erase => {
                let own = at.pulse_left + timing.erase_verify;
                if at.iteration + 1 == self.iterations {
                    return own;
                }
                own + self.loops_after(at.iteration, timing)
            }
            Kind::Program => {
                let whole = self.iterations + self.owed - at.iteration;
                match at.stage {
                    Stage::Pulse => timing.program_array(whole),
                    Stage::Verify => timing.verify + timing.program_array(whole - 1),
                    Stage::CheckVerify => timing.verify + timing.program_array(whole),
                }
            }
        }
    }

    /// Resumes at `now`; the prelude restores the page buffer or sets the voltages.
    pub(crate) fn resume(&mut self, now: Time, timing: &Timing, suspension: &Suspension) {
        let exact = suspension.erase_resume == EraseResume::Exact;
        let (prelude, length) = match self.kind {
            Kind::Program if suspension.shadow_buffer => (Prelude::Restore, timing.buffer),
            Kind::Program => {
                let planes = u64::from(self.planes);
                (Prelude::Transfer, timing.data_in_of(self.is_slc) * planes)
            }
            Kind::Erase if exact && self.position.needs_set_up => {
                (Prelude::SetUp, timing.voltage_reset)
            }
            Kind::Erase => (Prelude::Transfer, Dur::ZERO),
        };
        self.prelude = prelude;
        self.prelude_end = now + length;
        self.resumed_at = Some(now);
        if self.is_early {
            self.owe(timing, &suspension.retention);
        }
    }

    /// Returns the end of the restore or set-up of its last resume, if it was ever suspended.
    pub(crate) fn goes_on_at(&self) -> Option<Time> {
        self.resumed_at.map(|_| self.prelude_end)
    }

    /// Sets the iterations added to the run if it is not suspended too soon.
    #[cold]
    fn owe(&mut self, timing: &Timing, retention: &Retention) {
        self.owed = 0;
        let whole = timing.program_array(self.iterations);
        let is_long = reaches(self.left(timing), retention.second_share_ppm, whole);
        self.owed = if is_long { retention.iterations } else { 0 };
    }

    /// Stops on a request at `now`: returns when the array is free, and moves to the rest.
    pub(crate) fn stop(
        &mut self,
        now: Time,
        timing: &Timing,
        suspension: &Suspension,
        vth: &mut Stream,
    ) -> Stop {
        let free_at = if now <= self.prelude_end {
            Some(self.stop_prelude(now, timing, suspension))
        } else {
            let stopped = if self.kind == Kind::Erase {
                self.stop_erase(now, timing, suspension)
            } else if suspension.program == ProgramSuspension::Sliced {
                self.stop_slice(now, timing, &suspension.retention)
            } else {
                self.stop_program(now, timing, suspension, vth)
            };
            stopped.map(|stopped| stopped + timing.suspend_overhead_of(self.kind == Kind::Erase))
        };
        let Some(free_at) = free_at else { return Stop::AtEnd };
        self.suspensions += 1;
        if self.suspensions == 1 && suspension.retention.iterations > 0 {
            self.is_early = self.is_in_beginning(timing, &suspension.retention);
        }
        Stop::At(free_at)
    }

    /// Whether a program that has just been suspended had completed less than the first share.
    #[cold]
    fn is_in_beginning(&self, timing: &Timing, retention: &Retention) -> bool {
        if self.kind == Kind::Erase {
            return false;
        }
        let whole = timing.program_array(self.iterations);
        // A cancelled phase can leave more than the whole: then nothing is done.
        let done = Dur::from_ns(whole.ns().saturating_sub(self.left(timing).ns()));
        !reaches(done, retention.first_share_ppm, whole)
    }

    /// Ends a run at `point` by a suspension: a long run keeps its added iterations.
    #[inline]
    fn settle(&mut self, point: Time, timing: &Timing, retention: &Retention) {
        if self.owed > 0 {
            self.settle_owed(point, timing, retention);
        }
    }

    #[cold]
    fn settle_owed(&mut self, point: Time, timing: &Timing, retention: &Retention) {
        let whole = timing.program_array(self.iterations);
        if reaches(point - self.prelude_end, retention.second_share_ppm, whole) {
            self.iterations += self.owed;
            self.added += self.owed;
            self.is_early = false;
        }
        self.owed = 0;
    }

    /// Moves to the slice after the current one; `None` if that is the last.
    fn stop_slice(&mut self, now: Time, timing: &Timing, retention: &Retention) -> Option<Time> {
        let slices = timing.slices.expect("a sliced program has slices");
        let iteration = timing.program_pulse + timing.verify;
        let slice = slices.overhead + iteration * u64::from(slices.iterations);
        let done = (now - self.prelude_end).ns().div_ceil(slice.ns());
        let slice_end = self.prelude_end + slice * done;
        if slice_end >= self.end(timing) {
            return None;
        }
        self.settle(slice_end, timing, retention);
        let done = u32::try_from(done).expect("a program has fewer than 2^32 slices");
        self.position.iteration += done * slices.iterations;
        Some(slice_end)
    }

    /// Returns when the array is free after a request before the phases, which do not change.
    fn stop_prelude(&self, now: Time, timing: &Timing, suspension: &Suspension) -> Time {
        let is_atomic = self.prelude == Prelude::Transfer || suspension.restore == Restore::Atomic;
        if is_atomic || now == self.prelude_end {
            return self.prelude_end;
        }
        // At the instant of the resume no voltage has been set yet.
        let has_set = self.prelude == Prelude::SetUp && self.resumed_at != Some(now);
        if has_set { now + timing.voltage_reset } else { now }
    }

    /// Moves to the rest after a stop; `None` if the program ends first.
    fn stop_program(
        &mut self,
        now: Time,
        timing: &Timing,
        suspension: &Suspension,
        vth: &mut Stream,
    ) -> Option<Time> {
        let phase = self.program_phase(now, timing);
        let in_reset = now + reset_inside(timing, suspension) >= phase.end;
        match suspension.program {
            ProgramSuspension::None | ProgramSuspension::Sliced => {
                unreachable!("the die refuses what the part cannot suspend, and slices are apart")
            }
            ProgramSuspension::Ips | ProgramSuspension::Ipc
                if in_reset || suspension.program == ProgramSuspension::Ips =>
            {
                if phase.end == self.end(timing) {
                    return None;
                }
                self.position = self.after(phase.at);
                self.settle(phase.end, timing, &suspension.retention);
                Some(phase.end)
            }
            ProgramSuspension::Ips | ProgramSuspension::Ipc => {
                if phase.at.stage == Stage::Pulse {
                    let elapsed = now - phase.begin;
                    let reached = match suspension.vth_reached {
                        VthReached::Never => false,
                        VthReached::Always => true,
                        VthReached::Proportional => {
                            vth.below(timing.program_pulse.ns()) < elapsed.ns()
                        }
                    };
                    let stage = if reached { Stage::Verify } else { Stage::CheckVerify };
                    self.position = Position { stage, ..phase.at };
                } else {
                    self.position = phase.at;
                }
                self.settle(now, timing, &suspension.retention);
                Some(now + timing.voltage_reset)
            }
            ProgramSuspension::Iteration => {
                let iteration_end = match phase.at.stage {
                    Stage::Pulse => phase.end + timing.verify,
                    Stage::Verify | Stage::CheckVerify => phase.end,
                };
                if iteration_end == self.end(timing) {
                    return None;
                }
                self.position = self.after(Position { stage: Stage::Verify, ..phase.at });
                self.settle(iteration_end, timing, &suspension.retention);
                Some(iteration_end)
            }
        }
    }

    /// Returns the program phase at `now`, which is after the prelude's end.
    ///
    /// An instant between two phases belongs to the first.
    fn program_phase(&self, now: Time, timing: &Timing) -> Phase {
        let mut at = self.position;
        let mut begin = self.prelude_end;
        if at.stage != Stage::Pulse {
            let end = begin + timing.verify;
            if now <= end {
                return Phase { at, begin, end };
            }
            begin = end;
            at.iteration += u32::from(at.stage == Stage::Verify);
            at.stage = Stage::Pulse;
        }
        let iteration = timing.program_pulse + timing.verify;
        let whole = (now.ns() - begin.ns() - 1) / iteration.ns();
        at.iteration += u32::try_from(whole).expect("a program has fewer than 2^32 iterations");
        begin = begin + iteration * whole;
        let pulse_end = begin + timing.program_pulse;
        if now <= pulse_end {
            return Phase { at, begin, end: pulse_end };
        }
        at.stage = Stage::Verify;
        Phase { at, begin: pulse_end, end: pulse_end + timing.verify }
    }

    /// Returns the position after the program phase `at`, which is not the last verify.
    fn after(&self, at: Position) -> Position {
        match at.stage {
            Stage::Pulse => Position { stage: Stage::Verify, ..at },
            Stage::CheckVerify => Position { stage: Stage::Pulse, ..at },
            Stage::Verify => {
                debug_assert!(
                    at.iteration + 1 < self.iterations + self.owed,
                    "the program is over"
                );
                Position { iteration: at.iteration + 1, stage: Stage::Pulse, ..at }
            }
        }
    }
}

/// Whether `part` is at least this many millionths of `whole`.
fn reaches(part: Dur, share_ppm: u32, whole: Dur) -> bool {
    u128::from(part.ns()) * 1_000_000 >= u128::from(whole.ns()) * u128::from(share_ppm)
}

/// Returns the last part of a phase, in which it ends instead of being aborted.
fn reset_inside(timing: &Timing, suspension: &Suspension) -> Dur {
    if suspension.reset_inside_phase { timing.voltage_reset } else { Dur::ZERO }
}

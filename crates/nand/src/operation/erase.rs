//! An erase as its loops, usually one: the position in them, and stops.

use reprieve_base::{Dur, Time};

use super::{Kind, Operation, Position, Stage, reset_inside};
use crate::timing::{EraseMode, EraseResume, Suspension, Timing};

impl Operation {
    /// Creates an erase of this many loops, with this last pulse, whose phases start at
    /// `prelude_end`, after its command.
    pub(crate) fn erase(prelude_end: Time, timing: &Timing, loops: u32, last: Dur) -> Operation {
        let erase = Operation::new(Kind::Erase, prelude_end, loops);
        let erase = Operation { last_pulse: last, ..erase };
        // A stop before the start of its pulse leaves the voltages to be set.
        let position = Position { needs_set_up: true, ..erase.start_of(0, timing) };
        Operation { position, ..erase }
    }

    /// Returns the pulse of a loop of an erase.
    fn pulse_of(&self, index: u32, timing: &Timing) -> Dur {
        if index + 1 == self.iterations { self.last_pulse } else { timing.erase_pulse_of(index) }
    }

    /// Returns the start of a loop of an erase.
    pub(super) fn start_of(&self, index: u32, timing: &Timing) -> Position {
        let pulse_left = self.pulse_of(index, timing);
        Position { iteration: index, stage: Stage::Pulse, pulse_left, needs_set_up: false }
    }

    /// Returns the time of an erase in pulses.
    pub(super) fn pulses(&self, timing: &Timing) -> Dur {
        let sum_ns = (0..self.iterations).map(|index| self.pulse_of(index, timing).ns()).sum();
        Dur::from_ns(sum_ns)
    }

    /// Returns the array time of the loops after one.
    #[cold]
    pub(super) fn loops_after(&self, index: u32, timing: &Timing) -> Dur {
        let each = |index| (self.pulse_of(index, timing) + timing.erase_verify).ns();
        Dur::from_ns((index + 1..self.iterations).map(each).sum())
    }

    /// Returns the loop at `now`, which is after the prelude's end: its rest at its start, or at
    /// the run's, and when that was.
    ///
    /// An instant between two loops belongs to the first.
    fn loop_at(&self, now: Time, timing: &Timing) -> (Position, Time) {
        let (mut at, mut begin) = (self.position, self.prelude_end);
        while at.iteration + 1 < self.iterations {
            let end = begin + at.pulse_left + timing.erase_verify;
            if now <= end {
                break;
            }
            (at, begin) = (self.start_of(at.iteration + 1, timing), end);
        }
        (at, begin)
    }

    /// Moves to the rest after a stop; `None` if the erase ends first.
    pub(super) fn stop_erase(
        &mut self,
        now: Time,
        timing: &Timing,
        suspension: &Suspension,
    ) -> Option<Time> {
        let (at, begin) = self.loop_at(now, timing);
        let pulse_end = begin + at.pulse_left;
        let loop_end = pulse_end + timing.erase_verify;
        let in_pulse = at.stage == Stage::Pulse && now <= pulse_end;
        let segment = timing.erase_segment_of(self.pulse_of(at.iteration, timing));
        // The rest of the pulse: the segments after the current one.
        let left_after = if in_pulse {
            Dur::from_ns((pulse_end - now).ns() / segment.ns() * segment.ns())
        } else {
            Dur::ZERO
        };
        let is_deferred = self.is_deferred(now, suspension);
        // An erase in one loop can be stopped between its pulse and its verify, others cannot.
        let ends_loop = !in_pulse || is_deferred && timing.erase_loops.is_some();
        let phase_end =
            if ends_loop { loop_end } else { Time::from_ns(pulse_end.ns() - left_after.ns()) };
        let breaks_off = !is_deferred && now + reset_inside(timing, suspension) < phase_end;
        if !breaks_off && phase_end == self.end(timing) {
            return None;
        }
        let is_exact = suspension.erase_resume == EraseResume::Exact;
        let pulse_left = match suspension.erase_resume {
            _ if !(breaks_off && in_pulse) => left_after,
            EraseResume::RedoPhase => left_after + segment,
            EraseResume::Restart | EraseResume::Exact => pulse_end - now,
        };
        self.position = match suspension.erase_resume {
            EraseResume::Restart => self.start_of(0, timing),
            _ if ends_loop && !breaks_off => self.start_of(at.iteration + 1, timing),
            _ => Position {
                stage: if pulse_left > Dur::ZERO { Stage::Pulse } else { Stage::Verify },
                pulse_left,
                needs_set_up: is_exact && breaks_off && in_pulse,
                ..at
            },
        };
        Some(if breaks_off { now + timing.voltage_reset } else { phase_end })
    }

    /// Whether a request at `now` waits for the next safe point of the erase.
    pub(super) fn is_deferred(&self, now: Time, suspension: &Suspension) -> bool {
        match suspension.erase_mode {
            EraseMode::Immediate => false,
            EraseMode::Deferred => true,
            EraseMode::Timeout(limit) => now >= self.begun + limit,
        }
    }

    /// Splits the time of an erase since its prelude into pulses and verifies.
    pub(super) fn split_erase(&self, mut left: Dur, timing: &Timing) -> [Dur; 2] {
        let (mut at, mut times) = (self.position, [Dur::ZERO; 2]);
        loop {
            let pulse = left.min(if at.stage == Stage::Pulse { at.pulse_left } else { Dur::ZERO });
            let rest = left - pulse;
            let is_last = at.iteration + 1 == self.iterations;
            let verify = if is_last { rest } else { rest.min(timing.erase_verify) };
            times = [times[0] + pulse, times[1] + verify];
            left = rest - verify;
            if is_last || left == Dur::ZERO {
                return times;
            }
            at = self.start_of(at.iteration + 1, timing);
        }
    }
}

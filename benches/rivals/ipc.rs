//! A program or erase that is cancelled within a phase for a read, and repeats the cancelled part.

use crate::rivals::blocks::Step;

pub const BLOCK_PAGES: u32 = 128;

// Nanoseconds.
pub const TRANSFER: u64 = 40_000;
const PULSE: u64 = 20_000;
const VERIFY: u64 = 24_000;
const ITERATIONS: u64 = 15;
const ERASE: u64 = 3_300_000;
const RESET: u64 = 4_000;
const RESTORE: u64 = 3_000;

/// The write or step of collection that an operation carries out.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// A write, by its number.
    Write(u32),
    Step(Step, u32),
}

/// The first phase of a program or erase after a resume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    Pulse,
    Verify,
    /// A verify that decides whether the cancelled pulse before it is repeated.
    Check,
}

/// A program or erase, up to its last stop.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub work: Work,
    pub block: u32,
    is_erase: bool,
    stage: Stage,
    /// Iterations of a program that are done.
    iterations: u64,
    /// Rest of the pulse of an erase, and whether its voltages must be set again.
    pulse_left: u64,
    needs_set_up: bool,
    /// When its first phase begins, and when it will have ended.
    from: u64,
    pub end: u64,
    pub stopped_at: u64,
}

impl Operation {
    pub fn new(work: Work, page: u32, now: u64) -> Operation {
        let is_erase = matches!(work, Work::Step(Step::Erase, _));
        let mut operation = Operation {
            work,
            block: page / BLOCK_PAGES,
            is_erase,
            stage: Stage::Pulse,
            iterations: 0,
            pulse_left: ERASE,
            needs_set_up: true,
            from: if is_erase { now } else { now + TRANSFER },
            end: 0,
            stopped_at: 0,
        };
        operation.end = operation.from + operation.left();
        operation
    }

    #[inline(always)]
    fn left(&self) -> u64 {
        if self.is_erase {
            let pulse = if self.stage == Stage::Pulse { self.pulse_left } else { 0 };
            return pulse + VERIFY;
        }
        let whole = (ITERATIONS - self.iterations) * (PULSE + VERIFY);
        match self.stage {
            Stage::Pulse => whole,
            Stage::Verify => whole - PULSE,
            Stage::Check => whole + VERIFY,
        }
    }

    pub fn resume(&mut self, now: u64) {
        self.from = now
            + match (self.is_erase, self.needs_set_up) {
                (false, _) => RESTORE,
                (true, true) => RESET,
                (true, false) => 0,
            };
        self.end = self.from + self.left();
    }

    /// Stops it; returns when the array is free, or `None` if it runs to its end.
    pub fn stop(&mut self, now: u64) -> Option<u64> {
        if now <= self.from {
            Some(self.from)
        } else if self.is_erase {
            self.stop_erase(now)
        } else {
            self.stop_program(now)
        }
    }

    fn stop_erase(&mut self, now: u64) -> Option<u64> {
        let pulse_end = self.from + self.pulse_left;
        let in_pulse = self.stage == Stage::Pulse && now <= pulse_end;
        let phase_end = if in_pulse { pulse_end } else { self.end };
        let breaks_off = now + RESET < phase_end;
        if !breaks_off && phase_end == self.end {
            return None;
        }
        self.needs_set_up = breaks_off && in_pulse;
        self.pulse_left = if self.needs_set_up { pulse_end - now } else { 0 };
        self.stage = if self.pulse_left > 0 { Stage::Pulse } else { Stage::Verify };
        Some(if breaks_off { now + RESET } else { phase_end })
    }

    fn stop_program(&mut self, now: u64) -> Option<u64> {
        let (stage, phase_end) = self.phase(now);
        if now + RESET < phase_end {
            self.stage = if stage == Stage::Pulse { Stage::Check } else { stage };
            return Some(now + RESET);
        }
        if phase_end == self.end {
            return None;
        }
        self.iterations += u64::from(stage == Stage::Verify);
        self.stage = if stage == Stage::Pulse { Stage::Verify } else { Stage::Pulse };
        Some(phase_end)
    }

    /// Counts the iterations that are done; returns the phase of the program and its end.
    fn phase(&mut self, now: u64) -> (Stage, u64) {
        let mut begin = self.from;
        if self.stage != Stage::Pulse {
            let end = begin + VERIFY;
            if now <= end {
                return (self.stage, end);
            }
            begin = end;
            self.iterations += u64::from(self.stage == Stage::Verify);
        }
        let whole = (now - begin - 1) / (PULSE + VERIFY);
        self.iterations += whole;
        let pulse_end = begin + whole * (PULSE + VERIFY) + PULSE;
        match now <= pulse_end {
            true => (Stage::Pulse, pulse_end),
            false => (Stage::Verify, pulse_end + VERIFY),
        }
    }
}

//! A program or erase on several planes; a program stops for a read after each iteration.

use crate::rivals::NONE;
use crate::rivals::blocks::{PLANES, Step};

pub const BLOCK_PAGES: u32 = 256;

// Nanoseconds.
pub const COMMAND: u64 = 100;
pub const TRANSFER: u64 = 40_960;
const ITERATION: u64 = 80_000;
const ITERATIONS: u64 = 25;
const STOP: u64 = 30_000;
const ERASE: u64 = 4_944_000;
const VERIFY: u64 = 56_000;
const RESET: u64 = 20_000;
const RESTORE: u64 = 3_000;
/// Suspensions of an operation at most.
const STOPS: u32 = 10;

/// A program or erase on some planes, up to its last stop.
#[derive(Default)]
pub struct Operation {
    /// Writes, or pages of steps of collection, in the order of their planes' turn.
    pub members: [u32; PLANES],
    pub count: usize,
    pub step: Option<Step>,
    /// The block of each plane.
    pub blocks: [u32; PLANES],
    iterations: u64,
    /// Rest of the pulse of an erase, and whether its voltages must be set again.
    pulse_left: u64,
    needs_set_up: bool,
    stops: u32,
    /// When its first phase begins, and when it will have ended.
    from: u64,
    pub end: u64,
}

impl Operation {
    pub fn new(step: Option<Step>) -> Operation {
        let blocks = [NONE; PLANES];
        Operation { step, blocks, pulse_left: ERASE, needs_set_up: true, ..Operation::default() }
    }

    pub fn add(&mut self, member: u32, plane: usize, page: u32) {
        self.members[self.count] = member;
        self.count += 1;
        self.blocks[plane] = page / BLOCK_PAGES;
    }

    fn is_erase(&self) -> bool {
        self.step == Some(Step::Erase)
    }

    pub fn start(&mut self, now: u64) {
        let each = if self.is_erase() { COMMAND } else { COMMAND + TRANSFER };
        self.from = now + each * self.count as u64;
        self.end = self.from + self.left();
    }

    fn left(&self) -> u64 {
        match self.is_erase() {
            true => self.pulse_left + VERIFY,
            false => (ITERATIONS - self.iterations) * ITERATION,
        }
    }

    pub fn resume(&mut self, now: u64) {
        self.from = now
            + match (self.is_erase(), self.needs_set_up) {
                (false, _) => RESTORE,
                (true, true) => RESET,
                (true, false) => 0,
            };
        self.end = self.from + self.left();
    }

    /// Stops it; returns when the array is free, or `None` if it runs to its end.
    pub fn stop(&mut self, now: u64) -> Option<u64> {
        if self.stops == STOPS {
            return None;
        }
        let free_at = if now <= self.from {
            self.from
        } else if self.is_erase() {
            self.stop_erase(now)?
        } else {
            let done = (now - self.from).div_ceil(ITERATION);
            if self.iterations + done == ITERATIONS {
                return None;
            }
            self.iterations += done;
            self.from + done * ITERATION + STOP
        };
        self.stops += 1;
        Some(free_at)
    }

    fn stop_erase(&mut self, now: u64) -> Option<u64> {
        let pulse_end = self.from + self.pulse_left;
        let in_pulse = self.pulse_left > 0 && now <= pulse_end;
        let phase_end = if in_pulse { pulse_end } else { self.end };
        let breaks_off = now + RESET < phase_end;
        if !breaks_off && phase_end == self.end {
            return None;
        }
        self.needs_set_up = breaks_off && in_pulse;
        self.pulse_left = if self.needs_set_up { pulse_end - now } else { 0 };
        Some(if breaks_off { now + RESET } else { phase_end })
    }
}

//! Estimate of the rest of a program for a controller, where wordlines differ.

use reprieve_base::{Dur, Time};

use super::Operation;
use crate::timing::Timing;
use crate::wordlines::IterationSpread;

/// Time until a program ends without suspension, given its iterations and the distribution over
/// wordlines, but not the iterations of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The mean over the counts that are still possible, to the nearest nanosecond.
    pub expected: Dur,
    /// The time with the highest count.
    pub longest: Dur,
}

impl Operation {
    /// Estimates the rest at `now` of a program whose iterations are drawn from `spread`.
    pub(crate) fn estimate(
        &self,
        now: Time,
        timing: &Timing,
        spread: &IterationSpread,
    ) -> Estimate {
        // The current iteration belongs to it: a lower count is ruled out.
        let mut from = (self.iteration_at(now, timing) + 1).saturating_sub(self.added + self.owed);
        let (mut sum_ns, mut shares, mut longest) = (0.0, 0.0, Dur::ZERO);
        while let Some(count) = spread.next_from(from) {
            let share = self.share_to(count, spread) - self.share_to(count - 1, spread);
            longest = self.of_count(count).end(timing) - now;
            sum_ns += share * longest.ns() as f64;
            shares += share;
            from = count + 1;
        }
        assert!(shares > 0.0, "a program has more iterations than its wordlines can");
        Estimate { expected: Dur::from_ns((sum_ns / shares).round() as u64), longest }
    }

    /// Returns the program on wordlines of which the longest takes `count` iterations.
    pub(crate) fn of_count(&self, count: u32) -> Operation {
        Operation { iterations: count + self.added, ..*self }
    }

    /// Returns the probability that none of its wordlines takes more than `count`.
    fn share_to(&self, count: u32, spread: &IterationSpread) -> f64 {
        (0..self.wordlines).fold(1.0, |share, _| share * spread.share_to(count))
    }

    /// Returns the current iteration, from 0; an instant between two belongs to the first.
    fn iteration_at(&self, now: Time, timing: &Timing) -> u32 {
        if now <= self.prelude_end {
            return self.position.iteration;
        }
        let Some(slices) = timing.slices else {
            return self.program_phase(now, timing).at.iteration;
        };
        let iteration = timing.program_pulse + timing.verify;
        let slice = slices.overhead + iteration * u64::from(slices.iterations);
        let since_ns = (now - self.prelude_end).ns() - 1;
        let (whole, in_slice_ns) = (since_ns / slice.ns(), since_ns % slice.ns());
        let of_slice = in_slice_ns.saturating_sub(slices.overhead.ns()) / iteration.ns();
        let done = whole * u64::from(slices.iterations) + of_slice;
        self.position.iteration
            + u32::try_from(done).expect("a program has fewer than 2^32 iterations")
    }
}

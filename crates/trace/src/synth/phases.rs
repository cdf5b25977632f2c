//! Bursty arrivals: gaps of two exponential phases, drawn anew each time or in trains.

use reprieve_base::Stream;

use super::clock::{Clock, exponential};
use crate::arrivals::Hyperexponential;

/// A Markov renewal process of two phases; a renewal process where phases do not depend on the
/// one before.
#[derive(Debug)]
pub(super) struct Phases {
    gaps: Stream,
    choices: Stream,
    simultaneous_fraction: f64,
    /// Chance that the next gap is short, after a short and after a long one.
    short_after_short: f64,
    short_after_long: f64,
    short_ns_mean: f64,
    long_ns_mean: f64,
    is_short: bool,
    clock: Clock,
}

impl Phases {
    /// The configuration has been checked.
    pub(super) fn new(config: &Hyperexponential, seed: u64) -> Phases {
        let share = config.burst_fraction;
        // Of a long gap's successors as many are short as of a short one's are long, or the share
        // of short gaps would drift.
        let leaves = config.burst_length.map_or(1.0 - share, |length| 1.0 / length);
        let enters = leaves * share / (1.0 - share);
        let short_ns_mean = config.burst_gap.ns() as f64;
        let long_ns_mean = (config.gap_ns_mean() - share * short_ns_mean) / (1.0 - share);
        let mut choices = Stream::new(seed, "workload.phase", 0);
        let is_short = choices.unit() < share;
        Phases {
            gaps: Stream::new(seed, "workload.arrival", 0),
            choices,
            simultaneous_fraction: config.simultaneous_fraction,
            short_after_short: 1.0 - leaves,
            short_after_long: enters,
            short_ns_mean,
            long_ns_mean,
            is_short,
            clock: Clock::default(),
        }
    }

    #[inline]
    pub(super) fn next_ns(&mut self) -> u64 {
        if self.simultaneous_fraction > 0.0 && self.choices.unit() < self.simultaneous_fraction {
            return self.clock.now_ns();
        }
        let chance = if self.is_short { self.short_after_short } else { self.short_after_long };
        self.is_short = self.choices.unit() < chance;
        let mean_ns = if self.is_short { self.short_ns_mean } else { self.long_ns_mean };
        self.clock.advance(exponential(&mut self.gaps) * mean_ns)
    }
}

//! Exact times as sums of gaps, and draws of gaps.

use reprieve_base::Stream;

/// An exact time as a sum of gaps.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    time_ns: u64,
    /// Part of the exact time that is not in `time_ns`, in [0, 1): kept, so that rounding each
    /// arrival down does not shorten the run.
    fraction_ns: f64,
}

impl Clock {
    /// The time after a further gap, rounded down.
    #[inline]
    pub(crate) fn advance(&mut self, gap_ns: f64) -> u64 {
        let exact_ns = self.fraction_ns + gap_ns;
        let whole_ns = exact_ns.floor();
        self.fraction_ns = exact_ns - whole_ns;
        self.time_ns += whole_ns as u64;
        self.time_ns
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.time_ns
    }
}

/// A draw from the exponential distribution of mean 1.
#[inline]
pub(crate) fn exponential(stream: &mut Stream) -> f64 {
    // `unit` is in [0, 1), so the logarithm's argument is in (0, 1].
    // `libm` and not the platform's logarithm: the same bits on every machine.
    -libm::log(1.0 - stream.unit())
}

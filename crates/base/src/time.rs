//! Simulated time: integer nanoseconds, with arithmetic that panics instead of wrapping.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Serialize};

/// An instant: nanoseconds since the start of the run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(u64);

/// A length of time in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Dur(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every instant of a run.
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns)
    }

    /// Nanoseconds since the start.
    pub const fn ns(self) -> u64 {
        self.0
    }
}

impl Dur {
    /// No time.
    pub const ZERO: Dur = Dur(0);

    /// A duration of `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Dur {
        Dur(ns)
    }

    /// A duration of `us` whole microseconds.
    pub const fn from_us(us: u64) -> Dur {
        Dur(us * 1_000)
    }

    /// Nanoseconds.
    pub const fn ns(self) -> u64 {
        self.0
    }

    /// The time to transfer `bytes` at `bytes_per_s`, rounded up to the nanosecond.
    ///
    /// Panics if the rate is zero.
    #[inline]
    pub fn of_transfer(bytes: u64, bytes_per_s: u64) -> Dur {
        match bytes.checked_mul(1_000_000_000) {
            Some(scaled) => Dur(scaled.div_ceil(bytes_per_s)),
            None => Dur::of_long_transfer(bytes, bytes_per_s),
        }
    }

    #[cold]
    fn of_long_transfer(bytes: u64, bytes_per_s: u64) -> Dur {
        let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bytes_per_s));
        Dur(u64::try_from(ns).expect("a transfer longer than 584 years"))
    }

    /// The difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Dur) -> Dur {
        Dur(self.0.saturating_sub(other.0))
    }
}

impl Add<Dur> for Time {
    type Output = Time;
    #[track_caller]
    fn add(self, dur: Dur) -> Time {
        Time(self.0.checked_add(dur.0).expect("simulated time overflows 584 years"))
    }
}

impl Sub<Time> for Time {
    type Output = Dur;
    #[track_caller]
    fn sub(self, earlier: Time) -> Dur {
        Dur(self.0.checked_sub(earlier.0).expect("time elapsed since a later instant"))
    }
}

impl Add for Dur {
    type Output = Dur;
    #[track_caller]
    fn add(self, other: Dur) -> Dur {
        Dur(self.0.checked_add(other.0).expect("a duration overflows 584 years"))
    }
}

impl Sub for Dur {
    type Output = Dur;
    #[track_caller]
    fn sub(self, other: Dur) -> Dur {
        Dur(self.0.checked_sub(other.0).expect("a negative duration"))
    }
}

impl AddAssign for Dur {
    #[track_caller]
    fn add_assign(&mut self, other: Dur) {
        *self = *self + other;
    }
}

impl Mul<u64> for Dur {
    type Output = Dur;
    #[track_caller]
    fn mul(self, count: u64) -> Dur {
        Dur(self.0.checked_mul(count).expect("a duration overflows 584 years"))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

impl fmt::Display for Dur {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_rounds_up_to_the_nanosecond() {
        // 4096 B at 2.0 GB/s is 2048 ns exactly; one byte more takes half a nanosecond more.
        assert_eq!(Dur::of_transfer(4096, 2_000_000_000), Dur::from_ns(2048));
        assert_eq!(Dur::of_transfer(4097, 2_000_000_000), Dur::from_ns(2049));
        assert_eq!(Dur::of_transfer(0, 1), Dur::ZERO);
    }

    #[test]
    #[should_panic(expected = "later instant")]
    fn time_never_runs_back() {
        let _ = Time::from_ns(3) - Time::from_ns(4);
    }
}

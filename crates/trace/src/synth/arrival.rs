//! When generated requests arrive: on demand, at random, or at a fixed rate.

use reprieve_base::{Stream, Time, UserError};

use crate::config::{Arrivals, wrong};

/// Longest mean span of a run, in ns: 3.2 years, so far below the 584 years of `Time` that no
/// draw of a Poisson process gets there.
const SPAN_NS_MAX: f64 = 1e17;

/// A source of arrival times that never run back.
#[derive(Debug)]
pub(super) enum ArrivalTimes {
    Closed { queue_depth: u32 },
    Poisson(Poisson),
    Fixed { rate_iops: f64, index: u64 },
}

/// A Poisson process from time 0.
#[derive(Debug)]
pub(super) struct Poisson {
    stream: Stream,
    gap_ns_mean: f64,
    time_ns: u64,
    /// Part of the exact time that is not in `time_ns`, in [0, 1): kept, so that rounding each
    /// arrival down does not shorten the run.
    fraction_ns: f64,
}

impl ArrivalTimes {
    pub(super) fn new(
        arrivals: Arrivals,
        requests: u64,
        seed: u64,
    ) -> Result<ArrivalTimes, UserError> {
        if let Arrivals::Poisson { rate_iops } | Arrivals::Fixed { rate_iops } = arrivals {
            let span_ns = requests as f64 / rate_iops * 1e9;
            if span_ns > SPAN_NS_MAX {
                let what = format!(
                    "{requests} requests would take {:.0} years; a run may last 3 years",
                    span_ns / (365.25 * 86_400e9)
                );
                return Err(wrong("rate_iops", rate_iops, &what));
            }
        }
        Ok(match arrivals {
            Arrivals::Closed { queue_depth } => ArrivalTimes::Closed { queue_depth },
            Arrivals::Fixed { rate_iops } => ArrivalTimes::Fixed { rate_iops, index: 0 },
            Arrivals::Poisson { rate_iops } => ArrivalTimes::Poisson(Poisson {
                stream: Stream::new(seed, "workload.arrival", 0),
                gap_ns_mean: 1e9 / rate_iops,
                time_ns: 0,
                fraction_ns: 0.0,
            }),
        })
    }

    #[inline]
    pub(super) fn next_arrival(&mut self) -> Time {
        match self {
            ArrivalTimes::Closed { .. } => Time::ZERO,
            ArrivalTimes::Poisson(poisson) => poisson.next_arrival(),
            ArrivalTimes::Fixed { rate_iops, index } => {
                // From the index and not by adding gaps: no rounding accumulates.
                let time_ns = *index as f64 * 1e9 / *rate_iops + 0.5;
                *index += 1;
                Time::from_ns(time_ns as u64)
            }
        }
    }
}

impl Poisson {
    #[inline]
    fn next_arrival(&mut self) -> Time {
        // `unit` is in [0, 1), so the logarithm's argument is in (0, 1].
        // `libm` and not the platform's logarithm: the same bits on every machine.
        let gap_ns = -libm::log(1.0 - self.stream.unit()) * self.gap_ns_mean;
        let exact_ns = self.fraction_ns + gap_ns;
        let whole_ns = exact_ns.floor();
        self.fraction_ns = exact_ns - whole_ns;
        self.time_ns += whole_ns as u64;
        Time::from_ns(self.time_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals, count: u64) -> Vec<u64> {
        let mut source = ArrivalTimes::new(arrivals, count, 5).expect("a valid rate");
        (0..count).map(|_| source.next_arrival().ns()).collect()
    }

    #[test]
    fn a_fixed_rate_does_not_drift() {
        // A third of a second: 333,333,333.33..., 666,666,666.66..., exactly one second.
        let third = Arrivals::Fixed { rate_iops: 3.0 };
        assert_eq!(times(third, 4), [0, 333_333_333, 666_666_667, 1_000_000_000]);
        // 3 million requests later exactly one million seconds have passed.
        let mut source = ArrivalTimes::Fixed { rate_iops: 3.0, index: 3_000_000 };
        assert_eq!(source.next_arrival().ns(), 1_000_000_000_000_000);
    }

    #[test]
    fn poisson_gaps_are_exponential_even_below_a_nanosecond() {
        // Mean gap 0.5 ns: were each gap rounded down, it would be 1 / (e^2 - 1) = 0.157 ns;
        // the mean of n gaps has a standard error of 0.5 / sqrt(n) = 0.0005 for n = 10^6.
        let fast = times(Arrivals::Poisson { rate_iops: 2e9 }, 1_000_000);
        let mean_ns = *fast.last().expect("a million arrivals") as f64 / 1e6;
        assert!((mean_ns - 0.5).abs() < 5.0 * 0.0005, "mean gap {mean_ns} ns");
        // Slow: of 100,000 gaps a share exp(-1) = 0.36788 exceeds the mean of 10^6 ns, with a
        // standard error of sqrt(0.36788 * 0.63212 / 100,000) = 0.0015.
        let slow = times(Arrivals::Poisson { rate_iops: 1e3 }, 100_000);
        let long = slow.windows(2).filter(|pair| pair[1] - pair[0] > 1_000_000).count();
        let share = long as f64 / 99_999.0;
        assert!((share - 0.36788).abs() < 5.0 * 0.0015, "share of long gaps {share}");
    }

    #[test]
    fn a_run_of_centuries_is_a_mistake() {
        let slow = Arrivals::Poisson { rate_iops: 1e-9 };
        let error = ArrivalTimes::new(slow, 10, 1).expect_err("317 years").to_string();
        assert!(error.contains("rate_iops") && error.contains("317 years"), "{error}");
    }
}

//! Arrivals of generated requests: on demand, at random, at a fixed rate, or in bursts.

use reprieve_base::{Stream, Time, UserError};

use super::clock::{Clock, exponential};
use super::phases::Phases;
use super::trains::TrainTimes;
use crate::arrivals::Arrivals;
use crate::transform::scaled;
use crate::wrong;

/// Longest mean span of a run, in ns: 3.2 years, well below the 584 years of `Time`, which no sum
/// of random gaps reaches.
const SPAN_NS_MAX: f64 = 1e17;

/// Arrival times in order.
#[derive(Debug)]
pub(super) struct ArrivalTimes {
    process: Process,
    time_scale: f64,
}

/// The process of unscaled arrivals.
#[derive(Debug)]
enum Process {
    Closed,
    Poisson(Poisson),
    Fixed { rate_iops: f64, index: u64 },
    Phases(Phases),
    Trains(TrainTimes),
}

/// A Poisson process from time 0.
#[derive(Debug)]
struct Poisson {
    stream: Stream,
    gap_ns_mean: f64,
    clock: Clock,
}

impl ArrivalTimes {
    pub(super) fn new(
        arrivals: &Arrivals,
        requests: u64,
        time_scale: f64,
        seed: u64,
    ) -> Result<ArrivalTimes, UserError> {
        check_span(arrivals, requests, time_scale)?;
        let process = match arrivals {
            Arrivals::Closed { .. } => Process::Closed,
            Arrivals::Fixed { rate_iops } => Process::Fixed { rate_iops: *rate_iops, index: 0 },
            Arrivals::Poisson { rate_iops } => Process::Poisson(Poisson {
                stream: Stream::new(seed, "workload.arrival", 0),
                gap_ns_mean: 1e9 / rate_iops,
                clock: Clock::default(),
            }),
            Arrivals::Hyperexponential(phases) => Process::Phases(Phases::new(phases, seed)),
            Arrivals::Trains(trains) => Process::Trains(TrainTimes::new(trains, seed)),
        };
        Ok(ArrivalTimes { process, time_scale })
    }

    #[inline]
    pub(super) fn next_arrival(&mut self) -> Time {
        let time_ns = match &mut self.process {
            Process::Closed => return Time::ZERO,
            Process::Poisson(poisson) => poisson.next_ns(),
            Process::Fixed { rate_iops, index } => {
                // From the index and not by adding gaps: no rounding accumulates.
                let time_ns = *index as f64 * 1e9 / *rate_iops + 0.5;
                *index += 1;
                time_ns as u64
            }
            Process::Phases(phases) => phases.next_ns(),
            Process::Trains(trains) => trains.next_ns(),
        };
        scaled(time_ns, self.time_scale).expect("the span of a run is far below that of a `Time`")
    }
}

/// Refuses a run that might not fit into a `Time`.
pub(super) fn check_span(
    arrivals: &Arrivals,
    requests: u64,
    time_scale: f64,
) -> Result<(), UserError> {
    let Some(rate_iops) = arrivals.rate_iops() else { return Ok(()) };
    let span_ns = requests as f64 / rate_iops * 1e9;
    let years = |span_ns: f64| {
        let years = span_ns / (365.25 * 86_400e9);
        format!("{requests} requests would take {years:.0} years; a run may last 3 years")
    };
    if span_ns > SPAN_NS_MAX {
        return Err(wrong("rate_iops", rate_iops, &years(span_ns)));
    }
    let scaled_ns = span_ns * time_scale;
    if scaled_ns > SPAN_NS_MAX {
        return Err(wrong("time_scale", time_scale, &years(scaled_ns)));
    }
    Ok(())
}

impl Poisson {
    #[inline]
    fn next_ns(&mut self) -> u64 {
        self.clock.advance(exponential(&mut self.stream) * self.gap_ns_mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals, count: u64) -> Vec<u64> {
        let mut source = ArrivalTimes::new(&arrivals, count, 1.0, 5).expect("a valid rate");
        (0..count).map(|_| source.next_arrival().ns()).collect()
    }

    #[test]
    fn a_fixed_rate_does_not_drift() {
        // A third of a second: 333,333,333.33..., 666,666,666.66..., exactly one second.
        let third = Arrivals::Fixed { rate_iops: 3.0 };
        assert_eq!(times(third, 4), [0, 333_333_333, 666_666_667, 1_000_000_000]);
        // 3 million requests later exactly one million seconds have passed.
        let process = Process::Fixed { rate_iops: 3.0, index: 3_000_000 };
        let mut source = ArrivalTimes { process, time_scale: 1.0 };
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
        let error = ArrivalTimes::new(&slow, 10, 1.0, 1).expect_err("317 years").to_string();
        assert!(error.contains("rate_iops") && error.contains("317 years"), "{error}");
    }
    #[test]
    fn each_scaled_arrival_is_rounded_by_itself() {
        // Arrivals at 0, 333,333,333, 666,666,667 and 10^9 ns, each times 0.25: 83,333,333.25,
        // 166,666,666.75 and 250,000,000.
        let third = Arrivals::Fixed { rate_iops: 3.0 };
        let mut source = ArrivalTimes::new(&third, 4, 0.25, 5).expect("a valid rate");
        let times: Vec<u64> = (0..4).map(|_| source.next_arrival().ns()).collect();
        assert_eq!(times, [0, 83_333_333, 166_666_667, 250_000_000]);
    }

    #[test]
    fn a_scale_that_makes_centuries_is_a_mistake() {
        let steady = Arrivals::Fixed { rate_iops: 1.0 };
        let error = ArrivalTimes::new(&steady, 1_000_000, 1e5, 1).expect_err("3,169 years");
        assert!(error.to_string().contains("time_scale = 100000: 1000000 requests"), "{error}");
    }
}

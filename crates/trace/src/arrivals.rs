//! Arrivals of a generator; scenarios are checked for the ranges of their values when read.

use reprieve_base::{Dur, UserError};

use crate::wrong;

/// The arrival process of generated requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// Closed loop: the drive pulls the next request when one completes.
    Closed {
        /// Requests outstanding; at least 1.
        queue_depth: u32,
    },
    /// Independent exponential inter-arrival times.
    Poisson {
        /// Mean rate in requests a second; above 0.
        rate_iops: f64,
    },
    /// Request k arrives at `k / rate_iops`, from k = 0.
    Fixed {
        /// Rate in requests a second; above 0.
        rate_iops: f64,
    },
    /// Inter-arrival times of two exponential phases, a short and a long one.
    Hyperexponential(Hyperexponential),
    /// Trains of requests whose starts have long-range dependence.
    Trains(Trains),
}

/// Trains of requests whose starts cluster on all scales of time, with one share or one for each.
///
/// The starts are those of a b-model (Wang, Madhyastha, Chan, Papadimitriou, Faloutsos, ICDE 2002):
/// one half of each `span`, at random, has the first share of `bias` of them, one half of each half
/// the second, and so on, down to `independent`. Within that they start at random. Trains may
/// overlap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trains {
    /// Mean rate in requests a second; above 0.
    pub rate_iops: f64,
    /// Mean number of requests of a train, which is geometric; at least 1.
    pub requests: f64,
    /// Mean of the gaps of a train that take time, which are exponential.
    pub gap: Dur,
    /// Share of the gaps of a train that take none; in [0, 1].
    pub simultaneous_fraction: f64,
    /// Shares of the starts that the busier half of an interval has, one for each halving from
    /// `span` on; each in [0.5, 1). The last holds for all further halvings; at least one.
    pub bias: Vec<f64>,
    /// Longest time over which starts cluster; at least `tick`.
    pub span: Dur,
    /// Shortest time over which starts cluster; at most `span`.
    pub independent: Dur,
    /// Starts within one tick coincide; above 0.
    pub tick: Dur,
}

/// Inter-arrival times of two exponential phases, and some of no length at all.
///
/// The long phase's mean is what the rate leaves; it is at least the short one's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hyperexponential {
    /// Mean rate in requests a second, over everything; above 0.
    pub rate_iops: f64,
    /// Share of the requests that arrive with the one before; in [0, 1).
    pub simultaneous_fraction: f64,
    /// Share of the other gaps that are of the short phase; in (0, 1).
    pub burst_fraction: f64,
    /// Mean of the short phase; at most the mean of both.
    pub burst_gap: Dur,
    /// Mean number of gaps of the short phase in a row, simultaneous arrivals not counted; at
    /// least 1 and `burst_fraction / (1 - burst_fraction)`. `None`: every gap is drawn anew, which
    /// makes it `1 / (1 - burst_fraction)`.
    pub burst_length: Option<f64>,
}

impl Hyperexponential {
    /// Returns the mean gap between requests that are not simultaneous.
    pub(crate) fn gap_ns_mean(&self) -> f64 {
        1e9 / self.rate_iops / (1.0 - self.simultaneous_fraction)
    }

    pub(crate) fn contradiction(&self) -> Option<(&'static str, String, String)> {
        let (mean_ns, burst_ns) = (self.gap_ns_mean(), self.burst_gap.ns() as f64);
        if burst_ns > mean_ns {
            let what = format!(
                "the short phase's mean must be at most that of all gaps, which rate_iops = {} and \
                 simultaneous_fraction = {} make {:.3}",
                self.rate_iops,
                self.simultaneous_fraction,
                mean_ns / 1e3
            );
            return Some(("burst_gap_us", (burst_ns / 1e3).to_string(), what));
        }
        let shortest = (self.burst_fraction / (1.0 - self.burst_fraction)).max(1.0);
        match self.burst_length {
            Some(length) if length < shortest => {
                let what = format!(
                    "must be at least {shortest:.3}, so that long gaps are few enough for \
                     burst_fraction = {}",
                    self.burst_fraction
                );
                Some(("burst_length", length.to_string(), what))
            }
            _ => None,
        }
    }
}

impl Trains {
    /// Refuses values that do not fit each other.
    pub(crate) fn check(&self) -> Result<(), UserError> {
        let Trains { span, independent, tick, .. } = *self;
        if tick == Dur::ZERO {
            return Err(wrong("train_tick_us", 0, "must be above 0"));
        }
        if span < tick {
            let what = format!("must be at least train_tick_us = {}", tick.ns() as f64 / 1e3);
            return Err(wrong("train_span_s", span.ns() as f64 / 1e9, &what));
        }
        if independent > span {
            let what = format!("must be at most train_span_s = {}", span.ns() as f64 / 1e9);
            return Err(wrong("train_independent_s", independent.ns() as f64 / 1e9, &what));
        }
        let biased = self.biased_halvings().max(1);
        if !(1..=biased).contains(&self.bias.len()) {
            let what = format!(
                "must have 1 to {biased} values, as train_span_s is halved {biased} times with a \
                 bias"
            );
            return Err(wrong("train_bias", format!("{:?}", self.bias), &what));
        }
        Ok(())
    }

    /// Returns the number of halvings of a span down to independent parts, or ticks.
    fn biased_halvings(&self) -> usize {
        let shortest_ns = self.independent.max(self.tick).ns() as f64;
        let lengths = std::iter::successors(Some(self.span.ns() as f64), |ns| Some(ns / 2.0));
        lengths.take_while(|ns| *ns > shortest_ns).count()
    }
}

impl Arrivals {
    /// Returns the mean rate in requests a second, where requests do not wait for each other.
    pub fn rate_iops(&self) -> Option<f64> {
        match self {
            Arrivals::Closed { .. } => None,
            Arrivals::Poisson { rate_iops } | Arrivals::Fixed { rate_iops } => Some(*rate_iops),
            Arrivals::Hyperexponential(phases) => Some(phases.rate_iops),
            Arrivals::Trains(trains) => Some(trains.rate_iops),
        }
    }

    /// Returns mutable access to this rate.
    pub fn rate_iops_mut(&mut self) -> Option<&mut f64> {
        match self {
            Arrivals::Closed { .. } => None,
            Arrivals::Poisson { rate_iops } | Arrivals::Fixed { rate_iops } => Some(rate_iops),
            Arrivals::Hyperexponential(phases) => Some(&mut phases.rate_iops),
            Arrivals::Trains(trains) => Some(&mut trains.rate_iops),
        }
    }
}

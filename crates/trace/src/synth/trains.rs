//! Trains of requests whose starts cluster on all scales of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use reprieve_base::Stream;

use super::clock::exponential;
use crate::arrivals::Trains;

/// The arrivals of trains, which may overlap, in order of time.
#[derive(Debug)]
pub(super) struct TrainTimes {
    gaps: Stream,
    /// Chance that a train continues after each of its requests.
    goes_on: f64,
    gap_ns_mean: f64,
    simultaneous_fraction: f64,
    starts: Starts,
    next_start_ns: u64,
    /// The next request of each train in progress: its time, and the train's number to break ties.
    under_way: BinaryHeap<Reverse<(u64, u64)>>,
    trains: u64,
}

impl TrainTimes {
    /// The configuration has been checked.
    pub(super) fn new(config: &Trains, seed: u64) -> TrainTimes {
        let mut starts = Starts::new(config, seed);
        TrainTimes {
            gaps: Stream::new(seed, "workload.arrival", 0),
            goes_on: 1.0 - 1.0 / config.requests,
            gap_ns_mean: config.gap.ns() as f64,
            simultaneous_fraction: config.simultaneous_fraction,
            next_start_ns: starts.next_ns(),
            starts,
            under_way: BinaryHeap::new(),
            trains: 0,
        }
    }

    pub(super) fn next_ns(&mut self) -> u64 {
        let (now_ns, train) = match self.under_way.peek() {
            Some(Reverse(next)) if next.0 <= self.next_start_ns => {
                let next = *next;
                self.under_way.pop();
                next
            }
            _ => {
                let start_ns = std::mem::replace(&mut self.next_start_ns, self.starts.next_ns());
                self.trains += 1;
                (start_ns, self.trains)
            }
        };
        if self.gaps.unit() < self.goes_on {
            let gap_ns = match self.gaps.unit() < self.simultaneous_fraction {
                true => 0.0,
                false => exponential(&mut self.gaps) * self.gap_ns_mean,
            };
            self.under_way.push(Reverse((now_ns + gap_ns as u64, train)));
        }
        now_ns
    }
}

/// The times at which trains start: a b-model of each span, drawn as it is walked.
#[derive(Debug)]
struct Starts {
    stream: Stream,
    /// Bias of each halving; the last is that of all further ones.
    bias: Vec<f64>,
    tick_ns: f64,
    independent_ns: f64,
    span_ns: f64,
    starts_per_span: f64,
    /// Number of spans.
    spans: u64,
    /// Intervals ahead, the next one last.
    ahead: Vec<Interval>,
    /// Bounds of the starts in the current interval, and how many are left.
    here: (u64, u64),
}

/// An interval of a span, and the number of trains that start in it.
#[derive(Clone, Copy, Debug)]
struct Interval {
    from_ns: f64,
    length_ns: f64,
    /// Number of halvings of the span.
    halvings: usize,
    starts: u64,
}

impl Starts {
    fn new(config: &Trains, seed: u64) -> Starts {
        let span_ns = config.span.ns() as f64;
        Starts {
            stream: Stream::new(seed, "workload.train", 0),
            bias: config.bias.clone(),
            tick_ns: config.tick.ns() as f64,
            independent_ns: config.independent.ns() as f64,
            span_ns,
            starts_per_span: config.rate_iops / config.requests * span_ns / 1e9,
            spans: 0,
            ahead: Vec::new(),
            here: (0, 0),
        }
    }

    fn next_ns(&mut self) -> u64 {
        while self.here.1 == 0 {
            match self.ahead.pop() {
                None => self.begin_span(),
                Some(Interval { starts: 0, .. }) => {}
                Some(interval) if self.is_whole(&interval) => {
                    // A single start has no neighbour: it is anywhere in its interval.
                    let within = match interval.length_ns <= self.tick_ns {
                        true => 0.0,
                        false => self.stream.unit() * interval.length_ns,
                    };
                    self.here = ((interval.from_ns + within) as u64, interval.starts);
                }
                Some(interval) => self.halve(interval),
            }
        }
        self.here.1 -= 1;
        self.here.0
    }

    fn is_whole(&self, interval: &Interval) -> bool {
        interval.starts == 1 || interval.length_ns <= self.tick_ns
    }

    fn begin_span(&mut self) {
        let starts = self.rounded(self.starts_per_span);
        let from_ns = self.spans as f64 * self.span_ns;
        let length_ns = self.span_ns;
        self.ahead.push(Interval { from_ns, length_ns, halvings: 0, starts });
        self.spans += 1;
    }

    fn halve(&mut self, Interval { from_ns, length_ns, halvings, starts }: Interval) {
        let first = match length_ns <= self.independent_ns {
            true => (0..starts).filter(|_| self.stream.unit() < 0.5).count() as u64,
            false => self.part_of(starts, halvings),
        };
        let length_ns = length_ns / 2.0;
        let (middle_ns, halvings) = (from_ns + length_ns, halvings + 1);
        let rest = starts - first;
        self.ahead.push(Interval { from_ns: middle_ns, length_ns, halvings, starts: rest });
        self.ahead.push(Interval { from_ns, length_ns, halvings, starts: first });
    }

    /// Number of these starts in the first half, if one of the halves is the busier one.
    fn part_of(&mut self, starts: u64, halvings: usize) -> u64 {
        let bias = self.bias[halvings.min(self.bias.len() - 1)];
        let first_is_busier = self.stream.unit() < 0.5;
        let share = if first_is_busier { bias } else { 1.0 - bias };
        // Rounding up may not exceed the number of starts.
        self.rounded(starts as f64 * share).min(starts)
    }

    /// A whole number whose mean is `exact`.
    fn rounded(&mut self, exact: f64) -> u64 {
        (exact + self.stream.unit()).floor() as u64
    }
}

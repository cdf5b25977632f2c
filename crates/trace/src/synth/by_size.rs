//! Sizes that come in runs, and places that follow those of earlier requests of the same size.

use reprieve_base::{Op, Stream};

use super::locality::History;
use super::probability::{ONE, fixed_point};
use crate::config::MixedConfig;

/// State of earlier requests by operation and size.
#[derive(Debug)]
pub(super) struct BySize {
    sizes: Stream,
    places: Stream,
    reads: Chain,
    writes: Chain,
    trims: Chain,
}

/// The sizes of an operation, each of which follows itself or is drawn.
///
/// If a size of share `p` stays with chance `r`, and what does not stay is drawn with chances in
/// proportion to `p (1 - r)`, as many requests come to each size as leave it: shares stay `p`.
#[derive(Debug)]
struct Chain {
    /// The size of the last request, as its place in the table of sizes.
    last: Option<usize>,
    of: Vec<OfSize>,
}

/// Draws of one request size.
#[derive(Debug)]
struct OfSize {
    /// A draw of 53 bits below this keeps the size for the next request.
    stays_below: u64,
    /// One below this, and not below that of the previous size, chooses it for the first request.
    first_below: u64,
    /// As above, for a request that does not keep the size.
    anew_below: u64,
    earlier: History<()>,
}

impl BySize {
    /// Returns `None` if sizes are drawn independently.
    pub(super) fn new(config: &MixedConfig, seed: u64) -> Option<BySize> {
        if config.size_run_fraction.is_empty() {
            return None;
        }
        let chain = |own: &Option<Vec<(u32, f64)>>, sequential, repeat| {
            Chain::new(config, own.as_ref().unwrap_or(&config.sizes), sequential, repeat)
        };
        let repeat = config.repeat_fraction;
        Some(BySize {
            sizes: Stream::new(seed, "workload.size", 0),
            places: Stream::new(seed, "workload.run", 0),
            reads: chain(&config.read_sizes, config.read_sequential_fraction, repeat),
            writes: chain(&config.write_sizes, config.write_sequential_fraction, repeat),
            trims: chain(&None, 0.0, 0.0),
        })
    }

    /// Returns the size of the next request of an operation, as its place in the table of sizes.
    #[inline]
    pub(super) fn next_size(&mut self, op: Op) -> usize {
        let draw = self.sizes.next_u64() >> 11;
        let again = self.sizes.next_u64() >> 11;
        let chain = self.of(op);
        let next = match chain.last {
            None => chain.of.iter().position(|size| again < size.first_below),
            Some(last) if draw < chain.of[last].stays_below => Some(last),
            Some(_) => chain.of.iter().position(|size| again < size.anew_below),
        };
        chain.last = next;
        next.expect("the last size takes every draw")
    }

    /// Returns the place of that request, if earlier ones of its size decide it.
    #[inline]
    pub(super) fn next_lba(&mut self, op: Op) -> Option<u64> {
        let draw = self.places.next_u64() >> 11;
        let which = self.places.unit();
        if op == Op::Trim {
            return None;
        }
        self.of(op).now()?.earlier.next(draw, which).map(|(lba, ())| lba)
    }

    /// Records the place of that request, and its end.
    #[inline]
    pub(super) fn record(&mut self, op: Op, lba: u64, next_sector: u64) {
        if let Some(of_size) = self.of(op).now() {
            of_size.earlier.record(lba, next_sector, ());
        }
    }

    fn of(&mut self, op: Op) -> &mut Chain {
        match op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            _ => &mut self.trims,
        }
    }
}

impl Chain {
    fn new(config: &MixedConfig, sizes: &[(u32, f64)], sequential: f64, repeat: f64) -> Chain {
        let of = |list: &[f64], index: usize| *list.get(index).or(list.last()).expect("a value");
        let stays: Vec<f64> =
            (0..sizes.len()).map(|index| of(&config.size_run_fraction, index)).collect();
        let first = bounds(sizes.iter().map(|(_, weight)| *weight));
        let anew =
            bounds(sizes.iter().zip(&stays).map(|((_, weight), stay)| weight * (1.0 - stay)));
        let share = |list: &[f64], index, all| if list.is_empty() { all } else { of(list, index) };
        let of_size = |index| OfSize {
            stays_below: fixed_point(stays[index]),
            first_below: first[index],
            anew_below: anew[index],
            earlier: History::new(
                config,
                share(&config.sequential_by_size, index, sequential),
                share(&config.repeat_by_size, index, repeat),
            ),
        };
        Chain { last: None, of: (0..sizes.len()).map(of_size).collect() }
    }

    fn now(&mut self) -> Option<&mut OfSize> {
        self.last.map(|last| &mut self.of[last])
    }
}

/// Returns the bounds for draws of 53 bits that choose among weights; the last one takes the rest.
fn bounds(weights: impl Iterator<Item = f64> + Clone) -> Vec<u64> {
    let total: f64 = weights.clone().sum();
    let mut sum = 0.0;
    let mut bounds: Vec<u64> = weights
        .map(|weight| {
            sum += weight;
            fixed_point(sum / total)
        })
        .collect();
    *bounds.last_mut().expect("checked: at least one size") = ONE;
    bounds
}

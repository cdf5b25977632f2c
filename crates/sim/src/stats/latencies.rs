//! Latencies of all classes of requests, in batches that end for reads and writes together.

use reprieve_base::Op;

use super::{Histogram, Latency};
use crate::txn::Parts;

/// Places for batches; when all are complete, every two become one. With half of them or more
/// there are from 10 to 30, which is what Schmeiser (1982) found to serve best.
pub(super) const PLACES: usize = 20;
/// Reads and writes of a batch at first.
const SHORTEST: u64 = 64;
/// Writes with forced unit access, after the classes of [`Op`].
const FUA: usize = Op::Flush as usize + 1;

/// Latencies of reads, writes, trims, flushes, and of the writes with forced unit access.
#[derive(Clone, Debug)]
pub struct Latencies {
    classes: [Latency; FUA + 1],
    batching: Option<Batching>,
}

/// How far the batches are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batching {
    /// Reads and writes of a batch.
    pub requests: u64,
    /// Batches that are complete, less than [`PLACES`].
    pub complete: usize,
    /// Requests until the current batch is complete.
    left: u64,
}

impl Latencies {
    /// Nothing counted yet; reads and writes will be told apart by batches.
    pub fn in_batches() -> Latencies {
        let start = Batching { requests: SHORTEST, complete: 0, left: SHORTEST };
        let places = [PLACES, PLACES, 1, 1, 1];
        Latencies { classes: places.map(Latency::new), batching: Some(start) }
    }

    /// Nothing counted yet; the run will be one piece.
    pub fn in_one() -> Latencies {
        Latencies { classes: [1; FUA + 1].map(Latency::new), batching: None }
    }

    /// Counts a request.
    #[inline]
    pub fn record(&mut self, op: Op, fua: bool, bytes: u32, latency_ns: u64, parts: &Parts) {
        self.classes[op as usize].record(latency_ns, bytes, parts);
        if fua {
            self.classes[FUA].record(latency_ns, bytes, parts);
        }
        if let (Some(batching), Op::Read | Op::Write) = (&mut self.batching, op) {
            batching.left -= 1;
            if batching.left == 0 {
                self.end_batch();
            }
        }
    }

    #[cold]
    fn end_batch(&mut self) {
        let batching = self.batching.as_mut().expect("a batch has ended");
        let [read, write, ..] = &mut self.classes;
        batching.complete += 1;
        if batching.complete == PLACES {
            read.pair_up();
            write.pair_up();
            batching.complete /= 2;
            batching.requests *= 2;
        }
        read.go_on_with(batching.complete);
        write.go_on_with(batching.complete);
        batching.left = batching.requests;
    }

    /// Bytes that were read and written.
    pub fn bytes(&self) -> u64 {
        self.read().bytes + self.write().bytes
    }

    pub(super) fn read(&self) -> &Latency {
        &self.classes[Op::Read as usize]
    }

    pub(super) fn write(&self) -> &Latency {
        &self.classes[Op::Write as usize]
    }

    /// Classes that are told only where there are any, by name.
    pub(super) fn rare(&self) -> [(&'static str, &Latency); 3] {
        let [_, _, trim, flush, fua] = &self.classes;
        [("trim", trim), ("flush", flush), ("fua", fua)]
    }

    pub(super) fn batching(&self) -> Option<Batching> {
        self.batching
    }

    /// Distribution of reads, of writes, of both.
    pub fn histograms(&self) -> [Histogram; 3] {
        let (read, write) = (whole(&[self.read()]), whole(&[self.write()]));
        let mut total = read.clone();
        total.add(&write);
        [read, write, total]
    }
}

/// All requests of some classes together.
pub(super) fn whole(classes: &[&Latency]) -> Histogram {
    sum(classes.iter().flat_map(|class| class.batches()))
}

/// The requests that some classes have in a batch.
pub(super) fn batch(classes: &[&Latency], number: usize) -> Histogram {
    sum(classes.iter().map(|class| class.batch(number)))
}

fn sum<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Histogram {
    histograms.fold(Histogram::default(), |mut sum, histogram| {
        sum.add(histogram);
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A latency that no other request has.
    fn latency_ns(request: u64) -> u64 {
        request + 1
    }

    /// Two of three are reads.
    fn op(request: u64) -> Op {
        if request % 3 < 2 { Op::Read } else { Op::Write }
    }

    #[test]
    fn batches_are_pieces_of_the_run_whatever_was_paired_up() {
        for requests in [0, 63, 64, 65, 1279, 1280, 1300, 5000, 100_000] {
            let mut latencies = Latencies::in_batches();
            for request in 0..requests {
                latencies.record(op(request), false, 512, latency_ns(request), &Parts::default());
                // What is neither read nor write moves no end of a batch.
                latencies.record(Op::Trim, false, 0, 7, &Parts::default());
            }
            let Batching { requests: length, complete, .. } =
                latencies.batching().expect("the batches are kept");
            // From 10 to 19 once there were 20.
            let expected = (SHORTEST.ilog2()..)
                .map(|bits| 1 << bits)
                .find(|length| requests / length < PLACES as u64);
            assert_eq!(Some(length), expected, "{requests}");
            assert_eq!(complete as u64, requests / length, "{requests}");
            for number in 0..=complete {
                let ends = |end: usize| (end as u64 * length).min(requests);
                for (class, mine) in [(latencies.read(), Op::Read), (latencies.write(), Op::Write)]
                {
                    let mut expected = Histogram::default();
                    (ends(number)..ends(number + 1))
                        .filter(|&request| op(request) == mine)
                        .for_each(|request| expected.record(latency_ns(request)));
                    let got = batch(&[class], number);
                    assert!(got.buckets().eq(expected.buckets()), "{requests}: {number} {mine:?}");
                    assert_eq!(got.mean_ns(), expected.mean_ns());
                }
            }
            let [_, _, total] = latencies.histograms();
            assert_eq!(total.count(), requests);
        }
    }

    #[test]
    fn room_is_made_for_long_latencies_and_none_before_is_lost() {
        let mut latencies = Latencies::in_batches();
        // 1 us to 10,000 s: beyond what there is room for at first, and beyond an hour.
        let all_ns: Vec<u64> = (0..300).map(|step| 1000 << (step % 34)).collect();
        for latency_ns in &all_ns {
            latencies.record(Op::Read, false, 512, *latency_ns, &Parts::default());
        }
        let [read, _, total] = latencies.histograms();
        let hour_ns = 3_600_000_000_000u64;
        for histogram in [read, total] {
            assert_eq!(histogram.count(), 300);
            assert_eq!(histogram.max_ns(), 1000 << 33);
            // Of 34 latencies, each twice the one before, the first 32 are below an hour.
            for (place, (upper_ns, count)) in histogram.buckets().take(31).enumerate() {
                let exact_ns = 1000u64 << place;
                assert!((exact_ns..=exact_ns + exact_ns / 1000).contains(&upper_ns), "{place}");
                assert_eq!(count as usize, all_ns.iter().filter(|ns| **ns == exact_ns).count());
            }
            let longer: u64 = histogram.buckets().skip(31).map(|(_, count)| count).sum();
            assert_eq!(longer as usize, all_ns.iter().filter(|ns| **ns >= 1000 << 31).count());
            let beyond = all_ns.iter().filter(|ns| **ns > hour_ns).count();
            assert!(beyond > 0, "some are told apart no more");
        }
    }
}

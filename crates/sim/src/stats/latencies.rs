//! Latencies of all classes of requests, in batches that end for reads and writes together.

use reprieve_base::Op;

use super::{Histogram, Latency};
use crate::txn::Parts;

/// Places for batches; when all are complete, every two become one. With half of them or more
/// there are from 10 to 30, which is what Schmeiser (1982) found to serve best.
pub(super) const PLACES: usize = 20;
/// Reads and writes of a batch at first.
const SHORTEST: u64 = 64;
/// Pieces of a batch, at whose ends the counts are noted.
pub(super) const PIECES: u64 = 4;
/// Writes with forced unit access, after the classes of [`Op`].
const FUA: usize = Op::Flush as usize + 1;

/// Latencies of reads, writes, trims, flushes, and of the writes with forced unit access.
#[derive(Clone, Debug)]
pub struct Latencies {
    classes: [Latency; FUA + 1],
    batching: Option<Batching>,
    /// What had been counted at the end of each piece of the run; `PIECES` make a batch.
    marks: Vec<Mark>,
}

/// What had been counted at one point of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Reads, and writes.
    pub count: [u64; 2],
    /// Their latencies together.
    pub latency_ns: [u128; 2],
    /// Bytes written by the host, and programmed.
    pub written_bytes: [u64; 2],
}

/// How far the batches are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batching {
    /// Reads and writes of a batch.
    pub requests: u64,
    /// Batches that are complete, less than [`PLACES`].
    pub complete: usize,
    /// Requests until the current piece is complete, and pieces until its batch is.
    left: u64,
    pieces_left: u64,
}

impl Latencies {
    /// Nothing counted yet; reads and writes will be told apart by batches.
    pub fn in_batches() -> Latencies {
        let left = SHORTEST / PIECES;
        let start = Batching { requests: SHORTEST, complete: 0, left, pieces_left: PIECES };
        let places = [PLACES, PLACES, 1, 1, 1];
        let marks = Vec::with_capacity(PLACES * PIECES as usize);
        Latencies { classes: places.map(Latency::new), batching: Some(start), marks }
    }

    /// Nothing counted yet; the run will be one piece.
    pub fn in_one() -> Latencies {
        let classes = [1; FUA + 1].map(Latency::new);
        Latencies { classes, batching: None, marks: Vec::new() }
    }

    /// Counts a request; says whether a piece of the run ends with it, which [`Latencies::mark`]
    /// is then to be told.
    #[inline]
    pub fn record(
        &mut self,
        op: Op,
        fua: bool,
        bytes: u32,
        latency_ns: u64,
        parts: &Parts,
    ) -> bool {
        self.classes[op as usize].record(latency_ns, bytes, parts);
        if fua {
            self.classes[FUA].record(latency_ns, bytes, parts);
        }
        if let (Some(batching), Op::Read | Op::Write) = (&mut self.batching, op) {
            batching.left -= 1;
            return batching.left == 0;
        }
        false
    }

    /// A piece of the run has ended, in which the flash has come to so many bytes programmed.
    #[cold]
    pub fn mark(&mut self, programmed_bytes: u64) {
        let batching = self.batching.as_mut().expect("a piece has ended");
        let [read, write, ..] = &mut self.classes;
        self.marks.push(Mark {
            count: [read.count(), write.count()],
            latency_ns: [read.latency_ns(), write.latency_ns()],
            written_bytes: [write.bytes, programmed_bytes],
        });
        batching.pieces_left -= 1;
        if batching.pieces_left == 0 {
            batching.pieces_left = PIECES;
            batching.complete += 1;
            if batching.complete == PLACES {
                read.pair_up();
                write.pair_up();
                batching.complete /= 2;
                batching.requests *= 2;
                let mut number = 0;
                self.marks.retain(|_| {
                    number += 1;
                    number % 2 == 0
                });
            }
            read.go_on_with(batching.complete);
            write.go_on_with(batching.complete);
        }
        batching.left = batching.requests / PIECES;
    }

    /// What had been counted at the end of each piece of the complete batches.
    pub(super) fn marks(&self) -> &[Mark] {
        let complete = self.batching.map_or(0, |batching| batching.complete * PIECES as usize);
        &self.marks[..complete]
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
                let (op, latency_ns) = (op(request), latency_ns(request));
                if latencies.record(op, false, 512, latency_ns, &Parts::default()) {
                    latencies.mark(3 * request);
                }
                // What is neither read nor write moves no end of a batch.
                assert!(!latencies.record(Op::Trim, false, 0, 7, &Parts::default()));
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
            assert_eq!(latencies.marks().len() as u64, complete as u64 * PIECES);
            for (piece, mark) in (1..).zip(latencies.marks()) {
                let end = piece * length / PIECES;
                assert_eq!(mark.count.iter().sum::<u64>(), end, "{requests}");
                let sum_ns = (0..end).map(latency_ns).sum::<u64>();
                assert_eq!(mark.latency_ns.iter().sum::<u128>(), u128::from(sum_ns));
                assert_eq!(mark.written_bytes, [512 * mark.count[1], 3 * (end - 1)]);
            }
        }
    }

    #[test]
    fn room_is_made_for_long_latencies_and_none_before_is_lost() {
        let mut latencies = Latencies::in_batches();
        // 1 us to 10,000 s: beyond what there is room for at first, and beyond an hour.
        let all_ns: Vec<u64> = (0..300).map(|step| 1000 << (step % 34)).collect();
        for latency_ns in &all_ns {
            if latencies.record(Op::Read, false, 512, *latency_ns, &Parts::default()) {
                latencies.mark(0);
            }
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

//! Latencies of all classes of requests, in batches that reads and writes share.

use reprieve_base::{Op, Time};
use reprieve_policy::txn::LatencyComponents;

use super::batches::{Batches, Mark, PLACES};
use super::pieces::{PieceEnd, Pieces};
use super::{Distribution, Latency};

/// Operations of zones, after the classes of [`Op`] up to flushes.
const OF_ZONES: usize = Op::Flush as usize + 1;
/// Writes with forced unit access.
const FUA: usize = OF_ZONES + 1;

/// Returns the class of an operation: an append is a write.
#[inline(always)]
fn class_of(op: Op) -> usize {
    match op {
        Op::Append => Op::Write as usize,
        Op::Reset | Op::Finish | Op::Open | Op::Close => OF_ZONES,
        op => op as usize,
    }
}

/// Latencies of reads, writes, trims, flushes, operations of zones, and of the writes with forced
/// unit access.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Latencies {
    classes: [Latency; FUA + 1],
    batches: Option<Batches>,
    /// With batches only.
    pieces: Option<Pieces>,
}

/// The complete batches.
#[derive(Clone, Debug)]
pub(super) struct Batching {
    /// Requests of a batch, of any kind.
    pub requests: u64,
    /// By number.
    pub complete: Vec<usize>,
}

impl Latencies {
    /// Creates empty latencies; reads and writes are counted by batch.
    pub fn in_batches() -> Latencies {
        let places = [PLACES, PLACES, 1, 1, 1, 1];
        let (batches, pieces) = (Some(Batches::new()), Some(Pieces::new()));
        Latencies { classes: places.map(Latency::new), batches, pieces }
    }

    /// Creates empty latencies of a run in one batch.
    pub fn in_one() -> Latencies {
        Latencies { classes: [1; FUA + 1].map(Latency::new), batches: None, pieces: None }
    }

    /// Counts a request by its number in order of arrival, which selects its batch; returns whether
    /// it is the first of its batch, which is then to be marked.
    #[inline(always)]
    pub fn record(
        &mut self,
        number: u64,
        op: Op,
        fua: bool,
        bytes: u32,
        latency_ns: u64,
        parts: &LatencyComponents,
    ) -> bool {
        let mut place = 0;
        let mut is_first = false;
        if let Some(batches) = &self.batches {
            place = match batches.of(number) {
                Some(batch) => batch,
                None => self.make_room(number),
            };
            let batches = self.batches.as_mut().expect("they are still there");
            is_first = batches.is_new(place);
            if op != Op::Read && !op.is_write() {
                batches.count_other(place);
                place = 0;
            }
        }
        self.classes[class_of(op)].record(place, latency_ns, bytes, parts);
        if fua {
            self.classes[FUA].record(0, latency_ns, bytes, parts);
        }
        is_first
    }

    /// Merges batches until there is one for a request.
    #[cold]
    fn make_room(&mut self, number: u64) -> usize {
        let batches = self.batches.as_mut().expect("a request is in no batch");
        let [read, write, ..] = &mut self.classes;
        loop {
            batches.pair_up();
            read.pair_up();
            write.pair_up();
            if let Some(batch) = batches.of(number) {
                return batch;
            }
        }
    }

    /// Marks a batch with the drive's state, after its first request is complete and recorded.
    #[cold]
    pub fn mark(&mut self, number: u64, at: Time, programs: u64) {
        let mark = self.come_to(at, programs);
        let batches = self.batches.as_mut().expect("there are batches to mark");
        batches.begin(batches.of(number).expect("the request is recorded"), mark);
    }

    /// Returns the counters at an instant.
    pub(super) fn come_to(&self, at: Time, programs: u64) -> Mark {
        let (read, write) = (self.read(), self.write());
        let requests = read.count() + write.count();
        Mark { at, requests, bytes: self.bytes(), written_bytes: write.bytes, programs }
    }

    /// Counts a recorded request in the order of completion; returns whether it ends a piece of the
    /// run, for [`Latencies::end_piece`].
    #[inline]
    pub fn ends_piece(&mut self, op: Op) -> bool {
        self.pieces.as_mut().is_some_and(|pieces| pieces.count(op))
    }

    /// Ends a piece of the run, with the bytes that the flash has programmed by then.
    #[cold]
    pub fn end_piece(&mut self, programmed_bytes: u64) {
        let (read, write) = (self.read(), self.write());
        let end = PieceEnd {
            count: [read.count(), write.count()],
            latency_ns: [read.latency_ns(), write.latency_ns()],
            written_bytes: [write.bytes, programmed_bytes],
        };
        self.pieces.as_mut().expect("a piece has ended").end(end);
    }

    /// Returns the counters at the end of each piece, as far as they form whole batches.
    pub(super) fn piece_ends(&self) -> &[PieceEnd] {
        self.pieces.as_ref().map_or(&[], Pieces::of_batches)
    }

    /// Returns the bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.read().bytes + self.write().bytes
    }

    pub(super) fn read(&self) -> &Latency {
        &self.classes[Op::Read as usize]
    }

    pub(super) fn write(&self) -> &Latency {
        &self.classes[Op::Write as usize]
    }

    /// Returns the classes that are reported only if they have requests, by name.
    pub(super) fn rare(&self) -> [(&'static str, &Latency); 4] {
        let [_, _, trim, flush, zone, fua] = &self.classes;
        [("trim", trim), ("flush", flush), ("zone", zone), ("fua", fua)]
    }

    pub(super) fn batches(&self) -> Option<&Batches> {
        self.batches.as_ref()
    }

    /// Returns the complete batches, if there are any.
    pub(super) fn batching(&self) -> Option<Batching> {
        let batches = self.batches.as_ref()?;
        let counted = |batch| self.read().count_of(batch) + self.write().count_of(batch);
        Some(Batching { requests: batches.length(), complete: batches.complete(counted) })
    }

    /// Returns latencies of reads, of writes, of both.
    pub fn distributions(&self) -> [Distribution; 3] {
        let [read, write] = [self.read(), self.write()].map(|class| class.distribution());
        let total = Distribution::sum([&read, &write]);
        [read, write, total]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Histogram;

    /// A latency that is unique.
    fn latency_ns(request: u64) -> u64 {
        request + 1
    }

    /// One of five is a trim, the others reads or writes.
    fn op(request: u64) -> Op {
        [Op::Read, Op::Write, Op::Read, Op::Trim, Op::Read][(request % 5) as usize]
    }

    /// Requests in an order that is not that of their numbers: every eight backwards.
    fn completions(requests: u64) -> impl Iterator<Item = u64> {
        (0..requests.next_multiple_of(8)).map(|place| place ^ 7).filter(move |n| *n < requests)
    }

    #[test]
    fn batches_have_the_same_requests_in_whatever_order_these_are_complete() {
        for requests in [0, 63, 64, 65, 1279, 1280, 1281, 1300, 5000, 100_000] {
            let mut latencies = Latencies::in_batches();
            let mut marked = Vec::new();
            for number in completions(requests) {
                let (op, none) = (op(number), LatencyComponents::default());
                if latencies.record(number, op, false, 512, latency_ns(number), &none) {
                    latencies.mark(number, Time::from_ns(number), 0);
                    marked.push(number);
                }
            }
            let Batching { requests: length, complete } =
                latencies.batching().expect("the batches are kept");
            // From 11 to 20 once there were 21.
            let expected = (6..).map(|bits| 1u64 << bits);
            let expected = expected.clone().find(|length| requests <= length * PLACES as u64);
            assert_eq!(Some(length), expected, "{requests}");
            assert_eq!(complete, (0..(requests / length) as usize).collect::<Vec<_>>());
            // The first that is complete of each group of eight is the last.
            assert!(marked.iter().all(|number| number % 8 == 7 || *number == requests - 1));
            let (reads, writes) = (latencies.read().by_batch(), latencies.write().by_batch());
            for number in 0..PLACES {
                let ends = |end: usize| (end as u64 * length).min(requests);
                for (class, mine) in [(&reads, Op::Read), (&writes, Op::Write)] {
                    let mut expected = Histogram::default();
                    (ends(number)..ends(number + 1))
                        .filter(|&request| op(request) == mine)
                        .for_each(|request| expected.record(latency_ns(request)));
                    let (got, expected) = (&class.batches[number], expected.distribution());
                    assert!(got.buckets().eq(expected.buckets()), "{requests}: {number} {mine:?}");
                    assert_eq!(got.mean_ns(), expected.mean_ns());
                }
            }
            let [_, _, total] = latencies.distributions();
            let kept = (0..requests).filter(|request| op(*request) != Op::Trim);
            assert_eq!(total.count(), kept.count() as u64);
        }
    }

    #[test]
    fn a_batch_of_which_a_request_is_left_out_is_not_complete() {
        let mut latencies = Latencies::in_batches();
        for number in (0..640).filter(|number| *number != 130) {
            let none = LatencyComponents::default();
            let is_first = latencies.record(number, Op::Read, false, 512, 1, &none);
            assert_eq!(is_first, number % 64 == 0 && number > 0);
            if is_first {
                latencies.mark(number, Time::from_ns(number), 0);
            }
        }
        let complete = latencies.batching().expect("the batches are kept").complete;
        assert_eq!(complete, [0, 1, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn room_is_made_for_long_latencies_and_none_before_is_lost() {
        let mut latencies = Latencies::in_batches();
        // 1 us to 10,000 s: beyond the initial buckets, and beyond an hour.
        let all_ns: Vec<u64> = (0..300).map(|step| 1000 << (step % 34)).collect();
        for latency_ns in &all_ns {
            latencies.record(0, Op::Read, false, 512, *latency_ns, &LatencyComponents::default());
        }
        let [read, _, total] = latencies.distributions();
        let hour_ns = 3_600_000_000_000u64;
        for told in [read, total] {
            assert_eq!(told.count(), 300);
            assert_eq!(told.max_ns(), 1000 << 33);
            // Of 34 latencies, each twice the one before, the first 32 are below an hour.
            for (place, (upper_ns, count)) in told.buckets().take(31).enumerate() {
                let exact_ns = 1000u64 << place;
                assert!((exact_ns..=exact_ns + exact_ns / 1000).contains(&upper_ns), "{place}");
                assert_eq!(count as usize, all_ns.iter().filter(|ns| **ns == exact_ns).count());
            }
            let longer: u64 = told.buckets().skip(31).map(|(_, count)| count).sum();
            assert_eq!(longer as usize, all_ns.iter().filter(|ns| **ns >= 1000 << 31).count());
            let beyond = all_ns.iter().filter(|ns| **ns > hour_ns).count();
            assert!(beyond > 0, "some are told apart no more");
        }
    }
}

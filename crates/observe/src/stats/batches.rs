//! Batches of a run by the numbers of its requests: the same ones in every run of the same load.

use reprieve_base::Time;

/// Number of batches at which pairs are merged. With enough requests there are from 10 to 20, the
/// best number by Schmeiser (1982).
pub(super) const PLACES: usize = 20;
/// Initial requests of a batch, as a power of two.
const SHORTEST_LOG2: u32 = 6;

/// Assignment of requests to batches, and marks of the drive's state at the start of each.
///
/// A request belongs to a batch by its number in order of arrival, not of completion: so the
/// batches of two runs of one load have the same requests in any case.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Batches {
    /// Requests of a batch, as a power of two.
    length_log2: u32,
    /// The last batch with a completed request.
    last: usize,
    /// By batch: completed requests that are neither read nor write.
    others: [u64; PLACES],
    /// By batch.
    began: [Mark; PLACES],
}

/// Counters at the first completion of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    /// Its instant.
    pub at: Time,
    /// Completed reads and writes, including this request.
    pub requests: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Bytes of these writes.
    pub written_bytes: u64,
    /// Pages programmed, for host and drive.
    pub programs: u64,
}

impl Batches {
    pub(super) fn new() -> Batches {
        Batches {
            length_log2: SHORTEST_LOG2,
            last: 0,
            others: [0; PLACES],
            began: [Mark::default(); PLACES],
        }
    }

    /// Returns the batch of a request; `None` if it is beyond all batches.
    #[inline(always)]
    pub(super) fn of(&self, number: u64) -> Option<usize> {
        let place = number >> self.length_log2;
        (place < PLACES as u64).then_some(place as usize)
    }

    /// Whether no request of a batch, or of a later one, has completed before.
    #[inline(always)]
    pub(super) fn is_new(&self, batch: usize) -> bool {
        batch > self.last
    }

    /// Marks the first completion of a batch.
    pub(super) fn begin(&mut self, batch: usize, mark: Mark) {
        self.began[self.last + 1..=batch].fill(mark);
        self.last = batch;
    }

    /// Counts a completed request that is neither read nor write.
    pub(super) fn count_other(&mut self, batch: usize) {
        self.others[batch] += 1;
    }

    /// Merges pairs of batches, so that the second half is free again.
    pub(super) fn pair_up(&mut self) {
        for pair in 0..PLACES / 2 {
            self.began[pair] = self.began[2 * pair];
            self.others[pair] = self.others[2 * pair] + self.others[2 * pair + 1];
        }
        self.others[PLACES / 2..].fill(0);
        self.length_log2 += 1;
        self.last /= 2;
    }

    /// Returns the requests of a batch, of any kind.
    pub(super) fn length(&self) -> u64 {
        1 << self.length_log2
    }

    /// Returns the complete batches, by number, where `counted` has the reads and writes of each.
    pub(super) fn complete(&self, counted: impl Fn(usize) -> u64) -> Vec<usize> {
        let is_whole = |&batch: &usize| counted(batch) + self.others[batch] == self.length();
        (0..PLACES).filter(is_whole).collect()
    }

    /// Returns the counts from the start of a batch to that of the next, or to the `end`.
    pub(super) fn window(&self, batch: usize, end: &Mark) -> Mark {
        let from = &self.began[batch];
        let to = if batch < self.last { &self.began[batch + 1] } else { end };
        Mark {
            at: Time::ZERO + (to.at - from.at),
            requests: to.requests - from.requests,
            bytes: to.bytes - from.bytes,
            written_bytes: to.written_bytes - from.written_bytes,
            programs: to.programs - from.programs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(us: u64) -> Mark {
        let at = Time::from_ns(1000 * us);
        Mark { at, requests: us, bytes: 512 * us, written_bytes: 0, programs: 3 * us }
    }

    #[test]
    fn a_window_goes_from_one_batch_to_the_next() {
        let mut batches = Batches::new();
        assert_eq!((batches.of(63), batches.of(64), batches.of(1280)), (Some(0), Some(1), None));
        // Of batch 1 nothing was complete before the first of batch 2.
        batches.begin(2, mark(7));
        assert!(batches.is_new(3) && !batches.is_new(2) && !batches.is_new(1));
        let end = mark(10);
        let lengths_us = |batches: &Batches, count| {
            let window = |batch| batches.window(batch, &end).requests;
            (0..count).map(window).collect::<Vec<_>>()
        };
        assert_eq!(lengths_us(&batches, 3), [7, 0, 3]);
        assert_eq!(batches.window(2, &end), Mark { at: Time::from_ns(3000), ..mark(3) });
        // Requests 0 … 127 are one batch now, the third is the first half of the second.
        batches.pair_up();
        assert_eq!((batches.of(127), batches.of(128), batches.length()), (Some(0), Some(1), 128));
        assert_eq!(lengths_us(&batches, 2), [7, 3]);
    }

    #[test]
    fn a_batch_is_complete_with_all_its_requests_of_whatever_kind() {
        let mut batches = Batches::new();
        batches.count_other(1);
        let counted = [64, 63, 63];
        let reads_and_writes = |batch: usize| counted.get(batch).copied().unwrap_or(0);
        assert_eq!(batches.complete(reads_and_writes), [0, 1]);
        batches.pair_up();
        assert_eq!(batches.complete(|batch| if batch == 0 { 127 } else { 63 }), [0]);
    }
}

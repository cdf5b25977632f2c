//! Counters at the ends of equal pieces of a run, in the order of completion.

use reprieve_base::Op;

use super::batches::PLACES;

/// Pieces of a batch of the run.
pub(super) const PIECES: u64 = 4;
/// Initial reads and writes of a piece.
const SHORTEST: u64 = 16;

/// Counters at the end of a piece of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct PieceEnd {
    /// Reads, and writes.
    pub count: [u64; 2],
    /// The sum of their latencies.
    pub latency_ns: [u128; 2],
    /// Bytes written by the host, and programmed.
    pub written_bytes: [u64; 2],
}

/// The pieces of a run: within a factor of two as many for a long one as for a short one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Pieces {
    /// Reads and writes of a piece.
    length: u64,
    /// Reads and writes until the end of the current piece.
    left: u64,
    ends: Vec<PieceEnd>,
}

impl Pieces {
    pub(super) fn new() -> Pieces {
        let ends = Vec::with_capacity(PLACES * PIECES as usize);
        Pieces { length: SHORTEST, left: SHORTEST, ends }
    }

    /// Counts a request; returns whether it ends a piece.
    #[inline(always)]
    pub(super) fn count(&mut self, op: Op) -> bool {
        if op != Op::Read && !op.is_write() {
            return false;
        }
        self.left -= 1;
        self.left == 0
    }

    /// Ends a piece. At the maximum number, pairs are merged.
    pub(super) fn end(&mut self, end: PieceEnd) {
        self.ends.push(end);
        if self.ends.len() == PLACES * PIECES as usize {
            let mut number = 0;
            self.ends.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.length *= 2;
        }
        self.left = self.length;
    }

    /// Returns the ends of the pieces that form whole batches.
    pub(super) fn of_batches(&self) -> &[PieceEnd] {
        let batches = self.ends.len() / PIECES as usize;
        &self.ends[..batches * PIECES as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_equal_whatever_was_paired_up() {
        for requests in [0u64, 15, 16, 63, 64, 65, 1279, 1280, 1300, 5000, 100_000] {
            let mut pieces = Pieces::new();
            for request in 1..=requests {
                if pieces.count(Op::Read) {
                    pieces.end(PieceEnd { count: [request, 0], ..PieceEnd::default() });
                }
                // Requests that are neither read nor write move no end.
                assert!(!pieces.count(Op::Trim));
            }
            // A batch has 64 requests, or the first power of two of which there are less than 20.
            let batch = (6..).map(|bits| 1 << bits).find(|batch| requests / batch < 20);
            let piece = batch.expect("there is no end of powers") / PIECES;
            let ends = pieces.of_batches();
            assert_eq!(ends.len() as u64, requests / (piece * PIECES) * PIECES, "{requests}");
            for (number, end) in (1..).zip(ends) {
                assert_eq!(end.count[0], number * piece, "{requests}");
            }
        }
    }
}

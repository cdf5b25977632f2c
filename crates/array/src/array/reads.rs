//! Reads of an array: by the drive that has the data, around it, or both.

use std::ops::Range;

use reprieve_base::{Dur, Time, UserError};

use super::Array;
use crate::options::Read;
use crate::piece::{FIRST, LAST, Piece};

/// The time at which a piece is read from other drives as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hedge {
    pub(super) due: Time,
    place: usize,
    number: u64,
}

impl Array {
    /// The column of a piece of a read, and its bytes of the chunk.
    fn chunk(&self, place: usize) -> (usize, Range<u64>) {
        let Range { start, end } = self.pieces[place].bytes;
        let first = start - start % self.layout.chunk_bytes;
        ((start / self.layout.chunk_bytes) as usize, start - first..end - first)
    }

    pub(super) fn send_read(&mut self, place: usize) -> Result<(), UserError> {
        let Piece { row, stripe, number, .. } = self.pieces[place];
        let arrival = self.rows[row].request.arrival;
        let (column, span) = self.chunk(place);
        let drive = self.layout.reader(stripe, column);
        let part = |drive: usize| self.layout.part(drive, stripe, &span);
        let is_busy = |drive: usize| match self.read {
            Read::AroundWrites => self.members[drive].writes > 0,
            Read::AroundWindows => {
                self.windows.is_some_and(|windows| windows.is_busy(drive, arrival))
                    || self.turns.as_ref().is_some_and(|turns| turns.has(drive))
            }
            Read::FastFail => self.members[drive].collects(&part(drive)),
            Read::Direct | Read::Hedged => false,
        };
        let (failed, into) = (self.layout.lacks(drive, stripe), &mut self.parts[LAST]);
        if (is_busy(drive) && self.layout.around(stripe, column, &span, is_busy, into))
            || (failed && self.layout.around(stripe, column, &span, |_| false, into))
        {
            self.rows[row].reconstructed += 1;
            self.totals.reconstructed += 1;
            let refused =
                if self.read == Read::FastFail && !failed { self.controller } else { Dur::ZERO };
            return self.send(place, LAST, arrival + refused);
        }
        self.parts[FIRST].push(self.layout.part(drive, stripe, &span));
        self.send(place, FIRST, arrival)?;
        let Some(after) = self.hedge_after else { return Ok(()) };
        let due = arrival + after;
        self.hedges.push_back(Hedge { due, place, number });
        self.soonest = self.soonest.min(due);
        Ok(())
    }

    /// Whether a hedge's read has not been answered.
    pub(super) fn is_open(&self, hedge: &Hedge) -> bool {
        let piece = &self.pieces[hedge.place];
        piece.number == hedge.number && piece.open[FIRST] > 0
    }

    pub(super) fn hedge(&mut self, hedge: Hedge) -> Result<(), UserError> {
        if !self.is_open(&hedge) {
            return Ok(());
        }
        let Hedge { due, place, .. } = hedge;
        let Piece { row, stripe, .. } = self.pieces[place];
        let (column, span) = self.chunk(place);
        let into = &mut self.parts[LAST];
        if !self.layout.around(stripe, column, &span, |_| false, into) {
            return Ok(());
        }
        self.rows[row].hedged += 1;
        self.totals.hedged += 1;
        self.send(place, LAST, due)
    }
}

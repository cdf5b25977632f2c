//! Writes of an array, of rebuilds as well, and its trims and flushes.

use reprieve_base::{Op, Time, UserError};

use super::Array;
use crate::piece::{FIRST, Kind, LAST, LOG, Piece};

impl Array {
    /// Sends a trim to the drives that have its bytes, or a flush to all drives.
    pub(super) fn send_to_all(&mut self, row: usize) -> Result<(), UserError> {
        let request = self.rows[row].request;
        let (bytes, into) = (request.offset..request.offset + request.bytes, &mut self.parts[LAST]);
        let kind = match request.op {
            Op::Trim => {
                self.layout.trim(&bytes, into);
                Kind::Trim
            }
            _ => {
                self.layout.flush(into);
                Kind::Flush
            }
        };
        self.rows[row].open_pieces = 1;
        if self.parts[LAST].is_empty() {
            return self.answer(row, request.arrival);
        }
        let place = self.new_piece(row, kind, 0, bytes);
        self.send(place, LAST, request.arrival)
    }

    pub(super) fn send_write(&mut self, place: usize) -> Result<(), UserError> {
        let Piece { row, stripe, ref bytes, .. } = self.pieces[place];
        let arrival = self.rows[row].request.arrival;
        let [reads, _, writes] = &mut self.parts;
        self.layout.write(stripe, bytes, reads, writes);
        if reads.is_empty() {
            return self.send(place, LAST, arrival);
        }
        writes.clear();
        self.send(place, FIRST, arrival)
    }

    /// Sends the writes of a piece, or first that of the log if `logs`.
    pub(super) fn send_writes(
        &mut self,
        place: usize,
        at: Time,
        logs: bool,
    ) -> Result<(), UserError> {
        let Piece { kind, stripe, ref bytes, .. } = self.pieces[place];
        let [reads, log_writes, writes] = &mut self.parts;
        if kind == Kind::Rebuild {
            writes.push(self.rebuild.as_ref().expect("it is rebuilt").write(stripe, bytes));
            return self.send(place, LAST, at);
        }
        self.layout.write(stripe, bytes, reads, writes);
        reads.clear();
        let log = self.log.as_mut().filter(|_| logs);
        if let (Some(log), Some(drive)) = (log, self.layout.log_drive(stripe)) {
            let parity = writes.iter().find(|part| part.drive == drive).expect("it is written");
            log_writes.push(log.part(*parity));
            writes.clear();
            return self.send(place, LOG, at);
        }
        self.send(place, LAST, at)
    }

    /// Sends the reads of the next stripes that are rebuilt.
    pub(super) fn send_rebuild(&mut self, at: Time) -> Result<(), UserError> {
        let rebuild = self.rebuild.as_mut().expect("it is rebuilt");
        let stripes = rebuild.begin(at, &mut self.layout);
        let (drive, bytes) = (rebuild.drive, 0..stripes.end - stripes.start);
        for stripe in stripes.clone() {
            self.layout.rebuild(stripe, drive, &mut self.parts[FIRST]);
        }
        let place = self.new_piece(usize::MAX, Kind::Rebuild, stripes.start, bytes);
        self.send(place, FIRST, at)
    }
}

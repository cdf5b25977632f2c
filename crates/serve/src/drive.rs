//! The model and its clock: requests in at their arrival, answers out when they are due.

use std::collections::VecDeque;

use reprieve_base::{Dur, Op, Request, Time, UserError};
use reprieve_sim::Ssd;
use reprieve_sim::stats::LogBatch;

use crate::clock::{Clock, Wall};
use crate::recorder::Recorder;
use crate::slots::Key;

/// A request of the model that is complete.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// The command that it belongs to.
    pub command: Key,
    pub arrival: Time,
    pub completion: Time,
    /// Pages of it that nothing corrected.
    pub uncorrectable_pages: u64,
}

/// A drive whose time is that of the wall.
pub struct Drive {
    pub ssd: Ssd,
    pub clock: Clock,
    pub recorder: Option<Recorder>,
    /// The commands of the requests that are open, from number `first` on; `None`: complete.
    open: VecDeque<Option<Key>>,
    first: u64,
    log: LogBatch,
}

impl Drive {
    pub fn new(ssd: Ssd, clock: Clock, recorder: Option<Recorder>) -> Drive {
        Drive { ssd, clock, recorder, open: VecDeque::new(), first: 0, log: LogBatch::default() }
    }

    /// Hands a request to the model, now, and returns its number; the arrival given is not used.
    pub fn submit(&mut self, request: Request, command: Key) -> Result<u64, UserError> {
        let now = self.clock.now();
        self.clock.scale.start(now);
        let mut arrival = self.clock.scale.model(now);
        if self.first > 0 || !self.open.is_empty() {
            // The model has decided about the last instant: what comes in it comes in the next.
            arrival = arrival.max(self.ssd.now() + Dur::from_ns(1));
        }
        let number = self.ssd.submit(Request { arrival, ..request })?;
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(number, &Request { arrival, ..request });
        }
        assert_eq!(number, self.first + self.open.len() as u64, "numbers follow each other");
        self.open.push_back(Some(command));
        Ok(number)
    }

    /// Lets the model come to the present.
    pub fn advance(&mut self) -> Result<(), UserError> {
        if !self.clock.scale.runs() {
            return Ok(());
        }
        let now = self.clock.scale.model(self.clock.now());
        self.ssd.advance(now)
    }

    /// When the model next wants to be looked at; `None`: not before a request comes.
    pub fn next_due(&self) -> Option<Wall> {
        let next = self.ssd.next_instant();
        (self.clock.scale.runs() && next != Time::NEVER).then(|| self.clock.scale.wall(next))
    }

    /// Appends what was completed since the last call.
    pub fn take_done(&mut self, done: &mut Vec<Done>) {
        self.ssd.take_completed(&mut self.log);
        for index in 0..self.log.id.len() {
            let number = self.log.id[index] as u64;
            let completion = Time::from_ns(self.log.completion_ns[index] as u64);
            if let Some(recorder) = &mut self.recorder {
                recorder.completed(number, completion);
            }
            let place = (number - self.first) as usize;
            let command = self.open[place].take().expect("a request completes once");
            done.push(Done {
                command,
                arrival: Time::from_ns(self.log.arrival_ns[index] as u64),
                completion,
                uncorrectable_pages: self.log.uncorrectable_pages[index] as u64,
            });
        }
        while self.open.front() == Some(&None) {
            self.open.pop_front();
            self.first += 1;
        }
    }

    /// Tells the recorder, if there is one, that a command's requests were answered.
    pub fn answered(&mut self, (first, count): (u64, u32), at: Wall) -> Result<(), UserError> {
        let Some(recorder) = &mut self.recorder else { return Ok(()) };
        let at = self.clock.scale.model(at);
        (first..first + u64::from(count)).try_for_each(|number| recorder.answered(number, Some(at)))
    }

    /// The same of a client that has gone.
    pub fn unanswered(&mut self, (first, count): (u64, u32)) -> Result<(), UserError> {
        let Some(recorder) = &mut self.recorder else { return Ok(()) };
        (first..first + u64::from(count)).try_for_each(|number| recorder.answered(number, None))
    }
}

/// The pieces in which the model gets `bytes` bytes from `offset` on, in whole sectors.
///
/// Reads and writes touch every sector that they reach into, trims only those they have whole.
pub fn pieces(op: Op, offset: u64, bytes: u32) -> impl Iterator<Item = Request> {
    /// A trim or a write of zeros may have 4 GiB, which is a lot to do at one instant.
    const PIECE_SECTORS: u64 = (32 << 20) / 512;
    let end = offset + u64::from(bytes);
    let (mut first, last) = match op {
        Op::Trim => (offset.div_ceil(512), end / 512),
        _ if bytes == 0 => (0, 0),
        _ => (offset / 512, end.div_ceil(512)),
    };
    let mut flush = op == Op::Flush;
    std::iter::from_fn(move || {
        let arrival = Time::ZERO;
        if std::mem::take(&mut flush) {
            return Some(Request { arrival, op, lba: 0, bytes: 0, fua: false });
        }
        let sectors = last.saturating_sub(first).min(PIECE_SECTORS);
        let lba = first;
        first += sectors;
        let bytes = sectors as u32 * 512;
        (sectors > 0).then_some(Request { arrival, op, lba, bytes, fua: false })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(op: Op, offset: u64, bytes: u32) -> Vec<(u64, u32)> {
        pieces(op, offset, bytes).map(|request| (request.lba, request.bytes)).collect()
    }

    #[test]
    fn the_model_gets_whole_sectors() {
        assert_eq!(ranges(Op::Read, 511, 2), [(0, 1024)]);
        assert_eq!(ranges(Op::Write, 512, 512), [(1, 512)]);
        assert_eq!(ranges(Op::Trim, 511, 1026), [(1, 1024)]);
        assert_eq!(ranges(Op::Trim, 1, 510), []);
        assert_eq!(ranges(Op::Read, 700, 0), []);
        assert_eq!(ranges(Op::Flush, 0, 0), [(0, 0)]);
        let whole = ranges(Op::Trim, 0, u32::MAX);
        assert_eq!(whole.len(), 128);
        assert_eq!(whole[127], (127 * 65_536, (32 << 20) - 512));
    }
}

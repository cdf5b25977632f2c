//! Pages that have left their die on a drive whose cells err: decoding, and the next sense.

use reprieve_base::event::Schedule;
use reprieve_base::{Dur, Time};
use reprieve_observe::stats::{ErrorCounts, WearFacts};
use reprieve_policy::txn::{Kind, LatencyComponent, NONE};
use reprieve_policy::work::Work;

use super::channel::Grant;
use super::media::Verdict;
use super::{Flash, FlashEvent};

impl Flash {
    /// A page has left its die and is to be decoded.
    #[cold]
    pub(super) fn decode(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let txn = &mut self.txns[id];
        if txn.kind == Kind::GcRead && txn.further_senses == 0 {
            self.units[txn.die as usize].gc_decoding += 1;
        }
        let media = self.media.as_mut().expect("only then is anything decoded");
        let (decode, verdict) = media.judge(txn, now);
        txn.again = verdict == Verdict::Again;
        txn.lost = verdict == Verdict::Lost;
        match decode {
            Dur::ZERO => self.decoded(id, now),
            _ => {
                let die = txn.die;
                out.schedule(now + decode, FlashEvent::Decoded { txn: id });
                // Meanwhile the die is free for something else.
                self.wake(die);
            }
        }
    }

    /// A page is decoded, or will be when it has been sensed once more.
    pub(super) fn decoded(&mut self, id: u32, now: Time) {
        let txn = &mut self.txns[id];
        txn.book(LatencyComponent::Ecc, now);
        let die = txn.die;
        if !txn.again {
            self.units[die as usize].gc_decoding -= u32::from(txn.kind == Kind::GcRead);
            if self.observers.listens {
                self.blame_read(id);
            }
            self.read_complete(id);
            return;
        }
        txn.further_senses += 1;
        txn.start = Time::NEVER;
        txn.next = NONE;
        // It keeps its place in the order of arrival: nothing that waits here is older.
        self.units[die as usize].reads.push_front(&mut self.txns, id);
        self.blame_wait(id);
        self.wake(die);
    }

    /// Senses a page again that garbage collection waits for, ahead of a write that waits for the
    /// room that it makes; false if no collection waits for a page.
    pub(super) fn sense_for_room<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) -> bool {
        let unit = &self.units[die as usize];
        if unit.gc_decoding == 0 {
            return false;
        }
        let mut id = unit.reads.first().unwrap_or(NONE);
        while id != NONE && self.txns[id].kind != Kind::GcRead {
            id = self.txns[id].next;
        }
        if id != NONE {
            self.start_read(id, now, work, out, grant);
        }
        // Else its page is being decoded, and will wake the die.
        true
    }

    /// A program or an erase is done, as far as the cells are concerned.
    #[cold]
    pub(super) fn cells_worked(&mut self, id: u32, now: Time) {
        let txn = &self.txns[id];
        let source = self.facts.address(txn.old);
        let media = self.media.as_mut().expect("only then do cells wear");
        media.worked(txn, txn.at.page % self.facts.together == 0 || txn.kind == Kind::Erase, now);
        if txn.kind == Kind::GcCopy {
            media.sensed(txn.die, source);
        }
    }

    /// Errors and wear of a drive whose cells err.
    pub fn cells(&self) -> Option<(&ErrorCounts, WearFacts)> {
        self.media.as_ref().map(|media| (&media.counts, media.wear()))
    }
}

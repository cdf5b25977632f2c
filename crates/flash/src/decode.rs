//! Pages with bit errors after they have left their die: decoding and read retries.

use reprieve_base::event::Schedule;
use reprieve_base::{Dur, Time};
use reprieve_policy::txn::{Kind, LatencyComponent, NONE};

use super::FlashEvent;
use super::controller::Controller;
use super::media::Verdict;

impl Controller {
    /// Starts the decoding of a page that has left its die.
    #[cold]
    pub(super) fn decode(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let txn = &mut self.dies.txns[id];
        if txn.kind == Kind::GcRead && txn.further_senses == 0 {
            self.dies.units[txn.die as usize].gc_decoding += 1;
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
                // Meanwhile the die is free for other operations.
                self.dies.wake(die);
            }
        }
    }

    /// Handles a decoded page: complete, or to be sensed again.
    pub(super) fn decoded(&mut self, id: u32, now: Time) {
        let txn = &mut self.dies.txns[id];
        txn.book(LatencyComponent::Ecc, now);
        let die = txn.die;
        if !txn.again {
            self.dies.units[die as usize].gc_decoding -= u32::from(txn.kind == Kind::GcRead);
            if self.observers.listens {
                self.observe(now, |observer, scene| observer.read_done(scene, id));
            }
            self.read_complete(id);
            return;
        }
        txn.further_senses += 1;
        txn.start = Time::NEVER;
        txn.next = NONE;
        // It keeps its place in the order of arrival, as nothing queued is older.
        self.dies.units[die as usize].reads.push_front(&mut self.dies.txns, id);
        self.held_back(id);
        self.dies.wake(die);
    }

    /// Updates the cells after a program or an erase.
    #[cold]
    pub(super) fn cells_worked(&mut self, id: u32, now: Time) {
        let txn = &self.dies.txns[id];
        let source = self.dies.facts.address(txn.old);
        let media = self.media.as_mut().expect("only then do cells wear");
        let leads = txn.kind == Kind::Erase
            || txn.place == 0 && txn.at.page % self.dies.facts.pages_together == 0;
        media.worked(txn, leads, now);
        if txn.kind == Kind::GcCopy {
            media.sensed(txn.die, source);
        }
        if self.dies.erases_in_loops() {
            let (die, at) = (txn.die, txn.at);
            let cycles = media.cycles(die, at);
            self.dies.units[die as usize].die.set_cycles(at.plane, at.block, cycles);
        }
    }
}

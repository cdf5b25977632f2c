//! Programs of several pages: a wordline that is gathered, or padded when it has waited.

use reprieve_base::Time;

use super::{Flash, FlashEvent};
use crate::event::Schedule;
use crate::txn::{Kind, NONE};
use crate::work::Work;

impl Flash {
    /// The oldest host program or erase that can begin: of a wordline that is complete, or whose
    /// oldest page has waited for long enough.
    #[inline]
    pub(super) fn next_write(&self, die: u32, now: Time) -> Option<u32> {
        let first = self.units[die as usize].writes.first();
        if self.together == 1 { first } else { self.first_ready(first, now) }
    }

    #[cold]
    fn first_ready(&self, first: Option<u32>, now: Time) -> Option<u32> {
        let mut id = first?;
        let mut behind = 0u128;
        while id != NONE {
            // Of a plane only the oldest can begin.
            let plane = 1u128 << self.txns[id].at.plane;
            if behind & plane == 0 && self.is_ready(id, now) {
                return Some(id);
            }
            behind |= plane;
            id = self.txns[id].next;
        }
        None
    }

    /// Whether a program or erase that is the oldest of its plane need not wait for others.
    pub(super) fn is_ready(&self, id: u32, now: Time) -> bool {
        let txn = &self.txns[id];
        txn.kind != Kind::Program
            || self.units[txn.die as usize].planes.waiting[txn.at.plane as usize] >= self.together
            || txn.seq < self.flushed
            || txn.mark + self.wordline_timeout <= now
    }

    /// Makes the die decide again when the page that has waited longest has waited for long enough.
    pub(super) fn look_again(&mut self, die: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let unit = &self.units[die as usize];
        let (mut id, mut soonest) = (unit.writes.first().unwrap_or(NONE), Time::NEVER);
        while id != NONE {
            let txn = &self.txns[id];
            let until = txn.mark + self.wordline_timeout;
            if txn.kind == Kind::Program && until > now {
                soonest = soonest.min(until);
            }
            id = txn.next;
        }
        if soonest != Time::NEVER && (unit.looks_at <= now || soonest < unit.looks_at) {
            self.units[die as usize].looks_at = soonest;
            out.schedule(soonest, FlashEvent::Poke { die });
        }
    }

    /// What is queued waits for no more pages of its wordline.
    pub fn flush(&mut self) {
        if self.together > 1 {
            self.flushed = self.arrivals;
            (0..self.geometry.dies()).for_each(|die| self.wake(die));
        }
    }

    /// Links the oldest programs of the plane of `id`, which has its page, behind it as the rest of
    /// its wordline; `first` begins the command. Returns the last of them.
    pub(super) fn gather_wordline<W: Work>(&mut self, first: u32, id: u32, work: &mut W) -> u32 {
        let (die, at) = (self.txns[id].die, self.txns[id].at);
        if self.txns[id].kind != Kind::Program {
            return id;
        }
        let mut last = id;
        let mut number = 1;
        self.units[die as usize].planes.waiting[at.plane as usize] -= 1;
        let mut next = self.units[die as usize].writes.first().unwrap_or(NONE);
        while next != NONE && number < self.together {
            let beside = next;
            next = self.txns[beside].next;
            if self.txns[beside].at.plane != at.plane {
                continue;
            }
            let txn = &mut self.txns[beside];
            if txn.kind != Kind::Program || !work.place_beside(txn, at, number) {
                break;
            }
            let unit = &mut self.units[die as usize];
            unit.writes.remove(&mut self.txns, beside);
            unit.pending_programs -= 1;
            self.write_queue.pending -= 1;
            unit.planes.waiting[at.plane as usize] -= 1;
            self.txns[beside].unsuspendable = self.txns[first].unsuspendable;
            self.txns[last].next = beside;
            last = beside;
            number += 1;
        }
        last
    }

    /// Links to a program of garbage collection, the last of its command so far, those of the other
    /// pages that its plane holds. Returns the last of them.
    pub(super) fn gather_held<W: Work>(&mut self, first: u32, now: Time, work: &mut W) -> u32 {
        let mut last = first;
        let mut number = 1;
        while let Some(txn) = work.gc_take_page(&self.txns[first], number, now) {
            let id = self.txns.insert(txn);
            self.txns[last].next = id;
            last = id;
            number += 1;
        }
        last
    }

    /// Counts the pages of a program's wordlines that had no data.
    pub(super) fn count_padding(&mut self, first: u32, planes: u64) {
        if !matches!(self.txns[first].kind, Kind::Program | Kind::GcProgram) {
            return;
        }
        let (mut pages, mut each) = (0, first);
        while each != NONE {
            pages += 1;
            each = self.txns[each].next;
        }
        let padded = self.counts.padded_pages.as_mut().expect("programs take several pages");
        *padded += planes * u64::from(self.together) - pages;
    }
}

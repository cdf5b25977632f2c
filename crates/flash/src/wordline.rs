//! Programs of several pages: a wordline is gathered, or padded after a timeout.

use std::ops::Range;

use reprieve_base::Time;
use reprieve_base::event::Schedule;
use reprieve_policy::stream::FRONTS;
use reprieve_policy::txn::{NONE, Txn};

use super::FlashEvent;
use super::dies::Dies;
use super::multi_plane::PlaneSet;

/// A set of open blocks of a die.
#[derive(Default)]
pub(super) struct OpenBlocks {
    planes: [PlaneSet; FRONTS],
    pub(super) count: u32,
}

impl OpenBlocks {
    /// Adds the plane of a program to a set; false if it is in it.
    pub(super) fn insert(&mut self, plane: u32, front: u8) -> bool {
        let is_new = self.planes[usize::from(front)].insert(plane);
        self.count += u32::from(is_new);
        is_new
    }
}

impl Dies {
    /// The oldest host program or erase that can begin: of a wordline that is complete, or whose
    /// oldest page has waited for long enough.
    #[inline]
    pub(super) fn next_write(&self, die: u32, now: Time) -> Option<u32> {
        let first = self[die].writes.first();
        if self.facts.together == 1 { first } else { self.first_ready(first, now) }
    }

    #[cold]
    fn first_ready(&self, first: Option<u32>, now: Time) -> Option<u32> {
        let mut id = first?;
        let open_blocks = self[self.txns[id].die].open_blocks();
        let mut seen = OpenBlocks::default();
        while id != NONE {
            // Of an open block only the oldest can begin.
            let Txn { at, front, next, .. } = self.txns[id];
            if seen.insert(at.plane, front) {
                if self.is_ready(id, now) {
                    return Some(id);
                }
                if open_blocks == Some(seen.count) {
                    return None;
                }
            }
            id = next;
        }
        None
    }

    /// Whether a program or erase, the oldest of its open block, can start by its wordline.
    pub(super) fn is_ready(&self, id: u32, now: Time) -> bool {
        let txn = &self.txns[id];
        let flushed = self.flushed[usize::from(txn.front)];
        self.facts.is_ready(&self[txn.die], txn, flushed, now)
    }

    /// Makes the die decide again when the page that has waited longest has waited for long enough.
    pub(super) fn look_again(&mut self, die: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let unit = &mut self.units[die as usize];
        let soonest = unit.planes.next_due(&self.txns, now);
        if soonest < Time::NEVER && (unit.looks_at <= now || soonest < unit.looks_at) {
            unit.looks_at = soonest;
            out.schedule(soonest, FlashEvent::Wake { die });
        }
    }

    /// Stops queued pages from waiting for the rest of their wordline.
    pub fn flush(&mut self) {
        self.flush_fronts(0..FRONTS);
    }

    /// As `flush`, for these open blocks of planes.
    pub fn flush_fronts(&mut self, fronts: Range<usize>) {
        if self.facts.together > 1 {
            self.flushed[fronts].fill(self.arrivals);
            self.wake_all();
        }
    }
}

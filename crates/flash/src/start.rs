//! Starts of operations on a free die: channel, power, and the transactions of the command.

use reprieve_base::event::Schedule;
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::{GcNeed, Work};

use super::{Decisions, FlashEvent};

impl<W: Work, S: Schedule<FlashEvent>> Decisions<'_, W, S> {
    /// Starts the array read of a queued transaction; false if it has to wait for the channel.
    #[inline(always)]
    pub(super) fn start_read(&mut self, id: u32) -> bool {
        let controller = &mut self.flash.controller;
        let Txn { die, kind, mark, at, .. } = controller.dies.txns[id];
        if !controller.can_begin((die, kind, mark), self.now, self.grant) {
            return false;
        }
        let unit = &mut controller.dies.units[die as usize];
        if controller.suspension.limits_suspension() {
            unit.count_read(at.plane);
        }
        unit.reads.remove(&mut controller.dies.txns, id);
        self.work.locate(&mut controller.dies.txns[id]);
        if controller.dies.facts.gathers {
            self.gathering().gather_reads(id);
        }
        self.flash.controller.sense(id, self.now, self.out);
        true
    }

    pub(super) fn start_write(&mut self, die: u32, unsuspendable: bool) {
        let controller = &mut self.flash.controller;
        let Some(id) = controller.dies.next_write(die, self.now) else { return };
        let Txn { kind, mark, .. } = controller.dies.txns[id];
        if !controller.can_begin((die, kind, mark), self.now, self.grant) {
            return;
        }
        let is_program = kind.is_program();
        if is_program && !self.work.place(&mut controller.dies.txns[id]) {
            let is_suspended = controller.dies[die].die.is_suspended();
            assert!(!is_suspended, "a program had room and has none");
            if !self.sense_for_room(die) {
                self.start_gc(die);
            }
            return;
        }
        controller.dies.take_write(die, id, is_program);
        let runs_on = !controller.dies.facts.slc_suspends && controller.dies.is_slc(id);
        controller.dies.txns[id].unsuspendable = unsuspendable || runs_on;
        if controller.dies.facts.gathers {
            self.gathering().gather_writes(id);
        }
        self.flash.controller.start(id, self.now, self.out);
    }

    /// Senses again a page of garbage collection, before a write that needs its block; false if
    /// there is none.
    fn sense_for_room(&mut self, die: u32) -> bool {
        let dies = &self.flash.controller.dies;
        if dies[die].gc_decoding == 0 {
            return false;
        }
        let mut id = dies[die].reads.first().unwrap_or(NONE);
        while id != NONE && dies.txns[id].kind != Kind::GcRead {
            id = dies.txns[id].next;
        }
        if id != NONE {
            self.start_read(id);
        }
        // Else its page is being decoded, which wakes the die.
        true
    }

    pub(super) fn start_gc(&mut self, die: u32) {
        let Some(kind) = self.work.gc_next(die) else { return };
        let controller = &mut self.flash.controller;
        let since = controller.dies[die].gc_waits.map_or(self.now, |waiter| waiter.since);
        if !controller.can_begin((die, kind, since), self.now, self.grant) {
            return;
        }
        if controller.dies.facts.gc_holds_channel
            && !controller.keeps_channel(die, kind, self.now, self.grant)
        {
            return;
        }
        let id = controller.dies.txns.insert_with(|| self.work.gc_take(die, self.now));
        let taken = controller.dies.txns[id].kind;
        debug_assert_eq!(taken, kind, "garbage collection took another step than it named");
        controller.dies.units[die as usize].gc_waits = None;
        if controller.dies.facts.gathers {
            self.gathering().gather_gc(id);
        }
        if kind.is_read() {
            self.flash.controller.sense(id, self.now, self.out);
            self.look_for_more(die);
            return;
        }
        self.flash.controller.start(id, self.now, self.out);
        if self.work.gc_need(die) == GcNeed::Exclusive {
            // A read that had to wait for the start may suspend it at once.
            self.out.schedule(self.now, FlashEvent::Wake { die });
        }
    }
}

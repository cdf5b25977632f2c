//! Starts of a free die: whether it has channel and power, and which transactions go together.

use reprieve_base::Time;
use reprieve_base::event::Schedule;
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::{GcNeed, Work};

use super::channel::Grant;
use super::gathering::Gathering;
use super::{Flash, FlashEvent};

impl Flash {
    /// Returns the sources of commands.
    pub(super) fn gathering(&mut self) -> Gathering<'_> {
        Gathering {
            dies: &mut self.controller.dies,
            eligibility: &self.controller.suspension.eligibility,
            joins_requests: self.stage.joins_requests(),
        }
    }

    /// Begins the array read of a queued transaction; false if it has to wait for the channel.
    #[inline(always)]
    pub(super) fn start_read<W: Work>(
        &mut self,
        id: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) -> bool {
        let controller = &mut self.controller;
        let Txn { die, kind, mark, at, .. } = controller.dies.txns[id];
        if !controller.can_begin((die, kind, mark), now, grant) {
            return false;
        }
        let unit = &mut controller.dies.units[die as usize];
        if controller.suspension.limits_suspension() {
            unit.count_read(at.plane);
        }
        unit.reads.remove(&mut controller.dies.txns, id);
        work.locate(&mut controller.dies.txns[id]);
        if controller.dies.facts.gathers {
            self.gathering().gather_reads(id, work);
        }
        self.controller.sense(id, now, out);
        true
    }

    pub(super) fn start_write<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        (grant, unsuspendable): (Grant, bool),
    ) {
        let controller = &mut self.controller;
        let Some(id) = controller.dies.next_write(die, now) else { return };
        let Txn { kind, mark, .. } = controller.dies.txns[id];
        if !controller.can_begin((die, kind, mark), now, grant) {
            return;
        }
        let is_program = kind.is_program();
        if is_program && !work.place(&mut controller.dies.txns[id]) {
            let is_suspended = controller.dies[die].die.is_suspended();
            assert!(!is_suspended, "a program had room and has none");
            if !self.sense_for_room(die, now, work, out, grant) {
                self.start_gc(die, now, work, out, grant);
            }
            return;
        }
        controller.dies.take_write(die, id, is_program);
        controller.dies.txns[id].unsuspendable = unsuspendable;
        if controller.dies.facts.gathers {
            self.gathering().gather_writes(id, now, work);
        }
        self.controller.start(id, now, out);
    }

    /// Senses a page again that garbage collection waits for, ahead of a write that waits for the
    /// room that it makes; false if no collection waits for a page.
    fn sense_for_room<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) -> bool {
        let dies = &self.controller.dies;
        if dies[die].gc_decoding == 0 {
            return false;
        }
        let mut id = dies[die].reads.first().unwrap_or(NONE);
        while id != NONE && dies.txns[id].kind != Kind::GcRead {
            id = dies.txns[id].next;
        }
        if id != NONE {
            self.start_read(id, now, work, out, grant);
        }
        // Else its page is being decoded, and will wake the die.
        true
    }

    pub(super) fn start_gc<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let Some(kind) = work.gc_next(die) else { return };
        let controller = &mut self.controller;
        let since = controller.dies[die].gc_waits.map_or(now, |waiter| waiter.since);
        if !controller.can_begin((die, kind, since), now, grant) {
            return;
        }
        if controller.dies.facts.gc_holds_channel
            && !controller.keeps_channel(die, kind, now, grant)
        {
            return;
        }
        let id = controller.dies.txns.insert_with(|| work.gc_take(die, now));
        let taken = controller.dies.txns[id].kind;
        debug_assert_eq!(taken, kind, "garbage collection took another step than it named");
        controller.dies.units[die as usize].gc_waits = None;
        if controller.dies.facts.gathers {
            self.gathering().gather_gc(id, now, work);
        }
        if kind.is_read() {
            self.controller.sense(id, now, out);
            self.look_for_more(die, now, work, out);
            return;
        }
        self.controller.start(id, now, out);
        if work.gc_need(die) == GcNeed::Exclusive {
            // A read that had to let it begin may ask at once for its suspension.
            out.schedule(now, FlashEvent::Poke { die });
        }
    }
}

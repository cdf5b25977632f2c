//! What a free die begins: whether it has channel and power for it, and what goes with it.

use reprieve_base::event::Schedule;
use reprieve_base::{Dur, Time};
use reprieve_policy::txn::{Kind, Txn};
use reprieve_policy::work::{GcNeed, Work};

use super::channel::Grant;
use super::{Flash, FlashEvent};

impl Flash {
    /// Whether the die has the channel; if not, it stands in line for it afterwards.
    #[inline(always)]
    pub(super) fn has_channel(&mut self, die: u32, now: Time, grant: Grant, kind: Kind) -> bool {
        let unit = &mut self.units[die as usize];
        let channel = &mut self.channels[unit.channel as usize];
        if grant == Grant::Given || channel.is_available(die, now) {
            channel.taken_by(die);
            return true;
        }
        if !unit.in_line[usize::from(!kind.is_read())] {
            self.join_line(die, kind);
        }
        false
    }

    #[inline(never)]
    fn join_line(&mut self, die: u32, kind: Kind) {
        let unit = &mut self.units[die as usize];
        unit.in_line[usize::from(!kind.is_read())] = true;
        let channel = unit.channel;
        self.channels[channel as usize].wait_start(die, kind);
        self.wake_channel(channel);
    }

    /// Whether a free die has all that an operation needs to begin; else it waits for the channel.
    #[inline(always)]
    pub(super) fn can_begin(
        &mut self,
        (die, kind, since): (u32, Kind, Time),
        now: Time,
        grant: Grant,
    ) -> bool {
        let is_program = kind.is_program();
        if is_program && self.units[die as usize].die.output_in_use() {
            // The page that comes in would need the register from which one still leaves.
            return false;
        }
        if self.observers.budget.is_some() && !self.has_power(die, kind, since) {
            return false;
        }
        let needs_channel = is_program || self.facts.timing.command > Dur::ZERO;
        !needs_channel || self.has_channel(die, now, grant, kind)
    }

    pub(super) fn start_write<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        (grant, unsuspendable): (Grant, bool),
    ) {
        let Some(id) = self.next_write(die, now) else { return };
        let Txn { kind, mark, .. } = self.txns[id];
        if !self.can_begin((die, kind, mark), now, grant) {
            return;
        }
        let is_program = kind.is_program();
        if is_program && !work.place(&mut self.txns[id]) {
            assert!(
                !self.units[die as usize].die.is_suspended(),
                "a program had room and has none"
            );
            if !self.sense_for_room(die, now, work, out, grant) {
                self.start_gc(die, now, work, out, grant);
            }
            return;
        }
        let unit = &mut self.units[die as usize];
        unit.writes.remove(&mut self.txns, id);
        unit.pending_programs -= u32::from(is_program);
        self.write_queue.pending -= u32::from(is_program);
        self.txns[id].unsuspendable = unsuspendable;
        if self.facts.gathers {
            self.gathering().gather_writes(id, now, work);
        }
        self.start(id, now, out);
    }

    /// Keeps the channel for a die that moves pages, and gives it back before the erase; says
    /// whether the step can begin.
    #[cold]
    fn holds_for(&mut self, die: u32, kind: Kind, now: Time, grant: Grant) -> bool {
        if kind == Kind::Erase {
            self.release_channel(die);
            return true;
        }
        let channel = self.channel_of(die);
        if self.channels[channel].is_held_by(die) {
            return true;
        }
        // Where commands take no time a read begins without the channel.
        let has_it = kind.is_program() || self.facts.timing.command > Dur::ZERO;
        if !has_it && !self.has_channel(die, now, grant, kind) {
            return false;
        }
        self.channels[channel].set_holder(Some(die));
        true
    }

    /// Gives the channel back that a die has kept, if it has.
    pub(super) fn release_channel(&mut self, die: u32) {
        let channel = self.channel_of(die);
        if self.channels[channel].is_held_by(die) {
            self.channels[channel].set_holder(None);
            self.wake_channel(channel as u32);
        }
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
        let since = self.units[die as usize].gc_waits.map_or(now, |waiter| waiter.since);
        if !self.can_begin((die, kind, since), now, grant) {
            return;
        }
        if self.facts.gc_holds_channel && !self.holds_for(die, kind, now, grant) {
            return;
        }
        let id = self.txns.insert_with(|| work.gc_take(die, now));
        let taken = self.txns[id].kind;
        debug_assert_eq!(taken, kind, "garbage collection took another step than it named");
        self.units[die as usize].gc_waits = None;
        if self.facts.gathers {
            self.gathering().gather_gc(id, now, work);
        }
        if kind.is_read() {
            self.sense(id, now, out);
            self.look_for_more(die, now, work, out);
            return;
        }
        self.start(id, now, out);
        if work.gc_need(die) == GcNeed::Exclusive {
            // A read that had to let it begin may ask at once for its suspension.
            out.schedule(now, FlashEvent::Poke { die });
        }
    }
}

//! Cache program: the page of the next program comes in while one runs.

use reprieve_base::Time;
use reprieve_nand::MultiPlane;

use super::decide::Grant;
use super::{Flash, FlashEvent};
use crate::event::Schedule;
use crate::sched::Choice;
use crate::seen::{Extent, Seen};
use crate::txn::{Kind, NONE, Part};
use crate::work::Work;

impl Flash {
    /// Takes the page of the next host program, if that is what the die would begin if it were
    /// free, and it does not begin a block: the block before it is not full yet.
    #[cold]
    pub(super) fn consider_loading<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let unit = &self.units[die as usize];
        let Some(id) = unit.writes.first() else { return };
        if !unit.die.takes_load(now) || self.txns[id].kind != Kind::Program {
            return;
        }
        let read = unit.reads.first();
        let view = self.view::<W, true>(die, read, now, work);
        if view.gc_runs_through
            || self.choose(die, read, &view, work) != Choice::Write
            || work.next_page(&self.txns[id]).is_none_or(|next| next.page == 0)
            || !self.has_channel(die, now, grant, Kind::Program)
        {
            return;
        }
        let placed = work.place(&mut self.txns[id]);
        assert!(placed, "a plane that named its next page has none");
        let unit = &mut self.units[die as usize];
        unit.writes.remove(&mut self.txns, id);
        unit.pending_programs -= 1;
        self.write_queue.pending -= 1;
        let txn = &mut self.txns[id];
        txn.unsuspendable = view.writes_first || view.read.is_some();
        if self.parallelism.multi_plane != MultiPlane::None {
            self.gather_planes(id, now, work);
        }
        self.load(id, now, out);
    }

    /// Begins the transfer of a program's page, and of those that follow it, in no queue any more.
    fn load(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let planes = self.list_others(id);
        let (die, at) = (self.txns[id].die, self.txns[id].at);
        let unit = &mut self.units[die as usize];
        let until = match unit.die.load(now, at, &self.others) {
            Ok(until) => until,
            Err(refusal) => {
                self.refused.get_or_insert((id, refusal));
                return;
            }
        };
        unit.loaded = id;
        let transfer = (self.timing.command + self.timing.bus) * planes;
        let mut each = id;
        while each != NONE {
            let txn = &mut self.txns[each];
            unit.seen.note(Seen::Program(now, Extent::of_page(txn.at, each != id)));
            txn.book(Part::Queue, now);
            txn.parts.add(Part::Bus, transfer.ns());
            txn.mark = until;
            txn.start = now;
            each = txn.next;
        }
        let channel = self.channel_of(die);
        self.channels[channel].occupy(now, transfer);
        // If the program before it has ended by then, the next page can follow.
        out.schedule(until, FlashEvent::Poke { die });
        if self.listens {
            self.tell_load(id, now, transfer, planes);
        }
    }

    /// The program that was loaded takes the array from one that has ended.
    #[cold]
    pub(super) fn begin_loaded(
        &mut self,
        die: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.units[die as usize];
        unit.operation = std::mem::replace(&mut unit.loaded, NONE);
        let until = unit.die.running_until().expect("the program that was loaded runs");
        unit.promise(die, until, out);
        let mut each = unit.operation;
        while each != NONE {
            let txn = &mut self.txns[each];
            if txn.mark < now {
                // In the register, behind the program before it: no part of its service.
                txn.start = txn.start + (now - txn.mark);
                txn.book(Part::Queue, now);
            }
            each = txn.next;
        }
        if self.listens {
            self.tell_loaded(die, now);
        }
    }
}

//! Cache program: the page of the next program comes in while one runs.

use reprieve_base::Time;
use reprieve_base::event::Schedule;
use reprieve_policy::sched::Choice;
use reprieve_policy::txn::Kind;
use reprieve_policy::work::Work;

use super::channel::Grant;
use super::{Flash, FlashEvent};

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
        if self.facts.together > 1 {
            self.look_again(die, now, out);
        }
        let Some(id) = self.next_write(die, now) else { return };
        let unit = &self.units[die as usize];
        if !unit.die.takes_load(now) || self.txns[id].kind != Kind::Program {
            return;
        }
        let read = unit.reads.first();
        let view = self.view(die, read, now, work);
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
        if self.facts.gathers {
            self.gathering().gather_writes(id, now, work);
        }
        self.load(id, now, out);
    }
}

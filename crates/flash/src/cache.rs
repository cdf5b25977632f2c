//! Cache program: the data of the next program comes in while one runs.

use reprieve_base::event::Schedule;
use reprieve_policy::sched::Choice;
use reprieve_policy::txn::Kind;
use reprieve_policy::work::Work;

use super::{Decisions, Flash, FlashEvent};

impl<W: Work, S: Schedule<FlashEvent>> Decisions<'_, W, S> {
    /// Loads the data of the next host program, if the die would start it when free and it is not
    /// the first of a block, whose predecessor is not full yet.
    #[cold]
    pub(super) fn consider_loading(&mut self, die: u32) {
        let Flash { controller, serving, .. } = &mut *self.flash;
        if controller.dies.facts.together > 1 {
            controller.dies.look_again(die, self.now, self.out);
        }
        let Some(id) = controller.dies.next_write(die, self.now) else { return };
        let unit = &controller.dies[die];
        if !unit.die.takes_load(self.now) || controller.dies.txns[id].kind != Kind::Program {
            return;
        }
        let read = unit.reads.first();
        let view = serving.view(controller, (die, read), self.now, self.work);
        if view.gc_runs_through
            || serving.choose(&mut controller.dies, (die, read), &view, self.work) != Choice::Write
            || self.work.next_page(&controller.dies.txns[id]).is_none_or(|next| next.page == 0)
            || !controller.has_channel(die, self.now, self.grant, Kind::Program)
        {
            return;
        }
        let placed = self.work.place(&mut controller.dies.txns[id]);
        assert!(placed, "a plane that named its next page has none");
        controller.dies.take_write(die, id, true);
        controller.dies.txns[id].unsuspendable = view.writes_first || view.read.is_some();
        if controller.dies.facts.gathers {
            self.gathering().gather_writes(id);
        }
        self.flash.controller.load(id, self.now, self.out);
    }
}

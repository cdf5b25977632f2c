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
        let Flash { controller, serving, .. } = self;
        if controller.dies.facts.together > 1 {
            controller.dies.look_again(die, now, out);
        }
        let Some(id) = controller.dies.next_write(die, now) else { return };
        let unit = &controller.dies[die];
        if !unit.die.takes_load(now) || controller.dies.txns[id].kind != Kind::Program {
            return;
        }
        let read = unit.reads.first();
        let view = serving.view(controller, (die, read), now, work);
        if view.gc_runs_through
            || serving.choose(&mut controller.dies, (die, read), &view, work) != Choice::Write
            || work.next_page(&controller.dies.txns[id]).is_none_or(|next| next.page == 0)
            || !controller.has_channel(die, now, grant, Kind::Program)
        {
            return;
        }
        let placed = work.place(&mut controller.dies.txns[id]);
        assert!(placed, "a plane that named its next page has none");
        controller.dies.take_write(die, id, true);
        controller.dies.txns[id].unsuspendable = view.writes_first || view.read.is_some();
        if controller.dies.facts.gathers {
            self.gathering().gather_writes(id, now, work);
        }
        self.controller.load(id, now, out);
    }
}

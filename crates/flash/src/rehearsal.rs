//! A back end that runs before the run: policies that are lent to it, and its end.

use reprieve_base::Order;
use reprieve_policy::Policies;
use reprieve_policy::txn::Kind;

use super::{Flash, Queue};

impl Flash {
    /// Takes these policies in place of those that it has, which say the same of themselves.
    pub fn exchange_policies(&mut self, policies: Policies) -> Policies {
        let Policies { scheduler, suspension } = policies;
        Policies {
            scheduler: std::mem::replace(&mut self.serving.scheduler, scheduler),
            suspension: self.suspension.exchange(suspension),
        }
    }

    /// The transactions that wait at no die, in order.
    pub fn at_no_die(&self) -> impl Iterator<Item = u32> {
        self.stage.unplaced.iter()
    }

    /// What waits has never come, but for pages that collection has begun to read.
    pub fn forget_waiting(&mut self) {
        self.stage.unplaced = Order::with_capacity(0);
        for unit in &mut self.units {
            let waiting = unit.reads.iter(&self.txns);
            let begun: Vec<u32> =
                waiting.filter(|id| self.txns[*id].kind == Kind::GcRead).collect();
            (unit.reads, unit.writes) = (Queue::new(), Queue::new());
            for id in begun {
                unit.reads.push(&mut self.txns, id);
            }
            unit.pending_programs = 0;
            if self.facts.together > 1 {
                unit.planes.waiting.fill(0);
            }
        }
    }
}

//! Round robin: every queue in turn, for a burst of commands each.

use reprieve_base::{Archive, Entry};
use reprieve_config::Nvme;

use super::{Arbiter, QueueView, Turns};

pub(super) const ENTRY: Entry = Entry {
    name: "round-robin",
    doc: "Every queue in turn, for arbitration_burst commands at most.",
};

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct RoundRobin {
    burst: u32,
    turns: Turns,
}

impl RoundRobin {
    pub(super) fn of(nvme: &Nvme) -> RoundRobin {
        let burst = nvme.burst.expect("the key has a default with this arbitration");
        RoundRobin { burst, turns: Turns::default() }
    }
}

impl Arbiter for RoundRobin {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(self);
    }

    fn pick(&mut self, queues: &dyn QueueView) -> Option<u32> {
        self.turns.pick(queues, |_| true, |_| self.burst)
    }
}

//! Weighted round robin: every queue in turn, for as many commands as its weight.

use reprieve_base::{Archive, Entry};
use reprieve_config::Nvme;

use super::{Arbiter, QueueView, Turns};

pub(super) const ENTRY: Entry = Entry {
    name: "weighted",
    doc: "Every queue in turn, for as many commands at most as its weight in queue_weights.",
};

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Weighted {
    weights: Vec<u32>,
    turns: Turns,
}

impl Weighted {
    pub(super) fn of(nvme: &Nvme) -> Weighted {
        Weighted { weights: nvme.weights.clone(), turns: Turns::default() }
    }
}

impl Arbiter for Weighted {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(self);
    }

    fn pick(&mut self, queues: &dyn QueueView) -> Option<u32> {
        self.turns.pick(queues, |_| true, |queue| self.weights[queue as usize])
    }
}

//! Arrival order: the oldest command of all queues.

use reprieve_base::Entry;

use super::{Arbiter, QueueView};

pub(super) const ENTRY: Entry = Entry {
    name: "arrival-order",
    doc: "The command that came first, whatever its queue: a busy queue delays the others.",
};

pub(super) struct ArrivalOrder;

impl Arbiter for ArrivalOrder {
    fn pick(&mut self, queues: &dyn QueueView) -> Option<u32> {
        let next = |after: &u32| queues.next_ready(after + 1);
        let ready = std::iter::successors(queues.next_ready(0), next);
        ready.min_by_key(|queue| queues.oldest(*queue))
    }
}

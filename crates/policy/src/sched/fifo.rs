//! First in, first out: one queue a die, in order of arrival, for all operations.

use reprieve_base::Entry;

use super::{Choice, DieView, Scheduler};

pub(super) const ENTRY: Entry = Entry {
    name: "fifo",
    doc: "one queue a die in order of arrival, whatever the operation; nothing is suspended",
};

pub(super) struct Fifo;

impl Scheduler for Fifo {
    fn choose(&self, view: &DieView) -> Choice {
        let waiting =
            [(view.read, Choice::Read), (view.write, Choice::Write), (view.urgent_gc, Choice::Gc)];
        let oldest = waiting.into_iter().filter_map(|(waiter, choice)| Some((waiter?, choice)));
        match oldest.min_by_key(|(waiter, _)| waiter.order) {
            Some((_, choice)) => choice,
            None if view.idle_gc => Choice::Gc,
            None => Choice::Wait,
        }
    }

    fn reads_first(&self) -> bool {
        false
    }
}

//! Read priority scheduling: pending reads before pending programs and erases.

use reprieve_base::Entry;

use super::{Choice, DieView, Scheduler};

pub(super) const ENTRY: Entry = Entry {
    name: "rps",
    doc: "pending reads before pending programs and erases; with suspension it is PES",
};

pub(super) struct Rps;

/// The order of read priority scheduling, which PER and PE0 share.
pub(super) fn choose(view: &DieView) -> Choice {
    if view.suspended.is_some() {
        return if view.must_resume {
            Choice::Resume
        } else if view.read.is_some() && !view.writes_first {
            Choice::Read
        } else if view.write_fits_inside {
            Choice::Write
        } else {
            Choice::Resume
        };
    }
    if view.writes_first {
        Choice::Write
    } else if view.read.is_some() {
        Choice::Read
    } else if view.urgent_gc.is_some() && !view.gc_gives_way {
        Choice::Gc
    } else if view.write.is_some() {
        Choice::Write
    } else if view.idle_gc {
        Choice::Gc
    } else {
        Choice::Wait
    }
}

impl Scheduler for Rps {
    fn choose(&self, view: &DieView) -> Choice {
        choose(view)
    }

    fn suspends(&self) -> bool {
        true
    }

    fn serves_reads_first(&self) -> bool {
        true
    }

    fn restricts_suspension(&self) -> bool {
        false
    }
}

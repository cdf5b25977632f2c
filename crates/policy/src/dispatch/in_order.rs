//! In-order dispatchers: first come, first served by pages, and by requests.
//!
//! They are the baselines of policies that look at the state of chips. Both act at every instant,
//! so that a held operation is released when its chip becomes free.

use reprieve_base::Entry;
use reprieve_config::Conflict;

use super::clump::Clump;
use super::{Dispatcher, DriveView, Queued};

pub(super) const FCFS: Entry = Entry {
    name: "fcfs",
    doc: "pages go in order of arrival, each when its chip is free, and until then all that came \
          later waits",
};

pub(super) const VAS: Entry = Entry {
    name: "vas",
    doc: "requests go in order of arrival: the pages of the oldest each when its chip is free, \
          those of the next when all of them have gone",
};

/// Pages examined first for the end of a request.
const LOOK_PAGES: usize = 16;

/// Units that are released in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OrderedUnit {
    Page,
    Request,
}

/// The policy.
pub(super) struct InOrder {
    unit: OrderedUnit,
    /// Candidates: the oldest page, or those of the oldest request.
    oldest: Vec<Queued>,
    clump: Clump,
}

impl InOrder {
    pub(super) fn new(unit: OrderedUnit) -> InOrder {
        InOrder { unit, oldest: Vec::new(), clump: Clump::default() }
    }

    /// Finds the candidates for release.
    ///
    /// Pages of a request are consecutive. A complete request, with its pages in the buffer, has no
    /// number any more: each of its pages is a unit.
    fn look(&mut self, drive: &dyn DriveView) {
        let mut pages = match self.unit {
            OrderedUnit::Page => 1,
            OrderedUnit::Request => LOOK_PAGES,
        };
        loop {
            let oldest = &mut self.oldest;
            oldest.clear();
            let mut ended = false;
            drive.for_each_unplaced_of(0..pages, &mut |queued| {
                let belongs =
                    |first: &Queued| queued.request.is_some() && queued.request == first.request;
                ended = ended || !oldest.first().is_none_or(belongs);
                if !ended {
                    oldest.push(*queued);
                }
            });
            if ended || self.unit == OrderedUnit::Page || pages >= drive.unplaced() {
                return;
            }
            pages *= 2;
        }
    }
}

impl Dispatcher for InOrder {
    fn places(&self) -> bool {
        false
    }

    fn holds(&self) -> bool {
        true
    }

    fn place(&mut self, drive: &dyn DriveView) -> Option<(u32, u32)> {
        self.look(drive);
        self.clump.next_of(&self.oldest, Conflict::Chip, drive)
    }
}

//! PAQ, physically addressed queueing (Jung, Wilson and Kandemir, ISCA 2012): clumps of operations
//! without resource conflicts.

use reprieve_base::Entry;
use reprieve_config::{Conflict, Dispatch};

use super::clump::Clump;
use super::{Dispatcher, DriveView, Queued};

pub(super) const ENTRY: Entry = Entry {
    name: "paq",
    doc: "of the first operations that wait, those go to the dies whose chips are free, and with \
          them what one command can take; the others are held back",
};

/// The policy: operations released at an instant form a clump.
pub(super) struct Paq {
    window: usize,
    conflict: Conflict,
    waiting: Vec<Queued>,
    /// Operations released at this instant.
    clump: Clump,
}

impl Paq {
    pub(super) fn new(dispatch: &Dispatch) -> Paq {
        let paq = dispatch.paq.expect("the scenario has its settings");
        Paq {
            window: paq.window as usize,
            conflict: paq.conflict,
            waiting: Vec::new(),
            clump: Clump::default(),
        }
    }
}

impl Dispatcher for Paq {
    fn places(&self) -> bool {
        false
    }

    fn holds(&self) -> bool {
        true
    }

    fn place(&mut self, drive: &dyn DriveView) -> Option<(u32, u32)> {
        let waiting = &mut self.waiting;
        waiting.clear();
        drive.for_each_unplaced_of(0..self.window, &mut |queued| waiting.push(*queued));
        self.clump.next_of(waiting, self.conflict, drive)
    }
}

//! PAQ, physically addressed queueing (Jung, Wilson and Kandemir, ISCA 2012): clumps of operations
//! that do not get in each other's way.

use reprieve_base::Entry;

use super::{Dispatcher, DriveView, Queued, packs};
use crate::scenario::{Conflict, Dispatch};

pub(super) const ENTRY: Entry = Entry {
    name: "paq",
    doc: "of the first operations that wait, those go to the dies whose chips are free, and with \
          them what one command can take; the others are held back",
};

/// The policy: what it lets go at an instant is a clump.
pub(super) struct Paq {
    window: usize,
    conflict: Conflict,
    waiting: Vec<Queued>,
    /// What has been let go at this instant.
    clump: Vec<Queued>,
}

impl Paq {
    pub(super) fn new(dispatch: &Dispatch) -> Paq {
        let paq = dispatch.paq.expect("the scenario has its settings");
        Paq {
            window: paq.window as usize,
            conflict: paq.conflict,
            waiting: Vec::new(),
            clump: Vec::new(),
        }
    }

    /// Whether the chip, or die, of an operation is free for it.
    fn is_free(&self, queued: &Queued, drive: &dyn DriveView) -> bool {
        let geometry = drive.geometry();
        let die = queued.plane.expect("placed") / geometry.planes_per_die;
        let dies = match self.conflict {
            Conflict::Die => 1,
            Conflict::Chip => geometry.dies_per_channel / geometry.chips_per_channel,
        };
        let first = die - die % dies;
        (first..first + dies).all(|other| match queued.is_read {
            true => drive.takes_read(other),
            false => !drive.serves_host(other),
        })
    }

    /// Whether an operation goes with one that has been let go at this instant.
    ///
    /// A plane gets as many as a command takes of it: a page, or those of a wordline to program.
    fn joins(&self, queued: &Queued, drive: &dyn DriveView) -> bool {
        let of_plane = |member: &&Queued| member.plane == queued.plane;
        let has = self.clump.iter().filter(of_plane).count() as u32;
        let takes = if queued.is_read { 1 } else { drive.pages_together() };
        let beside = |member: &Queued| {
            member.plane == queued.plane && member.is_read == queued.is_read
                || packs(drive, member, queued)
        };
        has < takes && self.clump.iter().any(beside)
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
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.clear();
        drive.for_each_unplaced_of(0..self.window, &mut |queued| waiting.push(*queued));
        let chosen = waiting
            .iter()
            .find(|queued| self.is_free(queued, drive) || self.joins(queued, drive))
            .copied();
        self.waiting = waiting;
        match chosen {
            Some(queued) => self.clump.push(queued),
            None => self.clump.clear(),
        }
        chosen.map(|queued| (queued.id, queued.plane.expect("placed")))
    }
}

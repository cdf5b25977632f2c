//! The write queue limit: which pending programs it counts, and whether it is reached.

use reprieve_config::{LimitScope, Scheduling};

use super::die::DieUnit;
use super::dies::Dies;

/// The limit, and the programs that wait at the dies of the whole drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteQueue {
    limit: u32,
    /// It is held against the programs of the drive; else against those of each die.
    pub(super) of_drive: bool,
    /// Programs that wait at all dies together.
    pub(super) pending: u32,
    /// Of the drive: whether it was reached when dies were last told so.
    was_reached: bool,
}

impl WriteQueue {
    pub(super) fn new(scheduling: &Scheduling) -> WriteQueue {
        let limit = scheduling.write_queue_limit;
        WriteQueue {
            limit: limit.unwrap_or(u32::MAX),
            of_drive: limit.is_some() && scheduling.write_queue_limit_scope == LimitScope::Drive,
            pending: 0,
            was_reached: false,
        }
    }

    /// Goes on with other rules.
    pub(super) fn set_rules(&mut self, scheduling: &Scheduling) {
        let WriteQueue { limit, of_drive, .. } = WriteQueue::new(scheduling);
        (self.limit, self.of_drive) = (limit, of_drive);
    }

    /// Whether the programs that wait at a die go ahead of its reads.
    #[inline(always)]
    pub(super) fn is_reached(&self, unit: &DieUnit) -> bool {
        let pending = if self.of_drive { self.pending } else { unit.pending_programs };
        pending >= self.limit
    }

    /// Whether dies have to be told that the drive has come to its limit, or is below it again.
    pub(super) fn has_changed(&self) -> bool {
        self.of_drive && (self.pending >= self.limit) != self.was_reached
    }
}

impl Dies {
    /// Makes every die decide if what the limit says of the drive has changed.
    #[cold]
    pub(super) fn tell_limit(&mut self) {
        if self.limit.has_changed() {
            self.limit.was_reached = !self.limit.was_reached;
            self.wake_all();
        }
    }
}

//! The write queue limit: the pending programs that it counts, and whether it is reached.

use reprieve_config::{LimitScope, Scheduling};

use super::die::DieUnit;

/// The limit, and the programs that wait at the dies of the whole drive.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct WriteQueue {
    limit: u32,
    /// The limit is for the programs of the drive; else for those of each die.
    pub(super) of_drive: bool,
    /// Programs that wait at all dies.
    pub(super) pending: u32,
    /// Whether the limit of the drive was reached when dies were last woken for it.
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

    /// Whether the drive has reached its limit, or fallen below it, since dies were last woken.
    pub(super) fn has_changed(&self) -> bool {
        self.of_drive && (self.pending >= self.limit) != self.was_reached
    }

    /// Returns whether it has changed since the last call.
    pub(super) fn take_change(&mut self) -> bool {
        let has_changed = self.has_changed();
        self.was_reached ^= has_changed;
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_that_comes_to_its_limit_says_so_once() {
        let mut queue = WriteQueue { limit: 2, of_drive: true, pending: 2, was_reached: false };
        assert_eq!((queue.take_change(), queue.take_change()), (true, false));
        queue.pending = 3;
        assert!(!queue.take_change());
        queue.pending = 1;
        assert_eq!((queue.take_change(), queue.take_change()), (true, false));
        let mut of_dies = WriteQueue { of_drive: false, pending: 2, ..queue };
        assert!(!of_dies.take_change());
    }
}

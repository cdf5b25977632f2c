//! Turns of drives to collect: of each group those that lack the most free blocks have them.

use std::cmp::Reverse;

use reprieve_base::{Dur, Time, UserError};

use crate::member::Member;
use crate::options::Options;

/// Which drives have a turn, and when the array looks at them again.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Drives of a group, of which a stripe has a chunk each.
    group: usize,
    /// Drives of a group that have a turn at a time.
    most: usize,
    interval: Dur,
    pub due: Time,
    has_turn: Vec<bool>,
}

impl Turns {
    pub fn new(options: &Options) -> Option<Turns> {
        let (group, most) = (options.group(), options.collecting_drives?);
        let (interval, has_turn) = (options.collection_poll(), vec![false; options.drives]);
        Some(Turns { group, most, interval, due: Time::ZERO, has_turn })
    }

    /// Whether a drive has a turn.
    pub fn has(&self, drive: usize) -> bool {
        self.has_turn[drive]
    }

    /// Gives turns to the drives that lack most; of equals a drive keeps its turn.
    pub fn poll(&mut self, members: &mut [Member]) -> Result<(), UserError> {
        let groups = members.chunks_mut(self.group).zip(self.has_turn.chunks_mut(self.group));
        for (members, has_turn) in groups {
            let lack = |drive: &usize| members[*drive].drive.blocks_to_collect();
            let mut drives: Vec<usize> =
                (0..members.len()).filter(|drive| lack(drive) > 0).collect();
            drives.sort_by_key(|drive| (Reverse(lack(drive)), !has_turn[*drive]));
            drives.truncate(self.most);
            for (drive, (member, has_turn)) in members.iter_mut().zip(has_turn).enumerate() {
                let gets = drives.contains(&drive);
                if gets != std::mem::replace(has_turn, gets) {
                    member.let_collect(self.due, gets)?;
                }
            }
        }
        self.due = self.due + self.interval;
        Ok(())
    }
}

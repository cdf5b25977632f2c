//! PAQ's I/O clumping: operations released at one instant, each on an idle chip or in a command
//! with another.

use reprieve_config::Conflict;

use super::{DriveView, Queued, packs};

/// Operations released at an instant that do not conflict.
#[derive(Debug, Default)]
pub(super) struct Clump {
    members: Vec<Queued>,
}

impl Clump {
    /// Returns the first operation that can be released now, and its plane, which it occupies;
    /// `None` ends the instant.
    pub(super) fn next_of(
        &mut self,
        waiting: &[Queued],
        conflict: Conflict,
        drive: &dyn DriveView,
    ) -> Option<(u32, u32)> {
        let Some(next) = waiting.iter().find(|queued| self.take(queued, conflict, drive)) else {
            self.members.clear();
            return None;
        };
        Some((next.id, next.plane.expect("placed")))
    }

    /// Takes an operation if it can be released now.
    fn take(&mut self, queued: &Queued, conflict: Conflict, drive: &dyn DriveView) -> bool {
        let takes = is_free(queued, conflict, drive) || self.joins(queued, drive);
        if takes {
            self.members.push(*queued);
        }
        takes
    }

    /// Whether an operation shares the command of one that was released at this instant.
    ///
    /// A plane gets as many as its command holds: a page, or the pages of a wordline to program.
    fn joins(&self, queued: &Queued, drive: &dyn DriveView) -> bool {
        let of_plane = |member: &&Queued| member.plane == queued.plane;
        let has = self.members.iter().filter(of_plane).count() as u32;
        let takes = if queued.is_read { 1 } else { drive.pages_together() };
        let beside = |member: &Queued| {
            member.plane == queued.plane && member.is_read == queued.is_read
                || packs(drive, member, queued)
        };
        has < takes && self.members.iter().any(beside)
    }
}

/// Whether the chip, or die, of an operation is free for it.
fn is_free(queued: &Queued, conflict: Conflict, drive: &dyn DriveView) -> bool {
    let geometry = drive.geometry();
    let die = queued.plane.expect("placed") / geometry.planes_per_die;
    let dies = match conflict {
        Conflict::Die => 1,
        Conflict::Chip => geometry.dies_per_channel / geometry.chips_per_channel,
    };
    let first = die - die % dies;
    (first..first + dies).all(|other| match queued.is_read {
        true => drive.takes_read(other),
        false => !drive.serves_host(other),
    })
}

//! Sprinkler (Jung and Kandemir, HPCA 2014): composition by resource, and the most parallel first.
//!
//! All operations of a die are in its queue, so that a command is composed of any of them: that is
//! the over-commitment. The choice left is which of them form the command.

use std::cmp::Reverse;

use reprieve_base::Entry;
use reprieve_nand::MultiPlane;

use super::{Dispatcher, DriveView, Queued, of_kind};

pub(super) const ENTRY: Entry = Entry {
    name: "sprinkler",
    doc: "of what waits for a die, what most planes can do together goes first, then what has most \
          pages of one request; chips at the same place of all channels before the next",
};

/// Operations that fit one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    /// The oldest of them.
    head: Queued,
    /// Planes used at once.
    overlap_depth: u32,
    /// Most operations of one request.
    connectivity: u32,
}

/// The policy, with scratch memory.
#[derive(Default)]
pub(super) struct Sprinkler {
    waiting: Vec<Queued>,
    /// Offset in the block, block if relevant, order of arrival, and index in `waiting`: small keys
    /// are sorted at each decision.
    ranks: Vec<(u32, Option<u32>, u64, u32)>,
    members: Vec<Queued>,
    /// Overlap depth and connectivity, and the die.
    dies: Vec<(u32, u32, u32)>,
}

impl Sprinkler {
    /// Returns the best group of a die: the deepest, then the best connected, the oldest.
    fn best(&mut self, die: u32, reads: bool, drive: &dyn DriveView) -> Option<Group> {
        of_kind(drive, die, reads, &mut self.waiting);
        let single = drive.multi_plane() == MultiPlane::None;
        let by_block = drive.multi_plane() == MultiPlane::Block;
        let mut best: Option<Group> = None;
        self.ranks.clear();
        for (index, queued) in self.waiting.iter().enumerate() {
            match queued.page {
                Some(page) if !single => {
                    let block = if by_block { queued.block } else { None };
                    self.ranks.push((page, block, queued.order, index as u32));
                }
                _ => take_better(&mut best, &[*queued]),
            }
        }
        // The order of arrival is kept within each group.
        self.ranks.sort_unstable();
        for same in self.ranks.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
            self.members.clear();
            for &(.., index) in same {
                let queued = &self.waiting[index as usize];
                if self.members.iter().all(|member| member.plane != queued.plane) {
                    self.members.push(*queued);
                }
            }
            take_better(&mut best, &self.members);
        }
        best
    }
}

/// Replaces `best` by the group of these if it is better.
fn take_better(best: &mut Option<Group>, members: &[Queued]) {
    let Some(head) = members.first() else { return };
    let of_request = |member: &Queued| match member.request {
        None => 1,
        request => members.iter().filter(|other| other.request == request).count(),
    };
    let connectivity = members.iter().map(of_request).max().unwrap_or(0) as u32;
    let group = Group { head: *head, overlap_depth: members.len() as u32, connectivity };
    if best.is_none_or(|best| group.rank() > best.rank()) {
        *best = Some(group);
    }
}

impl Group {
    fn rank(&self) -> (u32, u32, Reverse<u64>) {
        (self.overlap_depth, self.connectivity, Reverse(self.head.order))
    }
}

impl Dispatcher for Sprinkler {
    fn places(&self) -> bool {
        false
    }

    fn visit(&mut self, dies: &mut [u32], drive: &dyn DriveView) {
        if dies.len() < 2 {
            return;
        }
        let geometry = *drive.geometry();
        let dies_per_chip = geometry.dies_per_channel / geometry.chips_per_channel;
        let mut ranked = std::mem::take(&mut self.dies);
        ranked.clear();
        for die in dies.iter() {
            let groups = [true, false].map(|reads| self.best(*die, reads, drive));
            let deepest = groups.into_iter().flatten().max_by_key(Group::rank);
            let rank = deepest.map_or((0, 0), |group| (group.overlap_depth, group.connectivity));
            ranked.push((rank.0, rank.1, *die));
        }
        ranked.sort_unstable_by_key(|&(overlap_depth, connectivity, die)| {
            let (channel, in_channel) =
                (die / geometry.dies_per_channel, die % geometry.dies_per_channel);
            let chip = in_channel / dies_per_chip;
            (chip, channel, Reverse((overlap_depth, connectivity)), die)
        });
        for (slot, (_, _, die)) in dies.iter_mut().zip(&ranked) {
            *slot = *die;
        }
        self.dies = ranked;
    }

    fn head(&mut self, die: u32, reads: bool, drive: &dyn DriveView) -> Option<u32> {
        self.best(die, reads, drive).map(|group| group.head.id)
    }
}

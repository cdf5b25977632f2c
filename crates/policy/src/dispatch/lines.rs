//! Queues of writes that wait for a plane, kept between instants: writes for any plane, and writes
//! for a given plane.

use std::collections::{BTreeSet, VecDeque};

use reprieve_base::Time;
use reprieve_config::ReadAreas;

use super::DriveView;
use super::areas::{Areas, striped};

/// All waiting writes, each in one queue.
///
/// In a burst thousands wait for thousands of instants, so that only a change of the areas costs a
/// pass over all of them.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct DispatchLines {
    anywhere: Line,
    /// By plane: writes of marked areas, placed by their numbers.
    own: Vec<Line>,
    /// Planes with waiting writes in their queue: few of the hundreds of a drive.
    occupied: BTreeSet<u32>,
    /// Planes, in order, with waiting writes in their queue and room at the last check.
    spreading: Vec<u32>,
    /// Writes in all queues, and all that have arrived.
    count: usize,
    came: u64,
    /// The queues are out of date.
    is_void: bool,
}

/// A queue, the oldest first: number of arrival over all queues, and transaction.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
struct Line {
    writes: VecDeque<(u64, u32)>,
    /// The last instant at which one arrived.
    newest: Time,
}

impl DispatchLines {
    /// Adds the writes that have arrived since the last call.
    pub(super) fn follow(
        &mut self,
        areas: &mut Areas,
        rules: Option<&ReadAreas>,
        drive: &dyn DriveView,
    ) {
        let geometry = drive.geometry();
        self.own.resize_with(geometry.planes() as usize, Line::default);
        let all = drive.unplaced();
        if areas.take_changed() || self.is_void {
            self.clear();
        }
        let is_new = all.checked_sub(self.count).expect("nobody else gives planes to writes");
        drive.for_each_unplaced_of(self.count..all, &mut |queued| {
            let belongs = rules.is_some_and(|rules| areas.is_marked(queued.lpn, rules, geometry));
            let line = match belongs {
                true => {
                    let plane = striped(queued.lpn, geometry);
                    self.occupied.insert(plane);
                    &mut self.own[plane as usize]
                }
                false => &mut self.anywhere,
            };
            line.writes.push_back((self.came, queued.id));
            line.newest = line.newest.max(queued.since);
            self.came += 1;
        });
        self.count += is_new;
    }

    fn clear(&mut self) {
        for plane in std::mem::take(&mut self.occupied) {
            self.own[plane as usize].writes.clear();
        }
        self.anywhere.writes.clear();
        (self.count, self.is_void) = (0, false);
    }

    /// Invalidates the queues, as a write that was taken still waits.
    pub(super) fn lose_track(&mut self) {
        self.is_void = true;
    }

    /// Whether a plane with its own waiting writes has room.
    pub(super) fn can_spread(&self, drive: &dyn DriveView) -> bool {
        self.occupied.iter().any(|plane| drive.has_room(*plane))
    }

    /// Passes the planes with room for their own writes, with the number of these; the other writes
    /// may go anywhere, until the next call.
    pub(super) fn part(&mut self, drive: &dyn DriveView, each: &mut dyn FnMut(u32, u32)) {
        self.spreading.clear();
        for plane in self.occupied.iter().copied().filter(|plane| drive.has_room(*plane)) {
            self.spreading.push(plane);
            each(plane, self.own[plane as usize].writes.len() as u32);
        }
    }

    /// Whether a range of planes includes one with room for its own writes.
    pub(super) fn spreads_over(&self, first: u32, planes: u32) -> bool {
        let next = self.spreading.partition_point(|plane| *plane < first);
        self.spreading.get(next).is_some_and(|plane| *plane < first + planes)
    }

    /// Removes the oldest write whose own plane has room; returns it and the plane.
    pub(super) fn take_own(&mut self, drive: &dyn DriveView) -> Option<(u32, u32)> {
        let own = &self.own;
        self.spreading
            .retain(|plane| !own[*plane as usize].writes.is_empty() && drive.has_room(*plane));
        let oldest = |plane: &u32| own[*plane as usize].writes.front().map(|write| write.0);
        let plane = self.spreading.iter().copied().min_by_key(oldest)?;
        self.take_first(Some(plane)).map(|id| (id, plane))
    }

    /// Removes the oldest write of a queue: of a plane's own, or of those for any plane.
    fn take_first(&mut self, plane: Option<u32>) -> Option<u32> {
        let line = match plane {
            None => &mut self.anywhere,
            Some(plane) => &mut self.own[plane as usize],
        };
        let (_, id) = line.writes.pop_front()?;
        if let Some(plane) = plane.filter(|_| line.writes.is_empty()) {
            self.occupied.remove(&plane);
        }
        self.count -= 1;
        Some(id)
    }

    /// Returns the queues of writes for any plane.
    fn free(&self) -> impl Iterator<Item = (Option<u32>, &Line)> {
        let is_free = |plane: &&u32| self.spreading.binary_search(plane).is_err();
        let own = self.occupied.iter().filter(is_free);
        let of_plane = |plane: &u32| (Some(*plane), &self.own[*plane as usize]);
        std::iter::once((None, &self.anywhere)).chain(own.map(of_plane))
    }

    /// Returns the number of writes for any plane.
    pub(super) fn count_free(&self) -> u32 {
        self.free().map(|(_, line)| line.writes.len() as u32).sum()
    }

    /// Whether a write for any plane has arrived at this instant.
    pub(super) fn has_come(&self, now: Time) -> bool {
        self.free().any(|(_, line)| !line.writes.is_empty() && line.newest == now)
    }

    /// Returns the queue with the oldest of the writes for any plane, and that write.
    fn oldest(&self) -> Option<(Option<u32>, u32)> {
        let fronts = self.free().filter_map(|(at, line)| Some((*line.writes.front()?, at)));
        fronts.min().map(|((_, id), at)| (at, id))
    }

    /// Returns the oldest write for any plane.
    pub(super) fn first_free(&self) -> Option<u32> {
        self.oldest().map(|(_, id)| id)
    }

    /// Removes and returns the oldest write for any plane.
    pub(super) fn take_free(&mut self) -> Option<u32> {
        let (at, _) = self.oldest()?;
        self.take_first(at)
    }
}

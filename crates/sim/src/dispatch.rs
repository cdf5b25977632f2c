//! Dispatchers: one policy over all queues of a drive, that gives writes their planes late and says
//! what of that which waits goes first.
//!
//! Schedulers decide for one die, placements when a page comes into the buffer. Policies that weigh
//! dies and channels against each other need all of them at once, and the choice of the plane when
//! something can begin. A program that embeds the simulator gives one to
//! [`Ssd::with_dispatcher`](crate::Ssd::with_dispatcher); no scenario names any.

use reprieve_base::{Geometry, Time};

/// A page operation of the host that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// What it is called in answers.
    pub id: u32,
    /// It senses a page: for the host, or for the write of a part of it. Else it is a program.
    pub is_read: bool,
    /// The plane, counted over the drive; `None`: it has none yet.
    pub plane: Option<u32>,
    /// Offset of the page in its block; of a program it is known when it starts.
    pub page: Option<u32>,
    /// Logical page.
    pub lpn: u32,
    /// Which of the open requests it belongs to; `None`: its request is complete.
    pub request: Option<u32>,
    /// When it came to where it waits.
    pub since: Time,
}

/// What a dispatcher sees of the drive; nothing in it can be changed.
pub trait DriveView {
    /// The instant.
    fn now(&self) -> Time;

    /// The drive's shape, which makes channels, chips and dies of planes.
    fn geometry(&self) -> &Geometry;

    /// Hands over all that waits at a die: reads, then programs, the next to be served first.
    fn for_each_at(&self, die: u32, each: &mut dyn FnMut(&Queued));

    /// Hands over the writes that have no plane, the oldest first.
    fn for_each_unplaced(&self, each: &mut dyn FnMut(&Queued));

    /// Whether a die has nothing to do and nothing waiting.
    fn is_idle(&self, die: u32) -> bool;

    /// Whether a plane can hold one more page and still be collected.
    fn has_room(&self, plane: u32) -> bool;

    /// Offset in its block of the page that a plane programs next.
    fn next_page(&self, plane: u32) -> u32;
}

/// A policy over all queues.
pub trait Dispatcher: Send {
    /// A write that has no plane, and the plane that takes it, which has room.
    ///
    /// Asked at every instant after arrivals and before dies decide, again until `None`.
    fn place(&mut self, drive: &dyn DriveView) -> Option<(u32, u32)>;

    /// Which of the reads, or of the programs, that wait at `die` goes to the head of them; `None`:
    /// the one that is there.
    ///
    /// Asked at every instant at which something happens to the die. Whether a read or a program is
    /// next remains the scheduler's.
    fn head(&mut self, _die: u32, _reads: bool, _drive: &dyn DriveView) -> Option<u32> {
        None
    }
}

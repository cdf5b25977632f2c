//! Dispatchers: one policy over all queues of a drive, which orders waiting operations, and may
//! hold operations back from the dies or assign planes to writes late.
//!
//! Schedulers decide for one die, placements when a page enters the buffer. Policies that balance
//! dies and channels need all of them at once, and some choose the plane when a write can start. A
//! scenario names one, or a program that embeds the simulator gives its own to
//! `Ssd::with_dispatcher`.

mod areas;
mod clump;
mod in_order;
mod lines;
mod mbm;
mod none;
mod paq;
mod share;
mod slacker;
mod sprinkler;

use std::ops::Range;

use reprieve_base::{Archive, Dur, Entry, Geometry, Time};
use reprieve_nand::MultiPlane;

use self::in_order::{InOrder, OrderedUnit};
#[cfg(feature = "testing")]
pub use self::mbm::Mbm;
use reprieve_config::Dispatch;

/// A waiting page operation of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Queued {
    /// Its number in answers.
    pub id: u32,
    /// Number of earlier arrivals at the queues of dies; unknown if it waits elsewhere.
    pub order: u64,
    /// Senses a page, for the host or for a partial write; else a program.
    pub is_read: bool,
    /// A read of the old page for a partial write, or for a rewrite.
    pub for_write: bool,
    /// The plane, counted over the drive; `None`: not assigned.
    pub plane: Option<u32>,
    /// Block in its plane; of a program, the open block of the plane. `None`: no plane is assigned.
    pub block: Option<u32>,
    /// Offset of the page in its block; of a program, of the next page of its plane. `None`: no
    /// plane is assigned, or it has no room.
    pub page: Option<u32>,
    /// Logical page.
    pub lpn: u32,
    /// Its open request; `None`: its request is complete.
    pub request: Option<u32>,
    /// When its wait here started.
    pub since: Time,
}

/// Times of operations alone, from the command to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// A page read, up to the end of its transfer.
    pub read: Dur,
    /// A page program.
    pub program: Dur,
}

/// Work of the dies of a channel, in sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ChannelWork {
    /// Idle dies.
    pub idle_dies: u32,
    /// Chips whose dies are all idle.
    pub idle_chips: u32,
    /// Dies with running or waiting host operations.
    pub serving_dies: u32,
    /// Waiting reads.
    pub reads: u32,
    /// Waiting programs, and host pages that are being programmed or suspended.
    pub programs: u32,
}

/// Idle units of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct IdleUnits {
    /// Idle dies.
    pub dies: u32,
    /// Chips whose dies are all idle.
    pub chips: u32,
    /// Channels without running or waiting host operations.
    pub quiet_channels: u32,
}

/// Read-only view of the drive for a dispatcher.
pub trait DriveView {
    /// The instant.
    fn now(&self) -> Time;

    /// The drive's geometry, with channels, chips and dies of planes.
    fn geometry(&self) -> &Geometry;

    /// Returns which pages of different planes of a die one command takes together.
    fn multi_plane(&self) -> MultiPlane;

    /// Pages of a plane in a program.
    fn pages_together(&self) -> u32;

    /// Times of operations.
    fn service(&self) -> Service;

    /// Passes all operations queued at a die: reads, then programs, each in order of service.
    fn for_each_at(&self, die: u32, each: &mut dyn FnMut(&Queued));

    /// Passes the operations that wait at no die, in order of arrival: writes without a plane, and
    /// all that the dispatcher holds back.
    fn for_each_unplaced(&self, each: &mut dyn FnMut(&Queued)) {
        self.for_each_unplaced_of(0..usize::MAX, each);
    }

    /// As above, for this range of positions, as far as it exists; fast at both ends.
    fn for_each_unplaced_of(&self, places: Range<usize>, each: &mut dyn FnMut(&Queued));

    /// Number of operations that wait at no die.
    fn unplaced(&self) -> usize;

    /// Returns a waiting operation.
    fn queued(&self, id: u32) -> Queued;

    /// Whether a die is idle: nothing runs or waits.
    fn is_idle(&self, die: u32) -> bool;

    /// Whether host operations run or wait at a die, which excludes garbage collection.
    fn serves_host(&self, die: u32) -> bool;

    /// Returns the work of the dies of a channel.
    fn channel(&self, channel: u32) -> ChannelWork;

    /// Returns the idle units of the drive.
    fn idle(&self) -> IdleUnits;

    /// Whether a die collects a block.
    fn collects(&self, die: u32) -> bool;

    /// Whether a read that arrives at a die now would be alone, and not blocked by a host operation
    /// that it cannot suspend.
    fn takes_read(&self, die: u32) -> bool;

    /// Returns when the operation of a die ends, without waits for the channel or suspensions; now
    /// for a free die.
    fn busy_until(&self, die: u32) -> Time;

    /// Whether a plane has room for one more page.
    fn has_room(&self, plane: u32) -> bool;

    /// Offset in its block of the plane's next page.
    fn next_page(&self, plane: u32) -> u32;

    /// The block of that page; `None`: no block is free.
    fn next_block(&self, plane: u32) -> Option<u32>;
}

/// A policy over all queues.
pub trait Dispatcher: Send {
    /// Saves or restores its state, if it has any.
    fn archive(&mut self, _archive: &mut Archive) {}

    /// Whether it assigns planes to writes; else the scenario's placement does, as they enter the
    /// buffer.
    fn places(&self) -> bool {
        true
    }

    /// Whether host operations with a plane wait for it before the queue of their die.
    fn holds(&self) -> bool {
        false
    }

    /// Whether reads of different requests may share a multi-plane command.
    fn joins_requests(&self) -> bool {
        true
    }

    /// Releases an operation that waits at no die; returns it with its plane, which for a write
    /// without one has to have room.
    ///
    /// Called at every instant after arrivals and before dies decide, until it returns `None`.
    fn place(&mut self, _drive: &dyn DriveView) -> Option<(u32, u32)> {
        None
    }

    /// Whether it has pages rewritten.
    fn rewrites(&self) -> bool {
        false
    }

    /// Returns a logical page to be read and rewritten in the background.
    ///
    /// Called at every instant after the dies were visited, until it returns `None`. A page in the
    /// buffer, or for which the buffer has no room, stays in place.
    fn rewrite(&mut self) -> Option<u32> {
        None
    }

    /// Orders the dies that decide at this instant: an earlier one requests the channel first.
    fn visit(&mut self, _dies: &mut [u32], _drive: &dyn DriveView) {}

    /// Whether it implements [`Dispatcher::head`], which is not called otherwise.
    fn chooses_heads(&self) -> bool {
        true
    }

    /// Returns the read, or the program, of `die` to be moved to the head of its queue, if any.
    ///
    /// Called at every instant with an event on the die. The scheduler still chooses between read
    /// and program.
    fn head(&mut self, _die: u32, _reads: bool, _drive: &dyn DriveView) -> Option<u32> {
        None
    }
}

type MakeDispatcher = fn(&Dispatch) -> Option<Box<dyn Dispatcher>>;

/// The registry: name, sentence, maker.
const DISPATCHERS: &[(Entry, MakeDispatcher)] = &[
    (none::ENTRY, |_| None),
    (in_order::FCFS, |_| Some(Box::new(InOrder::new(OrderedUnit::Page)))),
    (mbm::ENTRY, |dispatch| Some(Box::new(mbm::Mbm::new(dispatch)))),
    (paq::ENTRY, |dispatch| Some(Box::new(paq::Paq::new(dispatch)))),
    (slacker::ENTRY, |_| Some(Box::new(slacker::Slacker::default()))),
    (sprinkler::ENTRY, |_| Some(Box::new(sprinkler::Sprinkler::default()))),
    (in_order::VAS, |_| Some(Box::new(InOrder::new(OrderedUnit::Request)))),
];

/// Every dispatcher.
pub fn entries() -> Vec<Entry> {
    DISPATCHERS.iter().map(|(entry, _)| *entry).collect()
}

/// Creates the dispatcher that the scenario names, if any.
pub fn make(dispatch: &Dispatch) -> Option<Box<dyn Dispatcher>> {
    let found = DISPATCHERS.iter().find(|(entry, _)| entry.name == dispatch.policy);
    found.and_then(|(_, make)| make(dispatch))
}

/// Lists waiting reads, or programs, of a die, in order of arrival.
fn waiting(drive: &dyn DriveView, die: u32, reads: bool, into: &mut Vec<Queued>) {
    of_kind(drive, die, reads, into);
    into.sort_unstable_by_key(|queued| queued.order);
}

/// Lists waiting reads, or programs, of a die, in the order of its queue.
fn of_kind(drive: &dyn DriveView, die: u32, reads: bool, into: &mut Vec<Queued>) {
    into.clear();
    drive.for_each_at(die, &mut |queued| {
        if queued.is_read == reads {
            into.push(*queued);
        }
    });
}

/// Whether one command can take both, of different planes of a die.
fn packs(drive: &dyn DriveView, one: &Queued, other: &Queued) -> bool {
    let planes_per_die = drive.geometry().planes_per_die;
    let (Some(plane), Some(other_plane)) = (one.plane, other.plane) else { return false };
    let at_once = match drive.multi_plane() {
        MultiPlane::None => false,
        MultiPlane::Page => true,
        MultiPlane::Block => one.block == other.block,
    };
    at_once
        && one.is_read == other.is_read
        && one.page.is_some()
        && one.page == other.page
        && plane != other_plane
        && plane / planes_per_die == other_plane / planes_per_die
}

//! A die with its queues, its lanes and what it is serving.

use std::sync::Arc;

use reprieve_base::{Rare, Time};
use reprieve_nand::{Die, Elapsed, Parallelism, Part, Refusal, Run, Suspend};
use reprieve_observe::die_events::{DieEvent, Record};
use reprieve_policy::sched::Waiter;
use reprieve_policy::stream::FRONTS;
use reprieve_policy::txn::{NONE, Txn};

use super::lane::{Lane, LaneId};
use super::queue::Queue;

/// What a die has by plane, on the parts that need it; out of the way of the rest in the caches.
#[derive(Clone, Debug)]
pub(super) struct PerPlane {
    /// Where programs take several pages: programs in `writes` by plane and open block; else empty.
    pub(super) waiting: Vec<u32>,
    /// On planes that read by themselves, what each senses or holds; else empty.
    pub(super) reads: Vec<u32>,
    /// The lane of each plane that makes way by itself; empty where all planes do together.
    pub(super) lanes: Vec<Lane>,
}

impl PerPlane {
    fn are_needed(part: &Part) -> bool {
        let Parallelism { independent_plane_reads, plane_suspension, .. } = part.parallelism;
        part.timing.wordline.is_some() || independent_plane_reads || plane_suspension
    }

    fn new(part: &Part) -> PerPlane {
        let count_if = |needed: bool| if needed { part.shape.planes as usize } else { 0 };
        PerPlane {
            waiting: vec![0; count_if(part.timing.wordline.is_some()) * FRONTS],
            reads: vec![NONE; count_if(part.parallelism.independent_plane_reads)],
            lanes: vec![Lane::IDLE; count_if(part.parallelism.plane_suspension)],
        }
    }

    /// Programs that wait for the open block of a plane to which a program goes.
    pub(super) fn waiting_with(&mut self, txn: &Txn) -> &mut u32 {
        &mut self.waiting[waiting_slot(txn)]
    }
}

/// Where programs are counted that wait for the open block of a plane to which a program goes.
pub(super) fn waiting_slot(txn: &Txn) -> usize {
    txn.at.plane as usize * FRONTS + usize::from(txn.front)
}

/// A die, what waits for it, and what it is doing.
#[derive(Clone, Debug)]
pub(super) struct DieUnit {
    pub(super) die: Die,
    /// Its channel.
    pub(super) channel: u32,
    /// Host reads and the reads of read-modify-writes.
    pub(super) reads: Queue,
    /// Host programs, and the erases of the rig.
    pub(super) writes: Queue,
    /// When the die will look again whether one has waited for long enough.
    pub(super) looks_at: Time,
    /// Programs in `writes`.
    pub(super) pending_programs: u32,
    /// The planes that act together; those that were split off are in `planes`.
    pub(super) whole: Lane,
    /// The program whose page comes in while another one runs, or `NONE`.
    pub(super) loaded: u32,
    /// The read that is being sensed, or held in the page buffer; others with it follow it.
    pub(super) reading: u32,
    /// The read whose page waits for the channel or crosses it, and those whose pages are next.
    pub(super) leaving: u32,
    /// The last of those.
    pub(super) leaving_last: u32,
    /// Pages that have left and wait for the others of their command, the first and the last.
    pub(super) left: u32,
    pub(super) left_last: u32,
    /// What planes do that are not all alike.
    pub(super) planes: Rare<PerPlane>,
    /// On the list of dies that have to decide.
    pub(super) dirty: bool,
    /// In the channel's line of reads, of others.
    pub(super) in_line: [bool; 2],
    /// Urgent garbage collection that waits.
    pub(super) gc_waits: Option<Waiter>,
    /// Reads of garbage collection that are being decoded, or sensed once more: no further step of
    /// it can begin.
    pub(super) gc_decoding: u32,
    busy_since: Time,
    /// Total time in which the array or the page buffer was in use.
    busy_ns: u64,
    pub(super) seen: Record,
}

impl DieUnit {
    pub(super) fn new(part: &Arc<Part>, seed: u64, index: u32, channel: u32) -> DieUnit {
        let die = Die::new(Arc::clone(part), seed, u64::from(index));
        DieUnit {
            die,
            channel,
            reads: Queue::new(),
            writes: Queue::new(),
            looks_at: Time::ZERO,
            pending_programs: 0,
            whole: Lane::IDLE,
            loaded: NONE,
            reading: NONE,
            leaving: NONE,
            leaving_last: NONE,
            left: NONE,
            left_last: NONE,
            planes: Rare::only_if(PerPlane::are_needed(part), || PerPlane::new(part)),
            dirty: false,
            in_line: [false; 2],
            gc_waits: None,
            gc_decoding: 0,
            busy_since: Time::ZERO,
            busy_ns: 0,
            seen: Record::default(),
        }
    }

    #[inline(always)]
    pub(super) fn lane(&self, lane: LaneId) -> &Lane {
        match lane.plane() {
            None => &self.whole,
            Some(plane) => &self.planes.lanes[plane as usize],
        }
    }

    #[inline(always)]
    pub(super) fn lane_mut(&mut self, lane: LaneId) -> &mut Lane {
        match lane.plane() {
            None => &mut self.whole,
            Some(plane) => &mut self.planes.lanes[plane as usize],
        }
    }

    /// The lane on which the operation runs that a lane would have make way: that of all planes,
    /// as long as it has not been split off.
    #[inline]
    pub(super) fn running_lane(&self, lane: LaneId) -> &Lane {
        let own = self.lane(lane);
        if own.operation() == NONE { &self.whole } else { own }
    }

    /// The read that is sensed or held on a plane that reads by itself, or on all of a command.
    #[inline(always)]
    pub(super) fn read_on(&mut self, plane: Option<u32>) -> &mut u32 {
        match plane {
            None => &mut self.reading,
            Some(plane) => &mut self.planes.reads[plane as usize],
        }
    }

    /// All lanes that can have an operation.
    pub(super) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        let split = self.planes.get().map_or(&[][..], |planes| &planes.lanes);
        [&self.whole].into_iter().chain(split)
    }

    /// Asks what runs on a lane to make way.
    #[inline]
    pub(super) fn suspend(&mut self, lane: LaneId, now: Time) -> Result<Suspend, Refusal> {
        match lane.plane() {
            None => self.die.suspend(now),
            Some(plane) => self.die.suspend_plane(now, plane),
        }
    }

    /// Lets what is suspended on a lane go on.
    #[inline]
    pub(super) fn resume(&mut self, lane: LaneId, now: Time) -> Result<Time, Refusal> {
        match lane.plane() {
            None => self.die.resume(now),
            Some(plane) => self.die.resume_plane(now, plane),
        }
    }

    /// The array of a lane has done what was scheduled.
    #[inline(always)]
    pub(super) fn elapse(&mut self, lane: LaneId, now: Time) -> Elapsed {
        match lane.plane() {
            None => self.die.elapse(now),
            Some(plane) => self.die.elapse_piece(now, plane),
        }
    }

    /// What runs on a lane since it began or was resumed at `from`.
    pub(super) fn run(&self, lane: LaneId, from: Time) -> Option<Run> {
        match lane.plane() {
            None => self.die.run(from),
            Some(plane) => self.die.plane_run(plane, from),
        }
    }

    #[inline]
    pub(super) fn occupied(&mut self, now: Time) {
        self.busy_since = now;
        self.seen.note(DieEvent::Taken(now));
    }

    #[inline]
    pub(super) fn freed(&mut self, now: Time) {
        self.busy_ns += (now - self.busy_since).ns();
        self.seen.note(DieEvent::Freed(now));
    }

    /// Time until `now` in which the array or the page buffer was in use.
    pub(super) fn busy_until(&self, now: Time) -> u64 {
        let current = if self.die.is_at_rest() { 0 } else { (now - self.busy_since).ns() };
        self.busy_ns + current
    }
}

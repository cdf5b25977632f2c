//! A die with its queues and lanes.

use std::collections::VecDeque;
use std::sync::Arc;

use reprieve_base::{Archive, Dur, Rare, Slab, Time, parts};
use reprieve_nand::{Die, Elapsed, Parallelism, Part, PlaneWork, Refusal, Run, Suspend};
use reprieve_policy::sched::Waiter;
use reprieve_policy::stream::FRONTS;
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::{GcNeed, Work};

use super::lane::{Lane, LaneId};
use super::queue::{Linked, Queue};
use super::usage::Usage;

/// Gathering of programs of a plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramGathering {
    /// Programs have several transactions: the pages of a wordline, or the units of a page.
    pub(super) several: bool,
    /// A complete wordline waits for those of the other planes.
    pub(super) waits_for_planes: bool,
}

/// A program that waits for its wordline, and its deadline.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Due {
    pub(super) until: Time,
    pub(super) id: u32,
    /// Its order of arrival, which identifies the program.
    pub(super) seq: u64,
}

/// State by plane, on parts that need it; separate for cache locality.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct PerPlane {
    /// Programs in `writes` by plane and open block, if programs take several pages; else empty.
    waiting: Vec<u32>,
    /// Open blocks with waiting programs.
    open_blocks: u32,
    /// Deadlines of these programs, earliest first, and stale ones of some that have started.
    dues: VecDeque<Due>,
    /// Complete wordlines by plane and open block for which each other plane has, or had, one;
    /// empty where a wordline does not wait for other planes.
    paired: Vec<u32>,
    /// The page that each plane senses or holds, under independent plane reads; else empty.
    pub(super) reads: Vec<u32>,
    /// The lane of each plane, under plane suspension; else empty.
    pub(super) lanes: Vec<Lane>,
}

impl PerPlane {
    fn are_needed(part: &Part, gathers: ProgramGathering) -> bool {
        let Parallelism { independent_plane_reads, plane_suspension, .. } = part.parallelism;
        gathers.several || independent_plane_reads || plane_suspension
    }

    fn new(part: &Part, gathers: ProgramGathering) -> PerPlane {
        let count_if = |needed: bool| if needed { part.shape.planes as usize } else { 0 };
        PerPlane {
            waiting: vec![0; count_if(gathers.several) * FRONTS],
            open_blocks: 0,
            dues: VecDeque::new(),
            paired: vec![0; count_if(gathers.waits_for_planes) * FRONTS],
            reads: vec![NONE; count_if(part.parallelism.independent_plane_reads)],
            lanes: vec![Lane::IDLE; count_if(part.parallelism.plane_suspension)],
        }
    }

    /// Adds a program that waits for the open block of a plane; `wordline` is the length of one.
    pub(super) fn add_waiting(&mut self, txn: &Txn, wordline: u32) {
        let waiting = &mut self.waiting[waiting_slot(txn)];
        self.open_blocks += u32::from(*waiting == 0);
        *waiting += 1;
        let front = usize::from(txn.front);
        let slots = (front..self.paired.len()).step_by(FRONTS);
        if slots.clone().all(|at| self.waiting[at] >= (self.paired[at] + 1) * wordline) {
            slots.for_each(|at| self.paired[at] += 1);
        }
    }

    /// Removes a waiting program; the first of a wordline reduces its complete wordlines.
    pub(super) fn take_waiting(&mut self, txn: &Txn, is_first: bool) {
        let waiting = &mut self.waiting[waiting_slot(txn)];
        *waiting -= 1;
        self.open_blocks -= u32::from(*waiting == 0);
        if let Some(paired) = self.paired.get_mut(waiting_slot(txn)) {
            *paired = paired.saturating_sub(u32::from(is_first));
        }
    }

    /// Adds a deadline; most are later than all before.
    pub(super) fn add_due(&mut self, due: Due) {
        let sooner = self.dues.iter().rev().take_while(|other| other.until > due.until).count();
        self.dues.insert(self.dues.len() - sooner, due);
    }

    /// Returns the next deadline of a waiting program; `NEVER` if none.
    pub(super) fn next_due(&mut self, txns: &Slab<Txn>, now: Time) -> Time {
        let is_over = |due: &Due| {
            let txn = &txns[due.id];
            due.until <= now || txn.seq != due.seq || txn.start < Time::NEVER
        };
        while self.dues.front().is_some_and(is_over) {
            self.dues.pop_front();
        }
        self.dues.front().map_or(Time::NEVER, |due| due.until)
    }

    /// No program waits.
    pub(super) fn forget_waiting(&mut self) {
        self.dues.clear();
        self.waiting.fill(0);
        self.paired.fill(0);
        self.open_blocks = 0;
    }

    /// Whether the wordline of a program is complete, and those of the other planes if it waits for
    /// them.
    pub(super) fn has_wordline(&self, txn: &Txn, wordline: u32) -> bool {
        let slot = waiting_slot(txn);
        // A page of the mapping waits for its own wordline alone, as few are written.
        let alone = txn.kind != Kind::Program;
        self.waiting[slot] >= wordline
            && self.paired.get(slot).is_none_or(|paired| alone || *paired > 0)
    }
}

/// Returns the slot of the waiting programs for the open block of a program's plane.
fn waiting_slot(txn: &Txn) -> usize {
    txn.at.plane as usize * FRONTS + usize::from(txn.front)
}

/// A die with its queues and state.
#[derive(Clone, Debug)]
pub struct DieUnit {
    pub(super) die: Die,
    /// Its channel.
    pub(super) channel: u32,
    /// Host reads and the reads of read-modify-writes.
    pub(super) reads: Queue,
    /// Host programs, and the erases of the rig.
    pub(super) writes: Queue,
    /// Scheduled check of the deadlines of wordlines.
    pub(super) looks_at: Time,
    /// Programs in `writes`.
    pub(super) pending_programs: u32,
    /// Lane of the planes that act together; split-off planes are in `planes`.
    pub(super) whole: Lane,
    /// The program whose data comes in while another one runs, or `NONE`.
    pub(super) loaded: u32,
    /// The read that is being sensed, or held in the page buffer; others with it follow it.
    pub(super) reading: u32,
    /// Reads whose pages cross the channel and wait for it, in order.
    pub(super) leaving: Linked,
    /// Reads whose pages have left and wait for the others of their command.
    pub(super) left: Linked,
    /// State of planes that differ.
    pub(super) planes: Rare<PerPlane>,
    /// On the list of dies that have to decide.
    pub(super) dirty: bool,
    /// Waiting urgent garbage collection.
    pub(super) gc_waits: Option<Waiter>,
    /// Reads of garbage collection that are being decoded or repeated, which block its next step.
    pub(super) gc_decoding: u32,
    /// Time in use of array or page buffer.
    pub(super) usage: Usage,
}

impl DieUnit {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.die.archive(archive);
        parts!(archive; self.reads, self.writes, self.looks_at, self.pending_programs, self.whole);
        parts!(archive; self.loaded, self.reading, self.leaving, self.left, self.planes);
        parts!(archive; self.dirty, self.gc_waits, self.gc_decoding, self.usage);
    }

    pub(super) fn new(
        part: &Arc<Part>,
        seed: u64,
        index: u32,
        channel: u32,
        gathers: ProgramGathering,
    ) -> DieUnit {
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
            leaving: Linked::EMPTY,
            left: Linked::EMPTY,
            planes: Rare::only_if(PerPlane::are_needed(part, gathers), || {
                PerPlane::new(part, gathers)
            }),
            dirty: false,
            gc_waits: None,
            gc_decoding: 0,
            usage: Usage::default(),
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

    /// Returns the lane with the operation that a suspension of `lane` concerns: that of all
    /// planes, unless the plane has been split off.
    #[inline]
    pub(super) fn running_lane(&self, lane: LaneId) -> &Lane {
        let own = self.lane(lane);
        if own.operation() == NONE { &self.whole } else { own }
    }

    /// Returns the read that is sensed or held, on one plane or on all of a command.
    #[inline(always)]
    pub(super) fn read_on(&mut self, plane: Option<u32>) -> &mut u32 {
        match plane {
            None => &mut self.reading,
            Some(plane) => &mut self.planes.reads[plane as usize],
        }
    }

    /// Returns all lanes that can have an operation.
    pub(super) fn lanes(&self) -> impl Iterator<Item = &Lane> {
        let split = self.planes.get().map_or(&[][..], |planes| &planes.lanes);
        [&self.whole].into_iter().chain(split)
    }

    /// Suspends the operation of a lane.
    #[inline]
    pub(super) fn suspend(&mut self, lane: LaneId, now: Time) -> Result<Suspend, Refusal> {
        match lane.plane() {
            None => self.die.suspend(now),
            Some(plane) => self.die.suspend_plane(now, plane),
        }
    }

    /// Resumes the suspended operation of a lane.
    #[inline]
    pub(super) fn resume(&mut self, lane: LaneId, now: Time) -> Result<Time, Refusal> {
        match lane.plane() {
            None => self.die.resume(now),
            Some(plane) => self.die.resume_plane(now, plane),
        }
    }

    /// Advances the array of a lane to the end of its scheduled phase.
    #[inline(always)]
    pub(super) fn elapse(&mut self, lane: LaneId, now: Time) -> Elapsed {
        match lane.plane() {
            None => self.die.elapse(now),
            Some(plane) => self.die.elapse_piece(now, plane),
        }
    }

    /// Returns the run on a lane since it started or resumed at `from`.
    pub(super) fn run(&self, lane: LaneId, from: Time) -> Option<Run> {
        match lane.plane() {
            None => self.die.run(from),
            Some(plane) => self.die.plane_run(plane, from),
        }
    }

    /// Returns the time until `now` in which the array or the page buffer was in use.
    pub(super) fn busy_until(&self, now: Time) -> u64 {
        self.usage.until(now, !self.die.is_at_rest())
    }

    /// Returns the open blocks with waiting programs: a search of a long queue can end once it has
    /// seen the oldest of each. `None` if erases are queued.
    pub(super) fn open_blocks(&self) -> Option<u32> {
        (self.writes.count() == self.pending_programs).then_some(self.planes.open_blocks)
    }

    /// Whether the die is at rest and its queues are empty.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.die.is_at_rest() && self.reads.first().is_none() && self.writes.first().is_none()
    }

    /// Whether a free die without a read has no program, suspended operation or collection to
    /// choose from, as in many decisions.
    #[inline(always)]
    pub(super) fn has_nothing<W: Work>(&mut self, die: u32, work: &mut W) -> bool {
        if self.die.is_suspended() || self.writes.first().is_some() {
            return false;
        }
        if self.gc_decoding == 0 && work.gc_need(die) != GcNeed::None {
            return false;
        }
        self.gc_waits = None;
        true
    }

    /// Returns the programs and erases of all lanes.
    pub(super) fn operations(&self) -> impl Iterator<Item = u32> {
        self.lanes().map(Lane::operation).filter(|id| *id != NONE)
    }

    /// Returns the total suspension of the operation of all planes.
    #[inline(always)]
    pub(super) fn suspended_for(&self, txns: &Slab<Txn>, now: Time) -> Dur {
        let top = &self.whole.top;
        match self.die.is_suspended() {
            true => top.suspended_for(txns, now),
            false => Dur::from_ns(txns[top.operation].suspended_ns),
        }
    }

    /// Whether a read of some plane could start at once, or suspend the operation of its plane.
    pub(super) fn takes_read_on_a_plane(&self, suspends: bool) -> bool {
        self.each_plane().any(|plane| match self.die.plane_work(plane) {
            PlaneWork::None | PlaneWork::Suspended => self.die.plane_reads().is_free(plane),
            PlaneWork::Running(_) => suspends,
            PlaneWork::Suspending(_) => false,
        })
    }

    /// Returns the end of the last scheduled phase of its lanes; `None`: they are idle.
    pub(super) fn lanes_scheduled(&self) -> Option<Time> {
        let at_work = self.each_plane().filter_map(|plane| match self.die.plane_work(plane) {
            PlaneWork::Running(until) | PlaneWork::Suspending(until) => Some(until),
            PlaneWork::None | PlaneWork::Suspended => None,
        });
        at_work.max()
    }

    fn each_plane(&self) -> std::ops::Range<u32> {
        0..self.die.part().shape.planes
    }

    /// Returns the lane of the first plane on which an operation runs.
    pub(super) fn lane_that_runs(&self) -> Option<&Lane> {
        let runs = |plane: &u32| matches!(self.die.plane_work(*plane), PlaneWork::Running(_));
        let plane = self.each_plane().find(runs)?;
        Some(self.running_lane(LaneId::of_plane(plane)))
    }

    /// Counts a read on a plane for the suspension in which it starts.
    #[cold]
    pub(super) fn count_read(&mut self, plane: u32) {
        let own = LaneId::of_plane(plane);
        let lanes = self.planes.get().map_or(&[][..], |planes| &planes.lanes);
        let is_split = lanes.get(plane as usize).is_some_and(|lane| lane.operation() != NONE);
        let lane = self.lane_mut(if is_split { own } else { LaneId::WHOLE });
        lane.top.reads = lane.top.reads.saturating_add(1);
    }

    /// Splits a plane and its part of the operation off the lane of all planes; false if it is
    /// split off already.
    #[cold]
    pub(super) fn split_lane(&mut self, txns: &mut Slab<Txn>, plane: u32) -> bool {
        let lane = LaneId::of_plane(plane);
        if self.lane(lane).operation() != NONE {
            return false;
        }
        let (mut others, mut own) = (Linked::EMPTY, Linked::EMPTY);
        let mut each = self.whole.operation();
        while each != NONE {
            let next = std::mem::replace(&mut txns[each].next, NONE);
            let list = if txns[each].at.plane == plane { &mut own } else { &mut others };
            list.append(txns, each);
            each = next;
        }
        self.whole.top.operation = others.first();
        if others.first() == NONE {
            self.whole.make_stale();
        }
        let planes = self.whole.top.planes;
        let split = self.lane_mut(lane);
        (split.top.operation, split.top.planes) = (own.first(), planes);
        true
    }
}

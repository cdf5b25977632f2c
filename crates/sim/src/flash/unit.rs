//! A die with its queues and what it is serving.

use std::sync::Arc;

use reprieve_base::{Dur, Rare, Time};
use reprieve_nand::{Die, Parallelism, Part};

use crate::event::Schedule;
use crate::flash::FlashEvent;
use crate::flash::beside::Apart;
use crate::flash::queue::Queue;
use crate::sched::Waiter;
use crate::seen::{Record, Seen};
use crate::txn::NONE;

/// What a die has by plane, on the parts that need it; out of the way of the rest in the caches.
#[derive(Clone, Debug)]
pub(super) struct Planes {
    /// Where programs take several pages: programs in `writes` by plane; else empty.
    pub(super) waiting: Vec<u32>,
    /// On planes that read by themselves, what each senses or holds; else empty.
    pub(super) reads: Vec<u32>,
    /// What each plane does that was stopped apart; empty where all stop at once.
    pub(super) apart: Vec<Apart>,
}

impl Planes {
    fn are_needed(part: &Part) -> bool {
        let Parallelism { independent_plane_reads, plane_suspension, .. } = part.parallelism;
        part.timing.wordline.is_some() || independent_plane_reads || plane_suspension
    }

    fn new(part: &Part) -> Planes {
        let count_if = |needed: bool| if needed { part.shape.planes as usize } else { 0 };
        Planes {
            waiting: vec![0; count_if(part.timing.wordline.is_some())],
            reads: vec![NONE; count_if(part.parallelism.independent_plane_reads)],
            apart: vec![Apart::NOT; count_if(part.parallelism.plane_suspension)],
        }
    }
}

/// A die, what waits for it, and what it is doing.
#[derive(Clone, Debug)]
pub(super) struct Unit {
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
    /// The program or erase that runs or was suspended last; what runs with it follows it.
    pub(super) operation: u32,
    /// The program whose page comes in while `operation`, another one, runs; or `NONE`.
    pub(super) loaded: u32,
    /// The suspended erase inside which that program began, or `NONE`.
    pub(super) outer: u32,
    /// The read that is being sensed, or held in the page buffer; others with it follow it.
    pub(super) reading: u32,
    /// The read whose page waits for the channel or crosses it, and those whose pages are next.
    pub(super) leaving: u32,
    /// The last of those.
    pub(super) leaving_last: u32,
    /// What planes do that are not all alike.
    pub(super) planes: Rare<Planes>,
    /// Of how many planes the operation was when it began.
    pub(super) planes_begun: u64,
    /// When the array will have done what it promised last.
    pub(super) promised: Time,
    /// Promises of the array made before the epoch moved on are void.
    pub(super) epoch: u32,
    /// On the list of dies that have to decide.
    pub(super) dirty: bool,
    /// In the channel's line of reads, of others.
    pub(super) in_line: [bool; 2],
    /// Urgent garbage collection that waits.
    pub(super) gc_waits: Option<Waiter>,
    /// Reads of garbage collection that are being decoded, or sensed once more: no further step of
    /// it can begin.
    pub(super) gc_decoding: u32,
    /// The last suspension: when it was asked for and when the array was free.
    pub(super) suspend_asked: Time,
    pub(super) suspend_free: Time,
    /// Whether only a host write wanted it.
    pub(super) asked_by_write: bool,
    /// Since when the operation, and the erase around it, are suspended.
    pub(super) suspended_since: Time,
    pub(super) outer_since: Time,
    busy_since: Time,
    /// Total time in which the array or the page buffer was in use.
    busy_ns: u64,
    pub(super) seen: Record,
}

impl Unit {
    pub(super) fn new(part: &Arc<Part>, seed: u64, index: u32, channel: u32) -> Unit {
        let die = Die::new(Arc::clone(part), seed, u64::from(index));
        Unit {
            die,
            channel,
            reads: Queue::new(),
            writes: Queue::new(),
            looks_at: Time::ZERO,
            pending_programs: 0,
            operation: NONE,
            loaded: NONE,
            outer: NONE,
            reading: NONE,
            leaving: NONE,
            leaving_last: NONE,
            planes: Rare::only_if(Planes::are_needed(part), || Planes::new(part)),
            planes_begun: 1,
            promised: Time::ZERO,
            epoch: 0,
            dirty: false,
            in_line: [false; 2],
            gc_waits: None,
            gc_decoding: 0,
            suspend_asked: Time::ZERO,
            suspend_free: Time::ZERO,
            asked_by_write: false,
            suspended_since: Time::ZERO,
            outer_since: Time::ZERO,
            busy_since: Time::ZERO,
            busy_ns: 0,
            seen: Record::default(),
        }
    }

    /// The array will be done at `until`; what it promised before is void.
    #[inline]
    pub(super) fn promise(&mut self, die: u32, until: Time, out: &mut impl Schedule<FlashEvent>) {
        self.promised = until;
        self.epoch = self.epoch.wrapping_add(1);
        out.schedule(until, FlashEvent::Array { die, epoch: self.epoch });
    }

    /// The array will be done at `until`, sooner than it promised last.
    #[inline(always)]
    pub(super) fn promise_sooner(
        &mut self,
        die: u32,
        until: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        // Void in any case, but an instant at which nothing happens takes time too.
        out.withdraw(self.promised, FlashEvent::Array { die, epoch: self.epoch });
        self.promise(die, until, out);
    }

    /// What was suspended, an erase, now lies around the operation that begins.
    #[cold]
    pub(super) fn enclose(&mut self) {
        assert_eq!(self.outer, NONE, "a program inside a program inside an erase");
        self.outer = self.operation;
        self.outer_since = self.suspended_since;
    }

    /// The operation is complete; what lay around it is as it was before.
    #[inline]
    pub(super) fn end_operation(&mut self) -> u32 {
        let id = std::mem::replace(&mut self.operation, NONE);
        if self.outer != NONE {
            self.uncover();
        }
        id
    }

    #[cold]
    fn uncover(&mut self) {
        self.operation = std::mem::replace(&mut self.outer, NONE);
        self.suspended_since = self.outer_since;
    }

    #[inline]
    pub(super) fn occupied(&mut self, now: Time) {
        self.busy_since = now;
        self.seen.note(Seen::Taken(now));
    }

    #[inline]
    pub(super) fn freed(&mut self, now: Time) {
        self.busy_ns += (now - self.busy_since).ns();
        self.seen.note(Seen::Freed(now));
    }

    /// Time until `now` in which the array or the page buffer was in use.
    pub(super) fn busy_until(&self, now: Time) -> u64 {
        let current = if self.die.is_at_rest() { 0 } else { (now - self.busy_since).ns() };
        self.busy_ns + current
    }

    /// The part of a wait from `mark` to `now` that the last suspension took to take effect.
    #[inline]
    pub(super) fn suspend_wait(&self, mark: Time, now: Time) -> Dur {
        part_of_wait((mark, now), (self.suspend_asked, self.suspend_free))
    }
}

/// How much of a wait lies between the request for a suspension and its effect.
#[inline]
pub(super) fn part_of_wait((mark, now): (Time, Time), (asked, free_at): (Time, Time)) -> Dur {
    let (from, to) = (asked.max(mark), free_at.min(now));
    if to > from { to - from } else { Dur::ZERO }
}

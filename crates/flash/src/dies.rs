//! All dies with their queues, the transactions in flight, and the dies that have to decide.

use std::ops::Index;
use std::sync::Arc;

use reprieve_base::{Archive, Dur, PageAddress, Slab, Time, parts};
use reprieve_config::Scenario;
use reprieve_nand::{Command, Part, Shape};
use reprieve_policy::sched::{Scheduler, Waiter};
use reprieve_policy::stream::{FRONTS, SLC_FRONT};
use reprieve_policy::suspend::Answer;
use reprieve_policy::txn::{Kind, NONE, Txn};
use reprieve_policy::work::Work;

use super::die::{DieUnit, Due, ProgramGathering};
use super::facts::FlashFacts;
use super::lane::LaneId;
use super::queue::Queue;
use super::write_queue::WriteQueue;

/// The dies of a drive with their queues and transactions.
///
/// A transaction is in one queue at most; a waiting program is counted while it is queued. A die
/// that is woken decides once at the end of the instant.
pub struct Dies {
    pub(super) facts: FlashFacts,
    pub(super) units: Vec<DieUnit>,
    /// Transactions in flight.
    pub(super) txns: Slab<Txn>,
    /// The write queue limit, and the programs that count towards it.
    pub(super) limit: WriteQueue,
    /// Dies that have to decide at the end of the instant.
    pub(super) touched: Vec<u32>,
    /// Transactions that have arrived.
    pub(super) arrivals: u64,
    /// For each open block of planes, the order of arrival below which programs were flushed and
    /// wait no longer for their wordline.
    pub(super) flushed: [u64; FRONTS],
}

impl Index<u32> for Dies {
    type Output = DieUnit;

    #[inline(always)]
    fn index(&self, die: u32) -> &DieUnit {
        &self.units[die as usize]
    }
}

impl Dies {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.units.iter_mut().for_each(|unit| unit.archive(archive));
        parts!(archive; self.txns, self.limit, self.touched, self.arrivals);
        archive.part(&mut self.flushed);
    }

    /// Creates the dies of a scenario, all blocks erased.
    pub(super) fn new(scenario: &Scenario, scheduler: &dyn Scheduler) -> Dies {
        let facts = FlashFacts::new(scenario, scheduler);
        let (timing, geometry) = (facts.timing, facts.geometry);
        let shape = Shape {
            planes: geometry.planes_per_die,
            blocks_per_plane: geometry.blocks_per_plane,
            pages_per_block: geometry.pages_per_block,
        };
        let (suspension, parallelism) = (scenario.suspension, scenario.parallelism);
        let part = Arc::new(Part { shape, timing, suspension, parallelism });
        let waits_for_planes = scenario.ftl.wait_for_planes;
        let gathers = ProgramGathering { several: facts.together > 1, waits_for_planes };
        let channel = |die| die / geometry.dies_per_channel;
        let lengths = scenario.erase_lengths().filter(|_| timing.erase_loops.is_some());
        let unit = |die| {
            let mut unit = DieUnit::new(&part, scenario.seed, die, channel(die), gathers);
            if let Some(lengths) = &lengths {
                unit.die.erase_in_loops(lengths, scenario.seed, die.into());
            }
            unit
        };
        Dies {
            units: (0..geometry.dies()).map(unit).collect(),
            txns: Slab::with_capacity(4096),
            limit: WriteQueue::new(&scenario.scheduling),
            touched: Vec::with_capacity(geometry.dies() as usize),
            arrivals: 0,
            flushed: [0; FRONTS],
            facts,
        }
    }

    /// Returns the part of all dies.
    pub(super) fn part(&self) -> &Arc<Part> {
        self.units.first().expect("a drive has a die").die.part()
    }

    /// Replaces the rules; transactions that waited under the old ones are reconsidered.
    pub(super) fn set_rules(&mut self, scenario: &Scenario) {
        self.limit.set_rules(&scenario.scheduling);
        let part = Arc::new(Part { suspension: scenario.suspension, ..**self.part() });
        self.units.iter_mut().for_each(|unit| unit.die.set_limits(&part));
        self.wake_all();
    }

    /// Has a die decide at the end of this instant.
    #[inline(always)]
    pub fn wake(&mut self, die: u32) {
        if !std::mem::replace(&mut self.units[die as usize].dirty, true) {
            self.touched.push(die);
        }
    }

    /// Wakes every die if the write queue limit of the drive has changed state.
    #[cold]
    pub(super) fn wake_if_limit_changed(&mut self) {
        if self.limit.take_change() {
            self.wake_all();
        }
    }

    /// Returns the die at `place` in the list of woken dies, unless it has nothing to decide: it
    /// senses, or is free with empty queues.
    #[inline(always)]
    pub(super) fn next_to_decide<W: Work>(&mut self, place: usize, work: &mut W) -> Option<u32> {
        let die = self.touched[place];
        let unit = &mut self.units[die as usize];
        unit.dirty = false;
        let FlashFacts { splits, decides_more, gc_holds_channel, .. } = self.facts;
        let rests = !(splits | decides_more | gc_holds_channel)
            && match unit.die.takes_reads() {
                true => unit.reads.first().is_none() && unit.has_nothing(die, work),
                false => !unit.die.is_running(),
            };
        (!rests).then_some(die)
    }

    /// Wakes every die.
    pub fn wake_all(&mut self) {
        (0..self.facts.geometry.dies()).for_each(|die| self.wake(die));
    }

    /// Queues a transaction at its die, and wakes the die.
    #[inline(always)]
    pub(super) fn push(&mut self, id: u32) {
        let txn = &mut self.txns[id];
        txn.seq = self.arrivals;
        self.arrivals += 1;
        let (die, kind) = (txn.die, txn.kind);
        let unit = &mut self.units[die as usize];
        if kind.is_read() {
            unit.reads.push(&mut self.txns, id);
        } else {
            unit.pending_programs += u32::from(kind.is_program());
            self.limit.pending += u32::from(kind.is_program());
            if self.facts.together > 1 && kind.fills_wordline() {
                let until = txn.mark + self.facts.wordline_timeout;
                unit.planes.add_waiting(txn, self.facts.together_of(txn.front));
                unit.planes.add_due(Due { until, id, seq: txn.seq });
            }
            unit.writes.push(&mut self.txns, id);
        }
        if !std::mem::replace(&mut unit.dirty, true) {
            self.touched.push(die);
        }
    }

    /// Removes a program or erase from the queue of its die.
    #[inline(always)]
    pub(super) fn take_write(&mut self, die: u32, id: u32, is_program: bool) {
        let unit = &mut self.units[die as usize];
        unit.writes.remove(&mut self.txns, id);
        unit.pending_programs -= u32::from(is_program);
        self.limit.pending -= u32::from(is_program);
    }

    /// Queues a read, or another transaction, at the head of its die's queue.
    pub(super) fn put_first(&mut self, (die, reads): (u32, bool), id: u32) {
        let unit = &mut self.units[die as usize];
        let queue = if reads { &mut unit.reads } else { &mut unit.writes };
        queue.remove(&mut self.txns, id);
        queue.push_front(&mut self.txns, id);
    }

    /// Drops waiting transactions, except pages whose read for garbage collection has started.
    pub(super) fn forget_waiting(&mut self) {
        for unit in &mut self.units {
            let waiting = unit.reads.iter(&self.txns);
            let begun: Vec<u32> =
                waiting.filter(|id| self.txns[*id].kind == Kind::GcRead).collect();
            (unit.reads, unit.writes) = (Queue::new(), Queue::new());
            for id in begun {
                unit.reads.push(&mut self.txns, id);
            }
            unit.pending_programs = 0;
            if self.facts.together > 1 {
                unit.planes.forget_waiting();
            }
        }
    }

    /// Returns a die with its channel.
    #[inline(always)]
    pub(super) fn on_channel(&self, die: u32) -> (u32, u32) {
        (die, self[die].channel)
    }

    /// Stores the last answer of the chain about a lane.
    #[inline(always)]
    pub(super) fn answered(&mut self, (die, lane): (u32, LaneId), answer: Answer) {
        self.units[die as usize].lane_mut(lane).answer = answer;
    }

    /// Marks urgent garbage collection as waiting on a die, if it is not yet.
    #[inline(always)]
    pub(super) fn gc_waits(&mut self, die: u32, now: Time) -> Waiter {
        let arrivals = &mut self.arrivals;
        *self.units[die as usize].gc_waits.get_or_insert_with(|| {
            *arrivals += 1;
            Waiter { order: *arrivals - 1, since: now }
        })
    }

    /// Returns a transaction that arrives now, after all others.
    pub(super) fn newest(&self, now: Time) -> Waiter {
        Waiter { order: self.arrivals, since: now }
    }

    /// Returns a scheduler's view of a queued transaction.
    #[inline]
    pub(super) fn waiter(&self, id: u32) -> Waiter {
        let txn = &self.txns[id];
        debug_assert_eq!(txn.start, Time::NEVER, "what is queued has not begun");
        Waiter { order: txn.seq, since: txn.mark }
    }

    /// Returns the command of a program or erase, and its channel time for each plane.
    #[inline(always)]
    pub(super) fn command_of(&self, id: u32) -> (Command, Dur) {
        let (timing, txn) = (&self.facts.timing, &self.txns[id]);
        match txn.kind {
            Kind::Erase => (Command::Erase(txn.at), timing.command),
            Kind::GcCopy => {
                let from = self.facts.address(txn.old);
                (Command::Copyback { from, to: txn.at }, timing.command * 2)
            }
            _ => {
                let is_slc = usize::from(txn.front) == SLC_FRONT;
                (Command::Program(txn.at), timing.command + timing.data_in_of(is_slc))
            }
        }
    }

    /// Whether a transaction is a program of a block in SLC mode.
    #[inline]
    pub(super) fn is_slc(&self, id: u32) -> bool {
        usize::from(self.txns[id].front) == SLC_FRONT
    }

    /// Puts the blocks of a command into SLC mode if its programs are in it.
    #[inline(always)]
    pub(super) fn set_modes(&mut self, first: u32) {
        if self.is_slc(first) {
            self.set_slc(first);
        }
    }

    #[cold]
    fn set_slc(&mut self, first: u32) {
        let mut each = first;
        while each != NONE {
            let Txn { die, at, next, .. } = self.txns[each];
            self.units[die as usize].die.use_slc(at);
            each = next;
        }
    }

    /// Returns the duration of the operation of `id` and its linked ones without suspension.
    #[inline]
    pub(super) fn undisturbed(&self, id: u32, planes: u64) -> Dur {
        let alone = self.undisturbed_alone(&self.txns[id]);
        if self.facts.gathers { self.undisturbed_together(id, planes, alone) } else { alone }
    }

    #[cold]
    fn undisturbed_together(&self, id: u32, planes: u64, alone: Dur) -> Dur {
        // Commands, and pages, of the other planes cross the channel too.
        let (_, transfer) = self.command_of(id);
        let mut longest = alone;
        let mut each = self.txns[id].next;
        while each != NONE {
            let txn = &self.txns[each];
            longest = longest.max(self.undisturbed_alone(txn));
            each = txn.next;
        }
        longest + transfer * (planes - 1)
    }

    #[inline]
    fn undisturbed_alone(&self, txn: &Txn) -> Dur {
        let die = &self[txn.die].die;
        match txn.kind {
            Kind::Erase => self.undisturbed_erase(txn.die, txn.at),
            Kind::GcCopy => die.undisturbed_copyback(self.facts.address(txn.old), txn.at),
            _ => die.undisturbed_program(txn.at),
        }
    }

    /// Whether erase times differ by the cycles of blocks.
    #[inline]
    pub(super) fn erases_in_loops(&self) -> bool {
        self.facts.timing.erase_loops.is_some()
    }

    /// Returns the duration of the erase of a block without suspension, its command included.
    pub fn undisturbed_erase(&self, die: u32, at: PageAddress) -> Dur {
        self.facts.timing.command + self[die].die.erase_of(Some(at))
    }

    /// Splits a plane off as [`DieUnit::split_lane`] does.
    #[cold]
    pub(super) fn split_lane(&mut self, die: u32, plane: u32) -> bool {
        self.units[die as usize].split_lane(&mut self.txns, plane)
    }

    /// Returns the pages that wait to be written to a die, plus one if it is in use; 0: the die is
    /// idle.
    pub fn load(&self, die: u32) -> u32 {
        match self[die].is_idle() {
            true => 0,
            false => 1 + self[die].pending_programs,
        }
    }

    /// Counts the first pages of a block as programmed.
    pub fn precondition(&mut self, die: u32, plane: u32, block: u32, pages: u32) {
        self.units[die as usize].die.precondition(plane, block, pages);
    }

    /// Returns the pages of a block that its die has programmed or started to program.
    pub fn programmed(&self, die: u32, plane: u32, block: u32) -> u32 {
        self[die].die.programmed(plane, block)
    }

    /// Returns the time in use of each die until `now`, in nanoseconds.
    pub fn busy_ns(&self, now: Time) -> impl Iterator<Item = u64> {
        self.units.iter().map(move |unit| unit.busy_until(now))
    }

    /// Returns the number of dies with a suspended operation.
    pub fn suspended(&self) -> u64 {
        let stands = |unit: &&DieUnit| {
            unit.die.is_suspended() || unit.die.operations().has_suspended_plane()
        };
        self.units.iter().filter(stands).count() as u64
    }
}

//! What asks for a suspension, and the running or suspended operation as the chain sees it.

use std::cell::RefCell;

use reprieve_base::{Dur, Time};
use reprieve_nand::{Die, Estimate, Refusal};
use reprieve_policy::sched::{Class, Classes, SuspendView, Waiter};
use reprieve_policy::suspend::{Answer, Case, Chain, GcNeed, OperationView, Reason};
use reprieve_policy::txn::{Kind, NONE};
use reprieve_policy::work::Work;

use super::Flash;
use super::lane::{Lane, LaneId};

/// What waits and may have an operation suspended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asking {
    /// A read that is queued.
    pub(super) read: Option<u32>,
    /// Else a read that garbage collection has not begun.
    pub(super) for_gc_read: bool,
    /// A host program that could run inside an erase.
    pub(super) write: Option<u32>,
}

/// An operation that something waits for.
pub(super) struct Stopped<'a, W> {
    flash: &'a Flash,
    /// Asked for what only the layer above knows.
    work: RefCell<&'a mut W>,
    now: Time,
    die: u32,
    /// The plane that makes way by itself; `None`: all do.
    plane: Option<u32>,
    /// The program or erase; `NONE`: an erase that would be the next to begin.
    operation: u32,
    class: Class,
    /// When it ends; now while it is suspended.
    until: Time,
    suspended: Dur,
    asking: Asking,
    classes: Option<Classes>,
}

impl Flash {
    /// Finds what may have the operation of a die suspended.
    #[inline(always)]
    pub(super) fn asking<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
    ) -> Result<Asking, Reason> {
        if !self.serving.suspends {
            return Err(Reason::NoSuspension);
        }
        let unit = &self.units[die as usize];
        let first = unit.reads.first();
        if first.is_none() && !self.suspension.eligibility.admits_others() {
            return Err(Reason::NothingWaits);
        }
        let goes_on = self.txns[unit.whole.operation()].unsuspendable;
        let reads_may = !goes_on && !self.write_queue.is_reached(unit);
        let read = if reads_may { self.admissible_read(die, work) } else { None };
        let for_gc_read = read.is_none() && reads_may && self.admits_gc_read(die, work);
        let write = self.admissible_write(die, now, work);
        if read.is_some() || for_gc_read || write.is_some() {
            return Ok(Asking { read, for_gc_read, write });
        }
        let Some(first) = first else { return Err(Reason::NothingWaits) };
        if !reads_may {
            return Err(Reason::WriteQueueLimit);
        }
        let operation = self.txns[self.units[die as usize].whole.operation()].kind;
        let admitted = self.suspension.eligibility.admits(self.txns[first].kind, operation);
        Err(if admitted { Reason::SameBlock } else { Reason::Class })
    }

    /// The oldest queued read that may be served now, and while an operation runs, suspend it.
    #[inline(always)]
    pub(super) fn admissible_read<W: Work>(&mut self, die: u32, work: &mut W) -> Option<u32> {
        let unit = &self.units[die as usize];
        let first = unit.reads.first()?;
        if unit.whole.operation() == NONE || self.may_be_beside(die, first, work) {
            return Some(first);
        }
        self.read_behind(die, first, work)
    }

    /// Whether a queued read may be served beside the operation of its die.
    #[inline(always)]
    fn may_be_beside<W: Work>(&mut self, die: u32, id: u32, work: &mut W) -> bool {
        let unit = &self.units[die as usize];
        let operation = self.txns[unit.whole.operation()].kind;
        let txn = &mut self.txns[id];
        if !self.suspension.eligibility.admits(txn.kind, operation) {
            return false;
        }
        work.locate(txn);
        // What a running or suspended operation holds cannot be read.
        !unit.die.bars_read(txn.at)
    }

    /// The oldest of those behind a read that may be served beside the operation.
    #[cold]
    fn read_behind<W: Work>(&mut self, die: u32, first: u32, work: &mut W) -> Option<u32> {
        let mut id = self.txns[first].next;
        while id != NONE && !self.may_be_beside(die, id, work) {
            id = self.txns[id].next;
        }
        (id != NONE).then_some(id)
    }

    /// The host program that would be next, if it may run inside the erase on the die now.
    ///
    /// Programs do not overtake each other: pages of a block are programmed in order.
    #[inline]
    pub(super) fn admissible_write<W: Work>(&self, die: u32, now: Time, work: &W) -> Option<u32> {
        if !self.suspension.eligibility.write_in_erase {
            return None;
        }
        self.program_for_erase(die, now, work)
    }

    #[cold]
    fn program_for_erase<W: Work>(&self, die: u32, now: Time, work: &W) -> Option<u32> {
        let unit = &self.units[die as usize];
        let id = self.next_write(die, now)?;
        let kinds = (self.txns[id].kind, self.txns[unit.whole.operation()].kind);
        let admits = kinds.0.is_program() && kinds.1 == Kind::Erase;
        (admits && self.could_start(id, work)).then_some(id)
    }

    /// Whether a program has a page to go to, of a block that nothing works on.
    fn could_start<W: Work>(&self, id: u32, work: &W) -> bool {
        let page = work.next_page(&self.txns[id]);
        page.is_some_and(|at| !self.units[self.txns[id].die as usize].die.works_on(at))
    }

    /// Whether the next step of garbage collection is an erase that a program which waits would
    /// suspend as soon as it has begun.
    #[cold]
    pub(super) fn erase_gives_way<W: Work>(&self, die: u32, now: Time, work: &mut W) -> bool {
        let Some(id) = self.next_write(die, now) else { return false };
        self.would_stop_erase(die, now, work)
            && self.could_start(id, work)
            && work.gc_next(die) == Some(Kind::Erase)
    }

    /// Whether a read of garbage collection may make the operation on the die wait.
    #[inline(always)]
    pub(super) fn admits_gc_read<W: Work>(&mut self, die: u32, work: &mut W) -> bool {
        self.suspension.eligibility.admits_any(Kind::GcRead) && self.wants_gc_read(die, work)
    }

    #[cold]
    fn wants_gc_read<W: Work>(&mut self, die: u32, work: &mut W) -> bool {
        let operation = self.txns[self.units[die as usize].whole.operation()].kind;
        self.suspension.eligibility.admits(Kind::GcRead, operation)
            && work.gc_need(die) == GcNeed::Urgent
            && work.gc_next(die) == Some(Kind::GcRead)
    }

    /// Puts the question of a suspension of what runs on a lane to the chain.
    #[inline(always)]
    pub(super) fn ask_chain<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        now: Time,
        asking: Asking,
        work: &mut W,
    ) -> Answer {
        self.put((die, lane), now, asking, work, |chain, case| chain.decide(case))
    }

    /// What the chain would answer to one who only wants to know, by its guards too or without.
    #[cold]
    pub(super) fn ask_in_vain<W: Work>(
        &mut self,
        lane: (u32, LaneId),
        now: Time,
        (asking, is_guarded): (Asking, bool),
        work: &mut W,
    ) -> Answer {
        self.put(lane, now, asking, work, |chain, case| chain.would_decide(case, is_guarded))
    }

    #[inline(always)]
    fn put<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        now: Time,
        asking: Asking,
        work: &mut W,
        question: impl FnOnce(&Chain, &Stopped<'_, W>) -> Answer,
    ) -> Answer {
        let running = self.units[die as usize].running_lane(lane);
        let (operation, until) = (running.operation(), running.scheduled);
        let suspended = Dur::from_ns(self.txns[operation].suspended_ns);
        let classes = match (self.serving.sees_classes, lane) {
            (false, _) => None,
            (true, LaneId::WHOLE) => Some(self.classes(die, now, work, asking.for_gc_read)),
            (true, _) => Some(self.classes_of_plane(die, now, operation, suspended)),
        };
        let class = Flash::class(self.txns[operation].kind);
        let work = RefCell::new(work);
        let flash = &*self;
        let case = Stopped {
            flash,
            work,
            now,
            die,
            plane: lane.plane(),
            operation,
            class,
            until,
            suspended,
            asking,
            classes,
        };
        question(&self.suspension, &case)
    }

    /// Whether the policy wants an operation to resume that has been suspended for so long.
    #[inline(always)]
    pub(super) fn must_resume<W: Work>(
        &self,
        (die, lane, operation): (u32, LaneId, u32),
        suspended: Dur,
        now: Time,
        work: &mut W,
    ) -> bool {
        self.suspension.limits_suspension()
            && self.asks_to_resume((die, lane, operation), suspended, now, work)
    }

    #[cold]
    fn asks_to_resume<W: Work>(
        &self,
        (die, lane, operation): (u32, LaneId, u32),
        suspended: Dur,
        now: Time,
        work: &mut W,
    ) -> bool {
        self.suspension.must_resume(&Stopped {
            flash: self,
            work: RefCell::new(work),
            now,
            die,
            plane: lane.plane(),
            operation,
            class: Flash::class(self.txns[operation].kind),
            until: now,
            suspended,
            asking: Asking::default(),
            classes: None,
        })
    }

    /// Whether a program that waits would have an erase suspended as soon as it had begun.
    pub(super) fn would_stop_erase<W: Work>(&self, die: u32, now: Time, work: &mut W) -> bool {
        self.suspension.would_suspend(&Stopped {
            flash: self,
            work: RefCell::new(work),
            now,
            die,
            plane: None,
            operation: NONE,
            class: Class::Erase,
            until: now + self.facts.timing.erase + self.facts.timing.erase_verify,
            suspended: Dur::ZERO,
            asking: Asking::default(),
            classes: None,
        })
    }
}

impl<W: Work> Stopped<'_, W> {
    fn runs(&self) -> bool {
        self.until > self.now && self.operation != NONE
    }

    fn die_of(&self) -> &Die {
        &self.flash.units[self.die as usize].die
    }

    /// What is known of a program whose wordlines differ.
    fn estimate(&self) -> Option<Estimate> {
        self.runs().then(|| self.die_of().estimate(self.now, self.plane))?
    }
}

impl<W: Work> OperationView for Stopped<'_, W> {
    fn now(&self) -> Time {
        self.now
    }

    fn die(&self) -> u32 {
        self.die
    }

    fn plane(&self) -> Option<u32> {
        self.plane
    }

    fn class(&self) -> Class {
        self.class
    }

    fn elapsed(&self) -> Dur {
        if self.operation == NONE {
            return Dur::ZERO;
        }
        (self.now - self.flash.txns[self.operation].start).saturating_sub(self.suspended)
    }

    fn remaining(&self) -> Dur {
        self.estimate().map_or(self.until - self.now, |estimate| estimate.expected)
    }

    fn longest_remaining(&self) -> Dur {
        self.estimate().map_or(self.until - self.now, |estimate| estimate.longest)
    }

    fn suspensions(&self) -> u32 {
        if self.operation == NONE { 0 } else { self.flash.txns[self.operation].suspensions }
    }

    fn reads_served(&self) -> u32 {
        if self.operation == NONE {
            return 0;
        }
        let unit = &self.flash.units[self.die as usize];
        let lane = self.plane.map_or(LaneId::WHOLE, LaneId::of_plane);
        let Lane { top, below, .. } = unit.running_lane(lane);
        if top.operation == self.operation { top.reads } else { below.reads }
    }

    fn suspended(&self) -> Dur {
        self.suspended
    }

    fn safe_point(&self) -> Option<Time> {
        self.runs().then(|| self.die_of().safe_point(self.now, self.plane))?
    }

    fn entry_cost(&self) -> Option<Dur> {
        let outlook = self.runs().then(|| self.die_of().foreseen(self.now, self.plane))?;
        outlook.map(|outlook| outlook.free_at - self.now)
    }

    fn longest_entry_cost(&self) -> Dur {
        self.die_of().longest_entry(self.class == Class::Erase)
    }

    fn resume_cost(&self) -> Option<Dur> {
        let outlook = self.runs().then(|| self.die_of().foreseen(self.now, self.plane))?;
        outlook.map(|outlook| outlook.resume_cost)
    }

    fn waiting_reads(&self) -> usize {
        self.flash.units[self.die as usize].reads.iter(&self.flash.txns).count()
    }

    fn oldest_read(&self) -> Option<Time> {
        let first = self.flash.units[self.die as usize].reads.first();
        first.map(|id| self.flash.txns[id].mark)
    }

    fn read_arrivals(&self) -> Vec<Time> {
        let reads = self.flash.units[self.die as usize].reads.iter(&self.flash.txns);
        reads.map(|id| self.flash.txns[id].mark).collect()
    }

    fn read_slos(&self) -> Vec<Option<Dur>> {
        let reads = self.flash.units[self.die as usize].reads.iter(&self.flash.txns);
        let of =
            |level: u8| self.flash.facts.service_levels.get(usize::from(level.checked_sub(1)?));
        reads.map(|id| of(self.flash.txns[id].service_level).copied()).collect()
    }

    fn read_time(&self) -> Dur {
        let timing = &self.flash.facts.timing;
        let longest = timing.page_types.and_then(|types| types.read.iter().copied().max());
        timing.command + longest.unwrap_or(timing.read) + timing.bus
    }

    fn read_deadline(&self) -> Option<Time> {
        Some(self.oldest_read()? + self.flash.serving.scheduler.read_deadline()?)
    }

    fn blocks_a_read(&self) -> bool {
        let unit = &self.flash.units[self.die as usize];
        let mut reads = unit.reads.iter(&self.flash.txns);
        reads.any(|id| unit.die.bars_read(self.flash.txns[id].at))
    }

    fn waiting_writes(&self) -> usize {
        self.flash.units[self.die as usize].writes.iter(&self.flash.txns).count()
    }

    fn oldest_write(&self) -> Option<Time> {
        let first = self.flash.units[self.die as usize].writes.first();
        first.map(|id| self.flash.txns[id].mark)
    }

    fn buffer_fill(&self) -> f64 {
        let is_buffered = |kind| matches!(kind, Kind::Program | Kind::RmwRead);
        let pages = self.flash.txns.iter().filter(|(_, txn)| is_buffered(txn.kind)).count();
        pages as f64 / self.flash.facts.buffer_pages as f64
    }

    fn gc_need(&self) -> GcNeed {
        self.work.borrow_mut().gc_need(self.die)
    }

    fn free_blocks(&self) -> Option<u32> {
        let plane = match self.operation {
            NONE => 0,
            operation => self.flash.txns[operation].at.plane,
        };
        self.work.borrow().free_blocks(self.die, plane)
    }

    fn cycles(&self) -> Option<f64> {
        let media = self.flash.media.as_ref().filter(|_| self.operation != NONE)?;
        Some(media.cycles(self.die, self.flash.txns[self.operation].at))
    }

    fn recent_suspensions(&self) -> u32 {
        self.flash.suspension.recent(self.die, self.now)
    }

    fn power_left_uw(&self) -> Option<u64> {
        self.flash.observers.budget.as_ref().map(|budget| budget.left_uw())
    }
}

impl<W: Work> Case for Stopped<'_, W> {
    fn guard(&self, begins_first: bool) -> Result<(), Answer> {
        let flash = self.flash;
        let below = flash.units[self.die as usize].whole.below;
        if below.operation != NONE
            && flash.outer_must_resume(self.die, self.now, &mut **self.work.borrow_mut())
        {
            return Err(Answer::No(Reason::Nesting));
        }
        let die = &flash.units[self.die as usize].die;
        let goes_on = die.goes_on_at(self.plane).filter(|at| begins_first && self.now <= *at);
        if let Some(at) = goes_on {
            // An instant on a border still belongs to what ends there.
            return Err(Answer::At(at + Dur::from_ns(1)));
        }
        let may = die.may_suspend(self.now, self.plane);
        may.map_err(|refusal| held_off(refusal, self.until))
    }

    fn may_ask_scheduler_in_vain(&self) -> bool {
        self.flash.serving.scheduler.may_be_asked_in_vain()
    }

    fn allowed(&self) -> Answer {
        let flash = self.flash;
        if !flash.serving.restricts {
            return Answer::Now;
        }
        let waiter = |id: u32| -> Waiter { flash.waiter(id) };
        let view = SuspendView {
            now: self.now,
            die: self.die,
            running: flash.operation_of(self.operation),
            read: self.asking.read.map(waiter),
            write: self.asking.write.map(waiter),
            queued_write: flash.next_write(self.die, self.now).map(waiter),
            for_gc_read: self.asking.for_gc_read,
            classes: self.classes,
        };
        if flash.serving.scheduler.allow_suspend(&view) {
            return Answer::Now;
        }
        let again = flash.serving.scheduler.asks_again(&view).filter(|at| *at < self.until);
        again.map_or(Answer::No(Reason::Scheduler), Answer::At)
    }
}

/// What a refusal of a die to suspend what runs to `until` means to those who wait.
#[cold]
pub(super) fn held_off(refusal: Refusal, until: Time) -> Answer {
    match refusal {
        Refusal::TooSoon { until: from } if from < until => Answer::At(from),
        Refusal::TooSoon { .. } => Answer::No(Reason::NearlyDone),
        Refusal::LimitReached => Answer::No(Reason::Limit),
        Refusal::NotSuspendable => Answer::No(Reason::NotSuspendable),
        refusal => panic!("a die that runs refused a suspension: {refusal}"),
    }
}

//! A running or suspended operation as the suspension chain sees it, and calls to the chain.

use std::cell::RefCell;

use reprieve_base::{Dur, Time};
use reprieve_nand::{ActiveOperation, Estimate, Refusal};
use reprieve_policy::sched::{Class, Classes, SuspendView, Waiter};
use reprieve_policy::suspend::{Answer, Case, GcNeed, OperationView, Reason};
use reprieve_policy::txn::{Kind, NONE};
use reprieve_policy::work::Work;

use super::classes::class_of;
use super::controller::Controller;
use super::die::DieUnit;
use super::lane::{Lane, LaneId};
use super::serving::Serving;
use super::suspension_request::SuspensionRequest;

/// View of an operation with waiting transactions.
struct SuspensionView<'a, W> {
    serving: &'a Serving,
    controller: &'a Controller,
    /// Garbage collection state, from the FTL.
    work: RefCell<&'a mut W>,
    now: Time,
    die: u32,
    /// The plane that is suspended alone; `None`: all planes are.
    plane: Option<u32>,
    /// The program or erase; `NONE`: the next erase, before its start.
    operation: u32,
    class: Class,
    /// End of the operation; `now` while it is suspended.
    until: Time,
    suspended: Dur,
    request: SuspensionRequest,
    classes: Option<Classes>,
}

impl Serving {
    /// Evaluates the chain for the operation that runs on a lane.
    #[inline(always)]
    pub(super) fn evaluate<W: Work>(
        &self,
        controller: &mut Controller,
        (die, lane): (u32, LaneId),
        now: Time,
        request: SuspensionRequest,
        work: &mut W,
    ) -> Answer {
        if self.sees_classes && request.for_gc_read && lane == LaneId::WHOLE {
            // The read of garbage collection counts as waiting from now on.
            controller.dies.gc_waits(die, now);
        }
        let case = self.running(controller, (die, lane), now, request, work);
        controller.suspension.decide(&case)
    }

    /// Evaluates the chain without side effects, with or without its guards.
    #[cold]
    pub(super) fn preview<W: Work>(
        &self,
        controller: &Controller,
        lane: (u32, LaneId),
        now: Time,
        (request, is_guarded): (SuspensionRequest, bool),
        work: &mut W,
    ) -> Answer {
        let case = self.running(controller, lane, now, request, work);
        controller.suspension.would_decide(&case, is_guarded)
    }

    #[inline(always)]
    fn running<'a, W: Work>(
        &'a self,
        controller: &'a Controller,
        (die, lane): (u32, LaneId),
        now: Time,
        request: SuspensionRequest,
        work: &'a mut W,
    ) -> SuspensionView<'a, W> {
        let dies = &controller.dies;
        let running = dies[die].running_lane(lane);
        let (operation, until) = (running.operation(), running.scheduled);
        let suspended = Dur::from_ns(dies.txns[operation].suspended_ns);
        let classes = match (self.sees_classes, lane) {
            (false, _) => None,
            (true, LaneId::WHOLE) => Some(dies.classes(die, now, work, request.for_gc_read)),
            (true, _) => Some(dies.classes_of_plane(die, now, operation, suspended)),
        };
        SuspensionView {
            serving: self,
            controller,
            work: RefCell::new(work),
            now,
            die,
            plane: lane.plane(),
            operation,
            class: class_of(dies.txns[operation].kind),
            until,
            suspended,
            request,
            classes,
        }
    }

    /// Whether the policy ends a suspension of this length.
    #[inline(always)]
    pub(super) fn must_resume<W: Work>(
        &self,
        controller: &Controller,
        (die, lane, operation): (u32, LaneId, u32),
        suspended: Dur,
        now: Time,
        work: &mut W,
    ) -> bool {
        controller.suspension.limits_suspension()
            && self.policy_ends_suspension(controller, (die, lane, operation), suspended, now, work)
    }

    #[cold]
    fn policy_ends_suspension<W: Work>(
        &self,
        controller: &Controller,
        (die, lane, operation): (u32, LaneId, u32),
        suspended: Dur,
        now: Time,
        work: &mut W,
    ) -> bool {
        controller.suspension.must_resume(&SuspensionView {
            serving: self,
            controller,
            work: RefCell::new(work),
            now,
            die,
            plane: lane.plane(),
            operation,
            class: class_of(controller.dies.txns[operation].kind),
            until: now,
            suspended,
            request: SuspensionRequest::default(),
            classes: None,
        })
    }

    /// Whether the suspended operation has to resume, for itself or for the erase around it.
    #[inline(always)]
    pub(super) fn suspended_must_resume<W: Work>(
        &self,
        controller: &Controller,
        (die, unit): (u32, &DieUnit),
        now: Time,
        work: &mut W,
    ) -> bool {
        let suspended = unit.suspended_for(&controller.dies.txns, now);
        let lane = (die, LaneId::WHOLE, unit.whole.operation());
        self.must_resume(controller, lane, suspended, now, work)
            || self.outer_must_resume(controller, die, now, work)
    }

    /// Whether the erase around the operation has reached its longest suspension, so that the
    /// operation has to finish first.
    #[inline]
    fn outer_must_resume<W: Work>(
        &self,
        controller: &Controller,
        die: u32,
        now: Time,
        work: &mut W,
    ) -> bool {
        let below = controller.dies[die].whole.below;
        below.operation != NONE && {
            let suspended = below.suspended_for(&controller.dies.txns, now);
            let erase = (die, LaneId::WHOLE, below.operation);
            self.must_resume(controller, erase, suspended, now, work)
        }
    }

    /// Whether a waiting program would suspend an erase as soon as it starts.
    fn would_suspend_erase<W: Work>(
        &self,
        controller: &Controller,
        die: u32,
        now: Time,
        work: &mut W,
    ) -> bool {
        controller.suspension.would_suspend(&SuspensionView {
            serving: self,
            controller,
            work: RefCell::new(work),
            now,
            die,
            plane: None,
            operation: NONE,
            class: Class::Erase,
            until: now + controller.dies[die].die.erase_of(None),
            suspended: Dur::ZERO,
            request: SuspensionRequest::default(),
            classes: None,
        })
    }

    /// Whether garbage collection would next erase, and a waiting program suspend that.
    #[cold]
    pub(super) fn erase_would_be_suspended<W: Work>(
        &self,
        controller: &Controller,
        die: u32,
        now: Time,
        work: &mut W,
    ) -> bool {
        let Some(id) = controller.dies.next_write(die, now) else { return false };
        self.would_suspend_erase(controller, die, now, work)
            && controller.dies.could_start(id, work)
            && work.gc_next(die) == Some(Kind::Erase)
    }
}

impl<W: Work> SuspensionView<'_, W> {
    fn unit(&self) -> &DieUnit {
        &self.controller.dies[self.die]
    }

    fn runs(&self) -> bool {
        self.until > self.now && self.operation != NONE
    }

    /// Returns the operation of the die, if it runs.
    fn active_operation(&self) -> Option<ActiveOperation<'_>> {
        self.runs().then(|| self.unit().die.active_operation(self.plane))?
    }

    /// Returns the estimate of a program whose wordlines differ.
    fn estimate(&self) -> Option<Estimate> {
        self.active_operation()?.estimate(self.now)
    }
}

impl<W: Work> OperationView for SuspensionView<'_, W> {
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
        (self.now - self.controller.dies.txns[self.operation].start).saturating_sub(self.suspended)
    }

    fn remaining(&self) -> Dur {
        self.estimate().map_or(self.until - self.now, |estimate| estimate.expected)
    }

    fn longest_remaining(&self) -> Dur {
        self.estimate().map_or(self.until - self.now, |estimate| estimate.longest)
    }

    fn suspensions(&self) -> u32 {
        if self.operation == NONE {
            0
        } else {
            self.controller.dies.txns[self.operation].suspensions
        }
    }

    fn reads_served(&self) -> u32 {
        if self.operation == NONE {
            return 0;
        }
        let unit = self.unit();
        let lane = self.plane.map_or(LaneId::WHOLE, LaneId::of_plane);
        let Lane { top, below, .. } = unit.running_lane(lane);
        if top.operation == self.operation { top.reads } else { below.reads }
    }

    fn suspended(&self) -> Dur {
        self.suspended
    }

    fn safe_point(&self) -> Option<Time> {
        self.active_operation()?.safe_point(self.now)
    }

    fn entry_cost(&self) -> Option<Dur> {
        Some(self.active_operation()?.worst_suspension_cost(self.now)?.free_at - self.now)
    }

    fn longest_entry_cost(&self) -> Dur {
        let die = &self.unit().die;
        die.operations().longest_entry(die.part(), self.class == Class::Erase, self.plane)
    }

    fn resume_cost(&self) -> Option<Dur> {
        Some(self.active_operation()?.worst_suspension_cost(self.now)?.resume_cost)
    }

    fn waiting_reads(&self) -> usize {
        self.unit().reads.iter(&self.controller.dies.txns).count()
    }

    fn oldest_read(&self) -> Option<Time> {
        let first = self.unit().reads.first();
        first.map(|id| self.controller.dies.txns[id].mark)
    }

    fn read_arrivals(&self) -> Vec<Time> {
        let reads = self.unit().reads.iter(&self.controller.dies.txns);
        reads.map(|id| self.controller.dies.txns[id].mark).collect()
    }

    fn read_slos(&self) -> Vec<Option<Dur>> {
        let reads = self.unit().reads.iter(&self.controller.dies.txns);
        let of = |level: u8| {
            self.controller.dies.facts.service_levels.get(usize::from(level.checked_sub(1)?))
        };
        reads.map(|id| of(self.controller.dies.txns[id].service_level).copied()).collect()
    }

    fn read_time(&self) -> Dur {
        let timing = &self.controller.dies.facts.timing;
        let longest = timing.page_types.and_then(|types| types.read.iter().copied().max());
        timing.command + longest.unwrap_or(timing.read) + timing.bus
    }

    fn read_deadline(&self) -> Option<Time> {
        Some(self.oldest_read()? + self.serving.scheduler.read_deadline()?)
    }

    fn blocks_a_read(&self) -> bool {
        let unit = self.unit();
        let mut reads = unit.reads.iter(&self.controller.dies.txns);
        reads.any(|id| unit.die.bars_read(self.controller.dies.txns[id].at))
    }

    fn waiting_writes(&self) -> usize {
        self.unit().writes.iter(&self.controller.dies.txns).count()
    }

    fn oldest_write(&self) -> Option<Time> {
        let first = self.unit().writes.first();
        first.map(|id| self.controller.dies.txns[id].mark)
    }

    fn buffer_fill(&self) -> f64 {
        let is_buffered = |kind| matches!(kind, Kind::Program | Kind::RmwRead);
        let pages =
            self.controller.dies.txns.iter().filter(|(_, txn)| is_buffered(txn.kind)).count();
        pages as f64 / self.controller.dies.facts.buffer_pages as f64
    }

    fn gc_need(&self) -> GcNeed {
        self.work.borrow_mut().gc_need(self.die)
    }

    fn free_blocks(&self) -> Option<u32> {
        let plane = match self.operation {
            NONE => 0,
            operation => self.controller.dies.txns[operation].at.plane,
        };
        self.work.borrow().free_blocks(self.die, plane)
    }

    fn cycles(&self) -> Option<f64> {
        let media = self.controller.media.as_ref().filter(|_| self.operation != NONE)?;
        Some(media.cycles(self.die, self.controller.dies.txns[self.operation].at))
    }

    fn recent_suspensions(&self) -> u32 {
        self.controller.suspension.recent(self.die, self.now)
    }

    fn power_left_uw(&self) -> Option<u64> {
        self.controller.observers.budget.as_ref().map(|budget| budget.left_uw())
    }
}

impl<W: Work> Case for SuspensionView<'_, W> {
    fn guard(&self, begins_first: bool) -> Result<(), Answer> {
        let unit = self.unit();
        if unit.whole.below.operation != NONE
            && self.serving.outer_must_resume(
                self.controller,
                self.die,
                self.now,
                &mut **self.work.borrow_mut(),
            )
        {
            return Err(Answer::No(Reason::Nesting));
        }
        let die = &unit.die;
        let goes_on = die.active_operation(self.plane).and_then(|operation| operation.goes_on_at());
        let goes_on = goes_on.filter(|at| begins_first && self.now <= *at);
        if let Some(at) = goes_on {
            // The instant at which the prelude ends still belongs to it.
            return Err(Answer::At(at + Dur::from_ns(1)));
        }
        let may = die.may_suspend(self.now, self.plane);
        may.map_err(|refusal| refused(refusal, self.until))
    }

    fn may_ask_scheduler_in_vain(&self) -> bool {
        self.serving.scheduler.may_be_asked_in_vain()
    }

    fn allowed(&self) -> Answer {
        if !self.serving.restricts {
            return Answer::Now;
        }
        let dies = &self.controller.dies;
        let waiter = |id: u32| -> Waiter { dies.waiter(id) };
        let view = SuspendView {
            now: self.now,
            die: self.die,
            running: dies.operation_of(self.operation),
            read: self.request.read.map(waiter),
            write: self.request.write.map(waiter),
            queued_write: dies.next_write(self.die, self.now).map(waiter),
            for_gc_read: self.request.for_gc_read,
            classes: self.classes,
        };
        if self.serving.scheduler.allow_suspend(&view) {
            return Answer::Now;
        }
        let again = self.serving.scheduler.asks_again(&view).filter(|at| *at < self.until);
        again.map_or(Answer::No(Reason::Scheduler), Answer::At)
    }
}

/// Converts the refusal of a die to suspend an operation that runs to `until`.
#[cold]
pub(super) fn refused(refusal: Refusal, until: Time) -> Answer {
    match refusal {
        Refusal::TooSoon { until: from } if from < until => Answer::At(from),
        Refusal::TooSoon { .. } => Answer::No(Reason::NearlyDone),
        Refusal::LimitReached => Answer::No(Reason::Limit),
        Refusal::NotSuspendable => Answer::No(Reason::NotSuspendable),
        refusal => panic!("a die that runs refused a suspension: {refusal}"),
    }
}

//! Causes of waits on each die, set at the end of an instant from the state of the die.

use reprieve_base::Time;
use reprieve_nand::{PlaneWork, Refusal};
use reprieve_observe::causes::Cause;
use reprieve_policy::suspend::{Answer, Reason};
use reprieve_policy::txn::{Kind, NONE};
use reprieve_policy::work::Work;

use super::Flash;
use super::controller::Controller;
use super::die::DieUnit;
use super::dies::Dies;
use super::lane::{Lane, LaneId};
use super::observe::{Attribution, ReadCauses};
use super::serving::Serving;
use super::suspension_request::SuspensionRequest;

/// The drive at the end of an instant, and the attribution to update.
///
/// Policies are evaluated without side effects; nothing else is changed.
struct Causes<'a> {
    controller: &'a Controller,
    serving: &'a Serving,
    attribution: &'a mut Attribution,
    now: Time,
}

impl Flash {
    /// Sets the causes of waits on the dies with events at this instant.
    #[inline(never)]
    pub(super) fn attribute_waits<W: Work>(&mut self, now: Time, work: &mut W) {
        let Some(mut attribution) = self.controller.observers.attribution.take() else { return };
        let (controller, serving) = (&self.controller, &self.serving);
        Causes { controller, serving, attribution: &mut attribution, now }.set(work);
        self.controller.observers.attribution = Some(attribution);
    }
}

impl<'a> Causes<'a> {
    fn dies(&self) -> &'a Dies {
        &self.controller.dies
    }

    fn set<W: Work>(&mut self, work: &mut W) {
        self.attribution.pass(self.now);
        if self.attribution.take_looks_at_all() {
            (0..self.dies().facts.geometry.dies()).for_each(|die| self.attribution.touch(die));
        }
        while let Some((die, bars_changed)) = self.attribution.next_touched() {
            self.set_die(die, bars_changed, work);
        }
    }

    /// Sets the causes on a die. Clocks without waiting transactions may be stale, unless a
    /// dispatcher holds back transactions, which waited before they are queued.
    fn set_die<W: Work>(&mut self, die: u32, bars_changed: bool, work: &mut W) {
        let unit = &self.dies()[die];
        let always = self.attribution.looks_always;
        let has_reads = unit.reads.first().is_some() || always;
        let for_buffer = self.attribution.buffer_is_wanted();
        let has_writes =
            unit.writes.first().is_some() || unit.die.is_suspended() || always || for_buffer;
        if has_reads && bars_changed {
            self.set_bars(die, work);
        }
        if has_reads {
            self.set_reads(die, work);
        }
        if has_writes {
            let cause = self.cause_for_writes(die);
            let counts = for_buffer && self.counts_for_buffer(die, cause);
            self.attribution.set_writes(die, cause, counts, self.now);
        }
        self.plan_end_of_data_in(die);
    }

    /// Finds the reads queued on a die whose page an operation there holds.
    fn set_bars<W: Work>(&mut self, die: u32, work: &mut W) {
        let unit = &self.dies()[die];
        if unit.whole.operation() == NONE
            && !self.dies().facts.splits
            && self.attribution.first_barred(die).is_none()
        {
            return;
        }
        let mut first = None;
        let mut next = unit.reads.first().unwrap_or(NONE);
        while next != NONE {
            // The queue keeps the address that a dispatcher sees.
            let txn = &self.dies().txns[next];
            let at = work.located(txn);
            let is_barred = unit.die.bars_read(at);
            self.attribution.bar(next, (die, at.plane), is_barred, self.now);
            first = first.or(is_barred.then_some(next));
            next = txn.next;
        }
        self.attribution.set_first_barred(die, first);
    }

    fn set_reads<W: Work>(&mut self, die: u32, work: &mut W) {
        let facts = &self.dies().facts;
        let planes = if self.attribution.is_by_plane() { facts.geometry.planes_per_die } else { 1 };
        let is_split = facts.splits && !self.dies()[die].die.takes_reads();
        let whole = if is_split { None } else { self.causes_on_lane((die, LaneId::WHOLE), work) };
        for plane in 0..planes {
            let causes = match whole {
                Some(causes) => causes,
                None if is_split => self.causes_on_plane((die, plane), work),
                None => {
                    let apart = facts.parallelism.independent_plane_reads.then_some(plane);
                    let read = self.cause_on_free_array(die, apart);
                    self.beside_suspended(die, read)
                }
            };
            self.attribution.set_reads((die, plane), causes, self.now);
        }
    }

    /// Returns the causes for reads where an operation runs on a lane; `None`: none does.
    fn causes_on_lane<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        work: &mut W,
    ) -> Option<ReadCauses> {
        let unit = &self.dies()[die];
        let runs = match lane.plane() {
            None => unit.die.is_running(),
            Some(plane) => matches!(unit.die.plane_work(plane), PlaneWork::Running(_)),
        };
        let running = unit.running_lane(lane);
        let operation = self.operation_on(running, runs)?;
        if running.free_at > self.now {
            // It enters suspension, perhaps after its data-in.
            return Some(ReadCauses { read: operation, barred: operation });
        }
        Some(ReadCauses {
            read: self.as_answered((die, lane), operation, work),
            barred: self.as_barred((die, lane), operation, work),
        })
    }

    /// Returns the causes for reads of a plane under plane suspension.
    fn causes_on_plane<W: Work>(&mut self, (die, plane): (u32, u32), work: &mut W) -> ReadCauses {
        if let Some(causes) = self.causes_on_lane((die, LaneId::of_plane(plane)), work) {
            return causes;
        }
        // Operations on other planes may block a read of this one.
        let others = self.dies()[die].operations().next();
        let read = match self.cause_on_free_array(die, Some(plane)) {
            Cause::Other => others.map_or(Cause::Other, |id| Cause::of(self.dies().txns[id].kind)),
            read => read,
        };
        self.beside_suspended(die, read)
    }

    /// Adds that a barred read waits, if for nothing else, for the operation that holds its page.
    fn beside_suspended(&self, die: u32, read: Cause) -> ReadCauses {
        let holds = self.dies()[die].whole.operation() != NONE;
        let barred = if holds && read == Cause::Other { Cause::SameBlock } else { read };
        ReadCauses { read, barred }
    }

    /// Returns the cause that the operation of a lane is, if it runs or enters suspension.
    fn operation_on(&self, lane: &Lane, runs: bool) -> Option<Cause> {
        if lane.operation() == NONE {
            return None;
        }
        let enters = lane.free_at > self.now;
        if (runs || enters) && self.brings_data_in(lane) {
            return Some(Cause::Channel);
        }
        match enters {
            true => Some(Cause::SuspendEntry),
            false => runs.then(|| Cause::of(self.dies().txns[lane.operation()].kind)),
        }
    }

    /// Whether the data of an operation cross a channel that dies share. They have from its mark
    /// back to its start.
    fn brings_data_in(&self, lane: &Lane) -> bool {
        self.dies().facts.shares_channels && self.dies().txns[lane.operation()].mark > self.now
    }

    /// Plans that the operation of a die is the cause in place of the channel from when its data
    /// are in.
    fn plan_end_of_data_in(&mut self, die: u32) {
        let dies = self.dies();
        for (lane, plane) in dies[die].lanes().zip([None].into_iter().chain((0..).map(Some))) {
            if lane.operation() != NONE && self.brings_data_in(lane) {
                let txn = &dies.txns[lane.operation()];
                self.attribution.plan((die, plane), Cause::of(txn.kind), txn.mark);
            }
        }
    }

    /// Returns the cause that a running operation is to reads that it does not bar, by the answer
    /// of the suspension chain.
    ///
    /// An operation that could have been suspended once is no cause later, even if too near its
    /// end.
    fn as_answered<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        operation: Cause,
        work: &mut W,
    ) -> Cause {
        let unit = &self.dies()[die];
        match unit.lane(lane).answer {
            Answer::No(Reason::Budget) => Cause::Budget,
            Answer::No(Reason::Limit) => {
                let Some(first) = self.waiting_reads(die, lane).next() else { return operation };
                // The answer for a plane may be of an earlier operation there.
                let holds = lane == LaneId::WHOLE
                    || unit.die.may_suspend(self.now, lane.plane()) == Err(Refusal::LimitReached);
                let limits = self.attribution.reasons(die, lane.plane()).limit
                    || holds && self.suspends_but_for_limit((die, lane), first, work);
                self.attribution.reasons(die, lane.plane()).limit = limits;
                if limits { Cause::Limit } else { operation }
            }
            _ => operation,
        }
    }

    /// Returns the cause that a running operation is to reads of the page that it holds.
    fn as_barred<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        operation: Cause,
        work: &mut W,
    ) -> Cause {
        let barred = match lane {
            LaneId::WHOLE => self.attribution.first_barred(die),
            _ => self.first_barred_on(die, lane),
        };
        let Some(read) = barred else { return operation };
        let bars = self.attribution.reasons(die, lane.plane()).bar
            || self.suspends_but_for_bar((die, lane), read, work);
        self.attribution.reasons(die, lane.plane()).bar = bars;
        if bars { Cause::SameBlock } else { operation }
    }

    /// Returns the reads that wait for a plane, or for any.
    fn waiting_reads(&self, die: u32, lane: LaneId) -> impl Iterator<Item = u32> + use<'a> {
        let dies = self.dies();
        let next = |id: &u32| Some(dies.txns[*id].next).filter(|next| *next != NONE);
        let all = std::iter::successors(dies[die].reads.first(), next);
        all.filter(move |id| lane.plane().is_none_or(|plane| dies.txns[*id].at.plane == plane))
    }

    fn first_barred_on(&self, die: u32, lane: LaneId) -> Option<u32> {
        let unit = &self.dies()[die];
        self.waiting_reads(die, lane).find(|id| unit.die.bars_read(self.dies().txns[*id].at))
    }

    /// Whether the operation would be suspended for a read if it had not reached its limit.
    fn suspends_but_for_limit<W: Work>(
        &self,
        lane: (u32, LaneId),
        read: u32,
        work: &mut W,
    ) -> bool {
        let request = SuspensionRequest { read: Some(read), ..Default::default() };
        let answer = self.serving.preview(self.controller, lane, self.now, (request, false), work);
        !matches!(answer, Answer::No(_)) && self.has_time_to_suspend(lane)
    }

    /// Whether it would be suspended if it did not hold the page; the read has to be eligible.
    fn suspends_but_for_bar<W: Work>(
        &self,
        (die, lane): (u32, LaneId),
        read: u32,
        work: &mut W,
    ) -> bool {
        let unit = &self.dies()[die];
        let operation = &self.dies().txns[unit.running_lane(lane).operation()];
        let eligibility = &self.controller.suspension.eligibility;
        if !self.dies().facts.suspends
            || operation.unsuspendable
            || self.dies().limit.is_reached(unit)
            || !eligibility.admits(self.dies().txns[read].kind, operation.kind)
        {
            return false;
        }
        let request = SuspensionRequest { read: Some(read), ..Default::default() };
        let answer =
            self.serving.preview(self.controller, (die, lane), self.now, (request, true), work);
        !matches!(answer, Answer::No(_)) && self.has_time_to_suspend((die, lane))
    }

    /// Whether an operation that can be suspended would be before its end.
    fn has_time_to_suspend(&self, (die, lane): (u32, LaneId)) -> bool {
        let active = self.dies()[die].die.active_operation(lane.plane());
        active.is_some_and(|operation| operation.suspension_cost(self.now).is_some())
    }

    /// Returns the cause for which a read waits without a program or erase: a page that is sensed
    /// or transferred, or another resource.
    fn cause_on_free_array(&self, die: u32, plane: Option<u32>) -> Cause {
        let unit = &self.dies()[die];
        let in_use = match plane {
            Some(plane) => !unit.die.plane_reads().is_free(plane),
            None => !unit.die.takes_reads(),
        };
        match in_use {
            true => self.cause_of_page(unit, plane),
            false => self.cause_of_free_die(die),
        }
    }

    /// Returns the cause that a page is which is sensed, held or leaves, of a plane or of any.
    fn cause_of_page(&self, unit: &DieUnit, plane: Option<u32>) -> Cause {
        let dies = self.dies();
        let on_plane = |id: &u32| plane.is_none_or(|plane| dies.txns[*id].at.plane == plane);
        let reads = unit.planes.get().map_or(&[][..], |planes| &planes.reads);
        let sensed = [unit.reading].into_iter().chain(reads.iter().copied());
        if let Some(id) = sensed.filter(|id| *id != NONE).find(on_plane) {
            return Cause::of(dies.txns[id].kind);
        }
        let next = |id: &u32| Some(dies.txns[*id].next).filter(|next| *next != NONE);
        let leaving = Some(unit.leaving.first()).filter(|id| *id != NONE);
        match std::iter::successors(leaving, next).find(on_plane) {
            // On a private channel the transfer is part of its read.
            Some(_) if dies.facts.shares_channels => Cause::Channel,
            Some(id) => Cause::of(dies.txns[id].kind),
            None => Cause::Other,
        }
    }

    /// Returns the cause for which a free die waits that has something to begin.
    fn cause_of_free_die(&self, die: u32) -> Cause {
        let budget = self.controller.observers.budget.as_ref();
        if budget.is_some_and(|budget| budget.waits_for_power(die)) {
            Cause::Power
        } else if self.controller.channels.has_in_line(die) {
            Cause::Channel
        } else if self.dies()[die].gc_decoding > 0 {
            Cause::GcRead
        } else {
            Cause::Other
        }
    }

    /// Returns the cause for which programs wait on a die.
    fn cause_for_writes(&self, die: u32) -> Cause {
        let unit = &self.dies()[die];
        if !self.dies().facts.splits {
            let operation = self.operation_on(&unit.whole, unit.die.is_running());
            return operation.unwrap_or_else(|| self.cause_without_operation(die));
        }
        let enters = |lane: &Lane| lane.operation() != NONE && lane.free_at > self.now;
        let entering = unit.lanes().find(|lane| enters(lane));
        let lane = entering.or_else(|| unit.lane_that_runs());
        let operation = lane.and_then(|lane| self.operation_on(lane, true));
        operation.unwrap_or_else(|| self.cause_without_operation(die))
    }

    fn cause_without_operation(&self, die: u32) -> Cause {
        let unit = &self.dies()[die];
        let uses = !unit.die.is_free() || unit.die.output_in_use();
        let page = if uses { self.cause_of_page(unit, None) } else { Cause::Other };
        if page == Cause::Other { self.cause_of_free_die(die) } else { page }
    }

    /// Whether a die counts as a reason for a full buffer: unless it has no programs and only
    /// serves reads of the host.
    fn counts_for_buffer(&self, die: u32, cause: Cause) -> bool {
        let unit = &self.dies()[die];
        let reads_only = match cause {
            Cause::HostRead | Cause::Other => true,
            Cause::Channel => self.sends_host_pages(unit),
            _ => false,
        };
        unit.pending_programs > 0
            || unit.operations().next().is_some()
            || self.attribution.old_page_waits(die)
            || !reads_only
    }

    /// Whether the channel is the cause of a page of the host that leaves the die.
    fn sends_host_pages(&self, unit: &DieUnit) -> bool {
        let first = unit.leaving.first();
        first != NONE && matches!(self.dies().txns[first].kind, Kind::HostRead)
    }
}

//! Decisions at the end of an instant: the next command of each woken die and channel.

use reprieve_base::Time;
use reprieve_base::event::Schedule;
use reprieve_policy::sched::Choice;
use reprieve_policy::suspend::Answer;
use reprieve_policy::work::{GcNeed, Work};

use super::channel::{ChannelGrant, ChannelRequest};
use super::lane::LaneId;
use super::suspension_request::SuspensionRequest;
use super::{Decisions, Flash, FlashEvent};

impl Flash {
    /// Decides for all woken dies and channels.
    #[inline(always)]
    pub fn decide<W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        Decisions { flash: self, now, work, out, grant: ChannelGrant::IfIdle }.decide();
        if self.controller.observers.listens {
            self.controller.end_instant(now);
            self.attribute_waits(now, work);
        }
    }
}

impl<W: Work, S: Schedule<FlashEvent>> Decisions<'_, W, S> {
    #[inline(always)]
    fn decide(&mut self) {
        loop {
            if self.flash.controller.dies.limit.of_drive {
                self.wake_by_limit();
            }
            self.decide_dies();
            if self.flash.controller.observers.listens {
                self.flash.controller.observers.touched(&self.flash.controller.dies.touched);
            }
            self.flash.controller.dies.touched.clear();
            if self.flash.controller.observers.budget.is_some() {
                self.decide_waiting();
            }
            self.decide_channels();
            // A new program may have brought the drive below its limit.
            if !self.flash.controller.dies.limit.has_changed() {
                break;
            }
        }
    }

    /// Wakes all dies if the write queue limit of the drive starts or stops to apply.
    #[cold]
    fn wake_by_limit(&mut self) {
        self.flash.controller.dies.wake_if_limit_changed();
        // It wakes dies that the dispatcher has not listed as deciding.
        self.flash.stage.note_decisions(&self.flash.controller.dies.touched);
    }

    #[inline(always)]
    fn decide_dies(&mut self) {
        // Decisions wake no other die, so that the list does not grow during the loop.
        for next in 0..self.flash.controller.dies.touched.len() {
            if let Some(die) = self.flash.controller.dies.next_to_decide(next, self.work) {
                self.decide_die(die);
            }
        }
    }

    /// Decides for dies that wait for power, while there is some.
    #[cold]
    fn decide_waiting(&mut self) {
        while let Some(die) =
            self.flash.controller.observers.budget.as_mut().and_then(|budget| budget.next())
        {
            self.flash.stage.note_decision(die);
            self.decide_die(die);
            self.flash.controller.observers.touched(&[die]);
        }
    }

    #[inline(always)]
    fn decide_channels(&mut self) {
        while let Some(channel) = self.flash.controller.channels.next_touched() {
            while let Some(request) =
                self.flash.controller.channels.next_request(channel, self.now, self.out)
            {
                match request {
                    ChannelRequest::Out(die) => {
                        self.flash.controller.start_out(die, self.now, self.out)
                    }
                    ChannelRequest::Start { die, .. } => {
                        self.flash.stage.note_decision(die);
                        self.grant = ChannelGrant::Held;
                        self.decide_die(die);
                        self.grant = ChannelGrant::IfIdle;
                        if self.flash.controller.observers.listens {
                            self.flash.controller.observers.touched(&[die]);
                        }
                    }
                }
            }
        }
    }

    fn decide_die(&mut self, die: u32) {
        let controller = &mut self.flash.controller;
        let facts = &controller.dies.facts;
        if facts.gc_holds_channel && self.work.gc_need(die) != GcNeed::Exclusive {
            // The victim has been erased or abandoned.
            controller.channels.release(controller.dies.on_channel(die));
        }
        let unit = &controller.dies[die];
        if facts.splits && !unit.die.takes_reads() {
            self.decide_lanes(die);
            return;
        }
        if unit.die.is_running() {
            let may_load = facts.parallelism.cache_program;
            self.consider_suspending(die);
            if may_load {
                self.consider_loading(die);
            }
            return;
        }
        if !unit.die.takes_reads() {
            return;
        }
        if facts.decides_more && !self.decide_more(die) {
            return;
        }
        let Flash { controller, serving, .. } = &mut *self.flash;
        let eligibility = &controller.suspension.eligibility;
        let read = controller.dies.admissible_read(eligibility, die, self.work);
        if let Some(id) = read.filter(|_| serving.serves_reads_first) {
            if serving.goes_first(controller, die, self.now, self.work) {
                self.start_read(id);
                return;
            }
        }
        if read.is_none() && controller.dies.units[die as usize].has_nothing(die, self.work) {
            return;
        }
        let view = serving.view(controller, (die, read), self.now, self.work);
        let choice = match view.gc_runs_through {
            true => Choice::Gc,
            false => serving.choose(&mut controller.dies, (die, read), &view, self.work),
        };
        match choice {
            Choice::Wait => {}
            Choice::Resume => {
                controller.resume((die, LaneId::WHOLE), self.now, self.out, self.grant)
            }
            Choice::Gc => self.start_gc(die),
            Choice::Write => {
                self.start_write(die, view.writes_first);
            }
            Choice::Read => match read {
                Some(id) => {
                    self.start_read(id);
                }
                None => self.start_gc(die),
            },
        }
    }

    /// Decides for independent plane reads and wordlines; returns whether the die is free.
    #[cold]
    fn decide_more(&mut self, die: u32) -> bool {
        let by_plane = self.flash.controller.dies.facts.parallelism.independent_plane_reads;
        if by_plane && !self.decide_planes(die) {
            return false;
        }
        if self.flash.controller.dies.facts.together > 1 {
            self.flash.controller.dies.look_again(die, self.now, self.out);
        }
        true
    }

    /// Suspends the running operation of a die for a waiting read or write, if eligible.
    fn consider_suspending(&mut self, die: u32) {
        let eligibility = &self.flash.controller.suspension.eligibility;
        match self.flash.controller.dies.suspension_request(eligibility, die, self.now, self.work) {
            Ok(request) => self.request_suspension((die, LaneId::WHOLE), request),
            Err(reason) => {
                self.flash.controller.dies.answered((die, LaneId::WHOLE), Answer::No(reason))
            }
        }
    }

    /// Evaluates the suspension chain and acts on its answer.
    #[inline(always)]
    pub(super) fn request_suspension(
        &mut self,
        (die, lane): (u32, LaneId),
        request: SuspensionRequest,
    ) {
        let Flash { controller, serving, .. } = &mut *self.flash;
        // If policy and scheduler always agree, only the die can refuse.
        let wanted = controller.suspension.wants_all() && !serving.restricts;
        let mut answer = Answer::Now;
        if !wanted {
            answer = serving.evaluate(controller, (die, lane), self.now, request, self.work);
        }
        if answer == Answer::Now {
            let by_write = request.read.is_none() && !request.for_gc_read;
            controller.dies.units[die as usize].whole.asked_by_write = by_write;
            answer = controller.suspend((die, lane), self.now, self.out);
        }
        if let Answer::At(at) = answer {
            self.out.schedule(at, FlashEvent::Wake { die });
        }
        controller.dies.answered((die, lane), answer);
    }
}

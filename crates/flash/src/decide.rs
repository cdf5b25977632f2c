//! Decisions: at the end of an instant, what each die that was touched and each channel does next.

use reprieve_base::Time;
use reprieve_base::event::Schedule;
use reprieve_policy::sched::Choice;
use reprieve_policy::suspend::Answer;
use reprieve_policy::work::{GcNeed, Work};

use super::asking::Asking;
use super::channel::{Grant, Wish};
use super::lane::LaneId;
use super::{Flash, FlashEvent};

impl Flash {
    /// Lets everything decide that was touched at this instant.
    #[inline(always)]
    pub fn decide<W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        loop {
            if self.controller.dies.limit.of_drive {
                self.wake_by_limit();
            }
            self.decide_dies(now, work, out);
            if self.controller.observers.listens {
                self.controller.observers.touched(&self.controller.dies.touched);
            }
            self.controller.dies.touched.clear();
            if self.controller.observers.budget.is_some() {
                self.decide_waiting(now, work, out);
            }
            self.decide_channels(now, work, out);
            // A program that has begun may have brought the drive below its limit.
            if !self.controller.dies.limit.has_changed() {
                break;
            }
        }
        if self.controller.observers.listens {
            self.controller.end_instant(now);
            self.attribute_waits(now, work);
        }
    }

    /// Wakes all dies if the write queue limit of the drive has come into force, or ended.
    #[cold]
    fn wake_by_limit(&mut self) {
        self.controller.dies.tell_limit();
        // It wakes dies that the dispatcher has not listed as deciding.
        self.stage.note_decisions(&self.controller.dies.touched);
    }

    #[inline(always)]
    fn decide_dies<W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        // Decisions touch no other die, so that the list does not grow while it is walked.
        for next in 0..self.controller.dies.touched.len() {
            if let Some(die) = self.controller.dies.next_to_decide(next, work) {
                self.decide_die(die, now, work, out, Grant::Ask);
            }
        }
    }

    /// Lets dies decide that wait for power, as long as there is some.
    #[cold]
    fn decide_waiting<W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        while let Some(die) =
            self.controller.observers.budget.as_mut().and_then(|budget| budget.next())
        {
            self.stage.note_decision(die);
            self.decide_die(die, now, work, out, Grant::Ask);
            self.controller.observers.touched(&[die]);
        }
    }

    #[inline(always)]
    fn decide_channels<W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        while let Some(channel) = self.controller.channels.next_touched() {
            while let Some(wish) = self.controller.channels.next_wish(channel, now, out) {
                match wish {
                    Wish::Out(die) => self.controller.start_out(die, now, out),
                    Wish::Start { die, .. } => {
                        self.stage.note_decision(die);
                        self.decide_die(die, now, work, out, Grant::Given);
                        if self.controller.observers.listens {
                            self.controller.observers.touched(&[die]);
                        }
                    }
                }
            }
        }
    }

    fn decide_die<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let controller = &mut self.controller;
        let facts = &controller.dies.facts;
        if facts.gc_holds_channel && work.gc_need(die) != GcNeed::Exclusive {
            // What was being collected is done, or given up without an erase.
            controller.channels.release(controller.dies.on_channel(die));
        }
        let unit = &controller.dies[die];
        if facts.splits && !unit.die.takes_reads() {
            self.decide_lanes(die, now, work, out, grant);
            return;
        }
        if unit.die.is_running() {
            let may_load = facts.parallelism.cache_program;
            self.consider_suspending(die, now, work, out);
            if may_load {
                self.consider_loading(die, now, work, out, grant);
            }
            return;
        }
        if !unit.die.takes_reads() {
            return;
        }
        if facts.decides_more && !self.decide_more(die, now, work, out, grant) {
            return;
        }
        let Flash { controller, serving, .. } = self;
        let eligibility = &controller.suspension.eligibility;
        let read = controller.dies.admissible_read(eligibility, die, work);
        if let Some(id) = read.filter(|_| serving.serves_reads_first) {
            if serving.goes_first(controller, die, now, work) {
                self.start_read(id, now, work, out, grant);
                return;
            }
        }
        if read.is_none() && controller.dies.units[die as usize].has_nothing(die, work) {
            return;
        }
        let view = serving.view(controller, (die, read), now, work);
        let choice = match view.gc_runs_through {
            true => Choice::Gc,
            false => serving.choose(&mut controller.dies, (die, read), &view, work),
        };
        match choice {
            Choice::Wait => {}
            Choice::Resume => controller.resume((die, LaneId::WHOLE), now, out, grant),
            Choice::Gc => self.start_gc(die, now, work, out, grant),
            Choice::Write => {
                self.start_write(die, now, work, out, (grant, view.writes_first));
            }
            Choice::Read => match read {
                Some(id) => {
                    self.start_read(id, now, work, out, grant);
                }
                None => self.start_gc(die, now, work, out, grant),
            },
        }
    }

    /// Lets planes begin reads and wordlines wait; says whether the die is free for something else.
    #[cold]
    fn decide_more<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) -> bool {
        let by_plane = self.controller.dies.facts.parallelism.independent_plane_reads;
        if by_plane && !self.decide_planes(die, now, work, out, grant) {
            return false;
        }
        if self.controller.dies.facts.together > 1 {
            self.controller.dies.look_again(die, now, out);
        }
        true
    }

    /// Has the running operation of a die make way if a read or write that waits may have that.
    fn consider_suspending<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let eligibility = &self.controller.suspension.eligibility;
        match self.controller.dies.asking(eligibility, die, now, work) {
            Ok(asking) => self.ask_suspension((die, LaneId::WHOLE), asking, now, work, out),
            Err(reason) => self.controller.dies.answered((die, LaneId::WHOLE), Answer::No(reason)),
        }
    }

    /// Puts the question to the chain, and does what it answers.
    #[inline(always)]
    pub(super) fn ask_suspension<W: Work>(
        &mut self,
        (die, lane): (u32, LaneId),
        asking: Asking,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let Flash { controller, serving, .. } = self;
        // Where policy and scheduler always want it, what is against it is for the die to say.
        let wanted = controller.suspension.wants_all() && !serving.restricts;
        let mut answer = Answer::Now;
        if !wanted {
            answer = serving.ask_chain(controller, (die, lane), now, asking, work);
        }
        if answer == Answer::Now {
            let by_write = asking.read.is_none() && !asking.for_gc_read;
            controller.dies.units[die as usize].whole.asked_by_write = by_write;
            answer = controller.suspend((die, lane), now, out);
        }
        if let Answer::At(at) = answer {
            out.schedule(at, FlashEvent::Poke { die });
        }
        controller.dies.answered((die, lane), answer);
    }
}

//! Decisions: at the end of an instant, what each die that was touched and each channel does next.

use reprieve_base::event::Schedule;
use reprieve_base::{Dur, Time};
use reprieve_policy::sched::{Choice, Class, DieView, Operation, Waiter};
use reprieve_policy::suspend::Answer;
use reprieve_policy::txn::NONE;
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
        if self.agenda.decides_together {
            match self.agenda.only_blames {
                true => self.decide_blamed(now, work, out),
                false => self.decide_all(now, work, out),
            }
            return;
        }
        self.decide_dies::<false, W>(now, work, out);
        self.agenda.dirty_dies.clear();
        self.decide_channels::<false, W>(now, work, out);
    }

    /// The same where dies share a limit or a budget, or someone is told of each instant.
    #[cold]
    fn decide_all<W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        loop {
            if self.write_queue.of_drive {
                self.tell_limit();
            }
            self.decide_dies::<false, W>(now, work, out);
            self.observers.touched(&self.agenda.dirty_dies);
            self.agenda.dirty_dies.clear();
            self.decide_waiting(now, work, out);
            self.decide_channels::<true, W>(now, work, out);
            // A program that has begun may have brought the drive below its limit.
            if !self.write_queue.has_changed() {
                break;
            }
        }
        self.observe_instant(now);
        self.look_in_the_way(now, work);
    }

    /// The same where nobody but who blames waits is told of each instant.
    #[inline(always)]
    fn decide_blamed<W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        self.decide_dies::<true, W>(now, work, out);
        self.agenda.dirty_dies.clear();
        self.decide_channels::<true, W>(now, work, out);
        self.look_in_the_way(now, work);
    }

    #[inline(always)]
    fn decide_dies<const IS_BLAMED: bool, W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        // Decisions touch no other die, so that the list does not grow while it is walked.
        for next in 0..self.agenda.dirty_dies.len() {
            let die = self.agenda.dirty_dies[next];
            self.units[die as usize].dirty = false;
            self.decide_die(die, now, work, out, Grant::Ask);
            if IS_BLAMED {
                self.blame_decided(die);
            }
        }
    }

    #[inline(always)]
    fn decide_channels<const IS_BLAMED: bool, W: Work>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        while let Some(channel) = self.agenda.dirty_channels.pop() {
            self.channels[channel as usize].dirty = false;
            self.decide_channel::<IS_BLAMED, W>(channel, now, work, out);
        }
    }

    #[inline(always)]
    fn decide_channel<const IS_BLAMED: bool, W: Work>(
        &mut self,
        channel: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let reads_first = self.serving.reads_first;
        loop {
            let unit = &mut self.channels[channel as usize];
            if unit.free_at() > now {
                if unit.has_waiters() && !unit.event_pending {
                    unit.event_pending = true;
                    out.schedule(unit.free_at(), FlashEvent::Channel { channel });
                }
                return;
            }
            match unit.next(reads_first) {
                None => return,
                Some(Wish::Out(die)) => self.start_out(die, now, out),
                Some(Wish::Start { die, is_read }) => {
                    self.units[die as usize].in_line[usize::from(!is_read)] = false;
                    self.note_decision(die);
                    self.decide_die(die, now, work, out, Grant::Given);
                    if IS_BLAMED {
                        self.blame_granted(die);
                    }
                }
            }
        }
    }

    pub(super) fn decide_die<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        if self.facts.gc_holds_channel && work.gc_need(die) != GcNeed::Exclusive {
            // What was being collected is done, or given up without an erase.
            self.release_channel(die);
        }
        let unit = &self.units[die as usize];
        if self.facts.splits && !unit.die.takes_reads() {
            self.decide_lanes(die, now, work, out, grant);
            return;
        }
        if unit.die.is_running() {
            self.consider_suspending(die, now, work, out);
            if self.facts.parallelism.cache_program {
                self.consider_loading(die, now, work, out, grant);
            }
            return;
        }
        if !unit.die.takes_reads() {
            return;
        }
        if self.facts.decides_more && !self.decide_more(die, now, work, out, grant) {
            return;
        }
        let read = self.admissible_read(die, work);
        if let Some(id) = read.filter(|_| self.serving.serves_reads_first) {
            if self.goes_first(die, now, work) {
                self.start_read(id, now, work, out, grant);
                return;
            }
        }
        if read.is_none() && self.has_nothing(die, work) {
            return;
        }
        let view = self.view(die, read, now, work);
        let choice =
            if view.gc_runs_through { Choice::Gc } else { self.choose(die, read, &view, work) };
        match choice {
            Choice::Wait => {}
            Choice::Resume => self.resume((die, LaneId::WHOLE), now, out, grant),
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

    /// Whether a read that may be served now is what the die does, where reads come first.
    #[inline(always)]
    fn goes_first<W: Work>(&mut self, die: u32, now: Time, work: &mut W) -> bool {
        let unit = &self.units[die as usize];
        if self.write_queue.is_reached(unit) {
            return false;
        }
        let operation = unit.whole.operation();
        if operation != NONE {
            if !self.suspension.limits_suspension() {
                return true;
            }
            let suspended = self.suspended_for(die, now);
            return !self.must_resume((die, LaneId::WHOLE, operation), suspended, now, work)
                && !self.outer_must_resume(die, now, work);
        }
        unit.gc_decoding > 0 || work.gc_need(die) != GcNeed::Exclusive
    }

    /// Whether a free die without a read has nothing else to choose from: no program, nothing
    /// suspended and nothing to collect. Many decisions are about nothing.
    #[inline(always)]
    fn has_nothing<W: Work>(&mut self, die: u32, work: &mut W) -> bool {
        let unit = &mut self.units[die as usize];
        if unit.die.is_suspended() || unit.writes.first().is_some() {
            return false;
        }
        if unit.gc_decoding == 0 && work.gc_need(die) != GcNeed::None {
            return false;
        }
        unit.gc_waits = None;
        true
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
        let by_plane = self.facts.parallelism.independent_plane_reads;
        if by_plane && !self.decide_planes(die, now, work, out, grant) {
            return false;
        }
        if self.facts.together > 1 {
            self.look_again(die, now, out);
        }
        true
    }

    #[inline(always)]
    pub(super) fn view<W: Work>(
        &mut self,
        die: u32,
        read: Option<u32>,
        now: Time,
        work: &mut W,
    ) -> DieView {
        let unit = &self.units[die as usize];
        let mut view = DieView {
            now,
            die,
            suspended: unit.die.is_suspended().then(|| self.operation_of(unit.whole.operation())),
            must_resume: false,
            read: read.map(|id| self.waiter(id)),
            write: self.next_write(die, now).map(|id| self.waiter(id)),
            write_fits_inside: false,
            writes_first: self.write_queue.is_reached(unit),
            urgent_gc: None,
            gc_gives_way: false,
            gc_runs_through: false,
            idle_gc: false,
        };
        if view.suspended.is_some() {
            let operation = self.units[die as usize].whole.operation();
            let suspended = self.suspended_for(die, now);
            view.must_resume =
                self.must_resume((die, LaneId::WHOLE, operation), suspended, now, work)
                    || self.outer_must_resume(die, now, work);
            view.write_fits_inside = self.admissible_write(die, now, work).is_some();
            if read.is_none() && self.admits_gc_read(die, work) {
                // Served as a read; there is no host read that it could be confused with.
                view.read = Some(Waiter { order: self.agenda.arrivals, since: now });
            }
            return view;
        }
        // Pages that wait for the rest of their wordline go ahead of nothing, nor those elsewhere.
        let of_others = self.facts.together > 1 || self.write_queue.of_drive;
        view.writes_first &= !of_others || view.write.is_some();
        let waits_for_itself = self.units[die as usize].gc_decoding > 0;
        match if waits_for_itself { GcNeed::None } else { work.gc_need(die) } {
            GcNeed::None => self.units[die as usize].gc_waits = None,
            GcNeed::Idle => view.idle_gc = true,
            GcNeed::Exclusive => view.gc_runs_through = true,
            GcNeed::Due | GcNeed::Urgent => {
                view.gc_gives_way = self.suspension.eligibility.write_in_erase
                    && self.erase_gives_way(die, now, work);
                let arrivals = &mut self.agenda.arrivals;
                let waits = &mut self.units[die as usize].gc_waits;
                view.urgent_gc = Some(*waits.get_or_insert_with(|| {
                    *arrivals += 1;
                    Waiter { order: *arrivals - 1, since: now }
                }));
            }
        }
        view
    }

    /// What a scheduler may know of a queued transaction.
    #[inline]
    pub(super) fn waiter(&self, id: u32) -> Waiter {
        let txn = &self.txns[id];
        debug_assert_eq!(txn.start, Time::NEVER, "what is queued has not begun");
        Waiter { order: txn.seq, since: txn.mark }
    }

    /// What a scheduler may know of a program or erase that has begun.
    #[inline(always)]
    pub(super) fn operation_of(&self, id: u32) -> Operation {
        let txn = &self.txns[id];
        // Pages of the mapping are queued and programmed as those of the host.
        let is_host_program = Flash::class(txn.kind) == Class::HostWrite;
        Operation { is_host_program, since: txn.queued_at() }
    }

    /// How long the operation of a die has been suspended so far, in all.
    #[inline(always)]
    pub(super) fn suspended_for(&self, die: u32, now: Time) -> Dur {
        let unit = &self.units[die as usize];
        let (top, is_suspended) = (unit.whole.top, unit.die.is_suspended());
        let since = if is_suspended { (now - top.suspended_since).ns() } else { 0 };
        Dur::from_ns(self.txns[top.operation].suspended_ns + since)
    }

    /// Whether the erase around the operation has been suspended for as long as it may be: then
    /// the operation goes on to its end, so that the erase can.
    #[inline]
    pub(super) fn outer_must_resume<W: Work>(&self, die: u32, now: Time, work: &mut W) -> bool {
        let below = self.units[die as usize].whole.below;
        below.operation != NONE && {
            let since = (now - below.suspended_since).ns();
            let suspended = Dur::from_ns(self.txns[below.operation].suspended_ns + since);
            self.must_resume((die, LaneId::WHOLE, below.operation), suspended, now, work)
        }
    }

    /// Has the running operation of a die make way if a read or write that waits may have that.
    fn consider_suspending<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        match self.asking(die, now, work) {
            Ok(asking) => self.ask_suspension((die, LaneId::WHOLE), asking, now, work, out),
            Err(reason) => self.units[die as usize].whole.answer = Answer::No(reason),
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
        // Where policy and scheduler always want it, what is against it is for the die to say.
        let wanted = self.suspension.wants_all() && !self.serving.restricts;
        let mut answer = Answer::Now;
        if !wanted {
            answer = self.ask_chain((die, lane), now, asking, work);
        }
        if answer == Answer::Now {
            let unit = &mut self.units[die as usize];
            unit.whole.asked_by_write = asking.read.is_none() && !asking.for_gc_read;
            answer = self.suspend((die, lane), asking.read, now, out);
        }
        if let Answer::At(at) = answer {
            out.schedule(at, FlashEvent::Poke { die });
        }
        self.units[die as usize].lane_mut(lane).answer = answer;
    }
}

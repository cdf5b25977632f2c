//! Decisions: at the end of an instant, what each die that was touched and each channel does next.

use reprieve_base::{Dur, Time};
use reprieve_nand::Suspend;

use super::channel::Wish;
use super::{Flash, FlashEvent};
use crate::event::Schedule;
use crate::sched::{Choice, Class, DieView, Operation, Waiter};
use crate::suspend::Answer;
use crate::txn::NONE;
use crate::work::{GcNeed, Work};

/// Whether the channel is free for a die that is deciding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// Only if nobody uses it or waits for it.
    Ask,
    /// It is this die's turn.
    Given,
}

impl Flash {
    /// Lets everything decide that was touched at this instant.
    #[inline(always)]
    pub fn decide<W: Work, const FULL: bool>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        loop {
            if FULL && self.write_queue.of_drive {
                self.tell_limit();
            }
            self.decide_touched::<W, FULL>(now, work, out);
            // A program that has begun may have brought the drive below its limit.
            if !FULL || !self.write_queue.has_changed() {
                break;
            }
        }
        if FULL && self.timeline.is_some() {
            self.tell_instant(now);
        }
    }

    #[inline(always)]
    fn decide_touched<W: Work, const FULL: bool>(
        &mut self,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        // Decisions touch no other die, so that the lists do not grow while they are walked.
        for next in 0..self.dirty_dies.len() {
            let die = self.dirty_dies[next];
            self.units[die as usize].dirty = false;
            self.decide_die::<W, FULL>(die, now, work, out, Grant::Ask);
        }
        if FULL && self.timeline.is_some() {
            self.tell_touched();
        }
        self.dirty_dies.clear();
        if FULL && self.budget.is_some() {
            self.decide_waiting(now, work, out);
        }
        while let Some(channel) = self.dirty_channels.pop() {
            self.channels[channel as usize].dirty = false;
            self.decide_channel::<W, FULL>(channel, now, work, out);
        }
    }

    fn decide_channel<W: Work, const FULL: bool>(
        &mut self,
        channel: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let reads_first = self.reads_first;
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
                Some(Wish::Out(die)) => self.start_out::<FULL>(die, now, out),
                Some(Wish::Start { die, is_read }) => {
                    self.units[die as usize].in_line[usize::from(!is_read)] = false;
                    self.decide_die::<W, FULL>(die, now, work, out, Grant::Given);
                }
            }
        }
    }

    pub(super) fn decide_die<W: Work, const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let unit = &self.units[die as usize];
        if FULL && self.splits && !unit.die.takes_reads() {
            self.decide_beside(die, now, work, out, grant);
            return;
        }
        if unit.die.is_running() {
            self.consider_suspending::<W, FULL>(die, now, work, out);
            if FULL && self.parallelism.cache_program {
                self.consider_loading(die, now, work, out, grant);
            }
            return;
        }
        if !unit.die.takes_reads() {
            return;
        }
        if FULL && self.decides_more && !self.decide_more(die, now, work, out, grant) {
            return;
        }
        let read = self.admissible_read(die, work);
        let view = self.view::<W, FULL>(die, read, now, work);
        let choice = if view.gc_runs_through {
            Choice::Gc
        } else if FULL {
            self.choose(die, read, &view, work)
        } else {
            self.scheduler.choose(&view)
        };
        match choice {
            Choice::Wait => {}
            Choice::Resume => self.resume::<FULL>(die, now, out, grant),
            Choice::Gc => self.start_gc::<W, FULL>(die, now, work, out, grant),
            Choice::Write => {
                self.start_write::<W, FULL>(die, now, work, out, (grant, view.writes_first));
            }
            Choice::Read => match read {
                Some(id) => {
                    self.start_read::<W, FULL>(id, now, work, out, grant);
                }
                None => self.start_gc::<W, FULL>(die, now, work, out, grant),
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
        let by_plane = self.parallelism.independent_plane_reads;
        if by_plane && !self.decide_planes(die, now, work, out, grant) {
            return false;
        }
        if self.together > 1 {
            self.look_again(die, now, out);
        }
        true
    }

    #[inline(always)]
    pub(super) fn view<W: Work, const FULL: bool>(
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
            suspended: unit.die.is_suspended().then(|| self.operation_of(unit.operation)),
            must_resume: false,
            read: read.map(|id| self.waiter(id)),
            write: self.next_write::<FULL>(die, now).map(|id| self.waiter(id)),
            write_fits_inside: false,
            writes_first: self.write_queue.is_reached::<FULL>(unit),
            urgent_gc: None,
            gc_gives_way: false,
            gc_runs_through: false,
            idle_gc: false,
        };
        if view.suspended.is_some() {
            let operation = self.units[die as usize].operation;
            let suspended = self.suspended_for(die, now);
            view.must_resume = self.must_resume((die, None, operation), suspended, now, work)
                || self.outer_must_resume(die, now, work);
            view.write_fits_inside = self.admissible_write::<W, FULL>(die, work).is_some();
            if read.is_none() && self.admits_gc_read(die, work) {
                // Served as a read; there is no host read that it could be confused with.
                view.read = Some(Waiter { order: self.arrivals, since: now });
            }
            return view;
        }
        // Pages that wait for the rest of their wordline go ahead of nothing, nor those elsewhere.
        let of_others = self.together > 1 || self.write_queue.of_drive;
        view.writes_first &= !FULL || !of_others || view.write.is_some();
        let waits_for_itself = FULL && self.units[die as usize].gc_decoding > 0;
        match if waits_for_itself { GcNeed::None } else { work.gc_need(die) } {
            GcNeed::None => self.units[die as usize].gc_waits = None,
            GcNeed::Idle => view.idle_gc = true,
            GcNeed::Exclusive => view.gc_runs_through = true,
            GcNeed::Due | GcNeed::Urgent => {
                view.gc_gives_way = FULL
                    && self.suspension.eligibility.write_in_erase
                    && self.erase_gives_way(die, now, work);
                let arrivals = &mut self.arrivals;
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
        let txn = &self.txns[unit.operation];
        let since = if unit.die.is_suspended() { (now - unit.suspended_since).ns() } else { 0 };
        Dur::from_ns(txn.suspended_ns + since)
    }

    /// Whether the erase around the operation has been suspended for as long as it may be: then
    /// the operation goes on to its end, so that the erase can.
    #[inline]
    pub(super) fn outer_must_resume<W: Work>(&self, die: u32, now: Time, work: &mut W) -> bool {
        let unit = &self.units[die as usize];
        unit.outer != NONE && {
            let since = (now - unit.outer_since).ns();
            let suspended = Dur::from_ns(self.txns[unit.outer].suspended_ns + since);
            self.must_resume((die, None, unit.outer), suspended, now, work)
        }
    }

    /// Asks for a suspension of the running operation if a read or write that waits may have one.
    fn consider_suspending<W: Work, const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let (operation, until) = {
            let unit = &self.units[die as usize];
            (unit.operation, unit.promised)
        };
        let answer = match self.asking(die, work) {
            Ok(asking) => {
                self.units[die as usize].asked_by_write =
                    asking.read.is_none() && !asking.for_gc_read;
                self.ask_chain((die, None, operation), until, now, asking, work)
            }
            Err(reason) => Answer::No(reason),
        };
        match answer {
            Answer::Now => self.suspend::<FULL>(die, now, out),
            Answer::At(at) => out.schedule(at, FlashEvent::Poke { die }),
            Answer::No(_) => {}
        }
    }

    /// Has the running operation of a die make way.
    fn suspend<const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.units[die as usize];
        let until = unit.promised;
        match unit.die.suspend(now) {
            Ok(Suspend::FreeAt(free_at)) => {
                unit.suspend_asked = now;
                unit.suspend_free = free_at;
                unit.promise_sooner(die, free_at, out);
                if FULL && self.ages.is_some() {
                    let operation = self.units[die as usize].operation;
                    self.age_asked(die, None, operation, until - now);
                }
                if FULL && self.listens {
                    self.tell_stop(die, now, free_at);
                }
            }
            // It runs to its end: what is queued waits for that.
            Ok(Suspend::RunsToEnd) => {}
            Err(refusal) => panic!("at {now} die {die} refused a suspension: {refusal}"),
        }
    }
}

//! Programs and erases on a lane: start, suspension, resumption and completion.

use reprieve_base::event::Schedule;
use reprieve_base::{Dur, Slab, Time};
use reprieve_nand::{Elapsed, Suspend};
use reprieve_observe::die_events::{DieEvent, Extent};
use reprieve_policy::suspend::{Answer, Reason};
use reprieve_policy::txn::{Kind, LatencyComponent, NONE, Txn};

use super::FlashEvent;
use super::channel::ChannelGrant;
use super::controller::Controller;
use super::die::DieUnit;
use super::lane::{Frame, LaneId};
use super::multi_plane::start_command;
use super::suspension_view::refused;

impl Controller {
    /// Starts a program or erase, in no queue any more.
    #[inline(never)]
    pub(super) fn start(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        self.bring_in(id, false, now, out);
    }

    /// Loads the data of a program, in no queue any more, during another one, whose end starts it.
    #[cold]
    pub(super) fn load(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        self.bring_in(id, true, now, out);
    }

    #[inline(always)]
    fn bring_in(&mut self, id: u32, loads: bool, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let planes = self.list_others(id);
        let (command, transfer) = self.dies.command_of(id);
        let transfer = if planes == 1 { transfer } else { transfer * planes };
        let (die, at) = (self.dies.txns[id].die, self.dies.txns[id].at);
        self.dies.set_modes(id);
        let unit = &mut self.dies.units[die as usize];
        let is_inside = unit.die.is_suspended();
        let begun = match loads {
            false => start_command(&mut unit.die, now, command, planes, &self.others),
            true => unit.die.load(now, at, &self.others),
        };
        let until = match begun {
            Ok(until) => until,
            Err(refusal) => {
                self.refused.get_or_insert((id, refusal));
                return;
            }
        };
        let pages = self.dies.facts.pages_together;
        book_start(unit, &mut self.dies.txns, id, pages, (transfer, is_inside), now);
        let channel = unit.channel;
        if loads {
            unit.loaded = id;
            // If the program before it has ended by then, the next one can be loaded.
            out.schedule(until, FlashEvent::Wake { die });
        } else {
            if is_inside {
                unit.whole.push_operation();
            }
            unit.usage.begin(now);
            (unit.whole.top.operation, unit.whole.top.planes) = (id, planes);
            unit.whole.answer = Answer::No(Reason::NothingWaits);
            unit.whole.schedule((die, LaneId::WHOLE), until, out);
            if self.dies.facts.looks_at_start {
                self.look_at_start(id, now + transfer, now, out);
            }
        }
        if transfer > Dur::ZERO {
            self.channels.occupy(channel, now, transfer);
        }
        if self.observers.listens {
            self.observe(now, |observer, scene| match loads {
                false => observer.started(scene, id, Some((transfer, planes))),
                true => observer.loaded(scene, id, (transfer, planes)),
            });
        }
    }

    /// Wakes the die after the start of an operation, whose data is in at `data_in`.
    #[cold]
    fn look_at_start(
        &mut self,
        id: u32,
        data_in: Time,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let Txn { die, kind, .. } = self.dies.txns[id];
        if self.dies.facts.parallelism.cache_program {
            // The next program can be loaded then.
            out.schedule(data_in, FlashEvent::Wake { die });
        }
        if self.dies.facts.write_in_erase && kind == Kind::Erase {
            // A program that was queued behind it may suspend it at once.
            out.schedule(now, FlashEvent::Wake { die });
        }
    }

    /// Starts the loaded program after a completed one.
    #[cold]
    fn start_loaded(&mut self, die: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let planes = self.dies.planes_of(self.dies[die].loaded);
        let unit = &mut self.dies.units[die as usize];
        let id = std::mem::replace(&mut unit.loaded, NONE);
        let until = unit.die.running_until().expect("the program that was loaded runs");
        (unit.whole.top.operation, unit.whole.top.planes) = (id, planes);
        unit.whole.answer = Answer::No(Reason::NothingWaits);
        unit.whole.schedule((die, LaneId::WHOLE), until, out);
        let mut each = id;
        while each != NONE {
            let txn = &mut self.dies.txns[each];
            if txn.mark < now {
                // In the register, after the program before it: not part of its service time.
                txn.start = txn.start + (now - txn.mark);
                txn.book(LatencyComponent::Queue, now);
            }
            each = txn.next;
        }
        if self.observers.listens {
            self.observe(now, |observer, scene| observer.started(scene, id, None));
        }
    }

    /// Suspends the operation of a lane; returns the reason if the die refuses. A plane that is
    /// suspended alone is split off.
    #[inline(always)]
    pub(super) fn suspend(
        &mut self,
        (die, lane): (u32, LaneId),
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) -> Answer {
        let unit = &mut self.dies.units[die as usize];
        let running = unit.running_lane(lane);
        let (operation, until) = (running.operation(), running.scheduled);
        let free_at = match unit.suspend(lane, now) {
            Ok(Suspend::FreeAt(free_at)) => free_at,
            // It runs to its end, and queued transactions wait for that.
            Ok(Suspend::RunsToEnd) => return Answer::No(Reason::NearlyDone),
            Err(refusal) => return refused(refusal, until),
        };
        if self.observers.ages.is_some() {
            self.record_age((die, lane), operation, until - now);
        }
        let is_new = lane.plane().is_some_and(|plane| self.dies.split_lane(die, plane));
        let own = self.dies.units[die as usize].lane_mut(lane);
        (own.asked, own.free_at) = (now, free_at);
        match is_new {
            true => own.schedule((die, lane), free_at, out),
            false => own.schedule_sooner((die, lane), free_at, out),
        }
        if self.observers.listens {
            let id = self.dies[die].lane(lane).operation();
            self.observe_lane(lane, now, |observer, scene| {
                if is_new {
                    observer.split(scene, id);
                }
                observer.suspending(scene, id, free_at);
            });
        }
        Answer::Now
    }

    /// Resumes the suspended operation of a lane, if power and channel are available.
    #[inline(always)]
    pub(super) fn resume(
        &mut self,
        (die, lane): (u32, LaneId),
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
        grant: ChannelGrant,
    ) {
        let die_now = &self.dies[die].die;
        let (needs_channel, page_leaves) = match lane.plane() {
            None => (die_now.resume_needs_channel(), die_now.output_in_use()),
            Some(plane) => {
                (die_now.plane_needs_channel(plane), die_now.plane_reads().output_in_use(plane))
            }
        };
        if let Some(budget) = &mut self.observers.budget {
            if !budget.admits_resume(&self.dies, (die, lane)) {
                return;
            }
        }
        // Its data is transferred again, as that of any program.
        if needs_channel && (page_leaves || !self.has_channel(die, now, grant, Kind::Program)) {
            return;
        }
        let unit = &mut self.dies.units[die as usize];
        if unit.die.is_at_rest() {
            unit.usage.begin(now);
        }
        let until = unit.resume(lane, now).expect("it is suspended, free and has the channel");
        let planes = if lane == LaneId::WHOLE { unit.die.operations().planes() } else { 1 };
        let own_operation = unit.lane_mut(lane).operation();
        let transfer = match needs_channel {
            true => {
                self.dies.facts.timing.data_in_of(self.dies.is_slc(own_operation))
                    * u64::from(planes)
            }
            false => Dur::ZERO,
        };
        let own = self.dies.units[die as usize].lane_mut(lane);
        let (id, suspended) = (own.operation(), now - own.top.suspended_since);
        own.answer = Answer::No(Reason::NothingWaits);
        own.schedule((die, lane), until, out);
        if self.dies.facts.parallelism.cache_program || self.suspension.takes_turns() {
            out.schedule(now, FlashEvent::Wake { die });
        }
        let is_erase = self.dies.txns[id].kind == Kind::Erase;
        self.counts.suspended_ns[usize::from(is_erase)] += suspended.ns();
        self.notify_resumed(id, suspended, now);
        let mut each = id;
        while each != NONE {
            let txn = &mut self.dies.txns[each];
            txn.suspended_ns += suspended.ns();
            txn.book(LatencyComponent::Suspended, now);
            txn.parts.add(LatencyComponent::Bus, transfer.ns());
            txn.mark = now + transfer;
            each = txn.next;
        }
        if needs_channel {
            let channel = self.dies[die].channel;
            self.channels.occupy(channel, now, transfer);
        }
        if self.observers.listens {
            let data_in = needs_channel.then_some(transfer);
            self.observe_lane(lane, now, |observer, scene| observer.resumed(scene, id, data_in));
        }
    }

    /// Handles the end of the array's phase on a die; stale if of an earlier generation.
    #[inline]
    pub(super) fn die_elapsed(
        &mut self,
        die: u32,
        generation: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.dies.units[die as usize];
        if unit.whole.holds(generation) {
            let elapsed = unit.elapse(LaneId::WHOLE, now);
            self.array_elapsed((die, LaneId::WHOLE), elapsed, now, out);
        }
    }

    /// Handles the event of a split-off lane.
    #[cold]
    pub(super) fn lane_elapsed(
        &mut self,
        (die, lane): (u32, LaneId),
        generation: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.dies.units[die as usize];
        if unit.lane(lane).holds(generation) {
            let elapsed = unit.elapse(lane, now);
            self.array_elapsed((die, lane), elapsed, now, out);
        }
    }

    /// Handles the end of the array's phase on a lane.
    ///
    /// Compiled once for the lane of all planes, and once for split-off ones.
    #[inline(always)]
    pub(super) fn array_elapsed(
        &mut self,
        (die, lane): (u32, LaneId),
        elapsed: Elapsed,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        match elapsed {
            Elapsed::ReadReady => self.sensed(die, None, false, now),
            Elapsed::ReadHeld => self.sensed(die, None, true, now),
            Elapsed::Programmed | Elapsed::Erased => self.complete_lane((die, lane), now, out),
            Elapsed::Suspended => self.suspended((die, lane), now),
        }
    }

    /// Completes the operation on top of a lane; the one below it, or the loaded one, is next.
    #[inline(always)]
    fn complete_lane(
        &mut self,
        (die, lane): (u32, LaneId),
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.dies.units[die as usize];
        let own = unit.lane_mut(lane);
        let Frame { operation: id, planes, .. } = own.pop_operation();
        let is_last = lane != LaneId::WHOLE || unit.loaded == NONE;
        if is_last && unit.die.is_at_rest() {
            unit.usage.end(now);
        }
        if self.observers.listens {
            self.observe_lane(lane, now, |observer, scene| observer.completed(scene, id));
        }
        if !is_last {
            self.start_loaded(die, now, out);
        }
        self.operation_ended(id, planes, now);
    }

    /// Suspends the operation on top of a lane.
    #[inline(always)]
    fn suspended(&mut self, (die, lane): (u32, LaneId), now: Time) {
        let unit = &mut self.dies.units[die as usize];
        if unit.die.is_at_rest() {
            unit.usage.end(now);
        }
        let own = unit.lane_mut(lane);
        own.top.suspended_since = now;
        own.top.reads = 0;
        let id = own.operation();
        if self.observers.listens {
            self.observe_lane(lane, now, |observer, scene| observer.suspended(scene, id));
        }
        let is_erase = self.dies.txns[id].kind == Kind::Erase;
        let mut each = id;
        while each != NONE {
            let txn = &mut self.dies.txns[each];
            txn.book(LatencyComponent::Array, now);
            txn.suspensions += 1;
            each = txn.next;
        }
        self.count_suspension((die, lane), is_erase);
        self.notify_suspended(id, now);
        self.dies.wake(die);
    }
}

/// Books the waiting time of a program or erase, and the transfer with which it starts.
#[inline(always)]
fn book_start(
    unit: &mut DieUnit,
    txns: &mut Slab<Txn>,
    id: u32,
    pages: u32,
    (transfer, is_inside): (Dur, bool),
    now: Time,
) {
    let mut each = id;
    while each != NONE {
        let txn = &mut txns[each];
        let joins = each != id;
        match txn.kind {
            Kind::Erase => {
                unit.usage.seen.note(DieEvent::Erase(now, Extent::of_page(txn.at, joins)))
            }
            // A wordline is programmed whole, and recorded with the first unit of its first page.
            _ if txn.place > 0 || pages > 1 && txn.at.page % pages > 0 => {}
            _ => unit.usage.seen.note(DieEvent::Program(now, Extent { at: txn.at, pages, joins })),
        }
        if is_inside {
            let wait = unit.whole.suspend_wait(txn.mark, now);
            txn.parts.add(LatencyComponent::SuspendWait, wait.ns());
            txn.mark = txn.mark + wait;
        }
        txn.book(LatencyComponent::Queue, now);
        txn.parts.add(LatencyComponent::Bus, transfer.ns());
        txn.mark = now + transfer;
        txn.start = now;
        each = txn.next;
    }
}

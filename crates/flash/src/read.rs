//! Reads: a page is sensed, waits for the channel, crosses it, and is complete or decoded.

use reprieve_base::event::Schedule;
use reprieve_base::{Dur, PageAddress, Time};
use reprieve_nand::{Command, Elapsed};
use reprieve_policy::txn::{LatencyComponent, NONE, Txn};

use super::FlashEvent;
use super::controller::Controller;
use super::lane::LaneId;
use super::multi_plane::start_command;

impl Controller {
    /// Starts the array read of a transaction and its linked ones, in no queue any more.
    #[inline(always)]
    pub(super) fn sense(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        if self.dies.facts.reads_alone && !self.observers.listens {
            self.sense_alone(id, now, out);
        } else {
            self.sense_together(id, now, out);
        }
    }

    /// Starts the array read of one transaction on a die of one lane without observers, the usual
    /// case.
    #[inline]
    fn sense_alone(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let command = self.dies.facts.timing.command;
        let txn = &mut self.dies.txns[id];
        let (die, out_units) = (txn.die, txn.out_units);
        let unit = &mut self.dies.units[die as usize];
        book_sense(txn, unit.whole.suspend_wait(txn.mark, now), command, now);
        if unit.die.is_at_rest() {
            unit.usage.begin(now);
        }
        let until = match unit.die.start(now, Command::Read(txn.at)) {
            Ok(until) => until,
            Err(refusal) => {
                self.refused.get_or_insert((id, refusal));
                return;
            }
        };
        unit.reading = id;
        if command > Dur::ZERO {
            self.channels.occupy(unit.channel, now, command);
        }
        if !self.dies.facts.private_channels {
            unit.whole.schedule((die, LaneId::WHOLE), until, out);
            return;
        }
        // The channel is private: the page leaves as soon as it is sensed.
        let bus = self.dies.facts.out_time(out_units);
        self.channels.occupy(unit.channel, until, bus);
        unit.whole.scheduled = until;
        out.schedule(until + bus, FlashEvent::Out { die });
    }

    /// Starts array reads on one plane or on several, and notifies observers.
    fn sense_together(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let planes = self.list_others(id);
        let Txn { die, at, out_units, .. } = self.dies.txns[id];
        let facts = &self.dies.facts;
        let (bus, command) = (facts.out_time(out_units), facts.timing.command * planes);
        let unit = &mut self.dies.units[die as usize];
        let channel = unit.channel;
        let mut each = id;
        while each != NONE {
            let txn = &mut self.dies.txns[each];
            let lane = match self.dies.facts.splits {
                true => LaneId::of_plane(txn.at.plane),
                false => LaneId::WHOLE,
            };
            let wait = unit.lane(lane).suspend_wait(txn.mark, now);
            book_sense(txn, wait, command, now);
            if let Some(media) = &self.media {
                media.choose_voltages(txn);
            }
            each = txn.next;
        }
        let was_free = unit.die.is_at_rest();
        let read = Command::Read(at);
        let until = match start_command(&mut unit.die, now, read, planes, &self.others) {
            Ok(until) => until,
            Err(refusal) => {
                self.refused.get_or_insert((id, refusal));
                return;
            }
        };
        if was_free {
            unit.usage.begin(now);
        }
        if command > Dur::ZERO {
            self.channels.occupy(channel, now, command);
        }
        if self.observers.listens {
            self.observe(now, |observer, scene| observer.sensing(scene, id, until));
        }
        let unit = &mut self.dies.units[die as usize];
        if self.dies.facts.parallelism.independent_plane_reads {
            unit.planes.reads[at.plane as usize] = id;
            out.schedule(until, FlashEvent::PlaneSensed { die, plane: at.plane });
            return;
        }
        unit.reading = id;
        if !self.dies.facts.private_channels {
            unit.whole.schedule((die, LaneId::WHOLE), until, out);
            return;
        }
        // The channel is private: the page leaves as soon as it is sensed.
        self.channels.occupy(channel, until, bus);
        unit.whole.scheduled = until;
        out.schedule(until + bus, FlashEvent::Out { die });
        if self.observers.listens {
            if self.observers.budget.is_some() {
                out.schedule(until, FlashEvent::Sensed { die });
            }
            self.observe(now, |observer, scene| observer.transferred(scene, id, until, bus));
        }
    }

    /// Handles the end of an independent plane read.
    pub(super) fn plane_elapsed(&mut self, die: u32, plane: u32, now: Time) {
        let elapsed = self.dies.units[die as usize].die.elapse_plane(now, plane);
        self.sensed(die, Some(plane), elapsed == Elapsed::ReadHeld, now);
    }

    /// Queues sensed pages for the channel, of one plane or of all of the command; or holds them
    /// until the pages before them have left.
    #[inline(always)]
    pub(super) fn sensed(&mut self, die: u32, plane: Option<u32>, is_held: bool, now: Time) {
        self.observers.sensed(die, plane.is_some());
        let unit = &mut self.dies.units[die as usize];
        let mut each = *unit.read_on(plane);
        while each != NONE {
            let txn = &mut self.dies.txns[each];
            txn.book(LatencyComponent::Array, now);
            each = txn.next;
        }
        if is_held {
            return;
        }
        let is_free = unit.die.is_at_rest();
        if is_free {
            unit.usage.end(now);
        }
        if self.observers.listens {
            let plane = plane.unwrap_or(0);
            self.observe(now, |observer, scene| observer.page_left(scene, die, plane));
        }
        if is_free || plane.is_some() {
            self.dies.wake(die);
        }
        self.line_up(die, plane);
    }

    /// Queues sensed pages for the channel, after earlier ones.
    #[inline(always)]
    fn line_up(&mut self, die: u32, plane: Option<u32>) {
        let unit = &mut self.dies.units[die as usize];
        let first = std::mem::replace(unit.read_on(plane), NONE);
        let pages = unit.leaving.append_all(&mut self.dies.txns, first);
        self.channels.wait_out((die, unit.channel), pages);
    }

    /// Starts the transfer of the first page in the queue.
    #[inline(always)]
    pub(super) fn start_out(&mut self, die: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let unit = &self.dies[die];
        let (id, channel) = (unit.leaving.first(), unit.channel);
        let txn = &mut self.dies.txns[id];
        let bus = self.dies.facts.out_time(txn.out_units);
        self.channels.occupy(channel, now, bus);
        txn.book(LatencyComponent::BusWait, now);
        out.schedule(now + bus, FlashEvent::Out { die });
        if self.observers.listens {
            self.observe(now, |observer, scene| observer.transferred(scene, id, now, bus));
        }
    }

    /// Ends the transfer of a page.
    pub(super) fn page_left(&mut self, die: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let unit = &mut self.dies.units[die as usize];
        let txns = &mut self.dies.txns;
        let id = match self.dies.facts.private_channels {
            true => {
                // It has left without a place in the queue.
                let (id, sensed) =
                    (std::mem::replace(&mut unit.reading, NONE), unit.whole.scheduled);
                unit.die.elapse(sensed);
                txns[id].book(LatencyComponent::Array, sensed);
                id
            }
            false => unit.leaving.take_first(txns),
        };
        let txn = &mut txns[id];
        txn.book(LatencyComponent::Bus, now);
        let Txn { start, at: PageAddress { plane, .. }, .. } = *txn;
        if self.dies.facts.has_units() && unit.leaving.first() != NONE {
            let next = &txns[unit.leaving.first()];
            if next.place > 0 && (next.start, next.at.plane) == (start, plane) {
                // Another unit of its page is in the die.
                self.left_its_die(id, now, out);
                return;
            }
        }
        let was_free = unit.die.is_at_rest();
        let by_plane = self.dies.facts.parallelism.independent_plane_reads;
        let held = if by_plane { unit.die.release_plane(plane) } else { unit.die.release() };
        if !was_free && unit.die.is_at_rest() {
            unit.usage.end(now);
        }
        if self.observers.listens {
            self.observe(now, |observer, scene| observer.page_left(scene, die, plane));
        }
        if held {
            self.line_up(die, by_plane.then_some(plane));
        }
        self.left_its_die(id, now, out);
    }

    /// Completes a page that has left its die, or has it wait for the others of its command.
    #[inline(always)]
    fn left_its_die(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        match self.dies.facts.parallelism.pages_end_together {
            true => self.left_with_others(id, now, out),
            false => self.finish_page(id, now, out),
        }
    }

    /// Completes the pages of a command when the last of them has left the die.
    ///
    /// A die senses for one command at a time, so that commands differ in their start.
    #[cold]
    fn left_with_others(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let Txn { die, start, .. } = self.dies.txns[id];
        let unit = &mut self.dies.units[die as usize];
        let next = unit.leaving.first();
        self.dies.txns[id].next = NONE;
        unit.left.append(&mut self.dies.txns, id);
        if next != NONE && self.dies.txns[next].start == start {
            return;
        }
        let mut each = unit.left.take();
        while each != NONE {
            let txn = &mut self.dies.txns[each];
            let following = std::mem::replace(&mut txn.next, NONE);
            txn.book(LatencyComponent::BusWait, now);
            self.finish_page(each, now, out);
            each = following;
        }
    }

    /// Completes the page of a read, unless it is to be decoded.
    #[inline(always)]
    fn finish_page(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        if self.media.is_some() {
            self.decode(id, now, out);
            return;
        }
        if self.observers.listens {
            self.observe(now, |observer, scene| observer.read_done(scene, id));
        }
        self.read_complete(id);
    }
}

/// Books the wait of a read, its part for a suspension, and its command.
#[inline(always)]
fn book_sense(txn: &mut Txn, wait: Dur, command: Dur, now: Time) {
    txn.parts.add(LatencyComponent::SuspendWait, wait.ns());
    txn.parts.add(LatencyComponent::Queue, (now - txn.mark).saturating_sub(wait).ns());
    txn.parts.add(LatencyComponent::Bus, command.ns());
    txn.mark = now + command;
    txn.start = now;
}

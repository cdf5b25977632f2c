//! Reads: a page is sensed, waits for the channel, crosses it, and is complete or decoded.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Command, Elapsed};

use super::decide::Grant;
use super::lane::LaneId;
use super::multi_plane::start_command;
use super::{Flash, FlashEvent};
use crate::event::Schedule;
use crate::txn::{NONE, Part, Txn};
use crate::work::Work;

impl Flash {
    /// Begins the array read of a queued transaction; false if it has to wait for the channel.
    #[inline(always)]
    pub(super) fn start_read<W: Work>(
        &mut self,
        id: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) -> bool {
        let Txn { die, kind, mark, .. } = self.txns[id];
        if !self.can_begin((die, kind, mark), now, grant) {
            return false;
        }
        let unit = &mut self.units[die as usize];
        unit.reads.remove(&mut self.txns, id);
        work.locate(&mut self.txns[id]);
        if self.gathers {
            self.gather_reads(id, work);
        }
        self.sense(id, now, out);
        true
    }

    /// Begins the array read of a transaction, and those that follow it, in no queue any more.
    pub(super) fn sense(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let planes = self.list_others(id);
        let (bus, command) = (self.out_time(id), self.timing.command * planes);
        let Txn { die, at, .. } = self.txns[id];
        let channel = self.channel_of(die);
        let unit = &mut self.units[die as usize];
        let mut each = id;
        while each != NONE {
            let txn = &mut self.txns[each];
            let lane = match self.splits {
                true => LaneId::of_plane(txn.at.plane),
                false => LaneId::WHOLE,
            };
            let wait = unit.lane(lane).suspend_wait(txn.mark, now);
            txn.parts.add(Part::SuspendWait, wait.ns());
            txn.parts.add(Part::Queue, (now - txn.mark).saturating_sub(wait).ns());
            txn.parts.add(Part::Bus, command.ns());
            txn.mark = now + command;
            txn.start = now;
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
            unit.occupied(now);
        }
        if command > Dur::ZERO {
            self.channels[channel].occupy(now, command);
        }
        if self.listens {
            self.tell_sense(id, now, until);
        }
        let unit = &mut self.units[die as usize];
        if self.parallelism.independent_plane_reads {
            unit.planes.reads[at.plane as usize] = id;
            out.schedule(until, FlashEvent::PlaneSensed { die, plane: at.plane });
            return;
        }
        unit.reading = id;
        if !self.private_channels {
            unit.whole.schedule((die, LaneId::WHOLE), until, out);
            return;
        }
        // Nobody else can want the channel: the page leaves as soon as it is sensed.
        self.channels[channel].occupy(until, bus);
        unit.whole.scheduled = until;
        out.schedule(until + bus, FlashEvent::Out { die });
        if self.listens {
            if self.budget.is_some() {
                out.schedule(until, FlashEvent::Sensed { die });
            }
            self.tell_out(id, now, until, bus);
        }
    }

    /// A plane that reads by itself has sensed its page.
    pub(super) fn plane_elapsed(&mut self, die: u32, plane: u32, now: Time) {
        let elapsed = self.units[die as usize].die.elapse_plane(now, plane);
        self.sensed(die, Some(plane), elapsed == Elapsed::ReadHeld, now);
    }

    /// What was sensed, on one plane that reads by itself or on all of the command, waits for the
    /// channel; or is held until what was sensed before has left.
    pub(super) fn sensed(&mut self, die: u32, plane: Option<u32>, is_held: bool, now: Time) {
        if let Some(budget) = &mut self.budget {
            budget.sensed(die, plane.is_some());
        }
        let unit = &mut self.units[die as usize];
        let mut each = *unit.read_on(plane);
        while each != NONE {
            let txn = &mut self.txns[each];
            txn.book(Part::Array, now);
            each = txn.next;
        }
        if is_held {
            return;
        }
        let is_free = unit.die.is_at_rest();
        if is_free {
            unit.freed(now);
        }
        if self.listens {
            self.tell_page_left(die, plane.unwrap_or(0), now);
        }
        if is_free || plane.is_some() {
            self.wake(die);
        }
        self.line_up(die, plane);
    }

    /// What was sensed lines up for the channel, page by page, behind what is there.
    fn line_up(&mut self, die: u32, plane: Option<u32>) {
        let channel = self.channel_of(die);
        let unit = &mut self.units[die as usize];
        let first = std::mem::replace(unit.read_on(plane), NONE);
        match unit.leaving {
            NONE => unit.leaving = first,
            _ => self.txns[unit.leaving_last].next = first,
        }
        let mut each = first;
        while each != NONE {
            unit.leaving_last = each;
            self.channels[channel].wait_out(die);
            each = self.txns[each].next;
        }
        self.wake_channel(channel as u32);
    }

    /// How long what is wanted of a sensed page takes on the channel.
    #[inline]
    fn out_time(&self, id: u32) -> Dur {
        match self.txns[id].out_units {
            None => self.timing.bus,
            Some(units) => self.part_time(units.get()),
        }
    }

    #[cold]
    fn part_time(&self, units: u32) -> Dur {
        let unit_bytes = self.transfer_unit_bytes.expect("only then do pages leave in units");
        let bytes = u64::from(units) * u64::from(unit_bytes);
        Dur::from_ns((self.timing.bus.ns() * bytes).div_ceil(self.geometry.page_bytes.into()))
    }

    /// The first page in line crosses the channel.
    pub(super) fn start_out(&mut self, die: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let channel = self.channel_of(die);
        let id = self.units[die as usize].leaving;
        let bus = self.out_time(id);
        self.channels[channel].occupy(now, bus);
        self.txns[id].book(Part::BusWait, now);
        out.schedule(now + bus, FlashEvent::Out { die });
        if self.listens {
            self.tell_out(id, now, now, bus);
        }
    }

    /// A page has left a die: the read is complete, unless the page is to be decoded.
    pub(super) fn page_left(&mut self, die: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let unit = &mut self.units[die as usize];
        if self.private_channels {
            let sensed = unit.whole.scheduled;
            unit.die.elapse(sensed);
            self.txns[unit.reading].book(Part::Array, sensed);
            unit.leaving = std::mem::replace(&mut unit.reading, NONE);
        }
        let id = unit.leaving;
        let txn = &mut self.txns[id];
        unit.leaving = txn.next;
        txn.book(Part::Bus, now);
        let was_free = unit.die.is_at_rest();
        let by_plane = self.parallelism.independent_plane_reads;
        let plane = txn.at.plane;
        let held = if by_plane { unit.die.release_plane(plane) } else { unit.die.release() };
        if !was_free && unit.die.is_at_rest() {
            unit.freed(now);
        }
        if self.listens {
            self.tell_page_left(die, plane, now);
        }
        if held {
            self.line_up(die, by_plane.then_some(plane));
        }
        if self.media.is_some() {
            self.decode(id, now, out);
            return;
        }
        self.read_complete(id);
    }
}

//! Beginning and ending: commands to the dies, transfers over the channels, completions.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Command, Elapsed};

use super::decide::Grant;
use super::group::start;
use super::{Flash, FlashEvent};
use crate::event::Schedule;
use crate::seen::{Extent, Seen};
use crate::slab::Slab;
use crate::txn::{Kind, NONE, Part, Txn};
use crate::work::{GcNeed, Work};

impl Flash {
    /// Whether the die has the channel; if not, it stands in line for it afterwards.
    pub(super) fn has_channel(&mut self, die: u32, now: Time, grant: Grant, kind: Kind) -> bool {
        let channel = self.channel_of(die);
        if grant == Grant::Given || self.channels[channel].is_available(now) {
            self.channels[channel].taken_by(die);
            return true;
        }
        let in_line = &mut self.units[die as usize].in_line[usize::from(!kind.is_read())];
        if !*in_line {
            *in_line = true;
            self.channels[channel].wait_start(die, kind);
            self.wake_channel(channel as u32);
        }
        false
    }

    /// Whether a free die has all that an operation needs to begin; else it waits for the channel.
    fn can_begin<const FULL: bool>(
        &mut self,
        (die, kind, since): (u32, Kind, Time),
        now: Time,
        grant: Grant,
    ) -> bool {
        let is_program = kind.is_program();
        if is_program && self.units[die as usize].die.output_in_use() {
            // The page that comes in would need the register from which one still leaves.
            return false;
        }
        if FULL && self.budget.is_some() && !self.has_power(die, kind, since) {
            return false;
        }
        let needs_channel = is_program || self.timing.command > Dur::ZERO;
        !needs_channel || self.has_channel(die, now, grant, kind)
    }

    /// Begins the array read of a queued transaction; false if it has to wait for the channel.
    #[inline(always)]
    pub(super) fn start_read<W: Work, const FULL: bool>(
        &mut self,
        id: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) -> bool {
        let Txn { die, kind, mark, .. } = self.txns[id];
        if !self.can_begin::<FULL>((die, kind, mark), now, grant) {
            return false;
        }
        let unit = &mut self.units[die as usize];
        unit.reads.remove(&mut self.txns, id);
        work.locate(&mut self.txns[id]);
        if FULL && self.gathers {
            self.gather_reads(id, work);
        }
        self.sense::<FULL>(id, now, out);
        true
    }

    /// Begins the array read of a transaction, and those that follow it, in no queue any more.
    fn sense<const FULL: bool>(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let planes = if FULL { self.list_others(id) } else { 1 };
        let (bus, command) = (self.out_time::<FULL>(id), self.timing.command * planes);
        let die = self.txns[id].die;
        let channel = self.channel_of(die);
        let mut each = id;
        while each != NONE {
            let wait = match FULL && self.splits {
                true => self.suspend_wait_on_plane(each, now),
                false => self.units[die as usize].suspend_wait(self.txns[each].mark, now),
            };
            let txn = &mut self.txns[each];
            txn.parts.add(Part::SuspendWait, wait.ns());
            txn.parts.add(Part::Queue, (now - txn.mark).saturating_sub(wait).ns());
            txn.parts.add(Part::Bus, command.ns());
            txn.mark = now + command;
            txn.start = now;
            each = if FULL { txn.next } else { NONE };
        }
        let at = self.txns[id].at;
        let read = Command::Read(at);
        let unit = &mut self.units[die as usize];
        let was_free = unit.die.is_at_rest();
        let until = match start::<FULL>(&mut unit.die, now, read, planes, &self.others) {
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
        if FULL && self.listens {
            self.tell_sense(id, now, until);
        }
        let unit = &mut self.units[die as usize];
        if FULL && self.parallelism.independent_plane_reads {
            unit.planes.reads[at.plane as usize] = id;
            out.schedule(until, FlashEvent::Plane { die, plane: at.plane });
            return;
        }
        unit.reading = id;
        if self.private_channels {
            // Nobody else can want the channel: the page leaves as soon as it is sensed.
            self.channels[channel].occupy(until, bus);
            unit.promised = until;
            out.schedule(until + bus, FlashEvent::Out { die });
            if FULL && self.budget.is_some() {
                out.schedule(until, FlashEvent::Sensed { die });
            }
            if FULL && self.listens {
                self.tell_out(id, now, until, bus);
            }
        } else {
            unit.promise(die, until, out);
        }
    }

    pub(super) fn start_write<W: Work, const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        (grant, unsuspendable): (Grant, bool),
    ) {
        let Some(id) = self.next_write::<FULL>(die, now) else { return };
        let Txn { kind, mark, .. } = self.txns[id];
        if !self.can_begin::<FULL>((die, kind, mark), now, grant) {
            return;
        }
        let is_program = kind.is_program();
        if is_program && !work.place(&mut self.txns[id]) {
            assert!(
                !self.units[die as usize].die.is_suspended(),
                "a program had room and has none"
            );
            if !self.sense_for_room(die, now, work, out, grant) {
                self.start_gc::<W, FULL>(die, now, work, out, grant);
            }
            return;
        }
        let unit = &mut self.units[die as usize];
        unit.writes.remove(&mut self.txns, id);
        unit.pending_programs -= u32::from(is_program);
        self.write_queue.pending -= u32::from(is_program);
        self.txns[id].unsuspendable = unsuspendable;
        if FULL && self.gathers {
            self.gather_writes(id, now, work);
        }
        self.run::<FULL>(id, now, out);
    }

    pub(super) fn start_gc<W: Work, const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let Some(kind) = work.gc_next(die) else { return };
        let since = self.units[die as usize].gc_waits.map_or(now, |waiter| waiter.since);
        if !self.can_begin::<FULL>((die, kind, since), now, grant) {
            return;
        }
        let id = self.txns.insert_with(|| work.gc_take(die, now));
        let taken = self.txns[id].kind;
        debug_assert_eq!(taken, kind, "garbage collection took another step than it named");
        self.units[die as usize].gc_waits = None;
        if FULL && self.gathers {
            self.gather_gc(id, now, work);
        }
        if kind.is_read() {
            self.sense::<FULL>(id, now, out);
            if FULL {
                self.look_for_more(die, now, work, out);
            }
            return;
        }
        self.run::<FULL>(id, now, out);
        if work.gc_need(die) == GcNeed::Exclusive {
            // A read that had to let it begin may ask at once for its suspension.
            out.schedule(now, FlashEvent::Poke { die });
        }
    }

    /// What a program or erase asks of its die, and how long the channel is used for it.
    #[inline(always)]
    pub(super) fn command_of(&self, id: u32) -> (Command, Dur) {
        let (timing, txn) = (&self.timing, &self.txns[id]);
        match txn.kind {
            Kind::Erase => (Command::Erase(txn.at), timing.command),
            Kind::GcCopy => {
                let from = self.address(txn.old);
                (Command::Copyback { from, to: txn.at }, timing.command * 2)
            }
            _ => (Command::Program(txn.at), timing.command + timing.data_in()),
        }
    }

    /// Begins a program or erase that is in no queue any more.
    fn run<const FULL: bool>(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let planes = if FULL { self.list_others(id) } else { 1 };
        let (command, transfer) = self.command_of(id);
        let transfer = transfer * planes;
        let die = self.txns[id].die;
        let unit = &mut self.units[die as usize];
        let inside_erase = unit.die.is_suspended();
        let until = match start::<FULL>(&mut unit.die, now, command, planes, &self.others) {
            Ok(until) => until,
            Err(refusal) => {
                self.refused.get_or_insert((id, refusal));
                return;
            }
        };
        let pages = self.together;
        let mut each = id;
        while each != NONE {
            let txn = &mut self.txns[each];
            let joins = each != id;
            match txn.kind {
                Kind::Erase => unit.seen.note(Seen::Erase(now, Extent::of_page(txn.at, joins))),
                // A wordline is programmed whole, and noted with its first page.
                _ if FULL && pages > 1 && txn.at.page % pages > 0 => {}
                _ => unit.seen.note(Seen::Program(now, Extent { at: txn.at, pages, joins })),
            }
            if inside_erase {
                let wait = unit.suspend_wait(txn.mark, now);
                txn.parts.add(Part::SuspendWait, wait.ns());
                txn.mark = txn.mark + wait;
            }
            txn.book(Part::Queue, now);
            txn.parts.add(Part::Bus, transfer.ns());
            txn.mark = now + transfer;
            txn.start = now;
            each = if FULL { txn.next } else { NONE };
        }
        if inside_erase {
            unit.enclose();
        }
        unit.occupied(now);
        unit.operation = id;
        if FULL && self.splits {
            unit.planes_begun = planes;
        }
        unit.promise(die, until, out);
        if FULL && self.parallelism.cache_program {
            // When its own data is in, that of the next can follow.
            out.schedule(now + transfer, FlashEvent::Poke { die });
        }
        if FULL && self.suspension.eligibility.write_in_erase && self.txns[id].kind == Kind::Erase {
            // A program that stood in line behind it asks at once for its suspension.
            out.schedule(now, FlashEvent::Poke { die });
        }
        if transfer > Dur::ZERO {
            let channel = self.channel_of(die);
            self.channels[channel].occupy(now, transfer);
        }
        if FULL && self.listens {
            self.tell_begin(id, now, Some((transfer, planes)));
        }
    }

    pub(super) fn resume<const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let unit = &self.units[die as usize];
        let needs_channel = unit.die.resume_needs_channel();
        let page_leaves = unit.die.output_in_use();
        if FULL && self.budget.is_some() && !self.has_power_to_resume(die) {
            return;
        }
        // Its page comes in again, as that of any program does.
        if needs_channel && (page_leaves || !self.has_channel(die, now, grant, Kind::Program)) {
            return;
        }
        let unit = &mut self.units[die as usize];
        let until = unit.die.resume(now).expect("the die is suspended, free and has the channel");
        let suspended = (now - unit.suspended_since).ns();
        let transfer = match needs_channel {
            true => self.timing.data_in() * u64::from(unit.die.planes_at_work()),
            false => Dur::ZERO,
        };
        let is_erase = self.txns[unit.operation].kind == Kind::Erase;
        self.counts.suspended_ns[usize::from(is_erase)] += suspended;
        unit.occupied(now);
        unit.promise(die, until, out);
        if FULL && self.parallelism.cache_program {
            out.schedule(now, FlashEvent::Poke { die });
        }
        let operation = unit.operation;
        self.tell_resumed(operation, Dur::from_ns(suspended), now);
        let mut each = operation;
        while each != NONE {
            let txn = &mut self.txns[each];
            txn.suspended_ns += suspended;
            txn.book(Part::Suspended, now);
            txn.parts.add(Part::Bus, transfer.ns());
            txn.mark = now + transfer;
            each = if FULL { txn.next } else { NONE };
        }
        if needs_channel {
            let channel = self.channel_of(die);
            self.channels[channel].occupy(now, transfer);
        }
        if FULL && self.listens {
            self.tell_resume(die, now, needs_channel.then_some(transfer));
        }
    }

    /// The array of a die has done what it promised.
    pub(super) fn array_elapsed<const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.units[die as usize];
        let elapsed = unit.die.elapse(now);
        if let (Some(budget), Elapsed::ReadReady | Elapsed::ReadHeld) = (&mut self.budget, elapsed)
        {
            budget.sensed(die, false);
        }
        match elapsed {
            Elapsed::ReadReady => {
                book_each::<FULL>(&mut self.txns, unit.reading, Part::Array, now);
                if unit.die.is_free() {
                    unit.freed(now);
                    if FULL && self.listens {
                        self.tell_freed(die, 0, now);
                    }
                    self.wake(die);
                }
                self.line_up_out::<FULL>(die);
            }
            Elapsed::ReadHeld => book_each::<FULL>(&mut self.txns, unit.reading, Part::Array, now),
            Elapsed::Programmed | Elapsed::Erased => {
                let id = unit.end_operation();
                let is_last = !FULL || unit.loaded == NONE;
                if is_last && (!FULL || !self.splits || unit.die.is_at_rest()) {
                    unit.freed(now);
                }
                if FULL && self.listens {
                    self.tell_left(id, now, true);
                }
                if !is_last {
                    self.begin_loaded(die, now, out);
                }
                self.operation_ended::<FULL>(id, now);
            }
            Elapsed::Suspended => {
                unit.suspended_since = now;
                unit.freed(now);
                if FULL && self.listens {
                    self.tell_left(self.units[die as usize].operation, now, false);
                }
                let unit = &mut self.units[die as usize];
                let is_erase = self.txns[unit.operation].kind == Kind::Erase;
                let mut each = unit.operation;
                while each != NONE {
                    let txn = &mut self.txns[each];
                    txn.book(Part::Array, now);
                    txn.suspensions += 1;
                    each = if FULL { txn.next } else { NONE };
                }
                self.count_suspension::<FULL>(die, None, is_erase);
                self.tell_suspended(self.units[die as usize].operation, now);
                self.wake(die);
            }
        }
    }

    /// What was sensed waits for the channel, page by page.
    fn line_up_out<const FULL: bool>(&mut self, die: u32) {
        let channel = self.channel_of(die);
        let unit = &mut self.units[die as usize];
        unit.leaving = unit.reading;
        unit.reading = NONE;
        let mut each = unit.leaving;
        while each != NONE {
            self.channels[channel].wait_out(die);
            each = if FULL { self.txns[each].next } else { NONE };
        }
        self.wake_channel(channel as u32);
    }

    /// How long what is wanted of a sensed page takes on the channel.
    #[inline]
    fn out_time<const FULL: bool>(&self, id: u32) -> Dur {
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

    pub(super) fn start_out<const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let channel = self.channel_of(die);
        let id = self.units[die as usize].leaving;
        let bus = self.out_time::<FULL>(id);
        self.channels[channel].occupy(now, bus);
        self.txns[id].book(Part::BusWait, now);
        out.schedule(now + bus, FlashEvent::Out { die });
        if FULL && self.listens {
            self.tell_out(id, now, now, bus);
        }
    }

    /// A page has left a die: the read is complete, unless the page is to be decoded.
    pub(super) fn page_left<const FULL: bool>(
        &mut self,
        die: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) {
        let unit = &mut self.units[die as usize];
        if self.private_channels {
            let sensed = unit.promised;
            unit.die.elapse(sensed);
            self.txns[unit.reading].book(Part::Array, sensed);
            unit.leaving = unit.reading;
            unit.reading = NONE;
        }
        let id = unit.leaving;
        unit.leaving = self.txns[id].next;
        self.txns[id].book(Part::Bus, now);
        let was_free = unit.die.is_at_rest();
        let plane = self.txns[id].at.plane;
        let by_plane = FULL && self.parallelism.independent_plane_reads;
        let held = if by_plane { unit.die.release_plane(plane) } else { unit.die.release() };
        if !was_free && unit.die.is_at_rest() {
            unit.freed(now);
        }
        if FULL && self.listens {
            self.tell_page_left(die, plane, now);
        }
        if held && by_plane {
            self.line_up_plane(die, plane);
        } else if held {
            self.line_up_out::<FULL>(die);
        }
        if FULL && self.media.is_some() {
            self.decode(id, now, out);
            return;
        }
        self.read_complete(id);
    }
}

/// Books the time of a transaction and of those that follow it.
#[inline]
fn book_each<const FULL: bool>(txns: &mut Slab<Txn>, first: u32, part: Part, now: Time) {
    let mut each = first;
    while each != NONE {
        let txn = &mut txns[each];
        txn.book(part, now);
        each = txn.next;
    }
}

//! Beginning and ending: commands to the dies, transfers over the channels, completions.

use reprieve_base::{Dur, Time};
use reprieve_nand::{Command, Elapsed};

use super::decide::Grant;
use super::{Flash, FlashEvent};
use crate::event::Schedule;
use crate::seen::Seen;
use crate::txn::{Kind, NONE, Part, Txn};
use crate::work::{GcNeed, Work};

impl Flash {
    /// Whether the die has the channel; if not, it stands in line for it afterwards.
    fn has_channel(&mut self, die: u32, now: Time, grant: Grant, kind: Kind) -> bool {
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
    fn can_begin(&mut self, die: u32, kind: Kind, now: Time, grant: Grant) -> bool {
        let is_program = kind.is_program();
        if is_program && self.units[die as usize].die.output_in_use() {
            // The page that comes in would need the register from which one still leaves.
            return false;
        }
        let needs_channel = is_program || self.timing.command > Dur::ZERO;
        !needs_channel || self.has_channel(die, now, grant, kind)
    }

    pub(super) fn start_read<W: Work>(
        &mut self,
        id: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let Txn { die, kind, .. } = self.txns[id];
        if !self.can_begin(die, kind, now, grant) {
            return;
        }
        let unit = &mut self.units[die as usize];
        unit.reads.remove(&mut self.txns, id);
        work.locate(&mut self.txns[id]);
        self.sense(id, now, out);
    }

    /// Begins the array read of a transaction that is in no queue any more.
    fn sense(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let (bus, command) = (self.out_time(id), self.timing.command);
        let die = self.txns[id].die;
        let channel = self.channel_of(die);
        let unit = &mut self.units[die as usize];
        let txn = &mut self.txns[id];
        let wait = unit.suspend_wait(txn.mark, now);
        txn.parts.add(Part::SuspendWait, wait.ns());
        txn.parts.add(Part::Queue, (now - txn.mark).saturating_sub(wait).ns());
        txn.parts.add(Part::Bus, command.ns());
        txn.mark = now + command;
        txn.start = now;
        let until = match unit.die.start(now, Command::Read(txn.at)) {
            Ok(until) => until,
            Err(refusal) => {
                self.refused.get_or_insert((id, refusal));
                return;
            }
        };
        unit.occupied(now);
        unit.reading = id;
        if command > Dur::ZERO {
            self.channels[channel].occupy(now, command);
        }
        if self.private_channels {
            // Nobody else can want the channel: the page leaves as soon as it is sensed.
            self.channels[channel].occupy(until, bus);
            unit.promised = until;
            out.schedule(until + bus, FlashEvent::Out { die });
        } else {
            unit.promise(die, until, out);
        }
    }

    pub(super) fn start_write<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        (grant, unsuspendable): (Grant, bool),
    ) {
        let unit = &self.units[die as usize];
        let Some(id) = unit.writes.first() else { return };
        let kind = self.txns[id].kind;
        if !self.can_begin(die, kind, now, grant) {
            return;
        }
        let is_program = kind.is_program();
        if is_program && !work.place(&mut self.txns[id]) {
            assert!(
                !self.units[die as usize].die.is_suspended(),
                "a program had room and has none"
            );
            self.start_gc(die, now, work, out, grant);
            return;
        }
        let unit = &mut self.units[die as usize];
        unit.writes.remove(&mut self.txns, id);
        unit.pending_programs -= u32::from(is_program);
        self.txns[id].unsuspendable = unsuspendable;
        self.run(id, now, out);
    }

    pub(super) fn start_gc<W: Work>(
        &mut self,
        die: u32,
        now: Time,
        work: &mut W,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let Some(kind) = work.gc_next(die) else { return };
        if !self.can_begin(die, kind, now, grant) {
            return;
        }
        let txn = work.gc_take(die, now);
        debug_assert_eq!(txn.kind, kind, "garbage collection took another step than it named");
        let id = self.txns.insert(txn);
        self.units[die as usize].gc_waits = None;
        if kind.is_read() {
            self.sense(id, now, out);
            return;
        }
        self.run(id, now, out);
        if work.gc_need(die) == GcNeed::Exclusive {
            // A read that had to let it begin may ask at once for its suspension.
            out.schedule(now, FlashEvent::Poke { die });
        }
    }

    /// Begins a program or erase that is in no queue any more.
    fn run(&mut self, id: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let timing = &self.timing;
        let txn = &mut self.txns[id];
        let die = txn.die;
        let unit = &mut self.units[die as usize];
        let (command, transfer) = if txn.kind == Kind::Erase {
            (Command::Erase(txn.at), timing.command)
        } else {
            (Command::Program(txn.at), timing.command + timing.bus)
        };
        let inside_erase = unit.die.is_suspended();
        let until = match unit.die.start(now, command) {
            Ok(until) => until,
            Err(refusal) => {
                self.refused.get_or_insert((id, refusal));
                return;
            }
        };
        if inside_erase {
            let wait = unit.suspend_wait(txn.mark, now);
            txn.parts.add(Part::SuspendWait, wait.ns());
            txn.mark = txn.mark + wait;
            unit.enclose();
        }
        txn.book(Part::Queue, now);
        txn.parts.add(Part::Bus, transfer.ns());
        txn.mark = now + transfer;
        txn.start = now;
        unit.seen.note(match txn.kind {
            Kind::Erase => Seen::Erase(now, txn.at),
            _ => Seen::Program(now, txn.at),
        });
        unit.occupied(now);
        unit.operation = id;
        unit.promise(die, until, out);
        if txn.kind == Kind::Erase && self.admission.write_in_erase {
            // A program that stood in line behind it asks at once for its suspension.
            out.schedule(now, FlashEvent::Poke { die });
        }
        if transfer > Dur::ZERO {
            let channel = self.channel_of(die);
            self.channels[channel].occupy(now, transfer);
        }
    }

    pub(super) fn resume(
        &mut self,
        die: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
        grant: Grant,
    ) {
        let unit = &self.units[die as usize];
        let needs_channel = unit.die.resume_needs_channel();
        let page_leaves = unit.die.output_in_use();
        // Its page comes in again, as that of any program does.
        if needs_channel && (page_leaves || !self.has_channel(die, now, grant, Kind::Program)) {
            return;
        }
        let unit = &mut self.units[die as usize];
        let until = unit.die.resume(now).expect("the die is suspended, free and has the channel");
        let txn = &mut self.txns[unit.operation];
        let suspended = (now - unit.suspended_since).ns();
        txn.suspended_ns += suspended;
        self.counts.suspended_ns[usize::from(txn.kind == Kind::Erase)] += suspended;
        txn.book(Part::Suspended, now);
        unit.occupied(now);
        unit.promise(die, until, out);
        if needs_channel {
            txn.parts.add(Part::Bus, self.timing.bus.ns());
            txn.mark = now + self.timing.bus;
            let channel = self.channel_of(die);
            self.channels[channel].occupy(now, self.timing.bus);
        }
    }

    /// The array of a die has done what it promised.
    pub(super) fn array_elapsed(&mut self, die: u32, now: Time) {
        let unit = &mut self.units[die as usize];
        match unit.die.elapse(now) {
            Elapsed::ReadReady => {
                self.txns[unit.reading].book(Part::Array, now);
                if unit.die.is_free() {
                    unit.freed(now);
                    self.wake(die);
                }
                self.line_up_out(die);
            }
            Elapsed::ReadHeld => self.txns[unit.reading].book(Part::Array, now),
            Elapsed::Programmed | Elapsed::Erased => {
                let id = unit.end_operation();
                unit.freed(now);
                self.txns[id].book(Part::Array, now);
                self.count_operation(id, now);
                self.complete(id);
            }
            Elapsed::Suspended => {
                unit.suspended_since = now;
                unit.freed(now);
                let txn = &mut self.txns[unit.operation];
                txn.book(Part::Array, now);
                txn.suspensions += 1;
                self.counts.suspensions[usize::from(txn.kind == Kind::Erase)] += 1;
                if let Some(count) = &mut self.counts.suspensions_by_write {
                    *count += u64::from(unit.asked_by_write);
                }
                self.wake(die);
            }
        }
    }

    /// A sensed page waits for the channel.
    fn line_up_out(&mut self, die: u32) {
        let unit = &mut self.units[die as usize];
        unit.leaving = unit.reading;
        unit.reading = NONE;
        let channel = self.channel_of(die);
        self.channels[channel].wait_out(die);
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

    pub(super) fn start_out(&mut self, die: u32, now: Time, out: &mut impl Schedule<FlashEvent>) {
        let channel = self.channel_of(die);
        let id = self.units[die as usize].leaving;
        let bus = self.out_time(id);
        self.channels[channel].occupy(now, bus);
        self.txns[id].book(Part::BusWait, now);
        out.schedule(now + bus, FlashEvent::Out { die });
    }

    /// A page has left a die: the read is complete.
    pub(super) fn page_left(&mut self, die: u32, now: Time) {
        let unit = &mut self.units[die as usize];
        if self.private_channels {
            let sensed = unit.promised;
            unit.die.elapse(sensed);
            self.txns[unit.reading].book(Part::Array, sensed);
            unit.leaving = unit.reading;
            unit.reading = NONE;
        }
        let id = unit.leaving;
        unit.leaving = NONE;
        self.txns[id].book(Part::Bus, now);
        let was_free = unit.die.is_free();
        let held = unit.die.release();
        if !was_free && unit.die.is_free() {
            unit.freed(now);
        }
        if held {
            self.line_up_out(die);
        }
        match self.txns[id].kind {
            Kind::HostRead => self.counts.host_reads += 1,
            Kind::RmwRead => self.counts.rmw_reads += 1,
            Kind::MapRead | Kind::MapUpdate => self.counts.map_reads += 1,
            _ => self.counts.gc_reads += 1,
        }
        self.complete(id);
    }

    fn count_operation(&mut self, id: u32, now: Time) {
        let txn = &self.txns[id];
        match txn.kind {
            Kind::Program => self.counts.host_programs += 1,
            Kind::GcProgram => self.counts.gc_programs += 1,
            Kind::MapProgram => self.counts.map_programs += 1,
            _ => self.counts.erases += 1,
        }
        if txn.suspensions > 0 {
            let is_erase = txn.kind == Kind::Erase;
            let undisturbed = match is_erase {
                true => self.timing.undisturbed_erase(),
                false => self.timing.undisturbed_program(),
            };
            let suspended = &mut self.counts.suspended[usize::from(is_erase)];
            suspended.add(undisturbed, now - txn.start, txn.suspended_ns);
        }
    }

    fn complete(&mut self, id: u32) {
        let die = self.txns[id].die;
        self.done.push(id);
        self.wake(die);
    }
}

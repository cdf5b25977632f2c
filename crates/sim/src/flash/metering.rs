//! What the meter is told of dies and channels, where power is accounted for.

use reprieve_base::{Dur, Time};

use super::Flash;
use crate::power::{Class, Meter, PowerReport, Sensing, Transfer};
use crate::txn::Kind;

impl Flash {
    /// Power and energy until `now`, if they are accounted for.
    pub fn power_report(&self, now: Time) -> Option<PowerReport> {
        self.meter.as_ref().map(|meter| meter.report(now))
    }

    /// Begins to keep every step of power, where it is accounted for.
    pub fn trace_power(&mut self) {
        self.meter.iter_mut().for_each(|meter| meter.keep_trace());
    }

    fn metered(&mut self) -> &mut Meter {
        self.meter.as_mut().expect("power is accounted for")
    }

    /// The pages of a read, and of those that follow it, are sensed until `until`.
    #[cold]
    pub(super) fn meter_sense(&mut self, id: u32, now: Time, until: Time) {
        let planes = self.others.len() as u32 + 1;
        let txn = &self.txns[id];
        let (die, class, page) = (txn.die, Class::of(txn.kind), txn.at.page);
        let from = now + self.timing.command * u64::from(planes);
        if let Some(budget) = &mut self.budget {
            budget.sense(die, planes);
        }
        let meter = self.metered();
        let page_type = meter.page_type(page);
        meter.sense(now, die, class, Sensing { from, to: until, planes, page_type });
    }

    /// What is wanted of a page that is sensed crosses the channel.
    #[cold]
    pub(super) fn meter_out(&mut self, id: u32, now: Time, from: Time, length: Dur) {
        let txn = &self.txns[id];
        let class = Class::of(txn.kind);
        let bytes = match (txn.out_units, self.transfer_unit_bytes) {
            (Some(units), Some(bytes)) => u64::from(units.get()) * u64::from(bytes),
            _ => u64::from(self.geometry.page_bytes),
        };
        self.metered().transfer(now, class, Transfer { from, to: from + length, bytes });
    }

    /// The data of a program on so many planes crosses the channel.
    #[cold]
    pub(super) fn meter_in(&mut self, class: Class, now: Time, length: Dur, planes: u64) {
        let pages = planes * u64::from(self.together);
        let bytes = pages * u64::from(self.geometry.page_bytes);
        self.metered().transfer(now, class, Transfer { from: now, to: now + length, bytes });
    }

    /// A program or erase begins, with its data unless that has come before.
    #[cold]
    pub(super) fn meter_begin(&mut self, id: u32, now: Time, data_in: Option<(Dur, u64)>) {
        let txn = &self.txns[id];
        let (die, kind, page, old) = (txn.die, txn.kind, txn.at.page, txn.old);
        let run = self.units[die as usize].die.run(now).expect("a program or erase has begun");
        self.metered().begin(now, die, (Class::of(kind), page), run);
        if let Some(budget) = &mut self.budget {
            budget.run(die, kind, run.planes());
        }
        match (kind, data_in) {
            (Kind::GcCopy, _) => {
                let command = self.timing.command;
                let read_ns = (run.first().end - now).ns() - 2 * command.ns();
                let from = now + command;
                let old_page = self.address(old).page;
                let meter = self.metered();
                let page_type = meter.page_type(old_page);
                let to = from + Dur::from_ns(read_ns);
                meter.sense(now, die, Class::GcRead, Sensing { from, to, planes: 1, page_type });
            }
            (Kind::Erase, _) | (_, None) => {}
            (_, Some((length, planes))) => self.meter_in(Class::of(kind), now, length, planes),
        }
    }

    /// The operation of a die goes on; `transfer` of its data crosses the channel again.
    #[cold]
    pub(super) fn meter_resume(&mut self, die: u32, now: Time, transfer: Option<Dur>) {
        let unit = &self.units[die as usize];
        let planes = u64::from(unit.die.planes_at_work());
        let run = unit.die.run(now).expect("an operation has been resumed");
        let kind = self.txns[unit.whole.operation()].kind;
        self.metered().resume(now, die, run);
        if let Some(budget) = &mut self.budget {
            budget.resumed(die, kind, run.planes());
        }
        if let Some(length) = transfer {
            self.meter_in(Class::Suspension, now, length, planes);
        }
    }

    /// The operation of a die has been asked to make way and does so at `free_at`.
    #[cold]
    pub(super) fn meter_stop(&mut self, die: u32, now: Time, free_at: Time) {
        self.metered().stop(now, die, free_at);
    }

    /// The operation of a die is suspended, or complete.
    #[cold]
    pub(super) fn meter_left(&mut self, die: u32, now: Time, is_complete: bool) {
        let meter = self.metered();
        if is_complete {
            meter.ended(now, die)
        } else {
            meter.suspended(now, die)
        }
        match &mut self.budget {
            Some(budget) if is_complete => budget.ended(die),
            Some(budget) => budget.suspended(die),
            None => {}
        }
    }
}

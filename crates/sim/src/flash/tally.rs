//! Counts of operations that are complete.

use reprieve_base::Time;

use super::Flash;
use crate::txn::Kind;

impl Flash {
    pub(super) fn count_operation(&mut self, id: u32, now: Time, planes: u64) {
        let txn = &self.txns[id];
        match txn.kind {
            Kind::Program => self.counts.host_programs += 1,
            Kind::GcProgram => self.counts.gc_programs += 1,
            Kind::GcCopy => {
                self.counts.gc_reads += 1;
                self.counts.gc_programs += 1;
                *self.counts.copybacks.as_mut().expect("the drive copies back") += 1;
            }
            _ => self.counts.erases += 1,
        }
        if txn.suspensions > 0 {
            let is_erase = txn.kind == Kind::Erase;
            let undisturbed = match txn.kind {
                Kind::Erase => self.timing.undisturbed_erase(),
                Kind::GcCopy => {
                    self.timing.undisturbed_copyback(self.address(txn.old).page, txn.at.page)
                }
                _ => self.timing.undisturbed_program(txn.at.page),
            };
            // Commands, and pages, of the other planes cross the channel too.
            let (_, transfer) = self.command_of(id);
            let undisturbed = undisturbed + transfer * (planes - 1);
            let suspended = &mut self.counts.suspended[usize::from(is_erase)];
            suspended.add(undisturbed, now - txn.start, txn.suspended_ns);
        }
    }
}

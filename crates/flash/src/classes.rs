//! Classes of waiting and running transactions, for a scheduler with a queue for each.

use reprieve_base::{Dur, Time};
use reprieve_policy::sched::{Class, Classes, Operation};
use reprieve_policy::txn::{Kind, NONE};
use reprieve_policy::work::{GcNeed, Work};

use super::dies::Dies;

/// Returns the class of a kind of transaction.
pub(super) fn class_of(kind: Kind) -> Class {
    match kind {
        // Queued reads share a class.
        Kind::HostRead | Kind::RmwRead | Kind::ScanRead | Kind::MapRead | Kind::MapUpdate => {
            Class::HostRead
        }
        Kind::Program | Kind::MapProgram => Class::HostWrite,
        Kind::GcRead => Class::GcRead,
        Kind::GcProgram | Kind::GcCopy => Class::GcProgram,
        Kind::Erase => Class::Erase,
    }
}

impl Dies {
    /// Returns a scheduler's view of a program or erase that has started.
    #[inline(always)]
    pub(super) fn operation_of(&self, id: u32) -> Operation {
        let txn = &self.txns[id];
        // Pages of the mapping are queued and programmed like host pages.
        let is_host_program = class_of(txn.kind) == Class::HostWrite;
        Operation { is_host_program, since: txn.queued_at() }
    }

    /// Returns the classes at a die; `waits`: garbage collection waits.
    #[cold]
    pub(super) fn classes<W: Work>(
        &self,
        die: u32,
        now: Time,
        work: &mut W,
        waits: bool,
    ) -> Classes {
        let mut classes = self.classes_without_gc(die, now);
        if waits {
            classes.gc = Some(class_of(work.gc_peek(die)));
            classes.gc_is_urgent = work.gc_need(die) == GcNeed::Urgent;
            classes.gc_since = self[die].gc_waits.expect("it was said to wait").since;
        }
        classes
    }

    /// Returns the classes without garbage collection.
    #[cold]
    fn classes_without_gc(&self, die: u32, now: Time) -> Classes {
        let unit = &self[die];
        let write = self.next_write(die, now).map(|id| self.txns[id].kind);
        let operation = match unit.whole.operation() {
            NONE => None,
            id => Some((class_of(self.txns[id].kind), unit.suspended_for(&self.txns, now))),
        };
        Classes {
            operation,
            read: Class::HostRead,
            write: write.map_or(Class::HostWrite, class_of),
            gc: None,
            gc_since: now,
            gc_is_urgent: false,
            pending_programs: unit.pending_programs,
        }
    }

    /// Returns the classes under plane suspension: the operation is the plane's.
    #[cold]
    pub(super) fn classes_of_plane(
        &self,
        die: u32,
        now: Time,
        operation: u32,
        suspended: Dur,
    ) -> Classes {
        let operation = Some((class_of(self.txns[operation].kind), suspended));
        Classes { operation, ..self.classes_without_gc(die, now) }
    }
}

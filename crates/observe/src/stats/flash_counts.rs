//! Counters of the flash back end.

use reprieve_base::{Dur, Time};
use reprieve_policy::txn::{Kind, Txn};

/// Counters of the flash.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FlashCounts {
    /// Array reads of pages of host reads.
    pub host_reads: u64,
    /// Array reads of old pages under partial writes.
    pub rmw_reads: u64,
    /// Array reads by garbage collection.
    pub gc_reads: u64,
    /// Programs of host pages.
    pub host_programs: u64,
    /// Programs by garbage collection.
    pub gc_programs: u64,
    /// Array reads of pages of the mapping.
    pub map_reads: u64,
    /// Programs of pages of the mapping.
    pub map_programs: u64,
    /// Pages read and programmed by garbage collection that never crossed the channel; `None` on a
    /// drive without copyback.
    pub copybacks: Option<u64>,
    /// Multi-plane commands for reads, programs and erases; `None` where there are none.
    pub multi_plane: Option<[u64; 3]>,
    /// Padded pages of wordlines; `None` where pages are programmed one by one.
    pub padded_pages: Option<u64>,
    /// Padded mapping units of programmed pages, where a page has several.
    pub padded_units: Option<u64>,
    /// Block erases.
    pub erases: u64,
    /// Suspensions of programs and of erases.
    pub suspensions: [u64; 2],
    /// Suspensions of erases for host writes; `None` where writes may not suspend.
    pub suspensions_by_write: Option<u64>,
    /// Programs and erases that were suspended at least once.
    pub suspended: [SuspendedOperations; 2],
    /// Time that programs and erases spent in suspension.
    pub suspended_ns: [u64; 2],
}

impl FlashCounts {
    /// Returns the counters of a run of this kind at its start.
    pub fn none(&self) -> FlashCounts {
        FlashCounts {
            copybacks: self.copybacks.map(|_| 0),
            multi_plane: self.multi_plane.map(|_| [0; 3]),
            padded_pages: self.padded_pages.map(|_| 0),
            padded_units: self.padded_units.map(|_| 0),
            suspensions_by_write: self.suspensions_by_write.map(|_| 0),
            ..FlashCounts::default()
        }
    }

    /// Counts a completed read.
    #[inline]
    pub fn read(&mut self, kind: Kind) {
        match kind {
            Kind::HostRead => self.host_reads += 1,
            Kind::RmwRead => self.rmw_reads += 1,
            Kind::MapRead | Kind::MapUpdate => self.map_reads += 1,
            // The scan has separate counts.
            Kind::ScanRead => {}
            _ => self.gc_reads += 1,
        }
    }

    /// Counts a programmed page or an erased block, of this length without suspension.
    #[inline]
    pub fn operation(&mut self, txn: &Txn, undisturbed: Dur, now: Time) {
        match txn.kind {
            Kind::Program => self.host_programs += 1,
            Kind::GcProgram => self.gc_programs += 1,
            Kind::MapProgram => self.map_programs += 1,
            Kind::GcCopy => {
                self.gc_reads += 1;
                self.gc_programs += 1;
                *self.copybacks.as_mut().expect("the drive copies back") += 1;
            }
            _ => self.erases += 1,
        }
        if txn.suspensions > 0 {
            let suspended = &mut self.suspended[usize::from(txn.kind == Kind::Erase)];
            suspended.add(undisturbed, now - txn.start, txn.suspended_ns);
        }
    }

    /// Counts a multi-plane command.
    #[cold]
    pub fn command_of_planes(&mut self, kind: Kind) {
        let counts = self.multi_plane.as_mut().expect("commands may take several planes");
        counts[match kind {
            Kind::Erase => 2,
            kind => usize::from(kind.is_program()),
        }] += 1;
    }

    /// Counts a suspension of a program or an erase, on all planes or one.
    #[inline(always)]
    pub fn suspension(&mut self, is_erase: bool, by_write: bool) {
        self.suspensions[usize::from(is_erase)] += 1;
        if let Some(count) = &mut self.suspensions_by_write {
            *count += u64::from(by_write);
        }
    }

    /// Returns the array reads of the host, of garbage collection and of the mapping.
    pub fn reads(&self) -> u64 {
        self.host_reads + self.rmw_reads + self.gc_reads + self.map_reads
    }

    /// Returns the programs of the host, of garbage collection and of the mapping.
    pub fn programs(&self) -> u64 {
        self.host_programs + self.gc_programs + self.map_programs
    }
}

/// Completed operations of one kind that were suspended at least once.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SuspendedOperations {
    /// Number.
    pub count: u64,
    undisturbed_ns: u64,
    actual_ns: u64,
    suspended_ns: u64,
    /// Sum of (actual − undisturbed) / undisturbed over the operations.
    increase: f64,
}

impl SuspendedOperations {
    /// Counts an operation: its undisturbed length, its actual length, and its time in suspension.
    pub fn add(&mut self, undisturbed: Dur, actual: Dur, suspended_ns: u64) {
        self.count += 1;
        self.undisturbed_ns += undisturbed.ns();
        self.actual_ns += actual.ns();
        self.suspended_ns += suspended_ns;
        // Negative where a cancelled pulse had reached its target and saved the rest.
        let increase_ns = actual.ns() as f64 - undisturbed.ns() as f64;
        self.increase += increase_ns / undisturbed.ns() as f64;
    }

    fn mean(&self, sum: f64) -> f64 {
        if self.count == 0 { 0.0 } else { sum / self.count as f64 }
    }

    /// Returns the mean length without suspension, command included, in ns; 0 without operations.
    pub fn undisturbed_ns_mean(&self) -> f64 {
        self.mean(self.undisturbed_ns as f64)
    }

    /// Returns the mean actual length, in nanoseconds; 0 without operations.
    pub fn actual_ns_mean(&self) -> f64 {
        self.mean(self.actual_ns as f64)
    }

    /// Returns the mean time in suspension, in nanoseconds; 0 without operations.
    pub fn suspended_ns_mean(&self) -> f64 {
        self.mean(self.suspended_ns as f64)
    }

    /// Returns the mean relative lengthening of the operations.
    pub fn increase_mean(&self) -> f64 {
        self.mean(self.increase)
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::PageAddress;
    use reprieve_policy::txn::NONE;

    use super::*;

    #[test]
    fn a_copy_back_reads_and_programs_and_only_what_was_suspended_is_longer() {
        let at = PageAddress { plane: 0, block: 0, page: 0 };
        let txn = |kind| Txn::new(kind, 0, at, NONE, NONE, Time::ZERO);
        let us = |us: u64| Dur::from_ns(1000 * us);
        let mut counts = FlashCounts { copybacks: Some(0), ..FlashCounts::default() };
        let copy = Txn { start: Time::from_ns(0), ..txn(Kind::GcCopy) };
        counts.operation(&copy, Dur::ZERO, Time::from_ns(5));
        // 200 us alone, 250 from start to end, 40 of them in suspension.
        let erase = Txn { start: Time::from_ns(10_000), suspensions: 1, ..txn(Kind::Erase) };
        let erase = Txn { suspended_ns: 40_000, ..erase };
        counts.operation(&erase, us(200), Time::from_ns(260_000));
        counts.read(Kind::MapUpdate);
        assert_eq!((counts.reads(), counts.programs(), counts.erases), (2, 1, 1));
        assert_eq!((counts.gc_reads, counts.map_reads, counts.copybacks), (1, 1, Some(1)));
        let [programs, erases] = &counts.suspended;
        assert_eq!((programs.count, erases.count), (0, 1));
        assert_eq!((erases.actual_ns_mean(), erases.suspended_ns_mean()), (250e3, 40e3));
        assert_eq!(erases.increase_mean(), 0.25);
    }

    #[test]
    fn what_a_write_asked_for_is_counted_where_it_may() {
        let mut counts = FlashCounts { suspensions_by_write: Some(0), ..FlashCounts::default() };
        counts.suspension(true, true);
        counts.suspension(true, false);
        counts.suspension(false, false);
        assert_eq!((counts.suspensions, counts.suspensions_by_write), ([1, 2], Some(1)));
    }
}

//! Eligibility: the operations that each kind of read may suspend, as bits.

use reprieve_config::SuspendRules;

use crate::txn::Kind;

/// Kinds of transactions.
const KINDS: usize = Kind::Erase as usize + 1;

/// Which operations each class of reads may suspend, and whether writes may suspend erases.
#[derive(Clone, Copy, Debug)]
pub struct Eligibility {
    /// By the kind of the read, a bit for each kind of operation; used by every decision.
    operations: [u16; KINDS],
    /// Part, scheduler and scenario permit host programs to suspend erases.
    pub write_in_erase: bool,
}

impl Eligibility {
    /// Creates the table of operations that reads may suspend in a scenario.
    pub fn new(rules: &SuspendRules, write_in_erase: bool) -> Eligibility {
        let mut operations = [0; KINDS];
        for (reads, set) in [
            // A request waits for either.
            ([Kind::HostRead, Kind::MapRead], rules.host_read_suspends),
            ([Kind::RmwRead, Kind::MapUpdate], rules.rmw_read_suspends),
            ([Kind::GcRead; 2], rules.gc_read_suspends),
        ] {
            let sets = [
                (set.program, &[Kind::Program, Kind::MapProgram][..]),
                (set.gc_program, &[Kind::GcProgram, Kind::GcCopy]),
                (set.erase, &[Kind::Erase]),
            ];
            let admitted = sets.into_iter().filter(|(admits, _)| *admits);
            let mask = admitted.flat_map(|(_, kinds)| kinds).map(|kind| 1 << *kind as u32).sum();
            reads.iter().for_each(|read| operations[*read as usize] = mask);
        }
        Eligibility { operations, write_in_erase }
    }

    /// Whether a read of kind `read` may suspend an operation of kind `operation`.
    #[inline(always)]
    pub fn admits(&self, read: Kind, operation: Kind) -> bool {
        self.operations[read as usize] >> operation as u32 & 1 > 0
    }

    /// Whether transactions other than queued reads may suspend an operation.
    #[inline(always)]
    pub fn admits_others(&self) -> bool {
        self.write_in_erase || self.admits_any(Kind::GcRead)
    }

    /// Whether there is an operation that a read of kind `read` may suspend.
    #[inline(always)]
    pub fn admits_any(&self, read: Kind) -> bool {
        self.operations[read as usize] > 0
    }
}

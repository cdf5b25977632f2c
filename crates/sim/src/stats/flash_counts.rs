//! Counters of the flash back end.

/// What the back end has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Block erases.
    pub erases: u64,
    /// Suspensions of programs and of erases.
    pub suspensions: [u64; 2],
    /// Of those of erases, the ones that a host write asked for; `None` where writes may not.
    pub suspensions_by_write: Option<u64>,
    /// Programs and erases that were suspended at least once.
    pub suspended: [u64; 2],
    /// Time that programs and erases spent in suspension.
    pub suspended_ns: [u64; 2],
}

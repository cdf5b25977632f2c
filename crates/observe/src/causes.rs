//! Causes of waits, one for each nanosecond of a request's wait.

use reprieve_policy::txn::{Kind, LatencyComponent, LatencyComponents};

/// Cause of a nanosecond of waiting.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[repr(u8)]
pub enum Cause {
    /// Reads of the host, and reads of old pages under partial writes.
    HostRead,
    /// Programs of the host's pages.
    HostProgram,
    /// Reads of garbage collection, and their decoding.
    GcRead,
    /// Programs of garbage collection.
    GcProgram,
    /// Erases.
    Erase,
    /// Operations on the mapping, and waits for its entries.
    Map,
    /// The channel; if dies share it, its use by the blocking operation as well.
    Channel,
    /// An operation that enters suspension.
    SuspendEntry,
    /// An operation that would be suspended if it did not hold the page of the read.
    SameBlock,
    /// An operation that would be suspended if it had not reached its limit of suspensions.
    Limit,
    /// An operation that would be suspended if the policy had a suspension left in its budget.
    Budget,
    /// The budget of power.
    Power,
    /// None of these.
    Other,
}

/// Number of causes.
pub const CAUSES: usize = Cause::Other as usize + 1;

/// Columns of the request log, in the order of [`Cause`].
pub const CAUSE_NAMES: [&str; CAUSES] = [
    "by_host_read_ns",
    "by_host_program_ns",
    "by_gc_read_ns",
    "by_gc_program_ns",
    "by_erase_ns",
    "by_map_ns",
    "by_channel_ns",
    "by_suspend_entry_ns",
    "by_same_block_ns",
    "by_limit_ns",
    "by_budget_ns",
    "by_power_ns",
    "by_other_ns",
];

/// Components of a latency whose cause depends on other work of the drive.
///
/// Excludes the submission queue and the link. Waits for the channel and for the mapping are causes
/// themselves.
pub const ATTRIBUTED_COMPONENTS: [LatencyComponent; 5] = [
    LatencyComponent::Buffer,
    LatencyComponent::Rmw,
    LatencyComponent::Queue,
    LatencyComponent::SuspendWait,
    LatencyComponent::Suspended,
];

/// Nanoseconds by [`Cause`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct CauseTimes(pub [u64; CAUSES]);

impl Cause {
    /// Returns the cause that an operation is to transactions after it.
    #[inline]
    pub fn of(kind: Kind) -> Cause {
        match kind {
            Kind::HostRead | Kind::RmwRead => Cause::HostRead,
            Kind::Program => Cause::HostProgram,
            Kind::GcRead | Kind::ScanRead => Cause::GcRead,
            Kind::GcProgram | Kind::GcCopy => Cause::GcProgram,
            Kind::MapRead | Kind::MapUpdate | Kind::MapProgram => Cause::Map,
            Kind::Erase => Cause::Erase,
        }
    }
}

impl CauseTimes {
    /// Adds `ns` nanoseconds to a cause.
    #[inline]
    pub fn add(&mut self, cause: Cause, ns: u64) {
        self.0[cause as usize] += ns;
    }

    /// Adds the difference between two readings of a clock.
    pub fn add_between(&mut self, from: &CauseTimes, to: &CauseTimes) {
        for (sum, (from, to)) in self.0.iter_mut().zip(from.0.iter().zip(to.0)) {
            *sum += to - from;
        }
    }

    /// Returns the sum over all causes.
    pub fn sum_ns(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Returns the time of a request that has to be attributed.
pub fn attributed_ns(parts: &LatencyComponents) -> u64 {
    ATTRIBUTED_COMPONENTS.iter().map(|part| parts.0[*part as usize]).sum()
}

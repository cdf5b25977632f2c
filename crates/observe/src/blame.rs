//! Blame: what a request waited behind, one cause for each nanosecond.

use reprieve_policy::txn::{Kind, LatencyComponent, LatencyComponents};

/// What a nanosecond of waiting went behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Cause {
    /// Reads of the host, and reads of old pages under writes of part of a page.
    HostRead,
    /// Programs of the host's pages.
    HostProgram,
    /// Garbage collection reads, or has its page decoded.
    GcRead,
    /// Garbage collection programs.
    GcProgram,
    /// Erases.
    Erase,
    /// Operations on the mapping, and entries of it that were not in memory.
    Map,
    /// The channel.
    Channel,
    /// An operation on its way into suspension.
    SuspendEntry,
    /// An operation that would make way if it did not hold the page that is wanted.
    SameBlock,
    /// An operation that would make way if it had not used up its suspensions.
    Limit,
    /// An operation that would make way if the policy had a suspension left in its budget.
    Budget,
    /// The budget of power.
    Power,
    /// Nothing of these.
    Other,
}

/// How many causes there are.
pub const CAUSES: usize = Cause::Other as usize + 1;

/// Names of the causes as columns of the request log, in the order of [`Cause`].
pub const BLAME_NAMES: [&str; CAUSES] = [
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

/// The parts of a latency that are blamed on something: those in which a request waits for what
/// the drive does. The queue in front of the drive and the link are not among them.
pub const BLAMED_PARTS: [LatencyComponent; 7] = [
    LatencyComponent::Buffer,
    LatencyComponent::Rmw,
    LatencyComponent::Queue,
    LatencyComponent::SuspendWait,
    LatencyComponent::BusWait,
    LatencyComponent::Suspended,
    LatencyComponent::Map,
];

/// Nanoseconds by [`Cause`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blamed(pub [u64; CAUSES]);

impl Cause {
    /// What an operation is to those who wait behind it.
    #[inline]
    pub fn of(kind: Kind) -> Cause {
        match kind {
            Kind::HostRead | Kind::RmwRead => Cause::HostRead,
            Kind::Program => Cause::HostProgram,
            Kind::GcRead => Cause::GcRead,
            Kind::GcProgram | Kind::GcCopy => Cause::GcProgram,
            Kind::MapRead | Kind::MapUpdate | Kind::MapProgram => Cause::Map,
            Kind::Erase => Cause::Erase,
        }
    }
}

impl Blamed {
    /// Adds `ns` nanoseconds to a cause.
    #[inline]
    pub fn add(&mut self, cause: Cause, ns: u64) {
        self.0[cause as usize] += ns;
    }

    /// Adds what has come since `before`.
    #[inline]
    pub fn add_since(&mut self, now: &Blamed, before: &Blamed) {
        for cause in 0..CAUSES {
            self.0[cause] += now.0[cause] - before.0[cause];
        }
    }

    /// Becomes what has come since `before`.
    #[inline]
    pub fn set_since(&mut self, now: &Blamed, before: &Blamed) {
        for cause in 0..CAUSES {
            self.0[cause] = now.0[cause] - before.0[cause];
        }
    }

    /// The sum over all causes.
    pub fn sum_ns(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// Time of a request that is blamed on something, by its parts.
pub fn blamed_ns(parts: &LatencyComponents) -> u64 {
    BLAMED_PARTS.iter().map(|part| parts.0[*part as usize]).sum()
}

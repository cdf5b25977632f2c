//! Blame: what a request waited behind, one cause for each nanosecond.

use reprieve_policy::txn::{Kind, LatencyComponent, LatencyComponents};

/// What a nanosecond of waiting went behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
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

/// The parts of a latency whose cause has to be found: those in which a request waits for what the
/// drive does. The queue in front of the drive and the link are not among them; of what is waited
/// for a channel or the mapping the part itself says what it went behind.
pub const BLAMED_PARTS: [LatencyComponent; 5] = [
    LatencyComponent::Buffer,
    LatencyComponent::Rmw,
    LatencyComponent::Queue,
    LatencyComponent::SuspendWait,
    LatencyComponent::Suspended,
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

    /// What has come since `before`.
    #[inline(always)]
    pub fn since(&self, before: &Blamed) -> Blamed {
        Blamed(std::array::from_fn(|cause| self.0[cause] - before.0[cause]))
    }

    /// The sum over all causes.
    pub fn sum_ns(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// The same where it mostly is one cause, of which the others cost nothing.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    one: OneCause,
    /// If they are several.
    all: Blamed,
}

/// How many causes there are; if it is one, that and its time.
#[derive(Clone, Copy, Debug)]
struct OneCause {
    causes: Causes,
    cause: Cause,
    ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Causes {
    None,
    One,
    Several,
}

impl Tally {
    /// Nothing is blamed on anything.
    pub const NOTHING: Tally = Tally {
        one: OneCause { causes: Causes::None, cause: Cause::Other, ns: 0 },
        all: Blamed([0; CAUSES]),
    };

    /// Forgets all.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.one.causes = Causes::None;
    }

    /// Adds `ns` nanoseconds to a cause.
    #[inline(always)]
    pub fn add(&mut self, cause: Cause, ns: u64) {
        match self.one.causes {
            Causes::None => self.one = OneCause { causes: Causes::One, cause, ns },
            Causes::One if cause == self.one.cause => self.one.ns += ns,
            Causes::One => self.add_another(cause, ns),
            Causes::Several => self.all.add(cause, ns),
        }
    }

    #[cold]
    fn add_another(&mut self, cause: Cause, ns: u64) {
        self.all = Blamed::default();
        self.all.add(self.one.cause, self.one.ns);
        self.all.add(cause, ns);
        self.one.causes = Causes::Several;
    }

    /// Adds nanoseconds by cause.
    pub fn add_all(&mut self, blamed: &Blamed) {
        self.add_since(blamed, &Blamed([0; CAUSES]));
    }

    /// Adds what has come since `before`. Returns all of it, by cause, to be added to.
    #[inline(always)]
    pub fn add_since(&mut self, now: &Blamed, before: &Blamed) -> &mut Blamed {
        match std::mem::replace(&mut self.one.causes, Causes::Several) {
            Causes::None => self.all = now.since(before),
            Causes::One => {
                self.all = now.since(before);
                self.all.add(self.one.cause, self.one.ns);
            }
            Causes::Several => {
                let sum_ns = |cause| self.all.0[cause] + (now.0[cause] - before.0[cause]);
                self.all = Blamed(std::array::from_fn(sum_ns));
            }
        }
        &mut self.all
    }

    /// Becomes the same as another.
    #[inline(always)]
    pub fn set(&mut self, other: &Tally) {
        self.one = other.one;
        if self.one.causes == Causes::Several {
            self.all = other.all;
        }
    }

    /// The sum over all causes.
    #[inline(always)]
    pub fn sum_ns(&self) -> u64 {
        match self.one.causes {
            Causes::None => 0,
            Causes::One => self.one.ns,
            Causes::Several => self.all.sum_ns(),
        }
    }

    /// Puts it into `sum`, which is empty, and returns what it is in all.
    #[inline(always)]
    pub fn put_into(&self, sum: &mut Blamed) -> u64 {
        match self.one.causes {
            Causes::None => 0,
            Causes::One => {
                sum.add(self.one.cause, self.one.ns);
                self.one.ns
            }
            Causes::Several => {
                *sum = self.all;
                self.all.sum_ns()
            }
        }
    }
}

/// Time of a request whose cause has to be found, by its parts.
pub fn blamed_ns(parts: &LatencyComponents) -> u64 {
    BLAMED_PARTS.iter().map(|part| parts.0[*part as usize]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_of_one_cause_becomes_one_of_several() {
        let mut tally = Tally::NOTHING;
        tally.add(Cause::Erase, 30);
        tally.add(Cause::Erase, 4);
        assert_eq!((tally.one.causes, tally.sum_ns()), (Causes::One, 34));
        let mut same = Tally::NOTHING;
        same.add(Cause::Map, 1);
        same.set(&tally);
        tally.add(Cause::Channel, 5);
        let mut waited = Blamed::default();
        waited.add(Cause::Channel, 2);
        waited.add(Cause::Limit, 60);
        tally.add_all(&waited);
        same.add_all(&waited);
        let sums = |tally: &Tally| {
            let mut sum = Blamed::default();
            let put_ns = tally.put_into(&mut sum);
            assert_eq!(put_ns, tally.sum_ns());
            [Cause::Erase, Cause::Channel, Cause::Limit, Cause::Map].map(|of| sum.0[of as usize])
        };
        assert_eq!(sums(&tally), [34, 7, 60, 0]);
        assert_eq!(sums(&same), [34, 2, 60, 0]);
        tally.clear();
        assert_eq!(tally.sum_ns(), 0);
    }
}

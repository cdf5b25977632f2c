//! Transactions: one page operation each, with the components of its time.

use std::num::NonZeroU32;

use reprieve_base::{PageAddress, Time};

/// "No transaction", "no request": the end of a linked list.
pub const NONE: u32 = u32::MAX;

/// Purpose of a transaction; decides its queue and which operations it may suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// A page of a host read.
    HostRead,
    /// The old page under a partial write.
    RmwRead,
    /// A page of a host write.
    Program,
    /// Garbage collection reads a valid page of its victim.
    GcRead,
    /// Garbage collection writes that page elsewhere.
    GcProgram,
    /// Garbage collection moves that page within its plane, by copyback.
    GcCopy,
    /// Read of a page to check its errors.
    ScanRead,
    /// Read of a page of the mapping for its entries.
    MapRead,
    /// Read of a page of the mapping before it is rewritten.
    MapUpdate,
    /// Program of a page of the mapping.
    MapProgram,
    /// Erase of a block.
    Erase,
}

impl Kind {
    /// Whether it senses a page.
    #[inline]
    pub fn is_read(self) -> bool {
        !self.is_program() && self != Kind::Erase
    }

    /// Whether it programs a page.
    #[inline]
    pub fn is_program(self) -> bool {
        matches!(self, Kind::Program | Kind::GcProgram | Kind::GcCopy | Kind::MapProgram)
    }

    /// Whether it programs a page that may wait for others of its wordline.
    #[inline]
    pub fn fills_wordline(self) -> bool {
        matches!(self, Kind::Program | Kind::MapProgram)
    }
}

/// Components of a transaction's time, which add up to its latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum LatencyComponent {
    /// In a submission queue, until the drive fetched it.
    HostQueue,
    /// Being fetched, waiting for the host link and crossing it.
    Link,
    /// Waiting for room in the write buffer.
    Buffer,
    /// Reading the old page before a partial write.
    Rmw,
    /// Queued at the die after other work.
    Queue,
    /// Queued while the blocking operation was being suspended.
    SuspendWait,
    /// Array time, restores and repeated phases included.
    Array,
    /// Waiting for the channel with a page ready to leave.
    BusWait,
    /// Crossing the channel.
    Bus,
    /// Suspended.
    Suspended,
    /// Waiting for an entry of the mapping that was not in memory.
    Map,
    /// Being decoded.
    Ecc,
}

/// Names of the parts as columns of the request log, in the order of [`LatencyComponent`].
pub const PART_NAMES: [&str; 12] = [
    "host_queue_ns",
    "link_ns",
    "buffer_ns",
    "rmw_ns",
    "queue_ns",
    "suspend_wait_ns",
    "array_ns",
    "bus_wait_ns",
    "bus_ns",
    "suspended_ns",
    "map_ns",
    "ecc_ns",
];

/// Nanoseconds by [`LatencyComponent`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LatencyComponents(pub [u64; PART_NAMES.len()]);

impl LatencyComponents {
    /// Adds `ns` nanoseconds to a part.
    #[inline]
    pub fn add(&mut self, part: LatencyComponent, ns: u64) {
        self.0[part as usize] += ns;
    }

    /// The sum over all parts.
    pub fn sum_ns(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// One page operation.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Txn {
    /// Its purpose.
    pub kind: Kind,
    /// Overtaken by a later write of the same page: its page will not be valid.
    pub stale: bool,
    /// Not suspendable for reads: it was started before reads to shorten the write queue.
    pub unsuspendable: bool,
    /// It waits for its entry of the mapping, in no queue of a die.
    pub waits_map: bool,
    /// Host write: partial.
    pub partial: bool,
    /// Host write: the page was never written, and the rest of it is read nevertheless.
    pub from_image: bool,
    /// Host write: the open block of its plane that it goes to.
    pub front: u8,
    /// Program: mapping unit of its page. Read: above 0 if it is sensed with another unit of its
    /// page, which it follows in the command.
    pub place: u8,
    /// Read with unfinished decoding: the page is sensed again, or is uncorrectable.
    pub again: bool,
    /// See `again`.
    pub lost: bool,
    /// Host read: number of its load's service level, from 1; 0: none.
    pub service_level: u8,
    /// Read: senses of its page beyond the first.
    pub further_senses: u8,
    /// Read: the retry whose voltages its first sense uses; 0: the nominal ones.
    pub first_retry: u8,
    /// Read: wrong bits of the worst codeword of the last hard decoding.
    pub errors: u32,
    /// Number of its suspensions.
    pub suspensions: u32,
    /// The die, counted over the drive.
    pub die: u32,
    /// Place in the die; the plane is known from the start, block and page once it is placed.
    pub at: PageAddress,
    /// Logical page; unused by erases.
    pub lpn: u32,
    /// Program: the replaced mapping. Garbage collection: the moved page.
    pub old: u32,
    /// The host request it belongs to, or `NONE`.
    pub request: u32,
    /// Read: requested units of the page; `None`: the page is transferred whole.
    pub out_units: Option<NonZeroU32>,
    /// Erases started in its plane when a read was addressed; the next one voids the address.
    pub erases_seen: u32,
    /// Next in its queue, or `NONE`.
    pub next: u32,
    /// Host write: the first of the writes that wait for the old page that this one reads.
    pub waiters: u32,
    /// Host write: the write whose read of the old page this one waits for, or `NONE`.
    pub waits_for: u32,
    /// Host write: the plane, counted over the drive, that it goes to.
    pub target: u32,
    /// Host write: the flush interval in which it arrived.
    pub interval: u32,
    /// Order of arrival at the die queues.
    pub seq: u64,
    /// Until when its time is booked.
    pub mark: Time,
    /// When a die first started to serve it.
    pub start: Time,
    /// Total time in suspension.
    pub suspended_ns: u64,
    /// Components of its time.
    pub parts: LatencyComponents,
}

impl Txn {
    /// Creates a transaction at `now`.
    pub fn new(kind: Kind, die: u32, at: PageAddress, lpn: u32, request: u32, now: Time) -> Txn {
        Txn {
            kind,
            stale: false,
            unsuspendable: false,
            waits_map: false,
            partial: false,
            from_image: false,
            front: 0,
            place: 0,
            again: false,
            lost: false,
            service_level: 0,
            further_senses: 0,
            first_retry: 0,
            errors: 0,
            suspensions: 0,
            die,
            at,
            lpn,
            old: NONE,
            request,
            out_units: None,
            erases_seen: 0,
            next: NONE,
            waiters: NONE,
            waits_for: NONE,
            target: NONE,
            interval: 0,
            seq: 0,
            mark: now,
            start: Time::NEVER,
            suspended_ns: 0,
            parts: LatencyComponents::default(),
        }
    }

    /// Books the time since `mark` under `part`.
    #[inline]
    pub fn book(&mut self, part: LatencyComponent, now: Time) {
        self.parts.add(part, (now - self.mark).ns());
        self.mark = now;
    }
}

impl Txn {
    /// Returns when a started transaction was queued at its die; for a step of garbage collection,
    /// when it started.
    ///
    /// A partial write is queued once for its old page, and again for its program.
    pub fn queued_at(&self) -> Time {
        let LatencyComponents(parts) = self.parts;
        let waited_ns =
            parts[LatencyComponent::Queue as usize] + parts[LatencyComponent::SuspendWait as usize];
        Time::from_ns(self.start.ns() - waited_ns)
    }

    /// Whether this partial write still waits for the rest of its page.
    #[inline]
    pub fn is_incomplete(&self) -> bool {
        self.kind == Kind::RmwRead || self.waits_for != NONE || (self.waits_map && self.partial)
    }

    /// Books all time since the write entered the buffer and its entry was found as time on its old
    /// page.
    pub fn close_rmw(&mut self, now: Time) {
        let LatencyComponents(parts) = self.parts;
        let before = [LatencyComponent::Link, LatencyComponent::Buffer, LatencyComponent::Map]
            .map(|part| (part, parts[part as usize]));
        let before_ns: u64 = before.iter().map(|(_, ns)| ns).sum();
        let since_ns = self.parts.sum_ns() - before_ns + (now - self.mark).ns();
        self.parts = LatencyComponents::default();
        before.into_iter().for_each(|(part, ns)| self.parts.add(part, ns));
        self.parts.add(LatencyComponent::Rmw, since_ns);
        self.mark = now;
    }
}

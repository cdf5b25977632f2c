//! A channel: the bus that its dies share, and the lines in which they wait for it.

use std::collections::VecDeque;

use reprieve_base::{Dur, Time};

use crate::seen::{Record, Seen};

/// Why a die waits for the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// A sensed page is ready to leave.
    Out(u32),
    /// The die wants to begin something; it decides what when it gets the channel.
    Start(u32),
}

/// One channel. A transfer of no length takes no slot.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    free_at: Time,
    /// When the last transfer begins or began.
    last_from: Time,
    /// Pages ready to leave and commands of reads, with their tickets.
    reads: VecDeque<(u64, Wish)>,
    /// Everything else.
    writes: VecDeque<(u64, Wish)>,
    tickets: u64,
    /// An event at `free_at` is under way.
    pub(super) event_pending: bool,
    /// On the list of channels that have to decide.
    pub(super) dirty: bool,
    /// Total time in use.
    busy_ns: u64,
    pub(super) seen: Record,
}

impl Channel {
    pub(super) fn new(dies: usize) -> Channel {
        Channel {
            free_at: Time::ZERO,
            last_from: Time::ZERO,
            reads: VecDeque::with_capacity(2 * dies),
            writes: VecDeque::with_capacity(dies),
            tickets: 0,
            event_pending: false,
            dirty: false,
            busy_ns: 0,
            seen: Record::default(),
        }
    }

    #[inline]
    pub(super) fn free_at(&self) -> Time {
        self.free_at
    }

    /// Whether a die that comes now can have the channel without overtaking another.
    #[inline]
    pub(super) fn is_available(&self, now: Time) -> bool {
        self.free_at <= now && !self.has_waiters()
    }

    #[inline]
    pub(super) fn has_waiters(&self) -> bool {
        !self.reads.is_empty() || !self.writes.is_empty()
    }

    /// Occupies the channel from `from` for `length`.
    #[inline]
    pub(super) fn occupy(&mut self, from: Time, length: Dur) {
        debug_assert!(from >= self.free_at, "two transfers overlap on a channel");
        self.free_at = from + length;
        self.seen.note(Seen::Transfer(from, self.free_at));
        self.last_from = from;
        self.busy_ns += length.ns();
    }

    /// Time until `now` in use.
    pub(super) fn busy_until(&self, now: Time) -> u64 {
        // The last transfer may be under way, or booked ahead.
        self.busy_ns - self.free_at.ns().saturating_sub(self.last_from.max(now).ns())
    }

    pub(super) fn wait(&mut self, wish: Wish, is_read: bool) {
        let line = if is_read { &mut self.reads } else { &mut self.writes };
        line.push_back((self.tickets, wish));
        self.tickets += 1;
    }

    /// The next to have the channel: reads first, or all in the order in which they came.
    ///
    /// Says too whether the wish stood in the line of reads.
    pub(super) fn next(&mut self, reads_first: bool) -> Option<(Wish, bool)> {
        let from_reads = match (self.reads.front(), self.writes.front()) {
            (Some(_), None) => true,
            (Some((read, _)), Some((write, _))) => reads_first || read < write,
            (None, _) => false,
        };
        let line = if from_reads { &mut self.reads } else { &mut self.writes };
        line.pop_front().map(|(_, wish)| (wish, from_reads))
    }
}

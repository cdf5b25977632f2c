//! Time in use of a die, and its events for the checker.

use reprieve_base::Time;
use reprieve_observe::die_events::{DieEvent, Record};

/// The time in which the array or the page buffer of a die was in use, and events there.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Usage {
    since: Time,
    /// Total time in use, without the current use that started at `since`.
    whole_ns: u64,
    #[serde(skip)]
    pub(super) seen: Record,
}

impl Usage {
    /// Starts a use.
    #[inline]
    pub(super) fn begin(&mut self, now: Time) {
        self.since = now;
        self.seen.note(DieEvent::Taken(now));
    }

    /// Ends a use.
    #[inline]
    pub(super) fn end(&mut self, now: Time) {
        self.whole_ns += (now - self.since).ns();
        self.seen.note(DieEvent::Freed(now));
    }

    /// Returns the nanoseconds in use until `now`.
    pub(super) fn until(&self, now: Time, is_in_use: bool) -> u64 {
        self.whole_ns + if is_in_use { (now - self.since).ns() } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_counts_until_now() {
        let mut usage = Usage::default();
        let at = Time::from_ns;
        usage.begin(at(10));
        assert_eq!(usage.until(at(25), true), 15);
        usage.end(at(30));
        // Twenty are over; five of the next are.
        usage.begin(at(100));
        assert_eq!((usage.until(at(105), true), usage.until(at(105), false)), (25, 20));
    }
}

//! Flush: the intervals between flushes, and the pages of each that are not in flash yet.

use std::collections::VecDeque;

/// Pages accepted between two flushes.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct FlushInterval {
    pages_left: u64,
    /// The flush that ends it and waits; `None` for the current one.
    flush: Option<u32>,
}

/// The intervals whose pages are not all in flash, and the current one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Intervals {
    open: VecDeque<FlushInterval>,
    /// Number of the first of `open`.
    first: u32,
}

impl Intervals {
    pub(super) fn new() -> Intervals {
        let current = FlushInterval { pages_left: 0, flush: None };
        Intervals { open: VecDeque::from([current]), first: 0 }
    }

    /// Adds the pages of a write; returns their interval.
    #[inline]
    pub(super) fn begin(&mut self, pages: u32) -> u32 {
        let current = self.open.back_mut().expect("there always is a current interval");
        current.pages_left += u64::from(pages);
        self.first + (self.open.len() as u32 - 1)
    }

    /// Whether no flush waits for the pages of an interval.
    #[inline]
    pub(super) fn is_current(&self, interval: u32) -> bool {
        interval - self.first + 1 == self.open.len() as u32
    }

    /// Counts a page of an interval that is in flash, or superseded by one that flushes wait for.
    #[inline]
    pub(super) fn end(&mut self, interval: u32) {
        self.open[(interval - self.first) as usize].pages_left -= 1;
    }

    /// Handles a flush: ends the interval. False if no page is left to wait for.
    pub(super) fn flush(&mut self, request: u32) -> bool {
        if self.open.len() == 1 && self.open[0].pages_left == 0 {
            return false;
        }
        self.open.back_mut().expect("there always is a current interval").flush = Some(request);
        self.open.push_back(FlushInterval { pages_left: 0, flush: None });
        true
    }

    /// Returns the next flush that has no pages to wait for.
    #[inline]
    pub(super) fn next_flushed(&mut self) -> Option<u32> {
        let front = self.open.front().expect("there always is a current interval");
        let flush = front.flush.filter(|_| front.pages_left == 0)?;
        self.open.pop_front();
        self.first += 1;
        Some(flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_the_pages_before_it_and_no_others() {
        let mut intervals = Intervals::new();
        assert!(!intervals.flush(0), "nothing was written");
        let first = intervals.begin(2);
        assert!(intervals.flush(7));
        let second = intervals.begin(1);
        intervals.end(second);
        assert_eq!(intervals.next_flushed(), None);
        intervals.end(first);
        intervals.end(first);
        assert_eq!(intervals.next_flushed(), Some(7));
        assert!(!intervals.flush(8), "all is in flash");
    }
}

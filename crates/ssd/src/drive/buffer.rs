//! The write buffer: room for pages between their arrival and their program.

use std::collections::VecDeque;

use reprieve_config::{Acknowledge, Scenario};

use super::flush::Intervals;
use super::read_cache::PageCache;
use super::write_back::DirtyPages;

/// Room in the write buffer, and the writes that wait for it.
pub(super) struct WriteBuffer {
    capacity_pages: u64,
    used_pages: u64,
    pub(super) acknowledge: Acknowledge,
    /// Reads of its pages are answered from it.
    pub(super) read_hits: bool,
    /// The pages that stay; `None`: they go to the flash at once.
    pub(super) held: Option<DirtyPages>,
    /// Requests whose data is at the drive and not all in the buffer.
    pub(super) waiting: VecDeque<u32>,
    /// Pages that were read or written lately; `None`: there is no cache of them.
    pub(super) read_cache: Option<PageCache>,
    /// What flushes wait for.
    pub(super) intervals: Intervals,
}

impl WriteBuffer {
    pub(super) fn new(scenario: &Scenario) -> WriteBuffer {
        let buffer = &scenario.buffer;
        let capacity_pages = buffer.bytes / u64::from(scenario.geometry.page_bytes);
        assert!(capacity_pages > 0, "the scenario asks for a buffer of at least one page");
        let waiting = VecDeque::with_capacity(1024);
        WriteBuffer {
            capacity_pages,
            used_pages: 0,
            acknowledge: buffer.acknowledge,
            read_hits: buffer.read_hits,
            held: buffer.hold.as_ref().map(|hold| DirtyPages::new(hold, capacity_pages)),
            waiting,
            read_cache: PageCache::of(scenario),
            intervals: Intervals::new(),
        }
    }

    /// Whether the read cache has a page, which no request for it has used yet.
    pub(super) fn has_cached(&self, lpn: u32) -> bool {
        self.read_cache.as_ref().is_some_and(|cache| cache.has(lpn))
    }

    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.used_pages == self.capacity_pages
    }

    #[inline]
    pub(super) fn take(&mut self) {
        debug_assert!(!self.is_full(), "a page went into a full buffer");
        self.used_pages += 1;
    }

    #[inline]
    pub(super) fn give_back(&mut self) {
        self.used_pages -= 1;
    }

    /// Checks that `pages`, which someone else has counted, are in the buffer.
    pub(super) fn verify(&self, pages: u64) -> Result<(), String> {
        if pages == self.used_pages && pages <= self.capacity_pages {
            return Ok(());
        }
        Err(format!(
            "{pages} pages are in it, {} of its {} pages are taken",
            self.used_pages, self.capacity_pages
        ))
    }
}

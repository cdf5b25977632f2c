//! The write buffer: room for pages between their arrival and their program.

use std::collections::VecDeque;

use reprieve_base::{Archive, Slab, parts};
use reprieve_config::{Acknowledge, Scenario};
use reprieve_ftl::{Ftl, Mapping};
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::dirty_pages::DirtyPages;
use super::flush::Intervals;
use super::interface::HostRequest;
use super::read_cache::PageCache;
use super::write_throttle::WriteThrottle;

/// Space in the write buffer, and writes that wait for it.
pub(super) struct WriteBuffer {
    capacity_pages: u64,
    used_pages: u64,
    pub(super) acknowledge: Acknowledge,
    /// Reads of its pages are served from it.
    pub(super) read_hits: bool,
    /// The held dirty pages; `None`: pages are sent to the flash at once.
    pub(super) held: Option<DirtyPages>,
    /// `None`: writes enter as soon as there is space.
    pub(super) throttle: Option<WriteThrottle>,
    /// Requests whose data has arrived and is not all in the buffer.
    pub(super) waiting: VecDeque<u32>,
    /// Recently read or written pages; `None` without a read cache.
    pub(super) read_cache: Option<PageCache>,
    /// Pages that flushes wait for.
    pub(super) intervals: Intervals,
}

impl WriteBuffer {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.used_pages, self.held, self.waiting, self.intervals);
        if let Some(cache) = &mut self.read_cache {
            cache.archive(archive);
        }
        if let Some(throttle) = &mut self.throttle {
            throttle.archive(archive);
        }
    }

    pub(super) fn new(scenario: &Scenario) -> WriteBuffer {
        let buffer = &scenario.buffer;
        let capacity_pages = buffer.bytes / u64::from(scenario.mapping_bytes());
        assert!(capacity_pages > 0, "the scenario asks for a buffer of at least one page");
        let waiting = VecDeque::with_capacity(1024);
        WriteBuffer {
            capacity_pages,
            used_pages: 0,
            acknowledge: buffer.acknowledge,
            read_hits: buffer.read_hits,
            held: buffer.hold.as_ref().map(|hold| DirtyPages::new(hold, capacity_pages)),
            throttle: WriteThrottle::of(scenario),
            waiting,
            read_cache: PageCache::of(scenario),
            intervals: Intervals::new(),
        }
    }

    /// Removes the next page of the first waiting write.
    #[inline]
    pub(super) fn leave_line(&mut self, request: &mut HostRequest, lpn: u32) {
        request.next_lpn = lpn + 1;
        if lpn == request.last_lpn {
            self.waiting.pop_front();
        }
    }

    /// Whether the read cache has a page; does not count as use.
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

    /// Checks that each page in the buffer has a transaction, and each such transaction a page of
    /// its space; and the held pages.
    pub(super) fn verify(&self, txns: &Slab<Txn>, ftl: &Ftl) -> Result<(), String> {
        let is_buffered = |kind: Kind| matches!(kind, Kind::Program | Kind::RmwRead);
        let pages = txns.iter().filter(|(_, txn)| is_buffered(txn.kind)).count() as u64;
        if pages != self.used_pages || pages > self.capacity_pages {
            return Err(format!(
                "{pages} pages are in it, {} of its {} pages are taken",
                self.used_pages, self.capacity_pages
            ));
        }
        self.held.as_ref().map_or(Ok(()), |held| self.verify_held(held, txns, ftl))
    }

    /// Checks that a dirty page is whole, the newest of its logical page, and has no waiters.
    fn verify_held(&self, held: &DirtyPages, txns: &Slab<Txn>, ftl: &Ftl) -> Result<(), String> {
        for id in held.verify()? {
            let txn = &txns[id];
            let is_whole = txn.kind == Kind::Program && txn.waits_for == NONE && !txn.waits_map;
            let is_newest = ftl.tables.map.get(txn.lpn) == Mapping::Buffered(id) && !txn.stale;
            let is_awaited = txn.request != NONE || !self.intervals.is_current(txn.interval);
            if !is_whole || !is_newest || is_awaited {
                return Err(format!(
                    "logical page {} stays dirty as transaction {id}: whole {is_whole}, newest \
                     {is_newest}, awaited {is_awaited}",
                    txn.lpn
                ));
            }
        }
        Ok(())
    }
}

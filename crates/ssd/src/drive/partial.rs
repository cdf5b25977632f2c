//! Partial writes: whether they read the rest of the page first, and the sectors that pages hold.

use reprieve_base::Time;
use reprieve_config::PartialWrite;

use super::interface::HostRequests;
use super::page_store::PageStore;

impl PageStore {
    /// Whether a partial write needs the rest of the page, from flash or from the buffer.
    #[inline]
    pub(super) fn needs_rest(
        &self,
        request: u32,
        lpn: u32,
        requests: &HostRequests,
        now: Time,
    ) -> bool {
        match self.partial_write {
            PartialWrite::ReadModifyWrite => true,
            PartialWrite::TrackSectors => self.leaves_sectors(request, lpn, requests, now),
            PartialWrite::Pad => false,
        }
    }

    /// Whether a page holds sectors besides those of a partial write.
    #[cold]
    fn leaves_sectors(&self, request: u32, lpn: u32, requests: &HostRequests, now: Time) -> bool {
        let written = self.layout.sectors(&requests[request], lpn);
        let leaves = self.ftl.sectors.leaves(lpn, &written);
        if let Some(checker) = &self.record.checker {
            checker.leaves_sectors(now, lpn, &written, leaves);
        }
        leaves
    }

    /// Adds the sectors of a page of a write in the buffer.
    #[cold]
    pub(super) fn sectors_written(&mut self, request: u32, lpn: u32, requests: &mut HostRequests) {
        let written = self.layout.sectors(&requests[request], lpn);
        if let Some(held) = self.record.sectors() {
            held.written(lpn, &written);
        }
        self.ftl.sectors.hold(lpn, written);
    }

    /// Adds all sectors of a page in the buffer.
    pub(super) fn page_written(&mut self, lpn: u32) {
        if let Some(held) = self.record.sectors() {
            held.written_whole(lpn);
        }
        self.ftl.sectors.hold_page(lpn);
    }

    /// An unwritten page is read from the drive's image.
    #[cold]
    pub(super) fn sectors_read(&mut self, request: u32, lpn: u32, requests: &mut HostRequests) {
        let read = self.layout.sectors(&requests[request], lpn);
        if let Some(held) = self.record.sectors() {
            held.found(lpn, &read);
        }
        self.ftl.sectors.find(lpn, read);
    }

    /// Trims part of a page: its sectors where they are tracked, and the page with the last of
    /// them.
    pub(super) fn trim_part(
        &mut self,
        request: u32,
        lpn: u32,
        requests: &mut HostRequests,
        now: Time,
    ) {
        if !self.ftl.sectors.is_kept() {
            return;
        }
        let trimmed = self.layout.whole_sectors(&requests[request], lpn);
        if let Some(held) = self.record.sectors() {
            held.trimmed(lpn, &trimmed);
        }
        if self.ftl.trim_sectors(lpn, trimmed) {
            self.trim_page(request, lpn, requests, now);
        }
    }

    /// Removes all data of a page.
    pub(super) fn trim_page(
        &mut self,
        request: u32,
        lpn: u32,
        requests: &mut HostRequests,
        now: Time,
    ) {
        let number = requests[request].id;
        let before = self.ftl.tables.map.get(lpn);
        self.ftl.trim(lpn, self.flash.txns_mut());
        self.overtaken(before, requests, now);
        if let Some(cache) = &mut self.buffer.read_cache {
            cache.forget(lpn);
        }
        if self.record.has_journal() {
            self.record.trimmed(lpn, number);
        }
        if let Some(held) = self.record.sectors() {
            held.trimmed_whole(lpn);
        }
    }
}

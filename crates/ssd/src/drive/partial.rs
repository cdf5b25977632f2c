//! Writes of part of a page: whether they read the rest of it first, and which sectors pages hold.

use std::num::NonZeroU32;
use std::ops::Range;

use reprieve_base::SECTOR_BYTES;
use reprieve_config::PartialWrite;

use super::Ssd;

impl Ssd {
    /// Units of a page that a request reads; `None` where pages leave whole.
    #[inline]
    pub(super) fn wanted_units(&self, request: u32, lpn: u32) -> Option<NonZeroU32> {
        let unit_bytes = self.scenario.channel.transfer_unit_bytes?;
        let (from, to) = self.covered_range(request, lpn);
        NonZeroU32::new(to.div_ceil(unit_bytes) - from / unit_bytes)
    }

    /// Units of the old page that a write of part of it needs; `None` where pages leave whole.
    pub(super) fn rest_units(&self, request: u32, lpn: u32) -> Option<NonZeroU32> {
        let unit_bytes = self.scenario.channel.transfer_unit_bytes?;
        let unit = unit_bytes / SECTOR_BYTES as u32;
        if let Some(left) = self.ftl.units_left(lpn, &self.covered_sectors(request, lpn), unit) {
            return NonZeroU32::new(left);
        }
        let (from, to) = self.covered_range(request, lpn);
        let replaced = (to / unit_bytes).saturating_sub(from.div_ceil(unit_bytes));
        NonZeroU32::new(self.scenario.geometry.page_bytes / unit_bytes - replaced)
    }

    /// The bytes of a page that a request covers: the first, and the one behind the last.
    fn covered_range(&self, request: u32, lpn: u32) -> (u32, u32) {
        let request = &self.host.requests[request];
        let page = u64::from(lpn) * u64::from(self.scenario.geometry.page_bytes);
        let from = (request.lba * SECTOR_BYTES).saturating_sub(page) as u32;
        (from, from + self.covered_bytes(request, lpn))
    }

    /// The sectors of a page that a request covers.
    ///
    /// A request may end within a sector: what it writes of that counts as all of it.
    fn covered_sectors(&self, request: u32, lpn: u32) -> Range<u32> {
        let (from, to) = self.covered_range(request, lpn);
        from / SECTOR_BYTES as u32..to.div_ceil(SECTOR_BYTES as u32)
    }

    /// Whether a write of part of a page needs the rest of it, be it in flash or in the buffer.
    #[inline]
    pub(super) fn needs_rest(&self, request: u32, lpn: u32) -> bool {
        match self.scenario.ftl.partial_write {
            PartialWrite::ReadModifyWrite => true,
            PartialWrite::TrackSectors => self.leaves_sectors(request, lpn),
            PartialWrite::Pad => false,
        }
    }

    /// Whether a page holds sectors that a write of part of it leaves.
    #[cold]
    fn leaves_sectors(&self, request: u32, lpn: u32) -> bool {
        let written = self.covered_sectors(request, lpn);
        let leaves = self.ftl.leaves_sectors(lpn, &written);
        if let Some(checker) = &self.checker {
            checker.leaves_sectors(self.now, lpn, &written, leaves);
        }
        leaves
    }

    /// A page of a write is in the buffer.
    #[inline]
    pub(super) fn sectors_written(&mut self, request: u32, lpn: u32) {
        if self.ftl.tracks_sectors() {
            self.hold_written(request, lpn);
        }
    }

    #[cold]
    fn hold_written(&mut self, request: u32, lpn: u32) {
        let written = self.covered_sectors(request, lpn);
        if let Some(held) = self.checker.as_mut().and_then(|it| it.sectors.as_mut()) {
            held.written(lpn, &written);
        }
        self.ftl.hold_sectors(lpn, written);
    }

    /// A page is in the buffer, with all its sectors.
    pub(super) fn page_written(&mut self, lpn: u32) {
        if let Some(held) = self.checker.as_mut().and_then(|it| it.sectors.as_mut()) {
            held.written_whole(lpn);
        }
        self.ftl.hold_page(lpn);
    }

    /// A page that was never written is read from the image that the drive came with.
    #[inline]
    pub(super) fn sectors_read(&mut self, request: u32, lpn: u32) {
        if self.ftl.tracks_sectors() {
            self.find_read(request, lpn);
        }
    }

    #[cold]
    fn find_read(&mut self, request: u32, lpn: u32) {
        let read = self.covered_sectors(request, lpn);
        if let Some(held) = self.checker.as_mut().and_then(|it| it.sectors.as_mut()) {
            held.found(lpn, &read);
        }
        self.ftl.find_sectors(lpn, read);
    }

    /// Part of a page is trimmed: where sectors are tracked those of it are gone, and with the last
    /// of them the page.
    pub(super) fn trim_part(&mut self, request: u32, lpn: u32) {
        if !self.ftl.tracks_sectors() {
            return;
        }
        let trimmed = self.trimmed_sectors(request, lpn);
        if let Some(held) = self.checker.as_mut().and_then(|it| it.sectors.as_mut()) {
            held.trimmed(lpn, &trimmed);
        }
        if self.ftl.trim_sectors(lpn, trimmed) {
            self.trim_page(request, lpn);
        }
    }

    /// The sectors of a page that a trim covers as a whole: the rest of one is still wanted.
    fn trimmed_sectors(&self, request: u32, lpn: u32) -> Range<u32> {
        let (from, to) = self.covered_range(request, lpn);
        from / SECTOR_BYTES as u32..to / SECTOR_BYTES as u32
    }

    /// A page holds no data any more.
    pub(super) fn trim_page(&mut self, request: u32, lpn: u32) {
        let number = self.host.requests[request].id;
        let before = self.ftl.lookup(lpn);
        self.ftl.trim(lpn, &mut self.flash.txns);
        self.overtaken(before);
        if let Some(cache) = &mut self.buffer.read_cache {
            cache.forget(lpn);
        }
        if self.power.journal.is_some() {
            self.journal_trim(lpn, number);
        }
        if let Some(held) = self.checker.as_mut().and_then(|it| it.sectors.as_mut()) {
            held.trimmed_whole(lpn);
        }
    }
}

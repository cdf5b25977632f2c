//! Layout of requests over pages, and over their sectors and units.

use std::num::NonZeroU32;
use std::ops::Range;

use reprieve_base::{Op, Request, SECTOR_BYTES};
use reprieve_config::Scenario;
use reprieve_ftl::Ftl;

use super::interface::HostRequest;

/// The logical pages of a drive, which are mapping units, for requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLayout {
    page_bytes: u32,
    logical_pages: u32,
    /// Bytes of a transfer unit of a die; `None`: pages are transferred whole.
    unit_bytes: Option<u32>,
}

impl PageLayout {
    pub(super) fn new(scenario: &Scenario, ftl: &Ftl) -> PageLayout {
        PageLayout {
            page_bytes: scenario.mapping_bytes(),
            logical_pages: ftl.tables.map.logical_pages(),
            unit_bytes: scenario.transfer_unit_bytes(),
        }
    }

    /// Sectors of a page.
    pub(super) fn sectors_per_page(&self) -> u32 {
        self.page_bytes / SECTOR_BYTES as u32
    }

    /// First and last logical page that a request touches; a flush touches none.
    #[inline]
    pub(super) fn pages(&self, request: &Request) -> (u32, u32) {
        if request.op == Op::Flush {
            return (0, 0);
        }
        let page_bytes = u64::from(self.page_bytes);
        let from = request.lba * SECTOR_BYTES;
        // A zone operation has no length.
        let last = (from + u64::from(request.bytes).max(1) - 1) / page_bytes;
        assert!(
            last < u64::from(self.logical_pages),
            "a request at sector {} reaches past the end of the drive",
            request.lba
        );
        ((from / page_bytes) as u32, last as u32)
    }

    /// The first sector of a page.
    pub(super) fn first_sector(&self, lpn: u32) -> u64 {
        u64::from(lpn) * u64::from(self.page_bytes) / SECTOR_BYTES
    }

    /// Bytes of a page that a request covers.
    #[inline]
    pub(super) fn bytes(&self, request: &HostRequest, lpn: u32) -> u32 {
        if request.first_lpn == request.last_lpn {
            debug_assert_eq!(lpn, request.first_lpn, "a page that is not the request's");
            return request.bytes;
        }
        let page_bytes = u64::from(self.page_bytes);
        let page = u64::from(lpn) * page_bytes;
        let from = (request.lba * SECTOR_BYTES).max(page);
        let to = (request.lba * SECTOR_BYTES + u64::from(request.bytes)).min(page + page_bytes);
        (to - from) as u32
    }

    /// Whether a request covers all of a page.
    #[inline]
    pub(super) fn is_whole(&self, request: &HostRequest, lpn: u32) -> bool {
        self.bytes(request, lpn) == self.page_bytes
    }

    /// Units of a page that a request reads; `None` if pages are transferred whole.
    #[inline]
    pub(super) fn wanted_units(&self, request: &HostRequest, lpn: u32) -> Option<NonZeroU32> {
        let unit_bytes = self.unit_bytes?;
        let (from, to) = self.range(request, lpn);
        NonZeroU32::new(to.div_ceil(unit_bytes) - from / unit_bytes)
    }

    /// Units of the old page that a partial write needs; `None` if pages are transferred whole.
    pub(super) fn rest_units(
        &self,
        request: &HostRequest,
        lpn: u32,
        ftl: &Ftl,
    ) -> Option<NonZeroU32> {
        let unit_bytes = self.unit_bytes?;
        let unit = unit_bytes / SECTOR_BYTES as u32;
        if let Some(left) = ftl.sectors.units_left(lpn, &self.sectors(request, lpn), unit) {
            return NonZeroU32::new(left);
        }
        let (from, to) = self.range(request, lpn);
        let replaced = (to / unit_bytes).saturating_sub(from.div_ceil(unit_bytes));
        NonZeroU32::new(self.page_bytes / unit_bytes - replaced)
    }

    /// Returns the bytes of a page that a request covers: the first, and the end.
    fn range(&self, request: &HostRequest, lpn: u32) -> (u32, u32) {
        let page = u64::from(lpn) * u64::from(self.page_bytes);
        let from = (request.lba * SECTOR_BYTES).saturating_sub(page) as u32;
        (from, from + self.bytes(request, lpn))
    }

    /// Returns the sectors of a page that a request covers.
    ///
    /// A request may end within a sector, which counts as written.
    pub(super) fn sectors(&self, request: &HostRequest, lpn: u32) -> Range<u32> {
        let (from, to) = self.range(request, lpn);
        from / SECTOR_BYTES as u32..to.div_ceil(SECTOR_BYTES as u32)
    }

    /// Sectors of a page that a trim covers completely.
    pub(super) fn whole_sectors(&self, request: &HostRequest, lpn: u32) -> Range<u32> {
        let (from, to) = self.range(request, lpn);
        from / SECTOR_BYTES as u32..to / SECTOR_BYTES as u32
    }
}

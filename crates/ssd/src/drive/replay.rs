//! Journal of a drive with power loss, and its start after one.

use reprieve_base::{Time, UserError};

use super::interface::HostRequests;
use super::page_store::PageStore;

/// The column of logical pages that a loss of power found in the write buffer.
pub(super) const DIRTY: &str = "buffer.dirty";

impl PageStore {
    /// Returns the pages that a power loss found in the buffer to it, to be sent to the flash at
    /// the start.
    ///
    /// Errors if there is no room for them.
    pub(super) fn replay(
        &mut self,
        pages: Vec<u32>,
        requests: &mut HostRequests,
        now: Time,
    ) -> Result<(), UserError> {
        self.record.begin_journal(&self.ftl);
        self.totals.buffered_at_start = pages.len() as u64;
        for lpn in pages {
            let target = self.place_write(lpn).ok_or_else(|| {
                UserError::new(format!(
                    "the state has logical page {lpn} in the write buffer, and no plane has room \
                     for it; ftl.placement must be what it was"
                ))
            })?;
            let id = self.enter_unasked(lpn, target, now);
            self.ftl.accept_write(lpn, 0, id, self.flash.txns_mut());
            if !self.ftl.sectors.holds_any(lpn) {
                self.page_written(lpn);
            }
            if self.record.has_journal() {
                self.record.accepted(lpn);
                self.record.in_buffer(id, lpn, None, now);
            }
            self.page_complete(id, requests, now);
        }
        // Pages of the mapping that recovery has found stale.
        self.write_map_pages(now);
        Ok(())
    }
}

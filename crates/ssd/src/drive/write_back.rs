//! Pages of a write-back buffer: whether they are held, and when they are sent to the flash.

use reprieve_base::Time;
use reprieve_ftl::Mapping;
use reprieve_policy::txn::NONE;

use super::interface::HostRequests;
use super::page_store::PageStore;

impl PageStore {
    /// Sends a complete page to the flash, or holds it as a dirty page.
    #[inline]
    pub(super) fn page_complete(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        if self.buffer.held.is_none() {
            self.send_write(id);
            return;
        }
        self.hold_page(id, requests, now);
    }

    fn hold_page(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let txn = &self.flash.txns()[id];
        let is_awaited = txn.request != NONE || !self.buffer.intervals.is_current(txn.interval);
        if is_awaited {
            self.send_write(id);
        } else if txn.stale {
            self.drop_page(id, requests, now);
        } else {
            let held = self.buffer.held.as_mut().expect("the caller has seen it");
            held.order.push(id);
            let (high_pages, low_pages) = (held.high_pages, held.low_pages);
            if held.order.count() > high_pages {
                self.send_held(low_pages);
            }
        }
    }

    /// Sends dirty pages to the flash until `down_to_pages` are left.
    fn send_held(&mut self, down_to_pages: u64) {
        while let Some(id) = self.buffer.held.as_mut().and_then(|held| held.next(down_to_pages)) {
            self.send_write(id);
        }
    }

    /// Sends every dirty page to the flash.
    pub(super) fn send_all_held(&mut self) {
        self.send_held(0);
    }

    /// Sends every dirty page to the flash, and later ones as soon as they are complete.
    pub(super) fn hold_no_more(&mut self) {
        if let Some(held) = &mut self.buffer.held {
            held.stay_no_more();
        }
        self.send_all_held();
    }

    /// Drops the dirty page that was the newest data of a page before, if there was one.
    #[inline]
    pub(super) fn overtaken(&mut self, before: Mapping, requests: &mut HostRequests, now: Time) {
        let Some(held) = &mut self.buffer.held else { return };
        match before {
            Mapping::Buffered(id) if held.order.contains(id) => {
                held.order.remove(id);
                self.drop_page(id, requests, now);
            }
            _ => {}
        }
    }

    /// Drops a page from the buffer without a program; the caller admits others.
    fn drop_page(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let txn = self.flash.txns_mut().remove(id);
        debug_assert!(txn.stale && txn.request == NONE, "a page was dropped that is needed");
        if txn.target != NONE {
            // With a dispatcher, a page that was never sent has no plane to leave.
            self.ftl.tables.finish_write(&txn);
        }
        self.buffer.give_back();
        *self.totals.dropped_writes.as_mut().expect("pages are held") += 1;
        self.page_is_safe(txn.interval, requests, now);
    }

    /// Admits writes into the space of dropped pages.
    #[inline]
    pub(super) fn fill_after_drops(&mut self, requests: &mut HostRequests, now: Time) {
        if self.buffer.held.is_some() {
            self.fill_buffer(requests, now);
        }
    }
}

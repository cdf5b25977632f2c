//! Page writes: into the buffer, and on to the flash.

use reprieve_base::{PageAddress, Time};
use reprieve_config::Acknowledge;
use reprieve_ftl::{Ftl, Mapping};
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::txn::{Kind, LatencyComponents, NONE, Txn};

use super::interface::HostRequests;
use super::page_store::PageStore;

impl PageStore {
    /// Handles the data of a write after the link: its pages enter the buffer, or wait for space.
    pub(super) fn write(&mut self, request: u32, requests: &mut HostRequests, now: Time) {
        self.buffer.waiting.push_back(request);
        self.fill_buffer(requests, now);
        if self.buffer.waiting.back() == Some(&request) {
            if let Some((attribution, _)) = self.flash.attribution() {
                attribution.buffer_begins(request, now);
            }
        }
    }

    /// Moves waiting pages into the buffer while it has room, in order of arrival.
    pub(super) fn fill_buffer(&mut self, requests: &mut HostRequests, now: Time) {
        while let Some(request) = self.buffer.waiting.front().copied() {
            let lpn = requests[request].next_lpn;
            if self.buffer.is_full() && self.can_merge(request, lpn, requests).is_none() {
                return;
            }
            let (throttle, blocks) = (&mut self.buffer.throttle, &self.ftl.tables.blocks);
            if let Some(throttle) = throttle {
                if !throttle.lets_in(now, || blocks.free_blocks()) {
                    return;
                }
            }
            if !self.buffer_page(request, lpn, requests, now) {
                // Dirty pages that occupy the space of the planes are sent.
                self.send_all_held();
                return;
            }
            if let Some(throttle) = &mut self.buffer.throttle {
                throttle.entered(now);
            }
        }
    }

    /// Returns the page of a write-back buffer that a write overwrites in place, as its program has
    /// not started.
    fn can_merge(&self, request: u32, lpn: u32, requests: &HostRequests) -> Option<u32> {
        if self.buffer.acknowledge != Acknowledge::Back || requests[request].fua {
            return None;
        }
        let newest = self.ftl.tables.map.buffered(lpn);
        newest.filter(|id| self.flash.txns()[*id].start == Time::NEVER)
    }

    /// Moves a page of a write into the buffer; false if no plane has room for it yet.
    fn buffer_page(
        &mut self,
        request: u32,
        lpn: u32,
        requests: &mut HostRequests,
        now: Time,
    ) -> bool {
        let state = &requests[request];
        let (fua, interval, handle) = (state.fua, state.interval, state.handle);
        let parts = requests[request].received_parts(now);
        let is_whole = self.layout.is_whole(state, lpn);
        if let Some(id) = self.can_merge(request, lpn, requests) {
            self.merge_page(id, (request, lpn), is_whole, &parts, requests, now);
            return true;
        }
        let Some(target) = self.place_write(lpn) else {
            return false;
        };
        self.buffer.leave_line(&mut requests[request], lpn);
        self.buffer.take();
        // Queried before the write takes the page out.
        let needs_rest = !is_whole && self.needs_rest(request, lpn, requests, now);
        let is_rest_cached = needs_rest && self.buffer.has_cached(lpn);
        if let Some(cache) = &mut self.buffer.read_cache {
            cache.page_written(lpn, is_whole);
        }
        let (die, at) = at_target(target, &self.ftl);
        let at_once = self.buffer.acknowledge == Acknowledge::Back && !fua;
        let owner = if at_once { NONE } else { request };
        let id = self.flash.txns_mut().insert_with(|| Txn {
            target,
            parts,
            interval,
            ..Txn::new(Kind::Program, die, at, lpn, owner, now)
        });
        if let Some((attribution, _)) = self.flash.attribution() {
            let is_last = self.buffer.waiting.front() != Some(&request);
            attribution.buffer_ends(request, Some(id), is_last, now);
        }
        let before = self.ftl.accept_write(lpn, handle, id, self.flash.txns_mut());
        if self.record.has_journal() {
            self.record.accepted(lpn);
            self.record.written(id, lpn, &requests[request], now);
        }
        if !is_whole {
            self.totals.partial_writes += 1;
            self.flash.txns_mut()[id].out_units =
                self.layout.rest_units(&requests[request], lpn, &self.ftl);
        }
        if self.ftl.sectors.is_kept() {
            self.sectors_written(request, lpn, requests);
        }
        let is_rest_cached =
            is_rest_cached && matches!(before, Mapping::Flash(_) | Mapping::Unwritten);
        if is_rest_cached {
            let cache = self.buffer.read_cache.as_mut().expect("it held the page");
            cache.counts.rmw_hits += 1;
        }
        let is_complete = !needs_rest || is_rest_cached;
        self.complete_page(id, before, is_complete, requests, now);
        self.overtaken(before, requests, now);
        if at_once {
            self.page_acknowledged(request, &parts, requests);
        }
        if fua && lpn == requests[request].last_lpn {
            // Its completion waits for the program, which must not wait for the rest of a wordline.
            self.flash.dies_mut().flush();
        }
        true
    }

    /// Completes a page in the buffer before its program: reads its entry of a mapping in flash,
    /// and, unless it `is_complete`, the rest of the page from `before`.
    #[inline(always)]
    fn complete_page(
        &mut self,
        id: u32,
        before: Mapping,
        is_complete: bool,
        requests: &mut HostRequests,
        now: Time,
    ) {
        if self.ftl.tables.map.is_in_flash() && self.write_waits_for_entry(id, before, is_complete)
        {
            self.fetch_entry(id, requests, now);
        } else if is_complete {
            self.page_complete(id, requests, now);
        } else {
            self.fill_page(id, before, requests, now);
        }
    }

    /// Replaces a page in the buffer by a page of a write.
    fn merge_page(
        &mut self,
        id: u32,
        (request, lpn): (u32, u32),
        is_whole: bool,
        parts: &LatencyComponents,
        requests: &mut HostRequests,
        now: Time,
    ) {
        let interval = requests[request].interval;
        if let Some(held) = &mut self.buffer.held {
            held.used(id);
        }
        if let Some(cache) = &mut self.buffer.read_cache {
            cache.page_written(lpn, is_whole);
        }
        if self.ftl.sectors.is_kept() {
            self.sectors_written(request, lpn, requests);
        }
        self.buffer.leave_line(&mut requests[request], lpn);
        self.totals.merged_writes += 1;
        if self.record.has_journal() {
            self.record.written(id, lpn, &requests[request], now);
        }
        if let Some((attribution, _)) = self.flash.attribution() {
            let is_last = self.buffer.waiting.front() != Some(&request);
            attribution.buffer_ends(request, None, is_last, now);
        }
        self.page_acknowledged(request, parts, requests);
        self.page_is_safe(interval, requests, now);
    }

    /// Reads a page of the flash and rewrites it, like a write that covers none of it; not if the
    /// buffer has no space to spare.
    pub(super) fn rewrite_page(&mut self, lpn: u32, requests: &mut HostRequests, now: Time) {
        let before = self.ftl.tables.map.get(lpn);
        let has_room = !self.buffer.is_full() && self.buffer.waiting.is_empty();
        if !has_room || !matches!(before, Mapping::Flash(_)) {
            return;
        }
        let Some(target) = self.place_write(lpn) else { return };
        let id = self.enter_unasked(lpn, target, now);
        let before = self.ftl.accept_write(lpn, 0, id, self.flash.txns_mut());
        if self.record.has_journal() {
            self.record.rewritten(id, lpn, now);
        }
        self.complete_page(id, before, false, requests, now);
        let count = self.totals.redistributed_pages.as_mut();
        *count.expect("only then pages are written anew") += 1;
    }

    /// Reserves space in the buffer for a page without a request, as the transaction returned.
    pub(super) fn enter_unasked(&mut self, lpn: u32, target: u32, now: Time) -> u32 {
        self.buffer.take();
        let (die, at) = at_target(target, &self.ftl);
        let mut txn = Txn::new(Kind::Program, die, at, lpn, NONE, now);
        txn.target = target;
        txn.interval = self.buffer.intervals.begin(1);
        self.flash.txns_mut().insert(txn)
    }

    /// Returns the plane for a write, or `NONE` if a dispatcher chooses it; `None`: all are full.
    #[inline]
    pub(super) fn place_write(&mut self, lpn: u32) -> Option<u32> {
        if self.flash.stage.places_late() {
            return Some(NONE);
        }
        if !self.ftl.opens_zone(lpn) {
            return None;
        }
        self.ftl.place_write(lpn, &|die| self.flash.dies().load(die))
    }

    /// Sends a complete write to its die, or to the dispatcher that will choose one.
    #[inline]
    pub(super) fn send_write(&mut self, id: u32) {
        match self.flash.txns()[id].target {
            NONE => self.flash.stage.leave_unplaced(id),
            _ => {
                self.ftl.send_write(&mut self.flash.txns_mut()[id]);
                self.flash.enqueue(id);
            }
        }
    }

    /// Completes a page of a host write in flash.
    pub(super) fn page_programmed(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        if self.ftl.tables.blocks.failing.fails_programs() && self.is_written_again(id) {
            return;
        }
        let mut is_kept = false;
        if self.record.has_journal() {
            self.record.programmed(id, &self.flash.txns()[id], &self.ftl);
            is_kept = self.record.keep_overtaken(id, &mut self.ftl, self.flash.txns_mut());
        }
        let txn = &self.flash.txns()[id];
        let Txn { request, die, interval, parts, lpn, front, .. } = *txn;
        if let Some(two_pass) = &mut self.ftl.tables.two_pass {
            let page = self.ftl.numbering.page_of(txn);
            two_pass.programmed(page, usize::from(front) == SLC_FRONT);
        }
        if !is_kept {
            self.ftl.tables.finish_write(txn);
        }
        self.flash.txns_mut().release(id);
        self.buffer.give_back();
        if request != NONE {
            if let Some((attribution, _)) = self.flash.attribution() {
                attribution.page_ends(request, id, die);
            }
            self.page_acknowledged(request, &parts, requests);
        }
        self.page_is_safe(interval, requests, now);
        if let Some(full) = self.zones.as_mut().and_then(|zones| zones.page_programmed(lpn)) {
            self.ftl.end_zone(full);
        }
        self.write_map_pages(now);
        self.fill_buffer(requests, now);
    }

    /// Queues a page whose program has failed, if still needed, for another block of its die.
    #[cold]
    pub(super) fn is_written_again(&mut self, id: u32) -> bool {
        let txn = &self.flash.txns()[id];
        if !self.ftl.tables.blocks.program_failed(txn) || txn.stale {
            return false;
        }
        let txn = &mut self.flash.txns_mut()[id];
        txn.start = Time::NEVER;
        txn.suspensions = 0;
        txn.suspended_ns = 0;
        (txn.die, txn.at) = self.ftl.numbering.in_plane(txn.target);
        self.flash.enqueue(id);
        true
    }

    /// Handles a page of a write that is as durable as the host requires.
    fn page_acknowledged(
        &mut self,
        request: u32,
        parts: &LatencyComponents,
        requests: &mut HostRequests,
    ) {
        let state = &mut requests[request];
        state.pages_left -= 1;
        if state.pages_left > 0 {
            return;
        }
        self.request_served(request, parts, requests);
    }
}

/// Returns the address of a write, as far as it is known.
#[inline]
pub(super) fn at_target(target: u32, ftl: &Ftl) -> (u32, PageAddress) {
    if target == NONE {
        return (NONE, PageAddress { plane: 0, block: 0, page: 0 });
    }
    ftl.numbering.in_plane(target)
}

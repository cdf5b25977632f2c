//! Pages on their way: reads to flash or buffer, writes into the buffer and on to the flash.

use reprieve_base::{PageAddress, Time};
use reprieve_config::Acknowledge;
use reprieve_ftl::Mapping;
use reprieve_policy::txn::{Kind, LatencyComponent, LatencyComponents, NONE, Txn};

use super::interface::HostRequests;
use super::page_store::{PageStore, Served};

impl PageStore {
    /// One page of a host read has arrived.
    #[inline(always)]
    pub(super) fn read_page(
        &mut self,
        request: u32,
        lpn: u32,
        requests: &mut HostRequests,
        now: Time,
    ) {
        if self.ftl.maps_on_demand() && self.waits_for_entry(request, lpn, requests, now) {
            return;
        }
        self.read_mapped(request, lpn, LatencyComponents::default(), requests, now);
    }

    /// One page of a host read whose mapping is known, after `parts`.
    ///
    /// Inlined, so that without a mapping in flash there are no parts to pass on.
    #[inline(always)]
    pub(super) fn read_mapped(
        &mut self,
        request: u32,
        lpn: u32,
        parts: LatencyComponents,
        requests: &mut HostRequests,
        now: Time,
    ) {
        let (die, at) = match self.ftl.lookup(lpn) {
            Mapping::Flash(page) => self.ftl.locate_page(page),
            Mapping::Unwritten if self.unwritten_costs_read => {
                self.sectors_read(request, lpn, requests);
                self.ftl.image_page(lpn)
            }
            // The rest of a page that is written in part is still in the flash.
            Mapping::Buffered(id) if self.flash.txns[id].is_incomplete() => {
                match self.flash.txns[id].old {
                    NONE => self.ftl.image_page(lpn),
                    old => self.ftl.locate_page(old),
                }
            }
            Mapping::Buffered(id) if !self.buffer.read_hits => match self.flash.txns[id].old {
                NONE if !self.unwritten_costs_read => {
                    self.totals.zero_reads += 1;
                    self.page_read(request, lpn, &parts, requests);
                    return;
                }
                NONE => self.ftl.image_page(lpn),
                old => self.ftl.locate_page(old),
            },
            Mapping::Buffered(id) => {
                if let Some(held) = &mut self.buffer.held {
                    held.used(id);
                }
                self.totals.buffer_hits += 1;
                self.page_read(request, lpn, &parts, requests);
                return;
            }
            Mapping::Unwritten | Mapping::Trimmed => {
                self.totals.zero_reads += 1;
                self.page_read(request, lpn, &parts, requests);
                return;
            }
        };
        if self.buffer.read_cache.as_mut().is_some_and(|cache| cache.hit(lpn)) {
            self.page_read(request, lpn, &parts, requests);
            return;
        }
        let erases_seen = self.ftl.erases(die, at);
        let out_units = self.layout.wanted_units(&requests[request], lpn);
        let service_level = requests[request].service_level;
        let id = self.flash.txns.insert_with(|| Txn {
            erases_seen,
            out_units,
            parts,
            service_level,
            ..Txn::new(Kind::HostRead, die, at, lpn, request, now)
        });
        self.flash.enqueue(id);
    }

    /// The data of a write has crossed the link: its pages go into the buffer, or wait for room.
    pub(super) fn write(&mut self, request: u32, requests: &mut HostRequests, now: Time) {
        self.buffer.waiting.push_back(request);
        self.fill_buffer(requests, now);
        if self.flash.is_blamed() && self.buffer.waiting.back() == Some(&request) {
            self.flash.blame_buffer(request, now);
        }
    }

    /// Moves waiting pages into the buffer while it has room, in the order in which they came.
    pub(super) fn fill_buffer(&mut self, requests: &mut HostRequests, now: Time) {
        while let Some(request) = self.buffer.waiting.front().copied() {
            let lpn = requests[request].next_lpn;
            if self.buffer.is_full() && self.can_merge(request, lpn, requests).is_none() {
                return;
            }
            if !self.buffer_page(request, lpn, requests, now) {
                // Where dirty pages take up the room of the planes, they go.
                self.send_all_held();
                return;
            }
        }
    }

    /// The page of a write-back buffer that a write overwrites where it is, as its program has not
    /// begun.
    fn can_merge(&self, request: u32, lpn: u32, requests: &HostRequests) -> Option<u32> {
        if self.buffer.acknowledge != Acknowledge::Back || requests[request].fua {
            return None;
        }
        match self.ftl.lookup(lpn) {
            Mapping::Buffered(id) if self.flash.txns[id].start == Time::NEVER => Some(id),
            _ => None,
        }
    }

    /// The next page of the first waiting write leaves the line.
    fn leave_line(&mut self, request: u32, lpn: u32, requests: &mut HostRequests) {
        let state = &mut requests[request];
        state.next_lpn = lpn + 1;
        if lpn == self.layout.pages(state).1 {
            self.buffer.waiting.pop_front();
        }
    }

    /// One page of a write goes into the buffer; false if no plane has room for it yet.
    fn buffer_page(
        &mut self,
        request: u32,
        lpn: u32,
        requests: &mut HostRequests,
        now: Time,
    ) -> bool {
        let state = &requests[request];
        let (fua, interval) = (state.fua, state.interval);
        let parts = requests[request].received_parts(now);
        let is_whole = self.layout.is_whole(state, lpn);
        if let Some(id) = self.can_merge(request, lpn, requests) {
            self.merge_page(id, (request, lpn), is_whole, &parts, requests, now);
            return true;
        }
        let Some(target) = self.place_write(lpn) else {
            return false;
        };
        self.leave_line(request, lpn, requests);
        self.buffer.take();
        // Asked before the write takes the page out.
        let needs_rest = !is_whole && self.needs_rest(request, lpn, requests, now);
        let is_rest_cached = needs_rest && self.buffer.has_cached(lpn);
        if let Some(cache) = &mut self.buffer.read_cache {
            cache.page_written(lpn, is_whole);
        }
        let (die, at) = self.at_target(target);
        let at_once = self.buffer.acknowledge == Acknowledge::Back && !fua;
        let owner = if at_once { NONE } else { request };
        let id = self.flash.txns.insert_with(|| Txn {
            target,
            parts,
            interval,
            ..Txn::new(Kind::Program, die, at, lpn, owner, now)
        });
        if self.flash.is_blamed() {
            let is_last = self.buffer.waiting.front() != Some(&request);
            self.flash.blame_buffered(request, Some(id), is_last, now);
        }
        let before = self.ftl.accept_write(lpn, id, &mut self.flash.txns);
        if self.record.has_journal() {
            self.record.accepted(lpn);
            self.record.written(id, lpn, &requests[request], now);
        }
        if !is_whole {
            self.totals.partial_writes += 1;
            self.flash.txns[id].out_units =
                self.layout.rest_units(&requests[request], lpn, &self.ftl);
        }
        self.sectors_written(request, lpn, requests);
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
        if fua {
            self.fua_page_sent(request, lpn, requests);
        }
        true
    }

    /// Gets what a page in the buffer lacks before it can go to the flash: its entry of a mapping
    /// in flash, and unless all of it `is_complete` the rest of it; `before` is where that was.
    #[inline(always)]
    fn complete_page(
        &mut self,
        id: u32,
        before: Mapping,
        is_complete: bool,
        requests: &mut HostRequests,
        now: Time,
    ) {
        if self.ftl.maps_on_demand() && self.write_waits_for_entry(id, before, is_complete) {
            self.fetch_entry(id, requests, now);
        } else if is_complete {
            self.page_complete(id, requests, now);
        } else {
            self.fill_page(id, before, requests, now);
        }
    }

    /// A page of a write with forced unit access has gone to the flash.
    #[cold]
    fn fua_page_sent(&mut self, request: u32, lpn: u32, requests: &mut HostRequests) {
        if lpn == self.layout.pages(&requests[request]).1 {
            // Its completion waits for the program, which so waits for no wordline to fill.
            self.flash.flush();
        }
    }

    /// One page of a write takes the place of one that is in the buffer.
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
        self.sectors_written(request, lpn, requests);
        self.leave_line(request, lpn, requests);
        self.totals.merged_writes += 1;
        if self.record.has_journal() {
            self.record.written(id, lpn, &requests[request], now);
        }
        if self.flash.is_blamed() {
            let is_last = self.buffer.waiting.front() != Some(&request);
            self.flash.blame_buffered(request, None, is_last, now);
        }
        self.page_acknowledged(request, parts, requests);
        self.page_is_safe(interval, requests, now);
    }

    /// Reads a page of the flash and writes it anew, as a write of none of it would; not where the
    /// buffer has no room to spare.
    pub(super) fn rewrite_page(&mut self, lpn: u32, requests: &mut HostRequests, now: Time) {
        let before = self.ftl.lookup(lpn);
        let has_room = !self.buffer.is_full() && self.buffer.waiting.is_empty();
        if !has_room || !matches!(before, Mapping::Flash(_)) {
            return;
        }
        let Some(target) = self.place_write(lpn) else { return };
        self.buffer.take();
        let (die, at) = self.at_target(target);
        let mut txn = Txn::new(Kind::Program, die, at, lpn, NONE, now);
        txn.target = target;
        txn.interval = self.buffer.intervals.begin(1);
        let id = self.flash.txns.insert(txn);
        let before = self.ftl.accept_write(lpn, id, &mut self.flash.txns);
        if self.record.has_journal() {
            self.record.rewritten(id, lpn, now);
        }
        self.complete_page(id, before, false, requests, now);
        let count = self.totals.redistributed_pages.as_mut();
        *count.expect("only then pages are written anew") += 1;
    }

    /// The plane that takes a write, or `NONE` where a dispatcher will say; `None`: all are full.
    #[inline]
    pub(super) fn place_write(&mut self, lpn: u32) -> Option<u32> {
        if self.flash.places_late() {
            return Some(NONE);
        }
        self.ftl.place_write(lpn, &|die| self.flash.is_idle(die))
    }

    /// Where a write goes, as far as it is known.
    #[inline]
    pub(super) fn at_target(&self, target: u32) -> (u32, PageAddress) {
        if target == NONE {
            return (NONE, PageAddress { plane: 0, block: 0, page: 0 });
        }
        self.ftl.in_plane(target)
    }

    /// A write that has all its data goes to its die, or waits for a dispatcher to give it one.
    #[inline]
    pub(super) fn send_write(&mut self, id: u32) {
        match self.flash.txns[id].target {
            NONE => self.flash.leave_unplaced(id),
            _ => self.flash.enqueue(id),
        }
    }

    /// Gets the rest of a page that is written in part: from buffer, flash, or nowhere.
    fn fill_page(&mut self, id: u32, before: Mapping, requests: &mut HostRequests, now: Time) {
        let lpn = self.flash.txns[id].lpn;
        match before {
            Mapping::Buffered(previous) => {
                let previous_txn = &self.flash.txns[previous];
                let leader = match previous_txn.kind {
                    Kind::RmwRead => previous,
                    _ if previous_txn.waits_map && previous_txn.partial => previous,
                    _ => previous_txn.waits_for,
                };
                if leader == NONE {
                    self.page_complete(id, requests, now);
                    return;
                }
                // The rest of the page is still being read, for an earlier write.
                let first = self.flash.txns[leader].waiters;
                let txn = &mut self.flash.txns[id];
                txn.waits_for = leader;
                txn.next = first;
                self.flash.txns[leader].waiters = id;
            }
            Mapping::Flash(page) => {
                let (die, at) = self.ftl.locate_page(page);
                self.read_old_page(id, die, at);
            }
            Mapping::Unwritten if self.unwritten_costs_read => {
                let (die, at) = self.ftl.image_page(lpn);
                self.read_old_page(id, die, at);
            }
            Mapping::Unwritten | Mapping::Trimmed => self.page_complete(id, requests, now),
        }
    }

    pub(super) fn read_old_page(&mut self, id: u32, die: u32, at: PageAddress) {
        let erases = self.ftl.erases(die, at);
        let txn = &mut self.flash.txns[id];
        txn.kind = Kind::RmwRead;
        txn.die = die;
        txn.at = at;
        txn.erases_seen = erases;
        self.flash.enqueue(id);
    }

    /// Nothing corrected a page that was read: the request that wanted it is told.
    ///
    /// One that was acknowledged before has no more to be told.
    #[cold]
    pub(super) fn page_lost(&mut self, id: u32, requests: &mut HostRequests) {
        let txn = &mut self.flash.txns[id];
        // A write that waited for its old page goes on to be a program.
        txn.lost = txn.kind == Kind::HostRead;
        if matches!(txn.kind, Kind::HostRead | Kind::RmwRead) && txn.request != NONE {
            requests[txn.request].uncorrectable_pages += 1;
        }
    }

    /// The old page under a partial write is read: the write, and those behind it, can go on.
    pub(super) fn old_page_read(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let txn = &mut self.flash.txns[id];
        txn.kind = Kind::Program;
        txn.start = Time::NEVER;
        txn.close_rmw(now);
        self.old_page_there(id);
        self.page_filled(id, requests, now);
    }

    fn old_page_there(&mut self, id: u32) {
        if self.flash.is_blamed() {
            self.flash.blame_old_page(id);
        }
    }

    /// The waiters of a transaction, linked in the order in which they came.
    pub(super) fn take_waiters(&mut self, id: u32) -> u32 {
        // The list has the newest first.
        let mut ready = std::mem::replace(&mut self.flash.txns[id].waiters, NONE);
        let mut in_order = NONE;
        while ready != NONE {
            let next = self.flash.txns[ready].next;
            self.flash.txns[ready].next = in_order;
            in_order = ready;
            ready = next;
        }
        in_order
    }

    /// A write has its whole page, and with it those that waited for the rest of it.
    pub(super) fn page_filled(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let mut in_order = self.take_waiters(id);
        let (die, at) = self.at_target(self.flash.txns[id].target);
        let txn = &mut self.flash.txns[id];
        (txn.die, txn.at) = (die, at);
        self.page_complete(id, requests, now);
        while in_order != NONE {
            let next = self.flash.txns[in_order].next;
            let txn = &mut self.flash.txns[in_order];
            txn.waits_for = NONE;
            txn.close_rmw(now);
            self.old_page_there(in_order);
            self.page_complete(in_order, requests, now);
            in_order = next;
        }
        self.fill_after_drops(requests, now);
    }

    /// The page of a host write is in flash.
    pub(super) fn page_programmed(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        if self.ftl.programs_fail() && self.is_written_again(id) {
            return;
        }
        if self.record.has_journal() {
            self.record.programmed(id, &self.flash.txns[id], &self.ftl);
        }
        let txn = &self.flash.txns[id];
        let Txn { request, interval, parts, .. } = *txn;
        self.ftl.finish_write(txn);
        self.flash.txns.release(id);
        self.buffer.give_back();
        if request != NONE {
            if self.flash.is_blamed() {
                self.flash.blame_page(request, Some(id));
            }
            self.page_acknowledged(request, &parts, requests);
        }
        self.page_is_safe(interval, requests, now);
        self.write_map_pages(now);
        self.fill_buffer(requests, now);
    }

    /// If the program of a page has failed and the page is wanted, it goes to another block, behind
    /// what waits for its die.
    #[cold]
    pub(super) fn is_written_again(&mut self, id: u32) -> bool {
        let txn = &self.flash.txns[id];
        if !self.ftl.program_failed(txn) || txn.stale {
            return false;
        }
        let txn = &mut self.flash.txns[id];
        txn.start = Time::NEVER;
        txn.suspensions = 0;
        txn.suspended_ns = 0;
        (txn.die, txn.at) = self.ftl.in_plane(txn.target);
        self.flash.enqueue(id);
        true
    }

    /// A page of a write is as safe as the host asked for.
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

    /// A page of a read has its data at `now`, after `parts`; it crosses the link to the host.
    #[inline]
    pub(super) fn page_read(
        &mut self,
        id: u32,
        lpn: u32,
        parts: &LatencyComponents,
        requests: &mut HostRequests,
    ) {
        requests[id].parts = *parts;
        if self.flash.is_blamed() {
            self.flash.blame_page(id, None);
        }
        self.served.push(Served { request: id, lpn });
    }

    /// Completes the flushes that waited for the page of a write of `interval`.
    pub(super) fn page_is_safe(&mut self, interval: u32, requests: &mut HostRequests, now: Time) {
        self.buffer.intervals.end(interval);
        while let Some(id) = self.buffer.intervals.next_flushed() {
            if self.flash.is_blamed() {
                self.flash.blame_buffered(id, None, true, now);
            }
            let mut parts = LatencyComponents::default();
            parts.add(LatencyComponent::Buffer, (now - requests[id].begun).ns());
            self.request_served(id, &parts, requests);
        }
    }
}

//! Page reads: by the host, or as the rest of a partly written page.

use reprieve_base::{PageAddress, Slab, Time};
use reprieve_ftl::Mapping;
use reprieve_policy::txn::{Kind, LatencyComponent, LatencyComponents, NONE, Txn};

use super::interface::HostRequests;
use super::page_store::{PageStore, Served};
use super::page_writes::at_target;

impl PageStore {
    /// Handles a page of a host read.
    #[inline(always)]
    pub(super) fn read_page(
        &mut self,
        request: u32,
        lpn: u32,
        requests: &mut HostRequests,
        now: Time,
    ) {
        if self.ftl.tables.map.is_in_flash() && self.waits_for_entry(request, lpn, requests, now) {
            return;
        }
        self.read_mapped(request, lpn, LatencyComponents::default(), requests, now);
    }

    /// Handles a page of a host read whose mapping is known, after `parts`.
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
        let (die, at) = match self.ftl.tables.map.get(lpn) {
            Mapping::Flash(page) if self.ftl.tables.is_held(page) => {
                self.totals.buffer_hits += 1;
                self.page_read(request, lpn, &parts, requests);
                return;
            }
            Mapping::Flash(page) => self.ftl.numbering.locate(page),
            Mapping::Unwritten if self.unwritten_costs_read => {
                if self.ftl.sectors.is_kept() {
                    self.sectors_read(request, lpn, requests);
                }
                self.ftl.image_page(lpn)
            }
            // The rest of a partly written page is still in the flash.
            Mapping::Buffered(id) if self.flash.txns()[id].is_incomplete() => {
                match self.flash.txns()[id].old {
                    NONE => self.ftl.image_page(lpn),
                    old => self.ftl.numbering.locate(old),
                }
            }
            Mapping::Buffered(id) if !self.buffer.read_hits => match self.flash.txns()[id].old {
                NONE if !self.unwritten_costs_read => {
                    self.totals.zero_reads += 1;
                    self.page_read(request, lpn, &parts, requests);
                    return;
                }
                NONE => self.ftl.image_page(lpn),
                old => self.ftl.numbering.locate(old),
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
        let erases_seen = self.ftl.tables.blocks.erases(die, at);
        let out_units = self.layout.wanted_units(&requests[request], lpn);
        let service_level = requests[request].service_level;
        let id = self.flash.txns_mut().insert_with(|| Txn {
            erases_seen,
            out_units,
            parts,
            service_level,
            ..Txn::new(Kind::HostRead, die, at, lpn, request, now)
        });
        self.flash.enqueue(id);
    }

    /// Gets the rest of a partly written page: from buffer, flash, or nowhere.
    pub(super) fn fill_page(
        &mut self,
        id: u32,
        before: Mapping,
        requests: &mut HostRequests,
        now: Time,
    ) {
        let lpn = self.flash.txns()[id].lpn;
        match before {
            Mapping::Buffered(previous) => {
                let previous_txn = &self.flash.txns()[previous];
                let leader = match previous_txn.kind {
                    Kind::RmwRead => previous,
                    _ if previous_txn.waits_map && previous_txn.partial => previous,
                    _ => previous_txn.waits_for,
                };
                if leader == NONE {
                    self.page_complete(id, requests, now);
                    return;
                }
                // The rest of the page is being read for an earlier write.
                let first = self.flash.txns()[leader].waiters;
                let txn = &mut self.flash.txns_mut()[id];
                txn.waits_for = leader;
                txn.next = first;
                self.flash.txns_mut()[leader].waiters = id;
            }
            Mapping::Flash(page) if self.ftl.tables.is_held(page) => {
                self.page_complete(id, requests, now)
            }
            Mapping::Flash(page) => {
                let (die, at) = self.ftl.numbering.locate(page);
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
        let erases = self.ftl.tables.blocks.erases(die, at);
        let txn = &mut self.flash.txns_mut()[id];
        txn.kind = Kind::RmwRead;
        txn.die = die;
        txn.at = at;
        txn.erases_seen = erases;
        self.flash.enqueue(id);
    }

    /// Reports an uncorrectable page to its request.
    ///
    /// A request that was acknowledged before gets no report.
    #[cold]
    pub(super) fn page_lost(&mut self, id: u32, requests: &mut HostRequests) {
        let txn = &mut self.flash.txns_mut()[id];
        // A write that waited for its old page becomes a program.
        txn.lost = txn.kind == Kind::HostRead;
        if matches!(txn.kind, Kind::HostRead | Kind::RmwRead) && txn.request != NONE {
            requests[txn.request].uncorrectable_pages += 1;
        }
    }

    /// Continues a partial write, and those after it, whose old page has been read.
    pub(super) fn old_page_read(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let txn = &mut self.flash.txns_mut()[id];
        if txn.request != NONE {
            requests[txn.request].retries += u32::from(txn.further_senses);
        }
        txn.kind = Kind::Program;
        txn.start = Time::NEVER;
        txn.close_rmw(now);
        if let Some((attribution, txns)) = self.flash.attribution() {
            attribution.old_page_read(id, &txns[id]);
        }
        self.page_filled(id, requests, now);
    }

    /// Continues a write that has its whole page, and those that waited for the rest of it.
    pub(super) fn page_filled(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let mut in_order = take_waiters(self.flash.txns_mut(), id);
        let (die, at) = at_target(self.flash.txns()[id].target, &self.ftl);
        let txn = &mut self.flash.txns_mut()[id];
        (txn.die, txn.at) = (die, at);
        self.page_complete(id, requests, now);
        while in_order != NONE {
            let next = self.flash.txns()[in_order].next;
            let txn = &mut self.flash.txns_mut()[in_order];
            txn.waits_for = NONE;
            txn.close_rmw(now);
            if let Some((attribution, txns)) = self.flash.attribution() {
                attribution.old_page_read(in_order, &txns[in_order]);
            }
            self.page_complete(in_order, requests, now);
            in_order = next;
        }
        self.fill_after_drops(requests, now);
    }

    /// Handles a page of a read that has its data at `now`, after `parts`, to cross the link.
    #[inline]
    pub(super) fn page_read(
        &mut self,
        id: u32,
        lpn: u32,
        parts: &LatencyComponents,
        requests: &mut HostRequests,
    ) {
        requests[id].parts = *parts;
        if let Some((attribution, _)) = self.flash.attribution() {
            attribution.page_there(id);
        }
        self.served.push(Served { request: id, lpn });
    }

    /// Completes the flushes that waited for the page of a write of `interval`.
    pub(super) fn page_is_safe(&mut self, interval: u32, requests: &mut HostRequests, now: Time) {
        self.buffer.intervals.end(interval);
        while let Some(id) = self.buffer.intervals.next_flushed() {
            if let Some((attribution, _)) = self.flash.attribution() {
                attribution.buffer_ends(id, None, true, now);
            }
            let mut parts = LatencyComponents::default();
            parts.add(LatencyComponent::Buffer, (now - requests[id].begun).ns());
            self.request_served(id, &parts, requests);
        }
    }
}

/// Takes the waiters of a transaction, linked in order of arrival.
pub(super) fn take_waiters(txns: &mut Slab<Txn>, id: u32) -> u32 {
    // The list has the newest first.
    let mut ready = std::mem::replace(&mut txns[id].waiters, NONE);
    let mut in_order = NONE;
    while ready != NONE {
        let next = txns[ready].next;
        txns[ready].next = in_order;
        in_order = ready;
        ready = next;
    }
    in_order
}

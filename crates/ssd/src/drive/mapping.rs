//! A mapping in flash: requests that wait for an entry, and writes of its own pages.

use reprieve_base::Time;
use reprieve_ftl::Mapping;
use reprieve_policy::txn::{Kind, LatencyComponent, NONE, Txn};

use super::interface::HostRequests;
use super::page_store::PageStore;
use super::pages::take_waiters;

impl PageStore {
    /// Whether a page of a host read has to wait for its entry; queues it then.
    pub(super) fn waits_for_entry(
        &mut self,
        request: u32,
        lpn: u32,
        requests: &mut HostRequests,
        now: Time,
    ) -> bool {
        // Pages in the buffer or the cache are found there.
        let is_buffered = self
            .ftl
            .tables
            .map
            .buffered(lpn)
            .is_some_and(|id| self.buffer.read_hits || self.flash.txns()[id].is_incomplete());
        if is_buffered
            || self.buffer.has_cached(lpn)
            || self.ftl.tables.map.demand().use_entry(lpn, false)
        {
            return false;
        }
        let (die, at) = self.ftl.numbering.in_plane(0);
        let service_level = requests[request].service_level;
        let read = Txn::new(Kind::HostRead, die, at, lpn, request, now);
        let txn = Txn { service_level, ..read };
        let id = self.flash.txns_mut().insert(txn);
        self.fetch_entry(id, requests, now);
        true
    }

    /// Whether a page of a host write has to wait for its entry, which gives its old page.
    pub(super) fn write_waits_for_entry(
        &mut self,
        id: u32,
        before: Mapping,
        is_whole: bool,
    ) -> bool {
        let txn = &mut self.flash.txns_mut()[id];
        txn.partial = !is_whole;
        txn.from_image = before == Mapping::Unwritten && self.unwritten_costs_read;
        // The write before it, which is in the buffer, has the entry.
        !matches!(before, Mapping::Buffered(_))
            && !self.ftl.tables.map.demand().use_entry(txn.lpn, true)
    }

    /// Gets the entry for a transaction: reads its page of the mapping, unless that is being read
    /// or is in memory.
    pub(super) fn fetch_entry(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        self.flash.txns_mut()[id].waits_map = true;
        let lpn = self.ftl.tables.map.demand().map_page(self.flash.txns()[id].lpn);
        let mut loader = *self.ftl.tables.map.demand().loading(lpn);
        if loader == NONE {
            let (die, at) = match self.ftl.tables.map.get(lpn) {
                Mapping::Flash(page) => self.ftl.numbering.locate(page),
                // Its newer version is still being composed from the old one and the changes.
                Mapping::Buffered(writer) if self.flash.txns()[writer].kind == Kind::MapUpdate => {
                    match self.flash.txns()[writer].old {
                        NONE => self.ftl.image_page(lpn),
                        old => self.ftl.numbering.locate(old),
                    }
                }
                Mapping::Unwritten if self.unwritten_costs_read => self.ftl.image_page(lpn),
                Mapping::Buffered(_) | Mapping::Unwritten | Mapping::Trimmed => {
                    self.entry_found(id, requests, now);
                    return;
                }
            };
            let mut txn = Txn::new(Kind::MapRead, die, at, lpn, NONE, now);
            txn.erases_seen = self.ftl.tables.blocks.erases(die, at);
            loader = self.flash.txns_mut().insert(txn);
            *self.ftl.tables.map.demand().loading(lpn) = loader;
            self.flash.enqueue(loader);
        }
        let first = std::mem::replace(&mut self.flash.txns_mut()[loader].waiters, id);
        self.flash.txns_mut()[id].next = first;
    }

    /// Completes a read of a page of the mapping, for the transactions that wait for its entries.
    pub(super) fn map_page_read(&mut self, loader: u32, requests: &mut HostRequests, now: Time) {
        let mut waiter = take_waiters(self.flash.txns_mut(), loader);
        let lpn = self.flash.txns_mut().remove(loader).lpn;
        *self.ftl.tables.map.demand().loading(lpn) = NONE;
        while waiter != NONE {
            let next = self.flash.txns()[waiter].next;
            self.entry_found(waiter, requests, now);
            waiter = next;
        }
    }

    /// Continues a transaction that has its entry.
    #[cold]
    fn entry_found(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let txn = &mut self.flash.txns_mut()[id];
        txn.waits_map = false;
        txn.next = NONE;
        txn.book(LatencyComponent::Map, now);
        let Txn { kind, lpn, request, parts, old, partial, from_image, .. } = *txn;
        self.ftl.tables.map.demand().entry_found(lpn, kind == Kind::Program);
        if kind == Kind::HostRead {
            self.flash.txns_mut().remove(id);
            self.read_mapped(request, lpn, parts, requests, now);
        } else if partial && old != NONE {
            let (die, at) = self.ftl.numbering.locate(old);
            self.read_old_page(id, die, at);
        } else if partial && from_image {
            let (die, at) = self.ftl.image_page(lpn);
            self.read_old_page(id, die, at);
        } else {
            self.page_filled(id, requests, now);
        }
        self.write_map_pages(now);
    }

    /// Writes the due pages of the mapping, as far as the planes have room.
    #[inline]
    pub(super) fn write_map_pages(&mut self, now: Time) {
        if self.ftl.tables.map.is_in_flash() {
            self.write_due_pages(now);
        }
    }

    #[cold]
    fn write_due_pages(&mut self, now: Time) {
        while let Some(lpn) = self.ftl.tables.map.demand().next_due() {
            if !self.write_map_page(lpn, now) {
                self.ftl.tables.map.demand().stays_due(lpn);
                // Dirty pages that occupy the space of the planes are sent.
                self.send_all_held();
                return;
            }
        }
    }

    /// Writes a page of the mapping; false if no plane has room for it yet.
    #[cold]
    fn write_map_page(&mut self, lpn: u32, now: Time) -> bool {
        if let Mapping::Buffered(writer) = self.ftl.tables.map.get(lpn) {
            let writer = &self.flash.txns()[writer];
            if writer.kind == Kind::MapUpdate || writer.start == Time::NEVER {
                // Its write takes the changes along.
                return true;
            }
        }
        let Some(target) = self.ftl.place_write(lpn, &|die| self.flash.dies().load(die)) else {
            return false;
        };
        let (die, at) = self.ftl.numbering.in_plane(target);
        let mut txn = Txn::new(Kind::MapProgram, die, at, lpn, NONE, now);
        txn.target = target;
        let id = self.flash.txns_mut().insert(txn);
        if let Some(journal) = &mut self.record.journal {
            journal.map_write(id);
        }
        let old = match self.ftl.accept_write(lpn, 0, id, self.flash.txns_mut()) {
            Mapping::Flash(page) => Some(self.ftl.numbering.locate(page)),
            Mapping::Unwritten if self.unwritten_costs_read => Some(self.ftl.image_page(lpn)),
            Mapping::Buffered(_) | Mapping::Unwritten | Mapping::Trimmed => None,
        };
        if let Some((die, at)) = old {
            let erases = self.ftl.tables.blocks.erases(die, at);
            let txn = &mut self.flash.txns_mut()[id];
            (txn.kind, txn.die, txn.at, txn.erases_seen) = (Kind::MapUpdate, die, at, erases);
        }
        self.flash.enqueue(id);
        true
    }

    /// Continues the write of a page of the mapping whose old version has been read.
    pub(super) fn map_page_ready(&mut self, id: u32) {
        let txn = &mut self.flash.txns_mut()[id];
        txn.kind = Kind::MapProgram;
        txn.start = Time::NEVER;
        (txn.die, txn.at) = self.ftl.numbering.in_plane(txn.target);
        self.flash.enqueue(id);
    }

    /// Completes a page of the mapping in flash.
    pub(super) fn map_page_programmed(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        if self.is_written_again(id) {
            return;
        }
        if self.record.has_journal() {
            self.record.programmed(id, &self.flash.txns()[id], &self.ftl);
        }
        let txn = self.flash.txns_mut().remove(id);
        self.ftl.tables.finish_write(&txn);
        self.write_map_pages(now);
        self.fill_buffer(requests, now);
    }
}

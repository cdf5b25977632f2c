//! Requests: from their arrival at the drive to their completion.

use reprieve_base::{Op, Request, SECTOR_BYTES, Time};
use reprieve_policy::txn::{LatencyComponent, LatencyComponents, NONE};

use super::Ssd;
use super::interface::{HostRequest, HostStep};

impl Ssd {
    /// Lets the requests of a closed loop arrive that completed ones have made way for.
    ///
    /// One that completes at once makes way for the next: a loop, for there may be millions.
    pub(super) fn pull(&mut self) {
        while self.flows.may_pull() {
            let Some((request, flow)) = self.flows.pull(&self.ftl, self.now) else { break };
            self.arrive(Request { arrival: self.now, ..request }, flow);
        }
    }

    /// First and last logical page that a request touches.
    #[inline]
    pub(super) fn pages_of(&self, lba: u64, bytes: u32) -> (u32, u32) {
        let page_bytes = u64::from(self.scenario.geometry.page_bytes);
        let from = lba * SECTOR_BYTES;
        let last = (from + u64::from(bytes) - 1) / page_bytes;
        assert!(
            last < u64::from(self.ftl.logical_pages()),
            "a request at sector {lba} reaches past the end of the drive"
        );
        ((from / page_bytes) as u32, last as u32)
    }

    /// Bytes of a page that a request covers.
    #[inline]
    pub(super) fn covered_bytes(&self, request: &HostRequest, lpn: u32) -> u32 {
        let page_bytes = u64::from(self.scenario.geometry.page_bytes);
        let page = u64::from(lpn) * page_bytes;
        let from = (request.lba * SECTOR_BYTES).max(page);
        let to = (request.lba * SECTOR_BYTES + u64::from(request.bytes)).min(page + page_bytes);
        (to - from) as u32
    }

    pub(super) fn arrive(&mut self, request: Request, flow: u32) {
        let Request { arrival, op, lba, bytes, fua } = request;
        if self.host.requests.is_empty() {
            self.stats.idle_ends(self.now);
        }
        let number = self.stats.arrived;
        if self.stats.measuring.first > number {
            self.look_at_arrival();
        }
        let id = self.host.requests.insert_with(|| HostRequest {
            id: number,
            op,
            lba,
            bytes,
            fua,
            arrival,
            fetched: arrival,
            begun: arrival,
            received: Time::ZERO,
            uncorrectable_pages: 0,
            pages_left: 0,
            next_lpn: 0,
            interval: 0,
            flow,
            queue: 0,
            next: NONE,
            parts: LatencyComponents::default(),
        });
        if let Some(checker) = &mut self.checker {
            checker.request_arrived(self.now, self.stats.arrived);
        }
        self.stats.arrived += 1;
        if self.flows.have_stats && number >= self.stats.measuring.first {
            self.flows.count_arrival(flow, arrival);
        }
        if self.flash.is_drawn() {
            self.draw_arrival(id);
        }
        let queue = if self.host.has_queues() { self.flows.queue(flow) } else { 0 };
        if self.host.arrive(id, queue, self.now, self.events.orders()) {
            self.begin(id);
        }
    }

    /// Fetches what the drive takes out of the submission queues at this instant.
    ///
    /// A command that completes at once makes way for another.
    pub(super) fn fetch(&mut self) {
        while let Some(id) = self.host.fetch(self.now, self.events.orders()) {
            self.begin(id);
            self.pull();
        }
    }

    /// A message has come.
    #[inline(always)]
    pub(super) fn receive(&mut self) {
        match self.host.receive(self.now, self.events.orders()) {
            Some(HostStep::Begin(id)) => self.begin(id),
            Some(HostStep::Data(id)) => self.write_received(id),
            Some(HostStep::Whole(id)) => self.whole_here(id),
            Some(HostStep::Done(id)) => self.request_done(id),
            None => {}
        }
    }

    /// All of a request has crossed a link that keeps requests in order.
    #[cold]
    fn whole_here(&mut self, id: u32) {
        let now = self.now;
        let request = &mut self.host.requests[id];
        match request.op {
            Op::Read => {
                request.begun = now;
                self.read_arrived(id);
            }
            Op::Write => {
                request.received = now;
                self.write_accepted(id);
                self.write_received(id);
            }
            Op::Trim => {
                request.begun = now;
                self.trim_arrived(id);
            }
            Op::Flush => {
                request.begun = now;
                self.flush_arrived(id);
            }
        }
    }

    /// Sets about a request.
    #[inline]
    fn begin(&mut self, id: u32) {
        if self.host.is_in_order() {
            if self.host.cross_whole(id, self.now, self.events.orders()) {
                self.whole_here(id);
            }
            return;
        }
        match self.host.requests[id].op {
            Op::Read => self.read_arrived(id),
            Op::Write => self.write_arrived(id),
            Op::Trim => self.trim_arrived(id),
            Op::Flush => self.flush_arrived(id),
        }
    }

    #[inline(always)]
    fn read_arrived(&mut self, id: u32) {
        let (first, last) = self.pages_of(self.host.requests[id].lba, self.host.requests[id].bytes);
        self.host.requests[id].pages_left = last - first + 1;
        for lpn in first..=last {
            self.read_page(id, lpn);
        }
    }

    /// A write counts: its pages have to be in the flash before a flush behind it is done.
    #[inline(always)]
    fn write_accepted(&mut self, id: u32) {
        let (first, last) = self.pages_of(self.host.requests[id].lba, self.host.requests[id].bytes);
        let pages = last - first + 1;
        let interval = self.buffer.intervals.begin(pages);
        let request = &mut self.host.requests[id];
        request.pages_left = pages;
        request.next_lpn = first;
        request.interval = interval;
    }

    #[inline(always)]
    fn write_arrived(&mut self, id: u32) {
        self.write_accepted(id);
        if self.host.want_data(id, self.now, self.events.orders()) {
            self.write_received(id);
        }
    }

    fn trim_arrived(&mut self, id: u32) {
        let request = self.host.requests[id];
        let (first, last) = self.pages_of(request.lba, request.bytes);
        for lpn in first..=last {
            if self.covered_bytes(&request, lpn) == self.scenario.geometry.page_bytes {
                self.trim_page(id, lpn);
                self.stats.totals.trimmed_pages += 1;
            } else {
                // The rest of the page may still be wanted.
                self.stats.totals.trims_of_part_of_a_page += 1;
                self.trim_part(id, lpn);
            }
        }
        self.write_map_pages();
        self.answer(id, &LatencyComponents::default());
        self.fill_after_drops();
    }

    fn flush_arrived(&mut self, id: u32) {
        if let Some(checker) = &mut self.checker {
            checker.flush_arrived(self.host.requests[id].id);
        }
        if self.flash.is_blamed() {
            self.flash.blame_buffer(id, self.now);
        }
        if self.buffer.intervals.flush(id) {
            self.send_all_held();
            // After the pages above have been queued: none of them waits for a wordline to fill.
            self.flash.flush();
        } else {
            self.answer(id, &LatencyComponents::default());
        }
    }

    /// A page of a read has its data at `now`, after `parts`; it crosses the link to the host.
    #[inline]
    pub(super) fn page_read(&mut self, id: u32, lpn: u32, parts: &LatencyComponents) {
        self.host.requests[id].parts = *parts;
        if self.flash.is_blamed() {
            self.flash.blame_page(id, None);
        }
        self.send_page(id, lpn);
    }

    /// The same where the request has been told of its parts.
    #[inline]
    pub(super) fn send_page(&mut self, id: u32, lpn: u32) {
        let bytes = self.covered_bytes(&self.host.requests[id], lpn);
        if let Some(crossed) = self.host.send_page(id, bytes, self.now) {
            self.leave(id, crossed);
        }
    }

    /// A request other than a read is done, after `parts`: the host is told.
    pub(super) fn answer(&mut self, id: u32, parts: &LatencyComponents) {
        self.host.requests[id].parts = *parts;
        let crossed = self.host.completion(self.now);
        self.leave(id, crossed);
    }

    /// The last that a request sends to the host has crossed the link at `crossed`.
    #[inline]
    fn leave(&mut self, id: u32, crossed: Time) {
        if crossed == self.now {
            self.request_done(id);
            return;
        }
        self.host.answer(id, self.now, crossed, self.events.orders());
    }

    /// A request is complete.
    pub(super) fn request_done(&mut self, id: u32) {
        if self.flash.is_drawn() {
            self.flash.request_done(self.now, id);
        }
        if self.checker.is_some() {
            self.check_completed(id);
        }
        self.host.close(id, self.now);
        let request = &self.host.requests[id];
        self.stats.request_done(id, request, self.now, &mut self.flash, &mut self.flows);
        let flow = request.flow;
        self.host.requests.release(id);
        if self.host.requests.is_empty() {
            self.stats.idle_begins(self.now);
            self.idle_begins();
        }
        self.flows.completed(flow);
    }

    /// Completes the flushes that waited for the page of a write of `interval`.
    pub(super) fn page_is_safe(&mut self, interval: u32) {
        self.buffer.intervals.end(interval);
        while let Some(id) = self.buffer.intervals.next_flushed() {
            if self.flash.is_blamed() {
                self.flash.blame_buffered(id, None, true, self.now);
            }
            let mut parts = LatencyComponents::default();
            parts.add(LatencyComponent::Buffer, (self.now - self.host.requests[id].begun).ns());
            self.answer(id, &parts);
        }
    }
}

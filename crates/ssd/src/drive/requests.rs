//! Requests: from their arrival at the drive to their completion.

use reprieve_base::event::Schedule;
use reprieve_base::{Op, Request, Time};
use reprieve_ftl::{Mapping, ZoneErase, ZoneRequest};
use reprieve_policy::txn::{LatencyComponent, LatencyComponents, NONE};

use super::event::DriveEvent;
use super::event_loop::EventLoop;
use super::interface::{HostRequest, HostStep};
use super::page_store::{PageStore, Served};

impl EventLoop {
    /// Admits requests of a closed loop in place of completed ones.
    ///
    /// A loop, as a request that completes at once admits the next, perhaps millions of times.
    pub(super) fn pull(&mut self) {
        while self.flows.may_pull() {
            let Some((request, flow)) = self.flows.pull(&self.pages.ftl, self.now) else { break };
            self.arrive(Request { arrival: self.now, ..request }, flow);
        }
    }

    #[inline(always)]
    pub(super) fn arrive(&mut self, request: Request, flow: u32) {
        let Some(request) = self.addressed(request) else { return };
        let Request { arrival, op, lba, bytes, fua } = request;
        if self.host.requests.is_empty() {
            self.stats.idle_ends(self.now);
        }
        let number = self.stats.arrived;
        if self.stats.measuring.first > number {
            self.look_at_arrival();
        }
        let service_level = self.flows.service_level(flow);
        let handle = self.flows.handle(flow);
        let (first_lpn, last_lpn) = self.pages.layout.pages(&request);
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
            retries: 0,
            pages_left: 0,
            first_lpn,
            last_lpn,
            next_lpn: 0,
            interval: 0,
            flow,
            service_level,
            handle,
            queue: 0,
            next: NONE,
            parts: LatencyComponents::default(),
        });
        if let Some(checker) = &mut self.pages.record.checker {
            checker.request_arrived(self.now, self.stats.arrived);
        }
        self.stats.arrived += 1;
        if self.flows.have_stats && number >= self.stats.measuring.first {
            self.flows.count_arrival(flow, arrival);
        }
        if self.pages.flash.observers().is_drawn() {
            self.draw_arrival(id);
        }
        let queue = if self.host.has_queues() { self.flows.queue(flow) } else { 0 };
        if self.host.arrive(id, queue, self.now, self.events.orders()) {
            self.begin(id);
        }
    }

    /// Fetches commands from the submission queues at this instant.
    ///
    /// A command that completes at once frees a place for another.
    pub(super) fn fetch(&mut self) {
        while let Some(id) = self.host.fetch(self.now, self.events.orders()) {
            self.begin(id);
            self.pull();
        }
    }

    /// Handles a message.
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

    /// Handles a request that has crossed a link that keeps requests in order.
    #[cold]
    fn whole_here(&mut self, id: u32) {
        let request = &mut self.host.requests[id];
        match request.op {
            Op::Write | Op::Append => {
                request.received = self.now;
                if self.takes_write(id) {
                    self.pages.accept_write(id, &mut self.host.requests);
                    self.write_received(id);
                }
            }
            _ => {
                request.begun = self.now;
                self.set_about(id);
            }
        }
    }

    /// Starts a request.
    #[inline]
    fn begin(&mut self, id: u32) {
        if self.host.is_in_order() {
            if self.host.cross_whole(id, self.now, self.events.orders()) {
                self.whole_here(id);
            }
            return;
        }
        self.set_about(id);
    }

    #[inline(always)]
    fn set_about(&mut self, id: u32) {
        let (requests, now) = (&mut self.host.requests, self.now);
        match requests[id].op {
            Op::Read => self.pages.read(id, requests, now),
            Op::Write | Op::Append => {
                if !self.takes_write(id) {
                    return;
                }
                self.pages.accept_write(id, &mut self.host.requests);
                if self.host.want_data(id, now, self.events.orders()) {
                    self.pages.write(id, &mut self.host.requests, now);
                }
            }
            Op::Trim => self.pages.trim(id, requests, now),
            Op::Flush => self.pages.flush(id, requests, now),
            Op::Reset | Op::Finish | Op::Open | Op::Close => {
                self.operate_zone(id);
            }
        }
        self.answer_served();
    }

    /// Handles the data of a write.
    #[inline]
    fn write_received(&mut self, id: u32) {
        self.pages.write(id, &mut self.host.requests, self.now);
        self.answer_served();
    }

    /// Sends completions of served requests to the host.
    #[inline]
    pub(super) fn answer_served(&mut self) {
        if !self.pages.served.is_empty() {
            self.answer_each();
        }
    }

    fn answer_each(&mut self) {
        for place in 0..self.pages.served.len() {
            let Served { request, lpn } = self.pages.served[place];
            if lpn == NONE {
                let crossed = self.host.completion(self.now);
                self.leave(request, crossed);
            } else {
                self.send_page(request, lpn);
            }
        }
        self.pages.served.clear();
    }

    /// Sends a page of a read that has its data over the link to the host.
    #[inline]
    pub(super) fn send_page(&mut self, id: u32, lpn: u32) {
        let bytes = self.pages.layout.bytes(&self.host.requests[id], lpn);
        if let Some(crossed) = self.host.send_page(id, bytes, self.now) {
            self.leave(id, crossed);
        }
    }

    /// Completes a request whose last data crosses the link at `crossed`.
    #[inline]
    fn leave(&mut self, id: u32, crossed: Time) {
        if crossed == self.now {
            self.request_done(id);
            return;
        }
        self.host.answer(id, self.now, crossed, self.events.orders());
    }

    /// Completes a request.
    pub(super) fn request_done(&mut self, id: u32) {
        if self.pages.flash.observers().is_drawn() {
            self.pages.flash.observers_mut().request_done(self.now, id);
        }
        if self.pages.record.checker.is_some() {
            let request = &self.host.requests[id];
            self.pages.record.completed(request, self.now);
        }
        if let Some(zones) = &self.pages.zones {
            let lba = &mut self.host.requests[id].lba;
            *lba = zones.host_sector(*lba);
        }
        let request = self.host.close(id, self.now);
        self.stats.request_done(id, request, self.now, &mut self.pages.flash, &mut self.flows);
        let flow = request.flow;
        self.host.requests.release(id);
        if self.host.requests.is_empty() {
            self.stats.idle_begins(self.now);
            let held = &mut self.pages.buffer.held;
            if let Some(at) = held.as_mut().and_then(|held| held.idle_begins(self.now)) {
                self.events.schedule(at, DriveEvent::LookIdle);
            }
        }
        self.flows.completed(flow);
    }
}

impl EventLoop {
    /// Returns the request with the address of its pages; `None`: refused, which ends the run.
    #[inline]
    pub(super) fn addressed(&mut self, request: Request) -> Option<Request> {
        if self.pages.zones.is_none() && request.op <= Op::Flush {
            return Some(request);
        }
        self.address_zone(request)
    }

    #[cold]
    fn address_zone(&mut self, request: Request) -> Option<Request> {
        let addressed = match &self.pages.zones {
            Some(zones) => zones.to_pages(request),
            None => Err(format!(
                "the operation {:?} is of zones, and the drive has none; it needs zones.model = \
                 \"host-managed\"",
                request.op.name()
            )),
        };
        addressed.map_err(|what| self.refuse_request(request.op, &what)).ok()
    }

    fn refuse_request(&mut self, op: Op, what: &str) {
        let failing = &mut self.pages.ftl.tables.blocks.failing;
        failing.refuse(format!("workload: {}: {what}", op.name()));
    }

    /// Starts a write: an append gets its address; false if its zone refuses it.
    #[inline]
    pub(super) fn takes_write(&mut self, id: u32) -> bool {
        self.pages.zones.is_none() || self.zone_takes_write(id)
    }

    #[cold]
    fn zone_takes_write(&mut self, id: u32) -> bool {
        let zones = self.pages.zones.as_mut().expect("the caller has seen them");
        let HostRequest { op, first_lpn, last_lpn, .. } = self.host.requests[id];
        let zone = zones.zone_of(first_lpn);
        let first = zone * zones.zone_pages;
        let from = (op == Op::Write).then_some(first_lpn - first);
        match zones.take_write(zone, from, last_lpn - first_lpn + 1) {
            Ok(offset) => {
                zones.counts.appends += u64::from(op == Op::Append);
                let request = &mut self.host.requests[id];
                request.last_lpn += first + offset - first_lpn;
                request.first_lpn = first + offset;
                request.lba = self.pages.layout.first_sector(request.first_lpn);
                true
            }
            Err(what) => {
                self.refuse_request(op, &what);
                false
            }
        }
    }

    /// Handles a zone operation.
    #[cold]
    pub(super) fn operate_zone(&mut self, id: u32) {
        let PageStore { zones, ftl, flash, .. } = &mut self.pages;
        let zones = zones.as_mut().expect("it was refused where there are none");
        let HostRequest { op, first_lpn, .. } = self.host.requests[id];
        let zone = zones.zone_of(first_lpn);
        let is_written = zones.zones[zone as usize].pages_to_program == 0;
        if matches!(op, Op::Reset | Op::Finish) && !is_written {
            zones.waiting.push(ZoneRequest { zone, request: id });
            if let Some(front) = ftl.front_of_zone(zone) {
                flash.dies_mut().flush_fronts(front..front + 1);
            }
            return;
        }
        self.change_zone(zone, id);
    }

    /// Changes the state of a zone without pages that wait to be programmed.
    fn change_zone(&mut self, zone: u32, id: u32) {
        let (pages, now) = (&mut self.pages, self.now);
        let zones = pages.zones.as_mut().expect("there are zones");
        let op = self.host.requests[id].op;
        let (first, waits) = (zone * zones.zone_pages, zones.reset_waits);
        let dropped = match zones.operate(zone, op) {
            Ok(dropped) => dropped,
            Err(what) => return self.refuse_request(op, &what),
        };
        if matches!(op, Op::Reset | Op::Finish) {
            pages.ftl.end_zone(zone);
        }
        let mut is_waiting = false;
        for lpn in first..first + dropped {
            let before = pages.ftl.tables.map.get(lpn);
            pages.trim_page(id, lpn, &mut self.host.requests, now);
            let Mapping::Flash(page) = before else { continue };
            if let Some((die, block)) = pages.ftl.zone_page_dropped(page) {
                pages.flash.dies_mut().wake(die);
                let zones = pages.zones.as_mut().expect("there are zones");
                zones.counts.reset_erases += 1;
                if waits {
                    zones.erasing.push(ZoneErase { block, request: id });
                    is_waiting = true;
                }
            }
        }
        if !is_waiting {
            self.zone_served(id);
        }
    }

    /// Completes a zone operation: its time so far counts as array time.
    fn zone_served(&mut self, id: u32) {
        let requests = &mut self.host.requests;
        let mut parts = LatencyComponents::default();
        parts.add(LatencyComponent::Array, (self.now - requests[id].begun).ns());
        self.pages.request_served(id, &parts, requests);
    }

    /// Continues requests that waited for pages of zones to be programmed, or blocks to be erased.
    #[cold]
    pub(super) fn settle_zones(&mut self) {
        let next = |pages: &mut PageStore| pages.zones.as_mut()?.next_settled();
        while let Some((zone, id)) = next(&mut self.pages) {
            self.change_zone(zone, id);
            // Counts a zone that was closed for another.
            self.pages.fill_buffer(&mut self.host.requests, self.now);
        }
        while let Some(id) = self.pages.zones.as_mut().and_then(|zones| zones.done.pop()) {
            self.zone_served(id);
        }
    }
}

//! Requests: from their arrival at the drive to their completion.

use reprieve_base::event::Schedule;
use reprieve_base::{Op, Request, Time};
use reprieve_policy::txn::{LatencyComponents, NONE};

use super::event::DriveEvent;
use super::event_loop::EventLoop;
use super::interface::{HostRequest, HostStep};
use super::page_store::Served;

impl EventLoop {
    /// Lets the requests of a closed loop arrive that completed ones have made way for.
    ///
    /// One that completes at once makes way for the next: a loop, for there may be millions.
    pub(super) fn pull(&mut self) {
        while self.flows.may_pull() {
            let Some((request, flow)) = self.flows.pull(&self.pages.ftl, self.now) else { break };
            self.arrive(Request { arrival: self.now, ..request }, flow);
        }
    }

    #[inline(always)]
    pub(super) fn arrive(&mut self, request: Request, flow: u32) {
        let Request { arrival, op, lba, bytes, fua } = request;
        if self.host.requests.is_empty() {
            self.stats.idle_ends(self.now);
        }
        let number = self.stats.arrived;
        if self.stats.measuring.first > number {
            self.look_at_arrival();
        }
        let service_level = self.flows.service_level(flow);
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
            pages_left: 0,
            first_lpn,
            last_lpn,
            next_lpn: 0,
            interval: 0,
            flow,
            service_level,
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
        let request = &mut self.host.requests[id];
        match request.op {
            Op::Write => {
                request.received = self.now;
                self.pages.accept_write(id, &mut self.host.requests);
                self.write_received(id);
            }
            Op::Read | Op::Trim | Op::Flush => {
                request.begun = self.now;
                self.set_about(id);
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
        self.set_about(id);
    }

    #[inline(always)]
    fn set_about(&mut self, id: u32) {
        let (requests, now) = (&mut self.host.requests, self.now);
        match requests[id].op {
            Op::Read => self.pages.read(id, requests, now),
            Op::Write => {
                self.pages.accept_write(id, requests);
                if self.host.want_data(id, now, self.events.orders()) {
                    self.pages.write(id, &mut self.host.requests, now);
                }
            }
            Op::Trim => self.pages.trim(id, requests, now),
            Op::Flush => self.pages.flush(id, requests, now),
        }
        self.answer_served();
    }

    /// The data of a write is here.
    #[inline]
    fn write_received(&mut self, id: u32) {
        self.pages.write(id, &mut self.host.requests, self.now);
        self.answer_served();
    }

    /// Tells the host what has been served.
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

    /// A page of a read that has its data crosses the link to the host.
    #[inline]
    pub(super) fn send_page(&mut self, id: u32, lpn: u32) {
        let bytes = self.pages.layout.bytes(&self.host.requests[id], lpn);
        if let Some(crossed) = self.host.send_page(id, bytes, self.now) {
            self.leave(id, crossed);
        }
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
        if self.pages.flash.observers().is_drawn() {
            self.pages.flash.observers_mut().request_done(self.now, id);
        }
        if self.pages.record.checker.is_some() {
            let request = &self.host.requests[id];
            self.pages.record.completed(request, self.now);
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

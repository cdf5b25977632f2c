//! The host interface: requests in, completions out.

use reprieve_base::{Dur, Op, Request, SECTOR_BYTES, Time, UserError};

use super::{Event, Ssd};
use crate::event::Schedule;
use crate::stats::LogRow;
use crate::txn::{NONE, Part, Parts};

/// A host request between its arrival and its completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRequest {
    /// Number in order of arrival.
    pub(super) id: u64,
    pub(super) op: Op,
    pub(super) lba: u64,
    pub(super) bytes: u32,
    /// Write: acknowledged when it is programmed, whatever the buffer does.
    pub(super) fua: bool,
    pub(super) arrival: Time,
    /// When the drive began to fetch it from its submission queue; at once without queues.
    pub(super) fetched: Time,
    /// When the drive had it and set about it.
    pub(super) begun: Time,
    /// Write: when its data had crossed the link.
    pub(super) received: Time,
    /// Pages of it, or under it, that nothing corrected.
    pub(super) uncorrectable_pages: u32,
    /// Pages that are not done.
    pub(super) pages_left: u32,
    /// Write: the next page to go into the buffer.
    pub(super) next_lpn: u32,
    /// Write or flush: the flush interval in which it arrived.
    pub(super) interval: u32,
    /// The load that it belongs to.
    pub(super) flow: u32,
    /// The submission queue that it came through.
    pub(super) queue: u32,
    /// Behind it in that queue, or `NONE`.
    pub(super) next: u32,
}

impl Ssd {
    /// Lets the requests of a closed loop arrive that completed ones have made way for.
    ///
    /// One that completes at once makes way for the next: a loop, for there may be millions.
    /// Returns whether any has arrived.
    #[inline]
    pub(super) fn pull<const FULL: bool>(&mut self) -> Result<bool, UserError> {
        let mut any = false;
        while self.flows.may_pull() {
            let Some((request, flow)) = self.flows.pull::<FULL>(&self.ftl, self.now)? else {
                break;
            };
            any = true;
            self.arrive::<FULL>(Request { arrival: self.now, ..request }, flow);
        }
        Ok(any)
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

    pub(super) fn arrive<const FULL: bool>(&mut self, request: Request, flow: u32) {
        let Request { arrival, op, lba, bytes, fua } = request;
        if self.requests.is_empty() {
            self.idle_ns += (self.now - self.idle_since).ns();
        }
        let number = self.arrived;
        if FULL && self.measuring.first > number {
            self.look_at_arrival();
        }
        let id = self.requests.insert_with(|| HostRequest {
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
        });
        if let Some(checker) = &mut self.checker {
            checker.request_arrived(self.now, self.arrived);
        }
        self.arrived += 1;
        if FULL && self.flows.have_stats && number >= self.measuring.first {
            self.flows.count_arrival(flow, arrival);
        }
        if FULL && self.flash.is_drawn() {
            self.draw_arrival(id);
        }
        match &mut self.queues {
            Some(queues) if FULL => {
                self.requests[id].queue = self.flows.queue(flow);
                if self.links.carries_commands {
                    queues.ringing += 1;
                    self.events.schedule(self.links.ring(self.now), Event::Rung { request: id });
                } else {
                    queues.push(id, &mut self.requests);
                }
            }
            _ => self.begin::<FULL>(id),
        }
    }

    /// The doorbell of a request has crossed the link: the drive can fetch it.
    pub(super) fn rung(&mut self, id: u32) {
        let queues = self.queues.as_mut().expect("doorbells belong to queues");
        queues.ringing -= 1;
        queues.push(id, &mut self.requests);
    }

    /// Fetches what the drive takes out of the submission queues at this instant.
    ///
    /// A command that completes at once makes way for another.
    pub(super) fn fetch(&mut self) -> Result<(), UserError> {
        while let Some(queues) = &mut self.queues {
            let Some(id) = queues.fetch(&self.requests) else { break };
            self.requests[id].fetched = self.now;
            if queues.command > Dur::ZERO {
                self.events.schedule(self.now + queues.command, Event::Fetched { request: id });
                continue;
            }
            self.take_command(id);
            self.pull::<true>()?;
        }
        Ok(())
    }

    /// The drive has turned to a command: it has it, or asks the host for it.
    fn take_command(&mut self, id: u32) {
        if self.links.carries_commands {
            self.events.schedule(self.links.ask(self.now), Event::Asked { request: id });
            return;
        }
        self.command_here(id);
    }

    /// The host was asked for a command, and sends it.
    pub(super) fn command_asked(&mut self, id: u32) {
        self.events.schedule(self.links.submission(self.now), Event::Command { request: id });
    }

    /// The drive has a command, and sets about it.
    pub(super) fn command_here(&mut self, id: u32) {
        self.requests[id].begun = self.now;
        self.begin::<true>(id);
    }

    /// The drive has the command of a request.
    pub(super) fn fetched(&mut self, id: u32) {
        let queues = self.queues.as_mut().expect("commands are fetched from queues");
        queues.is_fetching = false;
        self.take_command(id);
    }

    /// A request joins what crosses a link that keeps requests in order: a write with its data.
    #[cold]
    fn take_turn(&mut self, id: u32) {
        let request = &self.requests[id];
        let crossed = match request.op {
            Op::Write => self.links.cross_in(self.now, u64::from(request.bytes)),
            Op::Read | Op::Trim | Op::Flush => self.links.turn(self.now),
        };
        if crossed == self.now {
            self.turn_over(id);
            return;
        }
        self.events.schedule(crossed, Event::Turn { request: id });
    }

    /// All of a request has crossed a link that keeps requests in order.
    pub(super) fn turn_over(&mut self, id: u32) {
        let now = self.now;
        let request = &mut self.requests[id];
        match request.op {
            Op::Read => {
                request.begun = now;
                self.read_arrived::<true>(id);
            }
            Op::Write => {
                request.received = now;
                self.write_accepted(id);
                self.write_received::<true>(id);
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
    #[inline(always)]
    fn begin<const FULL: bool>(&mut self, id: u32) {
        if FULL && self.links.in_order {
            self.take_turn(id);
            return;
        }
        match self.requests[id].op {
            Op::Read => self.read_arrived::<FULL>(id),
            Op::Write => self.write_arrived::<FULL>(id),
            Op::Trim => self.trim_arrived(id),
            Op::Flush => self.flush_arrived(id),
        }
    }

    #[inline(always)]
    fn read_arrived<const FULL: bool>(&mut self, id: u32) {
        let (first, last) = self.pages_of(self.requests[id].lba, self.requests[id].bytes);
        self.requests[id].pages_left = last - first + 1;
        for lpn in first..=last {
            self.read_page::<FULL>(id, lpn);
        }
    }

    /// A write counts: its pages have to be in the flash before a flush behind it is done.
    #[inline(always)]
    fn write_accepted(&mut self, id: u32) {
        let (first, last) = self.pages_of(self.requests[id].lba, self.requests[id].bytes);
        let pages = last - first + 1;
        let interval = self.intervals.begin(pages);
        let request = &mut self.requests[id];
        request.pages_left = pages;
        request.next_lpn = first;
        request.interval = interval;
    }

    #[inline(always)]
    fn write_arrived<const FULL: bool>(&mut self, id: u32) {
        self.write_accepted(id);
        if FULL && self.links.carries_commands {
            self.events.schedule(self.links.ask(self.now), Event::DataAsked { request: id });
            return;
        }
        self.write_data::<FULL>(id);
    }

    /// The data of a write comes.
    pub(super) fn write_data<const FULL: bool>(&mut self, id: u32) {
        let received = self.links.cross_in(self.now, u64::from(self.requests[id].bytes));
        self.requests[id].received = received;
        if received == self.now {
            self.write_received::<FULL>(id);
            return;
        }
        self.events.schedule(received, Event::LinkIn { request: id });
    }

    fn trim_arrived(&mut self, id: u32) {
        let request = self.requests[id];
        let (first, last) = self.pages_of(request.lba, request.bytes);
        for lpn in first..=last {
            if self.covered_bytes(&request, lpn) == self.scenario.geometry.page_bytes {
                self.trim_page(id, lpn);
                self.totals.trimmed_pages += 1;
            } else {
                // The rest of the page may still be wanted.
                self.totals.trims_of_part_of_a_page += 1;
                self.trim_part(id, lpn);
            }
        }
        self.write_map_pages();
        self.answer::<true>(id, &Parts::default());
        self.fill_after_drops();
    }

    fn flush_arrived(&mut self, id: u32) {
        if let Some(checker) = &mut self.checker {
            checker.flush_arrived(self.requests[id].id);
        }
        if self.intervals.flush(id) {
            self.send_all_held();
            // After the pages above have been queued: none of them waits for a wordline to fill.
            self.flash.flush();
        } else {
            self.answer::<true>(id, &Parts::default());
        }
    }

    /// A page of a read has its data at `now`, after `parts`; it crosses the link to the host.
    #[inline]
    pub(super) fn page_read<const FULL: bool>(&mut self, id: u32, lpn: u32, parts: &Parts) {
        if FULL && self.links.in_order {
            self.page_read_in_order(id, parts);
            return;
        }
        let bytes = self.covered_bytes(&self.requests[id], lpn);
        let mut crossed = self.links.cross_out(self.now, u64::from(bytes));
        let request = &mut self.requests[id];
        request.pages_left -= 1;
        if request.pages_left > 0 {
            return;
        }
        if FULL && self.links.carries_commands {
            crossed = self.links.completion(self.now);
        }
        self.leave::<FULL>(id, parts, crossed);
    }

    /// The same on a link that keeps requests in order: with the last page all data crosses it.
    #[cold]
    fn page_read_in_order(&mut self, id: u32, parts: &Parts) {
        let request = &mut self.requests[id];
        request.pages_left -= 1;
        if request.pages_left == 0 {
            let crossed = self.links.cross_out(self.now, u64::from(request.bytes));
            self.leave::<true>(id, parts, crossed);
        }
    }

    /// A request other than a read is done, after `parts`: the host is told.
    pub(super) fn answer<const FULL: bool>(&mut self, id: u32, parts: &Parts) {
        if FULL && self.links.carries_commands {
            let crossed = self.links.completion(self.now);
            self.leave::<FULL>(id, parts, crossed);
            return;
        }
        self.request_done::<FULL>(id, parts);
    }

    /// The last that a request sends to the host has crossed the link at `crossed`.
    #[inline]
    fn leave<const FULL: bool>(&mut self, id: u32, parts: &Parts, crossed: Time) {
        if crossed == self.now {
            self.request_done::<FULL>(id, parts);
            return;
        }
        // The link is first in, first out: the page that comes to it last leaves it last.
        let place = self.crossing.insert_with(|| *parts);
        self.crossing[place].add(Part::Link, (crossed - self.now).ns());
        self.events.schedule(crossed, Event::Done { request: id, parts: place });
    }

    /// The last of a request has crossed the link.
    #[inline]
    pub(super) fn answer_crossed<const FULL: bool>(&mut self, id: u32, parts: u32) {
        let parts = self.crossing.remove(parts);
        self.request_done::<FULL>(id, &parts);
    }

    /// A request is complete; `parts` say where the time of its last page went.
    pub(super) fn request_done<const FULL: bool>(&mut self, id: u32, parts: &Parts) {
        if FULL && self.flash.is_drawn() {
            self.flash.request_done(self.now, id);
        }
        if self.checker.is_some() {
            self.check_completed(id);
        }
        let request = &self.requests[id];
        let mut whole;
        let parts = match &mut self.queues {
            Some(queues) if FULL => {
                queues.answered(request.queue);
                if self.links.carries_commands {
                    self.links.ring(self.now);
                }
                whole = *parts;
                whole.add(Part::HostQueue, (request.fetched - request.arrival).ns());
                whole.add(Part::Link, (request.begun - request.fetched).ns());
                &whole
            }
            None if FULL && self.links.in_order => {
                whole = *parts;
                whole.add(Part::Link, (request.begun - request.arrival).ns());
                &whole
            }
            _ => parts,
        };
        let HostRequest { op, fua, bytes, flow, arrival, .. } = *request;
        let latency_ns = (self.now - arrival).ns();
        assert_eq!(
            parts.sum_ns(),
            latency_ns,
            "the parts of request {} do not add up to its latency at {}: {parts:?}",
            request.id,
            self.now,
        );
        if FULL && request.id < self.measuring.first {
            self.excluded_done(op, bytes);
        } else {
            if self.latencies.record(request.id, op, fua, bytes, latency_ns, parts) {
                self.latencies.mark(request.id, self.now, self.flash.counts.programs());
            }
            if self.latencies.ends_piece(op) {
                self.latencies.end_piece(self.programmed_bytes());
            }
            self.count_done::<FULL>(id, latency_ns, parts);
        }
        self.completed += 1;
        self.requests.release(id);
        if self.requests.is_empty() {
            self.idle_since = self.now;
            if FULL {
                self.idle_begins();
            }
        }
        self.flows.completed(flow);
    }

    /// Counts a completed request where more than its latency is asked for.
    #[inline(always)]
    fn count_done<const FULL: bool>(&mut self, id: u32, latency_ns: u64, parts: &Parts) {
        if FULL && self.flows.have_stats {
            self.flows.count(&self.requests[id], self.now, parts);
        }
        if FULL && self.series.is_some() {
            self.series_completed(id, parts);
        }
        if FULL && self.transient.is_some() {
            let HostRequest { op, bytes, .. } = self.requests[id];
            self.observe(op, latency_ns, bytes);
        }
        if self.log.is_some() {
            self.log_request(id, parts);
        }
    }

    /// Out of the way of runs that keep no log.
    #[inline(never)]
    fn log_request(&mut self, id: u32, parts: &Parts) {
        let request = &self.requests[id];
        let log = self.log.as_mut().expect("a log is kept");
        log.push(&LogRow {
            id: request.id,
            op: request.op,
            lba: request.lba,
            bytes: request.bytes,
            arrival: request.arrival,
            completion: self.now,
            parts: *parts,
            flow: self.flows.number(request.flow),
            uncorrectable_pages: request.uncorrectable_pages,
        });
    }

    /// Completes the flushes that waited for the page of a write of `interval`.
    pub(super) fn page_is_safe<const FULL: bool>(&mut self, interval: u32) {
        self.intervals.end(interval);
        while let Some(id) = self.intervals.next_flushed() {
            let mut parts = Parts::default();
            parts.add(Part::Buffer, (self.now - self.requests[id].begun).ns());
            self.answer::<FULL>(id, &parts);
        }
    }

    /// Parts of a write that has waited for the buffer until now.
    pub(super) fn received_parts(&self, id: u32) -> Parts {
        let request = &self.requests[id];
        let mut parts = Parts::default();
        parts.add(Part::Link, (request.received - request.begun).ns());
        parts.add(Part::Buffer, (self.now - request.received).ns());
        debug_assert_ne!(id, NONE, "a page without a request");
        parts
    }
}

//! The event loop: a drive, its host and their load, from instant to instant.

use reprieve_base::event::{EventQueue, Schedule};
use reprieve_base::{Archive, Time, UserError, parts};
use reprieve_ftl::{SlcCounts, ZoneCounts};
use reprieve_observe::stats::{ReadCacheCounts, Totals};

use super::dirty_pages::IdleLook;
use super::event::DriveEvent;
use super::flows::Flows;
use super::interface::HostInterface;
use super::media_scan::ScanCounts;
use super::page_store::PageStore;
use super::statistics::Statistics;

/// The event loop: events, components and statistics.
pub(super) struct EventLoop {
    pub(super) now: Time,
    pub(super) events: EventQueue<DriveEvent>,
    pub(super) flows: Flows,
    pub(super) host: HostInterface,
    pub(super) pages: PageStore,
    pub(super) stats: Statistics,
    /// Every instant has more to do than its events; see [`EventLoop::has_instant_work`].
    pub(super) is_watched: bool,
}

impl EventLoop {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.now);
        self.events.archive(archive);
        self.flows.archive(archive);
        self.host.archive(archive);
        self.pages.buffer.archive(archive);
        self.pages.ftl.archive(archive);
        self.pages.flash.archive(archive);
        parts!(archive; self.pages.totals, self.pages.served);
        if let Some(zones) = &mut self.pages.zones {
            zones.archive(archive);
        }
        if let Some(scan) = &mut self.pages.scan {
            scan.archive(archive);
        }
        self.stats.archive(archive);
    }

    /// Starts the preconditioned drive, with these pages in its write buffer.
    pub(super) fn start(&mut self, buffered: Vec<u32>) -> Result<(), UserError> {
        let PageStore { ftl, flash, record, layout, scan, busy_window, .. } = &mut self.pages;
        if self.stats.series.is_some() {
            flash.keep_ages();
        }
        ftl.tables.blocks.for_each(|die, plane, block, pages| {
            flash.dies_mut().precondition(die, plane, block, pages);
        });
        record.begin_checks(flash, ftl, layout);
        // A preconditioned drive may have to collect garbage before the first request arrives.
        flash.dies_mut().wake_all();
        self.flows.start(ftl);
        if let Some(scan) = scan {
            self.events.schedule(self.now + scan.interval, DriveEvent::Scan);
        }
        if let Some(window) = busy_window {
            ftl.set_busy(false);
            self.events.schedule(self.now + window.start, DriveEvent::BusyWindow(1));
        }
        self.pages.replay(buffered, &mut self.host.requests, self.now)
    }

    /// Admits the first requests of closed loops.
    pub(super) fn begin_flows(&mut self) -> Result<(), UserError> {
        let before = self.stats.arrived;
        self.pull();
        if self.stats.arrived > before {
            self.fetch();
            self.decide();
        }
        self.flows.check()
    }

    /// Runs one instant: what frees a resource, then arrivals, then decisions. False once no event
    /// is left that a request waits for.
    #[inline(always)]
    pub(super) fn instant(&mut self) -> bool {
        let arrival = self.flows.next_time();
        self.host.run_to(self.events.next_time().min(arrival), self.events.orders());
        let now = self.next_event().min(arrival);
        if now == Time::NEVER {
            return false;
        }
        if arrival == Time::NEVER && self.host.requests.is_empty() {
            // Only background work is left, for which no request waits.
            return false;
        }
        self.pass(now, arrival);
        true
    }

    /// Returns the error of the workload or the drive so far, if any.
    pub(super) fn check_course(&mut self) -> Result<(), UserError> {
        self.flows.check()?;
        // A worn-out drive halts sooner or later.
        self.pages.ftl.tables.blocks.failing.check()?;
        self.check_goes_on();
        Ok(())
    }

    /// Returns the next instant without arrivals; `NEVER` if there is none.
    #[inline(always)]
    pub(super) fn next_event(&self) -> Time {
        self.events.next_time().min(self.host.next_time())
    }

    /// Returns the next instant, arrivals included.
    pub(super) fn next_instant(&self) -> Time {
        self.next_event().min(self.flows.next_time())
    }

    /// Runs the instant `now`; the next request arrives at `arrival`.
    ///
    /// Compiled once, so that functions with one caller are inlined.
    #[inline(never)]
    pub(super) fn pass(&mut self, now: Time, arrival: Time) {
        debug_assert!(now >= self.now, "time runs back");
        self.now = now;
        if !self.stats.measuring.has_begun() {
            self.look_at_clock();
        }
        if self.is_watched {
            self.begin_instant();
        }
        self.let_happen();
        if self.flows.may_pull() {
            self.pull();
        }
        if arrival == now {
            self.take_arrivals();
        }
        if self.host.may_fetch() {
            self.fetch();
        }
        self.decide();
        if self.is_watched {
            self.end_instant();
        }
    }

    /// Whether observers, a throttle or a checker look at every instant.
    pub(super) fn has_instant_work(&self) -> bool {
        let PageStore { flash, buffer, record, .. } = &self.pages;
        let has_limits = flash.observers().has_thermal() || buffer.throttle.is_some();
        has_limits || self.stats.series.is_some() || record.checker.is_some()
    }

    #[cold]
    fn begin_instant(&mut self) {
        if self.stats.series.is_some() {
            self.stats.series_instant(self.now, self.host.requests.len(), &self.pages.flash);
        }
        if self.pages.flash.observers().has_thermal() {
            self.pages.flash.observers_mut().look_at_temperature(self.now);
        }
    }

    #[cold]
    fn end_instant(&mut self) {
        let throttle = self.pages.buffer.throttle.as_mut();
        if let Some(at) = throttle.and_then(|throttle| throttle.take_wake()) {
            self.events.schedule(at, DriveEvent::BufferOpens);
        }
        // The end of a limit on power that dies wait for.
        if let Some(at) = self.pages.flash.observers_mut().take_thermal_wake() {
            self.events.schedule(at, DriveEvent::LookAtPower);
        }
        if self.pages.record.checker.is_some() {
            self.check_instant(false);
        }
    }

    /// Handles the events of this instant in drive and host link, in order of scheduling.
    #[inline(always)]
    pub(super) fn let_happen(&mut self) {
        loop {
            let comes = self.host.next_time() == self.now;
            if comes && !self.is_event_first() {
                self.receive();
            } else if let Some(event) = self.events.pop_at(self.now) {
                self.handle(event);
            } else {
                return;
            }
        }
    }

    /// Whether an event of the drive precedes the message of this instant.
    #[inline]
    fn is_event_first(&self) -> bool {
        self.events.next_time() == self.now && self.events.next_order() < self.host.next_order()
    }

    fn take_arrivals(&mut self) {
        while self.flows.next_time() == self.now {
            let (request, flow) = self.flows.take(&self.pages.ftl);
            self.arrive(request, flow);
        }
        // A job whose request came at its own time may have another.
        self.pull();
    }

    #[inline(always)]
    pub(super) fn decide(&mut self) {
        if self.pages.flash.stage.is_dispatched() {
            self.pages.dispatch(&mut self.host.requests, self.now);
            self.answer_served();
        }
        self.pages.flash.decide(self.now, &mut self.pages.ftl, &mut self.events);
        if let Some((id, refusal)) = self.pages.flash.refused() {
            self.pages.refused(id, refusal, self.now, self.stats.seed);
        }
    }

    #[inline(always)]
    pub(super) fn handle(&mut self, event: DriveEvent) {
        match event {
            DriveEvent::Flash(event) => {
                self.pages.flash.handle(event, self.now, &mut self.events);
                while let Some(id) = self.pages.flash.next_done() {
                    let requests = &mut self.host.requests;
                    if let Some(page) = self.pages.transaction_done(id, requests, self.now) {
                        self.send_page(page.request, page.lpn);
                        continue;
                    }
                    if self.pages.zones.is_some() {
                        self.settle_zones();
                    }
                    self.answer_served();
                }
            }
            rare => self.handle_rare(rare),
        }
    }

    /// Handles an event of the drive itself.
    #[cold]
    fn handle_rare(&mut self, event: DriveEvent) {
        match event {
            DriveEvent::Flash(_) => unreachable!("events of the flash are not rare"),
            DriveEvent::LookIdle => self.look_idle(),
            // Dies decide at each instant.
            DriveEvent::LookAtPower => {}
            DriveEvent::Scan => self.scan(),
            DriveEvent::BusyWindow(opens) => self.turn_busy(opens == 1),
            DriveEvent::BufferOpens => {
                self.pages.fill_buffer(&mut self.host.requests, self.now);
                self.answer_served();
            }
        }
    }

    /// Whether open requests can complete without periodic events, which would hide a deadlock.
    fn goes_on(&self) -> bool {
        self.host.requests.is_empty() || self.next_instant() != Time::NEVER
    }

    /// Opens or closes a busy window, and schedules when one of several closes or the next opens.
    fn turn_busy(&mut self, is_busy: bool) {
        let PageStore { busy_window, ftl, flash, .. } = &mut self.pages;
        let window = *busy_window;
        ftl.set_busy(is_busy);
        if is_busy {
            flash.dies_mut().wake_all();
        }
        if let Some(window) = window.filter(|_| self.goes_on()) {
            let rest = if is_busy { window.length } else { window.period - window.length };
            self.events.schedule(self.now + rest, DriveEvent::BusyWindow(u32::from(!is_busy)));
        }
    }

    /// Reads the next page of the scan, and schedules the one after it.
    fn scan(&mut self) {
        let goes_on = self.goes_on();
        let PageStore { scan, ftl, flash, .. } = &mut self.pages;
        if let Some(scan) = scan.as_mut().filter(|_| goes_on) {
            self.events.schedule(self.now + scan.interval, DriveEvent::Scan);
            scan.read_next(ftl, flash, self.now);
        }
    }

    /// Sends every dirty page if the drive has been idle for long enough.
    fn look_idle(&mut self) {
        let is_idle = self.host.requests.is_empty();
        let idle_since = is_idle.then_some(self.stats.idle_since);
        let held = self.pages.buffer.held.as_mut().expect("only pages that are held are looked at");
        match held.look(idle_since, self.now) {
            IdleLook::Busy => {}
            IdleLook::Again(due) => self.events.schedule(due, DriveEvent::LookIdle),
            IdleLook::Idle => self.pages.send_all_held(),
        }
    }

    /// Panics if requests are open and no event is left.
    pub(super) fn check_goes_on(&self) {
        let open = self.host.requests.len();
        assert!(
            open == 0 || self.next_instant() != Time::NEVER,
            "at {} nothing is left to happen, but {open} requests are not complete (seed {})",
            self.now,
            self.stats.seed
        );
    }

    /// Starts the measured part if it is due before `now`, of which nothing has run yet.
    #[cold]
    fn look_at_clock(&mut self) {
        let begins = self.stats.measuring.begins_before(self.now, self.stats.arrived);
        if let Some(from) = begins {
            self.measure_from(from);
        }
    }

    /// Handles a request that is about to arrive, which may be the first measured one.
    #[cold]
    pub(super) fn look_at_arrival(&mut self) {
        if self.stats.measuring.begins_with(self.stats.arrived, self.now) {
            self.measure_from(self.now);
        }
        if self.stats.measuring.has_begun() {
            self.stats.measuring.first = self.stats.arrived;
        }
    }

    /// Starts the measured part at `at`: everything before has run, and of that instant at most
    /// what frees resources.
    pub(super) fn measure_from(&mut self, at: Time) {
        let PageStore { flash, ftl, buffer, totals, zones, scan, .. } = &mut self.pages;
        let transactions = self.stats.measuring.earlier_transactions()
            + flash.counts().reads()
            + flash.counts().programs();
        flash.forget_counts(at);
        ftl.tables.map.forget_counts();
        if let Some(slc) = &mut ftl.tables.blocks.slc {
            slc.counts = SlcCounts::default();
        }
        if let Some(cache) = &mut buffer.read_cache {
            cache.counts = ReadCacheCounts::default();
        }
        let Totals { dropped_writes, redistributed_pages, .. } = *totals;
        *totals = Totals::none(dropped_writes.is_some(), redistributed_pages.is_some());
        if let Some(zones) = zones {
            zones.counts = ZoneCounts::default();
        }
        if let Some(scan) = scan {
            scan.counts = ScanCounts::default();
        }
        self.stats.measure_from(at, transactions, self.host.requests.is_empty(), flash);
    }
}

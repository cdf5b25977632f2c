//! Components after the host interface: write buffer, translation layer and flash.
//!
//! It serves requests page by page, and returns those that it has served.

use reprieve_base::Time;
use reprieve_config::{Acknowledge, BusyWindow, PartialWrite, Scenario};
use reprieve_flash::Flash;
use reprieve_flash::power_loss::Journal;
use reprieve_ftl::{Ftl, ZoneTable};
use reprieve_nand::Refusal;
use reprieve_observe::check::Checker;
use reprieve_observe::stats::Totals;
use reprieve_policy::txn::{Kind, LatencyComponents, NONE, Txn};

use super::buffer::WriteBuffer;
use super::interface::HostRequests;
use super::media_scan::MediaScan;
use super::page_layout::PageLayout;
use super::page_record::PageRecord;

/// The pages of the drive in all components.
pub(super) struct PageStore {
    pub(super) buffer: WriteBuffer,
    pub(super) ftl: Ftl,
    pub(super) flash: Flash,
    pub(super) layout: PageLayout,
    pub(super) record: PageRecord,
    pub(super) totals: Totals,
    /// `None` without zones.
    pub(super) zones: Option<Box<ZoneTable>>,
    /// `None` without a media scan.
    pub(super) scan: Option<MediaScan>,
    pub(super) busy_window: Option<BusyWindow>,
    /// Pages served and not completed, in order.
    pub(super) served: Vec<Served>,
    /// The read of an unwritten page reads the flash.
    pub(super) unwritten_costs_read: bool,
    pub(super) partial_write: PartialWrite,
}

/// A page of a read that has its data, or another request that is done; the components of its time
/// have been added to the request.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Served {
    pub(super) request: u32,
    /// `NONE`: all of the request.
    pub(super) lpn: u32,
}

impl PageStore {
    /// Creates the pages of a drive from its tables and flash, with a checker if any.
    pub(super) fn new(
        scenario: &Scenario,
        ftl: Ftl,
        flash: Flash,
        checker: Option<Box<Checker>>,
    ) -> PageStore {
        let may_fail = scenario.power_loss.is_some();
        PageStore {
            buffer: WriteBuffer::new(scenario),
            layout: PageLayout::new(scenario, &ftl),
            ftl,
            flash,
            record: PageRecord {
                journal: may_fail
                    .then(|| Box::new(Journal::new(scenario.mapping_geometry().pages()))),
                checker,
                is_durable: scenario.buffer.acknowledge == Acknowledge::Through,
            },
            totals: Totals::none(scenario.buffer.hold.is_some(), false),
            zones: ZoneTable::of(scenario),
            scan: MediaScan::of(scenario),
            busy_window: scenario.ftl.gc.busy_window,
            served: Vec::with_capacity(1024),
            // Pages beyond a write pointer are unwritten.
            unwritten_costs_read: scenario.host.unwritten_costs_read && scenario.zones.is_none(),
            partial_write: scenario.ftl.partial_write,
        }
    }

    /// Handles a read.
    #[inline(always)]
    pub(super) fn read(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let request = &mut requests[id];
        let (first, last) = (request.first_lpn, request.last_lpn);
        request.pages_left = last - first + 1;
        for lpn in first..=last {
            self.read_page(id, lpn, requests, now);
        }
    }

    /// Accepts a write: a later flush waits for its pages to be in flash.
    #[inline(always)]
    pub(super) fn accept_write(&mut self, id: u32, requests: &mut HostRequests) {
        let request = &mut requests[id];
        let pages = request.last_lpn - request.first_lpn + 1;
        let interval = self.buffer.intervals.begin(pages);
        request.pages_left = pages;
        request.next_lpn = request.first_lpn;
        request.interval = interval;
    }

    /// Handles a trim.
    pub(super) fn trim(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        let (first, last) = (requests[id].first_lpn, requests[id].last_lpn);
        for lpn in first..=last {
            if self.layout.is_whole(&requests[id], lpn) {
                self.trim_page(id, lpn, requests, now);
                self.totals.trimmed_pages += 1;
            } else {
                // The rest of the page may still be wanted.
                self.totals.trims_of_part_of_a_page += 1;
                self.trim_part(id, lpn, requests, now);
            }
        }
        self.write_map_pages(now);
        self.request_served(id, &LatencyComponents::default(), requests);
        self.fill_after_drops(requests, now);
    }

    /// Handles a flush.
    pub(super) fn flush(&mut self, id: u32, requests: &mut HostRequests, now: Time) {
        if let Some(checker) = &mut self.record.checker {
            checker.flush_arrived(requests[id].id);
        }
        if let Some((attribution, _)) = self.flash.attribution() {
            attribution.buffer_begins(id, now);
        }
        if self.buffer.intervals.flush(id) {
            self.send_all_held();
            // After the pages above have been queued: none of them waits for a wordline.
            self.flash.dies_mut().flush();
        } else {
            self.request_served(id, &LatencyComponents::default(), requests);
        }
    }

    /// Completes a request other than a read, after `parts`.
    pub(super) fn request_served(
        &mut self,
        id: u32,
        parts: &LatencyComponents,
        requests: &mut HostRequests,
    ) {
        requests[id].parts = *parts;
        self.served.push(Served { request: id, lpn: NONE });
    }

    /// Has the dispatcher place writes and rewrite pages.
    #[cold]
    pub(super) fn dispatch(&mut self, requests: &mut HostRequests, now: Time) {
        self.flash.dispatch(now, &mut self.ftl);
        while let Some(lpn) = self.flash.stage.next_rewrite() {
            self.rewrite_page(lpn, requests, now);
        }
    }

    /// Whether a die has refused a transaction.
    #[cold]
    pub(super) fn refused(&self, id: u32, refusal: Refusal, now: Time, seed: u64) {
        let txn = &self.flash.txns()[id];
        panic!(
            "at {now} die {} refused {:?} of {:?}: {refusal} (seed {seed})",
            txn.die, txn.kind, txn.at
        );
    }

    /// Completes a transaction that has left its die; returns the page of its read, if any.
    #[inline(always)]
    pub(super) fn transaction_done(
        &mut self,
        id: u32,
        requests: &mut HostRequests,
        now: Time,
    ) -> Option<Served> {
        let Txn { kind, lost, .. } = self.flash.txns()[id];
        if lost {
            self.page_lost(id, requests);
        }
        match kind {
            Kind::HostRead => {
                if let Some(cache) = &mut self.buffer.read_cache {
                    cache.page_read(&self.flash.txns()[id], &self.ftl);
                }
                if let Some(scan) = &mut self.scan {
                    scan.judge(id, &mut self.ftl, &mut self.flash);
                }
                let Txn { request, lpn, ref parts, further_senses, .. } = self.flash.txns()[id];
                let of = &mut requests[request];
                of.parts = *parts;
                of.retries += u32::from(further_senses);
                self.flash.txns_mut().release(id);
                return Some(Served { request, lpn });
            }
            Kind::RmwRead => self.old_page_read(id, requests, now),
            Kind::ScanRead => {
                let scan = self.scan.as_mut().expect("there is a scan");
                scan.page_read(id, &mut self.ftl, &mut self.flash, now);
            }
            Kind::Program => self.page_programmed(id, requests, now),
            Kind::MapRead => self.map_page_read(id, requests, now),
            Kind::MapUpdate => self.map_page_ready(id),
            Kind::MapProgram => self.map_page_programmed(id, requests, now),
            Kind::GcRead | Kind::GcProgram | Kind::GcCopy => self.step_done(id, now),
            Kind::Erase => {
                let page = self.ftl.numbering.page_of(&self.flash.txns()[id]);
                self.step_done(id, now);
                if let Some(zones) = &mut self.zones {
                    zones.block_erased(page / self.ftl.numbering.pages_per_block());
                }
            }
        }
        None
    }

    /// Completes a step of garbage collection.
    #[inline(always)]
    fn step_done(&mut self, id: u32, now: Time) {
        let journaled = self.record.has_journal().then(|| self.flash.txns()[id]);
        let has_failed = self.ftl.finish_step(id, self.flash.txns_mut());
        if let Some(txn) = journaled.filter(|_| !has_failed) {
            self.record.step(&txn, &self.ftl);
        }
        while let Some(die) = self.ftl.next_to_wake() {
            self.flash.dies_mut().wake(die);
        }
        self.write_map_pages(now);
    }
}

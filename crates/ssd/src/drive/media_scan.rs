//! Reads of all data in the background, and the refresh of blocks that read badly.

use reprieve_base::event::Schedule;
use reprieve_base::{Archive, Dur, Time, parts};
use reprieve_config::Scenario;
use reprieve_ftl::Mapping;
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::event::DriveEvent;
use super::event_loop::EventLoop;
use super::page_store::PageStore;

/// Logical pages without data in the flash that one step passes at most.
const SKIPPED_MAX: u32 = 1024;

/// A scan in the order of logical pages, over and over.
#[derive(Clone, Copy, Debug)]
pub(super) struct MediaScan {
    /// Time between two pages.
    interval: Dur,
    pages: u32,
    next_lpn: u32,
    /// When its last page had been read, `NEVER` while it is: the next is read later, so that
    /// others get their turn.
    busy_until: Time,
    /// Retries of a read from which on its block is refreshed.
    refresh_retries: Option<u32>,
    pub(super) counts: ScanCounts,
}

/// Section `media_scan` of the summary.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct ScanCounts {
    scanned_pages: u64,
    refreshed_blocks: u64,
}

impl MediaScan {
    /// Writes what changes in it, or takes that back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.next_lpn, self.busy_until, self.counts);
    }

    /// The scan of a scenario; `None` without one.
    pub(super) fn of(scenario: &Scenario) -> Option<MediaScan> {
        let given = scenario.ftl.scan?;
        let pages = scenario.logical_pages();
        Some(MediaScan {
            interval: Dur::from_ns((given.period.ns() / u64::from(pages)).max(1)),
            pages,
            next_lpn: 0,
            busy_until: Time::ZERO,
            refresh_retries: given.refresh_retries,
            counts: ScanCounts::default(),
        })
    }
}

impl EventLoop {
    /// Schedules the first page of the scan, if there is one.
    pub(super) fn begin_scan(&mut self) {
        if let Some(scan) = &self.pages.scan {
            self.events.schedule(self.now + scan.interval, DriveEvent::Scan);
        }
    }

    /// Reads the next page of the scan unless one is being read, and schedules the one after it.
    pub(super) fn scan(&mut self) {
        // Else nothing that requests wait for would ever happen, and that is not for a scan to hide.
        let goes_on = self.host.requests.is_empty() || self.next_instant() != Time::NEVER;
        if let Some(scan) = self.pages.scan.as_ref().filter(|_| goes_on) {
            self.events.schedule(self.now + scan.interval, DriveEvent::Scan);
            self.pages.scan_next(self.now);
        }
    }
}

impl PageStore {
    /// Reads the next logical page that has its data in the flash.
    fn scan_next(&mut self, now: Time) {
        let scan = self.scan.as_mut().expect("there is a scan");
        if now <= scan.busy_until {
            return;
        }
        for _ in 0..SKIPPED_MAX.min(scan.pages) {
            let lpn = scan.next_lpn;
            scan.next_lpn = (lpn + 1) % scan.pages;
            let Mapping::Flash(page) = self.ftl.tables.map.get(lpn) else { continue };
            let (die, at) = self.ftl.numbering.locate(page);
            let erases_seen = self.ftl.tables.blocks.erases(die, at);
            let txn = Txn { erases_seen, ..Txn::new(Kind::ScanRead, die, at, lpn, NONE, now) };
            let id = self.flash.txns_mut().insert(txn);
            scan.busy_until = Time::NEVER;
            self.flash.enqueue(id);
            return;
        }
    }

    /// A page of the scan has been read.
    pub(super) fn page_scanned(&mut self, id: u32, now: Time) {
        self.refresh(id);
        self.flash.txns_mut().release(id);
        if let Some(scan) = &mut self.scan {
            scan.busy_until = now;
            scan.counts.scanned_pages += 1;
        }
    }

    /// Has the block of a page that was read refreshed if that took too many retries.
    #[cold]
    pub(super) fn refresh(&mut self, id: u32) {
        let txn = self.flash.txns()[id];
        let Some(scan) = &mut self.scan else { return };
        let retries = u32::from(txn.first_retry) + u32::from(txn.further_senses);
        if scan.refresh_retries.is_none_or(|least| retries < least) {
            return;
        }
        // Its page may have been written anew, or moved, since it was sensed.
        let page = self.ftl.numbering.page_of(&txn);
        if self.ftl.tables.blocks.owner(page) != Some(txn.lpn) {
            return;
        }
        if let Some(die) = self.ftl.refresh(page) {
            scan.counts.refreshed_blocks += 1;
            self.flash.dies_mut().wake(die);
        }
    }
}

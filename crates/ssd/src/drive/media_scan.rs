//! Background reads of all data, and refresh of blocks with many errors.

use reprieve_base::{Archive, Dur, Time, parts};
use reprieve_config::Scenario;
use reprieve_flash::Flash;
use reprieve_ftl::{Ftl, Mapping};
use reprieve_policy::txn::{Kind, NONE, Txn};

/// Most logical pages without data in the flash that one step skips.
const SKIPPED_MAX: u32 = 1024;

/// A cyclic scan in the order of logical pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct MediaScan {
    /// Interval between two reads.
    pub(super) interval: Dur,
    pages: u32,
    next_lpn: u32,
    /// End of its last read, `NEVER` during a read: the next one is later, to leave other reads
    /// their turn.
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
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.next_lpn, self.busy_until, self.counts);
    }

    /// Creates the scan of a scenario; `None` without one.
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

    /// Reads the next logical page with data in the flash, unless a read is running.
    pub(super) fn read_next(&mut self, ftl: &Ftl, flash: &mut Flash, now: Time) {
        if now <= self.busy_until {
            return;
        }
        for _ in 0..SKIPPED_MAX.min(self.pages) {
            let lpn = self.next_lpn;
            self.next_lpn = (lpn + 1) % self.pages;
            let Mapping::Flash(page) = ftl.tables.map.get(lpn) else { continue };
            if ftl.tables.is_held(page) {
                continue;
            }
            let (die, at) = ftl.numbering.locate(page);
            let erases_seen = ftl.tables.blocks.erases(die, at);
            let txn = Txn { erases_seen, ..Txn::new(Kind::ScanRead, die, at, lpn, NONE, now) };
            let id = flash.txns_mut().insert(txn);
            self.busy_until = Time::NEVER;
            flash.enqueue(id);
            return;
        }
    }

    /// Completes a read of the scan.
    pub(super) fn page_read(&mut self, id: u32, ftl: &mut Ftl, flash: &mut Flash, now: Time) {
        self.judge(id, ftl, flash);
        flash.txns_mut().release(id);
        self.busy_until = now;
        self.counts.scanned_pages += 1;
    }

    /// Requests the refresh of a block after a read with too many retries.
    pub(super) fn judge(&mut self, id: u32, ftl: &mut Ftl, flash: &mut Flash) {
        let txn = flash.txns()[id];
        let retries = u32::from(txn.first_retry) + u32::from(txn.further_senses);
        if self.refresh_retries.is_none_or(|least| retries < least) {
            return;
        }
        // Its page may have been rewritten or moved since it was sensed.
        let page = ftl.numbering.page_of(&txn);
        if ftl.tables.blocks.owner(page) != Some(txn.lpn) {
            return;
        }
        if let Some(die) = ftl.refresh(page) {
            self.counts.refreshed_blocks += 1;
            flash.dies_mut().wake(die);
        }
    }
}

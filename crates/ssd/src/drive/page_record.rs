//! Records of pages: the journal of a drive whose power may fail, and the checker.

use reprieve_base::{Op, PageAddress, Slab, Time};
use reprieve_flash::Flash;
use reprieve_flash::power_loss::Journal;
use reprieve_ftl::{Ftl, Mapping};
use reprieve_observe::check::{Checker, HeldSectors, Promises};
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::interface::HostRequest;
use super::page_layout::PageLayout;

/// Records of a drive's pages, as far as they are kept.
pub(super) struct PageRecord {
    /// Metadata of pages, where the power may fail.
    pub(super) journal: Option<Box<Journal>>,
    pub(super) checker: Option<Box<Checker>>,
    /// Whether acknowledged data is in flash.
    pub(super) is_durable: bool,
}

impl PageRecord {
    /// Whether there is a journal.
    #[inline(always)]
    pub(super) fn has_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// Returns the sectors that pages hold in the checker's record, if it tracks them.
    pub(super) fn sectors(&mut self) -> Option<&mut HeldSectors> {
        self.checker.as_mut()?.sectors.as_mut()
    }

    /// Passes the contents of flash to the checker before the start.
    pub(super) fn begin_checks(&mut self, flash: &mut Flash, ftl: &Ftl, layout: &PageLayout) {
        let Some(checker) = &mut self.checker else { return };
        flash.keep_record();
        ftl.tables.blocks.for_each(|die, plane, block, pages| {
            checker.starts_with(die, plane, block, pages);
        });
        if ftl.sectors.is_kept() {
            let holds = |lpn, sector| ftl.sectors.holds(lpn, sector);
            let per_page = layout.sectors_per_page();
            checker.sectors =
                Some(HeldSectors::new(ftl.tables.map.logical_pages(), per_page, holds));
        }
    }

    /// Passes a completed request to the checker.
    #[cold]
    pub(super) fn completed(&mut self, request: &HostRequest, now: Time) {
        let pages = match request.op {
            Op::Write | Op::Append => request.last_lpn + 1 - request.first_lpn,
            _ => 0,
        };
        let checker = self.checker.as_mut().expect("the caller has seen it");
        checker.pages_completed(now, request.id, pages);
        checker.request_completed(now, request.id);
    }

    /// Sets the journal to the contents of the pages before the start.
    pub(super) fn begin_journal(&mut self, ftl: &Ftl) {
        let Some(journal) = &mut self.journal else { return };
        ftl.tables.blocks.for_each(|die, plane, block, pages| {
            for page in 0..pages {
                for unit in ftl.numbering.units_at(die, PageAddress { plane, block, page }) {
                    journal.starts_with(unit, ftl.tables.blocks.owner(unit));
                }
            }
        });
        let mappings = || (0..ftl.tables.map.logical_pages()).map(|lpn| ftl.tables.map.get(lpn));
        let trimmed = (0..).zip(mappings()).filter(|(_, held)| *held == Mapping::Trimmed);
        trimmed.for_each(|(lpn, _)| journal.trimmed(lpn));
        if let Some(checker) = &mut self.checker {
            let holds = mappings().map(|mapping| matches!(mapping, Mapping::Flash(_)));
            checker.promises = Some(Promises::new(holds.collect()));
        }
    }

    fn journal(&mut self) -> &mut Journal {
        self.journal.as_mut().expect("the caller has seen it")
    }

    /// Records a page of a write in the buffer: a write-back one saves it before the list of trims,
    /// another may lose it.
    #[cold]
    pub(super) fn accepted(&mut self, lpn: u32) {
        if !self.is_durable {
            self.journal().forget_trim(lpn);
        }
    }

    /// Records a page of a request in the buffer, as transaction `id`.
    #[cold]
    pub(super) fn written(&mut self, id: u32, lpn: u32, request: &HostRequest, now: Time) {
        let is_durable = request.fua || self.is_durable;
        self.in_buffer(id, lpn, Some((request.id, is_durable)), now);
    }

    /// Records a page in the buffer, as transaction `id`: of a request and whether that is
    /// acknowledged once it is in flash, or from before the start.
    pub(super) fn in_buffer(&mut self, id: u32, lpn: u32, request: Option<(u64, bool)>, now: Time) {
        let version = self.journal().accepted(id);
        if let Some(checker) = &mut self.checker {
            checker.page_accepted(now, lpn, version, request);
        }
    }

    /// Records a page that the drive rewrites, as transaction `id`, with its contents.
    #[cold]
    pub(super) fn rewritten(&mut self, id: u32, lpn: u32, now: Time) {
        let version = self.journal().accepted(id);
        if let Some(checker) = &mut self.checker {
            checker.page_rewritten(now, lpn, version);
        }
    }

    /// Records a trim of a page, by the request of this number.
    #[cold]
    pub(super) fn trimmed(&mut self, lpn: u32, number: u64) {
        self.journal().trimmed(lpn);
        if let Some(promises) = self.checker.as_mut().and_then(|it| it.promises.as_mut()) {
            promises.trimmed(lpn, number);
        }
    }

    /// Records a program of a page of the host, or of a mapping in flash, by transaction `id`.
    #[cold]
    pub(super) fn programmed(&mut self, id: u32, txn: &Txn, ftl: &Ftl) {
        self.journal().programmed(ftl.numbering.page_of(txn), txn.lpn, id);
    }

    /// Keeps the page of an overtaken write that is being programmed as transaction `id`, until its
    /// end; false if nothing waits for it, or a newer page is kept.
    #[cold]
    pub(super) fn keep_overtaken(&mut self, id: u32, ftl: &mut Ftl, txns: &mut Slab<Txn>) -> bool {
        let txn = txns[id];
        let Some(newer) = ftl.tables.map.buffered(txn.lpn).filter(|_| txn.stale) else {
            return false;
        };
        let journal = self.journal.as_ref().expect("the caller has seen it");
        let newer = &mut txns[newer];
        let kept = Some(newer.old).filter(|old| *old != NONE).and_then(|old| journal.stamp(old));
        if kept.is_some_and(|kept| kept.version > journal.version(id)) {
            return false;
        }
        ftl.tables.keep_overtaken(&txn, newer);
        true
    }

    /// Records a completed step of garbage collection.
    #[cold]
    pub(super) fn step(&mut self, txn: &Txn, ftl: &Ftl) {
        let page = ftl.numbering.page_of(txn);
        let pages = ftl.numbering.pages_per_block();
        match txn.kind {
            Kind::GcProgram | Kind::GcCopy => self.journal().moved(txn.old, page),
            Kind::Erase => self.journal().erased(page / pages * pages, pages),
            _ => {}
        }
    }
}

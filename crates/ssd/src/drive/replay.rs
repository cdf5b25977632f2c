//! What a drive that is prepared for a loss of power notes as it goes, and how it starts after one.

use reprieve_base::{PageAddress, UserError};
use reprieve_config::Acknowledge;
use reprieve_ftl::Mapping;
use reprieve_observe::check::Promises;
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::Ssd;

impl Ssd {
    /// The pages that a loss of power found in the buffer are in it again, and go to the flash as
    /// the drive starts.
    ///
    /// Errors if there is no room for them.
    pub(super) fn replay(&mut self) -> Result<(), UserError> {
        self.begin_journal();
        self.stats.totals.buffered_at_start = self.preparation.replay.len() as u64;
        for lpn in std::mem::take(&mut self.preparation.replay) {
            let target = self.place_write(lpn).ok_or_else(|| {
                UserError::new(format!(
                    "the state has logical page {lpn} in the write buffer, and no plane has room \
                     for it; ftl.placement must be what it was"
                ))
            })?;
            self.buffer.take();
            let (die, at) = self.at_target(target);
            let mut txn = Txn::new(Kind::Program, die, at, lpn, NONE, self.now);
            txn.target = target;
            txn.interval = self.buffer.intervals.begin(1);
            let id = self.flash.txns.insert(txn);
            self.ftl.accept_write(lpn, id, &mut self.flash.txns);
            if !self.ftl.holds_any_sector(lpn) {
                self.page_written(lpn);
            }
            if self.power.journal.is_some() {
                self.journal_accepted(lpn);
                self.journal_page(id, lpn, None);
            }
            self.page_complete(id);
        }
        // What a recovery has found stale of a mapping in flash.
        self.write_map_pages();
        Ok(())
    }

    /// The drive is about to start: what its pages hold is known.
    fn begin_journal(&mut self) {
        let Some(journal) = &mut self.power.journal else { return };
        let ftl = &self.ftl;
        ftl.for_each_block(|die, plane, block, pages| {
            for page in 0..pages {
                let page = ftl.page_number(die, PageAddress { plane, block, page });
                journal.starts_with(page, ftl.owner(page));
            }
        });
        let mappings = || (0..ftl.logical_pages()).map(|lpn| ftl.lookup(lpn));
        let trimmed = (0..).zip(mappings()).filter(|(_, held)| *held == Mapping::Trimmed);
        trimmed.for_each(|(lpn, _)| journal.trimmed(lpn));
        if let Some(checker) = &mut self.checker {
            let holds = mappings().map(|mapping| matches!(mapping, Mapping::Flash(_)));
            checker.promises = Some(Promises::new(holds.collect()));
        }
    }

    /// A page of a write is in the buffer: a write-back one saves it before the list of trims, any
    /// other may lose it.
    #[cold]
    pub(super) fn journal_accepted(&mut self, lpn: u32) {
        let journal = self.power.journal.as_mut().expect("the caller has seen it");
        if self.buffer.acknowledge != Acknowledge::Through {
            journal.forget_trim(lpn);
        }
    }

    /// A page of a request is in the buffer, as transaction `id`.
    #[cold]
    pub(super) fn journal_write(&mut self, id: u32, lpn: u32, request: u32) {
        let request = &self.host.requests[request];
        let is_durable = request.fua || self.buffer.acknowledge == Acknowledge::Through;
        self.journal_page(id, lpn, Some((request.id, is_durable)));
    }

    /// The drive writes a page anew, as transaction `id`, with what it holds.
    #[cold]
    pub(super) fn journal_rewrite(&mut self, id: u32, lpn: u32) {
        let journal = self.power.journal.as_mut().expect("the caller has seen it");
        let version = journal.accepted(id);
        if let Some(checker) = &mut self.checker {
            checker.page_rewritten(self.now, lpn, version);
        }
    }

    fn journal_page(&mut self, id: u32, lpn: u32, request: Option<(u64, bool)>) {
        let journal = self.power.journal.as_mut().expect("the caller has seen it");
        let version = journal.accepted(id);
        if let Some(checker) = &mut self.checker {
            checker.page_accepted(self.now, lpn, version, request);
        }
    }

    /// A page is trimmed.
    #[cold]
    pub(super) fn journal_trim(&mut self, lpn: u32, request: u64) {
        let journal = self.power.journal.as_mut().expect("the caller has seen it");
        journal.trimmed(lpn);
        if let Some(promises) = self.checker.as_mut().and_then(|it| it.promises.as_mut()) {
            promises.trimmed(lpn, request);
        }
    }

    /// A page of the host, or of a mapping in flash, is programmed.
    #[cold]
    pub(super) fn journal_program(&mut self, id: u32) {
        let txn = &self.flash.txns[id];
        let page = self.ftl.page_number(txn.die, txn.at);
        let journal = self.power.journal.as_mut().expect("the caller has seen it");
        journal.programmed(page, txn.lpn, id);
    }

    /// A step of garbage collection is complete.
    #[cold]
    pub(super) fn journal_step(&mut self, txn: &Txn) {
        let page = self.ftl.page_number(txn.die, txn.at);
        let pages = self.ftl.pages_per_block();
        let journal = self.power.journal.as_mut().expect("the caller has seen it");
        match txn.kind {
            Kind::GcProgram | Kind::GcCopy => journal.moved(txn.old, page),
            Kind::Erase => journal.erased(page / pages * pages, pages),
            _ => {}
        }
    }
}

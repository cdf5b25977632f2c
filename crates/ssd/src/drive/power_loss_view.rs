//! Effects of a loss of power: data that is saved, data that is lost, and the result of a recovery.

use std::collections::{BTreeMap, BTreeSet};

use reprieve_base::{PageAddress, Time};
use reprieve_config::{LossPolicy, PowerLoss, Scenario};
use reprieve_flash::power_loss::{
    CutDie, DieScan, Journal, PowerLossFlush, Powers, RecoveredPages, RecoveryTime, Stamp,
    flush_on_power_loss, recovery_time,
};
use reprieve_flash::{Aftermath, Flash};
use reprieve_ftl::{Ftl, Mapping};
use reprieve_observe::check::{Checker, Content, Promise};
use reprieve_policy::txn::Kind;
use reprieve_state::State;
use serde_json::{Value, json};

use super::replay::DIRTY;

/// Bytes of an entry in a list of trimmed pages: a logical page.
const TRIM_BYTES: u64 = 4;

/// Course of a power failure.
#[derive(Clone, Debug)]
pub struct Cut {
    /// When the power failed.
    pub at: Time,
    /// Treatment of running operations.
    pub policy: LossPolicy,
    /// Logical pages whose newest data was in a write-back buffer and not in flash.
    pub dirty_pages: u64,
    /// Pages to be saved separately, as their programs did not end, in order of acceptance.
    pub dump: Vec<u32>,
    /// Pages that hold the list of trimmed pages, which is saved last.
    pub table_pages: u64,
    /// How the flush went.
    pub flush: PowerLossFlush,
    dies: Vec<CutDie>,
}

/// Result of a recovery.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// The newest page of each logical page in flash.
    pub found: RecoveredPages,
    /// Logical pages that were saved, and are in the write buffer again.
    pub saved: Vec<u32>,
    /// Whether trimmed pages are known.
    pub knows_trims: bool,
    /// Blocks of the translation layer whose erase had started, counted over the drive.
    pub erased: Vec<u32>,
    /// Pages, counted over the drive, whose programs ended after the power failure.
    pub programmed: Vec<u32>,
}

/// A drive between two instants, at a power failure.
#[derive(Clone, Copy)]
pub struct PowerLossView<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) loss: &'a PowerLoss,
    pub(super) ftl: &'a Ftl,
    pub(super) flash: &'a Flash,
    pub(super) journal: &'a Journal,
    /// Whether acknowledged data is in flash.
    pub(super) is_durable: bool,
    pub(super) checker: Option<&'a Checker>,
    pub(super) now: Time,
    /// The next instant.
    pub(super) next: Time,
}

impl PowerLossView<'_> {
    /// Returns the state of the drive if its power failed at `at`, before the next instant; the run
    /// may continue unaffected.
    pub fn cut(&self, at: Time, policy: LossPolicy) -> Cut {
        assert!(at < self.next, "an instant has been left out");
        let loss = self.loss;
        let powers = Powers::of(self.scenario);
        let dies = self.flash.dies().cut(at, policy, loss, &powers);
        let dirty = self.dirty();
        let ending: BTreeMap<u32, Time> =
            dies.iter().flat_map(|die| die.ends.iter().copied()).collect();
        let awaited = dirty.iter().filter_map(|id| ending.get(id)).max();
        let awaited = awaited.copied().unwrap_or(at);
        let mut dump: Vec<u32> =
            dirty.iter().copied().filter(|id| !ending.contains_key(id)).collect();
        dump.sort_by_key(|id| self.journal.version(*id));
        let table_pages = self.table_pages();
        let flush = flush_on_power_loss(
            (at, awaited),
            dump.len() as u64 + table_pages,
            &dies,
            self.scenario,
            (loss, &powers),
        );
        Cut {
            at,
            policy,
            dirty_pages: dirty.len() as u64,
            dump: dump.into_iter().map(|id| self.flash.txns()[id].lpn).collect(),
            table_pages,
            flush,
            dies,
        }
    }

    /// Returns the logical pages whose newest write is in a write-back buffer; in any other,
    /// nothing is acknowledged before it is in flash.
    ///
    /// Includes writes with forced unit access, as an acknowledged one may have merged with it.
    fn dirty(&self) -> BTreeSet<u32> {
        if self.is_durable {
            return BTreeSet::new();
        }
        let writes = self.flash.txns().iter();
        let writes = writes.filter(|(_, txn)| matches!(txn.kind, Kind::Program | Kind::RmwRead));
        writes.filter(|(_, txn)| !txn.stale).map(|(id, _)| id).collect()
    }

    /// Returns the pages of the list of trimmed pages, or of a bitmap, whichever is shorter.
    fn table_pages(&self) -> u64 {
        let bitmap = u64::from(self.ftl.tables.map.logical_pages()).div_ceil(8);
        let list = self.journal.trimmed_pages() * TRIM_BYTES;
        list.min(bitmap).div_ceil(u64::from(self.scenario.mapping_bytes()))
    }

    /// Returns the result of a recovery, from the metadata of every programmed page.
    pub fn recover(&self, cut: &Cut) -> Recovered {
        let mut found = RecoveredPages::new(self.ftl.tables.map.all_pages());
        self.read_all(cut, |page, stamp| found.read(page, stamp));
        let (finished, erased, _) = self.finish(cut);
        let saved = (cut.flush.saved_pages as usize).min(cut.dump.len());
        Recovered {
            found,
            saved: cut.dump[..saved].to_vec(),
            knows_trims: self.keeps_trims(cut),
            erased,
            programmed: finished.into_keys().collect(),
        }
    }

    /// Passes every page that was programmed or started, counted over the drive, with its readable
    /// metadata.
    pub fn read_all(&self, cut: &Cut, mut say: impl FnMut(u32, Option<Stamp>)) {
        let (finished, ..) = self.finish(cut);
        self.each_programmed(|die, plane, block, pages| {
            for page in 0..pages {
                for unit in self.ftl.numbering.units_at(die, PageAddress { plane, block, page }) {
                    say(unit, finished.get(&unit).copied().or_else(|| self.journal.stamp(unit)));
                }
            }
        });
    }

    /// Whether trimmed pages are known after a recovery.
    fn keeps_trims(&self, cut: &Cut) -> bool {
        let whole = cut.dump.len() as u64 + cut.table_pages;
        self.loss.is_protected() && cut.flush.saved_pages == whole
    }

    /// Returns the pages that a recovery reads.
    fn scanned_pages(&self) -> u64 {
        let mut pages = 0;
        self.each_programmed(|_, _, _, programmed| pages += u64::from(programmed));
        pages
    }

    fn recovery_time(&self, cut: &Cut, erased_again: &[u32]) -> RecoveryTime {
        let (geometry, timing) = (&self.scenario.geometry, &self.scenario.timing);
        let mut sense_ns = vec![0];
        for page in 0..geometry.pages_per_block {
            sense_ns.push(sense_ns[page as usize] + timing.read_of(page).ns());
        }
        let mut dies = vec![DieScan::default(); geometry.dies() as usize];
        self.each_programmed(|die, _, _, pages| {
            let die = &mut dies[die as usize];
            die.pages += u64::from(pages);
            die.sense_ns += sense_ns[pages as usize];
        });
        for (die, saved) in dies.iter_mut().zip(&cut.flush.saved_by_die) {
            die.saved_pages = saved.div_ceil(self.scenario.units_per_page().into());
        }
        for block in erased_again {
            let first = block * self.ftl.numbering.pages_per_block();
            let (die, at) = self.ftl.numbering.locate(first);
            dies[die as usize].erase_ns += self.flash.dies().undisturbed_erase(die, at).ns();
        }
        recovery_time(&dies, geometry, timing, self.loss.oob_bytes)
    }

    /// Passes every block, by die, plane and number, with the pages programmed or started.
    fn each_programmed(&self, mut say: impl FnMut(u32, u32, u32, u32)) {
        let geometry = &self.scenario.geometry;
        for die in 0..geometry.dies() {
            for plane in 0..geometry.planes_per_die {
                for block in 0..geometry.blocks_per_plane {
                    // Bad blocks are in a table, and not read.
                    if !self.ftl.tables.blocks.is_bad(die, PageAddress { plane, block, page: 0 }) {
                        say(die, plane, block, self.flash.dies().programmed(die, plane, block));
                    }
                }
            }
        }
    }

    /// Returns the operations that still ended: metadata of programs, blocks of the mapping whose
    /// erase had started, and those of them whose erase did not end.
    fn finish(&self, cut: &Cut) -> (BTreeMap<u32, Stamp>, Vec<u32>, Vec<u32>) {
        let ends = cut.dies.iter().flat_map(|die| &die.ends);
        let ended: BTreeSet<u32> =
            ends.filter(|(_, end)| *end <= cut.flush.halt).map(|(id, _)| *id).collect();
        let mut finished = BTreeMap::new();
        for id in &ended {
            let txn = &self.flash.txns()[*id];
            let page = self.ftl.numbering.page_of(txn);
            match txn.kind {
                Kind::Program | Kind::MapProgram => {
                    let version = self.journal.version(*id);
                    finished.insert(page, Stamp::of_write(txn.lpn, version));
                }
                Kind::GcProgram | Kind::GcCopy => {
                    finished.insert(page, self.journal.copy_of(txn.old));
                }
                _ => {}
            }
        }
        let pages_per_block = self.ftl.numbering.pages_per_block();
        let (mut erased, mut again) = (Vec::new(), Vec::new());
        for (id, txn) in self.flash.txns().iter().filter(|(_, txn)| txn.kind == Kind::Erase) {
            let block = self.ftl.numbering.page(txn.die, txn.at) / pages_per_block;
            // The blocks of a superblock are erased at once, a transaction each, and count as one.
            if erased.contains(&block) {
                continue;
            }
            erased.push(block);
            if !ended.contains(&id) {
                again.push(block);
            }
        }
        (finished, erased, again)
    }

    /// Checks the result of a recovery against the promises to the host, if that is checked.
    pub fn check_cut(&self, cut: &Cut, recovered: &Recovered) {
        let Some(checker) = self.checker else { return };
        let Some(promises) = &checker.promises else { return };
        let whole = recovered.knows_trims && cut.flush.halt == cut.flush.safe;
        let promise = if whole { Promise::Acknowledged } else { Promise::Durable };
        if let Err(what) = self.verify_found(cut, &recovered.found) {
            checker.fail(cut.at, "the recovery", &what);
        }
        let contents = self.contents(recovered);
        if let Err(what) = promises.verify(promise, |lpn| contents[lpn as usize]) {
            checker.fail(cut.at, "the recovery", &what);
        }
    }

    /// The recovered place of a page with its newest data in flash is that of the mapping, unless
    /// garbage collection was moving it.
    fn verify_found(&self, cut: &Cut, found: &RecoveredPages) -> Result<(), String> {
        for lpn in 0..self.ftl.tables.map.all_pages() {
            let Mapping::Flash(mapped) = self.ftl.tables.map.get(lpn) else { continue };
            let page = found.page(lpn);
            let moved = cut.flush.halt > cut.at
                && found.version(lpn) == self.journal.stamp(mapped).map(|stamp| stamp.version);
            if page != Some(mapped) && !moved {
                return Err(format!(
                    "logical page {lpn} is found in page {page:?}, and it was mapped to {mapped}"
                ));
            }
        }
        Ok(())
    }

    /// Returns the contents of each logical page after a recovery.
    pub(crate) fn contents(&self, recovered: &Recovered) -> Vec<Content> {
        let page = |lpn: u32| match recovered.found.version(lpn) {
            _ if self.is_trimmed(recovered, lpn) => Content::Nothing,
            Some(version) => Content::Version(version),
            None => Content::Nothing,
        };
        let mut contents: Vec<Content> =
            (0..self.ftl.tables.map.logical_pages()).map(page).collect();
        for lpn in &recovered.saved {
            let Mapping::Buffered(id) = self.ftl.tables.map.get(*lpn) else {
                panic!("logical page {lpn} was saved and is not in the buffer")
            };
            contents[*lpn as usize] = Content::Version(self.journal.version(id));
        }
        contents
    }

    /// Whether the recovered version of a logical page was trimmed, as far as trims are known.
    fn is_trimmed(&self, recovered: &Recovered, lpn: u32) -> bool {
        let version = recovered.found.version(lpn);
        recovered.knows_trims && self.journal.is_trimmed(lpn, version)
    }

    /// Returns the state of the drive after a recovery.
    pub(super) fn state_after(&self, recovered: &Recovered) -> State {
        let mut state = State::default();
        let trimmed = |lpn| self.is_trimmed(recovered, lpn);
        let page = |lpn| recovered.found.page(lpn);
        self.ftl.salvage(&mut state, page, trimmed, &recovered.erased);
        if let Some(media) = self.flash.media() {
            media.save(&mut state, self.now, &self.aftermath(recovered));
        }
        state.put(DIRTY, recovered.saved.clone());
        state
    }

    fn aftermath(&self, recovered: &Recovered) -> Aftermath {
        let pages = self.ftl.numbering.pages_per_block();
        let erased = recovered.erased.iter().flat_map(|block| block * pages..(block + 1) * pages);
        let locate = |page| self.ftl.numbering.locate(page);
        Aftermath {
            programmed: recovered.programmed.iter().copied().map(locate).collect(),
            erased: erased.map(locate).collect(),
        }
    }

    /// Returns the power failure and its recovery for the summary.
    pub(super) fn summary(&self, cut: &Cut) -> Value {
        let recovered = self.recover(cut);
        let mut told = self.tell_cut(cut);
        told["recovery"]["unreadable_pages"] = recovered.found.unreadable_pages.into();
        told["recovery"]["mapped_pages"] =
            recovered.found.pages_below(self.ftl.tables.map.logical_pages()).into();
        told
    }

    /// Returns the effects of a loss of power at `at`, before the next instant, by each policy that
    /// the part knows.
    pub fn tell_cuts(&self, at: Time) -> Value {
        let policies = LossPolicy::ALL.into_iter();
        let possible = policies.filter(|policy| policy.is_possible(self.scenario));
        possible.map(|policy| self.tell_cut(&self.cut(at, policy))).collect()
    }

    fn tell_cut(&self, cut: &Cut) -> Value {
        let (loss, flush) = (self.loss, &cut.flush);
        let (finished, _, erased_again) = self.finish(cut);
        let dirty = self.dirty();
        let in_place = dirty.iter().filter(|id| {
            let txn = &self.flash.txns()[**id];
            txn.start != Time::NEVER
                && txn.kind == Kind::Program
                && finished.contains_key(&self.ftl.numbering.page_of(txn))
        });
        let in_place = in_place.count() as u64;
        let dumped = flush.saved_pages.min(cut.dump.len() as u64);
        let count = |is: fn(&CutDie) -> bool| cut.dies.iter().filter(|die| is(die)).count();
        let times = self.recovery_time(cut, &erased_again);
        let planes_of_block = self.ftl.numbering.planes_of_block();
        let ns = [times.scan, times.load, times.erase].map(|step| step.ns());
        json!({
            "at_ns": cut.at.ns(),
            "policy": cut.policy.name(),
            "time_to_safety_ns": (flush.safe - cut.at).ns(),
            "energy_uj": flush.energy_fj as f64 / 1e9,
            "capacitance_uf": loss.capacitance_uf(flush.energy_fj),
            "lived_on_ns": (flush.halt - cut.at).ns(),
            "dirty_pages": cut.dirty_pages,
            "programmed_pages": in_place,
            "saved_pages": dumped,
            "lost_pages": cut.dirty_pages - in_place - dumped,
            "trimmed_pages": self.journal.trimmed_pages(),
            "trim_table_pages": cut.table_pages,
            "trims_kept": self.keeps_trims(cut),
            "stopped_programs": count(|die| die.stopped_program),
            "stopped_erases": count(|die| die.stopped_erase),
            "recovery": {
                "total_ns": ns.iter().sum::<u64>(),
                "scan_ns": ns[0],
                "load_ns": ns[1],
                "erase_ns": ns[2],
                "scanned_pages": self.scanned_pages(),
                "erased_again_blocks": erased_again.len() as u64 * planes_of_block,
            },
        })
    }
}

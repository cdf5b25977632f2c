//! Places of logical pages and owners of physical ones: two tables that agree.

use std::sync::Arc;

use reprieve_base::{Archive, PageAddress, Slab, UserError};
use reprieve_config::Scenario;
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::txn::{Kind, NONE, Txn};

use super::blocks::Blocks;
use super::map::{Map, Mapping};
use super::page_names::Names;
use super::two_pass::TwoPass;

/// Entries looked at together by [`PageTables::touch`]: about as many misses as a core has in
/// flight.
const TOUCH_CHUNK: usize = 16;

/// The mapping, and the blocks with the owners of their pages: a logical page that is in flash, or
/// whose old version is, owns that page, and no page has another owner.
pub struct PageTables {
    /// Where the data of each logical page is.
    pub map: Map,
    /// Contents of blocks.
    pub blocks: Blocks,
    /// Where wordlines are programmed twice.
    pub two_pass: Option<Box<TwoPass>>,
}

impl PageTables {
    /// Those of a scenario's drive with nothing written.
    ///
    /// Errors if they do not fit into memory.
    pub(super) fn new(scenario: &Scenario) -> Result<PageTables, UserError> {
        let map = Map::new(scenario)?;
        let blocks = Blocks::new(scenario, map.all_pages())?;
        Ok(PageTables { map, blocks, two_pass: TwoPass::of(scenario) })
    }

    /// Brings the table entries of logical pages into the caches, with their misses overlapping.
    pub fn touch(&self, lpns: &[u32]) {
        let mut sum = 0;
        for chunk in lpns.chunks(TOUCH_CHUNK) {
            let mut mappings = [Mapping::Unwritten; TOUCH_CHUNK];
            for (mapping, lpn) in mappings.iter_mut().zip(chunk) {
                // A request past the end is reported when it arrives.
                if *lpn < self.map.logical_pages() {
                    *mapping = Mapping::decode(self.map.peek(*lpn));
                }
            }
            if self.map.prepared().is_some() {
                self.map.touch_prepared(chunk, &mut mappings);
            }
            for mapping in mappings {
                if let Mapping::Flash(page) = mapping {
                    let block = self.blocks.numbering.block_of(page);
                    sum ^=
                        self.blocks.owners.peek(page).unwrap_or(0) ^ self.blocks.index.valid(block);
                }
            }
        }
        std::hint::black_box(sum);
    }

    /// Brings the mapping of a victim's valid pages into the caches, with the misses overlapping.
    pub(super) fn touch_owners(&mut self, victim: u32) {
        let pages = self.blocks.numbering.pages_of(victim);
        self.blocks.owners.note(pages.clone());
        let owners = pages.filter_map(|page| self.blocks.owners.peek(page));
        std::hint::black_box(owners.fold(0, |sum, lpn| sum ^ self.map.peek(lpn)));
    }

    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        let mut prepared = self.map.prepared().cloned();
        archive.part(&mut prepared);
        if let Some(mut prepared) = prepared {
            prepared.archive(archive, self.blocks.planes.len());
            if archive.is_loading() {
                self.start_with(prepared);
            }
        }
        self.map.archive(archive);
        self.blocks.archive(archive);
        self.two_pass.iter_mut().for_each(|two_pass| two_pass.archive(archive));
    }

    /// Whether the controller has a page, counted over the drive, until its second program.
    #[inline(always)]
    pub fn is_held(&self, page: u32) -> bool {
        self.two_pass.as_ref().is_some_and(|two_pass| two_pass.holds(page))
    }

    /// Forgets memory for entries that nobody has changed, if most are such.
    pub(super) fn thin_out(&mut self) {
        self.map.physical.thin_out();
        self.blocks.owners.table.thin_out();
    }

    /// Keeps little memory for longer: the drive is one of many.
    pub fn expect_many(&mut self) {
        self.map.physical.expect_many();
        self.blocks.owners.table.expect_many();
    }

    /// Pages that nobody has changed hold what they were prepared with.
    pub(super) fn start_with(&mut self, prepared: Names) {
        let prepared = Arc::new(prepared);
        self.map.start_with(Arc::clone(&prepared));
        self.blocks.owners.start_with(prepared);
    }

    /// Where a read finds its page now that something was erased in its plane.
    #[cold]
    pub(super) fn located_anew(&self, txn: &Txn) -> PageAddress {
        let page = match (txn.kind, self.map.get(txn.lpn)) {
            (Kind::RmwRead | Kind::MapUpdate, _) if txn.old != NONE => txn.old,
            (Kind::HostRead | Kind::ScanRead | Kind::MapRead, Mapping::Flash(page)) => page,
            // Overwritten or trimmed since it was queued: it reads the old copy.
            _ => return txn.at,
        };
        let (die, at) = self.blocks.numbering.locate(page);
        let superblocks = self.blocks.numbering.superblocks;
        let is_there = die == txn.die && (at.plane == txn.at.plane || superblocks.exist());
        if is_there { at } else { txn.at }
    }

    /// The page of a write that another has overtaken is programmed, and its data acknowledged: it
    /// takes the place of the version that is kept until the newer write is done.
    #[cold]
    pub fn keep_overtaken(&mut self, txn: &Txn, newer: &mut Txn) {
        if newer.old != NONE {
            self.blocks.discard(newer.old);
        }
        newer.old = self.blocks.numbering.page_of(txn);
        self.blocks.validate(newer.old, txn.lpn);
    }

    /// The page of a host write is programmed, or dropped.
    #[inline(always)]
    pub fn finish_write(&mut self, txn: &Txn) {
        if usize::from(txn.front) == SLC_FRONT {
            self.cached(txn);
        }
        if txn.stale {
            let plane = self.blocks.numbering.plane(txn.die, txn.at);
            self.blocks.planes[plane as usize].committed -= 1;
            return;
        }
        if txn.old != NONE {
            self.blocks.discard(txn.old);
        }
        let page = self.blocks.numbering.page_of(txn);
        self.map.set(txn.lpn, Mapping::Flash(page));
        self.blocks.validate(page, txn.lpn);
    }

    /// The page of a host write is programmed in a block in SLC mode.
    #[cold]
    fn cached(&mut self, txn: &Txn) {
        let plane = self.blocks.numbering.plane(txn.die, txn.at);
        let slc = self.blocks.slc.as_ref().expect("only then is anything cached");
        if slc.programmed(&mut self.blocks.planes[plane as usize]) {
            self.blocks.needs.forget(plane);
        }
    }

    /// The data of `source` is in `target` as well, and from now on only there.
    pub(super) fn relocate(&mut self, source: u32, target: u32, lpn: u32, txns: &mut Slab<Txn>) {
        if let Some(two_pass) = &mut self.two_pass {
            two_pass.programmed(target, false);
        }
        if self.blocks.owner(source) != Some(lpn) {
            // Overwritten meanwhile: the copy is dead on arrival.
            return;
        }
        match self.map.buffered(lpn) {
            // The data is the old version under a write that is still there.
            Some(id) => txns[id].old = target,
            None => self.map.set_moved(lpn, target),
        }
        self.blocks.invalidate(source);
        self.blocks.validate(target, lpn);
    }

    /// A logical page is at once in a physical one, and no more where it was.
    pub(super) fn put(&mut self, lpn: u32, page: u32) {
        if let Mapping::Flash(old) = self.map.get(lpn) {
            self.blocks.discard(old);
        }
        self.map.set(lpn, Mapping::Flash(page));
        self.blocks.validate(page, lpn);
    }

    /// Moves a page within its plane, for which its room stays taken.
    pub(super) fn move_now(&mut self, lpn: u32, source: u32, target: u32) {
        self.blocks.invalidate(source);
        self.blocks.validate(target, lpn);
        self.map.set(lpn, Mapping::Flash(target));
    }

    /// A logical page is trimmed at once.
    pub(super) fn trim_now(&mut self, lpn: u32) {
        if let Mapping::Flash(old) = self.map.get(lpn) {
            self.blocks.discard(old);
        }
        self.map.set(lpn, Mapping::Trimmed);
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Time;

    use super::*;
    use crate::tests::drive;

    #[test]
    fn what_was_overwritten_on_its_way_is_not_moved() {
        let mut tables = PageTables::new(&drive(1, &[])).expect("a drive that fits into memory");
        let mut txns: Slab<Txn> = Slab::with_capacity(1);
        tables.blocks.planes[0].committed = 1;
        tables.put(3, 0);
        tables.relocate(0, 1, 3, &mut txns);
        let owners = |tables: &PageTables| [0, 1, 2, 4, 5].map(|page| tables.blocks.owner(page));
        assert_eq!(tables.map.get(3), Mapping::Flash(1));
        assert_eq!(owners(&tables), [None, Some(3), None, None, None]);
        // The host writes it to page 2, while page 1 is on its way to page 4.
        tables.blocks.planes[0].committed += 1;
        tables.put(3, 2);
        tables.relocate(1, 4, 3, &mut txns);
        assert_eq!(tables.map.get(3), Mapping::Flash(2));
        assert_eq!(owners(&tables), [None, None, Some(3), None, None]);
        // A newer version is in the buffer: page 2 is the old one below it, and that moves.
        let at = PageAddress { plane: 0, block: 0, page: 0 };
        let id = txns.insert(Txn::new(Kind::Program, 0, at, 3, NONE, Time::ZERO));
        txns[id].old = 2;
        tables.map.set(3, Mapping::Buffered(id));
        tables.relocate(2, 5, 3, &mut txns);
        assert_eq!((tables.map.get(3), txns[id].old), (Mapping::Buffered(id), 5));
        assert_eq!(owners(&tables), [None, None, None, None, Some(3)]);
        assert_eq!(tables.blocks.planes[0].committed, 1, "one page has data, whatever moved");
    }
}

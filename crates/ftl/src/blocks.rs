//! Blocks of the drive: their roles, valid pages, and the allocation of pages.

use reprieve_base::{Archive, PageAddress, Rare, UserError, parts};
use reprieve_config::Scenario;
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::victim::{self, VictimPolicy};

use super::block_index::BlockIndex;
use super::faults::Failing;
use super::needed_blocks;
use super::needs::Needs;
use super::numbering::Numbering;
use super::owners::Owners;
use super::plane::{Allocated, Plane, Victim};
use super::slc_folding::SlcCache;
use super::slc_plane::SlcPlane;
use super::wear::WearTable;
use super::write_frontiers::WriteFrontiers;

/// Every block is exactly one of: free, open, full, a victim, failed, or bad; and its count of
/// valid pages equals its pages with owners.
pub struct Blocks {
    pub(super) numbering: Numbering,
    pub(super) planes: Vec<Plane>,
    pub(super) owners: Owners,
    pub(super) index: BlockIndex,
    /// For each full block, the number of its plane's blocks filled before it.
    pub(super) fill_order: Vec<u32>,
    /// Erases started in each plane, by which queued reads detect that their address may be stale.
    pub(super) erases: Vec<u32>,
    pub(super) victim: Box<dyn VictimPolicy>,
    pub(super) needs: Needs,
    /// Free blocks of a plane that are reserved for garbage collection.
    pub(super) reserve_blocks: u32,
    pub(super) fronts: WriteFrontiers,
    /// Blocks in SLC mode.
    pub slc: Option<SlcCache>,
    /// Erase counts.
    pub wear: WearTable,
    /// Failures, and bad blocks.
    pub failing: Failing,
}

impl Blocks {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.owners.archive(archive);
        self.victim.archive(archive);
        self.fronts.archive(archive);
        parts!(archive; self.planes, self.index, self.fill_order, self.erases, self.needs);
        archive.part(&mut self.wear);
        self.slc.iter_mut().for_each(|slc| slc.archive(archive));
        self.failing.archive(archive);
    }

    /// Creates the blocks of a scenario's drive, all free but for bad ones.
    ///
    /// Errors if memory is short.
    pub(super) fn new(scenario: &Scenario, pages: u32) -> Result<Blocks, UserError> {
        let numbering = Numbering::of(scenario);
        let geometry = numbering.geometry;
        let physical = u32::try_from(geometry.pages()).expect("the scenario limits the units");
        let fronts = WriteFrontiers::new(scenario);
        let together = scenario.units_together();
        let blocks = geometry.blocks_per_plane;
        let slc = SlcCache::of(scenario);
        let slc_plane = Rare::only_if(slc.is_some(), || SlcPlane::new(scenario));
        let plane = Plane::new(scenario.ftl.wear.least_worn_first, blocks, together, slc_plane);
        let needed_blocks = needed_blocks::needed_blocks(scenario, pages, &fronts);
        let mut blocks = Blocks {
            numbering,
            planes: vec![plane; geometry.planes() as usize],
            owners: Owners::new(physical)?,
            index: BlockIndex::new(geometry.planes(), blocks, geometry.pages_per_block),
            fill_order: vec![0; geometry.blocks() as usize],
            erases: vec![0; geometry.planes() as usize],
            victim: victim::make(scenario, geometry),
            needs: Needs::new(&geometry),
            reserve_blocks: scenario.ftl.gc_hard_free_blocks,
            fronts,
            slc,
            wear: WearTable::new(geometry.blocks(), &scenario.ftl.wear),
            failing: Failing::new(scenario, needed_blocks),
        };
        let margins = scenario.collection_margins();
        let open_blocks = blocks.fronts.count();
        assert_eq!(margins.further_open_blocks + 1, open_blocks, "open blocks are miscounted");
        blocks.free_good_blocks(scenario);
        Ok(blocks)
    }

    /// Draws the factory bad blocks and frees the others.
    ///
    /// Panics if a plane has too few: the scenario was not checked.
    fn free_good_blocks(&mut self, scenario: &Scenario) {
        for number in 0..self.numbering.geometry.planes() {
            let plane = &mut self.planes[number as usize];
            let bad = needed_blocks::bad_blocks(scenario, number);
            for (own, (block, is_bad)) in (0..).zip(self.numbering.blocks_of(number).zip(bad)) {
                match is_bad {
                    true => self.failing.add_bad_from_factory(block),
                    false => plane.add_free(own, 0),
                }
            }
            plane.good_blocks = plane.free_blocks();
            let good = plane.good_blocks;
            assert!(self.failing.is_enough(good), "plane {number} has {good} good blocks");
        }
    }

    /// Returns the logical page whose valid data a page, counted over the drive, holds.
    #[inline]
    pub fn owner(&self, page: u32) -> Option<u32> {
        self.owners.get(page)
    }

    /// Assigns a page, counted over the drive, to a logical page as its valid data.
    #[inline]
    pub(super) fn validate(&mut self, page: u32, lpn: u32) {
        self.owners.own(page, lpn);
        self.index.add_valid(self.numbering.block_of(page));
    }

    /// Assigns a page to a logical page whose valid data is counted already.
    pub(super) fn name(&mut self, page: u32, lpn: u32) {
        self.owners.own(page, lpn);
    }

    /// Invalidates a page.
    #[inline]
    pub(super) fn invalidate(&mut self, page: u32) {
        self.owners.disown(page);
        let block = self.numbering.block_of(page);
        if self.index.remove_valid(block) || self.failing.has_failed_programs() {
            // It may be the plane's first block worth collecting, or an empty block to retire.
            self.needs.forget(self.numbering.plane_of(block));
        }
    }

    /// Drops a page whose data is not needed any more.
    #[inline]
    pub(super) fn discard(&mut self, page: u32) {
        let plane = self.numbering.plane_of(self.numbering.block_of(page));
        self.planes[plane as usize].committed -= 1;
        self.invalidate(page);
    }

    /// Returns the erases started in the plane of an address, for
    /// [`Txn::erases_seen`](reprieve_policy::txn::Txn::erases_seen).
    #[inline]
    pub fn erases(&self, die: u32, at: PageAddress) -> u32 {
        self.erases_in(self.numbering.plane(die, at))
    }

    /// Returns the erases in a plane.
    #[inline]
    pub(super) fn erases_in(&self, plane: u32) -> u32 {
        self.erases[plane as usize]
    }

    /// Returns the blocks of a plane that must not be full of valid pages: the reserve, the open
    /// ones, and one to collect.
    #[inline]
    pub(super) fn kept(&self) -> u32 {
        self.reserve_blocks + self.fronts.count() + 1
    }

    /// Whether a plane can hold one more page and still be collected.
    #[inline]
    pub(super) fn can_hold(&self, plane: u32) -> bool {
        let pages_per_block = self.numbering.geometry.pages_per_block;
        self.planes[plane as usize].can_hold(self.kept(), pages_per_block)
    }

    /// Whether an open block of a plane, counted over the drive, can take a host page now.
    #[inline]
    pub(super) fn has_room(&self, plane: u32, front: u8) -> bool {
        let plane = &self.planes[plane as usize];
        let pages_per_block = self.numbering.geometry.pages_per_block;
        plane.has_room(usize::from(front), self.reserve_blocks, pages_per_block)
    }

    /// Takes the next page of an open block of a plane, counted over the drive.
    #[inline]
    pub(super) fn allocate(&mut self, plane: u32, front: usize) -> PageAddress {
        let pages_per_block = self.numbering.geometry.pages_per_block;
        let got = self.planes[plane as usize].allocate(front, pages_per_block);
        self.taken(plane, front, &got);
        self.numbering.address(plane, got.block, got.page)
    }

    /// Allocates the pages of a program: returns the first page of the next wordline.
    #[inline]
    pub(super) fn allocate_together(&mut self, plane: u32, front: usize) -> PageAddress {
        let pages_per_block = self.numbering.geometry.pages_per_block;
        let got = self.planes[plane as usize].allocate_together(front, pages_per_block);
        self.taken(plane, front, &got);
        self.numbering.address(plane, got.block, got.page)
    }

    /// Counts a block that was opened for pages of a plane.
    #[inline(always)]
    fn taken(&mut self, plane: u32, front: usize, got: &Allocated) {
        if got.page == 0 {
            self.needs.forget(plane);
        }
        match got.filled {
            Some(full) if front == SLC_FRONT => {
                self.planes[plane as usize].slc.full.push_back(full);
            }
            Some(full) => self.filled(plane, full),
            None => {}
        }
    }

    /// Marks an open block of a plane, numbered within it, as full.
    #[inline(always)]
    pub(super) fn filled(&mut self, plane: u32, full: u32) {
        let full = plane * self.numbering.geometry.blocks_per_plane + full;
        let fills = &mut self.planes[plane as usize].fills;
        self.fill_order[full as usize] = *fills;
        *fills += 1;
        self.index.fill(full);
        self.victim.filled(plane, full);
    }

    /// Takes the next page of an open block of a plane, both counted over the drive.
    pub(super) fn take_page(&mut self, plane: u32, front: usize) -> u32 {
        let pages_per_block = self.numbering.geometry.pages_per_block;
        let got = self.planes[plane as usize].allocate(front, pages_per_block);
        self.taken(plane, front, &got);
        (self.numbering.blocks_of(plane).start + got.block) * pages_per_block + got.page
    }

    /// Returns the victim of a plane, counted over the drive.
    #[inline]
    pub(super) fn victim_of(&self, plane: u32) -> Option<u32> {
        self.planes[plane as usize].victim.map(|victim| victim.block)
    }

    /// Chooses the victim of a plane: a failed block, one with little wear, one that needs refresh
    /// if it `may_refresh`, or the policy's; `None` if there is none.
    pub(super) fn choose_victim(&mut self, plane: u32, may_refresh: bool) -> Option<u32> {
        if self.fronts.has_zones() {
            let block = self.planes[plane as usize].resets.pop_front()?;
            self.victim.taken(plane, block);
            self.index.reclaim(block);
            let victim = Victim { block, retires: false, levels: false };
            self.planes[plane as usize].victim = Some(victim);
            return Some(block);
        }
        let state = &mut self.planes[plane as usize];
        let failed = state.failed.pop_front();
        let unworn = state.unworn.take().filter(|block| self.index.is_full(*block));
        // Pages of any victim complete an open block that lags in wear, until it can be erased.
        let mut levels = state.completes_levelling;
        let block = match (failed, unworn) {
            (Some(failed), _) => failed,
            (None, Some(unworn)) => {
                // Most of its pages are still there, and may move to a block that is worn more.
                let pages_per_block = self.numbering.geometry.pages_per_block;
                let worn = self.planes[plane as usize].most_worn_free(|own| {
                    self.wear.of(self.numbering.blocks_of(plane).start + own)
                });
                levels |= 2 * self.index.valid(unworn) >= pages_per_block
                    && worn.is_some_and(|(_, erases)| erases > self.wear.of(unworn));
                take_full(self, plane, unworn);
                unworn
            }
            (None, None) => {
                let state = &mut self.planes[plane as usize];
                let is_short = state.free_blocks() <= self.reserve_blocks;
                let other_first = is_short && self.index.has_victim(plane);
                let own = self.slc.as_ref().and_then(|slc| slc.choose(state, other_first));
                match own {
                    Some(own) => self.numbering.blocks_of(plane).start + own,
                    None => match state.refreshes.front().copied().filter(|_| may_refresh) {
                        Some(block) => {
                            take_full(self, plane, block);
                            block
                        }
                        None => self.pick(plane)?,
                    },
                }
            }
        };
        self.planes[plane as usize].refreshes.retain(|refreshed| *refreshed != block);
        let victim = Victim { block, retires: failed.is_some(), levels };
        self.planes[plane as usize].victim = Some(victim);
        Some(block)
    }

    /// Picks a victim in a plane, which is no full block any more.
    pub(super) fn pick(&mut self, plane: u32) -> Option<u32> {
        let next = self.planes[plane as usize].next_victim.take();
        let victim = next.or_else(|| self.victim.pick(&mut self.index, plane))?;
        self.index.reclaim(victim);
        Some(victim)
    }

    /// Completes the erase of a plane's victim; returns whether that has failed.
    pub(super) fn reclaimed(&mut self, plane: u32, victim: u32) -> bool {
        let erases = self.wear.erased(victim);
        if let Some(slc) = &mut self.slc {
            slc.erased(&mut self.planes[plane as usize]);
        }
        if self.failing.erase_fails(self.numbering.die(plane)) {
            self.failing.fail_erase(victim);
            self.lose_block(plane);
            return true;
        }
        let own = victim % self.numbering.geometry.blocks_per_plane;
        self.planes[plane as usize].add_free(own, erases);
        false
    }

    /// Counts the loss of a good block of a plane.
    pub(super) fn lose_block(&mut self, plane: u32) {
        self.needs.forget(plane);
        let state = &mut self.planes[plane as usize];
        state.good_blocks -= 1;
        self.failing.lost_block(plane, state.good_blocks);
    }

    /// Resets erases before the first request, which are no wear of the run.
    pub(super) fn forget_wear(&mut self) {
        self.wear.forget();
        self.planes.iter_mut().for_each(Plane::forget_free_wear);
    }

    /// Returns the free blocks of all planes.
    pub fn free_blocks(&self) -> u64 {
        self.planes.iter().map(|plane| u64::from(plane.free_blocks())).sum()
    }

    /// Returns the share of valid pages in full blocks; 0 where no block is full.
    pub fn valid_share(&self) -> f64 {
        let geometry = &self.numbering.geometry;
        let full = (0..geometry.blocks() as u32).filter(|block| self.index.is_full(*block));
        let (mut blocks, mut pages) = (0u64, 0u64);
        for block in full {
            (blocks, pages) = (blocks + 1, pages + u64::from(self.index.valid(block)));
        }
        let of = blocks * u64::from(geometry.pages_per_block);
        if of == 0 { 0.0 } else { pages as f64 / of as f64 }
    }

    /// Passes every block with its programmed pages: die, plane in the die, block, pages of flash.
    pub fn for_each(&self, mut say: impl FnMut(u32, u32, u32, u32)) {
        let Numbering { geometry, superblocks, .. } = self.numbering;
        for (number, plane) in (0..).zip(&self.planes) {
            let die = self.numbering.die(number);
            let mut programmed = vec![geometry.pages_per_block; geometry.blocks_per_plane as usize];
            plane.each_free(|block| programmed[block as usize] = 0);
            for front in plane.fronts {
                if let Some(open) = front.block {
                    programmed[open as usize] = front.next_page;
                }
            }
            for (block, pages) in (0..).zip(programmed) {
                let pages = self.numbering.flash_pages(pages);
                if !superblocks.exist() {
                    say(die, number % geometry.planes_per_die, block, pages);
                    continue;
                }
                for plane in 0..superblocks.planes() {
                    say(die, plane, block, superblocks.pages_on(plane, pages));
                }
            }
        }
    }
}

/// Takes a full block as a victim that the policy has not picked.
fn take_full(blocks: &mut Blocks, plane: u32, block: u32) {
    let next = &mut blocks.planes[plane as usize].next_victim;
    match *next == Some(block) {
        true => *next = None,
        false => blocks.victim.taken(plane, block),
    }
    blocks.index.reclaim(block);
}

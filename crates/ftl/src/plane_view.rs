//! Views of the planes for placement schemes and dispatchers.

use reprieve_base::PageAddress;
use reprieve_policy::place::PlaneView;
use reprieve_policy::txn::Txn;
use reprieve_policy::work::{PlaneQueries, Work};

use super::Ftl;
use super::blocks::Blocks;
use super::page_tables::PageTables;

/// A placement scheme's view of the planes.
pub(super) struct RoomView<'a> {
    pub(super) blocks: &'a Blocks,
    pub(super) load: &'a dyn Fn(u32) -> u32,
}

impl PlaneView for RoomView<'_> {
    fn load(&self, plane: u32) -> u32 {
        (self.load)(self.blocks.numbering.die(plane))
    }

    fn has_room(&self, plane: u32) -> bool {
        self.blocks.can_hold(plane)
    }
}

impl PlaneQueries for Ftl {
    fn can_take(&self, plane: u32) -> bool {
        let PageTables { map, blocks, .. } = &self.tables;
        let (state, pages) = (&blocks.planes[plane as usize], self.numbering.pages_per_block());
        // As collection pads wordlines, no plane may hold much more than an equal share.
        let share_pages = map.all_pages().div_ceil(self.numbering.geometry.planes());
        let most_pages = (share_pages.div_ceil(pages) + 1) * pages;
        let is_even = state.together == 1 || state.committed < most_pages;
        is_even && blocks.can_hold(plane)
    }

    fn next_page(&self, plane: u32) -> u32 {
        let plane = &self.tables.blocks.planes[plane as usize];
        let page = plane.next_offset(0, self.numbering.pages_per_block());
        self.numbering.flash_page(page)
    }

    fn next_block(&self, plane: u32) -> Option<u32> {
        let plane = &self.tables.blocks.planes[plane as usize];
        let pages_per_block = self.numbering.pages_per_block();
        plane.can_allocate(0, pages_per_block).then(|| plane.next(0, pages_per_block).0)
    }

    fn collects(&self, die: u32) -> bool {
        self.collection.dies[die as usize].jobs > 0
    }

    fn page_to_come(&self, txn: &Txn) -> Option<PageAddress> {
        Work::next_page(self, txn)
    }

    fn assign(&mut self, txn: &mut Txn, plane: u32) {
        self.tables.blocks.planes[plane as usize].committed += 1;
        txn.target = plane;
        (txn.die, txn.at) = self.numbering.in_plane(plane);
    }
}

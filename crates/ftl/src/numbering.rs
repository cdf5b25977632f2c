//! Numbers of planes, blocks and mapping units over the drive, and their addresses on dies.

use std::ops::Range;

use reprieve_base::{Geometry, PageAddress, Superblocks};
use reprieve_config::Scenario;
use reprieve_policy::txn::Txn;

/// Page, block and plane numbers over the drive: the pages of a block, the blocks of a plane and
/// the planes of a die are consecutive.
///
/// Pages of this layer, logical and physical, are mapping units; an address on a die is of a page
/// of flash, which holds a power of two of them.
#[derive(Clone, Copy, Debug)]
pub struct Numbering {
    /// Geometry of this layer, where pages are mapping units and a superblock is one block.
    pub(super) geometry: Geometry,
    pub(super) superblocks: Superblocks,
    /// Mapping units of a page of flash, as a power of two.
    unit_bits: u32,
    /// Collection fills the last program of a victim with data of another.
    pub(super) fills_programs: bool,
}

impl Numbering {
    /// Returns the numbering of a scenario's drive.
    pub(super) fn of(scenario: &Scenario) -> Numbering {
        let superblocks = Superblocks::new(scenario.ftl.twin_blocks, &scenario.geometry);
        Numbering {
            geometry: superblocks.inner_geometry(scenario.mapping_geometry()),
            superblocks,
            unit_bits: scenario.units_per_page().ilog2(),
            fills_programs: scenario.ftl.fills_programs || scenario.units_per_page() > 1,
        }
    }

    /// Returns the mapping units of a page of flash.
    #[inline]
    pub fn units_per_page(&self) -> u32 {
        1 << self.unit_bits
    }

    /// Returns the page of flash, counted in its block, that holds a page of this layer.
    #[inline]
    pub(super) fn flash_page(&self, page: u32) -> u32 {
        page >> self.unit_bits
    }

    /// Returns the pages of flash that hold the first `pages` pages of a block.
    pub(super) fn flash_pages(&self, pages: u32) -> u32 {
        pages.div_ceil(self.units_per_page())
    }

    /// Returns the first page of the same page of flash.
    #[inline]
    pub(super) fn first_unit(&self, page: u32) -> u32 {
        page >> self.unit_bits << self.unit_bits
    }

    /// Returns the pages of one page of flash from this one on.
    #[inline]
    pub(super) fn rest_of_flash_page(&self, page: u32) -> Range<u32> {
        page..self.first_unit(page) + self.units_per_page()
    }

    /// Returns the address, and the unit in its page of flash, of the page `number` pages after
    /// `first`.
    #[inline]
    pub(super) fn beside(&self, first: PageAddress, number: u32) -> (PageAddress, u8) {
        let at = PageAddress { page: first.page + self.flash_page(number), ..first };
        (at, (number - self.first_unit(number)) as u8)
    }

    /// Returns the pages of a block, or of a superblock.
    #[inline]
    pub fn pages_per_block(&self) -> u32 {
        self.geometry.pages_per_block
    }

    /// Returns the planes of a block.
    pub fn planes_of_block(&self) -> u64 {
        u64::from(self.superblocks.planes())
    }

    /// Returns the pages of a plane.
    pub(super) fn pages_per_plane(&self) -> u32 {
        self.geometry.pages_per_block * self.geometry.blocks_per_plane
    }

    /// Returns die and address of a page.
    #[inline]
    pub fn locate(&self, page: u32) -> (u32, PageAddress) {
        let Geometry { pages_per_block, blocks_per_plane, planes_per_die, .. } = self.geometry;
        let (block, page) = (page / pages_per_block, page % pages_per_block);
        let (plane, block) = (block / blocks_per_plane, block % blocks_per_plane);
        let page = self.flash_page(page);
        let at = PageAddress { plane: plane % planes_per_die, block, page };
        (plane / planes_per_die, self.superblocks.outer(at))
    }

    /// Returns the first page at an address.
    #[inline]
    pub fn page(&self, die: u32, at: PageAddress) -> u32 {
        let at = self.superblocks.inner(at);
        let plane = die * self.geometry.planes_per_die + at.plane;
        let block = plane * self.geometry.blocks_per_plane + at.block;
        block * self.geometry.pages_per_block + (at.page << self.unit_bits)
    }

    /// Returns the pages at an address.
    pub fn units_at(&self, die: u32, at: PageAddress) -> Range<u32> {
        self.rest_of_flash_page(self.page(die, at))
    }

    /// Returns the page that a transaction programs.
    #[inline]
    pub fn page_of(&self, txn: &Txn) -> u32 {
        self.page(txn.die, txn.at) + u32::from(txn.place)
    }

    /// Returns the plane of an address.
    #[inline]
    pub(super) fn plane(&self, die: u32, at: PageAddress) -> u32 {
        die * self.geometry.planes_per_die + self.superblocks.inner(at).plane
    }

    /// Returns die and address, as far as known, of a page that will be written to a plane.
    #[inline]
    pub fn in_plane(&self, plane: u32) -> (u32, PageAddress) {
        let planes_per_die = self.geometry.planes_per_die;
        (plane / planes_per_die, PageAddress { plane: plane % planes_per_die, block: 0, page: 0 })
    }

    /// Returns the address on its die of a page, by plane, block of the plane, page of the block.
    #[inline]
    pub(super) fn address(&self, plane: u32, block: u32, page: u32) -> PageAddress {
        let page = self.flash_page(page);
        let plane = plane % self.geometry.planes_per_die;
        self.superblocks.outer(PageAddress { plane, block, page })
    }

    /// Returns the die of a plane.
    #[inline]
    pub(super) fn die(&self, plane: u32) -> u32 {
        plane / self.geometry.planes_per_die
    }

    /// Returns the block of a page.
    #[inline]
    pub(super) fn block_of(&self, page: u32) -> u32 {
        page / self.geometry.pages_per_block
    }

    /// Returns the plane of a block.
    #[inline]
    pub(super) fn plane_of(&self, block: u32) -> u32 {
        block / self.geometry.blocks_per_plane
    }

    /// Returns the planes of a die.
    #[inline]
    pub(super) fn planes_of(&self, die: u32) -> Range<u32> {
        let first = die * self.geometry.planes_per_die;
        first..first + self.geometry.planes_per_die
    }

    /// Returns the blocks of a plane.
    #[inline]
    pub(super) fn blocks_of(&self, plane: u32) -> Range<u32> {
        let first = plane * self.geometry.blocks_per_plane;
        first..first + self.geometry.blocks_per_plane
    }

    /// Returns the pages of a block.
    #[inline]
    pub(super) fn pages_of(&self, block: u32) -> Range<u32> {
        block * self.geometry.pages_per_block..(block + 1) * self.geometry.pages_per_block
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Time;
    use reprieve_policy::txn::{Kind, NONE};

    use super::*;

    /// Two dies of two planes of four blocks of eight pages.
    fn numbering(in_step: bool) -> Numbering {
        let outer = Geometry {
            channels: 2,
            chips_per_channel: 1,
            dies_per_channel: 1,
            planes_per_die: 2,
            blocks_per_plane: 4,
            pages_per_block: 8,
            page_bytes: 4096,
        };
        let superblocks = Superblocks::new(in_step, &outer);
        let geometry = superblocks.inner_geometry(outer);
        Numbering { geometry, superblocks, unit_bits: 0, fills_programs: false }
    }

    #[test]
    fn pages_are_counted_block_by_block_and_plane_by_plane() {
        let own = numbering(false);
        // Before it 3 planes of 32 pages, and 2 blocks of 8.
        let at = PageAddress { plane: 1, block: 2, page: 5 };
        assert_eq!(own.page(1, at), 3 * 32 + 2 * 8 + 5);
        assert_eq!(own.locate(117), (1, at));
        assert_eq!((own.block_of(117), own.plane_of(14), own.die(3)), (14, 3, 1));
        assert_eq!((own.pages_of(14), own.blocks_of(3)), (112..120, 12..16));
        assert_eq!(own.in_plane(3), (1, PageAddress { plane: 1, block: 0, page: 0 }));
    }

    #[test]
    fn pages_of_twins_go_around_their_planes() {
        let superblocks = numbering(true);
        // Page 5 of the block of 16 is the third of the second plane.
        assert_eq!(
            superblocks.locate(64 + 2 * 16 + 5).1,
            PageAddress { plane: 1, block: 2, page: 2 }
        );
        assert_eq!(superblocks.page(1, PageAddress { plane: 1, block: 2, page: 2 }), 101);
        assert_eq!((superblocks.pages_per_block(), superblocks.planes_of_block()), (16, 2));
    }

    #[test]
    fn units_of_a_page_of_flash_have_its_address() {
        let whole = numbering(false);
        let own = Numbering { geometry: whole.geometry.divided(4), unit_bits: 2, ..whole };
        // Before it 3 planes of 32 pages of four units, 2 blocks of 8, and 5 pages.
        let at = PageAddress { plane: 1, block: 2, page: 5 };
        let first = 4 * (3 * 32 + 2 * 8 + 5);
        assert_eq!((own.page(1, at), own.pages_per_block()), (first, 32));
        assert_eq!(
            (first..first + 4).map(|page| own.locate(page)).collect::<Vec<_>>(),
            [(1, at); 4]
        );
        assert_eq!(own.rest_of_flash_page(first + 1), first + 1..first + 4);
        assert_eq!(own.beside(at, 7), (PageAddress { page: 6, ..at }, 3));
        let txn = Txn { place: 3, ..Txn::new(Kind::Program, 1, at, 0, NONE, Time::ZERO) };
        assert_eq!(own.page_of(&txn), first + 3);
        assert_eq!([0, 1, 4, 5].map(|pages| own.flash_pages(pages)), [0, 1, 1, 2]);
    }
}

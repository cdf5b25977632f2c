//! Superblocks: blocks of equal number on all planes of a die, written and erased as one.
//!
//! To the translation layer such a die has one plane, whose blocks have the pages of all, page
//! by page around the planes. A single plane is a superblock of one.

use crate::{Geometry, PageAddress};

/// The layout of the pages of a translation-layer block over the planes of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblocks {
    /// Planes that form one superblock; 1: no superblocks.
    planes: u32,
}

impl Superblocks {
    /// Derives the layout of a drive, with or without superblocks.
    pub fn new(in_step: bool, geometry: &Geometry) -> Superblocks {
        Superblocks { planes: if in_step { geometry.planes_per_die } else { 1 } }
    }

    /// Planes that form one superblock.
    #[inline]
    pub fn planes(self) -> u32 {
        self.planes
    }

    /// Whether there are superblocks.
    #[inline]
    pub fn exist(self) -> bool {
        self.planes > 1
    }

    /// The geometry of the drive as the translation layer sees it.
    pub fn inner_geometry(self, outer: Geometry) -> Geometry {
        Geometry {
            planes_per_die: outer.planes_per_die / self.planes,
            pages_per_block: outer.pages_per_block * self.planes,
            ..outer
        }
    }

    /// Converts an address of the translation layer to one on the die.
    #[inline]
    pub fn outer(self, at: PageAddress) -> PageAddress {
        if self.planes == 1 {
            return at;
        }
        PageAddress { plane: at.page % self.planes, block: at.block, page: at.page / self.planes }
    }

    /// Converts an address on the die to one of the translation layer.
    #[inline]
    pub fn inner(self, at: PageAddress) -> PageAddress {
        if self.planes == 1 {
            return at;
        }
        PageAddress { plane: 0, block: at.block, page: at.page * self.planes + at.plane }
    }

    /// Number of the first `pages` pages of a block that lie on a plane of the die.
    pub fn pages_on(self, plane: u32, pages: u32) -> u32 {
        (pages + self.planes - 1 - plane) / self.planes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIE: Geometry = Geometry {
        channels: 2,
        chips_per_channel: 1,
        dies_per_channel: 1,
        planes_per_die: 3,
        blocks_per_plane: 4,
        pages_per_block: 5,
        page_bytes: 4096,
    };

    #[test]
    fn pages_go_around_the_planes() {
        let superblocks = Superblocks::new(true, &DIE);
        let inner = superblocks.inner_geometry(DIE);
        assert_eq!((inner.planes_per_die, inner.pages_per_block), (1, 15));
        assert_eq!(inner.pages(), DIE.pages());
        for page in 0..15 {
            let at = PageAddress { plane: 0, block: 2, page };
            let outer = superblocks.outer(at);
            assert_eq!((outer.plane, outer.block, outer.page), (page % 3, 2, page / 3));
            assert_eq!(superblocks.inner(outer), at);
        }
        let eight = [0, 1, 2].map(|plane| superblocks.pages_on(plane, 8));
        assert_eq!(eight, [3, 3, 2]);
    }

    #[test]
    fn a_plane_by_itself_is_as_it_is() {
        let superblocks = Superblocks::new(false, &DIE);
        let at = PageAddress { plane: 2, block: 3, page: 4 };
        assert_eq!((superblocks.outer(at), superblocks.inner(at)), (at, at));
        assert_eq!((superblocks.inner_geometry(DIE), superblocks.pages_on(0, 4)), (DIE, 4));
    }
}

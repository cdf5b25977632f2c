//! Programmed pages of each block, a number as they are in order.

use crate::command::Part;
use crate::refusal::Refusal;

/// The next page of each block.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct ProgrammedPages {
    /// By [`crate::Shape::block_index`].
    next: Box<[u16]>,
    /// Pages of a block in a program.
    together: u16,
}

impl ProgrammedPages {
    /// Creates blocks that are all erased.
    pub(super) fn new(part: &Part) -> ProgrammedPages {
        let blocks = part.shape.planes as usize * part.shape.blocks_per_plane as usize;
        ProgrammedPages {
            next: vec![0; blocks].into_boxed_slice(),
            together: u16::try_from(part.timing.pages_together()).expect("it divides a block"),
        }
    }

    /// Returns the pages of a block programmed, or started, since the start of its last erase.
    #[inline(always)]
    pub(super) fn of(&self, block: usize) -> u32 {
        u32::from(self.next[block])
    }

    /// Whether a page is the next one of its block.
    #[inline(always)]
    pub(super) fn admit(&self, block: usize, page: u32) -> Result<(), Refusal> {
        let expected = self.of(block);
        match page.cmp(&expected) {
            std::cmp::Ordering::Less => Err(Refusal::AlreadyProgrammed),
            std::cmp::Ordering::Greater => Err(Refusal::OutOfOrder { expected }),
            std::cmp::Ordering::Equal => Ok(()),
        }
    }

    /// Programs the next page of a block, and the rest of its wordline.
    #[inline(always)]
    pub(super) fn advance(&mut self, block: usize) {
        self.next[block] += self.together;
    }

    /// Marks the first `pages` pages of a block as programmed, and the rest of their last wordline.
    pub(super) fn fill(&mut self, block: usize, pages: u32) {
        let pages = pages.next_multiple_of(u32::from(self.together));
        self.next[block] = u16::try_from(pages).expect("pages of a block fit 16 bits");
    }

    /// Erases a block.
    pub(super) fn erase(&mut self, block: usize) {
        self.next[block] = 0;
    }
}

//! Two-pass programs: pages that the controller holds until the second pass of their wordlines.

use reprieve_base::Archive;
use reprieve_config::Scenario;

/// For each block, the number of its first pages that have had their second pass.
///
/// The second pass over a wordline is part of the program of the next one, and of its own for the
/// last. Until then its pages cannot be read from the flash: the controller has their data.
pub struct TwoPass {
    complete_pages: Vec<u32>,
    pages_per_block: u32,
    /// Pages of a wordline.
    together: u32,
}

impl TwoPass {
    /// Creates the state of a scenario; `None` with one pass.
    pub(super) fn of(scenario: &Scenario) -> Option<Box<TwoPass>> {
        scenario.timing.coarse_iterations?;
        let geometry = scenario.mapping_geometry();
        Some(Box::new(TwoPass {
            complete_pages: vec![geometry.pages_per_block; geometry.blocks() as usize],
            pages_per_block: geometry.pages_per_block,
            together: scenario.units_together(),
        }))
    }

    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.complete_pages);
    }

    /// Counts a programmed page, counted over the drive, in a block in SLC mode or not.
    pub fn programmed(&mut self, page: u32, is_slc: bool) {
        let (block, own) = (page / self.pages_per_block, page % self.pages_per_block);
        let first = own / self.together * self.together;
        let is_last = first + self.together >= self.pages_per_block;
        let complete = if is_last || is_slc { self.pages_per_block } else { first };
        self.complete_pages[block as usize] = complete;
    }

    /// Whether the controller still has the data of a page, counted over the drive.
    pub(super) fn holds(&self, page: u32) -> bool {
        let (block, own) = (page / self.pages_per_block, page % self.pages_per_block);
        own >= self.complete_pages[block as usize]
    }
}

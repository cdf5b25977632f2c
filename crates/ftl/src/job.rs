//! Progress of garbage collection of one plane with its victim.

use super::blocks::Blocks;
use super::write_frontiers::WriteFrontiers;

/// A page between its read and its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HeldPage {
    /// The page that was read, counted over the drive.
    pub source: u32,
    /// Its logical page.
    pub lpn: u32,
}

/// Progress of the collection of a plane.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Job {
    /// Pages of the victim below this one are done.
    pub cursor: u32,
    /// Pages that were read and have to be programmed, for each open block at most those of a
    /// program.
    pub held: Vec<HeldPage>,
    /// The first valid page of a page of flash of another block, to be read next.
    pub filler: Option<u32>,
    /// Planes whose block of the victim is being erased; several for a superblock.
    pub erased_planes: u32,
    /// A step is running on the die.
    pub in_flight: bool,
    /// The last step was a read, where planes collect in parallel.
    pub reads: bool,
    /// The victim was started because another plane of the die started one.
    pub joined: bool,
    /// Pages, in millionths, that may be moved before the host's next write; negative after a
    /// program has moved more.
    pub credit_ppm: i64,
    /// Pages, in millionths, moved for each page gained with the last victim.
    pub price_ppm: i64,
}

impl Job {
    /// Returns the first page of the next program: of a batch for one open block, or of all held
    /// pages when no more are to be read.
    #[inline]
    pub fn first_to_write(
        &self,
        pages_per_block: u32,
        batch: u32,
        fronts: &WriteFrontiers,
    ) -> Option<HeldPage> {
        let first = *self.held.first()?;
        let held = self.held.len() as u32;
        if self.cursor == pages_per_block || held >= batch && !fronts.parts_moved() {
            return Some(first);
        }
        if held < batch { None } else { self.first_of_batch(batch, fronts) }
    }

    /// Returns the first page for an open block for which a batch is held.
    #[cold]
    fn first_of_batch(&self, batch: u32, fronts: &WriteFrontiers) -> Option<HeldPage> {
        let front = |held: &HeldPage| fronts.of_moved(held.lpn);
        let is_whole = |first: &&HeldPage| {
            let with = self.held.iter().filter(|held| front(held) == front(first));
            with.count() as u32 >= batch
        };
        self.held.iter().find(is_whole).copied()
    }

    /// Moves the cursor to the next valid page that was not read.
    #[cold]
    pub fn skip_done(&mut self, blocks: &Blocks, victim: u32) {
        let pages = blocks.numbering.pages_of(victim);
        let is_done = |page: u32| blocks.owner(page).is_none() || self.holds(page);
        let next = (pages.start + self.cursor..pages.end).find(|page| !is_done(*page));
        self.cursor = next.unwrap_or(pages.end) - pages.start;
    }

    /// Removes a programmed page from the held ones.
    #[inline]
    pub fn release(&mut self, source: u32) {
        match self.held[..] {
            [held] if held.source == source => self.held.clear(),
            _ => self.keep_held(|held| held.source != source),
        }
    }

    /// Drops pages that were overwritten meanwhile.
    #[inline]
    pub fn drop_overwritten(&mut self, blocks: &Blocks) {
        match self.held[..] {
            [] => {}
            [HeldPage { source, lpn }] if blocks.owner(source) == Some(lpn) => {}
            _ => self.keep_held(|held| blocks.owner(held.source) == Some(held.lpn)),
        }
    }

    /// Keeps the held pages that are still valid; not inlined, as most jobs hold one page.
    #[cold]
    fn keep_held(&mut self, is_wanted: impl FnMut(&HeldPage) -> bool) {
        self.held.retain(is_wanted);
    }

    /// Whether a page, counted over the drive, was read and has to be programmed.
    pub fn holds(&self, source: u32) -> bool {
        self.held.iter().any(|held| held.source == source)
    }
}

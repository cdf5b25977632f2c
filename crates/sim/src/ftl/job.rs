//! How far garbage collection of one plane has got with its victim.

use super::map::Map;

/// What is held between the read of a valid page and its program elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPage {
    /// The page that was read, counted over the drive.
    pub source: u32,
    /// Its logical page.
    pub lpn: u32,
}

/// The state of the victim that a plane is reclaiming.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The victim, counted over the drive; `None`: nothing is being reclaimed.
    pub victim: Option<u32>,
    /// Pages of the victim below this one have been dealt with.
    pub cursor: u32,
    /// Pages that were read and have to be programmed, as many as a program takes at most.
    pub held: Vec<HeldPage>,
    /// Planes whose block of the victim is being erased; of twins more than one.
    pub erased_planes: u32,
    /// A program has failed on the victim: it is not erased but given up.
    pub retires: bool,
    /// A step is under way at the die.
    pub in_flight: bool,
    /// Where planes collect side by side: the step that was taken last is a read.
    pub reads: bool,
    /// The victim was begun because another plane of the die began one.
    pub joined: bool,
}

impl Job {
    /// Whether what is held is programmed next: it is a batch, which may fill a program, or nothing
    /// more will come.
    #[inline]
    pub fn writes_held(&self, pages_per_block: u32, batch: u32) -> bool {
        let held = self.held.len() as u32;
        held == batch || held > 0 && self.cursor == pages_per_block
    }

    /// Moves the cursor to the next page that is valid and was not read.
    #[cold]
    pub fn skip_done(&mut self, map: &Map, pages_per_block: u32) {
        while self.cursor < pages_per_block && self.is_done_with(map, pages_per_block) {
            self.cursor += 1;
        }
    }

    /// Whether the page at the cursor is invalid or was read.
    pub fn is_done_with(&self, map: &Map, pages_per_block: u32) -> bool {
        let victim = self.victim.expect("the cursor is that of a victim");
        let page = victim * pages_per_block + self.cursor;
        map.owner(page).is_none() || self.holds(page)
    }

    /// Goes on holding only what is still wanted; out of the way, for most hold one page at most.
    #[cold]
    pub fn keep_held(&mut self, is_wanted: impl FnMut(&HeldPage) -> bool) {
        self.held.retain(is_wanted);
    }

    /// Whether a page, counted over the drive, was read and has to be programmed.
    pub fn holds(&self, source: u32) -> bool {
        self.held.iter().any(|held| held.source == source)
    }
}

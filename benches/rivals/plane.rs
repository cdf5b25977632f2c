//! The blocks of a plane: which are free, open and full, and which full one has the most garbage.
//!
//! A list has the emptiest blocks; the first to have got there goes first among equals.

use std::collections::VecDeque;

use crate::rivals::NONE;

/// A plane at rest: free blocks in order, the open block with its next page, the victim.
pub struct PlaneAtRest {
    pub free: Vec<u32>,
    pub open: u32,
    pub next_page: u32,
    pub victim: u32,
}

/// A plane, with pages and blocks numbered within it.
pub struct Plane {
    pub free: VecDeque<u32>,
    pub open: u32,
    pub next_page: u32,
    pub victim: u32,
    /// The next page of the victim.
    pub cursor: u32,
    /// A page of the victim that was read, and its logical page.
    pub held: Option<(u32, u32)>,
    pub in_flight: bool,
    /// Number of started erases.
    pub erases: u32,
    /// The logical page whose data each page has.
    pub owners: Vec<u32>,
    pub full: Vec<bool>,
    pub valid: Vec<u32>,
    /// Full blocks of at most `limit` valid pages, of which none has fewer than `fewest`.
    pub emptiest: Vec<u32>,
    pub limit: u32,
    pub fewest: u32,
    pub anew_beyond: usize,
    pub with_garbage: u32,
}

impl Plane {
    pub fn new<const PAGES: u32>(state: PlaneAtRest, blocks: u32) -> Plane {
        Plane {
            free: state.free.into(),
            open: state.open,
            next_page: state.next_page,
            victim: state.victim,
            cursor: 0,
            held: None,
            in_flight: false,
            erases: 0,
            owners: vec![NONE; (blocks * PAGES) as usize],
            full: vec![false; blocks as usize],
            valid: vec![0; blocks as usize],
            emptiest: Vec::new(),
            limit: 0,
            fewest: 0,
            anew_beyond: 256,
            with_garbage: 0,
        }
    }

    pub fn fill<const PAGES: u32>(&mut self, block: u32) {
        self.full[block as usize] = true;
        let valid = self.valid[block as usize];
        self.with_garbage += u32::from(valid < PAGES);
        if valid <= self.limit {
            self.fewest = self.fewest.min(valid);
            self.emptiest.push(block);
        }
    }

    /// Counts a page less; returns whether the plane had nothing to collect before.
    #[inline(always)]
    pub fn lose_page<const PAGES: u32>(&mut self, block: u32) -> bool {
        let valid = &mut self.valid[block as usize];
        *valid -= 1;
        let valid = *valid;
        if !self.full[block as usize] {
            return false;
        }
        let is_first = valid + 1 == PAGES;
        self.with_garbage += u32::from(is_first);
        if valid <= self.limit {
            self.fewest = self.fewest.min(valid);
            if valid == self.limit {
                self.emptiest.push(block);
                if self.emptiest.len() > self.anew_beyond {
                    self.list_anew::<PAGES>();
                }
            }
        }
        is_first && self.with_garbage == 1
    }

    /// Makes the full block with the fewest valid pages the victim.
    pub fn take_victim<const PAGES: u32>(&mut self) {
        if self.emptiest.is_empty() {
            self.list_anew::<PAGES>();
        }
        let mut best = (u32::MAX, 0);
        for (place, block) in self.emptiest.iter().enumerate() {
            let valid = self.valid[*block as usize];
            if valid < best.0 {
                best = (valid, place);
                if valid == self.fewest {
                    break;
                }
            }
        }
        self.fewest = best.0;
        self.victim = self.emptiest.remove(best.1);
        self.cursor = 0;
        self.full[self.victim as usize] = false;
        self.with_garbage -= u32::from(best.0 < PAGES);
    }

    /// Rebuilds the list of the emptiest blocks: at least 64, if there are enough with garbage.
    #[cold]
    pub fn list_anew<const PAGES: u32>(&mut self) {
        let full = (0..self.full.len()).filter(|block| self.full[*block]);
        let mut by_valid: Vec<u32> = full.clone().map(|block| self.valid[block]).collect();
        by_valid.sort_unstable();
        self.limit = by_valid.get(63).map_or(PAGES - 1, |valid| (*valid).min(PAGES - 1));
        let listed = full.filter(|block| self.valid[*block] <= self.limit);
        self.emptiest = listed.map(|block| block as u32).collect();
        let valid = self.emptiest.iter().map(|block| self.valid[*block as usize]);
        self.fewest = valid.min().unwrap_or(0);
        self.anew_beyond = 256.max(2 * self.emptiest.len());
    }
}

//! Sectors that pages hold, by the checker's record of the host's writes, reads and trims.

use std::ops::Range;

/// The record of all logical pages, a flag a sector.
#[derive(Clone, Debug)]
pub struct HeldSectors {
    held: Vec<Vec<bool>>,
}

impl HeldSectors {
    /// Creates the record of a drive; `holds` returns whether a page has a sector at the start.
    pub fn new(pages: u32, per_page: u32, holds: impl Fn(u32, u32) -> bool) -> HeldSectors {
        let page = |lpn| (0..per_page).map(|sector| holds(lpn, sector)).collect();
        HeldSectors { held: (0..pages).map(page).collect() }
    }

    /// Sets written sectors of a page.
    pub fn written(&mut self, lpn: u32, sectors: &Range<u32>) {
        self.set(lpn, sectors, true);
    }

    /// Sets all sectors of a page.
    pub fn written_whole(&mut self, lpn: u32) {
        self.held[lpn as usize].fill(true);
    }

    /// Sets sectors of an unwritten page that are read.
    pub fn found(&mut self, lpn: u32, sectors: &Range<u32>) {
        if !self.held[lpn as usize].contains(&true) {
            self.set(lpn, sectors, true);
        }
    }

    /// Clears trimmed sectors of a page.
    pub fn trimmed(&mut self, lpn: u32, sectors: &Range<u32>) {
        self.set(lpn, sectors, false);
    }

    /// Clears all sectors of a page.
    pub fn trimmed_whole(&mut self, lpn: u32) {
        self.held[lpn as usize].fill(false);
    }

    fn set(&mut self, lpn: u32, sectors: &Range<u32>, held: bool) {
        self.held[lpn as usize][sectors.start as usize..sectors.end as usize].fill(held);
    }

    /// Checks the drive's answer whether a write of some sectors of a page `leaves` others held.
    pub fn verify_left(&self, lpn: u32, written: &Range<u32>, leaves: bool) -> Result<(), String> {
        let held = (0..).zip(&self.held[lpn as usize]);
        let mut left = held.filter(|(sector, held)| **held && !written.contains(sector));
        let first = left.next().map(|(sector, _)| sector);
        if first.is_some() == leaves {
            return Ok(());
        }
        Err(format!(
            "a write of the sectors {written:?} of logical page {lpn} leaves others: {leaves}; by \
             the record the first of them is {first:?}"
        ))
    }

    /// Checks all pages against the drive's `holds`.
    pub fn verify(&self, holds: impl Fn(u32, u32) -> bool) -> Result<(), String> {
        for (lpn, page) in (0..).zip(&self.held) {
            for (sector, held) in (0..).zip(page) {
                if holds(lpn, sector) != *held {
                    return Err(format!(
                        "sector {sector} of logical page {lpn} is held: {}; by the record: {held}",
                        !held
                    ));
                }
            }
        }
        Ok(())
    }
}

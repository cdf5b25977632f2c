//! Distinct pages touched, counted exactly in a sparse bitmap.

use std::collections::BTreeMap;

/// Pages of a chunk of the bitmap: 512 bytes of memory for 16 MiB of addresses.
const CHUNK_PAGES: u64 = 4096;

/// A set of page numbers.
#[derive(Default)]
pub(super) struct PageSet {
    chunks: BTreeMap<u64, Box<[u64; (CHUNK_PAGES / 64) as usize]>>,
    pages: u64,
}

impl PageSet {
    /// Adds the pages from `first` up to, not including, `end`.
    pub(super) fn add(&mut self, first: u64, end: u64) {
        let mut page = first;
        while page < end {
            let chunk_end = (page / CHUNK_PAGES + 1) * CHUNK_PAGES;
            let words = self
                .chunks
                .entry(page / CHUNK_PAGES)
                .or_insert_with(|| Box::new([0; (CHUNK_PAGES / 64) as usize]));
            while page < end.min(chunk_end) {
                let word = &mut words[(page % CHUNK_PAGES / 64) as usize];
                let bit = 1u64 << (page % 64);
                self.pages += u64::from(*word & bit == 0);
                *word |= bit;
                page += 1;
            }
        }
    }

    /// Returns the number of pages.
    pub(super) fn pages(&self) -> u64 {
        self.pages
    }
}

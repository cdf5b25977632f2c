//! Logical pages of physical pages: the inverse of the mapping.

use std::ops::Range;
use std::sync::Arc;

use reprieve_base::{Archive, UserError};

use super::page_names::Names;
use super::table::Table;

/// Entry of a physical page that has not changed since the preparation.
const AS_PREPARED: u32 = u32::MAX;
/// No valid data in a physical page.
const INVALID: u32 = u32::MAX - 1;

/// The logical page of each physical one, four bytes an entry.
#[derive(Debug)]
pub(super) struct Owners {
    pub(super) table: Table<AS_PREPARED>,
    /// Prepared contents of the drive, if any.
    prepared: Option<Arc<Names>>,
    /// One bit a page: its entry is the first one, and it holds no valid data. Overwrites are
    /// scattered, and would need memory for the whole table.
    gone: Vec<u64>,
}

impl Owners {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.table.archive(archive);
        archive.table(bytemuck::cast_slice_mut(&mut self.gone));
    }

    /// Creates the table with every physical page empty.
    ///
    /// Errors if memory is short.
    pub(super) fn new(physical_pages: u32) -> Result<Owners, UserError> {
        Ok(Owners { table: Table::new(physical_pages)?, prepared: None, gone: Vec::new() })
    }

    /// Returns the logical page whose valid data a physical page holds.
    #[inline]
    pub(super) fn get(&self, page: u32) -> Option<u32> {
        match self.table.get(page) {
            INVALID => None,
            AS_PREPARED => self.at_first(page),
            lpn => Some(lpn),
        }
    }

    /// Returns the owner of a page that has not changed since the preparation.
    fn at_first(&self, page: u32) -> Option<u32> {
        let prepared = self.prepared.as_ref()?;
        let (word, bit) = gone_bit(page);
        if self.gone[word] & bit != 0 {
            return None;
        }
        prepared.owner(page)
    }

    /// Returns the owner of a page that has changed since the preparation, to load it into the
    /// CPU's caches.
    #[inline]
    pub(super) fn peek(&self, page: u32) -> Option<u32> {
        Some(self.table.get(page)).filter(|lpn| *lpn < INVALID)
    }

    /// Stores the prepared owners of pages in the table.
    #[inline]
    pub(super) fn note(&mut self, pages: Range<u32>) {
        if self.prepared.is_some() {
            for page in pages {
                if self.table.get(page) == AS_PREPARED {
                    self.table.set(page, self.get(page).unwrap_or(INVALID));
                }
            }
        }
    }

    /// Sets the owners of all pages that do not change.
    pub(super) fn start_with(&mut self, prepared: Arc<Names>) {
        self.prepared = Some(prepared);
        self.table.fill_by_blocks();
        self.gone = vec![0; self.table.entries.div_ceil(u64::BITS as usize)];
    }

    /// Sets `lpn` as the owner of a physical page.
    #[inline]
    pub(super) fn own(&mut self, page: u32, lpn: u32) {
        debug_assert_eq!(self.get(page), None, "a page holds two logical pages");
        self.table.set(page, lpn);
        if self.prepared.is_some() {
            let (word, bit) = gone_bit(page);
            self.gone[word] &= !bit;
        }
    }

    /// Removes the owner of a physical page.
    #[inline]
    pub(super) fn disown(&mut self, page: u32) {
        debug_assert_ne!(self.get(page), None, "an invalid page lost its data");
        if self.prepared.is_some() && self.table.get(page) == AS_PREPARED {
            let (word, bit) = gone_bit(page);
            self.gone[word] |= bit;
        } else {
            self.table.set(page, INVALID);
        }
    }
}

/// Returns the word with the bit of a page, and that bit.
#[inline]
fn gone_bit(page: u32) -> (usize, u64) {
    (page as usize / u64::BITS as usize, 1 << (page % u64::BITS))
}

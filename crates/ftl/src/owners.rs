//! Which logical page's valid data each physical page holds: the mapping the other way round.

use reprieve_base::{Archive, UserError};

use super::table::Table;

/// No valid data in a physical page.
const INVALID: u32 = u32::MAX;

/// The logical page of each physical one, four bytes an entry.
#[derive(Debug)]
pub(super) struct Owners(Table);

impl Owners {
    /// Writes what changes in it, or takes that back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.0.archive(archive);
    }

    /// Every physical page without data.
    ///
    /// Errors if the system does not give the memory.
    pub(super) fn new(physical_pages: u32) -> Result<Owners, UserError> {
        Ok(Owners(Table::new(physical_pages, INVALID)?))
    }

    /// The logical page whose valid data a physical page holds.
    #[inline]
    pub(super) fn get(&self, page: u32) -> Option<u32> {
        let lpn = self.0.get(page);
        (lpn != INVALID).then_some(lpn)
    }

    /// The physical page holds the valid data of `lpn`.
    #[inline]
    pub(super) fn own(&mut self, page: u32, lpn: u32) {
        debug_assert_eq!(self.0.get(page), INVALID, "a page holds two logical pages");
        self.0.set(page, lpn);
    }

    /// The physical page holds no valid data any more.
    #[inline]
    pub(super) fn disown(&mut self, page: u32) {
        debug_assert_ne!(self.0.get(page), INVALID, "an invalid page lost its data");
        self.0.set(page, INVALID);
    }
}

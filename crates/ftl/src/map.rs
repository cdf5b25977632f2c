//! The mapping tables: logical to physical page and back, four bytes an entry each.

use reprieve_base::UserError;

use super::table::Table;

/// An entry of the logical-to-physical table, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// The newest data is in the write buffer, in this write's transaction.
    Buffered(u32),
    /// The data is in this flash page, counted over the drive.
    Flash(u32),
    /// Never written: the data is part of the image that the drive came with.
    Unwritten,
    /// Trimmed: reads as zeros.
    Trimmed,
}

const BUFFERED: u32 = 1 << 31;
const UNWRITTEN: u32 = BUFFERED - 1;
const TRIMMED: u32 = BUFFERED - 2;
/// No valid data in a physical page.
const INVALID: u32 = u32::MAX;

impl Mapping {
    #[inline]
    pub(super) fn encode(self) -> u32 {
        match self {
            Mapping::Buffered(id) => {
                assert!(id < BUFFERED, "more than 2^31 transactions in flight");
                id | BUFFERED
            }
            Mapping::Flash(page) => page,
            Mapping::Unwritten => UNWRITTEN,
            Mapping::Trimmed => TRIMMED,
        }
    }

    #[inline]
    pub(super) fn decode(entry: u32) -> Mapping {
        match entry {
            UNWRITTEN => Mapping::Unwritten,
            TRIMMED => Mapping::Trimmed,
            entry if entry & BUFFERED != 0 => Mapping::Buffered(entry & !BUFFERED),
            page => Mapping::Flash(page),
        }
    }
}

/// Both tables.
#[derive(Debug)]
pub struct Map {
    physical: Table,
    logical: Table,
    logical_pages: u32,
}

impl Map {
    /// Every logical page unwritten, every physical page without data.
    ///
    /// Errors if the system does not give the memory.
    pub fn new(logical_pages: u32, physical_pages: u32) -> Result<Map, UserError> {
        Ok(Map {
            physical: Table::new(logical_pages, UNWRITTEN)?,
            logical: Table::new(physical_pages, INVALID)?,
            logical_pages,
        })
    }

    /// Logical pages of the drive.
    pub fn logical_pages(&self) -> u32 {
        self.logical_pages
    }

    /// Where the data of a logical page is.
    #[inline]
    pub fn get(&self, lpn: u32) -> Mapping {
        Mapping::decode(self.physical.get(lpn))
    }

    /// The entry of a logical page as it is stored: for who only wants it in the caches.
    #[inline]
    pub fn peek(&self, lpn: u32) -> u32 {
        self.physical.get(lpn)
    }

    /// Says where the data of a logical page is; the physical table is the caller's to keep.
    #[inline]
    pub fn set(&mut self, lpn: u32, mapping: Mapping) {
        self.physical.set(lpn, mapping.encode());
    }

    /// The logical page whose valid data a physical page holds.
    #[inline]
    pub fn owner(&self, page: u32) -> Option<u32> {
        let lpn = self.logical.get(page);
        (lpn != INVALID).then_some(lpn)
    }

    /// The physical page holds the valid data of `lpn`.
    #[inline]
    pub fn own(&mut self, page: u32, lpn: u32) {
        debug_assert_eq!(self.logical.get(page), INVALID, "a page holds two logical pages");
        self.logical.set(page, lpn);
    }

    /// The physical page holds no valid data any more.
    #[inline]
    pub fn disown(&mut self, page: u32) {
        debug_assert_ne!(self.logical.get(page), INVALID, "an invalid page lost its data");
        self.logical.set(page, INVALID);
    }
}

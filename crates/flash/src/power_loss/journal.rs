//! Metadata in the spare area of each page: logical page and version, as recovery reads them.

use std::collections::BTreeMap;

/// No logical page: the page holds nothing that can be read.
const BLANK: u32 = u32::MAX;
/// No logical page either: an older copy from before the first request, whose newer one is known.
const OLDER: u32 = u32::MAX - 1;

/// Metadata in the spare area of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    lpn: u32,
    /// How often garbage collection has moved it.
    pub moves: u32,
    /// Pages that the buffer had accepted when it accepted this one, or pages of the mapping that
    /// were to be written until this one was; 0: from before the run.
    pub version: u64,
}

impl Stamp {
    /// Of a page that the host has written, as this version.
    pub fn of_write(lpn: u32, version: u64) -> Stamp {
        Stamp { lpn, moves: 0, version }
    }

    const NOTHING: Stamp = Stamp { lpn: BLANK, moves: 0, version: 0 };

    /// The logical page; `None`: an older copy from before the first request.
    pub fn lpn(&self) -> Option<u32> {
        (self.lpn != OLDER).then_some(self.lpn)
    }
}

/// The metadata of all pages, and the versions of pages in the write buffer.
#[derive(Clone, Debug)]
pub struct Journal {
    stamps: Vec<Stamp>,
    /// Of each transaction.
    versions: Vec<u64>,
    accepted: u64,
    /// Pages of a mapping in flash that were to be written.
    map_writes: u64,
    /// Logical pages that the host has trimmed, of which nothing newer is safe: each with the pages
    /// that had been accepted by then, of which none is valid.
    trims: BTreeMap<u32, u64>,
}

impl Journal {
    /// Of a drive with `pages` pages, nothing programmed.
    pub fn new(pages: u64) -> Journal {
        let pages = usize::try_from(pages).expect("memory was checked");
        Journal {
            stamps: vec![Stamp::NOTHING; pages],
            versions: Vec::with_capacity(4096),
            accepted: 0,
            map_writes: 0,
            trims: BTreeMap::new(),
        }
    }

    /// A page was programmed before the first request: with the data of `lpn`, or older data.
    pub fn starts_with(&mut self, page: u32, lpn: Option<u32>) {
        self.stamps[page as usize] = Stamp { lpn: lpn.unwrap_or(OLDER), moves: 0, version: 0 };
    }

    /// The buffer has accepted a page as transaction `id`; returns its version.
    pub fn accepted(&mut self, id: u32) -> u64 {
        self.accepted += 1;
        self.set_version(id, self.accepted);
        self.accepted
    }

    /// A page of the mapping is to be written by transaction `id`: such pages have versions apart.
    pub fn map_write(&mut self, id: u32) {
        self.map_writes += 1;
        self.set_version(id, self.map_writes);
    }

    fn set_version(&mut self, id: u32, version: u64) {
        let index = id as usize;
        if self.versions.len() <= index {
            self.versions.resize(index + 1, 0);
        }
        self.versions[index] = version;
    }

    /// The host has trimmed a logical page.
    pub fn trimmed(&mut self, lpn: u32) {
        self.trims.insert(lpn, self.accepted);
    }

    /// A logical page has newer data that will not be lost as long as the list of trims is not.
    pub fn forget_trim(&mut self, lpn: u32) {
        self.trims.remove(&lpn);
    }

    /// Logical pages in the list of trims.
    pub fn trimmed_pages(&self) -> u64 {
        self.trims.len() as u64
    }

    /// Whether the list of trims invalidates this version of a page.
    pub fn is_trimmed(&self, lpn: u32, version: Option<u64>) -> bool {
        let trimmed_at = self.trims.get(&lpn);
        trimmed_at.is_some_and(|at| version.is_none_or(|version| version <= *at))
    }

    /// Returns the version that transaction `id` writes.
    pub fn version(&self, id: u32) -> u64 {
        self.versions[id as usize]
    }

    /// Transaction `id` has programmed a page.
    pub fn programmed(&mut self, page: u32, lpn: u32, id: u32) {
        let version = self.version(id);
        self.stamps[page as usize] = Stamp::of_write(lpn, version);
        if self.trims.get(&lpn).is_some_and(|trimmed_at| version > *trimmed_at) {
            self.trims.remove(&lpn);
        }
    }

    /// Returns the metadata that garbage collection copies with a page.
    pub fn copy_of(&self, source: u32) -> Stamp {
        let stamp = self.stamps[source as usize];
        Stamp { moves: stamp.moves + 1, ..stamp }
    }

    /// Garbage collection has moved a page.
    pub fn moved(&mut self, source: u32, page: u32) {
        self.stamps[page as usize] = self.copy_of(source);
    }

    /// Erases pages from this one on.
    pub fn erased(&mut self, first: u32, pages: u32) {
        let first = first as usize;
        self.stamps[first..first + pages as usize].fill(Stamp::NOTHING);
    }

    /// Returns the readable metadata of a page, if any.
    pub fn stamp(&self, page: u32) -> Option<Stamp> {
        let stamp = self.stamps[page as usize];
        (stamp.lpn != BLANK).then_some(stamp)
    }
}

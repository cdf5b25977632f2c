//! Metadata in the spare area of each page: logical page and version, as recovery reads them.

use std::collections::BTreeMap;

/// No logical page: the page is not readable.
const BLANK: u32 = u32::MAX;
/// No logical page: an older copy from before the first request, with a known newer one.
const OLDER: u32 = u32::MAX - 1;

/// Metadata in the spare area of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    lpn: u32,
    /// Number of its moves by garbage collection.
    pub moves: u32,
    /// Pages accepted by the buffer before this one, or pages of the mapping queued for writes
    /// before it; 0: from before the run.
    pub version: u64,
}

impl Stamp {
    /// Creates the metadata of a page of this version that the host has written.
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
    /// Number of pages of a mapping in flash queued for writes.
    map_writes: u64,
    /// Logical pages that the host has trimmed without a newer safe version: each with the number
    /// of pages accepted by then, none of which is valid.
    trims: BTreeMap<u32, u64>,
}

impl Journal {
    /// Creates the journal of a drive with `pages` pages, none programmed.
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

    /// Records a page programmed before the first request: with the data of `lpn`, or older data.
    pub fn starts_with(&mut self, page: u32, lpn: Option<u32>) {
        self.stamps[page as usize] = Stamp { lpn: lpn.unwrap_or(OLDER), moves: 0, version: 0 };
    }

    /// Records a page in the buffer as transaction `id`; returns its version.
    pub fn accepted(&mut self, id: u32) -> u64 {
        self.accepted += 1;
        self.set_version(id, self.accepted);
        self.accepted
    }

    /// Records a page of the mapping, to be written by transaction `id`, with separate versions.
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

    /// Records a trim of a logical page.
    pub fn trimmed(&mut self, lpn: u32) {
        self.trims.insert(lpn, self.accepted);
    }

    /// Drops the trim of a logical page with newer data as safe as the list of trims.
    pub fn forget_trim(&mut self, lpn: u32) {
        self.trims.remove(&lpn);
    }

    /// Returns the logical pages in the list of trims.
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

    /// Records the program of transaction `id`.
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

    /// Records a move of a page by garbage collection.
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

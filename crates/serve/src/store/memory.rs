//! Bytes in memory: pages are allocated by the first write of something other than zeros.

use std::sync::mpsc::{self, Sender};
use std::thread;

use super::Fault;
use super::block_parts::{BLOCK_BYTES as PAGE_BYTES, Block as Page, Part, parts};
use super::ranges::Ranges;
use crate::protocol::Allocation;

/// Pages of a leaf of the table, which spans 2 MiB of the drive.
const LEAF_PAGES: usize = 512;
const LEAF_BYTES: u64 = PAGE_BYTES * LEAF_PAGES as u64;

type Leaf = Box<[Option<Page>; LEAF_PAGES]>;

/// Bytes of a leaf itself.
const TABLE_BYTES: u64 = size_of::<[Option<Page>; LEAF_PAGES]>() as u64;

/// A sparse drive in memory.
pub struct Memory {
    leaves: Vec<Option<Leaf>>,
    /// Zeroed pages that stay allocated.
    kept: Ranges,
    used_bytes: u64,
    limit_bytes: u64,
    /// To the thread that frees memory, which is started by the first large request.
    given_up: Option<Sender<Vec<Leaf>>>,
}

/// Returns the leaf of a page, and its place there.
fn place(page: u64) -> (usize, usize) {
    let leaf_pages = LEAF_PAGES as u64;
    ((page / leaf_pages) as usize, (page % leaf_pages) as usize)
}

impl Memory {
    pub(super) fn new(bytes: u64, limit_bytes: u64) -> Memory {
        let mut leaves = Vec::new();
        leaves.resize_with(bytes.div_ceil(LEAF_BYTES) as usize, || None);
        Memory { leaves, kept: Ranges::default(), used_bytes: 0, limit_bytes, given_up: None }
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    pub(super) fn read(&self, at: u64, into: &mut [u8]) {
        let mut rest = into;
        for Part { block, bytes } in parts(at, rest.len() as u64) {
            let (these, others) = rest.split_at_mut(bytes.len());
            let (leaf, page) = place(block);
            match self.leaves[leaf].as_ref().and_then(|leaf| leaf[page].as_ref()) {
                Some(page) => these.copy_from_slice(&page[bytes]),
                None => these.fill(0),
            }
            rest = others;
        }
    }

    /// Returns the allocation of the byte at `at`, and the end, at most `end`, of the range with
    /// that allocation.
    pub(super) fn stretch(&self, at: u64, end: u64) -> (Allocation, u64) {
        let (is_there, until) = self.pages_alike(at, end);
        if is_there {
            return (Allocation::Data, until);
        }
        let (is_kept, alike) = self.kept.stretch(at / PAGE_BYTES);
        let state = if is_kept { Allocation::Zero } else { Allocation::Hole };
        (state, until.min(alike.saturating_mul(PAGE_BYTES)))
    }

    /// Returns whether the byte at `at` is in an allocated page, and the end, at most `end`, of the
    /// range for which that holds.
    fn pages_alike(&self, at: u64, end: u64) -> (bool, u64) {
        let leaf_of = |at: u64| (at / LEAF_BYTES) as usize;
        let Some(leaf) = &self.leaves[leaf_of(at)] else {
            let absent = self.leaves[leaf_of(at)..].iter().take_while(|leaf| leaf.is_none());
            return (false, ((leaf_of(at) + absent.count()) as u64 * LEAF_BYTES).min(end));
        };
        let page = (at % LEAF_BYTES / PAGE_BYTES) as usize;
        let is_data = leaf[page].is_some();
        let alike = leaf[page..].iter().take_while(|page| page.is_some() == is_data);
        let until = at / LEAF_BYTES * LEAF_BYTES + (page + alike.count()) as u64 * PAGE_BYTES;
        (is_data, until.min(end))
    }

    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Fault> {
        let mut rest = bytes;
        for Part { block, bytes } in parts(at, rest.len() as u64) {
            let (these, others) = rest.split_at(bytes.len());
            self.page(block)?[bytes].copy_from_slice(these);
            rest = others;
        }
        Ok(())
    }

    /// Returns a page, allocated if necessary.
    fn page(&mut self, block: u64) -> Result<&mut Page, Fault> {
        let (leaf, page) = place(block);
        let leaf = &mut self.leaves[leaf];
        let is_there = leaf.as_ref().is_some_and(|leaf| leaf[page].is_some());
        if !is_there {
            let more = PAGE_BYTES + if leaf.is_none() { TABLE_BYTES } else { 0 };
            if self.used_bytes + more > self.limit_bytes {
                return Err(Fault::Full);
            }
            self.used_bytes += more;
        }
        let leaf = leaf.get_or_insert_with(|| Box::new([const { None }; LEAF_PAGES]));
        Ok(leaf[page].get_or_insert_with(|| Box::new([0; PAGE_BYTES as usize])))
    }

    /// Zeroes bytes, which stay allocated or become a hole; whole leaves are freed on a separate
    /// thread, as there may be thousands, and clients wait meanwhile.
    pub(super) fn zero(&mut self, at: u64, bytes: u64, keep_room: bool) {
        let end = at + bytes;
        match keep_room {
            true if bytes > 0 => self.kept.insert(at / PAGE_BYTES, end.div_ceil(PAGE_BYTES)),
            true => {}
            false => self.kept.remove(at.div_ceil(PAGE_BYTES), end / PAGE_BYTES),
        }
        let whole = at.div_ceil(LEAF_BYTES)..end / LEAF_BYTES;
        if whole.is_empty() {
            return self.zero_pages(at, bytes);
        }
        self.zero_pages(at, whole.start * LEAF_BYTES - at);
        self.zero_pages(whole.end * LEAF_BYTES, end - whole.end * LEAF_BYTES);
        let leaves = &mut self.leaves[whole.start as usize..whole.end as usize];
        let given_up: Vec<Leaf> = leaves.iter_mut().filter_map(Option::take).collect();
        let pages = |leaf: &Leaf| leaf.iter().flatten().count() as u64;
        let used_bytes = given_up.iter().map(|leaf| TABLE_BYTES + PAGE_BYTES * pages(leaf));
        self.used_bytes -= used_bytes.sum::<u64>();
        let sender = self.given_up.get_or_insert_with(start_to_give_back);
        // Without the thread, they are freed here.
        drop(sender.send(given_up));
    }

    fn zero_pages(&mut self, at: u64, bytes: u64) {
        for part in parts(at, bytes) {
            let (leaf, page) = place(part.block);
            let Some(leaf) = &mut self.leaves[leaf] else { continue };
            let place = &mut leaf[page];
            if part.is_whole() {
                self.used_bytes -= if place.take().is_some() { PAGE_BYTES } else { 0 };
            } else if let Some(page) = place {
                page[part.bytes].fill(0);
            }
        }
    }
}

/// Starts the thread that frees leaves; it ends with the drive.
fn start_to_give_back() -> Sender<Vec<Leaf>> {
    let (sender, given_up) = mpsc::channel();
    // If the thread cannot be started, the receiver is dropped.
    let _ = thread::Builder::new()
        .name("reprieve-memory".into())
        .spawn(move || given_up.iter().for_each(drop::<Vec<Leaf>>));
    sender
}

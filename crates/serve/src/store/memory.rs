//! Bytes in memory: pages are allocated by the first write of something other than zeros.

use std::sync::mpsc::{self, Sender};
use std::thread;

use super::Fault;
use super::ranges::Ranges;
use crate::protocol::Allocation;

/// Bytes of a page.
pub(super) const PAGE_BYTES: u64 = 4096;
/// Pages of a leaf of the table, which spans 2 MiB of the drive.
const LEAF_PAGES: usize = 512;
const LEAF_BYTES: u64 = PAGE_BYTES * LEAF_PAGES as u64;

type Page = Box<[u8; PAGE_BYTES as usize]>;
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

/// The position of a piece that does not cross pages.
struct Piece {
    leaf: usize,
    page: usize,
    from: usize,
    bytes: usize,
}

/// Splits `bytes` bytes from `at` on at page boundaries.
fn pieces(at: u64, bytes: u64) -> impl Iterator<Item = Piece> {
    let end = at + bytes;
    let mut next = at;
    std::iter::from_fn(move || {
        let here = next;
        next = end.min((here / PAGE_BYTES + 1) * PAGE_BYTES);
        (here < end).then(|| Piece {
            leaf: (here / LEAF_BYTES) as usize,
            page: (here % LEAF_BYTES / PAGE_BYTES) as usize,
            from: (here % PAGE_BYTES) as usize,
            bytes: (next - here) as usize,
        })
    })
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
        for piece in pieces(at, rest.len() as u64) {
            let (these, others) = rest.split_at_mut(piece.bytes);
            let page = self.leaves[piece.leaf].as_ref().and_then(|leaf| leaf[piece.page].as_ref());
            match page {
                Some(page) => these.copy_from_slice(&page[piece.from..piece.from + piece.bytes]),
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
        let place = |at: u64| (at / LEAF_BYTES) as usize;
        let Some(leaf) = &self.leaves[place(at)] else {
            let absent = self.leaves[place(at)..].iter().take_while(|leaf| leaf.is_none());
            return (false, ((place(at) + absent.count()) as u64 * LEAF_BYTES).min(end));
        };
        let page = (at % LEAF_BYTES / PAGE_BYTES) as usize;
        let is_data = leaf[page].is_some();
        let alike = leaf[page..].iter().take_while(|page| page.is_some() == is_data);
        let until = at / LEAF_BYTES * LEAF_BYTES + (page + alike.count()) as u64 * PAGE_BYTES;
        (is_data, until.min(end))
    }

    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Fault> {
        let mut rest = bytes;
        for piece in pieces(at, rest.len() as u64) {
            let (these, others) = rest.split_at(piece.bytes);
            let page = self.page(&piece)?;
            page[piece.from..piece.from + piece.bytes].copy_from_slice(these);
            rest = others;
        }
        Ok(())
    }

    /// The page of a piece, allocated if necessary.
    fn page(&mut self, piece: &Piece) -> Result<&mut Page, Fault> {
        let leaf = &mut self.leaves[piece.leaf];
        let is_there = leaf.as_ref().is_some_and(|leaf| leaf[piece.page].is_some());
        if !is_there {
            let more = PAGE_BYTES + if leaf.is_none() { TABLE_BYTES } else { 0 };
            if self.used_bytes + more > self.limit_bytes {
                return Err(Fault::Full);
            }
            self.used_bytes += more;
        }
        let leaf = leaf.get_or_insert_with(|| Box::new([const { None }; LEAF_PAGES]));
        Ok(leaf[piece.page].get_or_insert_with(|| Box::new([0; PAGE_BYTES as usize])))
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
        for piece in pieces(at, bytes) {
            let Some(leaf) = &mut self.leaves[piece.leaf] else { continue };
            let place = &mut leaf[piece.page];
            if piece.bytes as u64 == PAGE_BYTES {
                self.used_bytes -= if place.take().is_some() { PAGE_BYTES } else { 0 };
            } else if let Some(page) = place {
                page[piece.from..piece.from + piece.bytes].fill(0);
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

//! The blocks of a range of bytes.

use std::ops::Range;

/// Unit of memory, and of data that a power loss keeps or loses as a whole.
pub(super) const BLOCK_BYTES: u64 = 4096;

/// The content of a block.
pub(super) type Block = Box<[u8; BLOCK_BYTES as usize]>;

/// The part of a block that a range of bytes covers.
pub(super) struct Part {
    pub(super) block: u64,
    /// The covered bytes of the block.
    pub(super) bytes: Range<usize>,
}

impl Part {
    pub(super) fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == BLOCK_BYTES
    }
}

/// Splits `bytes` bytes from `at` on at the ends of blocks.
pub(super) fn parts(at: u64, bytes: u64) -> impl Iterator<Item = Part> {
    let end = at + bytes;
    let blocks = if bytes == 0 { 0..0 } else { at / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES) };
    blocks.map(move |block| {
        let start = block * BLOCK_BYTES;
        let from = at.saturating_sub(start) as usize;
        Part { block, bytes: from..(end - start).min(BLOCK_BYTES) as usize }
    })
}

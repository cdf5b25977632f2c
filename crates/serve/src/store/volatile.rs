//! Volatile memory of a drive in front of its file, which a power loss clears.
//!
//! Only a drive with an injected power loss has it: otherwise data goes into the file at once,
//! and acknowledged data is never lost.

use std::collections::BTreeMap;

use super::Fault;
use super::block_parts::{BLOCK_BYTES, Block, Part, parts};
use super::file::FileStore;
use super::holes::Zeroing;
use crate::protocol::Allocation;

/// A block that is not in the file: data, or zeros without allocation (`None`).
struct Changed {
    content: Option<Block>,
    /// Its position in order of arrival, in which blocks are written.
    turn: u64,
}

/// A file, and the blocks that are not in it yet.
pub struct Volatile {
    pub(super) file: FileStore,
    /// Bytes of the drive, whose last block may be shorter.
    pub(super) bytes: u64,
    changed: BTreeMap<u64, Changed>,
    turns: BTreeMap<u64, u64>,
    next_turn: u64,
    blocks_max: u64,
}

/// Counts of volatile blocks that were kept and lost in a power loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    pub kept_blocks: u64,
    pub lost_blocks: u64,
}

impl Volatile {
    /// A drive of `bytes` bytes with memory for whole blocks of at most `memory_bytes`.
    pub(super) fn new(file: FileStore, bytes: u64, memory_bytes: u64) -> Volatile {
        let (changed, turns) = (BTreeMap::new(), BTreeMap::new());
        let blocks_max = memory_bytes / BLOCK_BYTES;
        Volatile { file, bytes, changed, turns, next_turn: 0, blocks_max }
    }

    /// Offset and length of a block.
    fn place(&self, block: u64) -> (u64, usize) {
        let at = block * BLOCK_BYTES;
        (at, (self.bytes - at).min(BLOCK_BYTES) as usize)
    }

    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Fault> {
        self.file.read(at, into)?;
        let mut rest = into;
        for Part { block, bytes } in parts(at, rest.len() as u64) {
            let (here, others) = rest.split_at_mut(bytes.len());
            match self.changed.get(&block).map(|changed| &changed.content) {
                Some(Some(data)) => here.copy_from_slice(&data[bytes]),
                Some(None) => here.fill(0),
                None => {}
            }
            rest = others;
        }
        Ok(())
    }

    /// Returns the allocation of the byte at `at`, and the end, at most `end`, of the range with
    /// that allocation, as far as it is known without further reads.
    pub(super) fn stretch(&self, at: u64, end: u64) -> Result<(Allocation, u64), Fault> {
        let block = at / BLOCK_BYTES;
        if let Some(changed) = self.changed.get(&block) {
            let is_data = changed.content.is_some();
            let allocation = if is_data { Allocation::Data } else { Allocation::Hole };
            return Ok((allocation, ((block + 1) * BLOCK_BYTES).min(end)));
        }
        let next = self.changed.range(block..).next();
        self.file.stretch(at, next.map_or(end, |(next, _)| (next * BLOCK_BYTES).min(end)))
    }

    pub(super) fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Fault> {
        let mut rest = bytes;
        for Part { block, bytes } in parts(at, rest.len() as u64) {
            let (data, others) = rest.split_at(bytes.len());
            self.change(block, |content| content[bytes].copy_from_slice(data))?;
            rest = others;
        }
        self.make_room()
    }

    pub(super) fn zero(&mut self, zeroing: Zeroing) -> Result<(), Fault> {
        let Zeroing { at, bytes, keep_room } = zeroing;
        if bytes.div_ceil(BLOCK_BYTES) > self.blocks_max {
            self.store(at, bytes)?;
            return self.file.zero(zeroing);
        }
        for part in parts(at, bytes) {
            if part.is_whole() && !keep_room {
                self.enter(part.block, None);
            } else {
                self.change(part.block, |content| content[part.bytes].fill(0))?;
            }
        }
        self.make_room()
    }

    /// Changes part of a block, which may be new to the memory.
    fn change(&mut self, block: u64, how: impl FnOnce(&mut Block)) -> Result<(), Fault> {
        let mut data = match self.changed.get_mut(&block).map(|changed| changed.content.take()) {
            Some(Some(data)) => data,
            Some(None) => Box::new([0; BLOCK_BYTES as usize]),
            None => {
                let mut data = Box::new([0; BLOCK_BYTES as usize]);
                let (at, length) = self.place(block);
                self.file.read(at, &mut data[..length])?;
                data
            }
        };
        how(&mut data);
        self.enter(block, Some(data));
        Ok(())
    }

    fn enter(&mut self, block: u64, content: Option<Block>) {
        if let Some(changed) = self.changed.get_mut(&block) {
            changed.content = content;
            return;
        }
        let turn = self.next_turn;
        self.next_turn += 1;
        self.turns.insert(turn, block);
        self.changed.insert(block, Changed { content, turn });
    }

    /// Writes the oldest blocks until the rest fits.
    fn make_room(&mut self) -> Result<(), Fault> {
        while self.changed.len() as u64 > self.blocks_max {
            let (_, block) = self.turns.first_key_value().expect("each block has its turn");
            self.store_block(*block)?;
        }
        Ok(())
    }

    /// Writes the blocks of these bytes to the file.
    pub(super) fn store(&mut self, at: u64, bytes: u64) -> Result<(), Fault> {
        let range = at / BLOCK_BYTES..(at + bytes).div_ceil(BLOCK_BYTES);
        let blocks: Vec<u64> = self.changed.range(range).map(|(block, _)| *block).collect();
        blocks.into_iter().try_for_each(|block| self.store_block(block))
    }

    fn store_block(&mut self, block: u64) -> Result<(), Fault> {
        let ((at, length), changed) = (self.place(block), &self.changed[&block]);
        match &changed.content {
            Some(data) => self.file.write(at, &data[..length])?,
            None => {
                let zeroing = Zeroing { at, bytes: length as u64, keep_room: false };
                self.file.zero(zeroing)?;
            }
        }
        self.turns.remove(&changed.turn);
        self.changed.remove(&block);
        Ok(())
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.changed.values().filter(|changed| changed.content.is_some()).count() as u64
            * BLOCK_BYTES
    }

    /// Simulates the power loss: `is_kept` decides for each block whether it survives.
    pub(super) fn lose(&mut self, mut is_kept: impl FnMut() -> bool) -> Result<Losses, Fault> {
        let mut losses = Losses::default();
        for block in self.changed.keys().copied().collect::<Vec<_>>() {
            if is_kept() {
                losses.kept_blocks += 1;
                self.store_block(block)?;
            } else {
                losses.lost_blocks += 1;
            }
        }
        self.changed.clear();
        self.turns.clear();
        Ok(losses)
    }
}

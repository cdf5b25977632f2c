//! Checks of blocks as a whole: no write is torn, and a loss of power takes all it should.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::{CELL_BYTES, Fault};
use super::oracle::{End, Number, Value};
use super::setup::{BLOCK_BYTES, Setup, scenarios};
use super::wire::Sent;
use crate::protocol::{FLAG_FUA, Kind};

const BLOCK_CELLS: usize = BLOCK_BYTES as usize / CELL_BYTES;

/// The commands since the start of the server, and the blocks that they may have changed.
pub struct Blocks {
    /// Values at the start.
    first: Vec<Value>,
    sent: BTreeMap<Number, (Sent, std::ops::Range<usize>)>,
    /// By acknowledged command, the next one that was sent.
    acknowledged: BTreeMap<Number, Number>,
    changed: BTreeSet<usize>,
    /// Blocks that were to be flushed.
    flushed: BTreeSet<usize>,
}

impl Blocks {
    pub fn new(cells: usize) -> Blocks {
        Blocks {
            first: vec![0; cells],
            sent: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            changed: BTreeSet::new(),
            flushed: BTreeSet::new(),
        }
    }

    pub fn sent(&mut self, sent: &Sent, drive_bytes: u64) {
        let cells = sent.cells(drive_bytes);
        let blocks = cells.start / BLOCK_CELLS..cells.end.div_ceil(BLOCK_CELLS);
        if sent.kind == Kind::Flush {
            self.flushed.extend(0..self.first.len());
        }
        if sent.value().is_some() {
            self.changed.extend(blocks.clone());
            if sent.flags & FLAG_FUA != 0 {
                self.flushed.extend(blocks);
            }
            self.sent.insert(sent.number, (sent.clone(), cells));
        }
    }

    /// Records that a command has taken effect; `next`: the number of the next one.
    pub fn acknowledged(&mut self, number: Number, next: Number) {
        self.acknowledged.insert(number, next);
    }

    /// Checks the blocks after the end of a server, and begins anew.
    pub fn end(&mut self, setup: &Setup, end: End, found: &[Value]) -> Result<(), String> {
        let before = std::mem::replace(self, Blocks::new(found.len()));
        self.first = found.to_vec();
        let cuts_blocks = [Fault::Error, Fault::Full, Fault::Short];
        let is_cut = matches!(end, End::Cut | End::Lied)
            || setup.faults.iter().any(|fault| cuts_blocks.contains(fault))
            || setup.injections.iter().any(|text| text.starts_with("torn"));
        for (block, values) in found.chunks_exact(BLOCK_CELLS).enumerate().filter(|_| !is_cut) {
            before.is_whole(block, values)?;
        }
        if end == End::PowerLost && setup.keep_percent() == Some(0) {
            before.is_undone(setup, found)?;
        }
        Ok(())
    }

    /// Checks that no part of a block is older than a write of all of it that is there.
    fn is_whole(&self, block: usize, values: &[Value]) -> Result<(), String> {
        let first = block * BLOCK_CELLS;
        for writer in values {
            let Some((_, cells)) = self.sent.get(writer) else { continue };
            if cells.start > first || cells.end < first + BLOCK_CELLS {
                continue;
            }
            for (cell, value) in (first..).zip(values) {
                if value != writer && self.is_older(cell, *value, *writer) {
                    return Err(format!(
                        "block {block} is torn: cell {cell} is {value}, older than {writer}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether what wrote this value was complete when a command was sent.
    fn is_older(&self, cell: usize, value: Value, than: Number) -> bool {
        let of_value = |sent: &Sent| sent.value() == Some(value);
        let mut writers =
            self.sent.iter().filter(|(_, (sent, cells))| of_value(sent) && cells.contains(&cell));
        writers.all(|(number, _)| self.acknowledged.get(number).is_some_and(|next| *next <= than))
    }

    /// Checks that a loss of power has taken all that was in memory only.
    fn is_undone(&self, setup: &Setup, found: &[Value]) -> Result<(), String> {
        let memory_blocks = scenarios()[setup.scenario].buffer.bytes / BLOCK_BYTES;
        if setup.is_through() || self.changed.len() as u64 > memory_blocks {
            return Ok(());
        }
        for (cell, (value, first)) in found.iter().zip(&self.first).enumerate() {
            let is_flushed = self.flushed.contains(&(cell / BLOCK_CELLS));
            if !is_flushed && value != first {
                return Err(format!(
                    "cell {cell} is {value} and was {first}: it should be lost with the power"
                ));
            }
        }
        Ok(())
    }
}

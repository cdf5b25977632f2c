//! Erase times of a die's blocks, where erases have loops and blocks differ.

use std::sync::Arc;

use reprieve_base::{Archive, Dur, PageAddress, Stream};

use super::Die;
use crate::command::Shape;
use crate::loops::EraseLengths;

/// Rank and cycles of each block, which determine its erase time.
#[derive(Clone, Debug)]
pub(super) struct BlockErases {
    lengths: Arc<EraseLengths>,
    shape: Shape,
    /// By [`crate::Shape::block_index`], each rank once, constant.
    ranks: Box<[u32]>,
    cycles: Box<[f64]>,
}

impl BlockErases {
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.cycles);
    }

    /// Creates blocks with random ranks, all without cycles.
    fn new(lengths: Arc<EraseLengths>, shape: Shape, seed: u64, index: u64) -> BlockErases {
        let mut stream = Stream::new(seed, "nand.erase", index);
        let mut ranks: Box<[u32]> = (0..shape.planes * shape.blocks_per_plane).collect();
        for last in (1..ranks.len()).rev() {
            ranks.swap(last, stream.below(last as u64 + 1) as usize);
        }
        BlockErases { lengths, shape, cycles: vec![0.0; ranks.len()].into(), ranks }
    }

    fn index(&self, at: PageAddress) -> usize {
        let index = self.shape.block_index(PageAddress { page: 0, ..at });
        index.expect("the caller knows the die's shape")
    }

    fn of_middle(&self) -> Dur {
        let blocks = self.ranks.len() as u32;
        self.lengths.of(blocks / 2, blocks, self.cycles[0])
    }

    fn of(&self, block: usize) -> Dur {
        self.lengths.of(self.ranks[block], self.ranks.len() as u32, self.cycles[block])
    }
}

impl Die {
    /// Sets the erase times of its blocks from a table, on a part that erases in loops.
    pub fn erase_in_loops(&mut self, lengths: &Arc<EraseLengths>, seed: u64, index: u64) {
        assert!(self.part.timing.erase_loops.is_some(), "the part erases with one pulse");
        let erases = BlockErases::new(Arc::clone(lengths), self.part.shape, seed, index);
        self.erases = Some(Box::new(erases));
    }

    /// Sets the program/erase cycles of a block, of a die that erases in loops.
    pub fn set_cycles(&mut self, plane: u32, block: u32, cycles: f64) {
        let erases = self.erases.as_mut().expect("only then do they matter");
        let index = erases.index(PageAddress { plane, block, page: 0 });
        erases.cycles[index] = cycles;
    }

    /// Returns the array time of an erase without suspension: of this block, or of the median one.
    #[inline(never)]
    pub fn erase_of(&self, at: Option<PageAddress>) -> Dur {
        match (&self.erases, at) {
            (None, _) => self.part.timing.erase + self.part.timing.erase_verify,
            (Some(erases), None) => erases.of_middle(),
            (Some(erases), Some(at)) => erases.of(erases.index(at)),
        }
    }

    /// Returns loops and last pulse of the longest of these blocks' erases.
    pub(super) fn loops_of(&self, at: PageAddress, others: &[PageAddress]) -> (u32, Dur) {
        let timing = &self.part.timing;
        let Some(loops) = &timing.erase_loops else { return (1, timing.erase) };
        let rest = others.iter().map(|other| self.erase_of(Some(*other)));
        loops.divide(rest.fold(self.erase_of(Some(at)), Dur::max), timing.erase_verify)
    }
}

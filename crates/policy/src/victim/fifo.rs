//! FIFO: the block that was filled first.

use std::collections::VecDeque;

use reprieve_base::{Archive, Entry, Geometry};

use super::{BlockView, VictimPolicy};

pub(super) const ENTRY: Entry =
    Entry { name: "fifo", doc: "the full block that was filled longest ago" };

#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct OldestFirst {
    /// Full blocks of each plane, in the order of filling.
    filled: Vec<VecDeque<u32>>,
}

impl OldestFirst {
    pub(super) fn new(geometry: &Geometry) -> OldestFirst {
        let blocks = geometry.blocks_per_plane as usize;
        let planes = 0..geometry.planes();
        OldestFirst { filled: planes.map(|_| VecDeque::with_capacity(blocks)).collect() }
    }
}

impl VictimPolicy for OldestFirst {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(self);
    }

    fn pick(&mut self, blocks: &mut dyn BlockView, plane: u32) -> Option<u32> {
        let filled = &mut self.filled[plane as usize];
        // A block without garbage moves to the end, as if rewritten, at no cost, so that none is
        // examined twice before all others.
        for _ in 0..filled.len() {
            let block = filled.pop_front().expect("no block is taken out but to be returned");
            let gain = blocks.gain(block).expect("a block is listed from its filling to its pick");
            if gain > 0 {
                return Some(block);
            }
            filled.push_back(block);
        }
        None
    }

    fn filled(&mut self, plane: u32, block: u32) {
        self.filled[plane as usize].push_back(block);
    }

    fn taken(&mut self, plane: u32, block: u32) {
        let filled = &mut self.filled[plane as usize];
        let index = filled.iter().position(|listed| *listed == block);
        filled.remove(index.expect("a block is listed from its filling on"));
    }
}

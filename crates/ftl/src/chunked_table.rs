//! A large table whose nonzero entries lie together, such as the pages of blocks.

use reprieve_base::Archive;

/// Entries of a chunk, as a power of two.
const CHUNK_BITS: u32 = 10;
const CHUNK: usize = 1 << CHUNK_BITS;

/// Chunks of entries, of which those that are not all zeros have memory.
#[derive(Debug)]
pub(super) struct ChunkedTable {
    /// For each chunk of the table its place in memory, from one on; 0: it is all zeros.
    places: Vec<u32>,
    memory: Vec<u32>,
}

impl ChunkedTable {
    /// Returns a table of zeros.
    pub(super) fn new(entries: usize) -> ChunkedTable {
        ChunkedTable { places: vec![0; entries.div_ceil(CHUNK)], memory: Vec::new() }
    }

    /// Writes the chunks that have memory, or reads them back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        archive.table(bytemuck::cast_slice_mut(&mut self.places));
        if archive.is_loading() {
            let chunks = self.places.iter().filter(|place| **place > 0).count();
            archive.refuse_unless(self.places.iter().all(|place| *place as usize <= chunks));
            self.memory = vec![0; chunks * CHUNK];
        }
        archive.table(bytemuck::cast_slice_mut(&mut self.memory));
    }

    /// Returns an entry.
    #[inline]
    pub(super) fn get(&self, index: u32) -> u32 {
        match self.places[(index >> CHUNK_BITS) as usize] {
            0 => 0,
            place => self.memory[at(place, index)],
        }
    }

    /// Sets an entry.
    #[inline]
    pub(super) fn put(&mut self, index: u32, entry: u32) {
        let place = &mut self.places[(index >> CHUNK_BITS) as usize];
        if *place == 0 {
            self.memory.resize(self.memory.len() + CHUNK, 0);
            *place = (self.memory.len() / CHUNK) as u32;
        }
        self.memory[at(*place, index)] = entry;
    }
}

/// Returns where the memory has an entry of the chunk at a place.
#[inline(always)]
fn at(place: u32, index: u32) -> usize {
    (place as usize - 1) * CHUNK + index as usize % CHUNK
}

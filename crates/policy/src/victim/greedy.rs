//! Greedy: the full block with the fewest valid pages.

use reprieve_base::Entry;

use super::{BlockView, VictimPolicy};

pub(super) const ENTRY: Entry =
    Entry { name: "greedy", doc: "the full block with the fewest valid pages" };

pub(super) struct Greedy;

impl VictimPolicy for Greedy {
    fn pick(&mut self, blocks: &mut dyn BlockView, plane: u32) -> Option<u32> {
        blocks.emptiest(plane)
    }
}

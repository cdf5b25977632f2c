//! Greedy: the full block with the fewest valid pages; among equals, the one that got there first.

use reprieve_base::Entry;

use super::VictimPolicy;
use crate::gc::index::BlockIndex;

pub(super) const ENTRY: Entry =
    Entry { name: "greedy", doc: "the full block with the fewest valid pages" };

pub(super) struct Greedy;

impl VictimPolicy for Greedy {
    fn pick(&mut self, index: &mut BlockIndex, plane: u32) -> Option<u32> {
        index.emptiest(plane)
    }
}

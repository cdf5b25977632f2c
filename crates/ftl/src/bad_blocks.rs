//! Blocks with failed programs: they are retired as soon as their pages have moved.

use reprieve_base::PageAddress;
use reprieve_policy::txn::Txn;

use super::blocks::Blocks;

impl Blocks {
    /// Whether the block of an address is bad.
    pub fn is_bad(&self, die: u32, at: PageAddress) -> bool {
        self.failing.is_bad(self.numbering.block_of(self.numbering.page(die, at)))
    }

    /// Whether the program of a completed page has failed; then its block is to be retired, and the
    /// page is to be written elsewhere.
    pub fn program_failed(&mut self, txn: &Txn) -> bool {
        if !self.failing.program_fails(txn.die) {
            return false;
        }
        self.failing.count_program(txn.kind);
        let plane = self.numbering.plane(txn.die, txn.at);
        let state = &mut self.planes[plane as usize];
        state.close(txn.at.block);
        state.failed.push_back(self.numbering.blocks_of(plane).start + txn.at.block);
        self.lose_block(plane);
        true
    }

    /// Retires blocks with failed programs and no valid page left; returns whether the victim is to
    /// be retired as well, and has none.
    #[cold]
    pub(super) fn give_up_empty(&mut self, plane: u32) -> bool {
        let (index, failing) = (&self.index, &mut self.failing);
        let state = &mut self.planes[plane as usize];
        state.failed.retain(|block| index.valid(*block) > 0 || !failing.give_up(*block));
        state.victim.is_some_and(|victim| victim.retires && index.valid(victim.block) == 0)
    }
}

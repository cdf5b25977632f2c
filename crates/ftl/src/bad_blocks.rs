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

    /// Retires blocks with failed programs and no valid page left.
    #[cold]
    pub(super) fn give_up_empty(&mut self, plane: u32) {
        let (index, failing) = (&self.index, &mut self.failing);
        let failed = &mut self.planes[plane as usize].failed;
        failed.retain(|block| index.valid(*block) > 0 || !failing.give_up(*block));
    }

    /// Whether the victim of a plane is to be retired and has no valid page left.
    pub(super) fn retires_empty(&self, plane: u32) -> bool {
        let victim = self.planes[plane as usize].victim.filter(|victim| victim.retires);
        victim.is_some_and(|victim| self.index.valid(victim.block) == 0)
    }

    /// A victim with an earlier failure is retired.
    pub(super) fn retire(&mut self, block: u32) {
        self.failing.give_up(block);
    }

    /// Records a plane without a block to move a page to.
    #[cold]
    pub(super) fn no_free_block(&mut self, plane: u32) {
        self.failing.has_no_free(plane, self.planes[plane as usize].good_blocks);
    }
}

//! Blocks that read badly: their pages are moved in idle time, before they are lost.

use super::blocks::Blocks;

impl super::Ftl {
    /// Has the pages of a block moved that has this page; returns its die unless it waits for that
    /// already, is open, or is being collected.
    pub fn refresh(&mut self, page: u32) -> Option<u32> {
        let blocks = &mut self.tables.blocks;
        let block = blocks.numbering.block_of(page);
        let plane = blocks.numbering.plane_of(block);
        let refreshes = &mut blocks.planes[plane as usize].refreshes;
        if !blocks.index.is_full(block) || refreshes.contains(&block) {
            return None;
        }
        refreshes.push_back(block);
        blocks.needs.forget(plane);
        Some(blocks.numbering.die(plane))
    }
}

/// Takes the block of a plane that has waited longest to be refreshed, if there is one.
pub(super) fn choose(blocks: &mut Blocks, plane: u32) -> Option<u32> {
    let block = blocks.planes[plane as usize].refreshes.pop_front()?;
    take_full(blocks, plane, block);
    Some(block)
}

/// Takes a full block as a victim that the policy has not picked.
pub(super) fn take_full(blocks: &mut Blocks, plane: u32, block: u32) {
    let next = &mut blocks.planes[plane as usize].next_victim;
    match *next == Some(block) {
        true => *next = None,
        false => blocks.victim.taken(plane, block),
    }
    blocks.index.reclaim(block);
}

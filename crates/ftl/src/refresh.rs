//! Blocks that read badly: their pages are moved in idle time, before they are lost.

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

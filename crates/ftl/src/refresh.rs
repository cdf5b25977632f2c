//! Refresh: the pages of blocks with many errors are moved in idle time, before they are lost.

impl super::Ftl {
    /// Queues the refresh of the block of this page; returns its die unless it is queued, open or a
    /// victim already.
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

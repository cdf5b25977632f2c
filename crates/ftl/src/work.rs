//! The FTL as the `Work` of the flash: pages of programs, and steps of collection.

use reprieve_base::{PageAddress, Time};
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::txn::{Kind, Txn};
use reprieve_policy::work::{GcNeed, Work};

use super::Ftl;

impl Ftl {
    /// Records the place of a host page in an open block of a plane.
    #[inline]
    fn placed(&mut self, plane: u32, front: u8) {
        let blocks = &mut self.tables.blocks;
        if usize::from(front) == SLC_FRONT {
            let slc = &mut blocks.planes[plane as usize].slc;
            (slc.promised, slc.begun) = (slc.promised - 1, slc.begun + 1);
            blocks.needs.forget(plane);
        }
        self.collection.earn_moves(plane, blocks);
    }
}

impl Work for Ftl {
    #[inline]
    fn place(&mut self, txn: &mut Txn) -> bool {
        let blocks = &mut self.tables.blocks;
        let plane = self.numbering.plane(txn.die, txn.at);
        if !blocks.has_room(plane, txn.front) {
            if blocks.fronts.has_zones() {
                self.want_block(plane);
            }
            return false;
        }
        txn.at = blocks.allocate_together(plane, usize::from(txn.front));
        txn.place = 0;
        self.placed(plane, txn.front);
        true
    }

    fn place_beside(&mut self, txn: &mut Txn, first: PageAddress, number: u32) -> bool {
        (txn.at, txn.place) = self.numbering.beside(first, number);
        self.placed(self.numbering.plane(txn.die, txn.at), txn.front);
        true
    }

    fn next_page(&self, txn: &Txn) -> Option<PageAddress> {
        let blocks = &self.tables.blocks;
        let plane = self.numbering.plane(txn.die, txn.at);
        if !blocks.has_room(plane, txn.front) {
            return None;
        }
        let front = usize::from(txn.front);
        let (block, page) =
            blocks.planes[plane as usize].next(front, self.numbering.pages_per_block());
        Some(self.numbering.address(plane, block, page))
    }

    #[inline(always)]
    fn locate(&mut self, txn: &mut Txn) {
        let erases = self.tables.blocks.erases(txn.die, txn.at);
        if erases != txn.erases_seen {
            txn.erases_seen = erases;
            txn.at = self.tables.located_anew(txn);
        }
    }

    #[inline(always)]
    fn located(&self, txn: &Txn) -> PageAddress {
        match self.tables.blocks.erases(txn.die, txn.at) == txn.erases_seen {
            true => txn.at,
            false => self.tables.located_anew(txn),
        }
    }

    #[inline]
    fn gc_need(&mut self, die: u32) -> GcNeed {
        self.collection.need_of_die(die, &mut self.tables)
    }

    fn gc_next(&mut self, die: u32) -> Option<Kind> {
        self.collection.next_step(die, &mut self.tables)
    }

    fn free_blocks(&self, die: u32, plane: u32) -> Option<u32> {
        let plane = self.numbering.plane(die, PageAddress { plane, block: 0, page: 0 });
        Some(self.tables.blocks.planes[plane as usize].free_blocks())
    }

    fn gc_peek(&self, die: u32) -> Kind {
        self.collection.next_step_kind(die, &self.tables.blocks)
    }

    #[inline(always)]
    fn gc_take(&mut self, die: u32, now: Time) -> Txn {
        self.collection.take_step(die, &mut self.tables.blocks, now)
    }

    fn gc_take_page(&mut self, first: &Txn, number: u32, now: Time) -> Option<Txn> {
        self.collection.take_held(first, number, &mut self.tables.blocks, now)
    }

    fn gc_take_beside(&mut self, first: &Txn, now: Time) -> Option<Txn> {
        self.collection.take_beside(first, &mut self.tables.blocks, now)
    }

    fn gc_next_read(&mut self, die: u32) -> Option<u32> {
        self.collection.next_read_beside(die, &mut self.tables)
    }

    fn gc_take_erase(&mut self, die: u32, block: Option<u32>, now: Time) -> Option<Txn> {
        self.collection.take_erase(die, block, &mut self.tables, now)
    }
}

//! What the flash asks of this layer: where pages go, and which step collection takes next.

use reprieve_base::{PageAddress, Time};
use reprieve_policy::txn::{Kind, Txn};
use reprieve_policy::work::{GcNeed, Work};

use super::Ftl;

impl Work for Ftl {
    #[inline]
    fn place(&mut self, txn: &mut Txn) -> bool {
        let plane = self.plane_of(txn.die, txn.at);
        if !self.has_room(plane, txn.front) {
            return false;
        }
        txn.at = self.allocate_together(plane, usize::from(txn.front));
        self.earn_moves(plane);
        true
    }

    fn place_beside(&mut self, txn: &mut Txn, first: PageAddress, number: u32) -> bool {
        txn.at = PageAddress { page: first.page + number, ..first };
        self.earn_moves(self.plane_of(txn.die, txn.at));
        true
    }

    fn next_page(&self, txn: &Txn) -> Option<PageAddress> {
        let plane = self.plane_of(txn.die, txn.at);
        if !self.has_room(plane, txn.front) {
            return None;
        }
        let pages_per_block = self.geometry.pages_per_block;
        let front = usize::from(txn.front);
        let (block, page) = self.planes[plane as usize].next(front, pages_per_block);
        Some(self.twins.outer(PageAddress { plane: txn.at.plane, block, page }))
    }

    #[inline(always)]
    fn locate(&mut self, txn: &mut Txn) {
        let erases = self.erases(txn.die, txn.at);
        if erases != txn.erases_seen {
            txn.erases_seen = erases;
            txn.at = self.located_anew(txn);
        }
    }

    #[inline(always)]
    fn located(&self, txn: &Txn) -> PageAddress {
        match self.erases(txn.die, txn.at) == txn.erases_seen {
            true => txn.at,
            false => self.located_anew(txn),
        }
    }

    #[inline]
    fn gc_need(&mut self, die: u32) -> GcNeed {
        self.need_of_die(die)
    }

    fn gc_next(&mut self, die: u32) -> Option<Kind> {
        self.next_step(die)
    }

    fn free_blocks(&self, die: u32, plane: u32) -> Option<u32> {
        let at = PageAddress { plane, block: 0, page: 0 };
        Some(self.planes[self.plane_of(die, at) as usize].free_blocks())
    }

    fn gc_peek(&self, die: u32) -> Kind {
        self.peek(die)
    }

    #[inline(always)]
    fn gc_take(&mut self, die: u32, now: Time) -> Txn {
        self.take_step(die, now)
    }

    fn gc_take_page(&mut self, first: &Txn, number: u32, now: Time) -> Option<Txn> {
        self.take_held(first, number, now)
    }

    fn gc_take_beside(&mut self, first: &Txn, now: Time) -> Option<Txn> {
        self.take_beside(first, now)
    }

    fn gc_next_read(&mut self, die: u32) -> Option<u32> {
        self.next_read_beside(die)
    }

    fn gc_take_erase(&mut self, die: u32, block: Option<u32>, now: Time) -> Option<Txn> {
        self.take_erase(die, block, now)
    }
}

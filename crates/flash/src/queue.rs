//! A first-in-first-out queue of transactions, linked through the transactions themselves.

use reprieve_base::Slab;
use reprieve_policy::txn::{NONE, Txn};

/// First in, first out; holds indices into the pool of transactions.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    head: u32,
    tail: u32,
    count: u32,
}

impl Queue {
    /// An empty queue.
    pub const fn new() -> Queue {
        Queue { head: NONE, tail: NONE, count: 0 }
    }

    /// The oldest transaction.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// How many are in it.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Its transactions, the oldest first.
    pub fn iter(&self, txns: &Slab<Txn>) -> impl Iterator<Item = u32> {
        let next = |id: &u32| Some(txns[*id].next).filter(|next| *next != NONE);
        std::iter::successors(self.first(), next)
    }

    /// Adds a transaction at the end.
    #[inline]
    pub fn push(&mut self, txns: &mut Slab<Txn>, id: u32) {
        txns[id].next = NONE;
        if self.head == NONE {
            self.head = id;
        } else {
            txns[self.tail].next = id;
        }
        self.tail = id;
        self.count += 1;
    }

    /// Adds a transaction before all others.
    pub fn push_front(&mut self, txns: &mut Slab<Txn>, id: u32) {
        txns[id].next = self.head;
        if self.head == NONE {
            self.tail = id;
        }
        self.head = id;
        self.count += 1;
    }

    /// Takes `id` out, so that nothing follows it any more; it usually is the first.
    #[inline(always)]
    pub fn remove(&mut self, txns: &mut Slab<Txn>, id: u32) {
        let next = std::mem::replace(&mut txns[id].next, NONE);
        self.count -= 1;
        if self.head == id {
            self.head = next;
            return;
        }
        self.remove_inner(txns, id, next);
    }

    #[cold]
    fn remove_inner(&mut self, txns: &mut Slab<Txn>, id: u32, next: u32) {
        let mut before = self.head;
        while txns[before].next != id {
            before = txns[before].next;
            assert!(before != NONE, "a transaction is not in its queue");
        }
        txns[before].next = next;
        if self.tail == id {
            self.tail = before;
        }
    }
}

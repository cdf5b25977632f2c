//! Queues and lists of transactions, linked through the transactions themselves.

use reprieve_base::Slab;
use reprieve_policy::txn::{NONE, Txn};

/// First in, first out; holds indices into the pool of transactions.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Queue {
    head: u32,
    tail: u32,
    count: u32,
}

impl Queue {
    /// Creates an empty queue.
    pub const fn new() -> Queue {
        Queue { head: NONE, tail: NONE, count: 0 }
    }

    /// Returns the oldest transaction.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }

    /// Returns the number of transactions.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns its transactions, the oldest first.
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

    /// Removes `id`, usually the first, and clears its link.
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

/// Linked transactions in no queue: a command, or pages on their way.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Linked {
    first: u32,
    /// Undefined without a first.
    last: u32,
}

impl Linked {
    pub(super) const EMPTY: Linked = Linked { first: NONE, last: NONE };

    /// Returns the first, or `NONE`.
    #[inline(always)]
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Adds a transaction.
    #[inline(always)]
    pub(super) fn append(&mut self, txns: &mut Slab<Txn>, id: u32) {
        match self.first {
            NONE => self.first = id,
            _ => txns[self.last].next = id,
        }
        self.last = id;
    }

    /// Adds a transaction with all its linked ones; returns their number.
    #[inline(always)]
    pub(super) fn append_all(&mut self, txns: &mut Slab<Txn>, first: u32) -> u32 {
        self.append(txns, first);
        let mut count = 1;
        let mut each = txns[first].next;
        while each != NONE {
            self.last = each;
            count += 1;
            each = txns[each].next;
        }
        count
    }

    /// Removes all, linked to each other; returns the first, or `NONE`.
    #[inline(always)]
    pub(super) fn take(&mut self) -> u32 {
        std::mem::replace(&mut self.first, NONE)
    }

    /// Removes the first, whose link to the next one stays.
    #[inline(always)]
    pub(super) fn take_first(&mut self, txns: &Slab<Txn>) -> u32 {
        let id = self.first;
        self.first = txns[id].next;
        id
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::{PageAddress, Time};
    use reprieve_policy::txn::Kind;

    use super::*;

    /// Number of transactions.
    fn transactions(count: u32) -> (Slab<Txn>, Vec<u32>) {
        let mut txns = Slab::with_capacity(count as usize);
        let at = PageAddress { plane: 0, block: 0, page: 0 };
        let new = |_| txns.insert(Txn::new(Kind::HostRead, 0, at, NONE, 0, Time::ZERO));
        let ids = (0..count).map(new).collect();
        (txns, ids)
    }

    #[test]
    fn what_follows_the_first_is_added_with_it_and_taken_one_by_one() {
        let (mut txns, ids) = transactions(4);
        let (mut command, mut line) = (Linked::EMPTY, Linked::EMPTY);
        command.append(&mut txns, ids[1]);
        command.append(&mut txns, ids[2]);
        line.append(&mut txns, ids[0]);
        assert_eq!(line.append_all(&mut txns, command.take()), 2);
        assert_eq!(command.first(), NONE);
        line.append(&mut txns, ids[3]);
        let taken: Vec<u32> = ids.iter().map(|_| line.take_first(&txns)).collect();
        assert_eq!((taken, line.first()), (ids, NONE));
    }

    #[test]
    fn one_from_the_middle_and_the_last_leave_a_queue_in_order() {
        let (mut txns, ids) = transactions(4);
        let mut queue = Queue::new();
        ids.iter().for_each(|id| queue.push(&mut txns, *id));
        queue.remove(&mut txns, ids[1]);
        queue.remove(&mut txns, ids[3]);
        queue.push_front(&mut txns, ids[3]);
        queue.push(&mut txns, ids[1]);
        let left: Vec<u32> = queue.iter(&txns).collect();
        assert_eq!((left, queue.count()), (vec![ids[3], ids[0], ids[2], ids[1]], 4));
    }
}

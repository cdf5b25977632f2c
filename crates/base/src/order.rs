//! An order over small numbers: a doubly linked list in a flat array, each step in constant time.

/// "No number".
const NONE: u32 = u32::MAX;

/// "Not in the list".
const OUT: u32 = NONE - 1;

/// An ordered set of numbers; the array has eight bytes for every number up to the largest.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Order {
    /// The number before and the number behind each.
    links: Vec<(u32, u32)>,
    first: u32,
    last: u32,
    count: u64,
}

impl Order {
    /// An empty order with room for the numbers below `capacity`; it grows beyond.
    pub fn with_capacity(capacity: usize) -> Order {
        Order { links: vec![(OUT, OUT); capacity], first: NONE, last: NONE, count: 0 }
    }

    /// Numbers in the order.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether a number is in the order.
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.links.get(number as usize).is_some_and(|link| link.0 != OUT)
    }

    /// The first number.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// The numbers from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        std::iter::successors(self.first(), |number| {
            let behind = self.links[*number as usize].1;
            (behind != NONE).then_some(behind)
        })
    }

    /// The last `count` numbers, in order; there are as many.
    pub fn last(&self, count: usize) -> impl Iterator<Item = u32> {
        let before = |number: u32, _| self.links[number as usize].0;
        let first = (1..count).fold(self.last, before);
        let behind = |number: &u32| Some(self.links[*number as usize].1);
        std::iter::successors(Some(first), behind).take(count)
    }

    /// Puts a number that is not in the order behind all others.
    pub fn push(&mut self, number: u32) {
        let index = number as usize;
        if index >= self.links.len() {
            self.links.resize((index + 1).next_power_of_two(), (OUT, OUT));
        }
        debug_assert!(!self.contains(number), "a number stands twice in an order");
        self.links[index] = (self.last, NONE);
        match self.last {
            NONE => self.first = number,
            last => self.links[last as usize].1 = number,
        }
        self.last = number;
        self.count += 1;
    }

    /// Takes a number out of the order.
    pub fn remove(&mut self, number: u32) {
        let (before, behind) = std::mem::replace(&mut self.links[number as usize], (OUT, OUT));
        debug_assert_ne!(before, OUT, "a number left an order in which it was not");
        match before {
            NONE => self.first = behind,
            before => self.links[before as usize].1 = behind,
        }
        match behind {
            NONE => self.last = before,
            behind => self.links[behind as usize].0 = before,
        }
        self.count -= 1;
    }

    /// Puts a number of the order behind all others.
    pub fn renew(&mut self, number: u32) {
        self.remove(number);
        self.push(number);
    }
}

#[cfg(test)]
mod tests {
    use crate::Stream;

    use super::*;

    #[test]
    fn it_is_a_list_without_its_costs() {
        let mut stream = Stream::new(1, "test.order", 0);
        let mut order = Order::with_capacity(4);
        let mut list: Vec<u32> = Vec::new();
        for _ in 0..20_000 {
            let number = stream.below(40) as u32;
            assert_eq!(order.contains(number), list.contains(&number));
            match (list.iter().position(|other| *other == number), stream.below(2)) {
                (None, _) => {
                    order.push(number);
                    list.push(number);
                }
                (Some(at), 0) => {
                    order.renew(number);
                    list.remove(at);
                    list.push(number);
                }
                (Some(at), _) => {
                    order.remove(number);
                    list.remove(at);
                }
            }
            assert_eq!(order.first(), list.first().copied());
            assert_eq!(order.count(), list.len() as u64);
        }
        assert!(order.iter().eq(list.iter().copied()));
        for count in 0..=list.len() {
            assert!(order.last(count).eq(list[list.len() - count..].iter().copied()));
        }
        for number in list {
            assert_eq!(order.first(), Some(number));
            order.remove(number);
        }
        assert_eq!(order.first(), None);
    }
}

//! The event queue: what happens next, and in which order among equals.
//!
//! A calendar of short slots with a bitmap over them: adding and taking an event costs the same
//! however many are pending. Events beyond the calendar's horizon wait in a binary heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

use reprieve_base::{Dur, Time};

/// Slots of the calendar: 64 words of bits for each bit of the summary.
const SLOTS: usize = 16_384;
const WORDS: usize = SLOTS / 64;
/// "No node": the end of a slot's list.
const NIL: u32 = u32::MAX;

/// Where a component puts its own events; it does not see those of others.
pub trait Schedule<E> {
    /// Adds an event at `at`, which is not in the past.
    fn schedule(&mut self, at: Time, event: E);
}

/// An event in three words: what it is, and of what.
///
/// Words go from who schedules to the queue in registers. An event itself would go through memory,
/// written in parts and read whole, for which a processor waits.
pub type Words = [u32; 3];

/// What a queue can hold.
pub trait Event: Copy {
    /// The event as words.
    fn words(self) -> Words;
    /// The event of these words.
    fn from_words(words: Words) -> Self;
}

/// An event with the instant at which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Time,
    /// Order of scheduling, which decides among equals.
    order: u64,
    event: Words,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    entry: Entry,
    next: u32,
}

const _: () = assert!(size_of::<Node>() == 40, "as small as it can be");

/// Events in order of time; events of one instant come in the order in which they were scheduled.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// A slot covers 2^shift nanoseconds.
    shift: u32,
    /// First node of each slot's list, which is in order.
    heads: Box<[u32; SLOTS]>,
    /// A bit for each slot that has events, and one for each word that is not zero.
    bits: [u64; WORDS],
    summary: [u64; WORDS / 64],
    nodes: Vec<Node>,
    /// First unused node.
    unused: u32,
    /// Events beyond the horizon when they were scheduled.
    far: BinaryHeap<Reverse<Entry>>,
    /// When the first of them happens; `NEVER` if there is none.
    far_time: Time,
    /// Slot of the instant reached, counted from the start of the run.
    reached: u64,
    scheduled: u64,
    next_time: Time,
    events: PhantomData<E>,
}

impl<E: Event> EventQueue<E> {
    /// An empty queue for events about `spacing` apart, most of them at most `reach` ahead.
    ///
    /// Only speed depends on either, not the order of events.
    pub fn new(spacing: Dur, reach: Dur) -> EventQueue<E> {
        let heads = vec![NIL; SLOTS].into_boxed_slice();
        let slot_ns = spacing.ns().max(reach.ns() / SLOTS as u64 + 1);
        EventQueue {
            shift: slot_ns.next_power_of_two().ilog2(),
            heads: heads.try_into().expect("it has so many"),
            bits: [0; WORDS],
            summary: [0; WORDS / 64],
            nodes: Vec::with_capacity(1024),
            unused: NIL,
            far: BinaryHeap::with_capacity(1024),
            far_time: Time::NEVER,
            reached: 0,
            scheduled: 0,
            next_time: Time::NEVER,
            events: PhantomData,
        }
    }

    /// When the next event happens; `NEVER` if none does.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next_time
    }

    /// Takes the next event if it happens at `now`.
    #[inline(always)]
    pub fn pop_at(&mut self, now: Time) -> Option<E> {
        if self.next_time != now || now == Time::NEVER {
            return None;
        }
        self.reached = now.ns() >> self.shift;
        let slot = (self.reached % SLOTS as u64) as usize;
        let event = if self.far_time == now && self.far_is_first(slot, now) {
            self.pop_far()
        } else {
            self.pop_head(slot)
        };
        self.next_time = self.find_next_time();
        Some(E::from_words(event))
    }

    /// Whether the first event beyond the calendar, which happens at `now`, comes before those
    /// of this slot.
    #[cold]
    fn far_is_first(&self, slot: usize, now: Time) -> bool {
        let head = self.heads[slot];
        let near = (head != NIL).then(|| self.nodes[head as usize].entry);
        let near = near.filter(|entry| entry.at == now).map(|entry| entry.order);
        let far = self.far.peek().map(|Reverse(entry)| entry.order);
        near.is_none_or(|near| far.is_some_and(|far| far < near))
    }

    #[cold]
    fn pop_far(&mut self) -> Words {
        let Reverse(entry) = self.far.pop().expect("the next event is in the calendar or beyond");
        self.far_time = self.far.peek().map_or(Time::NEVER, |Reverse(entry)| entry.at);
        entry.event
    }

    #[inline]
    fn pop_head(&mut self, slot: usize) -> Words {
        let head = self.heads[slot];
        let node = &mut self.nodes[head as usize];
        let (event, next) = (node.entry.event, node.next);
        node.next = self.unused;
        self.unused = head;
        self.heads[slot] = next;
        if next == NIL {
            let word = slot / 64;
            self.bits[word] &= !(1 << (slot % 64));
            if self.bits[word] == 0 {
                self.summary[word / 64] &= !(1 << (word % 64));
            }
        }
        event
    }

    #[inline]
    fn find_next_time(&self) -> Time {
        let far = self.far_time;
        let from = (self.reached % SLOTS as u64) as usize;
        // Slots before the one reached belong to the calendar's next round.
        match self.first_slot(from).or_else(|| self.first_slot(0)) {
            Some(slot) => self.nodes[self.heads[slot] as usize].entry.at.min(far),
            None => far,
        }
    }

    /// The first slot from `from` on that has events.
    #[inline]
    fn first_slot(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let rest = self.bits[word] & (u64::MAX << (from % 64));
        if rest != 0 {
            return Some(word * 64 + rest.trailing_zeros() as usize);
        }
        let mut group = (word + 1) / 64;
        let mut mask = u64::MAX << ((word + 1) % 64);
        while group < self.summary.len() {
            let rest = self.summary[group] & mask;
            if rest != 0 {
                let word = group * 64 + rest.trailing_zeros() as usize;
                return Some(word * 64 + self.bits[word].trailing_zeros() as usize);
            }
            mask = u64::MAX;
            group += 1;
        }
        None
    }

    fn add(&mut self, at: Time, what: u32, first: u32, second: u32) {
        let order = self.scheduled;
        self.scheduled += 1;
        self.next_time = self.next_time.min(at);
        let number = at.ns() >> self.shift;
        debug_assert!(number >= self.reached, "an event in the past");
        if number - self.reached >= SLOTS as u64 {
            return self.add_far(Entry { at, order, event: [what, first, second] });
        }
        let slot = (number % SLOTS as u64) as usize;
        let mut before = NIL;
        let mut after = self.heads[slot];
        while after != NIL && self.nodes[after as usize].entry.at <= at {
            before = after;
            after = self.nodes[after as usize].next;
        }
        let node = self.unused_node();
        // Word by word, for what is written in parts and then read whole makes a processor wait.
        let place = &mut self.nodes[node as usize];
        place.entry.at = at;
        place.entry.order = order;
        place.entry.event[0] = what;
        place.entry.event[1] = first;
        place.entry.event[2] = second;
        place.next = after;
        if before == NIL {
            self.heads[slot] = node;
            self.bits[slot / 64] |= 1 << (slot % 64);
            self.summary[slot / 64 / 64] |= 1 << (slot / 64 % 64);
        } else {
            self.nodes[before as usize].next = node;
        }
    }

    #[cold]
    fn add_far(&mut self, entry: Entry) {
        self.far_time = self.far_time.min(entry.at);
        self.far.push(Reverse(entry));
    }

    /// A node that is in no list any more.
    #[inline(always)]
    fn unused_node(&mut self) -> u32 {
        let index = self.unused;
        if index == NIL {
            return self.one_more();
        }
        self.unused = self.nodes[index as usize].next;
        index
    }

    #[cold]
    fn one_more(&mut self) -> u32 {
        let entry = Entry { at: Time::NEVER, order: 0, event: [0; 3] };
        self.nodes.push(Node { entry, next: NIL });
        u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 events pending")
    }
}

impl<F, E: Event + From<F>> Schedule<F> for EventQueue<E> {
    #[inline(always)]
    fn schedule(&mut self, at: Time, event: F) {
        let [what, first, second] = E::from(event).words();
        self.add(at, what, first, second);
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;

    impl Event for u64 {
        fn words(self) -> Words {
            [(self >> 32) as u32, self as u32, 0]
        }

        fn from_words([high, low, _]: Words) -> u64 {
            u64::from(high) << 32 | u64::from(low)
        }
    }

    /// Random holds against a sorted list: same instants, same order among equals.
    fn compare(spacing_ns: u64, spread_ns: u64, grid_ns: u64) {
        let mut stream = Stream::new(1, "test.event", spread_ns);
        let mut queue: EventQueue<u64> = EventQueue::new(Dur::from_ns(spacing_ns), Dur::ZERO);
        let mut list: Vec<(Time, u64)> = Vec::new();
        let mut now = Time::ZERO;
        for number in 0..20_000 {
            let burst = if number == 0 { 300 } else { stream.below(3) };
            for part in 0..burst {
                let wait = stream.below(spread_ns) / grid_ns * grid_ns;
                let at = now + Dur::from_ns(wait);
                let event = number * 1000 + part;
                queue.schedule(at, event);
                list.push((at, event));
            }
            let next = list.iter().map(|(at, _)| *at).min();
            assert_eq!(queue.next_time(), next.unwrap_or(Time::NEVER));
            let Some(next) = next else { continue };
            now = next;
            let first = list.iter().position(|(at, _)| *at == next).expect("just found");
            assert_eq!(queue.pop_at(next), Some(list.remove(first).1));
        }
    }

    #[test]
    fn events_come_in_order_within_the_calendar() {
        compare(1, 5_000, 1);
        compare(1_000, 5_000, 1_000);
        compare(1 << 20, 5_000, 1);
    }

    #[test]
    fn events_come_in_order_beyond_the_horizon() {
        compare(1, 50_000_000, 1);
        compare(64, 3_000_000, 100_000);
    }

    #[test]
    fn nothing_is_taken_before_its_time() {
        let mut queue: EventQueue<u64> = EventQueue::new(Dur::from_ns(1), Dur::ZERO);
        queue.schedule(Time::from_ns(5), 1u64);
        assert_eq!(queue.pop_at(Time::from_ns(4)), None);
        assert_eq!(queue.pop_at(Time::from_ns(5)), Some(1));
        assert_eq!(queue.next_time(), Time::NEVER);
    }
}

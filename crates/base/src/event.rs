//! The event queue: pending events by time, and by order of scheduling at one instant.
//!
//! A calendar of short slots with a bitmap over them: adding and taking an event cost the same
//! however many are pending. Events beyond the calendar's horizon go into a binary heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::marker::PhantomData;

use crate::{Archive, Dur, Time, parts};

/// Words of bits over the slots of the calendar: a bit of the summary for each.
const WORDS: usize = 64;
const SLOTS: usize = WORDS * 64;
/// "No node": the end of a slot's list.
const NIL: u32 = u32::MAX;

/// The scheduling interface of one component; it does not see the events of others.
pub trait Schedule<E> {
    /// Adds an event at `at`, which is not in the past.
    fn schedule(&mut self, at: Time, event: E);

    /// Withdraws a pending event at `at`, if that costs no more than adding it.
    ///
    /// For events that have become void: they may still happen.
    fn withdraw(&mut self, at: Time, event: E);
}

/// An event packed into three words: its kind and its subject.
///
/// Words are passed to the queue in registers. An event itself would go through memory, written
/// in parts and read whole, which stalls a processor.
pub type Words = [u32; 3];

/// An event type that the queue can hold.
pub trait Event: Copy {
    /// The event as words.
    fn words(self) -> Words;
    /// The event of these words.
    fn from_words(words: Words) -> Self;
}

/// Sequence numbers of scheduling, which order the events of one instant.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Orders(u64);

impl Orders {
    /// The next number.
    #[inline(always)]
    pub fn take(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// An event within the horizon with the instant at which it happens.
#[derive(Clone, Copy, Debug)]
struct Node {
    at: Time,
    order: u64,
    event: Words,
    next: u32,
}

const _: () = assert!(size_of::<Node>() == 32, "two to a line of the cache");

/// An event beyond the horizon.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
struct Far {
    at: Time,
    /// Order of scheduling, which breaks ties.
    order: u64,
    event: Words,
}

/// Events in order of time; events of one instant come in the order in which they were scheduled.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    /// A slot covers 2^shift nanoseconds.
    shift: u32,
    /// First node of each slot's list, in order of time.
    heads: Box<[u32; SLOTS]>,
    /// A bit for each slot that has events, and one for each non-zero word.
    bits: [u64; WORDS],
    summary: u64,
    nodes: Vec<Node>,
    /// First unused node.
    unused: u32,
    /// Events that were beyond the horizon when scheduled. Those that the horizon has reached since
    /// stay here, and come before the calendar's events of the same instant, which were scheduled
    /// later.
    far: BinaryHeap<Reverse<Far>>,
    /// Time of the first of them; `NEVER` if there is none.
    far_time: Time,
    orders: Orders,
    /// Slot of the current instant, counted from the start of the run.
    reached: u64,
    next_time: Time,
    events: PhantomData<E>,
}

impl<E: Event> EventQueue<E> {
    /// An empty queue for events about `spacing` apart, most of them at most `reach` ahead.
    ///
    /// Both affect only speed, not the order of events.
    pub fn new(spacing: Dur, reach: Dur) -> EventQueue<E> {
        let heads = vec![NIL; SLOTS].into_boxed_slice();
        let slot_ns = spacing.ns().max(reach.ns() / SLOTS as u64 + 1);
        EventQueue {
            shift: slot_ns.next_power_of_two().ilog2(),
            heads: heads.try_into().expect("it has so many"),
            bits: [0; WORDS],
            summary: 0,
            nodes: Vec::with_capacity(1024),
            unused: NIL,
            far: BinaryHeap::with_capacity(1024),
            far_time: Time::NEVER,
            orders: Orders::default(),
            reached: 0,
            next_time: Time::NEVER,
            events: PhantomData,
        }
    }

    /// Returns the time of the next event; `NEVER` if there is none.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next_time
    }

    /// Returns the sequence number of the next event, if there is one.
    pub fn next_order(&self) -> u64 {
        if self.far_time == self.next_time {
            return self.far.peek().map_or(u64::MAX, |Reverse(far)| far.order);
        }
        let slot = (self.next_time.ns() >> self.shift) as usize % SLOTS;
        self.nodes[self.heads[slot] as usize].order
    }

    /// Sequence numbers for events outside the queue, in one order with those inside.
    #[inline]
    pub fn orders(&mut self) -> &mut Orders {
        &mut self.orders
    }

    /// Writes the pending events, or takes them back in place of those that it has.
    ///
    /// Where one is pending stays as it was: beyond the calendar none is withdrawn.
    pub fn archive(&mut self, archive: &mut Archive) {
        let mut near: Vec<Far> = Vec::new();
        for head in self.heads.iter() {
            let mut node = *head;
            while node != NIL {
                let Node { at, order, event, next } = self.nodes[node as usize];
                near.push(Far { at, order, event });
                node = next;
            }
        }
        near.sort_unstable();
        let mut far: Vec<Far> = self.far.iter().map(|Reverse(far)| *far).collect();
        far.sort_unstable();
        let mut orders = self.orders.clone();
        parts!(archive; self.reached, near, far, orders);
        if archive.is_loading() {
            (self.bits, self.summary, self.unused) = ([0; WORDS], 0, NIL);
            self.heads.fill(NIL);
            self.nodes.clear();
            self.next_time = Time::NEVER;
            for Far { at, order, event: [what, first, second] } in near {
                self.orders = Orders(order - 1);
                self.add(at, what, first, second);
            }
            self.orders = orders;
            self.far = far.into_iter().map(Reverse).collect();
            self.far_time = self.far.peek().map_or(Time::NEVER, |Reverse(far)| far.at);
            self.next_time = self.next_time.min(self.far_time);
        }
    }

    /// Takes the next event if it happens at `now`.
    #[inline(always)]
    pub fn pop_at(&mut self, now: Time) -> Option<E> {
        if self.next_time != now || now == Time::NEVER {
            return None;
        }
        self.reached = now.ns() >> self.shift;
        let event = if self.far_time == now { self.pop_far() } else { self.pop_head() };
        self.next_time = self.find_next_time();
        Some(E::from_words(event))
    }

    #[cold]
    fn pop_far(&mut self) -> Words {
        let Reverse(far) = self.far.pop().expect("the next event is in the calendar or beyond");
        self.far_time = self.far.peek().map_or(Time::NEVER, |Reverse(far)| far.at);
        far.event
    }

    /// Takes the first event of the current slot.
    #[inline(always)]
    fn pop_head(&mut self) -> Words {
        let slot = self.reached as usize % SLOTS;
        let head = self.heads[slot];
        let node = &mut self.nodes[head as usize];
        let (event, next) = (node.event, node.next);
        node.next = self.unused;
        self.unused = head;
        self.set_head(slot, next);
        event
    }

    /// Sets the head of a slot that had events; clears its bit if the list is now empty.
    #[inline(always)]
    fn set_head(&mut self, slot: usize, head: u32) {
        self.heads[slot] = head;
        if head == NIL {
            let word = slot / 64;
            self.bits[word] &= !(1 << (slot % 64));
            if self.bits[word] == 0 {
                self.summary &= !(1 << word);
            }
        }
    }

    #[inline(always)]
    fn find_next_time(&self) -> Time {
        if self.summary == 0 {
            return self.far_time;
        }
        let from = self.reached as usize % SLOTS;
        let word = from / 64;
        // Slots before the current one belong to the calendar's next round.
        let rest = self.bits[word] >> (from % 64);
        let slot = if rest != 0 {
            from + rest.trailing_zeros() as usize
        } else {
            let behind = word + 1;
            let words = self.summary.rotate_right(behind as u32).trailing_zeros();
            let word = (behind + words as usize) % WORDS;
            word * 64 + self.bits[word].trailing_zeros() as usize
        };
        self.nodes[self.heads[slot % SLOTS] as usize].at.min(self.far_time)
    }

    /// Calls only in tail position, so that the usual case saves no registers.
    fn add(&mut self, at: Time, what: u32, first: u32, second: u32) {
        let node = self.unused;
        let Some(place) = self.nodes.get_mut(node as usize) else {
            return self.add_with_room(at, what, first, second);
        };
        let number = at.ns() >> self.shift;
        debug_assert!(number >= self.reached, "an event in the past");
        if number - self.reached >= SLOTS as u64 {
            return self.add_far(at, what, first, second);
        }
        self.unused = place.next;
        // Word by word: a whole read of a value written in parts stalls a processor.
        place.at = at;
        place.order = self.orders.take();
        place.event[0] = what;
        place.event[1] = first;
        place.event[2] = second;
        place.next = NIL;
        self.next_time = self.next_time.min(at);
        let slot = number as usize % SLOTS;
        // The bits are in the caches; the heads may not be.
        let (word, bit) = (slot / 64, 1 << (slot % 64));
        if self.bits[word] & bit != 0 {
            return self.link(slot, node);
        }
        self.heads[slot] = node;
        self.bits[word] |= bit;
        self.summary |= 1 << word;
    }

    /// Appends a node, then adds the event.
    #[cold]
    fn add_with_room(&mut self, at: Time, what: u32, first: u32, second: u32) {
        debug_assert_eq!(self.unused, NIL, "an unused node is one of the nodes");
        self.nodes.push(Node { at: Time::NEVER, order: 0, event: [0; 3], next: NIL });
        self.unused = u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 events pending");
        self.add(at, what, first, second);
    }

    #[cold]
    fn add_far(&mut self, at: Time, what: u32, first: u32, second: u32) {
        self.next_time = self.next_time.min(at);
        self.far_time = self.far_time.min(at);
        let event = [what, first, second];
        self.far.push(Reverse(Far { at, order: self.orders.take(), event }));
    }

    /// Inserts a node into the list of a slot that has others, behind all that are no later.
    #[inline(never)]
    fn link(&mut self, slot: usize, node: u32) {
        let at = self.nodes[node as usize].at;
        let mut before = NIL;
        let mut after = self.heads[slot];
        while after != NIL && self.nodes[after as usize].at <= at {
            before = after;
            after = self.nodes[after as usize].next;
        }
        self.nodes[node as usize].next = after;
        self.set_next(slot, before, node);
    }

    /// Sets the successor of `before` in the list of a slot, or its head if `before` is `NIL`.
    #[inline]
    fn set_next(&mut self, slot: usize, before: u32, next: u32) {
        match before {
            NIL => self.set_head(slot, next),
            before => self.nodes[before as usize].next = next,
        }
    }

    /// Removes an event from the calendar; one beyond it stays.
    fn remove(&mut self, at: Time, event: Words) {
        let slot = (at.ns() >> self.shift) as usize % SLOTS;
        let mut before = NIL;
        let mut node = self.heads[slot];
        while node != NIL {
            let Node { at: when, event: what, next, .. } = self.nodes[node as usize];
            if when == at && what == event {
                self.set_next(slot, before, next);
                self.nodes[node as usize].next = self.unused;
                self.unused = node;
                if at == self.next_time {
                    self.next_time = self.find_next_time();
                }
                return;
            }
            before = node;
            node = next;
        }
    }
}

impl<F, E: Event + From<F>> Schedule<F> for EventQueue<E> {
    #[inline(always)]
    fn schedule(&mut self, at: Time, event: F) {
        let [what, first, second] = E::from(event).words();
        self.add(at, what, first, second);
    }

    #[inline]
    fn withdraw(&mut self, at: Time, event: F) {
        self.remove(at, E::from(event).words());
    }
}

#[cfg(test)]
mod tests {
    use crate::Stream;

    use super::*;

    impl Event for u64 {
        fn words(self) -> Words {
            [(self >> 32) as u32, self as u32, 0]
        }

        fn from_words([high, low, _]: Words) -> u64 {
            u64::from(high) << 32 | u64::from(low)
        }
    }

    /// Random holds against a sorted list: same instants, same order among equals. Withdrawn
    /// events beyond the calendar may still happen.
    fn compare(spacing_ns: u64, spread_ns: u64, grid_ns: u64) {
        let mut stream = Stream::new(1, "test.event", spread_ns);
        let mut queue: EventQueue<u64> = EventQueue::new(Dur::from_ns(spacing_ns), Dur::ZERO);
        let mut list: Vec<(Time, u64)> = Vec::new();
        let mut now = Time::ZERO;
        let (mut withdrawn, mut stayed) = (0, 0);
        for number in 0..20_000 {
            let burst = if number == 0 { 300 } else { stream.below(4) };
            for part in 0..burst {
                let wait = stream.below(spread_ns) / grid_ns * grid_ns;
                let at = now + Dur::from_ns(wait);
                let event = number * 1000 + part;
                queue.schedule(at, event);
                list.push((at, event));
            }
            if stream.below(2) == 0 && !list.is_empty() {
                let place = stream.below(list.len() as u64) as usize;
                let (at, event) = list[place];
                let pending = queue.pending();
                queue.withdraw(at, event);
                match pending - queue.pending() {
                    1 => drop(list.remove(place)),
                    _ => stayed += 1,
                }
                withdrawn += 1;
            }
            let next = list.iter().map(|(at, _)| *at).min();
            assert_eq!(queue.next_time(), next.unwrap_or(Time::NEVER));
            let Some(next) = next else { continue };
            now = next;
            let first = list.iter().position(|(at, _)| *at == next).expect("just found");
            if number % 1000 == 0 {
                queue = saved_and_loaded(queue, Dur::from_ns(spacing_ns));
            }
            assert_eq!(queue.pop_at(next), Some(list.remove(first).1));
        }
        let is_within = spread_ns < (SLOTS as u64 - 1) << queue.shift;
        assert!(withdrawn > 5_000 && (stayed == 0) == is_within, "{stayed} of {withdrawn}");
    }

    fn saved_and_loaded(mut queue: EventQueue<u64>, spacing: Dur) -> EventQueue<u64> {
        let mut saved = Archive::saving(Vec::new());
        queue.archive(&mut saved);
        let mut again = EventQueue::new(spacing, Dur::ZERO);
        again.schedule(Time::from_ns(1), 1u64);
        again.archive(&mut Archive::loading(&saved.into_bytes()));
        again
    }

    impl<E: Event> EventQueue<E> {
        /// Pending events.
        fn pending(&self) -> usize {
            let mut unused = 0;
            let mut node = self.unused;
            while node != NIL {
                unused += 1;
                node = self.nodes[node as usize].next;
            }
            self.nodes.len() - unused + self.far.len()
        }
    }

    #[test]
    fn events_come_in_order_within_the_calendar() {
        compare(1, 4_000, 1);
        compare(1_000, 5_000, 1_000);
        compare(1 << 20, 5_000, 1);
    }

    #[test]
    fn events_come_in_order_beyond_the_horizon() {
        compare(1, 50_000_000, 1);
        compare(64, 3_000_000, 100_000);
        compare(64, 300_000, 1);
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

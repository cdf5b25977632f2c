//! The event queue: what happens next, and in which order among equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use reprieve_base::Time;

/// Where a component puts its own events; it does not see those of others.
pub trait Schedule<E> {
    /// Adds an event at `at`.
    fn schedule(&mut self, at: Time, event: E);
}

/// An event with the instant at which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry<E> {
    at: Time,
    /// Order of scheduling, which decides among equals.
    order: u64,
    event: E,
}

/// Events in order of time; events of one instant come in the order in which they were scheduled.
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    scheduled: u64,
}

impl<E: Copy + Ord> EventQueue<E> {
    /// An empty queue.
    pub fn new() -> EventQueue<E> {
        EventQueue { heap: BinaryHeap::with_capacity(1024), scheduled: 0 }
    }

    /// When the next event happens.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Takes the next event if it happens at `now`.
    #[inline]
    pub fn pop_at(&mut self, now: Time) -> Option<E> {
        if self.next_time() != Some(now) {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry.event)
    }
}

impl<F, E: Copy + Ord + From<F>> Schedule<F> for EventQueue<E> {
    #[inline]
    fn schedule(&mut self, at: Time, event: F) {
        self.heap.push(Reverse(Entry { at, order: self.scheduled, event: event.into() }));
        self.scheduled += 1;
    }
}

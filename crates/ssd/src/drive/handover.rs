//! Requests of a caller until their completion, and completions until it takes them.

use std::collections::VecDeque;

use reprieve_base::{Op, Request, Time};
use reprieve_observe::causes::CauseTimes;
use reprieve_policy::txn::LatencyComponents;

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Completion {
    /// The caller's tag of the request.
    pub tag: u64,
    /// The request's number in order of arrival, from 0.
    pub number: u64,
    /// Operation.
    pub op: Op,
    /// First sector: of an append, where its data is.
    pub lba: u64,
    /// When it reached the drive.
    pub arrival: Time,
    /// When it completed.
    pub completion: Time,
    /// Its uncorrectable pages.
    pub uncorrectable_pages: u32,
}

/// Components of a completed request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Details {
    /// Components of the latency, of the transaction that completed last.
    pub parts: LatencyComponents,
    /// Causes of its waits.
    pub causes: CauseTimes,
    /// The die of that transaction, if any.
    pub die: Option<u32>,
    /// Senses beyond the first of each page that was read for the request.
    pub retries: u32,
}

/// The submission queue of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Queue {
    /// All queues take turns.
    #[default]
    Any,
    /// The queue of this number, from 0.
    Number(u32),
    /// The queues of a priority class take turns: its place in `Priority::ALL`.
    Class(u8),
}

/// Route of a request into the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Route {
    /// Its submission queue.
    pub queue: Queue,
    /// The placement handle of its writes; `None`: 0.
    pub handle: Option<u8>,
}

/// A request until its completion, with its caller's tag.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Slot {
    request: Option<Request>,
    tag: u64,
    route: Route,
}

/// Requests that are handed over before they arrive, in any order, and their completions.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Handover {
    /// By arrival, and of one arrival by hand-over, from number `first` on.
    slots: VecDeque<Slot>,
    first: u64,
    /// The number of the request that arrives next.
    next: u64,
    /// The latest arrival of all so far.
    latest: Time,
    pub(super) done: VecDeque<Completion>,
    /// Those of `done`, if they are kept.
    pub(super) details: Option<VecDeque<Details>>,
}

impl Handover {
    pub(super) fn new() -> Handover {
        Handover {
            slots: VecDeque::new(),
            first: 0,
            next: 0,
            latest: Time::ZERO,
            done: VecDeque::new(),
            details: None,
        }
    }

    /// Returns the number of requests handed over.
    pub(super) fn count(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    /// Takes over a request, which arrives after all that have arrived.
    #[inline(always)]
    pub(super) fn add(&mut self, request: Request, tag: u64, route: Route) {
        let slot = Slot { request: Some(request), tag, route };
        if request.arrival >= self.latest {
            self.latest = request.arrival;
            self.slots.push_back(slot);
        } else {
            self.insert(slot, request.arrival);
        }
    }

    #[cold]
    fn insert(&mut self, slot: Slot, arrival: Time) {
        let is_before = |other: &Slot| other.request.is_none_or(|other| other.arrival <= arrival);
        let place = self.slots.partition_point(is_before);
        debug_assert!(self.first + place as u64 >= self.next, "it would have arrived already");
        self.slots.insert(place, slot);
    }

    /// Returns the request that arrives next, its route, and the arrival of the one after it, or
    /// `NEVER`.
    #[inline(always)]
    pub(super) fn arrive(&mut self) -> (Request, Route, Time) {
        let place = (self.next - self.first) as usize;
        self.next += 1;
        let Slot { request, route, .. } = self.slots[place];
        let request = request.expect("what has not arrived is not complete");
        let behind = self.slots.get(place + 1).and_then(|slot| slot.request);
        (request, route, behind.map_or(Time::NEVER, |request| request.arrival))
    }

    /// Completes the request of this number.
    #[inline(always)]
    pub(super) fn complete(&mut self, number: u64, lba: u64, now: Time, uncorrectable_pages: u32) {
        let slot = &mut self.slots[(number - self.first) as usize];
        let Request { op, arrival, .. } = slot.request.take().expect("a request completes once");
        let tag = slot.tag;
        self.done.push_back(Completion {
            tag,
            number,
            op,
            lba,
            arrival,
            completion: now,
            uncorrectable_pages,
        });
        if number == self.first {
            self.forget_completed();
        }
    }

    fn forget_completed(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.request.is_none()) {
            self.slots.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(at_ns: u64) -> Request {
        Request { arrival: Time::from_ns(at_ns), op: Op::Read, lba: at_ns, bytes: 512, fua: false }
    }

    #[test]
    fn requests_arrive_by_arrival_and_complete_in_any_order() {
        let mut handover = Handover::new();
        for (at_ns, tag) in [(20, 0), (10, 1), (20, 2), (10, 3), (15, 4)] {
            handover.add(read(at_ns), tag, Route::default());
        }
        let arrive = |handover: &mut Handover| {
            let (request, _, behind) = handover.arrive();
            (request.arrival.ns(), behind)
        };
        assert_eq!(arrive(&mut handover), (10, Time::from_ns(10)));
        assert_eq!(arrive(&mut handover), (10, Time::from_ns(15)));
        handover.complete(1, 0, Time::from_ns(11), 0);
        // After the arrivals at 10, complete or not.
        handover.add(read(10), 5, Route::default());
        assert_eq!(arrive(&mut handover), (10, Time::from_ns(15)));
        handover.complete(0, 0, Time::from_ns(12), 7);
        handover.complete(2, 0, Time::from_ns(12), 0);
        assert_eq!((handover.count(), handover.slots.len()), (6, 3));
        for behind in [20, 20] {
            assert_eq!(arrive(&mut handover).1, Time::from_ns(behind));
        }
        assert_eq!(arrive(&mut handover), (20, Time::NEVER));
        for number in [5, 3, 4] {
            handover.complete(number, 0, Time::from_ns(30), 0);
        }
        let told = handover.done.iter().map(|done| (done.tag, done.number, done.arrival.ns()));
        let expected = [(3, 1, 10), (1, 0, 10), (5, 2, 10), (2, 5, 20), (4, 3, 15), (0, 4, 20)];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        assert_eq!(handover.done[1].uncorrectable_pages, 7);
        assert!(handover.slots.is_empty());
    }
}

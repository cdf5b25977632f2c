//! Rivals: the smallest programs that simulate one load each, as a lower bound of its cost.
//!
//! A rival knows one drive and one policy, as constants. It shares no code with the simulator, from
//! which it gets requests and the state of the drive, and completes them at the same nanoseconds.

mod blocks;
mod closed_loop;
mod equal;
mod ipc;
mod iterations;
mod main;
mod open;
mod plane;
pub mod race;
mod tlc;

/// No entry, no block, no page.
pub const NONE: u32 = u32::MAX;
/// No time: later than any event.
pub const NEVER: u64 = u64::MAX;

/// Low bits of a key, which hold the order of scheduling; the others hold the time.
const ORDER_BITS: u32 = 26;

/// Requests whose pages are looked up at once and ahead, so that the caches have them in time.
pub const AHEAD: usize = 16;

/// A request of one page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    pub arrival: u64,
    pub lpn: u32,
    pub is_write: bool,
}

/// Keys of events: time in nanoseconds, and the order of scheduling among equals.
#[derive(Default)]
pub struct Order(u64);

impl Order {
    #[inline(always)]
    pub fn key(&mut self, at: u64) -> u64 {
        self.0 += 1;
        at << ORDER_BITS | self.0
    }

    /// Checks that no key has overflowed.
    pub fn check(&self, now: u64) {
        assert!(self.0 >> ORDER_BITS == 0, "the run has too many events for its keys");
        assert!(now >> (u64::BITS - ORDER_BITS) == 0, "the run is too long for its keys");
    }
}

#[inline(always)]
pub fn time(key: u64) -> u64 {
    key >> ORDER_BITS
}

/// A first-in-first-out line of events, of which at most `N` are pending.
pub struct Line<const N: usize> {
    events: [(u64, u32); N],
    head: usize,
    tail: usize,
    /// Key of the first event.
    pub first: u64,
}

impl<const N: usize> Line<N> {
    pub fn new() -> Line<N> {
        Line { events: [(NEVER, 0); N], head: 0, tail: 0, first: NEVER }
    }

    #[inline(always)]
    pub fn push(&mut self, key: u64, event: u32) {
        self.events[self.tail % N] = (key, event);
        self.tail += 1;
        self.first = self.first.min(key);
    }

    #[inline(always)]
    pub fn pop(&mut self) -> u32 {
        let event = self.events[self.head % N].1;
        self.head += 1;
        let next = self.events[self.head % N].0;
        self.first = if self.head == self.tail { NEVER } else { next };
        event
    }
}

/// One event at most for each of `GROUPS` times `WIDTH` slots; the first is always known.
pub struct Slots<const GROUPS: usize, const WIDTH: usize> {
    keys: [[u64; WIDTH]; GROUPS],
    firsts: [u64; GROUPS],
    /// Key of the first event.
    pub first: u64,
    group: usize,
}

impl<const GROUPS: usize, const WIDTH: usize> Slots<GROUPS, WIDTH> {
    pub fn new() -> Self {
        Slots { keys: [[NEVER; WIDTH]; GROUPS], firsts: [NEVER; GROUPS], first: NEVER, group: 0 }
    }

    /// Puts an event into a slot that has none, or a later one.
    #[inline(always)]
    pub fn put(&mut self, group: usize, slot: usize, key: u64) {
        self.keys[group][slot] = key;
        if key < self.firsts[group] {
            self.firsts[group] = key;
            if key < self.first {
                (self.first, self.group) = (key, group);
            }
        }
    }

    /// Takes the first event; returns its group and slot.
    #[inline(always)]
    pub fn take(&mut self) -> (usize, usize) {
        let group = self.group % GROUPS;
        let keys = &mut self.keys[group];
        let mut slot = 0;
        while keys[slot] != self.first {
            slot += 1;
        }
        keys[slot] = NEVER;
        self.firsts[group] = keys.iter().copied().fold(NEVER, u64::min);
        (self.first, self.group) = (self.firsts[0], 0);
        for other in 1..GROUPS {
            if self.firsts[other] < self.first {
                (self.first, self.group) = (self.firsts[other], other);
            }
        }
        (group, slot)
    }
}

/// Latencies of reads or writes: their histogram and the sums of their parts.
pub struct Latencies<const PARTS: usize> {
    buckets: Vec<u64>,
    pub parts: [u64; PARTS],
}

impl<const PARTS: usize> Latencies<PARTS> {
    /// Buckets of an octave.
    const FINE_BITS: u32 = 9;

    pub fn new() -> Self {
        Latencies { buckets: vec![0; 64 << Self::FINE_BITS], parts: [0; PARTS] }
    }

    #[inline(always)]
    pub fn add(&mut self, latency: u64, parts: [u64; PARTS]) {
        let shift = 63 - Self::FINE_BITS - (latency | 1 << Self::FINE_BITS).leading_zeros();
        self.buckets[((shift << Self::FINE_BITS) as u64 + (latency >> shift)) as usize] += 1;
        for (sum, part) in self.parts.iter_mut().zip(parts) {
            *sum += part;
        }
    }
}

/// Results of a run: latencies of reads and of writes, and completions if requested.
pub struct Outcome<const PARTS: usize> {
    pub latencies: [Latencies<PARTS>; 2],
    pub transactions: u64,
    /// Arrival and completion of each request.
    pub log: Option<Vec<(u64, u64)>>,
}

impl<const PARTS: usize> Outcome<PARTS> {
    pub fn new(logged: Option<usize>) -> Self {
        let latencies = [Latencies::new(), Latencies::new()];
        Outcome { latencies, transactions: 0, log: logged.map(|requests| vec![(0, 0); requests]) }
    }

    #[inline(always)]
    pub fn completed(
        &mut self,
        (number, is_write): (u32, bool),
        (arrival, now): (u64, u64),
        parts: [u64; PARTS],
    ) {
        self.latencies[usize::from(is_write)].add(now - arrival, parts);
        if let Some(log) = &mut self.log {
            log[number as usize] = (arrival, now);
        }
    }
}

/// Draws requests at random: 70 % reads, of any logical page.
pub struct Draws {
    state: [u64; 2],
    lpns: u64,
}

impl Draws {
    pub fn new(lpns: u32) -> Draws {
        Draws { state: [0x1234567, 0x9876543210], lpns: lpns.into() }
    }

    /// The next word of xorshift128+.
    #[inline]
    fn word(&mut self) -> u64 {
        let [mut one, other] = self.state;
        one ^= one << 23;
        one ^= other ^ (one >> 18) ^ (other >> 5);
        self.state = [other, one];
        one.wrapping_add(other)
    }

    /// A number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Iterator for Draws {
    type Item = Request;

    #[inline]
    fn next(&mut self) -> Option<Request> {
        let word = self.word();
        let lpn = (((word >> 32) * self.lpns) >> 32) as u32;
        Some(Request { arrival: 0, lpn, is_write: (word & 0xffff_ffff) * 10 >= 7 << 32 })
    }
}

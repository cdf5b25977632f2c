//! The load `tlc` on 16 dies: programs of several planes stop between iterations; a write buffer.
//!
//! A closed loop of 64 requests, reads first, dies with channels of their own, greedy collection.

use std::collections::VecDeque;

use crate::rivals::blocks::{AtRest, Need, PLANES, Pages, Place, Step};
use crate::rivals::iterations::{BLOCK_PAGES, COMMAND, Operation, TRANSFER};
use crate::rivals::{AHEAD, Line, NONE, Order, Outcome, Request, Slots, time};

pub const DIES: usize = 16;
const DEPTH: usize = 64;
/// Dies whose events are kept together.
const GROUP: usize = 4;
/// Writes that the buffer holds.
const BUFFER_PAGES: usize = 4096;

// Nanoseconds of the flash and of a page on the link.
const READ: u64 = 80_000;
const LINK: u64 = 4_161;

/// A read of the host that waits for its die.
#[derive(Clone, Copy)]
struct Read {
    lpn: u32,
    page: u32,
    erases: u32,
    request: u32,
    queued: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Activity {
    Idle,
    /// The array reads a page.
    Sensing,
    /// The page that was read leaves.
    Leaving,
    Running,
    Stopping,
}

/// A die with its queues and its part of the mapping.
pub struct Die {
    activity: Activity,
    is_suspended: bool,
    operation: Operation,
    /// Reads under way that share a command; the last of them leaves next.
    reading: Vec<Read>,
    /// The page that collection reads, if it does.
    collected: Option<u32>,
    pages: Pages<BLOCK_PAGES>,
    reads: VecDeque<Read>,
    /// Writes of each plane, with their numbers in the order of arrival.
    writes: [VecDeque<(u64, u32)>; PLANES],
    arrivals: u64,
    transactions: u64,
}

impl Die {
    pub fn new(state: AtRest, blocks: u32) -> Die {
        let start = (f64::from(blocks) * 0.1).ceil() as usize;
        Die {
            activity: Activity::Idle,
            is_suspended: false,
            operation: Operation::new(None),
            reading: Vec::with_capacity(PLANES),
            collected: None,
            pages: Pages::new(state, blocks, start),
            reads: VecDeque::new(),
            writes: Default::default(),
            arrivals: 0,
            transactions: 0,
        }
    }

    /// Queues a read; returns whether the buffer serves it at once.
    #[inline(always)]
    fn read(&mut self, lpn: u32, request: u32, now: u64) -> bool {
        let Place::Page(page) = self.pages.place(lpn) else { return true };
        let erases = self.pages.erases(page);
        self.reads.push_back(Read { lpn, page, erases, request, queued: now });
        false
    }

    /// Whether a write takes the place of one in the buffer that has not begun.
    #[inline(always)]
    fn merges(&self, lpn: u32) -> bool {
        match self.pages.place(lpn) {
            Place::Page(_) => false,
            Place::Buffered(id) => !self.pages.write(id).has_begun,
        }
    }

    #[inline(always)]
    fn write(&mut self, lpn: u32) {
        let id = self.pages.accept(lpn, NONE);
        self.writes[lpn as usize % PLANES].push_back((self.arrivals, id));
        self.arrivals += 1;
    }

    /// Decides what the die does next; returns the instant of its next event if that changes.
    #[inline]
    fn decide(&mut self, now: u64) -> Option<u64> {
        match self.activity {
            Activity::Running => {
                self.admissible_read()?;
                let free_at = self.operation.stop(now)?;
                self.activity = Activity::Stopping;
                Some(free_at)
            }
            Activity::Idle => self.begin(now),
            _ => None,
        }
    }

    /// The place of the oldest read, but of those of blocks that are worked on.
    #[inline(always)]
    fn admissible_read(&mut self) -> Option<usize> {
        let pages = &self.pages;
        let blocks = &self.operation.blocks;
        self.reads.iter_mut().position(|read| {
            pages.follow(read.lpn, &mut read.page, &mut read.erases);
            read.page / BLOCK_PAGES != blocks[Pages::<BLOCK_PAGES>::plane_of(read.page)]
        })
    }

    #[inline(always)]
    fn begin(&mut self, now: u64) -> Option<u64> {
        if !self.reads.is_empty() {
            let place = if self.is_suspended { self.admissible_read() } else { Some(0) };
            if let Some(place) = place {
                self.take_reads(place);
                return self.sense(self.reading.len() as u64, now);
            }
        }
        if self.is_suspended {
            self.is_suspended = false;
            self.operation.resume(now);
            self.activity = Activity::Running;
            return Some(self.operation.end);
        }
        let need = self.pages.need();
        if need != Need::Urgent && self.take_writes() {
            return self.start(now);
        }
        if need == Need::None { None } else { self.collect(now) }
    }

    fn sense(&mut self, pages: u64, now: u64) -> Option<u64> {
        self.activity = Activity::Sensing;
        self.transactions += pages;
        Some(now + COMMAND * pages + READ)
    }

    /// Takes a read, and those of other planes at the same offset in blocks not worked on.
    fn take_reads(&mut self, place: usize) {
        let first = self.reads.remove(place).expect("it was just found");
        self.reading.push(first);
        let mut planes = 1 << Pages::<BLOCK_PAGES>::plane_of(first.page);
        let mut place = 0;
        while place < self.reads.len() {
            let read = &mut self.reads[place];
            self.pages.follow(read.lpn, &mut read.page, &mut read.erases);
            let plane = Pages::<BLOCK_PAGES>::plane_of(read.page);
            let is_beside = read.page % BLOCK_PAGES == first.page % BLOCK_PAGES;
            let is_free = planes >> plane & 1 == 0;
            if is_beside && is_free && read.page / BLOCK_PAGES != self.operation.blocks[plane] {
                planes |= 1 << plane;
                self.reading.push(self.reads.remove(place).expect("it was just seen"));
            } else {
                place += 1;
            }
        }
        self.reading.reverse();
    }

    /// Takes the oldest write, and those of other planes whose next page has the same offset.
    fn take_writes(&mut self) -> bool {
        let mut waiting: [(u64, usize); PLANES] = std::array::from_fn(|plane| {
            (self.writes[plane].front().map_or(u64::MAX, |(number, _)| *number), plane)
        });
        waiting.sort_unstable();
        let (number, plane) = waiting[0];
        if number == u64::MAX {
            return false;
        }
        let Some(offset) = self.pages.next_page(plane) else { return false };
        self.operation = Operation::new(None);
        for (number, plane) in waiting {
            if number == u64::MAX || self.pages.next_page(plane) != Some(offset) {
                continue;
            }
            let (_, id) = self.writes[plane].pop_front().expect("it waits");
            let page = self.pages.begin(id, plane);
            self.operation.add(id, plane, page);
            self.transactions += 1;
        }
        true
    }

    fn collect(&mut self, now: u64) -> Option<u64> {
        let (plane, step) = self.pages.next_step()?;
        let page = self.pages.take(plane, step);
        if step == Step::Read {
            self.collected = Some(page);
            return self.sense(1, now);
        }
        self.transactions += u64::from(step == Step::Program);
        self.operation = Operation::new(Some(step));
        self.operation.add(page, plane, page);
        if step == Step::Erase {
            while let Some(page) = self.pages.take_erase() {
                self.operation.add(page, Pages::<BLOCK_PAGES>::plane_of(page), page);
            }
        }
        self.start(now)
    }

    fn start(&mut self, now: u64) -> Option<u64> {
        self.operation.start(now);
        self.activity = Activity::Running;
        Some(self.operation.end)
    }

    /// A write or step of what is complete ends; returns whether that is a write.
    #[inline(always)]
    fn finish(&mut self, place: usize) -> bool {
        let member = self.operation.members[place];
        match self.operation.step {
            None => drop(self.pages.finish(member)),
            Some(step) => self.pages.finish_step(step, member),
        }
        self.operation.step.is_none()
    }
}

/// The drive, its link, and the host that keeps 64 requests in flight.
pub struct Tlc {
    now: u64,
    order: Order,
    to_drive: Line<DEPTH>,
    to_host: Line<DEPTH>,
    free_in: u64,
    free_out: u64,
    dies: Vec<Die>,
    events: Slots<{ DIES / GROUP }, GROUP>,
    is_touched: [bool; DIES],
    touched: Vec<usize>,
    /// Dies with a page that is sensed and leaves next.
    sensed: Vec<usize>,
    /// Writes in the buffer, and those that wait for room in it.
    buffered: usize,
    waiting: VecDeque<u32>,
    to_pull: usize,
    requests: Vec<Request>,
    arrived: usize,
    /// Number and arrival of each request in flight, and the parts of its latency so far.
    open: [(u32, u64, [u64; 3]); DEPTH],
    unused: Vec<u32>,
    outcome: Outcome<3>,
}

impl Tlc {
    /// A drive with these pages in its buffer.
    pub fn new(dies: Vec<Die>, dirty: &[u32]) -> Tlc {
        let mut own = Tlc {
            now: 0,
            order: Order::default(),
            to_drive: Line::new(),
            to_host: Line::new(),
            free_in: 0,
            free_out: 0,
            dies,
            events: Slots::new(),
            // There may be garbage to collect before the first request comes.
            is_touched: [true; DIES],
            touched: (0..DIES).collect(),
            sensed: Vec::with_capacity(DIES),
            buffered: dirty.len(),
            waiting: VecDeque::with_capacity(DEPTH),
            to_pull: DEPTH,
            requests: Vec::new(),
            arrived: 0,
            open: [(0, 0, [0; 3]); DEPTH],
            unused: (0..DEPTH as u32).collect(),
            outcome: Outcome::new(None),
        };
        for lpn in dirty {
            own.dies[*lpn as usize % DIES].write(lpn / DIES as u32);
        }
        own
    }

    /// Serves these requests.
    pub fn run(&mut self, requests: Vec<Request>, is_logged: bool) -> Outcome<3> {
        self.outcome = Outcome::new(is_logged.then_some(requests.len()));
        self.requests = requests;
        loop {
            let first = self.first();
            if time(first) == self.now {
                self.happen(first);
                continue;
            }
            self.decide();
            if self.unused.len() == DEPTH {
                break;
            }
            self.now = time(self.first());
        }
        self.order.check(self.now);
        self.outcome.transactions = self.dies.iter().map(|die| die.transactions).sum();
        std::mem::replace(&mut self.outcome, Outcome::new(None))
    }

    /// Key of the next event.
    #[inline(always)]
    fn first(&self) -> u64 {
        self.events.first.min(self.to_drive.first).min(self.to_host.first)
    }

    #[inline(always)]
    fn happen(&mut self, event: u64) {
        if event == self.to_drive.first {
            let id = self.to_drive.pop();
            self.waiting.push_back(id);
            self.fill_buffer();
        } else if event == self.to_host.first {
            let id = self.to_host.pop();
            self.complete(id, false);
        } else {
            self.flash_event();
        }
    }

    /// Lets writes into the buffer, in their order, and answers them.
    fn fill_buffer(&mut self) {
        while let Some(&id) = self.waiting.front() {
            let lpn = self.requests[self.open[id as usize].0 as usize].lpn;
            let (die, own) = (lpn as usize % DIES, lpn / DIES as u32);
            if !self.dies[die].merges(own) {
                if self.buffered == BUFFER_PAGES {
                    return;
                }
                self.buffered += 1;
                self.dies[die].write(own);
                self.touch(die);
            }
            self.waiting.pop_front();
            self.complete(id, true);
        }
    }

    fn touch(&mut self, die: usize) {
        if !std::mem::replace(&mut self.is_touched[die], true) {
            self.touched.push(die);
        }
    }

    #[inline(always)]
    fn flash_event(&mut self) {
        let (group, slot) = self.events.take();
        let die = group * GROUP + slot;
        let own = &mut self.dies[die];
        match own.activity {
            Activity::Sensing => {
                own.activity = Activity::Leaving;
                self.sensed.push(die);
            }
            Activity::Leaving => self.page_left(die),
            Activity::Stopping => {
                (own.activity, own.is_suspended) = (Activity::Idle, true);
                self.touch(die);
            }
            _ => {
                own.activity = Activity::Idle;
                own.operation.blocks = [NONE; PLANES];
                self.touch(die);
                for place in (0..self.dies[die].operation.count).rev() {
                    if self.dies[die].finish(place) {
                        self.buffered -= 1;
                        self.fill_buffer();
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn page_left(&mut self, die: usize) {
        self.touch(die);
        let own = &mut self.dies[die];
        if let Some(page) = own.collected.take() {
            own.pages.finish_step(Step::Read, page);
        } else {
            let Read { request, queued, .. } = own.reading.pop().expect("a page left");
            if !own.reading.is_empty() {
                self.sensed.push(die);
            }
            let waited = self.now - queued - COMMAND - READ - TRANSFER;
            self.open[request as usize].2 = [waited, READ + TRANSFER, 0];
            self.send_out(request);
        }
        if self.dies[die].reading.is_empty() {
            self.dies[die].activity = Activity::Idle;
        }
    }

    fn send_out(&mut self, id: u32) {
        self.free_out = self.free_out.max(self.now) + LINK;
        self.to_host.push(self.order.key(self.free_out), id);
    }

    fn complete(&mut self, id: u32, is_write: bool) {
        let (number, arrival, parts) = self.open[id as usize];
        self.outcome.completed((number, is_write), (arrival, self.now), parts);
        self.unused.push(id);
        self.to_pull += 1;
    }

    /// Looks up what the requests after the next few will need.
    fn touch_ahead(&self) {
        let from = (self.arrived + AHEAD).min(self.requests.len());
        let ahead = &self.requests[from..self.requests.len().min(from + AHEAD)];
        let mut entries = [0; AHEAD];
        for (entry, request) in entries.iter_mut().zip(ahead) {
            let die = &self.dies[request.lpn as usize % DIES];
            *entry = die.pages.touch(request.lpn / DIES as u32);
        }
        let page = |(entry, request): (&u32, &Request)| {
            self.dies[request.lpn as usize % DIES].pages.touch_page(*entry)
        };
        let pages = entries.iter().zip(ahead).map(page);
        std::hint::black_box(pages.fold(0, |sum, page| sum ^ page));
    }

    #[inline(always)]
    fn arrive(&mut self) {
        if self.arrived % AHEAD == 0 {
            self.touch_ahead();
        }
        let Some(&Request { lpn, is_write, .. }) = self.requests.get(self.arrived) else { return };
        let id = self.unused.pop().expect("a request has left");
        self.open[id as usize] = (self.arrived as u32, self.now, [0; 3]);
        self.arrived += 1;
        let die = lpn as usize % DIES;
        if is_write {
            self.free_in = self.free_in.max(self.now) + LINK;
            self.to_drive.push(self.order.key(self.free_in), id);
        } else if self.dies[die].read(lpn / DIES as u32, id, self.now) {
            self.send_out(id);
        } else {
            self.touch(die);
        }
    }

    /// Decides what arrives and what begins, at the end of an instant.
    #[inline(always)]
    fn decide(&mut self) {
        for _ in 0..std::mem::take(&mut self.to_pull) {
            self.arrive();
        }
        for place in 0..self.touched.len() {
            let die = self.touched[place] % DIES;
            self.is_touched[die] = false;
            if let Some(at) = self.dies[die].decide(self.now) {
                self.events.put(die / GROUP, die % GROUP, self.order.key(at));
            }
        }
        self.touched.clear();
        while let Some(die) = self.sensed.pop() {
            let key = self.order.key(self.now + TRANSFER);
            self.events.put(die / GROUP, die % GROUP, key);
        }
    }
}

//! The load `main`: 16 MLC dies on channels of their own, programs cancelled within a phase (IPC).
//!
//! A closed loop of 64 requests, reads first, greedy collection, a link of 2 GB/s.

use std::collections::VecDeque;

use crate::rivals::blocks::{AtRest, Need, PLANES, Pages, Place, Step};
use crate::rivals::ipc::{BLOCK_PAGES, Operation, TRANSFER, Work};
use crate::rivals::{AHEAD, Line, NONE, Order, Outcome, Request, Slots, time};

pub const DIES: usize = 16;
const DEPTH: usize = 64;
/// Dies whose events are kept together.
const GROUP: usize = 4;

// Nanoseconds of the flash and of a page on the link.
const READ: u64 = 25_000;
const LINK: u64 = 2_048;

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
    Reading,
    Collecting,
    Running,
    Stopping,
}

/// A request that a die has done with, and the parts of its latency: queue, array and bus, stopped.
#[derive(Clone, Copy)]
pub struct Done {
    pub request: u32,
    pub is_write: bool,
    pub parts: [u64; 3],
}

/// A die with its queues and its part of the mapping.
pub struct Die {
    activity: Activity,
    is_suspended: bool,
    operation: Operation,
    reading: Read,
    collected: u32,
    pages: Pages<BLOCK_PAGES>,
    reads: VecDeque<Read>,
    writes: VecDeque<u32>,
    /// When each request that is written arrived, and for how long it was stopped.
    times: Vec<[u64; 3]>,
    pub transactions: u64,
}

impl Die {
    pub fn new(state: AtRest, blocks: u32) -> Die {
        let start = (f64::from(blocks) * 0.05).ceil() as usize;
        Die {
            activity: Activity::Idle,
            is_suspended: false,
            operation: Operation::new(Work::Write(NONE), 0, 0),
            reading: Read { lpn: 0, page: 0, erases: 0, request: NONE, queued: 0 },
            collected: NONE,
            pages: Pages::new(state, blocks, start),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            times: Vec::new(),
            transactions: 0,
        }
    }

    /// Queues a read; returns whether the buffer serves it at once.
    #[inline(always)]
    pub fn read(&mut self, lpn: u32, request: u32, now: u64) -> bool {
        let Place::Page(page) = self.pages.place(lpn) else { return true };
        let erases = self.pages.erases(page);
        self.reads.push_back(Read { lpn, page, erases, request, queued: now });
        false
    }

    #[inline(always)]
    pub fn write(&mut self, lpn: u32, request: u32, now: u64) {
        let id = self.pages.accept(lpn, request);
        if self.times.len() <= id as usize {
            self.times.push([0; 3]);
        }
        self.times[id as usize] = [now, now, 0];
        self.writes.push_back(id);
    }

    /// Decides what the die does next; returns the instant of its next event if that changes.
    #[inline]
    pub fn decide(&mut self, now: u64) -> Option<u64> {
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

    /// The place of the oldest read, but of those of the block that is worked on.
    #[inline(always)]
    fn admissible_read(&mut self) -> Option<usize> {
        let pages = &self.pages;
        let block = self.operation.block;
        self.reads.iter_mut().position(|read| {
            pages.follow(read.lpn, &mut read.page, &mut read.erases);
            read.page / BLOCK_PAGES != block
        })
    }

    #[inline(always)]
    fn begin(&mut self, now: u64) -> Option<u64> {
        if !self.reads.is_empty() {
            let place = if self.is_suspended { self.admissible_read() } else { Some(0) };
            if let Some(place) = place {
                self.reading = self.reads.remove(place).expect("it was just found");
                let parts = now - self.reading.queued;
                self.reading.queued = parts;
                self.activity = Activity::Reading;
                self.transactions += 1;
                return Some(now + READ + TRANSFER);
            }
        }
        if self.is_suspended {
            self.is_suspended = false;
            if let Work::Write(id) = self.operation.work {
                self.times[id as usize][2] += now - self.operation.stopped_at;
            }
            self.operation.resume(now);
            self.activity = Activity::Running;
            return Some(self.operation.end);
        }
        let need = self.pages.need();
        if need != Need::Urgent {
            if let Some(&id) = self.writes.front() {
                let plane = self.pages.write(id).lpn as usize % PLANES;
                if self.pages.next_page(plane).is_some() {
                    self.writes.pop_front();
                    self.times[id as usize][1] = now;
                    let page = self.pages.begin(id, plane);
                    self.transactions += 1;
                    return self.start(Work::Write(id), page, now);
                }
            }
        }
        if need == Need::None { None } else { self.collect(now) }
    }

    fn collect(&mut self, now: u64) -> Option<u64> {
        let (plane, step) = self.pages.next_step()?;
        let page = self.pages.take(plane, step);
        self.transactions += u64::from(step != Step::Erase);
        if step == Step::Read {
            (self.activity, self.collected) = (Activity::Collecting, page);
            return Some(now + READ + TRANSFER);
        }
        self.start(Work::Step(step, page), page, now)
    }

    #[inline(always)]
    fn start(&mut self, work: Work, page: u32, now: u64) -> Option<u64> {
        self.operation = Operation::new(work, page, now);
        self.activity = Activity::Running;
        Some(self.operation.end)
    }

    /// The instant of its event has come; returns the request that is served by that.
    #[inline(always)]
    pub fn elapse(&mut self, now: u64) -> Option<Done> {
        match std::mem::replace(&mut self.activity, Activity::Idle) {
            Activity::Reading => {
                let Read { request, queued, .. } = self.reading;
                Some(Done { request, is_write: false, parts: [queued, READ + TRANSFER, 0] })
            }
            Activity::Collecting => {
                self.pages.finish_step(Step::Read, self.collected);
                None
            }
            Activity::Stopping => {
                self.is_suspended = true;
                self.operation.stopped_at = now;
                None
            }
            _ => self.complete(now),
        }
    }

    #[inline(always)]
    fn complete(&mut self, now: u64) -> Option<Done> {
        self.operation.block = NONE;
        match self.operation.work {
            Work::Write(id) => {
                let request = self.pages.finish(id).request;
                let [queued, begun, stopped] = self.times[id as usize];
                let parts = [begun - queued, now - begun - stopped, stopped];
                Some(Done { request, is_write: true, parts })
            }
            Work::Step(step, page) => {
                self.pages.finish_step(step, page);
                None
            }
        }
    }
}

/// The drive, its link, and the host that keeps 64 requests in flight.
pub struct Main {
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
    to_pull: usize,
    requests: Vec<Request>,
    arrived: usize,
    /// Number and arrival of each request in flight, and the parts of its latency so far.
    open: [(u32, u64, [u64; 3]); DEPTH],
    unused: Vec<u32>,
    outcome: Outcome<3>,
}

impl Main {
    pub fn new(dies: Vec<Die>) -> Main {
        Main {
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
            to_pull: DEPTH,
            requests: Vec::new(),
            arrived: 0,
            open: [(0, 0, [0; 3]); DEPTH],
            unused: (0..DEPTH as u32).collect(),
            outcome: Outcome::new(None),
        }
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
            let lpn = self.requests[self.open[id as usize].0 as usize].lpn;
            let die = lpn as usize % DIES;
            self.dies[die].write(lpn / DIES as u32, id, self.now);
            self.touch(die);
        } else if event == self.to_host.first {
            let id = self.to_host.pop();
            self.complete(id, false);
        } else {
            self.flash_event();
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
        self.touch(die);
        let Some(done) = self.dies[die].elapse(self.now) else { return };
        self.open[done.request as usize].2 = done.parts;
        match done.is_write {
            true => self.complete(done.request, true),
            false => self.send_out(done.request),
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
    }
}

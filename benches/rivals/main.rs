//! The load `main`: 16 MLC dies with private channels, programs cancelled within a phase (IPC).
//!
//! A closed loop of 64 requests, reads first, greedy collection, a link of 2 GB/s.

use std::collections::VecDeque;

use crate::rivals::NONE;
use crate::rivals::blocks::{AtRest, Need, PLANES, Pages, Read, Step};
use crate::rivals::closed_loop::{self, ClosedLoop, Drive};
use crate::rivals::ipc::{BLOCK_PAGES, Operation, TRANSFER, Work};

// Nanoseconds of the flash and of a page on the link.
const READ: u64 = 25_000;
const LINK: u64 = 2_048;

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
            reading: Read::NONE,
            collected: NONE,
            pages: Pages::new(state, blocks, start),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            times: Vec::new(),
            transactions: 0,
        }
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

    /// The place of the oldest read, but of those of the block that is worked on.
    #[inline(always)]
    fn admissible_read(&mut self) -> Option<usize> {
        let pages = &self.pages;
        let block = self.operation.block;
        self.reads.iter_mut().position(|read| {
            pages.follow(read);
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

    /// Handles its event; returns the request that completes with it.
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

impl closed_loop::Die for Die {
    const LINK: u64 = LINK;

    #[inline(always)]
    fn read(&mut self, lpn: u32, request: u32, now: u64) -> bool {
        let read = self.pages.read(lpn, request, now);
        self.reads.extend(read);
        read.is_none()
    }

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

    #[inline(always)]
    fn touch(&self, lpn: u32) -> u32 {
        self.pages.touch(lpn)
    }

    #[inline(always)]
    fn touch_page(&self, entry: u32) -> u32 {
        self.pages.touch_page(entry)
    }

    fn transactions(&self) -> u64 {
        self.transactions
    }
}

/// The drive in its closed loop.
pub struct Main(ClosedLoop<Die>);

impl Main {
    pub fn new(dies: Vec<Die>) -> Main {
        Main(ClosedLoop::new(dies))
    }
}

impl Drive for Main {
    type Die = Die;

    #[inline(always)]
    fn host(&mut self) -> &mut ClosedLoop<Die> {
        &mut self.0
    }

    #[inline(always)]
    fn data_here(&mut self, id: u32) {
        let (die, lpn) = self.0.place(id);
        self.0.dies[die].write(lpn, id, self.0.now);
        self.0.touch(die);
    }

    #[inline(always)]
    fn die_event(&mut self, die: usize) {
        self.0.touch(die);
        let Some(done) = self.0.dies[die].elapse(self.0.now) else { return };
        self.0.note(done.request, done.parts);
        match done.is_write {
            true => self.0.complete(done.request, true),
            false => self.0.send_out(done.request),
        }
    }
}

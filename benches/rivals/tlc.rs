//! The load `tlc` on 16 dies: programs of several planes stop between iterations; a write buffer.
//!
//! A closed loop of 64 requests, reads first, dies with private channels, greedy collection.

use std::collections::VecDeque;

use crate::rivals::NONE;
use crate::rivals::blocks::{AtRest, Need, PLANES, Pages, Place, Read, Step};
use crate::rivals::closed_loop::{self, ClosedLoop, DIES, Drive};
use crate::rivals::iterations::{BLOCK_PAGES, COMMAND, Operation, TRANSFER};

/// Writes that the buffer holds.
const BUFFER_PAGES: usize = 4096;

// Nanoseconds of the flash and of a page on the link.
const READ: u64 = 80_000;
const LINK: u64 = 4_161;

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
    /// Sensed reads that share a command; the last of them leaves next.
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

    /// Whether a write replaces one in the buffer that has not started.
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

    /// The place of the oldest read, but of those of blocks that are worked on.
    #[inline(always)]
    fn admissible_read(&mut self) -> Option<usize> {
        let pages = &self.pages;
        let blocks = &self.operation.blocks;
        self.reads.iter_mut().position(|read| {
            pages.follow(read);
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
            self.pages.follow(read);
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

    /// Ends a write or step of the completed operation; returns whether it is a write.
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

/// The drive in its closed loop, with its buffer.
pub struct Tlc {
    host: ClosedLoop<Die>,
    /// Dies with a page that is sensed and leaves next.
    sensed: Vec<usize>,
    /// Writes in the buffer, and those that wait for room in it.
    buffered: usize,
    waiting: VecDeque<u32>,
}

impl Tlc {
    /// A drive with these pages in its buffer.
    pub fn new(dies: Vec<Die>, dirty: &[u32]) -> Tlc {
        let mut host = ClosedLoop::new(dies);
        for lpn in dirty {
            host.dies[*lpn as usize % DIES].write(lpn / DIES as u32);
        }
        Tlc { host, sensed: Vec::new(), buffered: dirty.len(), waiting: VecDeque::new() }
    }

    /// Admits writes into the buffer, in order, and completes them.
    fn fill_buffer(&mut self) {
        while let Some(&id) = self.waiting.front() {
            let (die, lpn) = self.host.place(id);
            if !self.host.dies[die].merges(lpn) {
                if self.buffered == BUFFER_PAGES {
                    return;
                }
                self.buffered += 1;
                self.host.dies[die].write(lpn);
                self.host.touch(die);
            }
            self.waiting.pop_front();
            self.host.complete(id, true);
        }
    }

    #[inline(always)]
    fn page_left(&mut self, die: usize) {
        self.host.touch(die);
        let own = &mut self.host.dies[die];
        if let Some(page) = own.collected.take() {
            own.pages.finish_step(Step::Read, page);
        } else {
            let Read { request, queued, .. } = own.reading.pop().expect("a page left");
            if !own.reading.is_empty() {
                self.sensed.push(die);
            }
            let waited = self.host.now - queued - COMMAND - READ - TRANSFER;
            self.host.note(request, [waited, READ + TRANSFER, 0]);
            self.host.send_out(request);
        }
        if self.host.dies[die].reading.is_empty() {
            self.host.dies[die].activity = Activity::Idle;
        }
    }
}

impl Drive for Tlc {
    type Die = Die;

    #[inline(always)]
    fn host(&mut self) -> &mut ClosedLoop<Die> {
        &mut self.host
    }

    #[inline(always)]
    fn data_here(&mut self, id: u32) {
        self.waiting.push_back(id);
        self.fill_buffer();
    }

    #[inline(always)]
    fn die_event(&mut self, die: usize) {
        let own = &mut self.host.dies[die];
        match own.activity {
            Activity::Sensing => {
                own.activity = Activity::Leaving;
                self.sensed.push(die);
            }
            Activity::Leaving => self.page_left(die),
            Activity::Stopping => {
                (own.activity, own.is_suspended) = (Activity::Idle, true);
                self.host.touch(die);
            }
            _ => {
                own.activity = Activity::Idle;
                own.operation.blocks = [NONE; PLANES];
                self.host.touch(die);
                for place in (0..self.host.dies[die].operation.count).rev() {
                    if self.host.dies[die].finish(place) {
                        self.buffered -= 1;
                        self.fill_buffer();
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn decide_rest(&mut self) {
        while let Some(die) = self.sensed.pop() {
            self.host.schedule(die, self.host.now + TRANSFER);
        }
    }
}

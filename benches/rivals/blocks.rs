//! The pages of a die whose planes each collect their own garbage: mapping, blocks, next steps.
//!
//! A logical page has a fixed plane. A write replaces the old page when it is programmed, so that
//! collection may move that page while its successor waits.

use crate::rivals::NONE;
use crate::rivals::plane::{Plane, PlaneAtRest};

/// Planes of a die.
pub const PLANES: usize = 4;
/// Bits of the page in its plane; the plane is above them.
const PLANE_BITS: u32 = 24;
/// An entry of the map that names a write which is not programmed yet.
const BUFFERED: u32 = 1 << 31;
/// Free blocks that only collection may use.
const RESERVE: usize = 2;

/// How much a plane has to collect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    None,
    Idle,
    Urgent,
}

/// A step of collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Read,
    Program,
    Erase,
}

/// Where a logical page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Page(u32),
    Buffered(u32),
}

/// A write between its arrival and its program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Write {
    pub lpn: u32,
    /// Of the host.
    pub request: u32,
    /// The page that it replaces, and its own.
    old: u32,
    page: u32,
    is_stale: bool,
    pub has_begun: bool,
}

/// A read of the host that waits for its die.
#[derive(Clone, Copy)]
pub struct Read {
    lpn: u32,
    pub page: u32,
    /// Erases started in the plane of the page at its look-up.
    erases: u32,
    pub request: u32,
    pub queued: u64,
}

impl Read {
    pub const NONE: Read = Read { lpn: 0, page: 0, erases: 0, request: NONE, queued: 0 };
}

/// The state of a die at rest, its pages numbered plane after plane.
pub struct AtRest {
    pub map: Vec<u32>,
    pub planes: Vec<PlaneAtRest>,
}

/// Mapping and blocks of a die; a block has `PAGES` pages.
pub struct Pages<const PAGES: u32> {
    planes: [Plane; PLANES],
    /// Free blocks of a plane below which collection begins.
    start: usize,
    /// The plane that collects.
    current: usize,
    need: Option<Need>,
    map: Vec<u32>,
    writes: Vec<Write>,
    unused: Vec<u32>,
}

/// The number of a page in its plane.
#[inline(always)]
fn in_plane(page: u32) -> usize {
    (page & ((1 << PLANE_BITS) - 1)) as usize
}

impl<const PAGES: u32> Pages<PAGES> {
    pub fn new(state: AtRest, blocks: u32, start: usize) -> Self {
        let mut planes = state.planes.into_iter();
        let plane =
            |_| Plane::new::<PAGES>(planes.next().expect("a die has this many planes"), blocks);
        let plane_pages = blocks * PAGES;
        assert!(
            plane_pages >> PLANE_BITS == 0,
            "a plane is too large for the numbers of its pages"
        );
        let own_number = |page: u32| ((page / plane_pages) << PLANE_BITS) | (page % plane_pages);
        let mut own = Pages {
            planes: std::array::from_fn(plane),
            start,
            current: 0,
            need: None,
            map: state.map.into_iter().map(own_number).collect(),
            writes: Vec::new(),
            unused: Vec::new(),
        };
        for lpn in 0..own.map.len() {
            own.validate(own.map[lpn], lpn as u32);
        }
        for plane in &mut own.planes {
            let not_full = [plane.open, plane.victim];
            let is_full = |block: &u32| !not_full.contains(block) && !plane.free.contains(block);
            let full: Vec<u32> = (0..blocks).filter(is_full).collect();
            full.into_iter().for_each(|block| plane.fill::<PAGES>(block));
        }
        own
    }

    /// The plane of a page.
    #[inline(always)]
    pub fn plane_of(page: u32) -> usize {
        (page >> PLANE_BITS) as usize % PLANES
    }

    #[inline(always)]
    pub fn place(&self, lpn: u32) -> Place {
        match self.map[lpn as usize] {
            page if page & BUFFERED == 0 => Place::Page(page),
            write => Place::Buffered(write & !BUFFERED),
        }
    }

    /// Returns the entry of the map, looked up ahead.
    #[inline(always)]
    pub fn touch(&self, lpn: u32) -> u32 {
        self.map[lpn as usize]
    }

    /// Returns notes about the page of an entry, looked up ahead.
    #[inline(always)]
    pub fn touch_page(&self, entry: u32) -> u32 {
        let plane = &self.planes[Self::plane_of(entry)];
        let page = in_plane(entry);
        let owner = plane.owners.get(page).copied().unwrap_or(0);
        owner ^ plane.valid.get(page / PAGES as usize).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn erases(&self, page: u32) -> u32 {
        self.planes[Self::plane_of(page)].erases
    }

    /// Returns a read with its page; `None`: the buffer has it.
    #[inline(always)]
    pub fn read(&self, lpn: u32, request: u32, now: u64) -> Option<Read> {
        let Place::Page(page) = self.place(lpn) else { return None };
        Some(Read { lpn, page, erases: self.erases(page), request, queued: now })
    }

    /// Finds the page of a queued read anew if blocks of its plane were erased meanwhile.
    #[inline(always)]
    pub fn follow(&self, read: &mut Read) {
        let now = self.erases(read.page);
        if now != read.erases {
            read.erases = now;
            if let Place::Page(moved) = self.place(read.lpn) {
                read.page = moved;
            }
        }
    }

    #[inline(always)]
    pub fn write(&self, id: u32) -> &Write {
        &self.writes[id as usize]
    }

    /// Takes a write in; returns its number.
    #[inline(always)]
    pub fn accept(&mut self, lpn: u32, request: u32) -> u32 {
        let old = match self.place(lpn) {
            Place::Page(page) => page,
            Place::Buffered(before) => {
                let before = &mut self.writes[before as usize];
                before.is_stale = true;
                before.old
            }
        };
        let write = Write { lpn, request, old, ..Write::default() };
        let id = match self.unused.pop() {
            Some(id) => id,
            None => {
                self.writes.push(write);
                self.writes.len() as u32 - 1
            }
        };
        self.writes[id as usize] = write;
        self.map[lpn as usize] = BUFFERED | id;
        id
    }

    /// The next page of a plane for a write, if the reserve allows.
    #[inline(always)]
    pub fn next_page(&self, plane: usize) -> Option<u32> {
        let own = &self.planes[plane];
        let is_open = own.next_page < PAGES;
        let has_room = own.free.len() > RESERVE || own.free.len() == RESERVE && is_open;
        has_room.then_some(if is_open { own.next_page } else { 0 })
    }

    /// Gives a write its page; returns that.
    #[inline(always)]
    pub fn begin(&mut self, id: u32, plane: usize) -> u32 {
        let page = self.allocate(plane);
        let write = &mut self.writes[id as usize];
        (write.page, write.has_begun) = (page, true);
        page
    }

    /// A write is programmed; returns it.
    #[inline(always)]
    pub fn finish(&mut self, id: u32) -> Write {
        let write = self.writes[id as usize];
        self.unused.push(id);
        if !write.is_stale {
            self.invalidate(write.old);
            self.validate(write.page, write.lpn);
            self.map[write.lpn as usize] = write.page;
        }
        write
    }

    #[inline(always)]
    fn allocate(&mut self, plane: usize) -> u32 {
        let own = &mut self.planes[plane];
        if own.next_page == PAGES {
            let full = std::mem::replace(&mut own.open, own.free.pop_front().expect("a reserve"));
            own.next_page = 0;
            if full != NONE {
                own.fill::<PAGES>(full);
            }
            self.need = None;
        }
        own.next_page += 1;
        (plane as u32) << PLANE_BITS | (own.open * PAGES + own.next_page - 1)
    }

    #[inline(always)]
    fn validate(&mut self, page: u32, lpn: u32) {
        let plane = &mut self.planes[Self::plane_of(page)];
        plane.owners[in_plane(page)] = lpn;
        plane.valid[in_plane(page) / PAGES as usize] += 1;
    }

    #[inline(always)]
    fn invalidate(&mut self, page: u32) {
        let plane = &mut self.planes[Self::plane_of(page)];
        plane.owners[in_plane(page)] = NONE;
        if plane.lose_page::<PAGES>(in_plane(page) as u32 / PAGES) {
            self.need = None;
        }
    }

    #[inline(always)]
    pub fn need_of(&self, plane: usize) -> Need {
        let own = &self.planes[plane];
        let free = own.free.len();
        let is_short = free <= RESERVE || free < self.start;
        if own.victim == NONE && (!is_short || own.with_garbage == 0) {
            Need::None
        } else if free <= RESERVE {
            Need::Urgent
        } else {
            Need::Idle
        }
    }

    /// The greatest need of a plane.
    #[inline(always)]
    pub fn need(&mut self) -> Need {
        if let Some(need) = self.need {
            return need;
        }
        let need = (0..PLANES).map(|plane| self.need_of(plane)).max().expect("there are planes");
        self.need = Some(need);
        need
    }

    /// The next step of collection, and its plane.
    pub fn next_step(&mut self) -> Option<(usize, Step)> {
        let need = self.need();
        if need == Need::None {
            return None;
        }
        let current = &self.planes[self.current];
        if current.victim == NONE || self.need_of(self.current) != need {
            // First one with a victim, then the one with the fewest free blocks.
            let needy = (0..PLANES).filter(|plane| self.need_of(*plane) == need);
            let rank = |plane: &usize| {
                let own = &self.planes[*plane];
                (own.victim == NONE, own.free.len(), *plane)
            };
            self.current = needy.min_by_key(rank).expect("a plane needs it that much");
        }
        Some((self.current, self.step_of(self.current)))
    }

    /// Looks up the entries of the pages that collection will move, all at once.
    fn touch_victim(&self, plane: usize) {
        let own = &self.planes[plane];
        let first = (own.victim * PAGES) as usize;
        let owners = own.owners[first..first + PAGES as usize].iter();
        let valid = owners.filter(|owner| **owner != NONE);
        std::hint::black_box(valid.fold(0, |sum, lpn| sum ^ self.map[*lpn as usize]));
    }

    /// The next step of a plane, which begins with a victim if it has none.
    #[inline(always)]
    fn step_of(&mut self, plane: usize) -> Step {
        if self.planes[plane].victim == NONE {
            self.planes[plane].take_victim::<PAGES>();
            self.touch_victim(plane);
            self.need = None;
        }
        let own = &mut self.planes[plane];
        own.held = own.held.filter(|(source, lpn)| own.owners[in_plane(*source)] == *lpn);
        let first = (own.victim * PAGES) as usize;
        let left = &own.owners[first + own.cursor as usize..first + PAGES as usize];
        let invalid = left.iter().position(|owner| *owner != NONE).unwrap_or(left.len());
        own.cursor += invalid as u32;
        match own.held {
            Some(_) => Step::Program,
            None if own.cursor == PAGES => Step::Erase,
            None => Step::Read,
        }
    }

    /// Begins the step of a plane; returns its page, or the first one of its block.
    #[inline(always)]
    pub fn take(&mut self, plane: usize, step: Step) -> u32 {
        let own = &mut self.planes[plane];
        own.in_flight = true;
        let first = (plane as u32) << PLANE_BITS | (own.victim * PAGES);
        match step {
            Step::Program => self.allocate(plane),
            Step::Erase => {
                own.erases += 1;
                first
            }
            Step::Read => {
                let page = first + own.cursor;
                own.cursor += 1;
                own.held = Some((page, own.owners[in_plane(page)]));
                page
            }
        }
    }

    /// Starts the erase of another plane of the die that is due.
    pub fn take_erase(&mut self) -> Option<u32> {
        for plane in 0..PLANES {
            if self.planes[plane].in_flight || self.need_of(plane) == Need::None {
                continue;
            }
            if self.step_of(plane) == Step::Erase {
                return Some(self.take(plane, Step::Erase));
            }
        }
        None
    }

    /// A step on a page is complete.
    #[inline(always)]
    pub fn finish_step(&mut self, step: Step, page: u32) {
        let plane = Self::plane_of(page);
        let own = &mut self.planes[plane];
        own.in_flight = false;
        match step {
            Step::Read => {}
            Step::Program => {
                let (source, lpn) = own.held.take().expect("it was programmed");
                self.relocate(source, page, lpn);
            }
            Step::Erase => {
                own.free.push_back(std::mem::replace(&mut own.victim, NONE));
                own.held = None;
                self.need = None;
            }
        }
    }

    #[inline(always)]
    fn relocate(&mut self, source: u32, target: u32, lpn: u32) {
        if self.planes[Self::plane_of(source)].owners[in_plane(source)] != lpn {
            return;
        }
        match self.place(lpn) {
            Place::Page(_) => self.map[lpn as usize] = target,
            Place::Buffered(id) => self.writes[id as usize].old = target,
        }
        self.invalidate(source);
        self.validate(target, lpn);
    }
}

//! Sixteen dies with private channels behind a link, and a host with 64 requests in flight.

use crate::rivals::{AHEAD, Line, Order, Outcome, Request, Slots, time};

pub const DIES: usize = 16;
const DEPTH: usize = 64;
/// Dies whose events are kept together.
const GROUP: usize = 4;

/// A die of such a drive.
pub trait Die {
    /// Nanoseconds of a page on the link.
    const LINK: u64;

    /// Queues a read; returns whether the buffer serves it at once.
    fn read(&mut self, lpn: u32, request: u32, now: u64) -> bool;

    /// Decides what the die does next; returns the instant of its next event if that changes.
    fn decide(&mut self, now: u64) -> Option<u64>;

    /// Returns the entry of the map, looked up ahead.
    fn touch(&self, lpn: u32) -> u32;

    /// Returns notes about the page of an entry, looked up ahead.
    fn touch_page(&self, entry: u32) -> u32;

    /// Returns the page operations of the die.
    fn transactions(&self) -> u64;
}

/// The dies, the link and the host.
pub struct ClosedLoop<D> {
    pub now: u64,
    pub dies: Vec<D>,
    order: Order,
    to_drive: Line<DEPTH>,
    to_host: Line<DEPTH>,
    free_in: u64,
    free_out: u64,
    events: Slots<{ DIES / GROUP }, GROUP>,
    is_touched: [bool; DIES],
    touched: Vec<usize>,
    to_pull: usize,
    requests: Vec<Request>,
    arrived: usize,
    /// Number and arrival of each request in flight, and the parts of its latency.
    open: [(u32, u64, [u64; 3]); DEPTH],
    unused: Vec<u32>,
    outcome: Outcome<3>,
}

/// A drive in a closed loop.
pub trait Drive {
    type Die: Die;

    fn host(&mut self) -> &mut ClosedLoop<Self::Die>;

    /// Takes the data of a write, which have crossed the link.
    fn data_here(&mut self, id: u32);

    /// Handles the event of a die.
    fn die_event(&mut self, die: usize);

    /// Decides what else begins at the end of an instant.
    #[inline(always)]
    fn decide_rest(&mut self) {}

    /// Serves these requests.
    fn run(&mut self, requests: Vec<Request>, is_logged: bool) -> Outcome<3> {
        self.host().outcome = Outcome::new(is_logged.then_some(requests.len()));
        self.host().requests = requests;
        loop {
            let first = self.host().first();
            if time(first) == self.host().now {
                self.happen(first);
                continue;
            }
            self.host().decide();
            self.decide_rest();
            let host = self.host();
            if host.unused.len() == DEPTH {
                break;
            }
            host.now = time(host.first());
        }
        let host = self.host();
        host.order.check(host.now);
        host.outcome.transactions = host.dies.iter().map(Die::transactions).sum();
        std::mem::replace(&mut host.outcome, Outcome::new(None))
    }

    #[inline(always)]
    fn happen(&mut self, event: u64) {
        let host = self.host();
        if event == host.to_drive.first {
            let id = host.to_drive.pop();
            self.data_here(id);
        } else if event == host.to_host.first {
            let id = host.to_host.pop();
            host.complete(id, false);
        } else {
            let (group, slot) = host.events.take();
            self.die_event(group * GROUP + slot);
        }
    }
}

impl<D: Die> ClosedLoop<D> {
    pub fn new(dies: Vec<D>) -> ClosedLoop<D> {
        ClosedLoop {
            now: 0,
            dies,
            order: Order::default(),
            to_drive: Line::new(),
            to_host: Line::new(),
            free_in: 0,
            free_out: 0,
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

    /// Key of the next event.
    #[inline(always)]
    fn first(&self) -> u64 {
        self.events.first.min(self.to_drive.first).min(self.to_host.first)
    }

    /// Schedules the next event of a die.
    #[inline(always)]
    pub fn schedule(&mut self, die: usize, at: u64) {
        self.events.put(die / GROUP, die % GROUP, self.order.key(at));
    }

    /// Returns the die of a request in flight, and its logical page there.
    #[inline(always)]
    pub fn place(&self, id: u32) -> (usize, u32) {
        let lpn = self.requests[self.open[id as usize].0 as usize].lpn;
        (lpn as usize % DIES, lpn / DIES as u32)
    }

    pub fn touch(&mut self, die: usize) {
        if !std::mem::replace(&mut self.is_touched[die], true) {
            self.touched.push(die);
        }
    }

    /// Notes the parts of a request's latency.
    #[inline(always)]
    pub fn note(&mut self, id: u32, parts: [u64; 3]) {
        self.open[id as usize].2 = parts;
    }

    pub fn send_out(&mut self, id: u32) {
        self.free_out = self.free_out.max(self.now) + D::LINK;
        self.to_host.push(self.order.key(self.free_out), id);
    }

    pub fn complete(&mut self, id: u32, is_write: bool) {
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
            *entry = die.touch(request.lpn / DIES as u32);
        }
        let page = |(entry, request): (&u32, &Request)| {
            self.dies[request.lpn as usize % DIES].touch_page(*entry)
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
            self.free_in = self.free_in.max(self.now) + D::LINK;
            self.to_drive.push(self.order.key(self.free_in), id);
        } else if self.dies[die].read(lpn / DIES as u32, id, self.now) {
            self.send_out(id);
        } else {
            self.touch(die);
        }
    }

    /// Admits requests and decides for dies, at the end of an instant.
    #[inline(always)]
    fn decide(&mut self) {
        for _ in 0..std::mem::take(&mut self.to_pull) {
            self.arrive();
        }
        for place in 0..self.touched.len() {
            let die = self.touched[place] % DIES;
            self.is_touched[die] = false;
            if let Some(at) = self.dies[die].decide(self.now) {
                self.schedule(die, at);
            }
        }
        self.touched.clear();
    }
}

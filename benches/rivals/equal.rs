//! The load `equal`: MQSim's default drive with pages of 4 KiB, its NVMe messages over PCIe, FIFO.
//!
//! 8 channels of 4 dies, reads first, no suspension, writes acknowledged when they are programmed.

use std::collections::VecDeque;

use crate::rivals::{AHEAD, Line, NEVER, NONE, Order, Outcome, Request, Slots, time};

const CHANNELS: usize = 8;
const DIES: usize = 4;
const BUFFERED: u32 = 1 << 31;
const BLOCK_PAGES: u32 = 256;
/// Pages of a die.
const DIE_PAGES: u32 = 1 << 18;
/// Requests in flight.
const DEPTH: usize = 16;

// Nanoseconds of the flash, and of messages on the link.
const COMMAND: u64 = 290;
const TRANSFER: u64 = 24_576;
const READ: u64 = 75_020;
const PROGRAM: u64 = 750_071;
const DOORBELL: u64 = 8;
const SUBMISSION: u64 = 23;
const COMPLETION: u64 = 11;
const ASK: u64 = 7;
const DATA: u64 = 1_248;
const FETCH: u64 = 3;

// Kinds of messages, in their low bits; the other bits name the request.
const RING: u32 = 0;
const COMMAND_ASKED: u32 = 1;
const COMMAND_HERE: u32 = 2;
const DATA_ASKED: u32 = 3;
const DATA_HERE: u32 = 4;
const ANSWER: u32 = 5;

/// The event slots of a channel behind those of its dies.
const OUT: usize = DIES;
const FREE: usize = DIES + 1;

/// A request in flight, with the instants from which the parts of its latency follow.
#[derive(Clone, Copy, Default)]
struct Open {
    lpn: u32,
    is_write: bool,
    number: u32,
    die: u32,
    /// The page it is read from or programmed to, and the one that a write replaces.
    page: u32,
    old: u32,
    arrival: u64,
    fetched: u64,
    begun: u64,
    queued: u64,
    started: u64,
    sensed: u64,
    bus_wait: u64,
    served: u64,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Activity {
    #[default]
    Idle,
    Reading,
    Programming,
}

#[derive(Default)]
struct Die {
    activity: Activity,
    current: u32,
    /// Reads, then writes.
    queues: [VecDeque<u32>; 2],
    /// It is queued at the channel for a read or a write.
    in_line: [bool; 2],
    is_touched: bool,
    next_page: u32,
}

#[derive(Default)]
struct Channel {
    free_at: u64,
    awaits_free: bool,
    is_touched: bool,
    /// The die that comes first among those that wait to begin.
    turn: usize,
    /// Dies whose page waits for the bus, and the one whose page is on it.
    leaving: VecDeque<usize>,
    on_bus: usize,
    /// Dies that wait to begin a read (0) or a write (1).
    starts: Vec<(usize, usize)>,
}

/// The drive, its host and their requests.
pub struct Equal {
    now: u64,
    order: Order,
    to_drive: Line<64>,
    to_host: Line<64>,
    /// When each direction of the link is free.
    free_in: u64,
    free_out: u64,
    submitted: VecDeque<u32>,
    fetch: u64,
    fetched: u32,
    has_work: bool,
    to_pull: usize,
    requests: Vec<Request>,
    arrived: usize,
    open: [Open; DEPTH],
    unused: Vec<u32>,
    dies: Vec<Die>,
    channels: [Channel; CHANNELS],
    events: Slots<CHANNELS, { DIES + 2 }>,
    touched_dies: Vec<usize>,
    touched_channels: Vec<usize>,
    map: Vec<u32>,
    owners: Vec<u32>,
    valid: Vec<u16>,
    outcome: Outcome<5>,
}

impl Equal {
    /// A drive with this number of logical pages, none of them written.
    pub fn new(lpns: u32) -> Equal {
        Equal {
            now: 0,
            order: Order::default(),
            to_drive: Line::new(),
            to_host: Line::new(),
            free_in: 0,
            free_out: 0,
            submitted: VecDeque::with_capacity(DEPTH),
            fetch: NEVER,
            fetched: NONE,
            has_work: false,
            to_pull: DEPTH,
            requests: Vec::new(),
            arrived: 0,
            open: [Open::default(); DEPTH],
            unused: (0..DEPTH as u32).collect(),
            dies: (0..CHANNELS * DIES).map(|_| Die::default()).collect(),
            channels: Default::default(),
            events: Slots::new(),
            touched_dies: Vec::with_capacity(CHANNELS * DIES),
            touched_channels: Vec::with_capacity(CHANNELS),
            map: vec![NONE; lpns as usize],
            owners: vec![NONE; CHANNELS * DIES * DIE_PAGES as usize],
            valid: vec![0; CHANNELS * DIES * (DIE_PAGES / BLOCK_PAGES) as usize],
            outcome: Outcome::new(None),
        }
    }

    /// Serves these requests.
    pub fn run(&mut self, requests: Vec<Request>, is_logged: bool) -> Outcome<5> {
        self.outcome = Outcome::new(is_logged.then_some(requests.len()));
        self.requests = requests;
        self.decide();
        loop {
            let flash = self.events.first;
            let (inbound, outbound) = (self.to_drive.first, self.to_host.first);
            let first = inbound.min(outbound).min(self.fetch).min(flash);
            if time(first) != self.now {
                if self.has_work {
                    self.has_work = false;
                    self.decide();
                    continue;
                }
                if first == NEVER {
                    break;
                }
                self.now = time(first);
            }
            if first == flash {
                self.flash_event();
            } else if first == inbound {
                self.message_to_drive();
            } else if first == outbound {
                self.message_to_host();
            } else {
                self.fetch = NEVER;
                self.has_work = true;
                self.send_out(ASK, self.fetched << 3 | COMMAND_ASKED);
            }
        }
        self.order.check(self.now);
        std::mem::replace(&mut self.outcome, Outcome::new(None))
    }

    #[inline(always)]
    fn send_in(&mut self, length: u64, message: u32) {
        self.free_in = self.free_in.max(self.now) + length;
        self.to_drive.push(self.order.key(self.free_in), message);
    }

    #[inline(always)]
    fn send_out(&mut self, length: u64, message: u32) {
        self.free_out = self.free_out.max(self.now) + length;
        self.to_host.push(self.order.key(self.free_out), message);
    }

    /// Looks up what the requests after the next few will need.
    fn touch_ahead(&self) {
        let from = (self.arrived + AHEAD).min(self.requests.len());
        let ahead = &self.requests[from..self.requests.len().min(from + AHEAD)];
        let mut entries = [NONE; AHEAD];
        for (entry, request) in entries.iter_mut().zip(ahead) {
            *entry = self.map[request.lpn as usize];
        }
        let block = |entry: &u32| self.valid.get((entry / BLOCK_PAGES) as usize).copied();
        let blocks = entries.iter().filter_map(block);
        std::hint::black_box(blocks.fold(0, |sum, block| sum ^ block));
    }

    fn arrive(&mut self) {
        if self.arrived % AHEAD == 0 {
            self.touch_ahead();
        }
        let Some(request) = self.requests.get(self.arrived) else { return };
        let id = self.unused.pop().expect("a request has left");
        let open = &mut self.open[id as usize % DEPTH];
        (open.lpn, open.is_write) = (request.lpn, request.is_write);
        (open.number, open.arrival) = (self.arrived as u32, self.now);
        self.arrived += 1;
        self.send_in(DOORBELL, id << 3 | RING);
    }

    #[inline(always)]
    fn message_to_drive(&mut self) {
        let message = self.to_drive.pop();
        let id = message >> 3;
        match message & 7 {
            RING => {
                self.submitted.push_back(id);
                self.has_work = true;
            }
            COMMAND_HERE => {
                self.open[id as usize % DEPTH].begun = self.now;
                if self.open[id as usize % DEPTH].is_write {
                    self.send_out(ASK, id << 3 | DATA_ASKED);
                } else {
                    self.read(id);
                }
            }
            _ => self.write(id),
        }
    }

    #[inline(always)]
    fn message_to_host(&mut self) {
        let message = self.to_host.pop();
        let id = message >> 3;
        match message & 7 {
            COMMAND_ASKED => self.send_in(SUBMISSION, id << 3 | COMMAND_HERE),
            DATA_ASKED => self.send_in(DATA, id << 3 | DATA_HERE),
            _ => self.complete(id),
        }
    }

    fn complete(&mut self, id: u32) {
        self.free_in = self.free_in.max(self.now) + DOORBELL;
        let open = &self.open[id as usize % DEPTH];
        let link = open.begun - open.fetched + self.now - open.served;
        let array = open.sensed - open.started;
        let parts =
            [open.fetched - open.arrival, link, open.started - open.queued, array, open.bus_wait];
        let at = (open.arrival, self.now);
        self.outcome.completed((open.number, open.is_write), at, parts);
        self.unused.push(id);
        self.to_pull += 1;
        self.has_work = true;
    }

    #[inline(always)]
    fn answer(&mut self, id: u32) {
        self.open[id as usize % DEPTH].served = self.now;
        self.send_out(COMPLETION, id << 3 | ANSWER);
    }

    #[inline(always)]
    fn page_read(&mut self, id: u32) {
        self.free_out = self.free_out.max(self.now) + DATA;
        self.answer(id);
    }

    /// Pages go around the channels, then around the dies of each.
    #[inline(always)]
    fn home(lpn: u32) -> u32 {
        let (channels, dies) = (CHANNELS as u32, DIES as u32);
        lpn % channels * dies + lpn / channels % dies
    }

    #[inline(always)]
    fn read(&mut self, id: u32) {
        let open = &mut self.open[id as usize % DEPTH];
        let page = self.map[open.lpn as usize];
        (open.queued, open.started, open.sensed, open.bus_wait) = (self.now, self.now, self.now, 0);
        if page != NONE && page & BUFFERED != 0 {
            self.page_read(id);
            return;
        }
        open.die = if page == NONE { Self::home(open.lpn) } else { page / DIE_PAGES };
        self.queue(id);
    }

    #[inline(always)]
    fn write(&mut self, id: u32) {
        let open = &mut self.open[id as usize % DEPTH];
        open.die = Self::home(open.lpn);
        open.old = std::mem::replace(&mut self.map[open.lpn as usize], BUFFERED | id);
        self.queue(id);
    }

    #[inline(always)]
    fn queue(&mut self, id: u32) {
        let open = &mut self.open[id as usize % DEPTH];
        open.queued = self.now;
        let (die, is_write) = (open.die as usize % (CHANNELS * DIES), open.is_write);
        self.dies[die].queues[usize::from(is_write)].push_back(id);
        self.touch_die(die);
    }

    #[inline(always)]
    fn touch_die(&mut self, die: usize) {
        if !std::mem::replace(&mut self.dies[die].is_touched, true) {
            self.touched_dies.push(die);
            self.has_work = true;
        }
    }

    #[inline(always)]
    fn touch_channel(&mut self, channel: usize) {
        if !std::mem::replace(&mut self.channels[channel].is_touched, true) {
            self.touched_channels.push(channel);
            self.has_work = true;
        }
    }

    #[inline(always)]
    fn schedule(&mut self, channel: usize, slot: usize, at: u64) {
        self.events.put(channel, slot, self.order.key(at));
    }

    #[inline(always)]
    fn flash_event(&mut self) {
        let (channel, slot) = self.events.take();
        match slot {
            FREE => {
                self.channels[channel].awaits_free = false;
                self.touch_channel(channel);
            }
            OUT => {
                let die = channel * DIES + self.channels[channel].on_bus;
                self.dies[die].activity = Activity::Idle;
                self.touch_die(die);
                self.page_read(self.dies[die].current);
            }
            own => self.array_event(channel, own),
        }
    }

    #[inline(always)]
    fn array_event(&mut self, channel: usize, own: usize) {
        let die = channel * DIES + own;
        let id = self.dies[die].current;
        let open = &mut self.open[id as usize % DEPTH];
        open.sensed = self.now;
        if self.dies[die].activity == Activity::Reading {
            self.channels[channel].leaving.push_back(own);
            self.touch_channel(channel);
            return;
        }
        self.dies[die].activity = Activity::Idle;
        let Open { lpn, page, old, .. } = *open;
        if old & BUFFERED == 0 {
            self.valid[(old / BLOCK_PAGES) as usize] -= 1;
        }
        self.owners[page as usize] = lpn;
        if self.map[lpn as usize] == BUFFERED | id {
            self.map[lpn as usize] = page;
            self.valid[(page / BLOCK_PAGES) as usize] += 1;
        }
        self.touch_die(die);
        self.answer(id);
    }

    /// Decides starts, at the end of an instant.
    #[inline(always)]
    fn decide(&mut self) {
        for _ in 0..std::mem::take(&mut self.to_pull) {
            self.arrive();
        }
        if self.fetch == NEVER {
            if let Some(id) = self.submitted.pop_front() {
                self.open[id as usize % DEPTH].fetched = self.now;
                (self.fetch, self.fetched) = (self.order.key(self.now + FETCH), id);
            }
        }
        for place in 0..self.touched_dies.len() {
            let die = self.touched_dies[place] % (CHANNELS * DIES);
            self.dies[die].is_touched = false;
            self.decide_die(die, false);
        }
        self.touched_dies.clear();
        while let Some(channel) = self.touched_channels.pop() {
            self.channels[channel].is_touched = false;
            self.decide_channel(channel);
        }
    }

    #[inline(always)]
    fn decide_die(&mut self, die: usize, is_granted: bool) {
        if self.dies[die].activity != Activity::Idle {
            return;
        }
        let is_write = self.dies[die].queues[0].is_empty();
        let Some(&id) = self.dies[die].queues[usize::from(is_write)].front() else { return };
        if !self.has_channel(die, is_write, is_granted) {
            return;
        }
        let own = &mut self.dies[die];
        let open = &mut self.open[id as usize % DEPTH];
        own.queues[usize::from(is_write)].pop_front();
        own.current = id;
        open.started = self.now;
        self.outcome.transactions += 1;
        let (transfer, array) = if is_write {
            own.activity = Activity::Programming;
            open.page = die as u32 * DIE_PAGES + own.next_page;
            own.next_page += 1;
            assert!(own.next_page < DIE_PAGES, "the drive would have to collect");
            (COMMAND + TRANSFER, PROGRAM)
        } else {
            own.activity = Activity::Reading;
            (COMMAND, READ)
        };
        let channel = die / DIES;
        self.channels[channel].free_at = self.now + transfer;
        self.schedule(channel, die % DIES, self.now + transfer + array);
    }

    /// Takes the channel for the command of a die, or queues the die.
    #[inline(always)]
    fn has_channel(&mut self, die: usize, is_write: bool, is_granted: bool) -> bool {
        let own = die % DIES;
        let channel = &mut self.channels[die / DIES];
        let is_free = channel.free_at <= self.now;
        if is_granted || is_free && channel.leaving.is_empty() && channel.starts.is_empty() {
            channel.turn = (own + 1) % DIES;
            return true;
        }
        let kind = usize::from(is_write);
        if !std::mem::replace(&mut self.dies[die].in_line[kind], true) {
            channel.starts.push((own, kind));
            self.touch_channel(die / DIES);
        }
        false
    }

    #[inline(always)]
    fn decide_channel(&mut self, number: usize) {
        loop {
            let channel = &mut self.channels[number];
            if channel.leaving.is_empty() && channel.starts.is_empty() {
                return;
            }
            if channel.free_at > self.now {
                if !std::mem::replace(&mut channel.awaits_free, true) {
                    let at = channel.free_at;
                    self.schedule(number, FREE, at);
                }
                return;
            }
            if let Some(own) = channel.leaving.pop_front() {
                channel.on_bus = own;
                channel.free_at = self.now + TRANSFER;
                let open = &mut self.open[self.dies[number * DIES + own].current as usize % DEPTH];
                open.bus_wait = self.now - open.sensed;
                self.schedule(number, OUT, self.now + TRANSFER);
                continue;
            }
            let from_turn = |own: usize| (own + DIES - channel.turn) % DIES;
            let waiting = channel.starts.iter().enumerate();
            let (place, _) =
                waiting.min_by_key(|(_, (own, _))| from_turn(*own)).expect("a die waits");
            let (own, kind) = channel.starts.remove(place);
            let die = number * DIES + own;
            self.dies[die].in_line[kind] = false;
            self.decide_die(die, true);
        }
    }
}

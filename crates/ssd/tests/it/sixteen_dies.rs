//! A second simulation of a drive as that of FAST 2012: dies with one queue each behind one link.
//!
//! Written from the specification of time alone, it shares no code with the program. A page lies
//! on the die of its number, each die has its channel, nothing is collected, and a write is
//! complete when its last page is programmed.

use std::collections::{BTreeMap, VecDeque};

/// How dies choose, and what they suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One line in order of arrival.
    Fifo,
    /// Reads before programs.
    Rps,
    /// The same, with programs as long as reads.
    Per,
    /// The same, with programs of no length.
    Pe0,
    /// Reads suspend programs at the end of a phase.
    Ips,
    /// Reads cancel the phase of a program.
    Ipc,
}

/// The pending programs at which they go ahead of reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    None,
    OfDie(usize),
    OfDrive(usize),
}

/// What a drive is made of; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Drive {
    pub dies: u64,
    pub page_bytes: u64,
    pub buffer_pages: u64,
    pub link_bytes_per_s: u64,
    pub bus: u64,
    pub read: u64,
    pub iterations: usize,
    pub pulse: u64,
    pub verify: u64,
    pub reset: u64,
    pub restore: u64,
    pub policy: Policy,
    pub limit: Limit,
}

/// A request of the host.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub at: u64,
    pub is_read: bool,
    pub first_byte: u64,
    pub bytes: u64,
}

/// A piece of a program; all but pulses and verifies cannot be interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Data in, a restore, or the whole array time of PER and PE0.
    Fixed(u64),
    Pulse,
    Verify,
}

/// A program that has begun, with the phases that are left of it.
#[derive(Clone, Debug)]
struct Program {
    request: usize,
    phases: VecDeque<Phase>,
    /// When the first of them began, while it runs.
    since: u64,
    /// It was begun ahead of reads.
    runs_through: bool,
}

#[derive(Clone, Debug)]
enum Array {
    Free,
    Reading(usize),
    Running(Program),
    /// It has been asked to make way, and is as it will be then.
    Stopping(Program),
}

#[derive(Clone, Debug)]
struct Die {
    reads: VecDeque<(u64, usize)>,
    writes: VecDeque<(u64, usize)>,
    array: Array,
    suspended: Option<Program>,
    /// Which of its events holds; those before it are void.
    event: u64,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// All that a request sends has crossed the link.
    Crossed(usize),
    /// What a die was doing has come to its end.
    Die { die: usize, event: u64 },
}

struct Simulation<'a> {
    drive: Drive,
    requests: &'a [Request],
    dies: Vec<Die>,
    events: BTreeMap<(u64, u64), Event>,
    scheduled: u64,
    queued: u64,
    link_free: u64,
    pages_left: Vec<u64>,
    buffered: u64,
    completions: Vec<u64>,
    /// Dies to which something happened, in order.
    touched: VecDeque<usize>,
    /// Whether the drive was at its limit when its dies last decided.
    was_full: bool,
}

/// When each request is complete.
pub fn simulate(drive: Drive, requests: &[Request]) -> Vec<u64> {
    let die = Die {
        reads: VecDeque::new(),
        writes: VecDeque::new(),
        array: Array::Free,
        suspended: None,
        event: 0,
    };
    let mut simulation = Simulation {
        drive,
        requests,
        dies: vec![die; drive.dies as usize],
        events: BTreeMap::new(),
        scheduled: 0,
        queued: 0,
        link_free: 0,
        pages_left: vec![0; requests.len()],
        buffered: 0,
        completions: vec![u64::MAX; requests.len()],
        // At the start each has something to decide.
        touched: (0..drive.dies as usize).collect(),
        was_full: false,
    };
    simulation.run();
    simulation.completions
}

impl Simulation<'_> {
    fn run(&mut self) {
        let mut next = 0;
        loop {
            let arrival = self.requests.get(next).map_or(u64::MAX, |request| request.at);
            let event = self.events.keys().next().map_or(u64::MAX, |(at, _)| *at);
            let now = arrival.min(event);
            if now == u64::MAX {
                break;
            }
            // What frees a resource, then arrivals, then decisions.
            while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 == now) {
                match entry.remove() {
                    Event::Crossed(request) => self.split(request),
                    Event::Die { die, event } if self.dies[die].event == event => {
                        self.die_done(die, now);
                    }
                    Event::Die { .. } => {}
                }
            }
            while self.requests.get(next).is_some_and(|request| request.at == now) {
                self.arrive(next, now);
                next += 1;
            }
            self.decide(now);
        }
        assert!(self.completions.iter().all(|done| *done != u64::MAX), "a request was forgotten");
    }

    fn schedule(&mut self, at: u64, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    /// Bytes cross the link behind all that came before them.
    fn cross(&mut self, now: u64, bytes: u64) -> u64 {
        let rate = u128::from(self.drive.link_bytes_per_s);
        let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(rate);
        self.link_free = self.link_free.max(now) + ns as u64;
        self.link_free
    }

    fn arrive(&mut self, request: usize, now: u64) {
        let Request { is_read, bytes, .. } = self.requests[request];
        let crossed = self.cross(now, if is_read { 0 } else { bytes });
        if crossed == now {
            self.split(request);
        } else {
            self.schedule(crossed, Event::Crossed(request));
        }
    }

    /// The pages of a request come to their dies.
    fn split(&mut self, request: usize) {
        let Request { is_read, first_byte, bytes, .. } = self.requests[request];
        let first = first_byte / self.drive.page_bytes;
        let last = (first_byte + bytes - 1) / self.drive.page_bytes;
        self.pages_left[request] = last - first + 1;
        for page in first..=last {
            let die = (page % self.drive.dies) as usize;
            let job = (self.queued, request);
            self.queued += 1;
            if is_read {
                self.dies[die].reads.push_back(job);
            } else {
                self.buffered += 1;
                assert!(self.buffered <= self.drive.buffer_pages, "the buffer is full");
                self.dies[die].writes.push_back(job);
            }
            self.touch(die);
        }
    }

    fn touch(&mut self, die: usize) {
        if !self.touched.contains(&die) {
            self.touched.push_back(die);
        }
    }

    /// What a die was doing is done: a read, its data out included, a program or a stop.
    fn die_done(&mut self, die: usize, now: u64) {
        match std::mem::replace(&mut self.dies[die].array, Array::Free) {
            Array::Free => unreachable!("a free die has nothing to end"),
            Array::Reading(request) => {
                self.pages_left[request] -= 1;
                if self.pages_left[request] == 0 {
                    self.completions[request] = self.cross(now, self.requests[request].bytes);
                }
            }
            Array::Running(program) => {
                let request = program.request;
                self.buffered -= 1;
                self.pages_left[request] -= 1;
                if self.pages_left[request] == 0 {
                    self.completions[request] = now;
                }
            }
            Array::Stopping(program) => self.dies[die].suspended = Some(program),
        }
        self.touch(die);
    }

    /// Dies choose, in the order in which something happened to them.
    fn decide(&mut self, now: u64) {
        loop {
            // With a limit of the whole drive, one die's program is every die's business.
            if self.drive_is_full() != self.was_full {
                self.was_full = !self.was_full;
                (0..self.dies.len()).for_each(|die| self.touch(die));
            }
            if self.touched.is_empty() {
                return;
            }
            while let Some(die) = self.touched.pop_front() {
                self.decide_die(die, now);
            }
        }
    }

    fn drive_is_full(&self) -> bool {
        let pending = || self.dies.iter().map(|die| die.writes.len()).sum::<usize>();
        matches!(self.drive.limit, Limit::OfDrive(limit) if pending() >= limit)
    }

    fn is_full(&self, die: usize) -> bool {
        match self.drive.limit {
            Limit::None => false,
            Limit::OfDie(limit) => self.dies[die].writes.len() >= limit,
            Limit::OfDrive(_) => self.drive_is_full(),
        }
    }

    fn decide_die(&mut self, die: usize, now: u64) {
        let is_full = self.is_full(die);
        let unit = &self.dies[die];
        let (read, write) = (unit.reads.front().copied(), unit.writes.front().copied());
        match unit.array {
            Array::Reading(_) | Array::Stopping(_) => {}
            Array::Running(_) => {
                if read.is_some() && !is_full {
                    self.ask(die, now);
                }
            }
            Array::Free if unit.suspended.is_some() => match read {
                Some(read) if !is_full => self.start_read(die, read.1, now),
                _ => self.resume(die, now),
            },
            Array::Free => match (read, write) {
                (Some(read), None) => self.start_read(die, read.1, now),
                (Some(read), Some(write)) if !self.writes_go_first(is_full, read.0, write.0) => {
                    self.start_read(die, read.1, now);
                }
                (_, Some(write)) => self.start_program(die, write.1, now, is_full),
                (None, None) => {}
            },
        }
    }

    fn writes_go_first(&self, is_full: bool, read: u64, write: u64) -> bool {
        if self.drive.policy == Policy::Fifo { write < read } else { is_full }
    }

    fn start_read(&mut self, die: usize, request: usize, now: u64) {
        self.dies[die].reads.pop_front();
        self.dies[die].array = Array::Reading(request);
        self.ends_at(die, now + self.drive.read + self.drive.bus);
    }

    fn start_program(&mut self, die: usize, request: usize, now: u64, is_full: bool) {
        let Drive { bus, read, iterations, policy, .. } = self.drive;
        let mut phases = VecDeque::from([Phase::Fixed(bus)]);
        match policy {
            Policy::Per => phases.push_back(Phase::Fixed(read)),
            Policy::Pe0 => phases.push_back(Phase::Fixed(0)),
            _ => (0..iterations).for_each(|_| phases.extend([Phase::Pulse, Phase::Verify])),
        }
        self.dies[die].writes.pop_front();
        self.go_on(die, Program { request, phases, since: now, runs_through: is_full }, now);
    }

    fn resume(&mut self, die: usize, now: u64) {
        let mut program = self.dies[die].suspended.take().expect("the caller has seen it");
        program.phases.push_front(Phase::Fixed(self.drive.restore));
        self.go_on(die, program, now);
    }

    fn go_on(&mut self, die: usize, program: Program, now: u64) {
        let left: u64 = program.phases.iter().map(|phase| self.length(*phase)).sum();
        self.dies[die].array = Array::Running(Program { since: now, ..program });
        self.ends_at(die, now + left);
    }

    fn length(&self, phase: Phase) -> u64 {
        match phase {
            Phase::Fixed(length) => length,
            Phase::Pulse => self.drive.pulse,
            Phase::Verify => self.drive.verify,
        }
    }

    fn ends_at(&mut self, die: usize, at: u64) {
        self.dies[die].event += 1;
        let event = self.dies[die].event;
        self.schedule(at, Event::Die { die, event });
    }

    /// A read asks the program on its die to make way.
    fn ask(&mut self, die: usize, now: u64) {
        let Array::Running(program) = &self.dies[die].array else { unreachable!("it runs") };
        let suspends = matches!(self.drive.policy, Policy::Ips | Policy::Ipc);
        if !suspends || program.runs_through {
            return;
        }
        let mut program = program.clone();
        // What ends now has ended.
        let first = program.since;
        while self.length(program.phases[0]) <= now - program.since {
            program.since += self.length(program.phases[0]);
            program.phases.pop_front();
        }
        let phase = program.phases[0];
        let end = program.since + self.length(phase);
        let cancels = self.drive.policy == Policy::Ipc
            && !matches!(phase, Phase::Fixed(_))
            && now < end - self.drive.reset;
        let free_at = if now == program.since && now > first {
            now
        } else if cancels {
            if phase == Phase::Pulse {
                // A verify comes first; it finds that the pulse has to be done again.
                program.phases.push_front(Phase::Verify);
            }
            now + self.drive.reset
        } else {
            program.phases.pop_front();
            end
        };
        if program.phases.is_empty() {
            return;
        }
        self.dies[die].array = Array::Stopping(program);
        self.ends_at(die, free_at);
    }
}

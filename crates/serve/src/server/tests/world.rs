//! One history: a server, its clients and its disk, in an order drawn from one number.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use reprieve_base::Stream;
use reprieve_ssd::{Options as RunOptions, Ssd};
use rustix::event::epoll::EventFlags;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::admin::Admins;
use super::blocks::Blocks;
use super::disk::{CELL_BYTES, Fault, Machine};
use super::oracle::{Connection, End, Number, Oracle, Value};
use super::setup::{Kept, Plan, Setup, scenarios, source};
use super::wire::{Answer, Client, Sent, SimulatedSocket, Wire, value_of};
use crate::client_table::ClientTable;
use crate::clock::{Clock, UNSCALED, Wall};
use crate::data_place::DataPlace;
use crate::drive::Drive;
use crate::handshake::Export;
use crate::in_flight::InFlight;
use crate::inject::{self, Injection, Injections};
use crate::metrics::Metrics;
use crate::options::{Options, Place};
use crate::protocol::{EIO, ENOSPC, FLAG_FUA, FLAG_REQ_ONE, Kind};
use crate::server::Server;
use crate::slots::Slots;
use crate::sockets::Sockets;
use crate::store::Store;
use crate::token::Token;

/// The server that runs.
struct Boot {
    server: Server,
    looked: Wall,
    /// Whether it ends, and why its clients may be disconnected.
    is_ending: bool,
}

struct World<'a> {
    setup: Setup,
    machine: Arc<Mutex<Machine>>,
    clock: Arc<AtomicU64>,
    boot: Option<Boot>,
    clients: Vec<Client>,
    admins: Admins,
    /// Writes of clients that have left, which may take effect yet.
    orphans: Vec<Sent>,
    oracle: Oracle,
    blocks: Blocks,
    next_number: Number,
    next_connection: Connection,
    failed_syncs: u64,
    log: &'a mut Option<Vec<String>>,
}

/// Runs a history; errors with the first promise that is not kept.
pub fn run(plan: &Plan, log: &mut Option<Vec<String>>) -> Result<(), String> {
    let setup = Setup::of(plan.setup);
    let machine = Machine::new(plan.setup, setup.lies);
    let mut world = World {
        oracle: Oracle::new(setup.bytes as usize / CELL_BYTES),
        blocks: Blocks::new(setup.bytes as usize / CELL_BYTES),
        machine,
        clock: Arc::new(AtomicU64::new(1)),
        boot: None,
        clients: Vec::new(),
        admins: Admins::default(),
        orphans: Vec::new(),
        next_number: 1,
        next_connection: 0,
        failed_syncs: 0,
        setup,
        log,
    };
    let setup = format!("{:?}", world.setup);
    world.note(|| setup);
    for word in &plan.steps {
        world.step(&mut Stream::new(*word, "step", 0))?;
    }
    world.finish(&mut Stream::new(plan.setup, "finish", 0))
}

fn options(injections: Vec<Injection>) -> Options {
    Options {
        place: Place::Unix("socket".into()),
        control: None,
        from_state: None,
        store: None,
        memory_bytes: None,
        discard_data: false,
        scale_thousandths: UNSCALED,
        record: None,
        metrics: None,
        faults: injections,
    }
}

impl World<'_> {
    fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(log) = self.log {
            log.push(text());
        }
    }

    fn step(&mut self, draw: &mut Stream) -> Result<(), String> {
        if self.boot.is_none() {
            return self.start(draw);
        }
        match draw.below(100) {
            0..35 => (0..=draw.below(3)).for_each(|_| self.send(draw)),
            35..75 => self.turn(draw, false)?,
            75..86 => self.work(1 + draw.below(4)),
            86..90 => self.disconnect(draw),
            90..95 => self.arm(draw),
            95 => self.ask(draw),
            96 => self.drain()?,
            97 => drop(self.clock.fetch_add(11_000_000_000, Ordering::Relaxed)),
            98 => return self.stop(),
            _ => self.die(draw),
        }
        self.look_around()
    }

    /// Starts the server; it may fail only if the disk does.
    fn start(&mut self, draw: &mut Stream) -> Result<(), String> {
        let disk = Machine::boot(&self.machine);
        if draw.below(4) == 0 {
            self.arm(draw);
        }
        let parse = |text: &String| Injection::parse(text).expect("it is right");
        let injections: Vec<Injection> = self.setup.injections.iter().map(parse).collect();
        let scenario = &scenarios()[self.setup.scenario];
        let volatile_bytes = inject::volatile_bytes(&injections, scenario);
        let store = match self.setup.kept {
            Kept::Memory => Ok(Store::in_memory(self.setup.bytes, 1 << 20)),
            _ => Store::in_file(&disk, Path::new("store"), self.setup.bytes, volatile_bytes),
        };
        self.note(|| format!("the server starts: {:?}", store.as_ref().err()));
        match store {
            Ok(store) => self.boot = Some(self.assemble(store, injections)),
            Err(error) => {
                let mut machine = self.machine.lock().expect("no panic");
                if machine.is_alive && machine.struck.is_empty() {
                    return Err(format!("a start is refused without reason: {error}"));
                }
                if machine.is_alive {
                    machine.kill();
                }
            }
        }
        self.look_around()
    }

    fn assemble(&self, store: Store, injections: Vec<Injection>) -> Boot {
        let options = options(injections.clone());
        let scenario = scenarios()[self.setup.scenario].clone();
        let run = RunOptions { served: true, log_requests: true, ..RunOptions::default() };
        let mut ssd = Ssd::with(scenario, &run).expect("it fits into memory");
        while !ssd.is_preconditioned() {
            ssd.step(1).expect("it can be prepared");
        }
        ssd.start_serving().expect("it is ready");
        let ticks = Arc::clone(&self.clock);
        let wall = move || Wall(ticks.fetch_add(1, Ordering::Relaxed));
        let server = Server {
            sockets: Sockets::new(&options).expect("there are descriptors"),
            export: Export { bytes: self.setup.bytes, description: String::new() },
            drive: Drive::new(ssd, Clock::of(Box::new(wall), UNSCALED), None),
            data: DataPlace::TemporaryFile,
            store,
            clients: ClientTable::new(),
            in_flight: InFlight::new(),
            injections: Injections::new(injections),
            admins: Slots::new(),
            metrics: Metrics::new(),
            recorded: None,
            ends: None,
            source: source(self.setup.scenario),
            options,
        };
        Boot { looked: server.drive.clock.now(), server, is_ending: false }
    }

    /// Sends a command, of a client that may be new.
    fn send(&mut self, draw: &mut Stream) {
        let is_full = self.clients.len() >= self.setup.clients_max;
        if self.clients.is_empty() || !is_full && draw.below(6) == 0 {
            self.connect(draw);
        }
        let client = draw.below(self.clients.len() as u64) as usize;
        let sent = self.setup.command(draw, self.next_number, self.clients[client].sees_allocation);
        let is_quiet = self.oracle.has_room(sent.cells(self.setup.bytes));
        if is_quiet && !self.clients[client].has_ended {
            self.send_from(client, &sent);
        }
    }

    fn send_from(&mut self, client: usize, sent: &Sent) {
        self.next_number += 1;
        self.note(|| format!("client {client} sends {sent:?}"));
        for cell in sent.cells(self.setup.bytes) {
            let is_forced = sent.flags & FLAG_FUA != 0;
            match (sent.kind, sent.value()) {
                (_, Some(value)) => {
                    let connection = self.clients[client].connection;
                    self.oracle.begin_write(connection, sent.number, cell, value, is_forced);
                }
                (Kind::Read | Kind::BlockStatus, _) => self.oracle.begin_read(sent.number, cell),
                _ => {}
            }
        }
        if sent.kind == Kind::Flush {
            self.oracle.begin_flush(sent.number);
        }
        self.blocks.sent(sent, self.setup.bytes);
        self.clients[client].send(sent);
    }

    fn ask(&mut self, draw: &mut Stream) {
        let Some(boot) = self.boot.as_mut().filter(|boot| !boot.is_ending) else { return };
        self.admins.ask(&mut boot.server, &self.machine, draw);
        self.note(|| "metrics or control are asked".into());
    }

    fn connect(&mut self, draw: &mut Stream) {
        self.next_connection += 1;
        let client = Client::connect(self.next_connection, draw.next_u64() >> 8);
        let (wire, machine) = (Arc::clone(&client.wire), Arc::clone(&self.machine));
        self.clients.push(client);
        self.note(|| "a client connects".into());
        let room = self.setup.room_bytes.unwrap_or(u64::MAX).max(18);
        wire.lock().expect("no panic").room = room as usize;
        let socket = Box::new(SimulatedSocket { wire, machine });
        self.boot.as_mut().expect("it runs").server.welcome(socket).expect("no socket fails");
    }

    /// Has the server handle some of what there is.
    fn turn(&mut self, draw: &mut Stream, is_whole: bool) -> Result<(), String> {
        for wire in wires(&self.clients, &self.admins) {
            let mut wire = wire.lock().expect("no panic");
            let coming = (wire.to_server.len() - wire.arrived) as u64;
            let is_part = !is_whole && draw.below(3) == 0;
            wire.arrived += if is_part { draw.below(coming + 1) } else { coming } as usize;
            wire.room = match self.setup.room_bytes.filter(|_| !is_whole) {
                Some(most) => draw.below(most + 1) as usize,
                None => usize::MAX,
            };
            let is_short = !is_whole && draw.below(6) == 0;
            wire.transfer_bytes = if is_short { 1 + draw.below(5000) as usize } else { usize::MAX };
            wire.is_interrupted = !is_whole && draw.below(20) == 0;
        }
        let now = self.now();
        let Some(boot) = &mut self.boot else { return Ok(()) };
        let mut events = ready(&boot.server, wires(&self.clients, &self.admins));
        if !is_whole {
            for place in (1..events.len()).rev() {
                events.swap(place, draw.below(place as u64 + 1) as usize);
            }
            events.retain(|_| draw.below(5) > 0);
        }
        let due = boot.server.next_due().map(|due| due.0.saturating_sub(now));
        let wait_ns = match draw.below(4) {
            0 => 0,
            1 => draw.below(200_000),
            _ if is_whole && !events.is_empty() => 0,
            _ => due.unwrap_or(0),
        };
        self.clock.fetch_add(wait_ns, Ordering::Relaxed);
        let events = events.into_iter();
        let goes_on = boot.server.turn(events, &mut boot.looked, &mut |_| {});
        self.take_answers()?;
        match goes_on {
            _ if !self.machine.lock().expect("no panic").is_alive => Ok(()),
            Ok(true) => Ok(()),
            Ok(false) => self.end_server(),
            Err(error) => self.failed(&error.to_string()),
        }
    }

    fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }
}

/// The connections of all.
fn wires<'a>(
    clients: &'a [Client],
    admins: &'a Admins,
) -> impl Iterator<Item = &'a Arc<Mutex<Wire>>> {
    clients.iter().map(|client| &client.wire).chain(admins.wires())
}

/// The events that a poll would report.
fn ready<'a>(
    server: &Server,
    wires: impl Iterator<Item = &'a Arc<Mutex<Wire>>>,
) -> Vec<(Token, EventFlags)> {
    let mut events: Vec<_> =
        wires.filter_map(|wire| wire.lock().expect("no panic").ready()).collect();
    let signalled = server.store.signal().is_some_and(|signal| {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let found = poll(&mut [PollFd::from_borrowed_fd(signal, PollFlags::IN)], Some(&now));
        found.expect("it can be looked at") > 0
    });
    events.extend(signalled.then_some((Token::Synced, EventFlags::IN)));
    events
}

impl World<'_> {
    /// Takes what the server has sent, and checks it.
    fn take_answers(&mut self) -> Result<(), String> {
        for client in 0..self.clients.len() {
            while let Some((sent, answer)) = self.clients[client].answer()? {
                self.note(|| format!("command {} is answered: {}", sent.number, answer.error));
                self.judge(&sent, &answer)?;
            }
        }
        let is_alive = self.machine.lock().expect("no panic").is_alive;
        let is_ending = self.boot.as_ref().is_none_or(|boot| boot.is_ending);
        let is_patient = is_alive && !is_ending && self.now() < 10_000_000_000;
        self.admins.take_answers(is_patient)
    }

    /// Checks an answer, and records its effect.
    fn judge(&mut self, sent: &Sent, answer: &Answer) -> Result<(), String> {
        let machine = self.machine.lock().expect("no panic");
        let struck = |faults: &[Fault]| machine.struck.iter().any(|fault| faults.contains(fault));
        let is_struck = struck(&[Fault::Error, Fault::SyncError, Fault::Full]);
        let is_injected = self.setup.injections.iter().any(|text| text.starts_with("eio"));
        let is_right = match (sent.error, answer.error) {
            (Some(expected), error) => error == expected || error == EIO && is_injected,
            (None, 0) => true,
            (None, ENOSPC) => struck(&[Fault::Full]),
            (None, EIO) => struck(&[Fault::Error, Fault::SyncError]) || is_injected,
            _ => false,
        };
        drop(machine);
        if !is_right {
            return Err(format!("{sent:?} is answered by error {} without reason", answer.error));
        }
        let has_effect = match answer.error {
            0 => Some(true),
            _ if is_struck && sent.error.is_none() => None,
            _ => Some(false),
        };
        if has_effect == Some(true) {
            self.blocks.acknowledged(sent.number, self.next_number);
        }
        let zeros = zero_cells(sent, answer)?;
        for (place, cell) in sent.cells(self.setup.bytes).enumerate() {
            match sent.kind {
                Kind::Read if answer.error == 0 => {
                    let bytes = &answer.data[place * CELL_BYTES..][..CELL_BYTES];
                    self.oracle.end_read(sent.number, cell, Some(value_of(bytes, cell)?))?;
                }
                Kind::Read | Kind::BlockStatus => {
                    let value = zeros.get(place).is_some_and(|is_zero| *is_zero).then_some(0);
                    self.oracle.end_read(sent.number, cell, value)?;
                }
                _ => self.oracle.end_write(sent.number, cell, has_effect)?,
            }
        }
        if sent.kind == Kind::Flush {
            self.oracle.end_flush(sent.number, answer.error == 0);
        }
        Ok(())
    }

    /// Gives up what a client has open.
    fn abandon(&mut self, client: usize) {
        for sent in std::mem::take(&mut self.clients[client].open).into_values() {
            match sent.kind {
                Kind::Read | Kind::BlockStatus => {
                    for cell in sent.cells(self.setup.bytes) {
                        let ended = self.oracle.end_read(sent.number, cell, None);
                        ended.expect("a failure is always possible");
                    }
                }
                Kind::Flush => self.oracle.end_flush(sent.number, false),
                _ => self.orphans.push(sent),
            }
        }
    }

    /// Has the thread of the file execute steps.
    fn work(&mut self, steps: u64) {
        let Some(boot) = &self.boot else { return };
        for _ in 0..steps {
            boot.server.store.step();
        }
    }

    fn disconnect(&mut self, draw: &mut Stream) {
        if self.clients.is_empty() {
            return;
        }
        let client = draw.below(self.clients.len() as u64) as usize;
        let how = draw.below(3);
        self.note(|| {
            format!("client {client} {}", ["resets", "closes", "says goodbye"][how as usize])
        });
        if how == 2 && !self.clients[client].has_ended {
            let number = self.next_number;
            let (offset, bytes, kind) = (0, 0, Kind::Disconnect);
            let sent = Sent { number, kind, flags: 0, offset, bytes, error: None };
            self.clients[client].send(&sent);
        } else if how < 2 {
            let mut wire = self.clients[client].wire.lock().expect("no panic");
            (wire.is_reset, wire.is_closed, wire.is_shut) = (how == 0, true, true);
            if how == 0 {
                wire.to_server.clear();
                wire.arrived = 0;
            }
            drop(wire);
            self.abandon(client);
        }
        self.clients[client].has_ended = true;
    }

    /// Prepares a fault of the disk.
    fn arm(&mut self, draw: &mut Stream) {
        if self.setup.faults.is_empty() {
            return;
        }
        let fault = self.setup.faults[draw.below(self.setup.faults.len() as u64) as usize];
        let calls = draw.below(12);
        self.note(|| format!("after {calls} calls: {fault:?}"));
        self.machine.lock().expect("no panic").arm(calls, fault);
    }

    fn die(&mut self, draw: &mut Stream) {
        let is_cut = draw.below(2) == 0;
        let mut machine = self.machine.lock().expect("no panic");
        if is_cut { machine.cut() } else { machine.kill() }
    }

    /// Notes what has happened beside answers: a death, a sync that failed, closed connections.
    fn look_around(&mut self) -> Result<(), String> {
        let machine = self.machine.lock().expect("no panic");
        let (failed_syncs, death, is_alive) =
            (machine.failed_syncs, machine.death, machine.is_alive);
        drop(machine);
        if failed_syncs > self.failed_syncs {
            self.note(|| "a sync has failed".into());
            self.failed_syncs = failed_syncs;
            self.oracle.sync_failed(self.next_number);
        }
        if !is_alive {
            if let Some(death) = death {
                self.note(|| format!("{death:?}"));
                self.dead(death)?;
            }
            return Ok(());
        }
        for client in (0..self.clients.len()).rev() {
            let its = &self.clients[client];
            if its.wire.lock().expect("no panic").is_dropped {
                self.hung_up(client)?;
            }
        }
        Ok(())
    }

    /// Forgets a client that the server has disconnected; errors if it should not have.
    fn hung_up(&mut self, client: usize) -> Result<(), String> {
        let its = &self.clients[client];
        let is_left = its.open.values().next();
        let is_late = !its.is_greeted() && self.now() > 10_000_000_000;
        let machine = self.machine.lock().expect("no panic");
        let has_failed = machine.struck.contains(&Fault::Error);
        drop(machine);
        let is_ending = self.boot.as_ref().is_none_or(|boot| boot.is_ending);
        let is_excused = has_failed || is_ending || is_late;
        if !is_excused && (!its.has_ended || is_left.is_some()) {
            return Err(format!("client {client} is disconnected; open: {is_left:?}"));
        }
        self.note(|| format!("client {client} is gone"));
        self.abandon(client);
        self.oracle.closed(self.clients[client].connection, self.next_number);
        self.clients.remove(client);
        Ok(())
    }

    /// Continues without the server after the death of its process or its machine.
    fn dead(&mut self, death: Fault) -> Result<(), String> {
        let is_lost_with_process = self.setup.kept == Kept::Volatile && !self.is_through();
        match death {
            Fault::Cut if self.setup.lies => self.ended(End::Lied),
            Fault::Cut => self.ended(End::Cut),
            _ if is_lost_with_process => self.ended(End::Lost),
            _ => self.ended(End::Killed),
        }
    }

    /// Whether the drive's loss of power takes nothing.
    fn keeps_all(&self) -> bool {
        self.is_through() || self.setup.keep_percent() == Some(100)
    }

    /// Whether acknowledged data is in the file.
    fn is_through(&self) -> bool {
        // A write that has failed may stay in memory.
        let machine = self.machine.lock().expect("no panic");
        let has_failed =
            [Fault::Error, Fault::Full].iter().any(|kind| machine.struck.contains(kind));
        self.setup.is_through() && !has_failed
    }

    /// Ends the run of a server, and checks what its disk has.
    fn ended(&mut self, end: End) -> Result<(), String> {
        (0..self.clients.len()).for_each(|client| self.abandon(client));
        self.clients.clear();
        self.admins = Admins::default();
        self.orphans.clear();
        self.boot = None;
        let cells = self.setup.bytes as usize / CELL_BYTES;
        let mut machine = self.machine.lock().expect("no panic");
        machine.is_alive = false;
        if self.setup.kept == Kept::Memory {
            self.oracle = Oracle::new(cells);
            return Ok(());
        }
        let bytes = machine.bytes();
        if !bytes.is_empty() && bytes.len() as u64 != self.setup.bytes {
            return Err(format!("the file has {} bytes", bytes.len()));
        }
        let value = |cell| match bytes.get(cell * CELL_BYTES..(cell + 1) * CELL_BYTES) {
            Some(bytes) => value_of(bytes, cell),
            None => Ok(0),
        };
        let found = (0..cells).map(value).collect::<Result<Vec<Value>, String>>()?;
        drop(machine);
        self.note(|| format!("{end:?}"));
        self.oracle.end(end, &found)?;
        self.blocks.end(&self.setup, end, &found)
    }

    /// Ends a server that has stopped or lost its power by itself.
    fn end_server(&mut self) -> Result<(), String> {
        let Some(mut boot) = self.boot.take() else { return Ok(()) };
        let is_off = boot.server.injections.is_off();
        self.note(|| {
            format!("the server ends{}", if is_off { ": its power has failed" } else { "" })
        });
        let result = boot.server.end(&mut |_| {});
        boot.is_ending = true;
        self.boot = Some(boot);
        self.look_around()?;
        if self.boot.is_none() {
            return Ok(());
        }
        match result {
            Err(error) => self.failed(&error.to_string()),
            Ok(_) if is_off && !self.keeps_all() => self.ended(End::PowerLost),
            Ok(_) if is_off => self.ended(End::Killed),
            Ok(_) => self.ended(End::Stopped),
        }
    }

    /// Ends a server that has given up, which it may only if the disk has failed.
    fn failed(&mut self, error: &str) -> Result<(), String> {
        self.note(|| format!("the server gives up: {error}"));
        if self.machine.lock().expect("no panic").struck.is_empty() {
            return Err(format!("the server gives up without reason: {error}"));
        }
        self.dead(Fault::Kill)
    }

    /// Stops the server as a user would.
    fn stop(&mut self) -> Result<(), String> {
        let Some(boot) = &mut self.boot else { return Ok(()) };
        boot.is_ending = true;
        boot.server.begin_end();
        self.note(|| "the server is to stop".into());
        self.turn(&mut Stream::new(0, "stop", 0), true)?;
        self.look_around()?;
        self.drain()?;
        self.look_around()
    }

    /// Lets everything happen that can, without the passage of time for its own sake.
    fn drain(&mut self) -> Result<(), String> {
        let mut draw = Stream::new(0, "drain", 0);
        for _ in 0..10_000 {
            let Some(boot) = &mut self.boot else { return Ok(()) };
            let has_worked = boot.server.store.step();
            let events = ready(&boot.server, wires(&self.clients, &self.admins));
            let is_due = boot.server.next_due().is_some();
            let has_more = wires(&self.clients, &self.admins).any(|wire| {
                let wire = wire.lock().expect("no panic");
                wire.arrived < wire.to_server.len() || wire.room < 1 << 20
            });
            if !has_worked && events.is_empty() && !is_due && !has_more {
                return self.drained();
            }
            self.turn(&mut draw, true)?;
            self.look_around()?;
        }
        Err("the server does not come to rest".into())
    }

    fn drained(&mut self) -> Result<(), String> {
        let open = self.clients.iter().flat_map(|client| client.open.values()).next();
        if let Some(sent) = open {
            return Err(format!("{sent:?} gets no answer"));
        }
        if self.boot.as_ref().is_some_and(|boot| boot.is_ending) {
            return Err("the server does not end".into());
        }
        for sent in std::mem::take(&mut self.orphans) {
            for cell in sent.cells(self.setup.bytes) {
                self.oracle.end_write(sent.number, cell, None)?;
            }
        }
        Ok(())
    }

    /// Reads the whole drive before a death, and after the start that follows.
    fn finish(&mut self, draw: &mut Stream) -> Result<(), String> {
        for _ in 0..2 {
            self.drain()?;
            while self.boot.is_none() {
                self.start(draw)?;
            }
            let number = self.next_number;
            let (kind, bytes) = (Kind::Read, self.setup.bytes);
            let all = Sent { number, kind, flags: 0, offset: 0, bytes, error: None };
            self.connect(draw);
            self.send_from(self.clients.len() - 1, &all);
            self.drain()?;
            self.die(draw);
            self.look_around()?;
        }
        Ok(())
    }
}

/// Returns which cells a block status says are zero.
fn zero_cells(sent: &Sent, answer: &Answer) -> Result<Vec<bool>, String> {
    let mut cells = Vec::new();
    if sent.kind != Kind::BlockStatus || answer.error != 0 {
        return Ok(cells);
    }
    let told: u64 = answer.extents.iter().map(|(bytes, _)| bytes).sum();
    let is_single = sent.flags & FLAG_REQ_ONE != 0;
    if told == 0 || told > sent.bytes || is_single && answer.extents.len() > 1 {
        return Err(format!("{sent:?} is told of {:?}", answer.extents));
    }
    for (bytes, is_zero) in &answer.extents {
        cells.resize(cells.len() + *bytes as usize / CELL_BYTES, *is_zero);
    }
    Ok(cells)
}

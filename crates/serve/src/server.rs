//! The server: its parts, its event loop, and its end.

mod clients;
mod commands;
mod shutdown;

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, RawFd};

use reprieve_base::UserError;
use reprieve_ssd::{Options as RunOptions, Ssd, scenario};
use rustix::event::epoll::{Event, EventData, EventFlags};
use serde_json::Value;

use crate::admin::{AdminConnection, Topic};
use crate::client_table::{CLIENTS_MAX, ClientTable, HANDSHAKES_MAX};
use crate::clock::{Clock, Wall};
use crate::control;
use crate::data_place::{self, DataPlace};
use crate::drive::Drive;
use crate::handshake::Export;
use crate::in_flight::InFlight;
use crate::inject::{self, Injections};
use crate::listener::Listener;
use crate::metrics::Metrics;
use crate::options::{Options, Place, Source};
use crate::recorder::{Recorded, Recorder};
use crate::slots::Slots;
use crate::sockets::{Sockets, system};
use crate::store::Store;
use crate::token::Token;
use crate::waiting::{EVENTS, Waiting};

/// Timeout of a handshake, and of a metrics or control request.
const PATIENCE_NS: u64 = 10_000_000_000;
/// Interval of the check for timeouts.
const LOOK_NS: u64 = 1_000_000_000;
/// Timeout of open requests at shutdown.
const END_NS: u64 = 5_000_000_000;

/// A drive that serves.
pub struct Server {
    pub(crate) source: Source,
    pub(crate) options: Options,
    pub(crate) sockets: Sockets,
    pub(crate) export: Export,
    pub(crate) drive: Drive,
    data: DataPlace,
    pub(crate) store: Store,
    pub(crate) clients: ClientTable,
    pub(crate) in_flight: InFlight,
    pub(crate) injections: Injections,
    pub(crate) admins: Slots<AdminConnection>,
    pub(crate) metrics: Metrics,
    /// The finished recording.
    pub(crate) recorded: Option<Recorded>,
    /// Deadline of open requests, during shutdown.
    pub(crate) ends: Option<Wall>,
}

impl Server {
    /// A server whose drive is not preconditioned yet, and which accepts no connections.
    ///
    /// Errors if the options are invalid or cannot be met.
    pub fn new(source: Source, options: Options) -> Result<Server, UserError> {
        let scenario = control::load(&source)?;
        if scenario.zones.is_some() {
            return Err(UserError::new(
                "zones.model = \"host-managed\": NBD has no zones; must be \"none\" to serve the \
                 drive",
            ));
        }
        if let Place::Unix(path) = &options.place {
            Listener::check_place(path, "--socket")?;
        }
        if let Some(path) = &options.control {
            Listener::check_place(path, "--control")?;
        }
        let bytes = scenario.capacity_bytes();
        let data = DataPlace::choose(bytes, &options)?;
        data.check_faults(bytes, &options.faults)?;
        data_place::allow_files(CLIENTS_MAX + HANDSHAKES_MAX)?;
        let sockets = Sockets::new(&options)?;
        let from_state = options.from_state.clone();
        let run =
            RunOptions { served: true, log_requests: true, from_state, ..RunOptions::default() };
        let ssd = Ssd::with(scenario.clone(), &run)?;
        let volatile_bytes = inject::volatile_bytes(&options.faults, &scenario);
        let store = data.open(bytes, volatile_bytes)?;
        let recorder = options.record.as_deref().map(Recorder::create).transpose()?;
        Ok(Server {
            sockets,
            export: Export { bytes, description: format!("Reprieve: {}", scenario.device) },
            drive: Drive::new(ssd, Clock::new(options.scale_thousandths), recorder),
            data,
            store,
            clients: ClientTable::new(),
            in_flight: InFlight::new(),
            injections: Injections::new(options.faults.clone()),
            admins: Slots::new(),
            metrics: Metrics::new(),
            recorded: None,
            ends: None,
            source,
            options,
        })
    }

    /// Preconditions the drive in part; false when it is ready.
    pub fn prepare(&mut self) -> Result<bool, UserError> {
        if self.drive.ssd.is_preconditioned() {
            return Ok(false);
        }
        self.drive.ssd.step(1)
    }

    /// The socket that ends the server when a byte is written to it.
    pub fn stop_fd(&self) -> RawFd {
        self.sockets.stop.0.as_raw_fd()
    }

    /// A note on the place of the data; `None`: it is as given.
    pub fn data_note(&self) -> Option<String> {
        self.data.note()
    }

    /// Capacity for clients in bytes.
    pub fn bytes(&self) -> u64 {
        self.export.bytes
    }

    /// Accepts clients from now on; returns the addresses of drive, metrics and control.
    pub fn open(&mut self) -> Result<[Option<String>; 3], UserError> {
        self.drive.ssd.start_serving()?;
        if let Some(recorder) = &mut self.drive.recorder {
            let replay = scenario::replaying(self.drive.ssd.scenario(), recorder.file_name());
            recorder.begin(&scenario::print(&replay))?;
        }
        self.sockets.open(&self.options)?;
        if let Some(signal) = self.store.signal() {
            self.sockets.watch(signal, Token::Synced)?;
        }
        let place = |token| self.sockets.listener(token).map(|listener| listener.place.clone());
        Ok([Token::Clients, Token::Metrics, Token::Control].map(place))
    }

    /// Serves until stopped, and returns the summary; `say` is called with messages for the user.
    ///
    /// Errors if the drive is worn out, or the data could not be synced.
    pub fn run(&mut self, say: &mut dyn FnMut(&str)) -> Result<Value, UserError> {
        let result = self.serve(say);
        // In any case, no socket stays without a listener, and no row unwritten.
        self.sockets.close();
        self.drive.recorder = None;
        result
    }

    fn serve(&mut self, say: &mut dyn FnMut(&str)) -> Result<Value, UserError> {
        // The system's own slack would add 50 µs to every wait.
        let slack = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        slack.map_err(io::Error::from).map_err(system("precise timers"))?;
        let mut waiting = Waiting::new();
        let no_event = Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [no_event; EVENTS];
        let mut looked = self.drive.clock.now();
        loop {
            let until = self.next_due();
            let is_behind = self.drive.recorder.as_ref().is_some_and(Recorder::is_behind);
            let is_alone =
                self.clients.connections.len() + self.admins.len() == 0 && self.ends.is_none();
            let at_most_ns = (is_behind || !is_alone).then_some(LOOK_NS);
            let count =
                waiting.wait(&self.sockets.poll, &self.drive.clock, until, at_most_ns, &mut events);
            let count = count.map_err(system("to be waited for"))?;
            let events = events[..count].iter().map(|event| (Token::of(event.data), event.flags));
            if !self.turn(events, &mut looked, say)? {
                return self.end(say);
            }
        }
    }

    /// Handles due work and these events, and replies; returns whether the server continues.
    fn turn(
        &mut self,
        events: impl Iterator<Item = (Token, EventFlags)>,
        looked: &mut Wall,
        say: &mut dyn FnMut(&str),
    ) -> Result<bool, UserError> {
        self.drive.advance()?;
        self.settle()?;
        for (token, flags) in events {
            self.event(token, flags)?;
            if self.injections.is_off() {
                break;
            }
        }
        self.settle()?;
        self.tell()?;
        if self.injections.is_off() {
            return Ok(false);
        }
        let now = self.drive.clock.now();
        self.look_after_recording(now, say);
        if now.0 - looked.0 > LOOK_NS {
            *looked = now;
            self.lose_patience(now)?;
        }
        Ok(!self.ends.is_some_and(|end| now >= end || self.is_idle()))
    }

    /// Closes handshakes and connections that exceed the timeout.
    fn lose_patience(&mut self, now: Wall) -> Result<(), UserError> {
        let before = Wall(now.0.saturating_sub(PATIENCE_NS));
        while let Some(late) = self.clients.late_handshake(before) {
            self.hang_up(late)?;
        }
        for key in self.admins.keys() {
            if self.admins.get_mut(key).is_some_and(|admin| admin.opened < before) {
                self.admins.remove(key);
            }
        }
        Ok(())
    }

    /// The time of the next work without input from sockets.
    fn next_due(&self) -> Option<Wall> {
        // The last submission may be complete already, and make room for waiting requests.
        let settled = self.drive.ssd.has_completed().then(|| self.drive.clock.now());
        [settled, self.drive.next_due(), self.injections.next_due()].into_iter().flatten().min()
    }

    fn is_idle(&mut self) -> bool {
        self.in_flight.commands.len() == 0 && self.clients.are_done()
    }

    fn event(&mut self, token: Token, flags: EventFlags) -> Result<(), UserError> {
        match token {
            Token::Clients => self.accept_client()?,
            Token::Metrics => self.accept_admin(Topic::Metrics),
            Token::Control => self.accept_admin(Topic::Control),
            Token::Stop => self.begin_end(),
            Token::Synced => self.synced()?,
            Token::Client(key) => {
                if flags.contains(EventFlags::OUT) {
                    self.clients.dirty.push(key);
                }
                let gone = EventFlags::ERR | EventFlags::HUP;
                if flags.intersects(EventFlags::IN | gone) {
                    self.receive(key, flags.intersects(gone))?;
                }
            }
            Token::Admin(key) => self.serve_admin(key),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

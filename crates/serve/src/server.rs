//! The server: what it is made of, its one loop, and its end.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use reprieve_base::UserError;
use reprieve_ssd::{Options as RunOptions, Ssd, scenario};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustls::ServerConfig;
use serde_json::Value;

use crate::admission::Admission;
use crate::clock::{Clock, Wall};
use crate::command::Command;
use crate::connection::{Begun, Connection, RECEIVE_BYTES};
use crate::control;
use crate::drive::{Done, Drive};
use crate::handshake::Export;
use crate::inject::{self, Injections};
use crate::listener::{Listener, tls_config};
use crate::metrics::Metrics;
use crate::options::{Options, Place, Security, Source};
use crate::recorder::{Recorded, Recorder};
use crate::room::{self, DataPlace};
use crate::side::{Side, Topic};
use crate::slots::{Key, Slots};
use crate::store::Store;
use crate::token::Token;
use crate::waiting::{EVENTS, Waiting};

/// Clients at once; more are turned away.
pub(crate) const CLIENTS_MAX: usize = 1024;
/// Conversations beside the drive's at once.
pub(crate) const SIDES_MAX: usize = 16;
/// How long a client may take until it sends requests, and a question until it is put.
pub(crate) const PATIENCE_NS: u64 = 10_000_000_000;
/// How often it is looked for clients that take longer.
const LOOK_NS: u64 = 1_000_000_000;
/// How long open requests are waited for at the end.
pub(crate) const END_NS: u64 = 5_000_000_000;

/// A drive that serves.
pub struct Server {
    pub(crate) source: Source,
    pub(crate) options: Options,
    pub(crate) poll: OwnedFd,
    /// The end that is written to, and the one that is read.
    pub(crate) stop: (UnixStream, UnixStream),
    pub(crate) listeners: Vec<(Token, Listener)>,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) export: Export,
    pub(crate) drive: Drive,
    data: DataPlace,
    pub(crate) store: Store,
    pub(crate) connections: Slots<Connection>,
    pub(crate) commands: Slots<Command>,
    pub(crate) admission: Admission,
    pub(crate) injections: Injections,
    pub(crate) sides: Slots<Side>,
    pub(crate) metrics: Metrics,
    /// Clients that have something to be told.
    pub(crate) dirty: Vec<Key>,
    /// Commands that the model has completed and the disk has not.
    pub(crate) unsafe_commands: Vec<Key>,
    /// Commands that the model has no part in.
    pub(crate) not_modelled: Vec<Key>,
    pub(crate) done: Vec<Done>,
    pub(crate) begun: Vec<Begun>,
    pub(crate) incoming: Vec<u8>,
    pub(crate) outgoing: Vec<u8>,
    /// What all clients together have not taken.
    pub(crate) unsent_bytes: usize,
    /// What was recorded, once nothing more is.
    pub(crate) recorded: Option<Recorded>,
    /// Until when open requests are waited for, once the end has come.
    pub(crate) ends: Option<Wall>,
}

pub(crate) fn system(what: &str) -> impl FnOnce(io::Error) -> UserError {
    move |error| UserError::new(format!("the system refuses {what}: {error}"))
}

impl Server {
    /// A server whose drive is not preconditioned yet and which nobody can connect to.
    ///
    /// Errors at whatever the user has asked for and cannot have.
    pub fn new(source: Source, options: Options) -> Result<Server, UserError> {
        let scenario = control::load(&source)?;
        let tls = match &options.place {
            Place::Unix(path) => {
                Listener::check_free(path, "--socket")?;
                None
            }
            Place::Tcp(_, Security::Tls(tls)) => Some(tls_config(tls)?),
            Place::Tcp(_, Security::Insecure) => None,
        };
        if let Some(path) = &options.control {
            Listener::check_free(path, "--control")?;
        }
        let bytes = scenario.capacity_bytes();
        let data = DataPlace::choose(bytes, &options)?;
        data.check_faults(bytes, &options.faults)?;
        room::allow_files(CLIENTS_MAX)?;
        let mut listeners = Vec::new();
        if let Some(address) = options.metrics {
            listeners.push((Token::Metrics, Listener::tcp(address, "--metrics")?));
        }
        if let Place::Tcp(address, _) = options.place {
            listeners.push((Token::Clients, Listener::tcp(address, "--tcp")?));
        }
        let from_state = options.from_state.clone();
        let run =
            RunOptions { served: true, log_requests: true, from_state, ..RunOptions::default() };
        let ssd = Ssd::with(scenario.clone(), &run)?;
        let volatile_bytes = inject::volatile_bytes(&options.faults, &scenario);
        let store = data.open(bytes, volatile_bytes)?;
        let recorder = options.record.as_deref().map(Recorder::create).transpose()?;
        let poll = epoll::create(CreateFlags::CLOEXEC).map_err(io::Error::from);
        let stop = UnixStream::pair().map_err(system("a pair of sockets"))?;
        stop.0.set_nonblocking(true).map_err(system("a socket that does not block"))?;
        stop.1.set_nonblocking(true).map_err(system("a socket that does not block"))?;
        Ok(Server {
            poll: poll.map_err(system("a poll of sockets"))?,
            stop,
            listeners,
            tls,
            export: Export { bytes, description: format!("Reprieve: {}", scenario.device) },
            drive: Drive::new(ssd, Clock::new(options.scale_thousandths), recorder),
            data,
            store,
            connections: Slots::new(),
            commands: Slots::new(),
            admission: Admission::default(),
            injections: Injections::new(options.faults.clone()),
            sides: Slots::new(),
            metrics: Metrics::new(),
            dirty: Vec::new(),
            unsafe_commands: Vec::new(),
            not_modelled: Vec::new(),
            done: Vec::new(),
            begun: Vec::new(),
            incoming: vec![0; RECEIVE_BYTES],
            outgoing: Vec::new(),
            unsent_bytes: 0,
            recorded: None,
            ends: None,
            source,
            options,
        })
    }

    /// Preconditions the drive by a piece; false when it is ready.
    pub fn prepare(&mut self) -> Result<bool, UserError> {
        if self.drive.ssd.is_preconditioned() {
            return Ok(false);
        }
        self.drive.ssd.step(1)
    }

    /// The socket to which a byte is written to end the server.
    pub fn stop_fd(&self) -> RawFd {
        self.stop.0.as_raw_fd()
    }

    /// What to tell about where the data is; `None`: it is where it was asked to be.
    pub fn data_note(&self) -> Option<String> {
        self.data.note()
    }

    /// Bytes that the drive has for its clients.
    pub fn bytes(&self) -> u64 {
        self.export.bytes
    }

    /// Lets clients connect from now on, and says where: the drive, metrics, control.
    pub fn open(&mut self) -> Result<[Option<String>; 3], UserError> {
        self.drive.ssd.start_serving()?;
        if let Some(recorder) = &mut self.drive.recorder {
            let replay = scenario::replaying(self.drive.ssd.scenario(), recorder.file_name());
            recorder.begin(&scenario::print(&replay))?;
        }
        if let Some(path) = &self.options.control {
            self.listeners.push((Token::Control, Listener::unix(path, "--control")?));
        }
        if let Place::Unix(path) = &self.options.place {
            self.listeners.push((Token::Clients, Listener::unix(path, "--socket")?));
        }
        for (token, listener) in &self.listeners {
            self.watch(listener.as_fd(), *token)?;
        }
        self.watch(self.stop.1.as_fd(), Token::Stop)?;
        if let Some(signal) = self.store.signal() {
            self.watch(signal, Token::Synced)?;
        }
        let place = |wanted: fn(&Token) -> bool| {
            let found = self.listeners.iter().find(|(token, _)| wanted(token));
            found.map(|(_, listener)| listener.place())
        };
        Ok([
            place(|token| matches!(token, Token::Clients)),
            place(|token| matches!(token, Token::Metrics)),
            place(|token| matches!(token, Token::Control)),
        ])
    }

    fn watch(&self, socket: BorrowedFd<'_>, token: Token) -> Result<(), UserError> {
        let added = epoll::add(&self.poll, socket, token.data(), EventFlags::IN);
        added.map_err(io::Error::from).map_err(system("another socket to poll"))
    }

    /// Serves until it is told to stop, and returns the summary; what whoever serves has to know
    /// at once is given to `say`.
    ///
    /// Errors if the drive is worn out, or the data could not be brought to safety.
    pub fn run(&mut self, say: &mut dyn FnMut(&str)) -> Result<Value, UserError> {
        let result = self.serve(say);
        // Whatever has happened, no socket stays that nobody listens at, and no row is held back.
        self.listeners.clear();
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
            let is_alone = self.connections.len() + self.sides.len() == 0 && self.ends.is_none();
            let at_most_ns = (is_behind || !is_alone).then_some(LOOK_NS);
            let count = waiting.wait(&self.poll, &self.drive.clock, until, at_most_ns, &mut events);
            let count = count.map_err(system("to be waited for"))?;
            self.drive.advance()?;
            self.settle()?;
            for event in &events[..count] {
                let data = event.data;
                self.event(Token::of(data), event.flags)?;
                if self.injections.is_off() {
                    break;
                }
            }
            self.settle()?;
            self.tell()?;
            if self.injections.is_off() {
                break;
            }
            let now = self.drive.clock.now();
            self.look_after_recording(now, say);
            if now.0 - looked.0 > LOOK_NS {
                looked = now;
                self.lose_patience(now)?;
            }
            if self.ends.is_some_and(|end| now >= end || self.is_idle()) {
                break;
            }
        }
        self.end(say)
    }

    /// When there is something to do again, whatever sockets bring.
    fn next_due(&self) -> Option<Wall> {
        // What was handed over last may be complete already, and make room for what waits.
        let settled = self.drive.ssd.has_completed().then(|| self.drive.clock.now());
        [settled, self.drive.next_due(), self.injections.next_due()].into_iter().flatten().min()
    }

    fn is_idle(&mut self) -> bool {
        let keys = self.connections.keys();
        let mut clients =
            keys.into_iter().filter_map(|key| self.connections.get_mut(key).map(|c| c.is_done()));
        self.commands.len() == 0 && clients.all(|is_done| is_done)
    }

    fn event(&mut self, token: Token, flags: EventFlags) -> Result<(), UserError> {
        match token {
            Token::Clients => self.accept_client(),
            Token::Metrics => {
                self.accept_side(Topic::Metrics);
                Ok(())
            }
            Token::Control => {
                self.accept_side(Topic::Control);
                Ok(())
            }
            Token::Stop => {
                self.begin_end();
                Ok(())
            }
            Token::Synced => self.synced(),
            Token::Client(key) => {
                if flags.contains(EventFlags::OUT) {
                    self.dirty.push(key);
                }
                let gone = EventFlags::ERR | EventFlags::HUP;
                if flags.intersects(EventFlags::IN | gone) {
                    self.receive(key, flags.intersects(gone))?;
                }
                Ok(())
            }
            Token::Side(key) => {
                self.side(key);
                Ok(())
            }
        }
    }

    pub(crate) fn listener(&self, wanted: fn(&Token) -> bool) -> Option<&Listener> {
        let found = self.listeners.iter().find(|(token, _)| wanted(token));
        found.map(|(_, listener)| listener)
    }
}

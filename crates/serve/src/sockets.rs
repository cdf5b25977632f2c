//! The sockets of a server: listeners, the stop signal, and the poll of all of them.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use reprieve_base::UserError;
use rustix::event::epoll::{self, CreateFlags, EventFlags};
use rustls::ServerConfig;

use crate::listener::{Listener, tls_config};
use crate::options::{Options, Place, Security};
use crate::token::Token;

/// The server's listeners, stop signal and poll.
pub(crate) struct Sockets {
    pub(crate) poll: OwnedFd,
    /// The end that is written to stop the server, and the one that is read.
    pub(crate) stop: (UnixStream, UnixStream),
    listeners: Vec<(Token, Listener)>,
    /// TLS configuration for clients, if the connection is encrypted.
    pub(crate) tls: Option<Arc<ServerConfig>>,
}

pub(crate) fn system(what: &str) -> impl FnOnce(io::Error) -> UserError {
    move |error| UserError::new(format!("the system refuses {what}: {error}"))
}

impl Sockets {
    /// Binds addresses and checks paths, without accepting connections yet.
    pub(crate) fn new(options: &Options) -> Result<Sockets, UserError> {
        let mut listeners = Vec::new();
        if let Some(address) = options.metrics {
            listeners.push((Token::Metrics, Listener::tcp(address, "--metrics")?));
        }
        if let Place::Tcp(address, _) = options.place {
            listeners.push((Token::Clients, Listener::tcp(address, "--tcp")?));
        }
        let poll = epoll::create(CreateFlags::CLOEXEC).map_err(io::Error::from);
        let stop = UnixStream::pair().map_err(system("a pair of sockets"))?;
        stop.0.set_nonblocking(true).map_err(system("a socket that does not block"))?;
        stop.1.set_nonblocking(true).map_err(system("a socket that does not block"))?;
        let tls = match &options.place {
            Place::Tcp(_, Security::Tls(tls)) => Some(tls_config(tls)?),
            Place::Tcp(_, Security::Insecure) | Place::Unix(_) => None,
        };
        Ok(Sockets { poll: poll.map_err(system("a poll of sockets"))?, stop, listeners, tls })
    }

    /// Accepts connections from now on, also at the paths.
    pub(crate) fn open(&mut self, options: &Options) -> Result<(), UserError> {
        if let Some(path) = &options.control {
            self.listeners.push((Token::Control, Listener::unix(path, "--control")?));
        }
        if let Place::Unix(path) = &options.place {
            self.listeners.push((Token::Clients, Listener::unix(path, "--socket")?));
        }
        for (token, listener) in &self.listeners {
            self.watch(listener.as_fd(), *token)?;
        }
        self.watch(self.stop.1.as_fd(), Token::Stop)
    }

    /// Polls a socket.
    pub(crate) fn watch(&self, socket: BorrowedFd<'_>, token: Token) -> Result<(), UserError> {
        let added = epoll::add(&self.poll, socket, token.data(), EventFlags::IN);
        added.map_err(io::Error::from).map_err(system("another socket to poll"))
    }

    /// Returns the listener of this token.
    pub(crate) fn listener(&self, wanted: Token) -> Option<&Listener> {
        let found = self.listeners.iter().find(|(token, _)| *token == wanted);
        found.map(|(_, listener)| listener)
    }

    /// Drains the stop signal.
    pub(crate) fn take_stop(&mut self) {
        let mut bytes = [0; 64];
        let _ = self.stop.1.read(&mut bytes);
    }

    /// Closes the listeners.
    pub(crate) fn close(&mut self) {
        self.listeners.clear();
    }
}

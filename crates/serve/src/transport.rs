//! Non-blocking input and output of a socket, encrypted or not.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::epoll::{self, EventFlags};
use rustix::net::{SendFlags, send};
use rustls::{ServerConfig, ServerConnection};

use crate::token::Token;

/// A connected socket that does not block: the system's, or one that is simulated.
pub trait Socket: Read + Write + Send {
    /// Has a poll report these events of it from now on; `is_new`: it reports none yet.
    fn watch(
        &self,
        poll: &OwnedFd,
        token: Token,
        wanted: EventFlags,
        is_new: bool,
    ) -> io::Result<()>;
}

/// A socket of the system.
pub struct SystemSocket(pub OwnedFd);

impl Socket for SystemSocket {
    fn watch(
        &self,
        poll: &OwnedFd,
        token: Token,
        wanted: EventFlags,
        is_new: bool,
    ) -> io::Result<()> {
        match is_new {
            true => epoll::add(poll, &self.0, token.data(), wanted)?,
            false => epoll::modify(poll, &self.0, token.data(), wanted)?,
        }
        Ok(())
    }
}

impl Read for SystemSocket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.0, into)?)
    }
}

impl Write for SystemSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A client that has left must not end the process by a signal.
        Ok(send(&self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The outcome of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The number of bytes.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// Nothing, and nothing will follow.
    End,
}

/// A socket, its encryption, and its unsent bytes.
pub struct Transport {
    pub socket: Box<dyn Socket>,
    tls: Option<Box<ServerConnection>>,
    unsent: Vec<u8>,
    /// Decrypted bytes that are not read yet.
    decrypted: usize,
}

impl Transport {
    pub fn new(socket: Box<dyn Socket>) -> Transport {
        Transport { socket, tls: None, unsent: Vec::new(), decrypted: 0 }
    }

    /// Encrypts all further input and output.
    ///
    /// `early`: bytes already received.
    pub fn start_tls(&mut self, config: &Arc<ServerConfig>, early: &[u8]) -> io::Result<()> {
        let connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        let tls = self.tls.insert(Box::new(connection));
        // The caller bounds the output.
        tls.set_buffer_limit(None);
        let mut early = early;
        while !early.is_empty() {
            tls.read_tls(&mut early)?;
            let state = tls.process_new_packets().map_err(io::Error::other)?;
            self.decrypted = state.plaintext_bytes_to_read();
        }
        self.encrypt()
    }

    /// Whether decrypted bytes are available, which a poll of the socket does not report.
    pub fn has_decrypted(&self) -> bool {
        self.decrypted > 0
    }

    /// Reads available bytes.
    pub fn read(&mut self, into: &mut [u8]) -> io::Result<Input> {
        let Some(tls) = &mut self.tls else { return input(self.socket.read(into)) };
        while self.decrypted == 0 {
            match input(tls.read_tls(&mut self.socket))? {
                Input::Bytes(_) => {}
                other => return Ok(other),
            }
            let state = tls.process_new_packets().map_err(io::Error::other);
            // An alert, or the rest of the handshake, may have to go out.
            tls.write_tls(&mut self.unsent)?;
            self.decrypted = state?.plaintext_bytes_to_read();
            if self.decrypted == 0 {
                send_all(&mut *self.socket, &mut self.unsent)?;
            }
        }
        let count = tls.reader().read(into)?;
        self.decrypted -= count;
        Ok(Input::Bytes(count))
    }

    /// Sends bytes, and buffers those that the socket does not take.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(tls) = &mut self.tls {
            tls.writer().write_all(bytes)?;
            return self.encrypt();
        }
        if !self.unsent.is_empty() {
            self.unsent.extend(bytes);
            return self.flush();
        }
        let sent = match input(self.socket.write(bytes))? {
            Input::Bytes(count) => count,
            Input::Nothing => 0,
            Input::End => return Err(ErrorKind::WriteZero.into()),
        };
        self.unsent.extend(&bytes[sent..]);
        Ok(())
    }

    fn encrypt(&mut self) -> io::Result<()> {
        let tls = self.tls.as_mut().expect("the caller has seen it");
        while tls.wants_write() {
            tls.write_tls(&mut self.unsent)?;
        }
        self.flush()
    }

    /// Sends buffered bytes, as far as the socket takes them.
    pub fn flush(&mut self) -> io::Result<()> {
        send_all(&mut *self.socket, &mut self.unsent)
    }

    /// Number of unsent bytes.
    pub fn unsent_bytes(&self) -> usize {
        self.unsent.len()
    }

    /// Whether there are unsent bytes.
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }
}

fn send_all(socket: &mut dyn Socket, unsent: &mut Vec<u8>) -> io::Result<()> {
    let mut sent = 0;
    while sent < unsent.len() {
        match input(socket.write(&unsent[sent..]))? {
            Input::Bytes(count) => sent += count,
            Input::Nothing => break,
            Input::End => return Err(ErrorKind::WriteZero.into()),
        }
    }
    unsent.drain(..sent);
    if unsent.is_empty() {
        // Frees the buffer, which may have had the longest answer.
        *unsent = Vec::new();
    }
    Ok(())
}

fn input(result: io::Result<usize>) -> io::Result<Input> {
    match result {
        Ok(0) => Ok(Input::End),
        Ok(count) => Ok(Input::Bytes(count)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Input::Nothing),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Input::Nothing),
        Err(error) => Err(error),
    }
}

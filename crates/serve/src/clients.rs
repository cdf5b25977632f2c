//! Clients and their sockets: what they send is taken as far as it may be, what they are told goes
//! out as far as they take it.

use std::io;
use std::os::fd::AsFd;

use reprieve_base::UserError;
use rustix::event::epoll::{self, EventFlags};

use crate::admission::commands_max;
use crate::connection::{Connection, Phase, SEND_BYTES, SEND_BYTES_MIN};
use crate::handshake::{self, Handshake};
use crate::server::{CLIENTS_MAX, Server, system};
use crate::slots::Key;
use crate::token::Token;
use crate::transport::{Input, Transport};

/// Bytes that are kept for clients that do not take them, of all clients; beyond, each client has
/// no more than the least of a piece.
const UNSENT_BYTES_ALL: usize = 8 << 20;

impl Server {
    /// Commands that each client may have under way.
    pub(crate) fn commands_max(&self) -> usize {
        commands_max(self.connections.len())
    }

    pub(crate) fn accept_client(&mut self) -> Result<(), UserError> {
        let Some(listener) = self.listener(|token| matches!(token, Token::Clients)) else {
            return Ok(());
        };
        // What went wrong is the client's own; the next one is no worse off.
        let Ok(Some(socket)) = listener.accept() else { return Ok(()) };
        if self.connections.len() >= CLIENTS_MAX {
            self.metrics.refused += 1;
            return Ok(());
        }
        let security = match self.tls {
            Some(_) => handshake::HandshakeSecurity::TlsWanted,
            None => handshake::HandshakeSecurity::Plain,
        };
        self.metrics.connections += 1;
        let now = self.drive.clock.now();
        let mut client = Connection::new(Transport::new(socket), Handshake::new(security), now);
        if client.transport.write(&handshake::greeting()).is_err() {
            return Ok(());
        }
        let key = self.connections.insert(client);
        let client = self.connections.get_mut(key).expect("just put there");
        let added = epoll::add(
            &self.poll,
            client.transport.as_fd(),
            Token::Client(key).data(),
            EventFlags::IN,
        );
        added.map_err(io::Error::from).map_err(system("another socket to poll"))
    }

    /// Takes what a client has sent; one that is gone for good takes nothing either.
    pub(crate) fn receive(&mut self, key: Key, is_gone: bool) -> Result<(), UserError> {
        let Some(mut client) = self.connections.take(key) else { return Ok(()) };
        let mut buffer = std::mem::take(&mut self.incoming);
        let result = self.receive_into(key, &mut client, &mut buffer);
        self.incoming = buffer;
        // A socket that is gone stays ready for ever: it goes once nothing can be taken from it.
        let is_over = is_gone && !client.takes(self.commands_max());
        if result? && !is_over {
            self.connections.put_back(key, client);
            self.dirty.push(key);
            return Ok(());
        }
        self.forget(key, client)
    }

    /// Whether the client is still there.
    fn receive_into(
        &mut self,
        key: Key,
        client: &mut Connection,
        buffer: &mut [u8],
    ) -> Result<bool, UserError> {
        let commands_max = self.commands_max();
        while client.takes(commands_max) {
            let mut length = client.pending.len();
            buffer[..length].copy_from_slice(&client.pending);
            client.pending.clear();
            let mut is_more = true;
            let most = client.receivable_bytes(commands_max).min(buffer.len());
            if length < most {
                match client.transport.read(&mut buffer[length..most]) {
                    Ok(Input::Bytes(count)) => length += count,
                    Ok(Input::Nothing) => is_more = false,
                    Ok(Input::End) => client.ended = true,
                    Err(_) => return Ok(false),
                }
            }
            if client.ended {
                // It has shut its side; what it asked for before is answered.
                return Ok(true);
            }
            let taken = self.parse(key, client, &buffer[..length])?;
            client.pending = buffer[taken..length].to_vec();
            if !is_more || !client.transport.has_decrypted() {
                break;
            }
        }
        client.is_held = !client.ended && !client.takes(commands_max);
        Ok(true)
    }

    /// Tells clients what they are to be told.
    pub(crate) fn tell(&mut self) -> Result<(), UserError> {
        while !self.injections.is_off() {
            let Some(key) = self.dirty.pop() else { break };
            let Some(mut client) = self.connections.take(key) else { continue };
            let is_alive = self.send(&mut client)? && !client.is_done();
            if !is_alive {
                self.forget(key, client)?;
                continue;
            }
            let takes = client.takes(self.commands_max());
            let wanted = client.wanted_interest(takes);
            if wanted != client.interest {
                client.interest = wanted;
                let data = Token::Client(key).data();
                let changed = epoll::modify(&self.poll, client.transport.as_fd(), data, wanted);
                changed.map_err(io::Error::from).map_err(system("to watch a socket"))?;
            }
            let goes_on = client.is_held && takes;
            self.connections.put_back(key, client);
            if goes_on {
                self.receive(key, false)?;
                self.settle()?;
            }
        }
        Ok(())
    }

    /// Sends what a client can be told now; whether it is still there.
    fn send(&mut self, client: &mut Connection) -> Result<bool, UserError> {
        self.unsent_bytes -= std::mem::take(&mut client.counted_bytes);
        let result = self.send_all(client);
        client.counted_bytes = client.transport.unsent_bytes();
        self.unsent_bytes += client.counted_bytes;
        result
    }

    fn send_all(&mut self, client: &mut Connection) -> Result<bool, UserError> {
        let left_bytes = UNSENT_BYTES_ALL.saturating_sub(self.unsent_bytes);
        let most_bytes = left_bytes.clamp(SEND_BYTES_MIN, SEND_BYTES);
        let mut is_alive = true;
        while is_alive {
            if client.transport.has_unsent() {
                if client.transport.flush().is_err() {
                    return Ok(false);
                }
                if client.transport.has_unsent() {
                    break;
                }
            }
            self.outgoing.clear();
            self.begun.clear();
            is_alive = client.gather(&self.store, most_bytes, &mut self.outgoing, &mut self.begun);
            if self.outgoing.is_empty() {
                break;
            }
            let mut now = self.drive.clock.now();
            // A request that came in the same nanosecond as another was put one later.
            while self.begun.iter().any(|begun| begun.due > now) {
                now = self.drive.clock.now();
            }
            for begun in &self.begun {
                self.metrics.lateness_ns.record(now.0 - begun.due.0).expect("it grows");
                self.drive.answered(&begun.numbers, now);
            }
            is_alive &= client.transport.write(&self.outgoing).is_ok();
        }
        Ok(is_alive)
    }

    /// A client that goes in the middle of a write which meets a loss of power brings it about: of
    /// the write there is what had come.
    fn cut_short(&mut self, client: &Connection) -> Result<(), UserError> {
        let Phase::Payload { request, taken, strike, .. } = &client.phase else { return Ok(()) };
        // At the server's own end nobody has gone.
        match strike.power_cut.filter(|_| self.ends.is_none() && !self.injections.is_off()) {
            Some(place) => self.power_fails(place, Some((request.offset, *taken))),
            None => Ok(()),
        }
    }

    /// A client goes, whose place is given up: what it was to be told is nobody's any more, and
    /// what the model has not begun is not begun.
    pub(crate) fn forget(&mut self, key: Key, client: Connection) -> Result<(), UserError> {
        self.connections.remove(key);
        self.unsent_bytes -= client.counted_bytes;
        self.cut_short(&client)?;
        for reply in &client.replies {
            if reply.sent_bytes.is_none() {
                self.drive.unanswered(&reply.numbers);
            }
        }
        for command in self.admission.leave(key) {
            let entry = self.commands.get_mut(command).expect("it waits");
            entry.is_whole = true;
            self.metrics.cancelled += 1;
            if entry.left == 0 {
                let entry = self.commands.remove(command).expect("just seen");
                self.drive.unanswered(&entry.numbers);
            }
        }
        Ok(())
    }
}

//! Receiving from and sending to clients, within the limits on commands and unsent bytes.

use reprieve_base::UserError;
use rustix::event::epoll::EventFlags;

use super::Server;
use crate::connection::{Connection, Phase, SEND_BYTES, SEND_BYTES_MIN};
use crate::handshake::{self, Handshake};
use crate::slots::Key;
use crate::sockets::system;
use crate::token::Token;
use crate::transport::{Input, Socket, Transport};

/// Limit on the unsent bytes of all clients; above it, each client has at most one piece of the
/// smallest size.
const UNSENT_BYTES_ALL: usize = 8 << 20;

impl Server {
    pub(crate) fn accept_client(&mut self) -> Result<(), UserError> {
        let Some(listener) = self.sockets.listener(Token::Clients) else {
            return Ok(());
        };
        // The fault is this client's; the next one is unaffected.
        match listener.accept() {
            Ok(Some(socket)) => self.welcome(socket),
            _ => Ok(()),
        }
    }

    /// Begins the handshake of a client.
    pub(super) fn welcome(&mut self, socket: Box<dyn Socket>) -> Result<(), UserError> {
        if self.clients.is_full() {
            self.metrics.refused += 1;
            return Ok(());
        }
        if let Some(oldest) = self.clients.excess_handshake() {
            self.metrics.refused += 1;
            self.hang_up(oldest)?;
        }
        let security = match self.sockets.tls {
            Some(_) => handshake::HandshakeSecurity::TlsWanted,
            None => handshake::HandshakeSecurity::Plain,
        };
        self.metrics.connections += 1;
        let now = self.drive.clock.now();
        let mut client = Connection::new(Transport::new(socket), Handshake::new(security), now);
        if client.transport.write(&handshake::greeting()).is_err() {
            return Ok(());
        }
        let key = self.clients.begin_handshake(client);
        let client = self.clients.connections.get_mut(key).expect("just put there");
        let (poll, socket) = (&self.sockets.poll, &client.transport.socket);
        let watched = socket.watch(poll, Token::Client(key), EventFlags::IN, true);
        watched.map_err(system("another socket to poll"))
    }

    /// Receives from a client; one that is disconnected and not readable is removed.
    pub(crate) fn receive(&mut self, key: Key, is_gone: bool) -> Result<(), UserError> {
        let Some(mut client) = self.clients.connections.take(key) else { return Ok(()) };
        let mut buffer = std::mem::take(&mut self.clients.incoming);
        let result = self.receive_into(key, &mut client, &mut buffer);
        self.clients.incoming = buffer;
        // A closed socket stays ready for ever: it is removed once it can no longer be read.
        let is_over = is_gone && !client.takes(self.clients.commands_max());
        if result? && !is_over {
            self.clients.connections.put_back(key, client);
            self.clients.dirty.push(key);
            return Ok(());
        }
        self.forget(key, client)
    }

    /// Returns whether the client is still connected.
    fn receive_into(
        &mut self,
        key: Key,
        client: &mut Connection,
        buffer: &mut [u8],
    ) -> Result<bool, UserError> {
        let commands_max = self.clients.commands_max();
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
                // It has shut its side; earlier commands are still answered.
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

    /// Sends pending output to clients.
    pub(crate) fn tell(&mut self) -> Result<(), UserError> {
        while !self.injections.is_off() {
            let Some(key) = self.clients.dirty.pop() else { break };
            let Some(mut client) = self.clients.connections.take(key) else { continue };
            let is_alive = self.send(&mut client)? && !client.is_done();
            if !is_alive {
                self.forget(key, client)?;
                continue;
            }
            let takes = client.takes(self.clients.commands_max());
            let wanted = client.wanted_interest(takes);
            if wanted != client.interest {
                client.interest = wanted;
                let (poll, socket) = (&self.sockets.poll, &client.transport.socket);
                let changed = socket.watch(poll, Token::Client(key), wanted, false);
                changed.map_err(system("to watch a socket"))?;
            }
            let goes_on = client.is_held && takes;
            self.clients.connections.put_back(key, client);
            if goes_on {
                self.receive(key, false)?;
                self.settle()?;
            }
        }
        Ok(())
    }

    /// Sends pending output to a client; returns whether it is still connected.
    fn send(&mut self, client: &mut Connection) -> Result<bool, UserError> {
        self.clients.unsent_bytes -= std::mem::take(&mut client.counted_bytes);
        let result = self.send_all(client);
        client.counted_bytes = client.transport.unsent_bytes();
        self.clients.unsent_bytes += client.counted_bytes;
        result
    }

    fn send_all(&mut self, client: &mut Connection) -> Result<bool, UserError> {
        let left_bytes = UNSENT_BYTES_ALL.saturating_sub(self.clients.unsent_bytes);
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
            self.clients.outgoing.clear();
            self.clients.begun.clear();
            is_alive = client.gather(
                &self.store,
                most_bytes,
                &mut self.clients.outgoing,
                &mut self.clients.begun,
            );
            if self.clients.outgoing.is_empty() {
                break;
            }
            let mut now = self.drive.clock.now();
            // A request that arrived in the same nanosecond as another was moved to the next.
            while self.clients.begun.iter().any(|begun| begun.due > now) {
                now = self.drive.clock.now();
            }
            for begun in &self.clients.begun {
                self.metrics.lateness_ns.record(now.0 - begun.due.0).expect("it grows");
                self.drive.answered(&begun.numbers, now);
            }
            is_alive &= client.transport.write(&self.clients.outgoing).is_ok();
        }
        Ok(is_alive)
    }

    /// Triggers the power loss if the client disconnects in the middle of a write that it was to
    /// hit; the received bytes are stored.
    fn cut_short(&mut self, client: &Connection) -> Result<(), UserError> {
        let Phase::Payload { request, taken, strike, .. } = &client.phase else { return Ok(()) };
        // At shutdown, no client has left.
        match strike.power_cut.filter(|_| self.ends.is_none() && !self.injections.is_off()) {
            Some(place) => self.power_fails(place, Some((request.offset, *taken))),
            None => Ok(()),
        }
    }

    /// Closes a connection, if it exists.
    pub(crate) fn hang_up(&mut self, key: Key) -> Result<(), UserError> {
        let client = self.clients.connections.take(key);
        client.map_or(Ok(()), |client| self.forget(key, client))
    }

    /// Frees the state of a client that has left: its replies are dropped, and commands not yet
    /// submitted are cancelled.
    pub(crate) fn forget(&mut self, key: Key, client: Connection) -> Result<(), UserError> {
        self.clients.connections.remove(key);
        if matches!(client.phase, Phase::Handshake(_)) {
            self.clients.end_handshake(key);
        }
        self.clients.unsent_bytes -= client.counted_bytes;
        self.cut_short(&client)?;
        for reply in &client.replies {
            if reply.sent_bytes.is_none() {
                self.drive.unanswered(&reply.numbers);
            }
        }
        self.metrics.cancelled += self.in_flight.leave(key, &mut self.drive);
        Ok(())
    }
}

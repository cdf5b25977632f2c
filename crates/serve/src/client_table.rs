//! The clients of a server: their connections, pending replies and unsent bytes.

use std::collections::VecDeque;

use crate::admission::commands_max;
use crate::clock::Wall;
use crate::connection::{Begun, Connection, RECEIVE_BYTES};
use crate::slots::{Key, Slots};

/// Clients at once; more are refused.
pub(crate) const CLIENTS_MAX: usize = 1024;
/// Handshakes at once: a further one replaces the oldest.
pub(crate) const HANDSHAKES_MAX: usize = 512;

/// The connections of all clients.
pub(crate) struct ClientTable {
    pub(crate) connections: Slots<Connection>,
    /// Unfinished handshakes, the oldest first. They do not count as clients, because they may not
    /// be authorised.
    handshakes: VecDeque<Key>,
    /// Clients with output to send.
    pub(crate) dirty: Vec<Key>,
    /// Unsent bytes of all clients.
    pub(crate) unsent_bytes: usize,
    /// Buffers for receiving and sending.
    pub(crate) incoming: Vec<u8>,
    pub(crate) outgoing: Vec<u8>,
    pub(crate) begun: Vec<Begun>,
}

impl ClientTable {
    pub(crate) fn new() -> ClientTable {
        ClientTable {
            connections: Slots::new(),
            handshakes: VecDeque::new(),
            dirty: Vec::new(),
            unsent_bytes: 0,
            incoming: vec![0; RECEIVE_BYTES],
            outgoing: Vec::new(),
            begun: Vec::new(),
        }
    }

    /// Unanswered commands that each client may have.
    pub(crate) fn commands_max(&self) -> usize {
        commands_max(self.seated())
    }

    /// Clients with a finished handshake.
    pub(crate) fn seated(&self) -> usize {
        self.connections.len() - self.handshakes.len()
    }

    /// Whether the number of clients is at its limit.
    pub(crate) fn is_full(&self) -> bool {
        self.seated() >= CLIENTS_MAX
    }

    /// Adds a connection in its handshake.
    pub(crate) fn begin_handshake(&mut self, client: Connection) -> Key {
        let key = self.connections.insert(client);
        self.handshakes.push_back(key);
        key
    }

    /// Ends a handshake, with or without success.
    pub(crate) fn end_handshake(&mut self, key: Key) {
        self.handshakes.retain(|other| *other != key);
    }

    /// The oldest handshake, if their number is at its limit.
    pub(crate) fn excess_handshake(&self) -> Option<Key> {
        let is_full = self.handshakes.len() >= HANDSHAKES_MAX;
        self.handshakes.front().copied().filter(|_| is_full)
    }

    /// The oldest handshake if it began before an instant.
    pub(crate) fn late_handshake(&mut self, instant: Wall) -> Option<Key> {
        let oldest = *self.handshakes.front()?;
        self.connections.get_mut(oldest).filter(|client| client.opened < instant).map(|_| oldest)
    }

    /// Whether no client has pending output.
    pub(crate) fn are_done(&mut self) -> bool {
        let keys = self.connections.keys();
        keys.into_iter()
            .filter_map(|key| self.connections.get_mut(key).map(|client| client.is_done()))
            .all(|is_done| is_done)
    }

    /// Stops receiving from all clients; open commands are still answered.
    pub(crate) fn end(&mut self) {
        for key in self.connections.keys() {
            if let Some(client) = self.connections.get_mut(key) {
                client.ended = true;
            }
            self.dirty.push(key);
        }
    }

    /// Disconnects all clients.
    pub(crate) fn close(&mut self) {
        for key in self.connections.keys() {
            self.connections.remove(key);
        }
        self.handshakes.clear();
    }
}

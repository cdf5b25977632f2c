//! The clients of a server: their connections, who has something to be told, what is unsent.

use std::collections::VecDeque;

use crate::admission::commands_max;
use crate::clock::Wall;
use crate::connection::{Begun, Connection, RECEIVE_BYTES};
use crate::slots::{Key, Slots};

/// Clients at once; more are turned away.
pub(crate) const CLIENTS_MAX: usize = 1024;
/// Handshakes at once: for another one, the oldest is given up.
pub(crate) const HANDSHAKES_MAX: usize = 512;

/// All clients together.
pub(crate) struct ClientTable {
    pub(crate) connections: Slots<Connection>,
    /// Those whose handshake is not finished, the oldest first. They take no client's seat, because
    /// nobody knows yet whether they may be clients.
    handshakes: VecDeque<Key>,
    /// Those that have something to be told.
    pub(crate) dirty: Vec<Key>,
    /// What they have not taken.
    pub(crate) unsent_bytes: usize,
    /// Room for what is received and sent at a time.
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

    /// Commands that each client may have under way.
    pub(crate) fn commands_max(&self) -> usize {
        commands_max(self.seated())
    }

    /// Clients whose handshake is finished.
    pub(crate) fn seated(&self) -> usize {
        self.connections.len() - self.handshakes.len()
    }

    /// Whether another client would be one too many.
    pub(crate) fn is_full(&self) -> bool {
        self.seated() >= CLIENTS_MAX
    }

    /// Takes up a connection whose handshake begins.
    pub(crate) fn begin_handshake(&mut self, client: Connection) -> Key {
        let key = self.connections.insert(client);
        self.handshakes.push_back(key);
        key
    }

    /// The handshake is over, with or without success.
    pub(crate) fn end_handshake(&mut self, key: Key) {
        self.handshakes.retain(|other| *other != key);
    }

    /// The oldest handshake if another one would be one too many.
    pub(crate) fn excess_handshake(&self) -> Option<Key> {
        let is_full = self.handshakes.len() >= HANDSHAKES_MAX;
        self.handshakes.front().copied().filter(|_| is_full)
    }

    /// The oldest handshake if it began before an instant.
    pub(crate) fn late_handshake(&mut self, instant: Wall) -> Option<Key> {
        let oldest = *self.handshakes.front()?;
        self.connections.get_mut(oldest).filter(|client| client.opened < instant).map(|_| oldest)
    }

    /// Whether none has anything left to be told.
    pub(crate) fn are_done(&mut self) -> bool {
        let keys = self.connections.keys();
        keys.into_iter()
            .filter_map(|key| self.connections.get_mut(key).map(|client| client.is_done()))
            .all(|is_done| is_done)
    }

    /// Takes nothing more from any; what is open is answered.
    pub(crate) fn end(&mut self) {
        for key in self.connections.keys() {
            if let Some(client) = self.connections.get_mut(key) {
                client.ended = true;
            }
            self.dirty.push(key);
        }
    }

    /// Hangs up on all.
    pub(crate) fn close(&mut self) {
        for key in self.connections.keys() {
            self.connections.remove(key);
        }
        self.handshakes.clear();
    }
}

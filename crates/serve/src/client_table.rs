//! The clients of a server: their connections, who has something to be told, what is unsent.

use crate::admission::commands_max;
use crate::connection::{Begun, Connection, RECEIVE_BYTES};
use crate::slots::{Key, Slots};

/// All clients together.
pub(crate) struct ClientTable {
    pub(crate) connections: Slots<Connection>,
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
            dirty: Vec::new(),
            unsent_bytes: 0,
            incoming: vec![0; RECEIVE_BYTES],
            outgoing: Vec::new(),
            begun: Vec::new(),
        }
    }

    /// Commands that each client may have under way.
    pub(crate) fn commands_max(&self) -> usize {
        commands_max(self.connections.len())
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
    }
}

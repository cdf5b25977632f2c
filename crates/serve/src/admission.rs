//! Which requests of clients go to the model next, and how much it has of theirs at once.
//!
//! The model keeps every page of every request that it has, so that what it is given has a bound
//! for each client and one for all. Clients take turns, each with as many bytes as another.

use std::collections::VecDeque;

use reprieve_base::Request;

use crate::pieces::Pieces;
use crate::slots::Key;

/// Commands of all clients that are under way or not answered: each client may have a fair share
/// of them, at least `COMMANDS_MIN` and at most `COMMANDS_MAX`; more wait in its socket. One takes
/// some 500 bytes.
const COMMANDS_ALL: usize = 16 << 10;
const COMMANDS_MIN: usize = 16;
const COMMANDS_MAX: usize = 1024;

/// Commands that each of so many clients may have.
pub fn commands_max(clients: usize) -> usize {
    (COMMANDS_ALL / clients.max(1)).clamp(COMMANDS_MIN, COMMANDS_MAX)
}

/// How much of something the model may have: requests, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub requests: usize,
    pub bytes: u64,
}

/// What the model may have of one client: more than a queue of 128 requests of 128 KiB.
pub const CLIENT_LOAD: Load = Load { requests: 1024, bytes: 16 << 20 };
/// What it may have of all: 32,768 pages of 2 KiB.
pub const WHOLE_LOAD: Load = Load { requests: 8192, bytes: 64 << 20 };
/// Bytes that a client may hand over before it is another's turn.
pub const TURN_BYTES: u64 = 256 << 10;

impl Load {
    /// The load of one request; whatever moves no data counts as a page.
    pub fn of(request: &Request) -> Load {
        Load { requests: 1, bytes: u64::from(request.bytes).max(4096) }
    }

    fn add(&mut self, other: Load) {
        self.requests += other.requests;
        self.bytes += other.bytes;
    }

    fn subtract(&mut self, other: Load) {
        self.requests -= other.requests;
        self.bytes -= other.bytes;
    }

    /// Whether there is room for `more` under this bound, where `self` is there.
    fn has_room(&self, more: Load, bound: Load) -> bool {
        self.requests + more.requests <= bound.requests && self.bytes + more.bytes <= bound.bytes
    }
}

/// What one client waits for.
#[derive(Default)]
struct Queue {
    generation: u32,
    waiting: VecDeque<(Key, Pieces)>,
    in_model: Load,
    /// Bytes that it may hand over in this turn.
    credit_bytes: u64,
    /// Whether it stands among those whose turn comes.
    in_turn: bool,
}

/// A request whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    pub command: Key,
    pub request: Request,
    /// Whether it is the last of its command.
    pub is_last: bool,
}

/// The queues of all clients.
#[derive(Default)]
pub struct Admission {
    queues: Vec<Queue>,
    /// Clients that have something to hand over, and room for it of their own.
    turns: VecDeque<Key>,
    in_model: Load,
}

impl Admission {
    /// A command of a client waits to be handed over; it has at least one piece.
    pub fn push(&mut self, client: Key, command: Key, pieces: Pieces) {
        let index = client.index as usize;
        if index >= self.queues.len() {
            self.queues.resize_with(index + 1, Queue::default);
        }
        let queue = &mut self.queues[index];
        if queue.generation != client.generation {
            assert!(queue.waiting.is_empty(), "a client takes along what it waits for");
            *queue = Queue { generation: client.generation, ..Queue::default() };
        }
        queue.waiting.push_back((command, pieces));
        self.take_turns(client);
    }

    /// The request whose turn it is; `None`: there is none, or no room.
    pub fn next(&mut self) -> Option<Admitted> {
        loop {
            let client = *self.turns.front()?;
            let queue = &mut self.queues[client.index as usize];
            let next = queue.waiting.front().and_then(|(_, pieces)| pieces.peek());
            let is_there = queue.generation == client.generation;
            let Some(request) = next.filter(|_| is_there) else {
                self.turns.pop_front();
                if is_there {
                    queue.in_turn = false;
                }
                continue;
            };
            let load = Load::of(&request);
            if !queue.in_model.has_room(load, CLIENT_LOAD) {
                // Its turn comes again when the model has completed something of it.
                self.turns.pop_front();
                queue.in_turn = false;
                continue;
            }
            if queue.credit_bytes < load.bytes {
                queue.credit_bytes += TURN_BYTES;
                self.turns.rotate_left(1);
                continue;
            }
            if !self.in_model.has_room(load, WHOLE_LOAD) {
                return None;
            }
            queue.credit_bytes -= load.bytes;
            queue.in_model.add(load);
            self.in_model.add(load);
            let (command, pieces) = queue.waiting.front_mut().expect("just seen");
            let command = *command;
            pieces.next();
            let is_last = pieces.peek().is_none();
            if is_last {
                queue.waiting.pop_front();
            }
            return Some(Admitted { command, request, is_last });
        }
    }

    /// The model has completed a request of a client, who may have left.
    pub fn completed(&mut self, client: Key, load: Load) {
        self.in_model.subtract(load);
        let queue = &mut self.queues[client.index as usize];
        if queue.generation == client.generation {
            queue.in_model.subtract(load);
            self.take_turns(client);
        }
    }

    /// A client leaves: its commands that were not handed over in whole.
    pub fn leave(&mut self, client: Key) -> Vec<Key> {
        let Some(queue) = self.queues.get_mut(client.index as usize) else { return Vec::new() };
        if queue.generation != client.generation {
            return Vec::new();
        }
        let waiting = std::mem::take(&mut queue.waiting);
        // What the model has of it is of nobody in particular from now on.
        *queue = Queue { generation: client.generation.wrapping_add(1), ..Queue::default() };
        self.turns.retain(|other| *other != client);
        waiting.into_iter().map(|(command, _)| command).collect()
    }

    /// What the model has of all clients.
    pub fn in_model(&self) -> Load {
        self.in_model
    }

    fn take_turns(&mut self, client: Key) {
        let queue = &mut self.queues[client.index as usize];
        if !queue.in_turn && !queue.waiting.is_empty() {
            (queue.in_turn, queue.credit_bytes) = (true, TURN_BYTES);
            self.turns.push_back(client);
        }
    }
}

#[cfg(test)]
mod floods;
#[cfg(test)]
mod tests;

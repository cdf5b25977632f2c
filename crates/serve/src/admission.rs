//! Order and amount of clients' requests in the model.
//!
//! The model holds every page of every request that it has, so its load is bounded per client
//! and in total. Clients take turns, with equal numbers of bytes.

use std::collections::VecDeque;

use reprieve_base::Request;

use crate::slots::Key;
use crate::split::Split;

/// Commands of all clients that are unanswered: each client may have a fair share of them, at
/// least `COMMANDS_MIN` and at most `COMMANDS_MAX`; further ones stay in its socket. One takes
/// some 500 bytes.
const COMMANDS_ALL: usize = 16 << 10;
const COMMANDS_MIN: usize = 16;
const COMMANDS_MAX: usize = 1024;

/// Commands that each of `clients` clients may have.
pub fn commands_max(clients: usize) -> usize {
    (COMMANDS_ALL / clients.max(1)).clamp(COMMANDS_MIN, COMMANDS_MAX)
}

/// An amount of work in the model: requests, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub requests: usize,
    pub bytes: u64,
}

/// Limit for one client: more than a queue of 128 requests of 128 KiB.
pub const CLIENT_LOAD: Load = Load { requests: 1024, bytes: 16 << 20 };
/// Limit for all clients: 32,768 pages of 2 KiB.
pub const WHOLE_LOAD: Load = Load { requests: 8192, bytes: 64 << 20 };
/// Bytes that a client may submit per turn.
pub const TURN_BYTES: u64 = 256 << 10;

impl Load {
    /// The load of one request; one without data counts as a page.
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

    /// Whether `more` fits under this bound, on top of `self`.
    fn has_room(&self, more: Load, bound: Load) -> bool {
        self.requests + more.requests <= bound.requests && self.bytes + more.bytes <= bound.bytes
    }
}

/// The waiting commands of one client.
#[derive(Default)]
struct Queue {
    generation: u32,
    waiting: VecDeque<(Key, Split)>,
    in_model: Load,
    /// Bytes left in this turn.
    credit_bytes: u64,
    /// Whether it is in the list of turns.
    in_turn: bool,
}

/// A request to submit.
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
    /// Clients with requests to submit, within their own limit.
    turns: VecDeque<Key>,
    in_model: Load,
}

impl Admission {
    /// Adds a command of a client; it has at least one piece.
    pub fn push(&mut self, client: Key, command: Key, split: Split) {
        let index = client.index as usize;
        if index >= self.queues.len() {
            self.queues.resize_with(index + 1, Queue::default);
        }
        let queue = &mut self.queues[index];
        if queue.generation != client.generation {
            assert!(queue.waiting.is_empty(), "a client takes along what it waits for");
            *queue = Queue { generation: client.generation, ..Queue::default() };
        }
        queue.waiting.push_back((command, split));
        self.take_turns(client);
    }

    /// The next request to submit; `None` if there is none, or no capacity.
    pub fn next(&mut self) -> Option<Admitted> {
        loop {
            let client = *self.turns.front()?;
            let queue = &mut self.queues[client.index as usize];
            let next = queue.waiting.front().and_then(|(_, split)| split.peek());
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
                // It rejoins when the model completes one of its requests.
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
            let (command, split) = queue.waiting.front_mut().expect("just seen");
            let command = *command;
            split.next();
            let is_last = split.peek().is_none();
            if is_last {
                queue.waiting.pop_front();
            }
            return Some(Admitted { command, request, is_last });
        }
    }

    /// Records a completed request of a client, which may have left.
    pub fn completed(&mut self, client: Key, load: Load) {
        self.in_model.subtract(load);
        let queue = &mut self.queues[client.index as usize];
        if queue.generation == client.generation {
            queue.in_model.subtract(load);
            self.take_turns(client);
        }
    }

    /// Removes a client; returns its commands that were not submitted in full.
    pub fn leave(&mut self, client: Key) -> Vec<Key> {
        let Some(queue) = self.queues.get_mut(client.index as usize) else { return Vec::new() };
        if queue.generation != client.generation {
            return Vec::new();
        }
        let waiting = std::mem::take(&mut queue.waiting);
        // Its load in the model belongs to no client from now on.
        *queue = Queue { generation: client.generation.wrapping_add(1), ..Queue::default() };
        self.turns.retain(|other| *other != client);
        waiting.into_iter().map(|(command, _)| command).collect()
    }

    /// The load of all clients in the model.
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

//! One client: how far its conversation is, and what it is still to be told.

use std::collections::VecDeque;

use rustix::event::epoll::EventFlags;

use crate::clock::Wall;
use crate::handshake::Handshake;
use crate::protocol::{Kind, Request, push_data_head, push_read_error, push_simple_reply};
use crate::store::Store;
use crate::transport::Transport;

/// Commands of a client that are under way or not answered, at most; more wait in its socket.
pub const COMMANDS_MAX: u32 = 1024;
/// Bytes that are sent in one go, and so the most that is kept for a client that does not fetch
/// them.
pub const SEND_BYTES: usize = 256 << 10;

/// What the next bytes of a client are.
pub enum Phase {
    Handshake(Handshake),
    /// A request.
    Request,
    /// Data of a write.
    Payload {
        request: Request,
        /// Bytes that have come and were stored, or passed over because of `error`.
        taken: u32,
        error: u32,
    },
}

/// The answer to a command, and whose times are to be told when it is given.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    pub request: Request,
    pub error: u32,
    /// When the model says that it is to be given.
    pub due: Wall,
    /// Requests of the model that it answers: the first, and how many.
    pub numbers: (u64, u32),
    /// Bytes of data that were sent; `None`: nothing was.
    pub sent_bytes: Option<u32>,
}

/// A client.
pub struct Connection {
    pub transport: Transport,
    pub phase: Phase,
    pub structured: bool,
    pub opened: Wall,
    /// What has come and could not be looked at yet.
    pub pending: Vec<u8>,
    pub replies: VecDeque<Reply>,
    /// Commands under way or not answered.
    pub commands: u32,
    /// Nothing more is read from it.
    pub ended: bool,
    /// What its socket is watched for.
    pub interest: EventFlags,
}

impl Connection {
    pub fn new(transport: Transport, handshake: Handshake, now: Wall) -> Connection {
        Connection {
            transport,
            phase: Phase::Handshake(handshake),
            structured: false,
            opened: now,
            pending: Vec::new(),
            replies: VecDeque::new(),
            commands: 0,
            ended: false,
            interest: EventFlags::IN,
        }
    }

    /// Whether it has enough under way for now.
    pub fn is_full(&self) -> bool {
        self.commands >= COMMANDS_MAX
    }

    /// Whether there is nothing left to do for it.
    pub fn is_done(&self) -> bool {
        self.ended && self.commands == 0 && !self.transport.has_unsent()
    }

    /// What its socket has to be watched for.
    pub fn wanted_interest(&self) -> EventFlags {
        let mut wanted = EventFlags::empty();
        if !self.ended && !self.is_full() {
            wanted |= EventFlags::IN;
        }
        if self.transport.has_unsent() {
            wanted |= EventFlags::OUT;
        }
        wanted
    }

    /// Fills `out` with answers, up to `SEND_BYTES`; each whose first byte is among them goes to
    /// `begun`. Errors if data cannot be fetched in the middle of an answer.
    pub fn gather(&mut self, store: &Store, out: &mut Vec<u8>, begun: &mut Vec<Reply>) -> bool {
        while out.len() < SEND_BYTES {
            let Some(reply) = self.replies.front_mut() else { break };
            if reply.sent_bytes.is_none() {
                begun.push(*reply);
            }
            match push(reply, self.structured, store, out) {
                Some(true) => {
                    self.replies.pop_front();
                    self.commands -= 1;
                }
                Some(false) => {}
                None => return false,
            }
        }
        true
    }
}

/// Appends the next piece of an answer; whether it was the last, or `None` if there is none.
fn push(reply: &mut Reply, structured: bool, store: &Store, out: &mut Vec<u8>) -> Option<bool> {
    let Request { kind, cookie, offset, bytes, .. } = reply.request;
    if kind != Kind::Read {
        push_simple_reply(out, cookie, reply.error);
        return Some(true);
    }
    if reply.error != 0 || bytes == 0 {
        push_read_error(out, structured, cookie, reply.error);
        return Some(true);
    }
    let from = reply.sent_bytes.unwrap_or(0);
    let head = out.len();
    if reply.sent_bytes.is_none() {
        push_data_head(out, structured, cookie, offset, bytes);
    }
    let room = SEND_BYTES.saturating_sub(out.len()).max(4096);
    let piece = (bytes - from).min(room as u32);
    let start = out.len();
    out.resize(start + piece as usize, 0);
    if store.read(offset + u64::from(from), &mut out[start..]).is_err() {
        out.truncate(head);
        if reply.sent_bytes.is_some() {
            // The client was promised data, and there is no way to tell it that there is none.
            return None;
        }
        push_read_error(out, structured, cookie, crate::protocol::EIO);
        return Some(true);
    }
    reply.sent_bytes = Some(from + piece);
    Some(from + piece == bytes)
}

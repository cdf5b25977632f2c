//! One client: the state of its connection, and its pending answers.

use std::collections::VecDeque;

use rustix::event::epoll::EventFlags;

use crate::clock::Wall;
use crate::handshake::{Handshake, OPTION_BYTES};
use crate::inject::InjectedFault;
use crate::protocol::{
    Extent, Headers, Kind, Request, push_block_status, push_data_head, push_reply,
};
use crate::store::Store;
use crate::transport::Transport;

/// Bytes received at once.
pub const RECEIVE_BYTES: usize = 256 << 10;
/// Bytes sent at once, and so the limit on unsent bytes of a client; with many slow clients it
/// is the minimum.
pub const SEND_BYTES: usize = 256 << 10;
pub const SEND_BYTES_MIN: usize = 4096;

/// The kind of the next bytes from a client.
pub enum Phase {
    Handshake(Handshake),
    /// A request.
    Request,
    /// Data of a write.
    Payload {
        request: Request,
        /// Their number.
        bytes: u64,
        /// Bytes received and stored, or skipped because of `error`.
        taken: u64,
        error: u32,
        /// The injected faults of the command.
        strike: InjectedFault,
    },
}

/// The answer to a command, with the requests whose times are recorded when it is sent.
#[derive(Clone, Debug)]
pub struct Reply {
    pub request: Request,
    pub error: u32,
    /// The time at which it is due, by the model.
    pub due: Wall,
    /// Its requests in the model, if they are recorded.
    pub numbers: Vec<u64>,
    /// Bytes of data that were sent; `None` before the first.
    pub sent_bytes: Option<u32>,
    /// The extents, for block status.
    pub extents: Vec<Extent>,
}

impl Reply {
    pub fn new(request: Request, error: u32, due: Wall, numbers: Vec<u64>) -> Reply {
        Reply { request, error, due, numbers, sent_bytes: None, extents: Vec::new() }
    }
}

/// An answer whose first byte has been sent.
pub struct Begun {
    pub due: Wall,
    pub numbers: Vec<u64>,
}

/// A client.
pub struct Connection {
    pub transport: Transport,
    pub phase: Phase,
    pub headers: Headers,
    /// It negotiated block status.
    pub tells_allocation: bool,
    pub opened: Wall,
    /// Bytes received and not parsed.
    pub pending: Vec<u8>,
    pub replies: VecDeque<Reply>,
    /// Unanswered commands.
    pub commands: usize,
    /// Some received bytes are unparsed only because of the limit on commands.
    pub is_held: bool,
    /// Unsent bytes, as counted by the server.
    pub counted_bytes: usize,
    /// Nothing more is read from it.
    pub ended: bool,
    /// The events that its socket is polled for.
    pub interest: EventFlags,
}

impl Connection {
    pub fn new(transport: Transport, handshake: Handshake, now: Wall) -> Connection {
        Connection {
            transport,
            phase: Phase::Handshake(handshake),
            headers: Headers::Simple,
            tells_allocation: false,
            opened: now,
            pending: Vec::new(),
            replies: VecDeque::new(),
            commands: 0,
            is_held: false,
            counted_bytes: 0,
            ended: false,
            interest: EventFlags::IN,
        }
    }

    /// Whether more input is parsed, given the limit on unanswered commands.
    ///
    /// A client that does not take answers keeps its commands unanswered; in the handshake, which
    /// has no commands, parsing stops until it does.
    pub fn takes(&self, commands_max: usize) -> bool {
        let is_deaf = matches!(self.phase, Phase::Handshake(_)) && self.transport.has_unsent();
        !self.ended && !is_deaf && self.commands < commands_max
    }

    /// Number of bytes to receive, in addition to pending ones, such that all can be parsed.
    pub fn receivable_bytes(&self, commands_max: usize) -> usize {
        let more = commands_max.saturating_sub(self.commands);
        match &self.phase {
            Phase::Handshake(_) => OPTION_BYTES,
            Phase::Request => more * self.headers.request_bytes(),
            Phase::Payload { bytes, taken, .. } => {
                let requests_bytes = more.saturating_sub(1) * self.headers.request_bytes();
                (bytes - taken) as usize + requests_bytes
            }
        }
    }

    /// Whether the connection is finished.
    pub fn is_done(&self) -> bool {
        self.ended && self.commands == 0 && !self.transport.has_unsent()
    }

    /// The events to poll its socket for.
    pub fn wanted_interest(&self, takes: bool) -> EventFlags {
        let mut wanted = EventFlags::empty();
        if takes {
            wanted |= EventFlags::IN;
        }
        if self.transport.has_unsent() {
            wanted |= EventFlags::OUT;
        }
        wanted
    }

    /// Fills `out` with answers, up to `most_bytes`; those whose first byte is among them are added
    /// to `begun`. Returns false if data cannot be read in the middle of an answer.
    pub fn gather(
        &mut self,
        store: &Store,
        most_bytes: usize,
        out: &mut Vec<u8>,
        begun: &mut Vec<Begun>,
    ) -> bool {
        while out.len() < most_bytes {
            let Some(reply) = self.replies.front_mut() else { break };
            if reply.sent_bytes.is_none() {
                let numbers = std::mem::take(&mut reply.numbers);
                begun.push(Begun { due: reply.due, numbers });
            }
            match push(reply, self.headers, store, most_bytes, out) {
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

/// Appends the next piece of an answer; returns whether it was the last, or `None` on a failure.
fn push(
    reply: &mut Reply,
    headers: Headers,
    store: &Store,
    most_bytes: usize,
    out: &mut Vec<u8>,
) -> Option<bool> {
    let request = reply.request;
    if request.kind == Kind::BlockStatus && reply.error == 0 {
        push_block_status(out, headers, &request, &reply.extents);
        return Some(true);
    }
    if request.kind != Kind::Read || reply.error != 0 || request.bytes == 0 {
        push_reply(out, headers, &request, reply.error);
        return Some(true);
    }
    let (offset, bytes) = (request.offset, request.bytes as u32);
    let from = reply.sent_bytes.unwrap_or(0);
    let head = out.len();
    if reply.sent_bytes.is_none() {
        push_data_head(out, headers, &request);
    }
    let room = most_bytes.saturating_sub(out.len()).max(SEND_BYTES_MIN);
    let piece = (bytes - from).min(room as u32);
    let start = out.len();
    out.resize(start + piece as usize, 0);
    if store.read(offset + u64::from(from), &mut out[start..]).is_err() {
        out.truncate(head);
        if reply.sent_bytes.is_some() {
            // The head promises data, and the protocol cannot revoke it.
            return None;
        }
        push_reply(out, headers, &request, crate::protocol::EIO);
        return Some(true);
    }
    reply.sent_bytes = Some(from + piece);
    Some(from + piece == bytes)
}

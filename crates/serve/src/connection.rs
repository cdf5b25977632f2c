//! One client: how far its conversation is, and what it is still to be told.

use std::collections::VecDeque;

use rustix::event::epoll::EventFlags;

use crate::clock::Wall;
use crate::handshake::{Handshake, OPTION_BYTES};
use crate::inject::Strike;
use crate::protocol::{
    Extent, Headers, Kind, Request, push_block_status, push_data_head, push_reply,
};
use crate::store::Store;
use crate::transport::Transport;

/// Bytes that are fetched from a client in one go.
pub const RECEIVE_BYTES: usize = 256 << 10;
/// Bytes that are sent in one go, and so the most that is kept for a client that does not fetch
/// them; where many do not, it is the least.
pub const SEND_BYTES: usize = 256 << 10;
pub const SEND_BYTES_MIN: usize = 4096;

/// What the next bytes of a client are.
pub enum Phase {
    Handshake(Handshake),
    /// A request.
    Request,
    /// Data of a write.
    Payload {
        request: Request,
        /// How many there are.
        bytes: u64,
        /// Bytes that have come and were stored, or passed over because of `error`.
        taken: u64,
        error: u32,
        /// What else is to become of it.
        strike: Strike,
    },
}

/// The answer to a command, and whose times are to be told when it is given.
#[derive(Clone, Debug)]
pub struct Reply {
    pub request: Request,
    pub error: u32,
    /// When the model says that it is to be given.
    pub due: Wall,
    /// Requests of the model that it answers, where they are recorded.
    pub numbers: Vec<u64>,
    /// Bytes of data that were sent; `None`: nothing was.
    pub sent_bytes: Option<u32>,
    /// Where the drive holds data, if that was asked.
    pub extents: Vec<Extent>,
}

impl Reply {
    pub fn new(request: Request, error: u32, due: Wall, numbers: Vec<u64>) -> Reply {
        Reply { request, error, due, numbers, sent_bytes: None, extents: Vec::new() }
    }
}

/// An answer whose first byte goes out.
pub struct Begun {
    pub due: Wall,
    pub numbers: Vec<u64>,
}

/// A client.
pub struct Connection {
    pub transport: Transport,
    pub phase: Phase,
    pub headers: Headers,
    /// It may ask where the drive holds data.
    pub tells_allocation: bool,
    pub opened: Wall,
    /// What has come and could not be looked at yet.
    pub pending: Vec<u8>,
    pub replies: VecDeque<Reply>,
    /// Commands under way or not answered.
    pub commands: usize,
    /// Something of it has come that was not looked at, and is to be as soon as it may.
    pub is_held: bool,
    /// What it has not taken, as the server has counted it.
    pub counted_bytes: usize,
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

    /// Whether more of it is looked at, if it may have so many commands under way.
    ///
    /// Who does not take answers has its commands under way until it does; in the handshake, where
    /// nothing counts them, nothing more is looked at meanwhile.
    pub fn takes(&self, commands_max: usize) -> bool {
        let is_deaf = matches!(self.phase, Phase::Handshake(_)) && self.transport.has_unsent();
        !self.ended && !is_deaf && self.commands < commands_max
    }

    /// How much can be fetched, together with what is pending, so that all of it can be looked at.
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

    /// Whether there is nothing left to do for it.
    pub fn is_done(&self) -> bool {
        self.ended && self.commands == 0 && !self.transport.has_unsent()
    }

    /// What its socket has to be watched for.
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

    /// Fills `out` with answers, up to `most_bytes`; each whose first byte is among them goes to
    /// `begun`. False if data cannot be fetched in the middle of an answer.
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

/// Appends the next piece of an answer; whether it was the last, or `None` if there is none.
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
            // The client was promised data, and there is no way to tell it that there is none.
            return None;
        }
        push_reply(out, headers, &request, crate::protocol::EIO);
        return Some(true);
    }
    reply.sent_bytes = Some(from + piece);
    Some(from + piece == bytes)
}

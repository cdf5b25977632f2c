//! Simulated sockets, and clients that speak the protocol over them.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use rustix::event::epoll::EventFlags;

use super::disk::{CELL_BYTES, Machine};
use super::oracle::{Connection, Number, Value};
use crate::protocol::{FLAG_NO_HOLE, Headers, Kind, OPTION_MAGIC, number};
use crate::token::Token;
use crate::transport::Socket;

/// Both directions of a connection.
#[derive(Default)]
pub struct Wire {
    pub to_server: VecDeque<u8>,
    /// Bytes of these that have arrived.
    pub arrived: usize,
    /// The client sends nothing more.
    pub is_shut: bool,
    /// The client receives nothing more.
    pub is_closed: bool,
    /// The connection is reset: bytes that have not arrived never do.
    pub is_reset: bool,
    pub to_client: VecDeque<u8>,
    /// Bytes that the server can send before the socket is full.
    pub room: usize,
    /// Bytes of one transfer.
    pub transfer_bytes: usize,
    /// The next transfer is interrupted.
    pub is_interrupted: bool,
    pub watched: Option<(Token, EventFlags)>,
    /// The server has closed its end.
    pub is_dropped: bool,
}

impl Wire {
    /// The events that a poll would report.
    pub fn ready(&self) -> Option<(Token, EventFlags)> {
        let (token, wanted) = self.watched.filter(|_| !self.is_dropped)?;
        let mut flags = EventFlags::empty();
        let is_over = self.is_shut && self.to_server.is_empty();
        if self.arrived > 0 || is_over || self.is_reset {
            flags |= EventFlags::IN;
        }
        if self.room > 0 || self.is_closed {
            flags |= EventFlags::OUT;
        }
        flags &= wanted;
        if self.is_reset {
            flags |= EventFlags::ERR | EventFlags::HUP;
        } else if self.is_closed && is_over {
            flags |= EventFlags::HUP;
        }
        (!flags.is_empty()).then_some((token, flags))
    }
}

/// The server's end.
pub struct SimulatedSocket {
    pub wire: Arc<Mutex<Wire>>,
    pub machine: Arc<Mutex<Machine>>,
}

impl SimulatedSocket {
    fn is_dead(&self) -> bool {
        !self.machine.lock().expect("no panic").is_alive
    }
}

impl Socket for SimulatedSocket {
    fn watch(&self, _: &OwnedFd, token: Token, wanted: EventFlags, is_new: bool) -> io::Result<()> {
        let mut wire = self.wire.lock().expect("no panic");
        assert_eq!(wire.watched.is_none(), is_new, "a socket is added to a poll once");
        wire.watched = Some((token, wanted));
        Ok(())
    }
}

impl Read for SimulatedSocket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut wire = self.wire.lock().expect("no panic");
        if self.is_dead() {
            return Err(ErrorKind::WouldBlock.into());
        }
        if std::mem::take(&mut wire.is_interrupted) {
            return Err(ErrorKind::Interrupted.into());
        }
        let count = wire.arrived.min(into.len()).min(wire.transfer_bytes);
        if wire.is_reset {
            return Err(ErrorKind::ConnectionReset.into());
        }
        if count == 0 && !(wire.is_shut && wire.to_server.is_empty()) {
            return Err(ErrorKind::WouldBlock.into());
        }
        for (byte, from) in into.iter_mut().zip(wire.to_server.drain(..count)) {
            *byte = from;
        }
        wire.arrived -= count;
        Ok(count)
    }
}

impl Write for SimulatedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut wire = self.wire.lock().expect("no panic");
        if self.is_dead() || wire.room == 0 && !wire.is_closed {
            return Err(ErrorKind::WouldBlock.into());
        }
        if std::mem::take(&mut wire.is_interrupted) {
            return Err(ErrorKind::Interrupted.into());
        }
        if wire.is_closed || wire.is_reset {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let count = bytes.len().min(wire.room).min(wire.transfer_bytes);
        wire.to_client.extend(&bytes[..count]);
        wire.room -= count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for SimulatedSocket {
    fn drop(&mut self) {
        self.wire.lock().expect("no panic").is_dropped = true;
    }
}

/// A command of a client.
#[derive(Clone, Debug)]
pub struct Sent {
    pub number: Number,
    pub kind: Kind,
    pub flags: u16,
    pub offset: u64,
    pub bytes: u64,
    /// The error that it must get; `None`: none, unless something fails.
    pub error: Option<u32>,
}

impl Sent {
    /// Cells that it reads or changes; none if it lies beyond the drive or has no address.
    pub fn cells(&self, drive_bytes: u64) -> Range<usize> {
        let has_place = !matches!(self.kind, Kind::Flush | Kind::Unknown | Kind::Disconnect);
        if !has_place || self.offset + self.bytes > drive_bytes {
            return 0..0;
        }
        let cell = |at: u64| at as usize / CELL_BYTES;
        cell(self.offset)..cell(self.offset + self.bytes)
    }

    /// The value that it writes to each of its cells.
    pub fn value(&self) -> Option<Value> {
        match self.kind {
            Kind::Write => Some(self.number),
            Kind::Trim | Kind::WriteZeroes => Some(0),
            _ => None,
        }
    }
}

/// The answer to a command.
#[derive(Debug)]
pub struct Answer {
    pub number: Number,
    pub error: u32,
    /// Data of a read.
    pub data: Vec<u8>,
    /// Block status: lengths, and whether they read as zeros.
    pub extents: Vec<(u64, bool)>,
}

/// Fills a cell with the number of a command.
pub fn fill(into: &mut [u8], first_cell: usize, value: Value) {
    for (cell, bytes) in (first_cell as u64..).zip(into.chunks_exact_mut(CELL_BYTES)) {
        for (word, bytes) in (0u64..).zip(bytes.chunks_exact_mut(8)) {
            let content = u64::from(value) << 32 | cell << 8 | word;
            bytes.copy_from_slice(&if value == 0 { 0 } else { content }.to_le_bytes());
        }
    }
}

/// Returns the number of the command that wrote a cell; errors if it is no such cell.
pub fn value_of(bytes: &[u8], cell: usize) -> Result<Value, String> {
    let first = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes"));
    let value = (first >> 32) as Value;
    let mut expected = [0; CELL_BYTES];
    fill(&mut expected, cell, value);
    match expected == *bytes {
        true => Ok(value),
        false => Err(format!("cell {cell} holds what nobody wrote: {first:#x} and so on")),
    }
}

/// A client, which sends commands and checks the form of every answer.
pub struct Client {
    pub connection: Connection,
    pub wire: Arc<Mutex<Wire>>,
    pub headers: Headers,
    pub sees_allocation: bool,
    /// The handshake's answers that are not there yet: a length, or options up to this one.
    awaited: VecDeque<Awaited>,
    incoming: VecDeque<u8>,
    pub open: BTreeMap<u64, Sent>,
    /// Nothing more is sent.
    pub has_ended: bool,
}

/// A part of the handshake's answers.
enum Awaited {
    Bytes(usize),
    /// Replies to this option, until it is acknowledged.
    Option(u32),
}

const STRUCTURED_REPLY: u32 = 8;
const SET_META_CONTEXT: u32 = 10;
const EXTENDED_HEADERS: u32 = 11;

impl Client {
    /// Connects; the bits of `how` choose what is negotiated.
    pub fn connect(connection: Connection, how: u64) -> Client {
        let headers = [Headers::Simple, Headers::Structured, Headers::Extended][how as usize % 3];
        let (sees_allocation, is_old) = (how & 4 == 0, how & 24 == 0);
        let mut awaited = VecDeque::from([Awaited::Bytes(18)]);
        let mut out = Vec::new();
        out.extend(if how & 32 == 0 { 1u32 } else { 3 }.to_be_bytes());
        let mut option = |kind: u32, data: &[u8]| {
            out.extend(OPTION_MAGIC.to_be_bytes());
            out.extend(kind.to_be_bytes());
            out.extend((data.len() as u32).to_be_bytes());
            out.extend(data);
        };
        match headers {
            Headers::Simple => {}
            Headers::Structured => option(STRUCTURED_REPLY, &[]),
            Headers::Extended => option(EXTENDED_HEADERS, &[]),
        }
        awaited.extend(match headers {
            Headers::Simple => None,
            Headers::Structured => Some(Awaited::Option(STRUCTURED_REPLY)),
            Headers::Extended => Some(Awaited::Option(EXTENDED_HEADERS)),
        });
        let sees_allocation = sees_allocation && headers != Headers::Simple;
        if sees_allocation {
            option(SET_META_CONTEXT, b"\0\0\0\0\0\0\0\x01\0\0\0\x0fbase:allocation");
            awaited.push_back(Awaited::Option(SET_META_CONTEXT));
        }
        if is_old && headers != Headers::Extended {
            option(1, &[]);
            awaited.push_back(Awaited::Bytes(if how & 32 == 0 { 134 } else { 10 }));
        } else {
            option(7, &[0; 6]);
            awaited.push_back(Awaited::Option(7));
        }
        let wire = Wire { to_server: out.into(), transfer_bytes: usize::MAX, ..Wire::default() };
        Client {
            connection,
            wire: Arc::new(Mutex::new(wire)),
            headers,
            sees_allocation,
            awaited,
            incoming: VecDeque::new(),
            open: BTreeMap::new(),
            has_ended: false,
        }
    }

    /// Sends a command, whose number is its cookie; a `Disconnect` gets no answer.
    pub fn send(&mut self, sent: &Sent) {
        let mut wire = self.wire.lock().expect("no panic");
        let is_extended = self.headers == Headers::Extended;
        let (magic, payload) = match is_extended {
            true => (0x21e4_1c71u32, u16::from(sent.kind == Kind::Write) << 5),
            false => (0x2560_9513, 0),
        };
        let kind: u16 = match sent.kind {
            Kind::Read => 0,
            Kind::Write => 1,
            Kind::Disconnect => 2,
            Kind::Flush => 3,
            Kind::Trim => 4,
            Kind::WriteZeroes => 6,
            Kind::BlockStatus => 7,
            Kind::Unknown => 99,
        };
        let mut out = Vec::new();
        out.extend(magic.to_be_bytes());
        out.extend((sent.flags | payload).to_be_bytes());
        out.extend(kind.to_be_bytes());
        out.extend(u64::from(sent.number).to_be_bytes());
        out.extend(sent.offset.to_be_bytes());
        match is_extended {
            true => out.extend(sent.bytes.to_be_bytes()),
            false => out.extend((sent.bytes as u32).to_be_bytes()),
        }
        if sent.kind == Kind::Write {
            let start = out.len();
            out.resize(start + sent.bytes as usize, 0);
            fill(&mut out[start..], sent.offset as usize / CELL_BYTES, sent.number);
        }
        wire.to_server.extend(out);
        if sent.kind != Kind::Disconnect {
            self.open.insert(sent.number.into(), sent.clone());
        }
    }

    /// Takes the next whole answer, if there is one.
    ///
    /// Errors if what the server has sent is no answer to an open command.
    pub fn answer(&mut self) -> Result<Option<(Sent, Answer)>, String> {
        let mut wire = self.wire.lock().expect("no panic");
        if wire.is_closed {
            return Ok(None);
        }
        self.incoming.append(&mut wire.to_client);
        drop(wire);
        self.shake_hands()?;
        if !self.awaited.is_empty() || self.incoming.len() < 16 {
            return Ok(None);
        }
        let bytes = self.incoming.make_contiguous();
        let Some((length, mut answer)) = parse(bytes, self.headers, &self.open)? else {
            return Ok(None);
        };
        self.incoming.drain(..length);
        let cookie = u64::from(answer.number);
        let sent = self.open.remove(&cookie).expect("it was looked at");
        if sent.kind != Kind::Read || answer.error != 0 {
            answer.data.clear();
        }
        Ok(Some((sent, answer)))
    }

    fn shake_hands(&mut self) -> Result<(), String> {
        while let Some(awaited) = self.awaited.front() {
            let bytes = self.incoming.make_contiguous();
            let length = match awaited {
                Awaited::Bytes(length) => *length,
                Awaited::Option(_) if bytes.len() < 20 => return Ok(()),
                Awaited::Option(_) => 20 + number(bytes, 16, 4) as usize,
            };
            if bytes.len() < length {
                return Ok(());
            }
            if let Awaited::Option(option) = awaited {
                let kind = number(bytes, 12, 4);
                if number(bytes, 8, 4) != u64::from(*option) || kind >> 31 != 0 {
                    return Err(format!("option {option} is answered by {kind:#x}"));
                }
                if kind == 1 {
                    self.awaited.pop_front();
                }
            } else {
                self.awaited.pop_front();
            }
            self.incoming.drain(..length);
        }
        Ok(())
    }

    /// Whether some of the handshake's answers are not there.
    pub fn is_greeted(&self) -> bool {
        self.awaited.is_empty()
    }
}

/// Parses the answer at the start of `bytes`; `None`: more of it is needed.
fn parse(
    bytes: &[u8],
    headers: Headers,
    open: &BTreeMap<u64, Sent>,
) -> Result<Option<(usize, Answer)>, String> {
    let (magic, is_extended) = (number(bytes, 0, 4), headers == Headers::Extended);
    let sent_of = |cookie| {
        open.get(&cookie).ok_or_else(|| format!("an answer to command {cookie}, which is not open"))
    };
    if magic == 0x6744_6698 && !is_extended {
        let sent = sent_of(number(bytes, 8, 8))?;
        let error = number(bytes, 4, 4) as u32;
        let has_data = sent.kind == Kind::Read && error == 0;
        let must_be_structured = matches!(sent.kind, Kind::Read | Kind::BlockStatus);
        if headers == Headers::Structured && must_be_structured {
            return Err(format!("{sent:?} has a simple reply"));
        }
        let length = 16 + if has_data { sent.bytes as usize } else { 0 };
        let data = bytes.get(16..length).map(<[u8]>::to_vec);
        let number = sent.number;
        return Ok(data.map(|data| (length, Answer { number, error, data, extents: vec![] })));
    }
    let (head_bytes, expected) = if is_extended { (32, 0x6e8a_278c) } else { (20, 0x668e_33ef) };
    if magic != expected || headers == Headers::Simple {
        return Err(format!("an answer begins with {magic:#x}"));
    }
    if bytes.len() < head_bytes {
        return Ok(None);
    }
    let (flags, kind) = (number(bytes, 4, 2), number(bytes, 6, 2));
    let sent = sent_of(number(bytes, 8, 8))?;
    let content_bytes = if is_extended { number(bytes, 24, 8) } else { number(bytes, 16, 4) };
    let length = head_bytes + content_bytes as usize;
    let Some(content) = bytes.get(head_bytes..length) else { return Ok(None) };
    let mut answer = Answer { number: sent.number, error: 0, data: vec![], extents: vec![] };
    match (kind, sent.kind) {
        (0x8001, _) => answer.error = number(content, 0, 4) as u32,
        (1, Kind::Read) if content.len() as u64 == 8 + sent.bytes => {
            answer.data = content[8..].to_vec();
        }
        (5, Kind::BlockStatus) => {
            let each = content[4..].chunks_exact(8);
            let extent = |each: &[u8]| (number(each, 0, 4), number(each, 4, 4) & 2 != 0);
            answer.extents = each.map(extent).collect();
        }
        (6, Kind::BlockStatus) => {
            let each = content[8..].chunks_exact(16);
            let extent = |each: &[u8]| (number(each, 0, 8), number(each, 8, 8) & 2 != 0);
            answer.extents = each.map(extent).collect();
        }
        (0, Kind::Read | Kind::BlockStatus) if sent.bytes > 0 => {
            return Err(format!("{sent:?} has an answer without data"));
        }
        (0, _) => {}
        other => return Err(format!("{sent:?} is answered by {other:?}")),
    }
    match flags {
        1 => Ok(Some((length, answer))),
        _ => Err(format!("{sent:?} is answered in parts")),
    }
}

/// Flags that a write of zeros may have.
pub const ZEROES_FLAGS: [u16; 2] = [0, FLAG_NO_HOLE];

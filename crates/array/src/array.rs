//! The array: requests in pieces, what follows a completion, and how far drives may run.
//!
//! Every operation reaches its drive before the drive has passed the instant of its arrival, so
//! that each drive does what it would with its operations as a trace.

use std::collections::VecDeque;
use std::ops::Range;

use reprieve_base::{Dur, Op, SECTOR_BYTES, Time, UserError};
use reprieve_embed::{Ask, Drive, LAST};

use crate::layout::{Layout, Part};
use crate::member::{self, Done, Member};
use crate::options::{Options, Reads};
use crate::totals::Totals;

/// Requests that are sent before drives run.
const MOST_SENT: usize = 1 << 16;

/// A read or write of the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it reaches the array.
    pub arrival: Time,
    /// A write; otherwise a read.
    pub is_write: bool,
    /// First byte, a multiple of 512.
    pub offset: u64,
    /// Length in bytes, a multiple of 512.
    pub bytes: u64,
}

/// A request with its completion and the operations of drives that it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The request.
    pub request: Request,
    /// When it was complete.
    pub completion: Time,
    /// Reads of drives, of hedges as well.
    pub reads: u32,
    /// Writes of drives.
    pub writes: u32,
    /// Chunks that were read from other drives at once.
    pub reconstructed: u32,
    /// Chunks that were read from other drives as well, after some time.
    pub hedged: u32,
    open_pieces: u32,
}

impl Row {
    fn of(request: Request) -> Row {
        let (completion, reads, writes, reconstructed, hedged) = (Time::ZERO, 0, 0, 0, 0);
        Row { request, completion, reads, writes, reconstructed, hedged, open_pieces: 0 }
    }
}

/// The first operations of a piece: a read of the drive that has the data, or reads before a write.
const FIRST: usize = 0;
/// Its other operations: reads of other drives, or the writes.
const SECOND: usize = 1;

/// The part of a request in one chunk if it is a read, in one stripe if it is a write.
#[derive(Clone, Debug)]
struct Piece {
    /// Counts pieces, as their places are used again.
    number: u64,
    row: usize,
    is_write: bool,
    is_answered: bool,
    stripe: u64,
    /// Bytes of the stripe's data.
    bytes: Range<u64>,
    /// Open operations.
    open: [usize; 2],
}

/// The time at which a piece is read from other drives as well.
#[derive(Clone, Copy, Debug)]
struct Hedge {
    due: Time,
    place: usize,
    number: u64,
}

/// Drives behind one address space.
pub struct Array {
    layout: Layout,
    reads: Reads,
    controller: Dur,
    threads: usize,
    members: Vec<Member>,
    capacity_bytes: u64,
    now: Time,
    rows: Vec<Row>,
    pieces: Vec<Piece>,
    free_pieces: Vec<usize>,
    next_piece: u64,
    hedges: VecDeque<Hedge>,
    open_operations: usize,
    open_writes: usize,
    totals: Totals,
    fault: Option<UserError>,
    /// Room for the operations of a piece.
    parts: [Vec<Part>; 2],
}

impl Array {
    /// Opens an array of drives of this scenario, each with a seed of its own.
    ///
    /// Errors at a wrong choice, and as [`Drive::open`].
    pub fn open(
        text: &str,
        path: &str,
        sets: &[String],
        options: &Options,
    ) -> Result<Array, UserError> {
        options.check()?;
        let layout = Layout::new(options);
        let drives = Drive::open_many(text, path, sets, options.drives)?;
        let members =
            drives.into_iter().enumerate().map(|(number, drive)| Member::new(number, drive));
        let members: Vec<Member> = members.collect();
        let stripes = members[0].drive.capacity_bytes() / options.chunk_bytes;
        if stripes == 0 {
            return Err(UserError::new(format!(
                "chunk_bytes = {}: must be at most the {} bytes of a drive",
                options.chunk_bytes,
                members[0].drive.capacity_bytes()
            )));
        }
        Ok(Array {
            capacity_bytes: stripes * layout.stripe_bytes(),
            layout,
            reads: options.reads,
            controller: options.controller,
            threads: options.threads,
            members,
            now: Time::ZERO,
            rows: Vec::new(),
            pieces: Vec::new(),
            free_pieces: Vec::new(),
            next_piece: 0,
            hedges: VecDeque::new(),
            open_operations: 0,
            open_writes: 0,
            totals: Totals::default(),
            fault: None,
            parts: [Vec::new(), Vec::new()],
        })
    }

    /// Capacity for data in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// The first instant at which a request may arrive: all before it is simulated.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Submits requests for the next [`Array::run`], in any order, none of them before now.
    ///
    /// Errors at a wrong one; then none is submitted.
    pub fn submit(&mut self, requests: impl IntoIterator<Item = Request>) -> Result<(), UserError> {
        let before = self.rows.len();
        for (number, request) in requests.into_iter().enumerate() {
            if let Some(wrong) = self.wrong(&request) {
                self.rows.truncate(before);
                return Err(wrong.at(format!("request {number}")));
            }
            self.rows.push(Row::of(request));
        }
        Ok(())
    }

    fn wrong(&self, request: &Request) -> Option<UserError> {
        let Request { arrival, offset, bytes, .. } = *request;
        let (at, now, capacity) = (arrival.ns(), self.now.ns(), self.capacity_bytes);
        let what = if arrival < self.now {
            format!("arrival_ns = {at}: the array is at {now} ns; must not be earlier")
        } else if at > LAST.ns() / 2 {
            format!("arrival_ns = {at}: must be at most 2^61")
        } else if bytes == 0 || bytes % SECTOR_BYTES > 0 {
            format!("bytes = {bytes}: must be a positive multiple of 512")
        } else if offset % SECTOR_BYTES > 0 {
            format!("offset = {offset}: must be a multiple of 512")
        } else if offset > capacity || bytes > capacity - offset {
            format!("{bytes} bytes at offset = {offset}: the array has {capacity} bytes")
        } else {
            return None;
        };
        Some(UserError::new(what))
    }

    /// Runs until every operation of the submitted requests is complete; returns the requests in
    /// the order of their submission.
    ///
    /// Errors if a drive fails, such as for want of good blocks; the array can then do no more.
    pub fn run(&mut self) -> Result<Vec<Row>, UserError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if let Err(fault) = self.pass_all() {
            self.fault = Some(fault.clone());
            return Err(fault);
        }
        Ok(std::mem::take(&mut self.rows))
    }

    fn pass_all(&mut self) -> Result<(), UserError> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|row| self.rows[*row].request.arrival);
        let mut rest = order.as_slice();
        let mut done = Vec::new();
        // All before this instant is known.
        let mut known = Time::ZERO;
        while !rest.is_empty() || self.open_operations > 0 {
            let open_before = self.open_operations;
            known = self.send_arrivals(&mut rest, known)?;
            let before = if known == Time::NEVER { 0 } else { open_before };
            let work = self.open_operations - before;
            member::pass(&mut self.members, known, work, self.threads, &mut done)?;
            for done in done.drain(..) {
                self.finish(done)?;
            }
            while self.hedges.front().is_some_and(|hedge| hedge.due <= known) {
                let hedge = self.hedges.pop_front().expect("it is there");
                self.hedge(hedge)?;
            }
        }
        self.hedges.clear();
        let reached = self.members.iter().map(|member| member.drive.now()).max();
        if !order.is_empty() {
            self.now = reached.unwrap_or(self.now) + Dur::from_ns(1);
        }
        Ok(())
    }

    /// Sends requests that arrive before the first instant at which a completion could cause an
    /// operation, or decides about one; returns that instant.
    fn send_arrivals(&mut self, rest: &mut &[usize], known: Time) -> Result<Time, UserError> {
        while self.hedges.front().is_some_and(|hedge| !self.is_open(hedge)) {
            self.hedges.pop_front();
        }
        let mut end = self.hedges.front().map_or(Time::NEVER, |hedge| hedge.due);
        for member in self.members.iter().filter(|member| member.causing > 0) {
            end = end.min(member.drive.next() + self.controller);
        }
        let mut sent = 0;
        while let Some((row, others)) = rest.split_first() {
            let Request { arrival, is_write, .. } = self.rows[*row].request;
            if arrival >= end {
                break;
            }
            let decides = self.reads == Reads::AroundWrites && !is_write && self.open_writes > 0;
            if sent == MOST_SENT || decides && known < arrival {
                return Ok(arrival);
            }
            end = end.min(self.send_request(*row)?);
            sent += 1;
            *rest = others;
        }
        Ok(end)
    }

    /// Sends a request in pieces; returns the first instant at which one could cause an operation.
    fn send_request(&mut self, row: usize) -> Result<Time, UserError> {
        let Request { is_write, offset, bytes, .. } = self.rows[row].request;
        let stripe_bytes = self.layout.stripe_bytes();
        let unit = if is_write { stripe_bytes } else { self.layout.chunk_bytes };
        let (mut from, behind, mut end) = (offset, offset + bytes, Time::NEVER);
        while from < behind {
            let to = behind.min((from / unit + 1) * unit);
            let stripe = from / stripe_bytes;
            let first = stripe * stripe_bytes;
            let place = self.new_piece(row, stripe, from - first..to - first);
            let causes = if is_write { self.send_write(place)? } else { self.send_read(place)? };
            end = end.min(causes);
            from = to;
        }
        Ok(end)
    }

    fn new_piece(&mut self, row: usize, stripe: u64, bytes: Range<u64>) -> usize {
        let is_write = self.rows[row].request.is_write;
        let number = self.next_piece;
        let piece =
            Piece { number, row, is_write, is_answered: false, stripe, bytes, open: [0; 2] };
        self.next_piece += 1;
        self.rows[row].open_pieces += 1;
        match self.free_pieces.pop() {
            Some(place) => {
                self.pieces[place] = piece;
                place
            }
            None => {
                self.pieces.push(piece);
                self.pieces.len() - 1
            }
        }
    }

    /// The column of a piece of a read, and its bytes of the chunk.
    fn chunk(&self, place: usize) -> (usize, Range<u64>) {
        let Range { start, end } = self.pieces[place].bytes;
        let first = start - start % self.layout.chunk_bytes;
        ((start / self.layout.chunk_bytes) as usize, start - first..end - first)
    }

    fn send_read(&mut self, place: usize) -> Result<Time, UserError> {
        let Piece { row, stripe, number, .. } = self.pieces[place];
        let arrival = self.rows[row].request.arrival;
        let (column, span) = self.chunk(place);
        let drive = self.layout.reader(stripe, column);
        let is_busy =
            |drive: usize| self.reads == Reads::AroundWrites && self.members[drive].writes > 0;
        let (failed, into) = (self.layout.has_failed(drive), &mut self.parts[SECOND]);
        if (is_busy(drive) && self.layout.around(stripe, column, &span, is_busy, into))
            || (failed && self.layout.around(stripe, column, &span, |_| false, into))
        {
            self.rows[row].reconstructed += 1;
            self.totals.reconstructed += 1;
            self.send(place, SECOND, arrival)?;
            return Ok(Time::NEVER);
        }
        self.parts[FIRST].push(self.layout.part(drive, stripe, &span));
        self.send(place, FIRST, arrival)?;
        let Reads::Hedged(after) = self.reads else { return Ok(Time::NEVER) };
        let due = arrival + after;
        self.hedges.push_back(Hedge { due, place, number });
        Ok(due)
    }

    /// Whether a hedge's read has not been answered.
    fn is_open(&self, hedge: &Hedge) -> bool {
        let piece = &self.pieces[hedge.place];
        piece.number == hedge.number && piece.open[FIRST] > 0
    }

    fn hedge(&mut self, hedge: Hedge) -> Result<(), UserError> {
        if !self.is_open(&hedge) {
            return Ok(());
        }
        let Hedge { due, place, .. } = hedge;
        let Piece { row, stripe, .. } = self.pieces[place];
        let (column, span) = self.chunk(place);
        let into = &mut self.parts[SECOND];
        if !self.layout.around(stripe, column, &span, |_| false, into) {
            return Ok(());
        }
        self.rows[row].hedged += 1;
        self.totals.hedged += 1;
        self.send(place, SECOND, due)
    }

    fn send_write(&mut self, place: usize) -> Result<Time, UserError> {
        let Piece { row, stripe, ref bytes, .. } = self.pieces[place];
        let arrival = self.rows[row].request.arrival;
        let [reads, writes] = &mut self.parts;
        self.layout.write(stripe, bytes, reads, writes);
        if reads.is_empty() {
            self.send(place, SECOND, arrival)?;
            return Ok(Time::NEVER);
        }
        writes.clear();
        self.send(place, FIRST, arrival)?;
        Ok(arrival + self.controller)
    }

    /// Sends the planned operations of a piece.
    fn send(&mut self, place: usize, leg: usize, at: Time) -> Result<(), UserError> {
        let piece = &mut self.pieces[place];
        let row = &mut self.rows[piece.row];
        let op = if piece.is_write && leg == SECOND { Op::Write } else { Op::Read };
        piece.open[leg] = self.parts[leg].len();
        self.open_operations += self.parts[leg].len();
        for part in self.parts[leg].drain(..) {
            let member = &mut self.members[part.drive];
            let (tag, bytes) = ((2 * place + leg) as u64, part.bytes as u32);
            let lba = part.at_byte / SECTOR_BYTES;
            member.send(at, Ask { tag, op, lba, bytes, fua: false })?;
            if op == Op::Write {
                member.writes += 1;
                self.open_writes += 1;
                self.totals.drive_writes += 1;
                row.writes += 1;
            } else {
                member.causing += usize::from(piece.is_write);
                self.totals.drive_reads += 1;
                row.reads += 1;
            }
        }
        Ok(())
    }

    /// Handles the completion of an operation.
    fn finish(&mut self, done: Done) -> Result<(), UserError> {
        let (place, leg) = (done.tag as usize / 2, done.tag as usize % 2);
        self.open_operations -= 1;
        let (piece, member) = (&mut self.pieces[place], &mut self.members[done.drive]);
        match (piece.is_write, leg) {
            (true, FIRST) => member.causing -= 1,
            (true, _) => {
                member.writes -= 1;
                self.open_writes -= 1;
            }
            (false, _) => {}
        }
        piece.open[leg] -= 1;
        if piece.open[leg] > 0 {
            return Ok(());
        }
        if piece.is_write && leg == FIRST {
            let [reads, writes] = &mut self.parts;
            self.layout.write(piece.stripe, &piece.bytes, reads, writes);
            reads.clear();
            return self.send(place, SECOND, done.at + self.controller);
        }
        if piece.open == [0; 2] {
            self.free_pieces.push(place);
        }
        if !std::mem::replace(&mut piece.is_answered, true) {
            self.totals.hedges_won += u64::from(leg == SECOND && piece.open[FIRST] > 0);
            let row = piece.row;
            self.answer(row, done.at);
        }
        Ok(())
    }

    /// Counts the answer to a piece of a request.
    fn answer(&mut self, row: usize, at: Time) {
        let row = &mut self.rows[row];
        row.completion = row.completion.max(at);
        row.open_pieces -= 1;
        if row.open_pieces == 0 {
            let latency_ns = (row.completion - row.request.arrival).ns();
            self.totals.latencies(row.request.is_write).record(latency_ns);
        }
    }

    /// The summary so far, as JSON.
    pub fn summary(&self) -> String {
        let drives = self.members.iter().map(|member| member.drive.summary());
        self.totals.summary(self.capacity_bytes, drives)
    }
}

//! The array: requests in parts, reactions to completions, and horizons of the drives.
//!
//! Every operation reaches its drive before the drive has passed the instant of its arrival, so
//! that each drive does what it would with its operations as a trace.

mod reads;
mod writes;

use std::collections::VecDeque;
use std::ops::Range;
use std::thread;

use reprieve_base::{Dur, Op, SECTOR_BYTES, Time, UserError};
use reprieve_embed::{Ask, Drive};
use reprieve_trace::Workload;

use crate::array_request::{Request, Row};
use crate::drive_rebuild::Rebuild;
use crate::layout::{Layout, Part};
use crate::member::{self, Done, Member, Until};
use crate::options::{Options, Read};
use crate::parity_log::{LOG_BYTES, ParityLog};
use crate::piece::{FIRST, Kind, LAST, LEGS, Piece};
use crate::totals::Totals;
use crate::turns::Turns;
use crate::windows::Windows;
use reads::Hedge;

/// Requests that are sent before drives run.
const MOST_SENT: usize = 1 << 16;

/// Drives behind one address space.
pub struct Array {
    layout: Layout,
    read: Read,
    hedge_after: Option<Dur>,
    windows: Option<Windows>,
    turns: Option<Turns>,
    controller: Dur,
    threads: usize,
    members: Vec<Member>,
    capacity_bytes: u64,
    now: Time,
    rows: Vec<Row>,
    /// Requests that have not arrived, in their order.
    arrivals: VecDeque<usize>,
    /// A load of which a request arrives when one is complete.
    pub(crate) closed_load: Option<Workload>,
    pieces: Vec<Piece>,
    free_pieces: Vec<usize>,
    next_piece: u64,
    hedges: VecDeque<Hedge>,
    rebuild: Option<Rebuild>,
    log: Option<ParityLog>,
    /// The first instant at which recently sent operations could cause another.
    soonest: Time,
    open_requests: usize,
    open_operations: usize,
    open_writes: usize,
    totals: Totals,
    fault: Option<UserError>,
    /// Room for the operations of a piece.
    parts: [Vec<Part>; LEGS],
}

impl Array {
    /// Opens an array of drives of this scenario, each with its seed.
    ///
    /// Errors at a wrong choice, and as [`Drive::open`].
    pub fn open(
        text: &str,
        path: &str,
        sets: &[String],
        options: &Options,
    ) -> Result<Array, UserError> {
        options.check()?;
        let (layout, windows) = (Layout::new(options), options.windows());
        let sets_of = |drive: usize| {
            let own = windows.iter().flat_map(|windows| windows.sets(drive));
            let is_new = options.rebuild == Some(drive);
            let new = is_new.then(|| "ftl.precondition=none".to_owned());
            sets.iter().cloned().chain(own).chain(new).collect()
        };
        let drives = Drive::open_many(text, path, sets_of, options.drives)?;
        let members =
            drives.into_iter().enumerate().map(|(number, drive)| Member::new(number, drive));
        let mut members: Vec<Member> = members.collect();
        let turns = Turns::new(options);
        if turns.is_some() {
            members.iter_mut().try_for_each(|member| member.let_collect(Time::ZERO, false))?;
        }
        let drive_bytes = members[0].drive.capacity_bytes();
        let log = options.parity_log.then(|| ParityLog::new(options, drive_bytes));
        let data_bytes = drive_bytes.saturating_sub(if log.is_some() { LOG_BYTES } else { 0 });
        let stripes = data_bytes / options.chunk_bytes;
        if stripes == 0 {
            return Err(UserError::new(format!(
                "chunk_bytes = {}: must be at most the {data_bytes} bytes of a drive",
                options.chunk_bytes,
            )));
        }
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        Ok(Array {
            capacity_bytes: stripes * layout.stripe_bytes(),
            rebuild: options.rebuild.map(|drive| Rebuild::new(drive, stripes, options)),
            layout,
            read: options.read,
            hedge_after: options.hedge_after(),
            windows,
            turns,
            controller: Dur::from_ns(options.controller_ns),
            threads: options.threads.unwrap_or_else(cores),
            members,
            now: Time::ZERO,
            rows: Vec::new(),
            arrivals: VecDeque::new(),
            closed_load: None,
            pieces: Vec::new(),
            free_pieces: Vec::new(),
            next_piece: 0,
            hedges: VecDeque::new(),
            log,
            soonest: Time::NEVER,
            open_requests: 0,
            open_operations: 0,
            open_writes: 0,
            totals: Totals::default(),
            fault: None,
            parts: Default::default(),
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
            if let Some(wrong) = request.wrong(self.now, self.capacity_bytes) {
                self.rows.truncate(before);
                return Err(wrong.at(format!("request {number}")));
            }
            self.rows.push(Row::of(request));
        }
        Ok(())
    }

    /// Runs until every operation of the submitted requests is complete; returns the requests in
    /// the order of their submission. Meanwhile a replaced drive is rebuilt.
    ///
    /// Errors if a drive fails, such as for want of good blocks; the array can then do no more.
    pub fn run(&mut self) -> Result<Vec<Row>, UserError> {
        self.run_watched(false, &mut |_| true)
    }

    /// Runs as [`Array::run`] does, and with `until_rebuilt` on until the replaced drive is.
    ///
    /// `watch` gets the share of the requests that were sent, and returns whether to go on. Errors
    /// besides if it does not, and if there is no drive to rebuild.
    pub fn run_watched(
        &mut self,
        until_rebuilt: bool,
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Vec<Row>, UserError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        if until_rebuilt && self.rebuild.is_none() {
            return Err(UserError::new("no drive is being rebuilt; needs rebuild"));
        }
        if let Err(fault) = self.pass_all(until_rebuilt, watch) {
            self.fault = Some(fault.clone());
            return Err(fault);
        }
        Ok(std::mem::take(&mut self.rows))
    }

    fn pass_all(
        &mut self,
        until_rebuilt: bool,
        watch: &mut dyn FnMut(f64) -> bool,
    ) -> Result<(), UserError> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|row| self.rows[*row].request.arrival);
        self.open_requests = order.len();
        self.arrivals = order.into();
        let mut done = Vec::new();
        let now = self.now;
        if let Some(due) = self.rebuild.as_mut().and_then(|rebuild| rebuild.due.as_mut()) {
            *due = now.max(*due);
        }
        if let Some(turns) = &mut self.turns {
            turns.due = now.max(turns.due);
        }
        // All before this instant is known.
        let mut known = Time::ZERO;
        loop {
            let share = self.closed_load.as_ref().and_then(Workload::progress);
            let rest = self.arrivals.len() as f64 / self.rows.len().max(1) as f64;
            if !watch(share.unwrap_or(1.0 - rest)) {
                return Err(UserError::new("the run of the array was interrupted"));
            }
            let rebuilds = until_rebuilt || self.open_requests > 0;
            let due = self.rebuild.as_ref().and_then(|rebuild| rebuild.due);
            let due = due.filter(|_| rebuilds).unwrap_or(Time::NEVER);
            if self.arrivals.is_empty() && self.open_operations == 0 && due == Time::NEVER {
                break;
            }
            let open_before = self.open_operations;
            known = self.send_arrivals(known, due)?;
            let before = if known == Time::NEVER { 0 } else { open_before };
            let work = self.open_operations - before;
            let knows_drives = self.turns.is_some() || self.read == Read::FastFail;
            let even_idle = knows_drives && known < Time::NEVER;
            let until = Until { end: known, even_idle };
            member::pass(&mut self.members, until, work, self.threads, &mut done)?;
            for done in done.drain(..) {
                self.finish(done)?;
            }
            while self.hedges.front().is_some_and(|hedge| hedge.due <= known) {
                let hedge = self.hedges.pop_front().expect("it is there");
                self.hedge(hedge)?;
            }
            if let Some(turns) = self.turns.as_mut().filter(|turns| turns.due <= known) {
                turns.poll(&mut self.members)?;
            }
            let goes_on = until_rebuilt || self.open_requests > 0;
            if due <= known && due < Time::NEVER && goes_on {
                self.send_rebuild(due)?;
            }
        }
        self.hedges.clear();
        let reached = self.members.iter().map(|member| member.drive.now()).max();
        self.now = self.now.max(reached.unwrap_or(self.now) + Dur::from_ns(1));
        Ok(())
    }

    /// Sends requests that arrive before the first instant at which a completion could cause an
    /// operation, or decides about one; returns that instant.
    fn send_arrivals(&mut self, known: Time, due: Time) -> Result<Time, UserError> {
        while self.hedges.front().is_some_and(|hedge| !self.is_open(hedge)) {
            self.hedges.pop_front();
        }
        let mut end = self.hedges.front().map_or(due, |hedge| hedge.due.min(due));
        end = self.turns.iter().fold(end, |end, turns| end.min(turns.due));
        for member in self.members.iter().filter(|member| member.causing > 0) {
            end = end.min(member.drive.next() + self.controller);
        }
        self.soonest = end;
        let mut sent = 0;
        while let Some(row) = self.arrivals.front().copied() {
            let Request { arrival, op, .. } = self.rows[row].request;
            if arrival >= self.soonest {
                break;
            }
            let decides = match self.read {
                Read::AroundWrites => self.open_writes > 0,
                Read::FastFail => true,
                _ => false,
            };
            if sent == MOST_SENT || decides && op == Op::Read && known < arrival {
                return Ok(arrival);
            }
            self.arrivals.pop_front();
            self.send_request(row)?;
            sent += 1;
        }
        Ok(self.soonest)
    }

    /// Sends a request in pieces.
    fn send_request(&mut self, row: usize) -> Result<(), UserError> {
        let Request { op, offset, bytes, .. } = self.rows[row].request;
        let is_write = match op {
            Op::Read => false,
            Op::Write => true,
            _ => return self.send_to_all(row),
        };
        let stripe_bytes = self.layout.stripe_bytes();
        let unit = if is_write { stripe_bytes } else { self.layout.chunk_bytes };
        let (mut from, behind) = (offset, offset + bytes);
        while from < behind {
            let to = behind.min((from / unit + 1) * unit);
            let stripe = from / stripe_bytes;
            let first = stripe * stripe_bytes;
            let kind = if is_write { Kind::Write } else { Kind::Read };
            let place = self.new_piece(row, kind, stripe, from - first..to - first);
            self.rows[row].open_pieces += 1;
            if is_write {
                self.send_write(place)?
            } else {
                self.send_read(place)?
            }
            from = to;
        }
        Ok(())
    }

    fn new_piece(&mut self, row: usize, kind: Kind, stripe: u64, bytes: Range<u64>) -> usize {
        let (number, open, first_written) = (self.next_piece, [0; LEGS], Time::NEVER);
        let is_answered = kind == Kind::Rebuild;
        let piece = Piece { number, kind, row, is_answered, stripe, bytes, open, first_written };
        self.next_piece += 1;
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

    /// Sends the planned operations of a piece.
    fn send(&mut self, place: usize, leg: usize, at: Time) -> Result<(), UserError> {
        let piece = &mut self.pieces[place];
        let op = piece.op(leg);
        piece.open[leg] = self.parts[leg].len();
        self.open_operations += self.parts[leg].len();
        let causes = self.closed_load.is_some() || piece.causes(leg);
        for part in self.parts[leg].drain(..) {
            let member = &mut self.members[part.drive];
            let (tag, bytes) = ((LEGS * place + leg) as u64, part.bytes as u32);
            let lba = part.at_byte / SECTOR_BYTES;
            member.send(at, Ask { tag, op, lba, bytes, fua: false })?;
            member.causing += usize::from(causes);
            if member.causing > 0 {
                // The drive may then do earlier an operation that others wait for.
                self.soonest = self.soonest.min(at + self.controller);
            }
            if op == Op::Write {
                member.writes += 1;
                self.open_writes += 1;
            }
            self.totals.count(op, piece.kind == Kind::Rebuild);
            if let Some(row) = self.rows.get_mut(piece.row) {
                row.reads += u32::from(op == Op::Read);
                row.writes += u32::from(op == Op::Write);
            }
        }
        Ok(())
    }

    /// Handles the completion of an operation.
    fn finish(&mut self, done: Done) -> Result<(), UserError> {
        let (place, leg) = (done.tag as usize / LEGS, done.tag as usize % LEGS);
        self.open_operations -= 1;
        let (piece, member) = (&mut self.pieces[place], &mut self.members[done.drive]);
        member.causing -= usize::from(self.closed_load.is_some() || piece.causes(leg));
        if piece.op(leg) == Op::Write {
            member.writes -= 1;
            self.open_writes -= 1;
        }
        piece.open[leg] -= 1;
        if leg == LAST {
            piece.first_written = piece.first_written.min(done.at);
        }
        if piece.open[leg] > 0 {
            return Ok(());
        }
        if piece.kind != Kind::Read && leg != LAST {
            return self.send_writes(place, done.at + self.controller, leg == FIRST);
        }
        if piece.open == [0; LEGS] {
            self.free_pieces.push(place);
        }
        match piece.kind {
            Kind::Rebuild => {
                let rebuild = self.rebuild.as_mut().expect("it is rebuilt");
                rebuild.finish(done.at, self.controller, &mut self.layout);
            }
            Kind::Write => self.totals.unequal_ns += (done.at - piece.first_written).ns(),
            Kind::Read | Kind::Trim | Kind::Flush => {}
        }
        if !std::mem::replace(&mut piece.is_answered, true) {
            self.totals.hedges_won += u64::from(leg == LAST && piece.open[FIRST] > 0);
            let row = piece.row;
            return self.answer(row, done.at);
        }
        Ok(())
    }

    /// Counts the answer to a piece of a request.
    fn answer(&mut self, row: usize, at: Time) -> Result<(), UserError> {
        let row = &mut self.rows[row];
        row.completion = row.completion.max(at);
        row.open_pieces -= 1;
        if row.open_pieces == 0 {
            self.open_requests -= 1;
            let latency_ns = (row.completion - row.request.arrival).ns();
            self.totals.latencies(row.request.op).record_any(latency_ns);
            if self.follow(at + self.controller)? {
                let (row, arrival) =
                    (self.rows.len() - 1, self.rows[self.rows.len() - 1].request.arrival);
                let is_before = |other: &usize| self.rows[*other].request.arrival <= arrival;
                let place = self.arrivals.partition_point(is_before);
                self.arrivals.insert(place, row);
                self.open_requests += 1;
            }
        }
        Ok(())
    }

    /// Returns the summary as JSON.
    pub fn summary(&self) -> String {
        let drives = self.members.iter().map(|member| member.drive.summary());
        let mut summary = self.totals.summary(self.capacity_bytes, drives);
        if let Some(rebuild) = &self.rebuild {
            summary["rebuild"] = rebuild.summary(&self.layout);
        }
        if self.layout.parity > 0 {
            summary["write_hole"] = self.totals.write_hole(self.now, self.log.is_some());
        }
        summary.to_string()
    }
}

//! Conversion of clients' commands to requests of the model, and of completions to answers.

use reprieve_base::{Dur, Op, Time, UserError};

use super::Server;
use crate::clock::{Scale, Wall};
use crate::command::Command;
use crate::connection::{Connection, Phase, Reply};
use crate::drive::Done;
use crate::handshake::Step;
use crate::inject::InjectedFault;
use crate::protocol::{self, EINVAL, EIO, ENOSPC, FLAG_FUA, FLAG_NO_HOLE, FLAG_REQ_ONE, Kind};
use crate::slots::Key;
use crate::split::Split;
use crate::store::Fault;

/// Data of a write is stored in pieces that end at multiples of this, so that nothing smaller is
/// torn if the client disconnects.
const WHOLE_BYTES: u64 = 4096;

/// Extents in one answer.
const EXTENTS_MAX: usize = 512;

/// The time at which a command is answered.
fn due_of(command: &Command, scale: &Scale) -> Wall {
    match command.is_modelled {
        false => scale.later(command.received, command.late),
        true => scale.wall(command.completion + command.late),
    }
}

fn error_of(fault: Fault) -> u32 {
    match fault {
        Fault::Full => ENOSPC,
        Fault::Failed => EIO,
    }
}

impl Server {
    /// Parses received bytes within the limits; returns the number of bytes consumed.
    pub(crate) fn parse(
        &mut self,
        key: Key,
        client: &mut Connection,
        data: &[u8],
    ) -> Result<usize, UserError> {
        let mut taken = 0;
        let commands_max = self.clients.commands_max();
        while client.takes(commands_max) && !self.injections.is_off() {
            let rest = &data[taken..];
            let (count, goes_on) = match client.phase {
                Phase::Handshake(_) => self.shake_hands(key, client, rest),
                Phase::Request => self.request(key, client, rest)?,
                Phase::Payload { .. } => self.payload(key, client, rest)?,
            };
            taken += count;
            if !goes_on {
                break;
            }
        }
        Ok(taken)
    }

    fn shake_hands(&mut self, key: Key, client: &mut Connection, data: &[u8]) -> (usize, bool) {
        let Phase::Handshake(handshake) = &mut client.phase else { unreachable!("just seen") };
        let mut out = Vec::new();
        let (taken, step) = handshake.feed(data, &self.export, &mut out);
        let mut sent = client.transport.write(&out);
        let goes_on = match step {
            Step::More => taken > 0,
            Step::Close => {
                client.ended = true;
                false
            }
            Step::Transmission { .. } if self.clients.is_full() => {
                self.metrics.refused += 1;
                client.ended = true;
                false
            }
            Step::Transmission { headers, tells_allocation } => {
                self.clients.end_handshake(key);
                (client.headers, client.tells_allocation) = (headers, tells_allocation);
                client.phase = Phase::Request;
                true
            }
            Step::StartTls => {
                handshake.tls_started();
                let config =
                    self.sockets.tls.as_ref().expect("TLS is wanted only where it is set up");
                let start = client.transport.start_tls(config, &data[taken..]);
                sent = sent.and(start);
                client.ended |= sent.is_err();
                return (data.len(), false);
            }
        };
        client.ended |= sent.is_err();
        (taken, goes_on && !client.ended)
    }

    fn request(
        &mut self,
        key: Key,
        client: &mut Connection,
        data: &[u8],
    ) -> Result<(usize, bool), UserError> {
        let head_bytes = client.headers.request_bytes();
        let Some(head) = data.get(..head_bytes) else { return Ok((0, false)) };
        let Some((request, bytes)) = protocol::Request::parse(head, client.headers) else {
            self.metrics.malformed += 1;
            client.ended = true;
            return Ok((data.len(), false));
        };
        let mut error = request.error(self.export.bytes);
        let strike =
            if error == 0 { self.injections.strike(&request) } else { InjectedFault::default() };
        if let Some(place) = strike.power_cut.filter(|_| self.stored_bytes(&request, strike) == 0) {
            self.power_fails(place, None)?;
            return Ok((head_bytes, false));
        }
        if strike.is_error {
            error = EIO;
        }
        match request.kind {
            Kind::Disconnect => {
                client.ended = true;
                return Ok((data.len(), false));
            }
            _ if request.kind == Kind::Write || bytes > 0 => {
                client.phase = Phase::Payload { request, bytes, taken: 0, error, strike };
            }
            Kind::BlockStatus => self.tell_allocation(client, request),
            _ => self.execute(key, client, request, error, strike.late)?,
        }
        Ok((head_bytes, true))
    }

    fn payload(
        &mut self,
        key: Key,
        client: &mut Connection,
        data: &[u8],
    ) -> Result<(usize, bool), UserError> {
        let Phase::Payload { request, bytes, taken, error, strike } = &mut client.phase else {
            unreachable!("just seen")
        };
        let whole = match strike.power_cut {
            Some(place) => self.injections.power_cut(place).stored_bytes(request),
            None => *bytes,
        };
        let left = whole - *taken;
        let at = request.offset.saturating_add(*taken);
        let mut count = usize::try_from(left).map_or(data.len(), |left| left.min(data.len()));
        if (count as u64) < left && *error == 0 {
            let end = (at + count as u64) / WHOLE_BYTES * WHOLE_BYTES;
            count = end.saturating_sub(at) as usize;
        }
        if *error == 0 {
            *error = self.store.write(at, &data[..count]).err().map_or(0, error_of);
        }
        *taken += count as u64;
        let (request, strike, error) = (*request, *strike, *error);
        if *taken < whole {
            return Ok((count, count > 0 && count < data.len()));
        }
        if let Some(place) = strike.power_cut {
            self.power_fails(place, Some((request.offset, whole)))?;
            return Ok((count, false));
        }
        client.phase = Phase::Request;
        self.execute(key, client, request, error, strike.late)?;
        Ok((count, true))
    }

    /// Answers the block status at once: it does not involve the flash.
    fn tell_allocation(&mut self, client: &mut Connection, request: protocol::Request) {
        client.commands += 1;
        let agreed = if client.tells_allocation { 0 } else { EINVAL };
        let mut error = request.error(self.export.bytes).max(agreed);
        let most = if request.flags & FLAG_REQ_ONE != 0 { 1 } else { EXTENTS_MAX };
        let mut extents = Vec::new();
        if error == 0 {
            match self.store.extents(request.offset, request.bytes, most) {
                Ok(found) => extents = found,
                Err(fault) => error = error_of(fault),
            }
        }
        self.count(&request, None, error);
        let due = self.drive.clock.now();
        let reply = Reply { extents, ..Reply::new(request, error, due, Vec::new()) };
        client.replies.push_back(reply);
    }

    /// Submits a command to the model; one with an error is answered at once.
    fn execute(
        &mut self,
        key: Key,
        client: &mut Connection,
        request: protocol::Request,
        error: u32,
        late: Dur,
    ) -> Result<(), UserError> {
        client.commands += 1;
        let received = self.drive.clock.now();
        let mut error = error;
        let mut ticket = None;
        if error == 0 {
            match self.begin_in_store(&request) {
                Ok(begun) => ticket = begun,
                Err(fault) => error = error_of(fault),
            }
        }
        if error != 0 {
            self.count(&request, None, error);
            let (due, numbers) = (received, Vec::new());
            client.replies.push_back(Reply::new(request, error, due, numbers));
            return Ok(());
        }
        let op = match request.kind {
            Kind::Read => Op::Read,
            Kind::Write => Op::Write,
            Kind::Flush => Op::Flush,
            Kind::WriteZeroes if request.flags & FLAG_NO_HOLE != 0 => Op::Write,
            Kind::Trim | Kind::WriteZeroes => Op::Trim,
            Kind::BlockStatus => unreachable!("it is answered without the model"),
            Kind::Disconnect | Kind::Unknown => unreachable!("these have an error or no answer"),
        };
        let fua = op == Op::Write && request.flags & FLAG_FUA != 0;
        let split = Split::of(op, request.offset, request.bytes, fua);
        let is_modelled = split.peek().is_some();
        let command = self.in_flight.commands.insert(Command {
            client: key,
            request,
            error: 0,
            left: 0,
            is_whole: !is_modelled,
            is_modelled,
            numbers: Vec::new(),
            arrival: Time::NEVER,
            completion: Time::ZERO,
            received,
            ticket,
            late,
        });
        if !is_modelled {
            self.in_flight.not_modelled.push(command);
            return Ok(());
        }
        self.in_flight.admission.push(key, command, split);
        self.in_flight.admit(&mut self.drive)
    }

    /// Starts the store's work that must precede the answer; returns a ticket, or `None` if there
    /// is none.
    fn begin_in_store(&mut self, request: &protocol::Request) -> Result<Option<u64>, Fault> {
        let (at, bytes) = (request.offset, request.bytes);
        let is_forced = request.flags & FLAG_FUA != 0;
        match request.kind {
            Kind::Trim | Kind::WriteZeroes => {
                let keeps_room = request.flags & FLAG_NO_HOLE != 0;
                self.store.begin_zero(at, bytes, keeps_room, is_forced)
            }
            Kind::Write if is_forced => self.store.begin_sync(at, bytes),
            Kind::Flush => self.store.begin_sync(0, self.export.bytes),
            _ => Ok(None),
        }
    }

    /// Processes the model's completions.
    pub(crate) fn settle(&mut self) -> Result<(), UserError> {
        for command in std::mem::take(&mut self.in_flight.not_modelled) {
            self.model_is_done(command)?;
        }
        let mut done = std::mem::take(&mut self.in_flight.done);
        self.drive.take_done(&mut done);
        for Done { command, load, arrival, completion, uncorrectable_pages } in done.drain(..) {
            let entry =
                self.in_flight.commands.get_mut(command).expect("it waits for its requests");
            entry.arrival = entry.arrival.min(arrival);
            entry.completion = entry.completion.max(completion);
            if uncorrectable_pages > 0 {
                entry.error = EIO;
            }
            entry.left -= 1;
            self.in_flight.admission.completed(entry.client, load);
            if entry.left == 0 && entry.is_whole {
                self.model_is_done(command)?;
            }
        }
        self.in_flight.done = done;
        self.answer_late()?;
        self.in_flight.admit(&mut self.drive)
    }

    /// Handles a command that the model has completed: it is answered, or waits for the disk.
    fn model_is_done(&mut self, command: Key) -> Result<(), UserError> {
        let entry = self.in_flight.commands.get_mut(command).expect("the caller has seen it");
        match entry.ticket.map(|ticket| self.store.outcome(ticket)) {
            Some(None) => {
                self.in_flight.unsafe_commands.push(command);
                return Ok(());
            }
            Some(Some(Err(fault))) => entry.error = error_of(fault),
            Some(Some(Ok(()))) | None => {}
        }
        if entry.late > Dur::ZERO {
            let due = due_of(entry, &self.drive.clock.scale);
            self.injections.delay(due, command);
            return Ok(());
        }
        self.answer(command)
    }

    /// Answers commands whose delay is over.
    fn answer_late(&mut self) -> Result<(), UserError> {
        let now = self.drive.clock.now();
        while let Some(command) = self.injections.take_due(now) {
            self.answer(command)?;
        }
        Ok(())
    }

    /// Answers the commands whose work in the file is done.
    pub(crate) fn synced(&mut self) -> Result<(), UserError> {
        self.store.clear_signal();
        for command in std::mem::take(&mut self.in_flight.unsafe_commands) {
            self.model_is_done(command)?;
        }
        Ok(())
    }

    fn answer(&mut self, command: Key) -> Result<(), UserError> {
        let command = self.in_flight.commands.remove(command).expect("the caller has seen it");
        let Command { client, request, error, received, .. } = command;
        let scale = &self.drive.clock.scale;
        let due = due_of(&command, scale);
        let in_model = match command.is_modelled {
            false => Dur::ZERO,
            // The wait for admission preceded its arrival.
            true => command.completion - scale.model(received).min(command.arrival),
        };
        let latency_ns = (in_model + command.late).ns();
        self.count(&request, Some(latency_ns), error);
        let Some(waiting) = self.clients.connections.get_mut(client) else {
            self.drive.unanswered(&command.numbers);
            return Ok(());
        };
        waiting.replies.push_back(Reply::new(request, error, due, command.numbers));
        self.clients.dirty.push(client);
        Ok(())
    }

    fn count(&mut self, request: &protocol::Request, latency_ns: Option<u64>, error: u32) {
        let Some(count) = self.metrics.of(request.kind) else { return };
        count.commands += 1;
        count.bytes += if error == 0 { request.bytes } else { 0 };
        count.errors += u64::from(error != 0);
        if let Some(ns) = latency_ns {
            count.latency_ns.record(ns).expect("it grows");
        }
    }
}

//! Channels: the bus that dies share, its waiting queues, and arbitration.

use std::collections::VecDeque;

use reprieve_base::event::Schedule;
use reprieve_base::{Archive, Dur, Geometry, Time, parts};
use reprieve_config::ChannelOrder;
use reprieve_observe::check::Checker;
use reprieve_observe::die_events::{DieEvent, Record};
use reprieve_policy::txn::Kind;

use super::FlashEvent;

/// Access of a deciding die to its channel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ChannelGrant {
    /// Granted if the channel is idle and has no waiters.
    IfIdle,
    /// Granted: it is this die's turn.
    Held,
}

/// Request of a die for its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum ChannelRequest {
    /// Data-out of a sensed page.
    Out(u32),
    /// The die starts a command, chosen when it gets the channel.
    Start {
        die: u32,
        /// Whether it was a read when the die queued.
        is_read: bool,
    },
}

impl ChannelRequest {
    /// Returns the die.
    fn die(self) -> u32 {
        match self {
            ChannelRequest::Out(die) | ChannelRequest::Start { die, .. } => die,
        }
    }
}

/// The channels of a drive and their queues.
///
/// A die has at most one read and one other command in the queues of its channel. A channel that is
/// woken decides at the end of the instant.
pub(super) struct Channels {
    buses: Vec<ChannelBus>,
    /// Channels that have to decide.
    touched: Vec<u32>,
    /// For each die, whether it has a read, and another command, queued.
    in_line: Vec<[bool; 2]>,
    /// Reads go before programs; otherwise first come, first served.
    reads_first: bool,
}

impl Channels {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        for bus in &mut self.buses {
            parts!(archive; bus.free_at, bus.last_from, bus.held_by, bus.waiters, bus.lines);
            parts!(archive; bus.event_pending, bus.dirty, bus.busy_ns);
        }
        parts!(archive; self.touched, self.in_line);
    }

    /// Creates the channels of a drive, all idle.
    pub(super) fn new(geometry: &Geometry, order: ChannelOrder, reads_first: bool) -> Channels {
        let bus = ChannelBus::new(geometry.dies_per_channel, order);
        Channels {
            buses: vec![bus; geometry.channels as usize],
            touched: Vec::with_capacity(geometry.channels as usize),
            in_line: vec![[false; 2]; geometry.dies() as usize],
            reads_first,
        }
    }

    /// Has a channel decide at the end of this instant.
    #[inline(always)]
    fn wake(&mut self, channel: u32) {
        let bus = &mut self.buses[channel as usize];
        if !std::mem::replace(&mut bus.dirty, true) {
            self.touched.push(channel);
        }
    }

    /// Takes the channel for a die, or queues the die and returns false.
    #[inline(always)]
    pub(super) fn has(
        &mut self,
        (die, channel): (u32, u32),
        kind: Kind,
        now: Time,
        grant: ChannelGrant,
    ) -> bool {
        let bus = &mut self.buses[channel as usize];
        if grant == ChannelGrant::Held || bus.is_available(die, now) {
            bus.taken_by(die);
            return true;
        }
        if !self.in_line[die as usize][usize::from(!kind.is_read())] {
            self.join_line((die, channel), kind);
        }
        false
    }

    #[inline(never)]
    fn join_line(&mut self, (die, channel): (u32, u32), kind: Kind) {
        self.in_line[die as usize][usize::from(!kind.is_read())] = true;
        self.buses[channel as usize].wait_start(die, kind);
        self.wake(channel);
    }

    /// Whether a die is queued to start a command.
    pub(super) fn has_in_line(&self, die: u32) -> bool {
        self.in_line[die as usize] != [false; 2]
    }

    /// Queues pages of a die for data-out.
    #[inline(always)]
    pub(super) fn wait_out(&mut self, (die, channel): (u32, u32), pages: u32) {
        let bus = &mut self.buses[channel as usize];
        (0..pages).for_each(|_| bus.wait_out(die));
        self.wake(channel);
    }

    /// Occupies a channel from `from` for `length`.
    #[inline(always)]
    pub(super) fn occupy(&mut self, channel: u32, from: Time, length: Dur) {
        self.buses[channel as usize].occupy(from, length);
    }

    /// Whether a die has reserved its channel.
    #[inline]
    pub(super) fn is_held_by(&self, (die, channel): (u32, u32)) -> bool {
        self.buses[channel as usize].held_by == Some(die)
    }

    /// Reserves a channel for the die that has it.
    pub(super) fn hold(&mut self, (die, channel): (u32, u32)) {
        self.buses[channel as usize].held_by = Some(die);
    }

    /// Releases the channel if a die has reserved it.
    pub(super) fn release(&mut self, (die, channel): (u32, u32)) {
        if self.is_held_by((die, channel)) {
            self.buses[channel as usize].held_by = None;
            self.wake(channel);
        }
    }

    /// Handles the end of the transfer that a channel waited for.
    pub(super) fn transfer_ended(&mut self, channel: u32) {
        self.buses[channel as usize].event_pending = false;
        self.wake(channel);
    }

    /// Removes and returns a channel that has to decide.
    #[inline(always)]
    pub(super) fn next_touched(&mut self) -> Option<u32> {
        let channel = self.touched.pop()?;
        self.buses[channel as usize].dirty = false;
        Some(channel)
    }

    /// Returns the next request for a channel, if it is free; else schedules a decision for then.
    #[inline(always)]
    pub(super) fn next_request(
        &mut self,
        channel: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) -> Option<ChannelRequest> {
        let bus = &mut self.buses[channel as usize];
        if bus.free_at > now {
            if bus.has_waiters() && !bus.event_pending {
                bus.event_pending = true;
                out.schedule(bus.free_at, FlashEvent::Channel { channel });
            }
            return None;
        }
        let request = bus.next(self.reads_first);
        if let Some(ChannelRequest::Start { die, is_read }) = request {
            self.in_line[die as usize][usize::from(!is_read)] = false;
        }
        request
    }

    /// Returns the busy time of each channel until `now`, in nanoseconds.
    pub(super) fn busy_until(&self, now: Time) -> impl Iterator<Item = u64> {
        self.buses.iter().map(move |bus| bus.busy_until(now))
    }

    /// Starts to record transfers.
    pub(super) fn keep_record(&mut self) {
        self.buses.iter_mut().for_each(|bus| bus.seen.keep());
    }

    /// Passes the transfers since the last call to a checker.
    pub(super) fn pass_record(&mut self, checker: &mut Checker) {
        for (channel, bus) in (0..).zip(&mut self.buses) {
            bus.seen.take().for_each(|seen| checker.channel_did(channel, seen));
        }
    }
}

/// Queues of a channel, boxed as most channels have no waiters.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct WaitingLines {
    /// Commands, in the order `CommandsFirst` only.
    commands: VecDeque<ChannelRequest>,
    /// Pages ready to leave and commands of reads, with their tickets.
    reads: VecDeque<(u64, ChannelRequest)>,
    /// All other requests.
    writes: VecDeque<(u64, ChannelRequest)>,
    tickets: u64,
    dies: u32,
    /// The next die of the channel in turn, where dies take turns.
    turn: u32,
}

/// One channel. A transfer of no length takes no slot.
#[derive(Clone, Debug)]
struct ChannelBus {
    free_at: Time,
    /// When the last transfer starts or started.
    last_from: Time,
    order: ChannelOrder,
    /// The die that has reserved the channel for garbage collection.
    held_by: Option<u32>,
    /// Requests in the queues.
    waiters: u32,
    lines: Box<WaitingLines>,
    /// An event at `free_at` is scheduled.
    event_pending: bool,
    /// On the list of channels that have to decide.
    dirty: bool,
    /// Total busy time.
    busy_ns: u64,
    seen: Record,
}

impl ChannelBus {
    fn new(dies: u32, order: ChannelOrder) -> ChannelBus {
        let lines = dies as usize;
        ChannelBus {
            free_at: Time::ZERO,
            last_from: Time::ZERO,
            order,
            held_by: None,
            waiters: 0,
            lines: Box::new(WaitingLines {
                commands: VecDeque::new(),
                reads: VecDeque::with_capacity(2 * lines),
                writes: VecDeque::with_capacity(2 * lines),
                tickets: 0,
                dies,
                turn: 0,
            }),
            event_pending: false,
            dirty: false,
            busy_ns: 0,
            seen: Record::default(),
        }
    }

    /// Whether a die can have the channel now without overtaking another.
    #[inline]
    fn is_available(&self, die: u32, now: Time) -> bool {
        self.free_at <= now
            && match self.held_by {
                None => !self.has_waiters(),
                Some(holder) => holder == die && !self.lines.has_request_of(die),
            }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        self.waiters > 0
    }

    /// Occupies the channel from `from` for `length`.
    #[inline]
    fn occupy(&mut self, from: Time, length: Dur) {
        debug_assert!(from >= self.free_at, "two transfers overlap on a channel");
        self.free_at = from + length;
        self.seen.note(DieEvent::Transfer(from, self.free_at));
        self.last_from = from;
        self.busy_ns += length.ns();
    }

    /// Returns the busy time until `now`, in nanoseconds.
    fn busy_until(&self, now: Time) -> u64 {
        // The last transfer may be running, or booked ahead.
        self.busy_ns - self.free_at.ns().saturating_sub(self.last_from.max(now).ns())
    }

    /// Queues a sensed page for data-out.
    fn wait_out(&mut self, die: u32) {
        self.waiters += 1;
        self.lines.wait_out(die);
    }

    /// Queues a die that starts an operation, or sends the page of a suspended program again.
    fn wait_start(&mut self, die: u32, kind: Kind) {
        self.waiters += 1;
        self.lines.wait_start(die, kind, self.order);
    }

    /// Removes and returns the next request, by the order of this channel.
    #[inline]
    fn next(&mut self, reads_first: bool) -> Option<ChannelRequest> {
        if self.waiters == 0 {
            return None;
        }
        if let Some(die) = self.held_by {
            let next = self.lines.next_of(die, reads_first, self.order);
            self.waiters -= u32::from(next.is_some());
            return next;
        }
        self.waiters -= 1;
        let next = self.lines.next(reads_first, self.order);
        Some(next.expect("the queues have as many requests as were counted"))
    }

    /// Passes the turn to the next die after one that starts a command.
    #[inline]
    fn taken_by(&mut self, die: u32) {
        if self.order == ChannelOrder::DataFirst {
            self.lines.turn = (die + 1) % self.lines.dies;
        }
    }
}

impl WaitingLines {
    fn wait_out(&mut self, die: u32) {
        self.reads.push_back((self.tickets, ChannelRequest::Out(die)));
        self.tickets += 1;
    }

    fn wait_start(&mut self, die: u32, kind: Kind, order: ChannelOrder) {
        let request = ChannelRequest::Start { die, is_read: kind.is_read() };
        let is_command = kind.is_read() || kind == Kind::Erase;
        let line = match order {
            ChannelOrder::CommandsFirst if is_command => return self.commands.push_back(request),
            ChannelOrder::Asked | ChannelOrder::CommandsFirst if kind.is_read() => &mut self.reads,
            _ => &mut self.writes,
        };
        line.push_back((self.tickets, request));
        self.tickets += 1;
    }

    fn next(&mut self, reads_first: bool, order: ChannelOrder) -> Option<ChannelRequest> {
        match order {
            ChannelOrder::CommandsFirst if !self.commands.is_empty() => {
                return self.commands.pop_front();
            }
            ChannelOrder::DataFirst => return self.next_data_first(),
            ChannelOrder::Asked | ChannelOrder::CommandsFirst => {}
        }
        // Usually one of the queues is empty.
        let line = match (self.reads.is_empty(), self.writes.is_empty()) {
            (true, _) => &mut self.writes,
            (false, true) => &mut self.reads,
            (false, false) if reads_first || self.reads[0].0 < self.writes[0].0 => &mut self.reads,
            (false, false) => &mut self.writes,
        };
        line.pop_front().map(|(_, request)| request)
    }

    fn has_request_of(&self, die: u32) -> bool {
        let (commands, reads) =
            (self.commands.iter(), self.reads.iter().map(|(_, request)| request));
        let writes = self.writes.iter().map(|(_, request)| request);
        commands.chain(reads).chain(writes).any(|request| request.die() == die)
    }

    /// Removes and returns the next request of one die, by the order of the channel.
    #[cold]
    fn next_of(
        &mut self,
        die: u32,
        reads_first: bool,
        order: ChannelOrder,
    ) -> Option<ChannelRequest> {
        if let Some(place) = self.commands.iter().position(|request| request.die() == die) {
            return self.commands.remove(place);
        }
        let first = |line: &VecDeque<(u64, ChannelRequest)>| {
            let place = line.iter().position(|(_, request)| request.die() == die)?;
            Some((place, line[place].0))
        };
        let reads_first = reads_first || order == ChannelOrder::DataFirst;
        let (line, place) = match (first(&self.reads), first(&self.writes)) {
            (Some((place, read)), write)
                if reads_first || write.is_none_or(|(_, write)| read < write) =>
            {
                (&mut self.reads, place)
            }
            (_, write) => (&mut self.writes, write?.0),
        };
        line.remove(place).map(|(_, request)| request)
    }

    /// Removes and returns the oldest data-out, or else the command of the next die in turn.
    fn next_data_first(&mut self) -> Option<ChannelRequest> {
        if let Some((_, out)) = self.reads.pop_front() {
            return Some(out);
        }
        let dies = self.dies;
        let wait = |request: &ChannelRequest| match request {
            ChannelRequest::Start { die, .. } => (die % dies + dies - self.turn) % dies,
            ChannelRequest::Out(_) => panic!("data-out is in the queue of commands"),
        };
        let waits = self.writes.iter().map(|(_, request)| wait(request)).enumerate();
        let (place, _) = waits.min_by_key(|(_, wait)| *wait)?;
        self.writes.remove(place).map(|(_, request)| request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels of two dies each.
    const SHAPE: Geometry = Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_channel: 2,
        planes_per_die: 1,
        blocks_per_plane: 1,
        pages_per_block: 1,
        page_bytes: 4096,
    };

    /// Scheduled events and their times.
    #[derive(Default)]
    struct Scheduled(Vec<(Time, FlashEvent)>);

    impl Schedule<FlashEvent> for Scheduled {
        fn schedule(&mut self, at: Time, event: FlashEvent) {
            self.0.push((at, event));
        }

        fn withdraw(&mut self, at: Time, event: FlashEvent) {
            self.0.retain(|other| *other != (at, event));
        }
    }

    #[test]
    fn who_comes_to_a_channel_in_use_stands_in_line_once_and_has_it_when_it_is_free() {
        let (at, mut out) = (Time::from_ns, Scheduled::default());
        let mut channels = Channels::new(&SHAPE, ChannelOrder::Asked, true);
        assert!(channels.has((2, 1), Kind::Program, at(0), ChannelGrant::IfIdle));
        channels.occupy(1, at(0), Dur::from_ns(100));
        for _ in 0..2 {
            assert!(!channels.has((3, 1), Kind::Program, at(10), ChannelGrant::IfIdle));
        }
        assert!(!channels.has((2, 1), Kind::HostRead, at(20), ChannelGrant::IfIdle));
        // The other channel has no waiters.
        assert!(channels.has((0, 0), Kind::HostRead, at(20), ChannelGrant::IfIdle));
        assert!(channels.has_in_line(3) && !channels.has_in_line(0));
        assert_eq!((channels.next_touched(), channels.next_touched()), (Some(1), None));
        for _ in 0..2 {
            assert_eq!(channels.next_request(1, at(20), &mut out), None);
        }
        assert_eq!(out.0, [(at(100), FlashEvent::Channel { channel: 1 })]);
        channels.transfer_ended(1);
        assert_eq!(channels.next_touched(), Some(1));
        let mut next = || channels.next_request(1, at(100), &mut out);
        assert_eq!(next(), Some(ChannelRequest::Start { die: 2, is_read: true }));
        assert_eq!(next(), Some(ChannelRequest::Start { die: 3, is_read: false }));
        assert_eq!(next(), None);
        assert!(!channels.has_in_line(3));
        assert_eq!(channels.busy_until(at(60)).collect::<Vec<_>>(), [0, 60]);
    }

    #[test]
    fn nobody_else_has_a_channel_that_a_die_keeps() {
        let (at, mut out) = (Time::from_ns, Scheduled::default());
        let mut channels = Channels::new(&SHAPE, ChannelOrder::Asked, true);
        channels.hold((1, 0));
        assert!(!channels.has((0, 0), Kind::HostRead, at(0), ChannelGrant::IfIdle));
        assert!(channels.has((1, 0), Kind::GcRead, at(0), ChannelGrant::IfIdle));
        assert_eq!(channels.next_request(0, at(0), &mut out), None);
        channels.release((0, 0));
        assert!(channels.is_held_by((1, 0)));
        channels.release((1, 0));
        let next = channels.next_request(0, at(0), &mut out);
        assert_eq!(next, Some(ChannelRequest::Start { die: 0, is_read: true }));
    }
}

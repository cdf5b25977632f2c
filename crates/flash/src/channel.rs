//! Channels: the bus that dies share, the lines in which they wait for it, and whose turn it is.

use std::collections::VecDeque;

use reprieve_base::event::Schedule;
use reprieve_base::{Archive, Dur, Geometry, Time, parts};
use reprieve_config::ChannelOrder;
use reprieve_observe::check::Checker;
use reprieve_observe::die_events::{DieEvent, Record};
use reprieve_policy::txn::Kind;

use super::FlashEvent;

/// Whether the channel is free for a die that is deciding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// Only if nobody uses it or waits for it.
    Ask,
    /// It is this die's turn.
    Given,
}

/// Why a die waits for the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) enum Wish {
    /// A sensed page is ready to leave.
    Out(u32),
    /// The die wants to begin something; it decides what when it gets the channel.
    Start {
        die: u32,
        /// Whether it wanted a read when it lined up.
        is_read: bool,
    },
}

impl Wish {
    /// The die that waits.
    fn die(self) -> u32 {
        match self {
            Wish::Out(die) | Wish::Start { die, .. } => die,
        }
    }
}

/// The channels of a drive, which of them have to decide, and which dies stand in their lines.
///
/// A die stands in a line of its channel once at most for a read, and once for something else. A
/// channel that is woken decides at the end of the instant.
pub(super) struct Channels {
    buses: Vec<ChannelBus>,
    /// Channels that have to decide.
    touched: Vec<u32>,
    /// Of each die: it stands in the line of reads, of others.
    in_line: Vec<[bool; 2]>,
    /// Reads go before programs; else all in the order in which they came.
    reads_first: bool,
}

impl Channels {
    /// Writes what changes in it, or takes that back.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        for bus in &mut self.buses {
            parts!(archive; bus.free_at, bus.last_from, bus.held_by, bus.waiters, bus.lines);
            parts!(archive; bus.event_pending, bus.dirty, bus.busy_ns);
        }
        parts!(archive; self.touched, self.in_line);
    }

    /// The channels of a drive of this shape, all free.
    pub(super) fn new(geometry: &Geometry, order: ChannelOrder, reads_first: bool) -> Channels {
        let bus = ChannelBus::new(geometry.dies_per_channel, order);
        Channels {
            buses: vec![bus; geometry.channels as usize],
            touched: Vec::with_capacity(geometry.channels as usize),
            in_line: vec![[false; 2]; geometry.dies() as usize],
            reads_first,
        }
    }

    /// Makes a channel decide at the end of this instant.
    #[inline(always)]
    fn wake(&mut self, channel: u32) {
        let bus = &mut self.buses[channel as usize];
        if !std::mem::replace(&mut bus.dirty, true) {
            self.touched.push(channel);
        }
    }

    /// Whether a die has its channel; if not, it stands in line for it afterwards.
    #[inline(always)]
    pub(super) fn has(
        &mut self,
        (die, channel): (u32, u32),
        kind: Kind,
        now: Time,
        grant: Grant,
    ) -> bool {
        let bus = &mut self.buses[channel as usize];
        if grant == Grant::Given || bus.is_available(die, now) {
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

    /// Whether a die stands in line to begin something.
    pub(super) fn has_in_line(&self, die: u32) -> bool {
        self.in_line[die as usize] != [false; 2]
    }

    /// Puts pages of a die in line to leave it.
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

    /// Whether a die has its channel to itself.
    #[inline]
    pub(super) fn is_held_by(&self, (die, channel): (u32, u32)) -> bool {
        self.buses[channel as usize].held_by == Some(die)
    }

    /// A die that has its channel keeps it from now on.
    pub(super) fn hold(&mut self, (die, channel): (u32, u32)) {
        self.buses[channel as usize].held_by = Some(die);
    }

    /// Gives the channel back that a die has kept, if it has.
    pub(super) fn release(&mut self, (die, channel): (u32, u32)) {
        if self.is_held_by((die, channel)) {
            self.buses[channel as usize].held_by = None;
            self.wake(channel);
        }
    }

    /// The last transfer that a channel waited for is over.
    pub(super) fn has_come_free(&mut self, channel: u32) {
        self.buses[channel as usize].event_pending = false;
        self.wake(channel);
    }

    /// A channel that has to decide.
    #[inline(always)]
    pub(super) fn next_touched(&mut self) -> Option<u32> {
        let channel = self.touched.pop()?;
        self.buses[channel as usize].dirty = false;
        Some(channel)
    }

    /// Returns the next user of a channel, if it is free; if it is not, it decides when it is.
    #[inline(always)]
    pub(super) fn next_wish(
        &mut self,
        channel: u32,
        now: Time,
        out: &mut impl Schedule<FlashEvent>,
    ) -> Option<Wish> {
        let bus = &mut self.buses[channel as usize];
        if bus.free_at > now {
            if bus.has_waiters() && !bus.event_pending {
                bus.event_pending = true;
                out.schedule(bus.free_at, FlashEvent::Channel { channel });
            }
            return None;
        }
        let wish = bus.next(self.reads_first);
        if let Some(Wish::Start { die, is_read }) = wish {
            self.in_line[die as usize][usize::from(!is_read)] = false;
        }
        wish
    }

    /// Time until `now` in which each was in use, in nanoseconds.
    pub(super) fn busy_until(&self, now: Time) -> impl Iterator<Item = u64> {
        self.buses.iter().map(move |bus| bus.busy_until(now))
    }

    /// Begins to keep what is done.
    pub(super) fn keep_record(&mut self) {
        self.buses.iter_mut().for_each(|bus| bus.seen.keep());
    }

    /// Tells a checker what was done since the last call.
    pub(super) fn tell(&mut self, checker: &mut Checker) {
        for (channel, bus) in (0..).zip(&mut self.buses) {
            bus.seen.take().for_each(|seen| checker.channel_did(channel, seen));
        }
    }
}

/// The lines for a channel, out of the way of channels that nobody has to wait for.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct WaitingLines {
    /// Commands that go before everything; empty in any other order.
    commands: VecDeque<Wish>,
    /// Pages ready to leave and commands of reads, with their tickets.
    reads: VecDeque<(u64, Wish)>,
    /// Everything else.
    writes: VecDeque<(u64, Wish)>,
    tickets: u64,
    dies: u32,
    /// The die, on this channel, whose turn is next where dies take turns.
    turn: u32,
}

/// One channel. A transfer of no length takes no slot.
#[derive(Clone, Debug)]
struct ChannelBus {
    free_at: Time,
    /// When the last transfer begins or began.
    last_from: Time,
    order: ChannelOrder,
    /// The die that has it to itself while it collects.
    held_by: Option<u32>,
    /// Those who stand in its lines.
    waiters: u32,
    lines: Box<WaitingLines>,
    /// An event at `free_at` is under way.
    event_pending: bool,
    /// On the list of channels that have to decide.
    dirty: bool,
    /// Total time in use.
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

    /// Whether a die that comes now can have the channel without overtaking another.
    #[inline]
    fn is_available(&self, die: u32, now: Time) -> bool {
        self.free_at <= now
            && match self.held_by {
                None => !self.has_waiters(),
                Some(holder) => holder == die && !self.lines.has_wish_of(die),
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

    /// Time until `now` in use.
    fn busy_until(&self, now: Time) -> u64 {
        // The last transfer may be under way, or booked ahead.
        self.busy_ns - self.free_at.ns().saturating_sub(self.last_from.max(now).ns())
    }

    /// A sensed page waits to leave a die.
    fn wait_out(&mut self, die: u32) {
        self.waiters += 1;
        self.lines.wait_out(die);
    }

    /// A die waits to begin an operation, or to send the page of a suspended program again.
    fn wait_start(&mut self, die: u32, kind: Kind) {
        self.waiters += 1;
        self.lines.wait_start(die, kind, self.order);
    }

    /// The next to have the channel, by the order of this channel.
    ///
    /// `reads_first`: reads go before programs; else all in the order in which they came.
    #[inline]
    fn next(&mut self, reads_first: bool) -> Option<Wish> {
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
        Some(next.expect("as many stand in the lines as were counted"))
    }

    /// A die has the channel to begin something; the turn is its neighbour's.
    #[inline]
    fn taken_by(&mut self, die: u32) {
        if self.order == ChannelOrder::DataFirst {
            self.lines.turn = (die + 1) % self.lines.dies;
        }
    }
}

impl WaitingLines {
    fn wait_out(&mut self, die: u32) {
        self.reads.push_back((self.tickets, Wish::Out(die)));
        self.tickets += 1;
    }

    fn wait_start(&mut self, die: u32, kind: Kind, order: ChannelOrder) {
        let wish = Wish::Start { die, is_read: kind.is_read() };
        let is_command = kind.is_read() || kind == Kind::Erase;
        let line = match order {
            ChannelOrder::CommandsFirst if is_command => return self.commands.push_back(wish),
            ChannelOrder::Asked | ChannelOrder::CommandsFirst if kind.is_read() => &mut self.reads,
            _ => &mut self.writes,
        };
        line.push_back((self.tickets, wish));
        self.tickets += 1;
    }

    fn next(&mut self, reads_first: bool, order: ChannelOrder) -> Option<Wish> {
        match order {
            ChannelOrder::CommandsFirst if !self.commands.is_empty() => {
                return self.commands.pop_front();
            }
            ChannelOrder::DataFirst => return self.next_data_first(),
            ChannelOrder::Asked | ChannelOrder::CommandsFirst => {}
        }
        // Mostly only one of them has anybody.
        let line = match (self.reads.is_empty(), self.writes.is_empty()) {
            (true, _) => &mut self.writes,
            (false, true) => &mut self.reads,
            (false, false) if reads_first || self.reads[0].0 < self.writes[0].0 => &mut self.reads,
            (false, false) => &mut self.writes,
        };
        line.pop_front().map(|(_, wish)| wish)
    }

    fn has_wish_of(&self, die: u32) -> bool {
        let (commands, reads) = (self.commands.iter(), self.reads.iter().map(|(_, wish)| wish));
        let writes = self.writes.iter().map(|(_, wish)| wish);
        commands.chain(reads).chain(writes).any(|wish| wish.die() == die)
    }

    /// The next of those of a die, in the order of the channel.
    #[cold]
    fn next_of(&mut self, die: u32, reads_first: bool, order: ChannelOrder) -> Option<Wish> {
        if let Some(place) = self.commands.iter().position(|wish| wish.die() == die) {
            return self.commands.remove(place);
        }
        let first = |line: &VecDeque<(u64, Wish)>| {
            let place = line.iter().position(|(_, wish)| wish.die() == die)?;
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
        line.remove(place).map(|(_, wish)| wish)
    }

    /// Pages that leave in the order in which they came, then dies in turn.
    fn next_data_first(&mut self) -> Option<Wish> {
        if let Some((_, out)) = self.reads.pop_front() {
            return Some(out);
        }
        let dies = self.dies;
        let wait = |wish: &Wish| match wish {
            Wish::Start { die, .. } => (die % dies + dies - self.turn) % dies,
            Wish::Out(_) => panic!("a page that leaves stands in the line of those that begin"),
        };
        let waits = self.writes.iter().map(|(_, wish)| wait(wish)).enumerate();
        let (place, _) = waits.min_by_key(|(_, wait)| *wait)?;
        self.writes.remove(place).map(|(_, wish)| wish)
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
        assert!(channels.has((2, 1), Kind::Program, at(0), Grant::Ask));
        channels.occupy(1, at(0), Dur::from_ns(100));
        for _ in 0..2 {
            assert!(!channels.has((3, 1), Kind::Program, at(10), Grant::Ask));
        }
        assert!(!channels.has((2, 1), Kind::HostRead, at(20), Grant::Ask));
        // Nobody is in the way on the other channel.
        assert!(channels.has((0, 0), Kind::HostRead, at(20), Grant::Ask));
        assert!(channels.has_in_line(3) && !channels.has_in_line(0));
        assert_eq!((channels.next_touched(), channels.next_touched()), (Some(1), None));
        for _ in 0..2 {
            assert_eq!(channels.next_wish(1, at(20), &mut out), None);
        }
        assert_eq!(out.0, [(at(100), FlashEvent::Channel { channel: 1 })]);
        channels.has_come_free(1);
        assert_eq!(channels.next_touched(), Some(1));
        let mut next = || channels.next_wish(1, at(100), &mut out);
        assert_eq!(next(), Some(Wish::Start { die: 2, is_read: true }));
        assert_eq!(next(), Some(Wish::Start { die: 3, is_read: false }));
        assert_eq!(next(), None);
        assert!(!channels.has_in_line(3));
        assert_eq!(channels.busy_until(at(60)).collect::<Vec<_>>(), [0, 60]);
    }

    #[test]
    fn nobody_else_has_a_channel_that_a_die_keeps() {
        let (at, mut out) = (Time::from_ns, Scheduled::default());
        let mut channels = Channels::new(&SHAPE, ChannelOrder::Asked, true);
        channels.hold((1, 0));
        assert!(!channels.has((0, 0), Kind::HostRead, at(0), Grant::Ask));
        assert!(channels.has((1, 0), Kind::GcRead, at(0), Grant::Ask));
        assert_eq!(channels.next_wish(0, at(0), &mut out), None);
        channels.release((0, 0));
        assert!(channels.is_held_by((1, 0)));
        channels.release((1, 0));
        let next = channels.next_wish(0, at(0), &mut out);
        assert_eq!(next, Some(Wish::Start { die: 0, is_read: true }));
    }
}

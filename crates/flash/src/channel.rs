//! A channel: the bus that its dies share, and the lines in which they wait for it.

use std::collections::VecDeque;

use reprieve_base::{Dur, Time};
use reprieve_config::ChannelOrder;
use reprieve_observe::die_events::{DieEvent, Record};
use reprieve_policy::txn::Kind;

/// Whether the channel is free for a die that is deciding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// Only if nobody uses it or waits for it.
    Ask,
    /// It is this die's turn.
    Given,
}

/// Why a die waits for the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// A sensed page is ready to leave.
    Out(u32),
    /// The die wants to begin something; it decides what when it gets the channel.
    Start {
        die: u32,
        /// What it wanted when it lined up was a read.
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

/// The lines for a channel, out of the way of channels that nobody has to wait for.
#[derive(Clone, Debug)]
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
pub(super) struct ChannelBus {
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
    pub(super) event_pending: bool,
    /// On the list of channels that have to decide.
    pub(super) dirty: bool,
    /// Total time in use.
    busy_ns: u64,
    pub(super) seen: Record,
}

impl ChannelBus {
    pub(super) fn new(dies: u32, order: ChannelOrder) -> ChannelBus {
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

    #[inline]
    pub(super) fn free_at(&self) -> Time {
        self.free_at
    }

    /// Whether a die that comes now can have the channel without overtaking another.
    #[inline]
    pub(super) fn is_available(&self, die: u32, now: Time) -> bool {
        self.free_at <= now
            && match self.held_by {
                None => !self.has_waiters(),
                Some(holder) => holder == die && !self.lines.has_wish_of(die),
            }
    }

    /// Whether a die has the channel to itself.
    #[inline]
    pub(super) fn is_held_by(&self, die: u32) -> bool {
        self.held_by == Some(die)
    }

    /// A die has the channel to itself from now on, or no longer.
    pub(super) fn set_holder(&mut self, die: Option<u32>) {
        self.held_by = die;
    }

    #[inline]
    pub(super) fn has_waiters(&self) -> bool {
        self.waiters > 0
    }

    /// Occupies the channel from `from` for `length`.
    #[inline]
    pub(super) fn occupy(&mut self, from: Time, length: Dur) {
        debug_assert!(from >= self.free_at, "two transfers overlap on a channel");
        self.free_at = from + length;
        self.seen.note(DieEvent::Transfer(from, self.free_at));
        self.last_from = from;
        self.busy_ns += length.ns();
    }

    /// Time until `now` in use.
    pub(super) fn busy_until(&self, now: Time) -> u64 {
        // The last transfer may be under way, or booked ahead.
        self.busy_ns - self.free_at.ns().saturating_sub(self.last_from.max(now).ns())
    }

    /// A sensed page waits to leave a die.
    pub(super) fn wait_out(&mut self, die: u32) {
        self.waiters += 1;
        self.lines.wait_out(die);
    }

    /// A die waits to begin an operation, or to send the page of a suspended program again.
    pub(super) fn wait_start(&mut self, die: u32, kind: Kind) {
        self.waiters += 1;
        self.lines.wait_start(die, kind, self.order);
    }

    /// The next to have the channel, by the order of this channel.
    ///
    /// `reads_first`: reads go before programs; else all in the order in which they came.
    #[inline]
    pub(super) fn next(&mut self, reads_first: bool) -> Option<Wish> {
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
    pub(super) fn taken_by(&mut self, die: u32) {
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
        if let Some(command) = self.commands.pop_front() {
            return Some(command);
        }
        if order == ChannelOrder::DataFirst {
            return self.next_data_first();
        }
        let from_reads = match (self.reads.front(), self.writes.front()) {
            (Some(_), None) => true,
            (Some((read, _)), Some((write, _))) => reads_first || read < write,
            (None, _) => false,
        };
        let line = if from_reads { &mut self.reads } else { &mut self.writes };
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

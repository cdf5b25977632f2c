//! What is on its way between host and drive, in lines that are in order of time.

use std::collections::VecDeque;

use reprieve_base::Time;
use reprieve_base::event::Orders;

/// What a message is, when it has come; of four bytes, so that a message is copied in whole words.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub(super) enum What {
    /// A doorbell: a request is in its submission queue.
    Doorbell,
    /// The drive has turned to a command of a submission queue.
    Fetched,
    /// The drive asks the host for a command.
    CommandRequest,
    /// A command.
    Command,
    /// The drive asks the host for the data of a write.
    DataRequest,
    /// The data of a write.
    Data,
    /// All of a request, on a link that keeps requests in order.
    Whole,
    /// The last that a request sends to the host.
    Answer,
}

/// A message about a request, and when it has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) at: Time,
    /// Order of sending, which decides among messages and events of one instant.
    pub(super) order: u64,
    pub(super) what: What,
    pub(super) request: u32,
}

/// A line of messages; the first is kept apart from the others, as it is looked at most often.
#[derive(Clone, Debug)]
struct MessageLine {
    /// Its time is `NEVER` in a line that is empty.
    first: Message,
    others: VecDeque<Message>,
}

const NOTHING: Message =
    Message { at: Time::NEVER, order: u64::MAX, what: What::Answer, request: 0 };

impl MessageLine {
    fn with_capacity(capacity: usize) -> MessageLine {
        MessageLine { first: NOTHING, others: VecDeque::with_capacity(capacity) }
    }

    #[inline(always)]
    fn push(&mut self, message: Message) {
        if self.first.at == Time::NEVER {
            self.first = message;
        } else {
            self.others.push_back(message);
        }
    }

    /// Adds one that may come before others: what sends no data does not wait behind data.
    #[inline]
    fn insert(&mut self, message: Message) {
        if message.at < self.first.at {
            let first = std::mem::replace(&mut self.first, message);
            if first.at < Time::NEVER {
                self.others.push_front(first);
            }
            return;
        }
        let later = self.others.iter().rev().take_while(|other| other.at > message.at).count();
        self.others.insert(self.others.len() - later, message);
    }

    #[inline(always)]
    fn pop(&mut self) -> Message {
        let next = if self.others.is_empty() { None } else { self.others.pop_front() };
        std::mem::replace(&mut self.first, next.unwrap_or(NOTHING))
    }
}

/// The lines, by number. A command that the drive has turned to stands in a line of its own: one
/// at a time is fetched.
const TO_DRIVE: usize = 0;
const TO_HOST: usize = 1;
const FETCH: usize = 2;
const ANSWERS: usize = 3;
const LINES: usize = 4;

/// All messages. A direction of the link is first in, first out, so that a line needs no sorting.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    lines: [MessageLine; LINES],
    /// When the next of all comes, and its order; `NEVER` without one.
    next: NextMessage,
    /// Its line.
    line: usize,
}

/// When a message comes, and its order among those of the instant.
#[derive(Clone, Copy, Debug)]
struct NextMessage {
    at: Time,
    order: u64,
}

impl NextMessage {
    /// Both in one number: compared without a branch.
    #[inline(always)]
    fn number(self) -> u128 {
        u128::from(self.at.ns()) << 64 | u128::from(self.order)
    }

    #[inline(always)]
    fn is_before(self, other: NextMessage) -> bool {
        self.number() < other.number()
    }
}

impl Messages {
    pub(super) fn new() -> Messages {
        Messages {
            lines: [1024, 1024, 0, 1024].map(MessageLine::with_capacity),
            next: NextMessage { at: Time::NEVER, order: u64::MAX },
            line: ANSWERS,
        }
    }

    /// When the next message comes; `NEVER` if none does.
    #[inline(always)]
    pub(super) fn next_time(&self) -> Time {
        self.next.at
    }

    /// When that was sent, in one order with the events of the drive.
    #[inline]
    pub(super) fn next_order(&self) -> u64 {
        self.next.order
    }

    /// A message to the drive, or to the host, that will have come `at` this instant.
    #[inline(always)]
    pub(super) fn send(&mut self, at: Time, what: What, request: u32, orders: &mut Orders) {
        let message = Message { at, order: orders.take(), what, request };
        let line = match what {
            What::CommandRequest | What::DataRequest => TO_HOST,
            What::Answer => ANSWERS,
            What::Fetched => FETCH,
            What::Doorbell | What::Command | What::Data | What::Whole => TO_DRIVE,
        };
        if line == ANSWERS {
            self.lines[line].insert(message);
        } else {
            self.lines[line].push(message);
        }
        debug_assert!(self.lines[FETCH].others.is_empty(), "two commands are fetched at once");
        // What was sent later comes later among equals.
        if at < self.next.at {
            self.next = NextMessage { at, order: message.order };
            self.line = line;
        }
    }

    /// Whether the next message is one that the drive has something to do for.
    #[inline(always)]
    pub(super) fn gives_work(&self) -> bool {
        match self.line {
            ANSWERS => true,
            TO_DRIVE => !matches!(self.lines[TO_DRIVE].first.what, What::Doorbell),
            _ => false,
        }
    }

    /// Takes the next message.
    #[inline(always)]
    pub(super) fn take(&mut self) -> Message {
        let message = self.lines[self.line].pop();
        debug_assert!(message.at < Time::NEVER, "a message is next");
        self.find_next();
        message
    }

    #[inline(always)]
    fn find_next(&mut self) {
        let turn = |line: usize| {
            let Message { at, order, .. } = self.lines[line].first;
            NextMessage { at, order }
        };
        let mut next = (turn(0), 0);
        for line in 1..LINES {
            let other = turn(line);
            next = if other.is_before(next.0) { (other, line) } else { next };
        }
        (self.next, self.line) = next;
    }

    /// Forgets everything: nothing comes from the host any more, and nothing goes there.
    pub(super) fn clear(&mut self) {
        *self = Messages::new();
    }
}

//! Messages between host and drive, in queues ordered by time.

use std::collections::VecDeque;

use reprieve_base::Time;
use reprieve_base::event::Orders;

/// Kinds of messages; of four bytes, so that a message is copied in whole words.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) enum What {
    /// A doorbell: a request is in its submission queue.
    Doorbell,
    /// The drive starts to fetch a command of a submission queue.
    Fetched,
    /// The drive reads a command from host memory.
    CommandRequest,
    /// A command.
    Command,
    /// The drive reads the data of a write from host memory.
    DataRequest,
    /// The data of a write.
    Data,
    /// All of a request, on a link that keeps requests in order.
    Whole,
    /// The last data of a request to the host, or its completion.
    Answer,
}

/// A message about a request, and its arrival.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Message {
    pub(super) at: Time,
    /// Order of sending, shared with events of the drive, within an instant.
    pub(super) order: u64,
    pub(super) what: What,
    pub(super) request: u32,
}

const NOTHING: Message =
    Message { at: Time::NEVER, order: u64::MAX, what: What::Answer, request: 0 };

impl Message {
    #[inline(always)]
    fn is_before(&self, other: &Message) -> bool {
        (self.at, self.order) < (other.at, other.order)
    }
}

/// Queues by number. A command that the drive fetches has a queue of its own, as one at a time is
/// fetched.
const TO_DRIVE: usize = 0;
const TO_HOST: usize = 1;
const FETCH: usize = 2;
const ANSWERS: usize = 3;
const LINES: usize = 4;

impl What {
    /// Returns the queue of such messages.
    fn line(self) -> usize {
        match self {
            What::CommandRequest | What::DataRequest => TO_HOST,
            What::Answer => ANSWERS,
            What::Fetched => FETCH,
            What::Doorbell | What::Command | What::Data | What::Whole => TO_DRIVE,
        }
    }
}

/// All messages. Each direction of the link is first in, first out, so that its queue is sorted.
///
/// The next message, usually the only one, is kept outside the queues.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Messages {
    /// The next message; its time is `NEVER` if there is none.
    next: Message,
    lines: [VecDeque<Message>; LINES],
    /// Messages in the queues.
    behind: usize,
}

impl Messages {
    pub(super) fn new() -> Messages {
        let lines = [1024, 1024, 1, 1024].map(VecDeque::with_capacity);
        Messages { next: NOTHING, lines, behind: 0 }
    }

    /// Returns when the next message arrives; `NEVER` if none does.
    #[inline(always)]
    pub(super) fn next_time(&self) -> Time {
        self.next.at
    }

    /// Returns the order of the next message, shared with events of the drive.
    #[inline]
    pub(super) fn next_order(&self) -> u64 {
        self.next.order
    }

    /// Sends a message that arrives `at` this instant.
    #[inline(always)]
    pub(super) fn send(&mut self, at: Time, what: What, request: u32, orders: &mut Orders) {
        let order = orders.take();
        // Messages of one instant arrive in the order of sending.
        if at >= self.next.at {
            return self.wait(at, order, what, request);
        }
        if self.next.at < Time::NEVER {
            self.wait_first();
        }
        self.next = Message { at, order, what, request };
    }

    /// Queues a message; an answer without data passes data.
    #[inline(never)]
    fn wait(&mut self, at: Time, order: u64, what: What, request: u32) {
        let message = Message { at, order, what, request };
        let line = &mut self.lines[message.what.line()];
        let later = match message.what {
            What::Answer => line.iter().rev().take_while(|other| other.at > message.at).count(),
            _ => 0,
        };
        match later {
            0 => line.push_back(message),
            later => line.insert(line.len() - later, message),
        }
        self.behind += 1;
        self.check_fetch();
    }

    /// Returns the next message to the head of its queue, as another precedes it.
    #[inline(never)]
    fn wait_first(&mut self) {
        self.lines[self.next.what.line()].push_front(self.next);
        self.next = NOTHING;
        self.behind += 1;
        self.check_fetch();
    }

    fn check_fetch(&self) {
        let next = usize::from(matches!(self.next.what, What::Fetched));
        debug_assert!(self.lines[FETCH].len() + next <= 1, "two commands are fetched at once");
    }

    /// Whether the next message gives the drive work.
    #[inline(always)]
    pub(super) fn gives_work(&self) -> bool {
        match self.next.what {
            What::Command | What::Data | What::Whole | What::Answer => true,
            What::Doorbell | What::Fetched | What::CommandRequest | What::DataRequest => false,
        }
    }

    /// Removes the next message; returns it and its request.
    #[inline(always)]
    pub(super) fn take(&mut self) -> (What, u32) {
        debug_assert!(self.next.at < Time::NEVER, "a message is next");
        let Message { what, request, .. } = self.next;
        match self.behind {
            0 => self.next.at = Time::NEVER,
            _ => self.take_from_lines(),
        }
        (what, request)
    }

    /// Takes the first of the queued messages as the next one.
    #[inline(never)]
    fn take_from_lines(&mut self) {
        let mut first = (&NOTHING, ANSWERS);
        for (number, line) in self.lines.iter().enumerate() {
            if let Some(message) = line.front().filter(|message| message.is_before(first.0)) {
                first = (message, number);
            }
        }
        self.next = *first.0;
        self.behind -= 1;
        self.lines[first.1].pop_front();
    }

    /// Drops all messages.
    pub(super) fn clear(&mut self) {
        *self = Messages::new();
    }
}

//! What is on its way between host and drive, in lines that are in order of time.

use std::collections::VecDeque;

use reprieve_base::Time;

use crate::event::Orders;

/// What a message is, when it has come.
#[derive(Clone, Copy, Debug)]
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

/// The line in which something is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageLine {
    ToDrive,
    ToHost,
    Fetch,
    Answers,
}

/// All messages. A direction of the link is first in, first out, so that a line needs no sorting.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    to_drive: VecDeque<Message>,
    to_host: VecDeque<Message>,
    /// The command that is being fetched: one at a time.
    fetch: Option<Message>,
    answers: VecDeque<Message>,
    /// When the next of all comes, its order, and its line; `NEVER` without one.
    next: (Time, u64, MessageLine),
}

const NOTHING: (Time, u64, MessageLine) = (Time::NEVER, u64::MAX, MessageLine::Answers);

impl Messages {
    pub(super) fn new() -> Messages {
        Messages {
            to_drive: VecDeque::with_capacity(1024),
            to_host: VecDeque::with_capacity(1024),
            fetch: None,
            answers: VecDeque::with_capacity(1024),
            next: NOTHING,
        }
    }

    /// When the next message comes; `NEVER` if none does.
    #[inline(always)]
    pub(super) fn next_time(&self) -> Time {
        self.next.0
    }

    /// When that was sent, in one order with the events of the drive.
    #[inline]
    pub(super) fn next_order(&self) -> u64 {
        self.next.1
    }

    /// A message to the drive, or to the host, that will have come `at` this instant.
    #[inline]
    pub(super) fn send(&mut self, at: Time, what: What, request: u32, orders: &mut Orders) {
        let message = Message { at, order: orders.take(), what, request };
        let line = match what {
            What::CommandRequest | What::DataRequest => {
                self.to_host.push_back(message);
                MessageLine::ToHost
            }
            What::Answer => {
                // What sends no data does not wait behind data: it may be told before.
                let later = self.answers.iter().rev().take_while(|other| other.at > at).count();
                self.answers.insert(self.answers.len() - later, message);
                MessageLine::Answers
            }
            What::Fetched => {
                debug_assert!(self.fetch.is_none(), "two commands are fetched at once");
                self.fetch = Some(message);
                MessageLine::Fetch
            }
            What::Doorbell | What::Command | What::Data | What::Whole => {
                self.to_drive.push_back(message);
                MessageLine::ToDrive
            }
        };
        // What was sent later comes later among equals.
        if at < self.next.0 {
            self.next = (at, message.order, line);
        }
    }

    /// Whether the next message is one that the drive has something to do for.
    #[inline]
    pub(super) fn gives_work(&self) -> bool {
        match self.next.2 {
            MessageLine::Answers => true,
            MessageLine::ToHost | MessageLine::Fetch => false,
            MessageLine::ToDrive => {
                let first = self.to_drive.front().expect("a message is next");
                !matches!(first.what, What::Doorbell)
            }
        }
    }

    /// Takes the next message.
    #[inline]
    pub(super) fn take(&mut self) -> Message {
        let message = match self.next.2 {
            MessageLine::ToDrive => self.to_drive.pop_front(),
            MessageLine::ToHost => self.to_host.pop_front(),
            MessageLine::Fetch => self.fetch.take(),
            MessageLine::Answers => self.answers.pop_front(),
        };
        self.find_next();
        message.expect("a message is next")
    }

    #[inline]
    fn find_next(&mut self) {
        let mut next = NOTHING;
        let mut look = |at: Time, order: u64, line: MessageLine| {
            if (at, order) < (next.0, next.1) {
                next = (at, order, line);
            }
        };
        if let Some(first) = self.to_drive.front() {
            look(first.at, first.order, MessageLine::ToDrive);
        }
        if let Some(first) = self.to_host.front() {
            look(first.at, first.order, MessageLine::ToHost);
        }
        if let Some(first) = &self.fetch {
            look(first.at, first.order, MessageLine::Fetch);
        }
        if let Some(first) = self.answers.front() {
            look(first.at, first.order, MessageLine::Answers);
        }
        self.next = next;
    }

    /// Forgets everything: nothing comes from the host any more, and nothing goes there.
    pub(super) fn clear(&mut self) {
        *self = Messages::new();
    }
}

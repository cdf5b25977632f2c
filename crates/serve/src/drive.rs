//! The model and its clock: requests in at their arrival, answers out when they are due.

use std::collections::VecDeque;

use reprieve_base::{Dur, Request, Time, UserError};
use reprieve_ssd::Ssd;
use reprieve_ssd::stats::LogBatch;

use crate::admission::Load;
use crate::clock::{Clock, Wall};
use crate::recorder::Recorder;
use crate::slots::Key;

/// A request of the model that is complete.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// The command that it belongs to.
    pub command: Key,
    /// What the model had of it.
    pub load: Load,
    pub arrival: Time,
    pub completion: Time,
    /// Pages of it that nothing corrected.
    pub uncorrectable_pages: u64,
}

/// A drive whose time is that of the wall.
pub struct Drive {
    pub ssd: Ssd,
    pub clock: Clock,
    pub recorder: Option<Recorder>,
    /// The commands of the requests that are open, and what those are, from number `first` on;
    /// `None`: complete.
    open: VecDeque<Option<(Key, Load)>>,
    first: u64,
    log: LogBatch,
}

impl Drive {
    pub fn new(ssd: Ssd, clock: Clock, recorder: Option<Recorder>) -> Drive {
        Drive { ssd, clock, recorder, open: VecDeque::new(), first: 0, log: LogBatch::default() }
    }

    /// Hands a request to the model, now, and returns its number; the arrival given is not used.
    pub fn submit(&mut self, request: Request, command: Key) -> Result<u64, UserError> {
        let now = self.clock.now();
        self.clock.scale.start(now);
        let mut arrival = self.clock.scale.model(now);
        if self.first > 0 || !self.open.is_empty() {
            // The model has decided about the last instant: what comes in it comes in the next.
            arrival = arrival.max(self.ssd.now() + Dur::from_ns(1));
        }
        let number = self.ssd.submit(Request { arrival, ..request })?;
        if let Some(recorder) = &mut self.recorder {
            recorder.arrived(number, &Request { arrival, ..request });
        }
        assert_eq!(number, self.first + self.open.len() as u64, "numbers follow each other");
        self.open.push_back(Some((command, Load::of(&request))));
        Ok(number)
    }

    /// Lets the model come to the present.
    pub fn advance(&mut self) -> Result<(), UserError> {
        if !self.clock.scale.runs() {
            return Ok(());
        }
        let now = self.clock.scale.model(self.clock.now());
        self.ssd.advance(now)
    }

    /// When the model next wants to be looked at; `None`: not before a request comes.
    pub fn next_due(&self) -> Option<Wall> {
        let next = self.ssd.next_instant();
        (self.clock.scale.runs() && next != Time::NEVER).then(|| self.clock.scale.wall(next))
    }

    /// Appends what was completed since the last call.
    pub fn take_done(&mut self, done: &mut Vec<Done>) {
        self.ssd.take_completed(&mut self.log);
        for index in 0..self.log.id.len() {
            let number = self.log.id[index] as u64;
            let completion = Time::from_ns(self.log.completion_ns[index] as u64);
            if let Some(recorder) = &mut self.recorder {
                recorder.completed(number, completion);
            }
            let place = (number - self.first) as usize;
            let (command, load) = self.open[place].take().expect("a request completes once");
            done.push(Done {
                command,
                load,
                arrival: Time::from_ns(self.log.arrival_ns[index] as u64),
                completion,
                uncorrectable_pages: self.log.uncorrectable_pages[index] as u64,
            });
        }
        while self.open.front() == Some(&None) {
            self.open.pop_front();
            self.first += 1;
        }
    }

    /// Tells the recorder, if there is one, that requests were answered.
    pub fn answered(&mut self, numbers: &[u64], at: Wall) {
        let Some(recorder) = &mut self.recorder else { return };
        for number in numbers {
            recorder.answered(*number, Some(self.clock.scale.model(at)));
        }
    }

    /// The same of a client that has gone.
    pub fn unanswered(&mut self, numbers: &[u64]) {
        let Some(recorder) = &mut self.recorder else { return };
        for number in numbers {
            recorder.answered(*number, None);
        }
    }
}

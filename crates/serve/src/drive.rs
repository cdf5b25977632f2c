//! The model and its clock: submits requests at their arrival, reports completions when due.

use std::collections::VecDeque;

use reprieve_base::{Dur, Request, Time, UserError};
use reprieve_ssd::Ssd;
use reprieve_ssd::stats::LogBatch;

use crate::admission::Load;
use crate::clock::{Clock, Wall};
use crate::recorder::Recorder;
use crate::slots::Key;

/// A completed request of the model.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// The command that it belongs to.
    pub command: Key,
    /// Its load in the model.
    pub load: Load,
    pub arrival: Time,
    pub completion: Time,
    /// Its pages that error correction could not restore.
    pub uncorrectable_pages: u64,
}

/// A drive that runs in real time.
pub struct Drive {
    pub ssd: Ssd,
    pub clock: Clock,
    pub recorder: Option<Recorder>,
    /// Commands and loads of the open requests, from number `first` on; `None`: complete.
    open: VecDeque<Option<(Key, Load)>>,
    first: u64,
    log: LogBatch,
}

impl Drive {
    pub fn new(ssd: Ssd, clock: Clock, recorder: Option<Recorder>) -> Drive {
        Drive { ssd, clock, recorder, open: VecDeque::new(), first: 0, log: LogBatch::default() }
    }

    /// Submits a request to the model now, and returns its number; its arrival is ignored.
    pub fn submit(&mut self, request: Request, command: Key) -> Result<u64, UserError> {
        let now = self.clock.now();
        self.clock.scale.start(now);
        let mut arrival = self.clock.scale.model(now);
        if self.first > 0 || !self.open.is_empty() {
            // The model has simulated the last instant: a request in it arrives in the next.
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

    /// Simulates up to the present.
    pub fn advance(&mut self) -> Result<(), UserError> {
        if !self.clock.scale.runs() {
            return Ok(());
        }
        let now = self.clock.scale.model(self.clock.now());
        self.ssd.advance(now)
    }

    /// The time of the model's next event; `None`: not before a request arrives.
    pub fn next_due(&self) -> Option<Wall> {
        let next = self.ssd.next_instant();
        (self.clock.scale.runs() && next != Time::NEVER).then(|| self.clock.scale.wall(next))
    }

    /// Appends the completions since the last call.
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

    /// Informs the recorder, if there is one, that requests were answered.
    pub fn answered(&mut self, numbers: &[u64], at: Wall) {
        let Some(recorder) = &mut self.recorder else { return };
        for number in numbers {
            recorder.answered(*number, Some(self.clock.scale.model(at)));
        }
    }

    /// Informs the recorder that a client left before its answers.
    pub fn unanswered(&mut self, numbers: &[u64]) {
        let Some(recorder) = &mut self.recorder else { return };
        for number in numbers {
            recorder.answered(*number, None);
        }
    }
}

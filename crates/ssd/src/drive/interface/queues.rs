//! Submission queues: requests wait in them until the drive fetches them, one at a time.

use reprieve_base::{Archive, Dur, parts};
use reprieve_config::{Host, Interface, Nvme};
use reprieve_policy::arbitrate::{self, Arbiter, QueueView};
use reprieve_policy::txn::NONE;

use super::HostRequests;

/// Commands that NCQ has tags for (Serial ATA Revision 3.0, section 13.6).
const NCQ_COMMANDS: u32 = 32;

/// One submission queue: its requests, oldest first, and those that the drive has fetched.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct SubmissionQueue {
    first: u32,
    last: u32,
    fetched: u32,
    /// The number of the first of them, in order of arrival.
    oldest: u64,
}

/// The queues, without their arbiter.
#[derive(serde::Serialize, serde::Deserialize)]
struct QueueLines {
    queues: Vec<SubmissionQueue>,
    /// One bit for each queue that has a request which may be fetched.
    ready: Vec<u64>,
    /// Bits that are set.
    ready_count: u32,
    /// Limit for the fetched and uncompleted requests of a queue.
    entries: u32,
}

/// The queues between host and drive.
pub(in crate::drive) struct HostQueues {
    lines: QueueLines,
    arbiter: Box<dyn Arbiter>,
    /// Limit for the fetched and uncompleted requests of all queues.
    outstanding_max: u32,
    outstanding: u32,
    /// Time to fetch a command.
    pub(super) command: Dur,
    /// A command is being fetched.
    pub(super) is_fetching: bool,
    /// Requests whose doorbells are on the link.
    pub(super) ringing: u32,
}

impl HostQueues {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.lines, self.outstanding, self.is_fetching, self.ringing);
        self.arbiter.archive(archive);
    }

    /// Creates the queues of a scenario; `None` if requests go straight to the drive.
    pub(super) fn of(host: &Host) -> Option<HostQueues> {
        let one = Nvme::one_queue(NCQ_COMMANDS);
        let nvme = match &host.interface {
            Interface::Direct => return None,
            Interface::Sata => &one,
            Interface::Nvme(nvme) => nvme,
        };
        let empty = SubmissionQueue { first: NONE, last: NONE, fetched: 0, oldest: 0 };
        Some(HostQueues {
            lines: QueueLines {
                queues: vec![empty; nvme.queues as usize],
                ready: vec![0; nvme.queues.div_ceil(64) as usize],
                ready_count: 0,
                entries: nvme.queue_entries,
            },
            arbiter: arbitrate::make(nvme),
            outstanding_max: nvme.outstanding.unwrap_or(u32::MAX),
            outstanding: 0,
            command: host.command,
            is_fetching: false,
            ringing: 0,
        })
    }

    /// Returns the number of queues.
    pub(super) fn count(&self) -> u32 {
        self.lines.queues()
    }

    /// Queues a request.
    #[inline(always)]
    pub(super) fn push(&mut self, id: u32, requests: &mut HostRequests) {
        let number = requests[id].queue;
        let queue = &mut self.lines.queues[number as usize];
        let last = std::mem::replace(&mut queue.last, id);
        if last != NONE {
            requests[last].next = id;
            return;
        }
        (queue.first, queue.oldest) = (id, requests[id].id);
        self.lines.look_at(number);
    }

    /// Whether the drive may fetch a request now.
    #[inline(always)]
    pub(super) fn may_fetch(&self) -> bool {
        let is_free = !self.is_fetching && self.outstanding < self.outstanding_max;
        self.lines.ready_count > 0 && is_free
    }

    /// Fetches a request, if the drive may.
    #[inline(always)]
    pub(super) fn fetch(&mut self, requests: &HostRequests) -> Option<u32> {
        if !self.may_fetch() {
            return None;
        }
        // One queue needs no arbitration.
        let number = match self.lines.queues.len() {
            1 => 0,
            _ => self.arbiter.pick(&self.lines)?,
        };
        let queue = &mut self.lines.queues[number as usize];
        let id = queue.first;
        queue.first = requests[id].next;
        match queue.first {
            NONE => queue.last = NONE,
            next => queue.oldest = requests[next].id,
        }
        queue.fetched += 1;
        self.outstanding += 1;
        self.is_fetching = self.command > Dur::ZERO;
        if queue.first == NONE || queue.fetched == self.lines.entries {
            self.lines.look_at(number);
        }
        Some(id)
    }

    /// Counts a completed request of this queue.
    pub(super) fn answered(&mut self, number: u32) {
        let queue = &mut self.lines.queues[number as usize];
        queue.fetched -= 1;
        self.outstanding -= 1;
        if queue.fetched + 1 == self.lines.entries {
            self.lines.look_at(number);
        }
    }
}

impl HostQueues {
    /// Checks the queues against the open requests and the limits.
    pub(super) fn verify(&self, requests: &HostRequests) -> Result<(), String> {
        let (mut waiting, mut fetched) = (0, 0);
        for (number, queue) in (0..).zip(&self.lines.queues) {
            let mut next = queue.first;
            while next != NONE {
                waiting += 1;
                next = requests[next].next;
            }
            fetched += queue.fetched;
            let may = queue.first != NONE && queue.fetched < self.lines.entries;
            let is_ready = self.lines.next_ready(number) == Some(number);
            if queue.fetched > self.lines.entries || may != is_ready {
                return Err(format!(
                    "queue {number} may be fetched from: {may}, and is: {is_ready}; {} of {} \
                     commands are fetched",
                    queue.fetched, self.lines.entries
                ));
            }
        }
        if fetched != self.outstanding || fetched > self.outstanding_max {
            return Err(format!(
                "{fetched} commands are outstanding in the queues and {} in all, and {} may be",
                self.outstanding, self.outstanding_max
            ));
        }
        if (waiting + fetched + self.ringing) as usize != requests.len() {
            let (open, waiting) = (requests.len(), waiting + self.ringing);
            return Err(format!("{waiting} wait, {fetched} are outstanding, {open} are open"));
        }
        Ok(())
    }

    /// Counts a command as outstanding that is not.
    #[cfg(test)]
    pub(in crate::drive) fn count_one_more(&mut self) {
        self.outstanding += 1;
    }

    /// Drops the requests that wait in a queue.
    #[cfg(test)]
    pub(in crate::drive) fn lose_requests(&mut self) {
        let waits = |queue: &&mut SubmissionQueue| queue.first != NONE;
        let queue = self.lines.queues.iter_mut().find(waits).expect("requests wait");
        (queue.first, queue.last) = (NONE, NONE);
        self.lines.ready.fill(0);
        self.lines.ready_count = 0;
    }

    /// Inverts the mark of a queue from which the drive may fetch.
    #[cfg(test)]
    pub(in crate::drive) fn mix_up(&mut self) {
        self.lines.ready[0] ^= 1;
    }
}

impl QueueLines {
    /// Updates the bit of a queue that has changed.
    #[inline]
    fn look_at(&mut self, number: u32) {
        let queue = &self.queues[number as usize];
        let is_ready = queue.first != NONE && queue.fetched < self.entries;
        let (word, bit) = (&mut self.ready[number as usize / 64], 1 << (number % 64));
        if is_ready != (*word & bit != 0) {
            *word ^= bit;
            self.ready_count = self.ready_count + u32::from(is_ready) - u32::from(!is_ready);
        }
    }
}

impl QueueView for QueueLines {
    fn queues(&self) -> u32 {
        self.queues.len() as u32
    }

    fn next_ready(&self, from: u32) -> Option<u32> {
        let first = from as usize / 64;
        let mut mask = u64::MAX << (from % 64);
        for (index, word) in self.ready.iter().enumerate().skip(first) {
            let rest = word & mask;
            if rest != 0 {
                return Some(index as u32 * 64 + rest.trailing_zeros());
            }
            mask = u64::MAX;
        }
        None
    }

    fn oldest(&self, queue: u32) -> u64 {
        self.queues[queue as usize].oldest
    }
}

//! Slacker (Elyasi et al., ASPLOS 2017): an operation with slack yields to others.

use reprieve_base::{Archive, Dur, Entry, Time};

use super::{Dispatcher, DriveView, Queued, waiting};

pub(super) const ENTRY: Entry = Entry {
    name: "slacker",
    doc: "a page operation passes those before it that can wait so long, because another page of \
          their request takes longer",
};

/// An operation in its die's order of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Entered {
    order: u64,
    id: u32,
    slack: Dur,
}

/// An operation that has arrived at this instant.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    queued: Queued,
    die: u32,
    /// Its estimated completion at its place in the queue.
    estimate: Time,
}

/// The policy: the order of each die's reads and programs.
#[derive(Default)]
pub(super) struct Slacker {
    /// By die: the reads, then the programs.
    lines: Vec<[Vec<Entered>; 2]>,
    arrived: Vec<Arrived>,
    waiting: Vec<Queued>,
}

impl Slacker {
    /// Removes served operations from a queue, and lists new ones.
    fn look(&mut self, die: u32, reads: bool, drive: &dyn DriveView) {
        waiting(drive, die, reads, &mut self.waiting);
        let line = &mut self.lines[die as usize][usize::from(!reads)];
        let find =
            |order: u64| self.waiting.binary_search_by_key(&order, |queued| queued.order).is_ok();
        line.retain(|entered| find(entered.order));
        let service = drive.service();
        let own = if reads { service.read } else { service.program };
        let entered = line.len() as u64;
        // Operations after the last one in the queue are new.
        let newest = line.iter().map(|entered| entered.order).max();
        let behind_reads = if reads { 0 } else { self.lines[die as usize][0].len() as u64 };
        let start = drive.busy_until(die).max(drive.now()) + service.read * behind_reads;
        let new = self.waiting.iter().filter(|queued| newest.is_none_or(|at| queued.order > at));
        for (ahead, queued) in (entered..).zip(new) {
            let estimate = start + own * (ahead + 1);
            self.arrived.push(Arrived { queued: *queued, die, estimate });
        }
    }

    /// Inserts new operations into the queues, each before those with enough slack.
    fn enter(&mut self, drive: &dyn DriveView) {
        let service = drive.service();
        self.arrived.sort_unstable_by_key(|arrived| arrived.queued.order);
        for index in 0..self.arrived.len() {
            let Arrived { queued, die, estimate } = self.arrived[index];
            let of_request = |other: &&Arrived| other.queued.request == queued.request;
            let others = self.arrived.iter().filter(of_request);
            let critical = match queued.request {
                None => estimate,
                Some(_) => others.map(|other| other.estimate).max().unwrap_or(estimate),
            };
            let own = if queued.is_read { service.read } else { service.program };
            let line = &mut self.lines[die as usize][usize::from(!queued.is_read)];
            let slack = critical - estimate;
            let mut at = line.len();
            while at > 0 && line[at - 1].slack >= own && slack < line[at - 1].slack {
                line[at - 1].slack = line[at - 1].slack.saturating_sub(own);
                at -= 1;
            }
            line.insert(at, Entered { order: queued.order, id: queued.id, slack });
        }
        self.arrived.clear();
    }
}

impl Dispatcher for Slacker {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.lines);
    }

    fn places(&self) -> bool {
        false
    }

    fn visit(&mut self, dies: &mut [u32], drive: &dyn DriveView) {
        let count = drive.geometry().dies() as usize;
        self.lines.resize_with(count, Default::default);
        for die in dies {
            [true, false].into_iter().for_each(|reads| self.look(*die, reads, drive));
        }
        self.enter(drive);
    }

    fn head(&mut self, die: u32, reads: bool, _: &dyn DriveView) -> Option<u32> {
        self.lines[die as usize][usize::from(!reads)].first().map(|entered| entered.id)
    }
}

//! Arbitration: from which submission queue the drive fetches the next command.

mod arrival_order;
mod round_robin;
mod strict_priority;
mod weighted;
mod weighted_classes;

use reprieve_base::{Archive, Entry};
use reprieve_config::Nvme;

/// View of the submission queues for an arbiter.
pub trait QueueView {
    /// Number of queues, with or without a command.
    fn queues(&self) -> u32;

    /// The first queue from `from` on that has a command which may be fetched now.
    fn next_ready(&self, from: u32) -> Option<u32>;

    /// The number, in order of arrival over all queues, of the oldest command of a ready queue.
    fn oldest(&self, queue: u32) -> u64;
}

/// An arbitration.
pub trait Arbiter: Send {
    /// Saves or restores its state, if it has any.
    fn archive(&mut self, _archive: &mut Archive) {}

    /// Returns the queue whose oldest command is fetched next; `None`: none is ready.
    ///
    /// The caller fetches it.
    fn pick(&mut self, queues: &dyn QueueView) -> Option<u32>;
}

type MakeArbiter = fn(&Nvme) -> Box<dyn Arbiter>;

/// The registry: name, sentence, maker.
const ARBITERS: &[(Entry, MakeArbiter)] = &[
    (round_robin::ENTRY, |nvme| Box::new(round_robin::RoundRobin::of(nvme))),
    (weighted::ENTRY, |nvme| Box::new(weighted::Weighted::of(nvme))),
    (weighted_classes::ENTRY, |nvme| Box::new(weighted_classes::WeightedClasses::of(nvme))),
    (arrival_order::ENTRY, |_| Box::new(arrival_order::ArrivalOrder)),
    (strict_priority::ENTRY, |nvme| Box::new(strict_priority::StrictPriority::of(nvme))),
];

/// Every arbitration.
pub fn entries() -> Vec<Entry> {
    ARBITERS.iter().map(|(entry, _)| *entry).collect()
}

/// Creates the arbiter of a scenario, which has checked its name.
pub fn make(nvme: &Nvme) -> Box<dyn Arbiter> {
    let found = ARBITERS.iter().find(|(entry, _)| entry.name == nvme.arbitration);
    found.map(|(_, make)| make(nvme)).expect("the scenario names a registered arbitration")
}

/// Queues in turn, each for some commands in a row.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Turns {
    /// The current queue and the rest of its share, which lapses if unused.
    current: Option<(u32, u32)>,
}

impl Turns {
    /// Returns the next queue among those that `takes_part`; a turn is of `share` commands.
    fn pick(
        &mut self,
        queues: &dyn QueueView,
        takes_part: impl Fn(u32) -> bool,
        share: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        let after = match self.current {
            Some((queue, left)) => {
                if left > 0 && queues.next_ready(queue) == Some(queue) {
                    self.current = Some((queue, left - 1));
                    return Some(queue);
                }
                queue + 1
            }
            None => 0,
        };
        let queue = find(queues, after, &takes_part).or_else(|| find(queues, 0, &takes_part))?;
        self.current = Some((queue, share(queue) - 1));
        Some(queue)
    }
}

/// Returns the first queue from `from` on that is ready and takes part.
fn find(queues: &dyn QueueView, from: u32, takes_part: impl Fn(u32) -> bool) -> Option<u32> {
    let mut from = from;
    while from < queues.queues() {
        let queue = queues.next_ready(from)?;
        if takes_part(queue) {
            return Some(queue);
        }
        from = queue + 1;
    }
    None
}

#[cfg(test)]
mod tests;

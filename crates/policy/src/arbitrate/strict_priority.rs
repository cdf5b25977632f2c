//! Strict priority: a queue is served only while no higher class has a command.

use reprieve_base::{Archive, Entry};
use reprieve_config::{Nvme, Priority};

use super::{Arbiter, QueueView, Turns};

pub(super) const ENTRY: Entry = Entry {
    name: "strict-priority",
    doc: "The highest class of queue_priorities that has a command; round robin within it.",
};

/// Classes, highest priority first.
const CLASSES: [Priority; 4] = [Priority::Urgent, Priority::High, Priority::Medium, Priority::Low];

pub(super) struct StrictPriority {
    burst: u32,
    classes: Vec<Priority>,
    turns: [Turns; CLASSES.len()],
}

impl StrictPriority {
    pub(super) fn of(nvme: &Nvme) -> StrictPriority {
        StrictPriority {
            burst: nvme.burst.expect("the key has a default with this arbitration"),
            classes: nvme.priorities.clone(),
            turns: [Turns::default(); CLASSES.len()],
        }
    }
}

impl Arbiter for StrictPriority {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(&mut self.turns);
    }

    fn pick(&mut self, queues: &dyn QueueView) -> Option<u32> {
        let StrictPriority { burst, classes, turns } = self;
        CLASSES.iter().zip(turns).find_map(|(class, turns)| {
            turns.pick(queues, |queue| classes[queue as usize] == *class, |_| *burst)
        })
    }
}

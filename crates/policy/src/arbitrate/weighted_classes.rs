//! Weighted classes: weighted round robin with urgent priority class of NVM Express.

use reprieve_base::{Archive, Entry, parts};
use reprieve_config::{Nvme, Priority};

use super::{Arbiter, QueueView, Turns};

pub(super) const ENTRY: Entry = Entry {
    name: "weighted-classes",
    doc: "Urgent queues first; then the classes in turn, for as many commands as class_weights.",
};

/// The classes below the urgent one, in the order of `class_weights` and of a round.
const WEIGHTED: [Priority; 3] = [Priority::High, Priority::Medium, Priority::Low];

pub(super) struct WeightedClasses {
    burst: u32,
    classes: Vec<Priority>,
    weights: [u32; WEIGHTED.len()],
    urgent: Turns,
    /// The queues of each weighted class.
    turns: [Turns; WEIGHTED.len()],
    /// The current weighted class, and the rest of its share in this round.
    current: (usize, u32),
}

impl WeightedClasses {
    pub(super) fn of(nvme: &Nvme) -> WeightedClasses {
        let weights: [u32; WEIGHTED.len()] =
            nvme.class_weights.as_slice().try_into().expect("the scenario has checked how many");
        WeightedClasses {
            burst: nvme.burst.expect("the key has a default with this arbitration"),
            classes: nvme.priorities.clone(),
            weights,
            urgent: Turns::default(),
            turns: [Turns::default(); WEIGHTED.len()],
            current: (0, weights[0]),
        }
    }

    /// Returns the next queue of a weighted class with a command, if any.
    fn of_class(&mut self, class: usize, queues: &dyn QueueView) -> Option<u32> {
        let takes_part = |queue: u32| self.classes[queue as usize] == WEIGHTED[class];
        self.turns[class].pick(queues, takes_part, |_| self.burst)
    }
}

impl Arbiter for WeightedClasses {
    fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.urgent, self.turns, self.current);
    }

    fn pick(&mut self, queues: &dyn QueueView) -> Option<u32> {
        let is_urgent = |queue: u32| self.classes[queue as usize] == Priority::Urgent;
        let urgent = self.urgent.pick(queues, is_urgent, |_| self.burst);
        if urgent.is_some() {
            return urgent;
        }
        // Each class once, and the current one again, as it may have used up its weight.
        let (mut class, mut left) = self.current;
        for _ in 0..=WEIGHTED.len() {
            if left > 0 {
                if let Some(queue) = self.of_class(class, queues) {
                    self.current = (class, left - 1);
                    return Some(queue);
                }
            }
            class = (class + 1) % WEIGHTED.len();
            left = self.weights[class];
        }
        None
    }
}

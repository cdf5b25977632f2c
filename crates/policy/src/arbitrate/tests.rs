//! Each arbitration on queues whose commands are known: the order of fetching by hand.

use reprieve_config::Priority;

use super::*;

/// Commands that wait in each queue.
struct Queues(Vec<u32>);

impl QueueView for Queues {
    fn queues(&self) -> u32 {
        self.0.len() as u32
    }

    fn next_ready(&self, from: u32) -> Option<u32> {
        (from..self.queues()).find(|queue| self.0[*queue as usize] > 0)
    }

    /// Of two queues the one with fewer commands has the older one.
    fn oldest(&self, queue: u32) -> u64 {
        self.0[queue as usize].into()
    }
}

fn nvme(arbitration: &str) -> Nvme {
    Nvme {
        queues: 4,
        queue_entries: 1,
        outstanding: None,
        arbitration: arbitration.to_string(),
        burst: Some(2),
        weights: vec![3, 1, 2, 1],
        class_weights: vec![3, 2, 1],
        priorities: vec![Priority::Low, Priority::Urgent, Priority::Low, Priority::High],
    }
}

/// The queues from which the commands are fetched, one after the other.
fn order(arbiter: &mut dyn Arbiter, queues: &mut Queues, commands: usize) -> Vec<u32> {
    let picks = (0..commands).map(|_| {
        let queue = arbiter.pick(queues).expect("a queue has a command");
        queues.0[queue as usize] -= 1;
        queue
    });
    picks.collect()
}

#[test]
fn round_robin_goes_around_in_bursts_and_passes_over_empty_queues() {
    let mut arbiter = make(&nvme("round-robin"));
    let mut queues = Queues(vec![5, 0, 1, 3]);
    assert_eq!(order(&mut *arbiter, &mut queues, 6), [0, 0, 2, 3, 3, 0]);
    // The burst of queue 0 goes on where it was, though others have got commands.
    queues.0 = vec![2, 2, 0, 0];
    assert_eq!(order(&mut *arbiter, &mut queues, 4), [0, 1, 1, 0]);
    assert_eq!(arbiter.pick(&queues), None);
}

#[test]
fn the_oldest_command_of_all_queues_comes_first() {
    let mut arbiter = make(&nvme("arrival-order"));
    let mut queues = Queues(vec![5, 0, 2, 4]);
    assert_eq!(order(&mut *arbiter, &mut queues, 7), [2, 2, 3, 3, 3, 3, 0]);
    queues.0 = vec![0, 0, 0, 0];
    assert_eq!(arbiter.pick(&queues), None);
}

#[test]
fn weights_are_commands_in_a_row() {
    let mut arbiter = make(&nvme("weighted"));
    let mut queues = Queues(vec![5, 3, 1, 2]);
    assert_eq!(order(&mut *arbiter, &mut queues, 11), [0, 0, 0, 1, 2, 3, 0, 0, 1, 3, 1]);
}

#[test]
fn a_lower_class_waits_for_every_higher_one() {
    let mut arbiter = make(&nvme("strict-priority"));
    let mut queues = Queues(vec![3, 1, 2, 1]);
    assert_eq!(order(&mut *arbiter, &mut queues, 3), [1, 3, 0]);
    queues.0[1] = 1;
    // Back in its class, the burst of queue 0 goes on.
    assert_eq!(order(&mut *arbiter, &mut queues, 5), [1, 0, 2, 2, 0]);
}

/// Two urgent queues, two high ones, a medium and a low one, with weights 3, 2 and 1.
fn classes() -> Box<dyn Arbiter> {
    use Priority::{High, Low, Medium, Urgent};
    let priorities = vec![Urgent, High, Low, High, Medium, Urgent];
    make(&Nvme { queues: 6, priorities, ..nvme("weighted-classes") })
}

#[test]
fn weighted_classes_share_what_the_urgent_one_leaves() {
    let mut arbiter = classes();
    let mut queues = Queues(vec![3, 5, 4, 2, 4, 1]);
    // Urgent to the end, in bursts of two.
    assert_eq!(order(&mut *arbiter, &mut queues, 4), [0, 0, 5, 0]);
    // Rounds of three high, two medium, one low; bursts of high queues go on in the next round.
    let rounds = [1, 1, 3, 4, 4, 2, 3, 1, 1, 4, 4, 2];
    assert_eq!(order(&mut *arbiter, &mut queues, 12), rounds);
    // Medium is empty, and one high is left.
    assert_eq!(order(&mut *arbiter, &mut queues, 3), [1, 2, 2]);
    assert_eq!(arbiter.pick(&queues), None);
}

#[test]
fn urgent_commands_break_into_a_round_which_goes_on_behind_them() {
    let mut arbiter = classes();
    let mut queues = Queues(vec![0, 9, 9, 0, 9, 0]);
    assert_eq!(order(&mut *arbiter, &mut queues, 2), [1, 1]);
    queues.0[5] = 2;
    assert_eq!(order(&mut *arbiter, &mut queues, 6), [5, 5, 1, 4, 4, 2]);
    // A class without a command loses the rest of its weight; that nothing was there costs none.
    let empty = Queues(vec![0; 6]);
    assert_eq!((arbiter.pick(&empty), arbiter.pick(&empty)), (None, None));
    queues.0[1] = 1;
    assert_eq!(order(&mut *arbiter, &mut queues, 3), [1, 4, 4]);
}

//! Schedulers: which of its waiting transactions a die serves next.

mod deadline;
mod fifo;
mod microcode;
mod pe0;
mod per;
mod rps;
mod rps_age;

use reprieve_base::{Dur, Entry, Time};
use reprieve_nand::Timing;

pub use reprieve_config::Class;
use reprieve_config::Scheduling;

/// A transaction that waits for a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Waiter {
    /// Order of arrival at the queues, over the whole drive.
    pub order: u64,
    /// When it arrived there.
    pub since: Time,
}

/// A program or erase that has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// A host program; else garbage collection's program, or an erase.
    pub is_host_program: bool,
    /// When it arrived at the queues; for garbage collection, when it started.
    pub since: Time,
}

/// View of the queues by class, for a scheduler with one for each.
#[derive(Clone, Copy, Debug)]
pub struct Classes {
    /// Class of the operation that runs or is suspended, and its total suspension; `None` without
    /// one.
    pub operation: Option<(Class, Dur)>,
    /// Class of the read of the view.
    pub read: Class,
    /// Class of the write of the view.
    pub write: Class,
    /// Class of the next step of garbage collection, if that waits.
    pub gc: Option<Class>,
    /// Start of its wait; now if it does not wait.
    pub gc_since: Time,
    /// A plane has no room for host writes until a step of collection is done.
    pub gc_is_urgent: bool,
    /// Waiting host programs of the die.
    pub pending_programs: u32,
}

/// View of a free die for a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct DieView {
    /// The instant of the decision.
    pub now: Time,
    /// The die.
    pub die: u32,
    /// The suspended operation: it can resume, or reads be served inside it.
    pub suspended: Option<Operation>,
    /// The suspension policy wants the suspended operation to resume now.
    pub must_resume: bool,
    /// The oldest admissible read.
    pub read: Option<Waiter>,
    /// The oldest host program or erase.
    pub write: Option<Waiter>,
    /// While an operation is suspended: whether `write` is a program that may run inside it.
    pub write_fits_inside: bool,
    /// The write queue limit is reached: programs go before reads, unsuspended.
    pub writes_first: bool,
    /// Garbage collection for a plane without room.
    pub urgent_gc: Option<Waiter>,
    /// Its next step is an erase that `write` would suspend as soon as it starts.
    pub gc_gives_way: bool,
    /// Garbage collection of a block runs before anything else; the scheduler is not called.
    pub gc_runs_through: bool,
    /// Garbage collection is useful in idle time.
    pub idle_gc: bool,
}

/// View of a running operation that a waiting transaction could suspend.
#[derive(Clone, Copy, Debug)]
pub struct SuspendView {
    /// The instant of the decision.
    pub now: Time,
    /// The die.
    pub die: u32,
    /// The running operation.
    pub running: Operation,
    /// The oldest read for which it may be suspended.
    pub read: Option<Waiter>,
    /// The oldest host program for which it may be suspended.
    pub write: Option<Waiter>,
    /// The oldest host program or erase, eligible or not.
    pub queued_write: Option<Waiter>,
    /// It may be suspended for a read of garbage collection.
    pub for_gc_read: bool,
    /// Only for a scheduler that `sees_classes`.
    pub classes: Option<Classes>,
}

/// Next step of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Serve the oldest admissible read.
    Read,
    /// Serve the oldest host program or erase.
    Write,
    /// Do the next step of garbage collection.
    Gc,
    /// Resume the suspended operation.
    Resume,
    /// Nothing.
    Wait,
}

/// A scheduling policy.
///
/// Its properties (`suspends`, `sees_classes`, `reads_first`, `timing`) are queried once, when the
/// drive is created.
pub trait Scheduler: Send {
    /// Returns the next step of a free die.
    fn choose(&self, view: &DieView) -> Choice;

    /// Whether programs and erases are suspended under this policy.
    fn suspends(&self) -> bool {
        false
    }

    /// Whether an admissible read always goes first, except under the write queue limit and for a
    /// suspended operation that has to resume; then `choose` is not called for it.
    fn serves_reads_first(&self) -> bool {
        false
    }

    /// Whether `allow_suspend` can return false; else it is not called.
    fn restricts_suspension(&self) -> bool {
        true
    }

    /// Whether the running operation may be suspended now; called only if the scheduler `suspends`
    /// and the suspension policy wants it.
    fn allow_suspend(&self, _: &SuspendView) -> bool {
        true
    }

    /// Whether `allow_suspend` may be called for wait attribution: only if its answers depend on
    /// nothing but its view.
    fn may_be_asked_in_vain(&self) -> bool {
        true
    }

    /// Returns the time from a read's arrival to its deadline, if reads have one.
    fn read_deadline(&self) -> Option<Dur> {
        None
    }

    /// After a refusal, returns when to evaluate it again even without another event.
    fn asks_again(&self, _: &SuspendView) -> Option<Time> {
        None
    }

    /// Chooses as `choose` does; called in its place for a scheduler that `sees_classes`.
    fn choose_by_class(&self, view: &DieView, _: &Classes) -> Choice {
        self.choose(view)
    }

    /// Whether it needs the classes of waiting transactions.
    fn sees_classes(&self) -> bool {
        false
    }

    /// Whether data-out goes before programs that wait for the channel.
    fn reads_first(&self) -> bool {
        true
    }

    /// Returns the part's times under the policy; hypothetical policies change them.
    fn timing(&self, timing: Timing) -> Timing {
        timing
    }
}

type MakeScheduler = fn(&Scheduling) -> Box<dyn Scheduler>;

/// The registry: name, sentence, maker.
const SCHEDULERS: &[(Entry, MakeScheduler)] = &[
    (fifo::ENTRY, |_| Box::new(fifo::Fifo)),
    (rps::ENTRY, |_| Box::new(rps::Rps)),
    (rps_age::ENTRY, |scheduling| Box::new(rps_age::RpsAge::new(scheduling))),
    (deadline::ENTRY, |scheduling| Box::new(deadline::Deadline::new(scheduling))),
    (microcode::ENTRY, |scheduling| Box::new(microcode::Microcode::new(scheduling))),
    (per::ENTRY, |_| Box::new(per::Per)),
    (pe0::ENTRY, |_| Box::new(pe0::Pe0)),
];

/// Every scheduler.
pub fn entries() -> Vec<Entry> {
    SCHEDULERS.iter().map(|(entry, _)| *entry).collect()
}

/// Creates the scheduler that the scenario names.
pub fn make(scheduling: &Scheduling) -> Box<dyn Scheduler> {
    let found = SCHEDULERS.iter().find(|(entry, _)| entry.name == scheduling.policy);
    found.map(|(_, make)| make(scheduling)).expect("the scenario names a registered scheduler")
}

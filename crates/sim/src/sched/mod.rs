//! Schedulers: which of its waiting transactions a die serves next.

mod fifo;
mod pe0;
mod per;
mod rps;

use reprieve_base::Entry;
use reprieve_nand::Timing;

/// What a scheduler sees of a free die.
#[derive(Clone, Copy, Debug)]
pub struct DieView {
    /// A program or erase is suspended here: it can resume, or what it makes way for be served.
    pub suspended: bool,
    /// The suspension policy wants the suspended operation to resume now.
    pub must_resume: bool,
    /// Arrival order of the oldest read that may be served now.
    pub read: Option<u64>,
    /// Arrival order of the oldest host program or erase; while an operation is suspended, only of
    /// a program that may run inside it.
    pub write: Option<u64>,
    /// The write queue limit is reached: programs go ahead of reads, unsuspended.
    pub writes_first: bool,
    /// Arrival order of garbage collection that a plane without room waits for.
    pub urgent_gc: Option<u64>,
    /// Its next step is an erase that `write` would suspend as soon as it had begun.
    pub gc_gives_way: bool,
    /// Garbage collection has begun with a block and goes on before anything else; no scheduler
    /// is asked.
    pub gc_runs_through: bool,
    /// Garbage collection is worth while in idle time.
    pub idle_gc: bool,
}

/// What a die does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Serve the oldest read that may be served.
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
pub trait Scheduler: Send {
    /// The next thing a free die does.
    fn choose(&self, view: &DieView) -> Choice;

    /// Whether programs and erases are suspended under this policy.
    fn suspends(&self) -> bool {
        false
    }

    /// Whether a page that is ready to leave goes ahead of programs waiting for the channel.
    fn reads_first(&self) -> bool {
        true
    }

    /// The part's times as the policy wants them; hypothetical policies change them.
    fn timing(&self, timing: Timing) -> Timing {
        timing
    }
}

type Make = fn() -> Box<dyn Scheduler>;

/// The registry: name, sentence, maker.
const SCHEDULERS: &[(Entry, Make)] = &[
    (fifo::ENTRY, || Box::new(fifo::Fifo)),
    (rps::ENTRY, || Box::new(rps::Rps)),
    (per::ENTRY, || Box::new(per::Per)),
    (pe0::ENTRY, || Box::new(pe0::Pe0)),
];

/// Every scheduler.
pub fn entries() -> Vec<Entry> {
    SCHEDULERS.iter().map(|(entry, _)| *entry).collect()
}

/// The scheduler of that name, which the scenario has checked.
pub fn make(name: &str) -> Box<dyn Scheduler> {
    let found = SCHEDULERS.iter().find(|(entry, _)| entry.name == name);
    found.map(|(_, make)| make()).expect("the scenario names a registered scheduler")
}

//! Settings of priority: at a die, over all queues of the drive, and on a channel.

use std::collections::BTreeMap;

use reprieve_base::Dur;

use super::MbmRules;
use crate::steps::Step;
use crate::value::{Field, Value, of, words};

/// Which operations a class of reads or writes may suspend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationSet {
    pub program: bool,
    /// Programs of garbage collection.
    pub gc_program: bool,
    pub erase: bool,
}

/// Section `[suspension]`, the controller's half.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuspendRules {
    pub policy: String,
    /// The keys that apply to this policy only.
    pub parameters: Parameters,
    /// Reads after which a suspended operation resumes; `None`: when no read waits.
    pub reads_per_suspension: Option<u32>,
    pub host_read_suspends: OperationSet,
    pub rmw_read_suspends: OperationSet,
    pub gc_read_suspends: OperationSet,
    /// The operations that a host write may suspend: none, or erases.
    pub host_write_suspends: OperationSet,
}

/// Section `[scheduling]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    pub policy: String,
    pub write_queue_limit: Option<u32>,
    pub write_queue_limit_scope: LimitScope,
    pub age_limit: Option<Dur>,
    /// Policy `deadline`; `None` with another.
    pub deadlines: Option<Deadlines>,
    pub steps: Option<Vec<Step>>,
    /// Priority over all queues.
    pub dispatch: Dispatch,
}

/// Deadlines of each class, from arrival at the queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    pub read: Dur,
    pub write: Dur,
    pub gc: Dur,
}

/// Section `[channel]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    pub order: ChannelOrder,
    pub transfer_unit_bytes: Option<u32>,
}

/// The dispatcher and its settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dispatch {
    pub policy: String,
    /// Of `paq`; `None` with another.
    pub paq: Option<PaqRules>,
    /// Of `mbm`; `None` with another.
    pub mbm: Option<MbmRules>,
}

/// Settings of `paq`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaqRules {
    pub window: u32,
    pub conflict: Conflict,
}

/// The keys that apply to one policy only, by their full names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(pub(crate) BTreeMap<&'static str, Value>);

impl Parameters {
    /// The time under a key; `None`: it has none.
    pub fn dur(&self, name: &str) -> Option<Dur> {
        self.0.get(name).map(of)
    }

    /// The count under a key; `None`: it has none.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name).map(of)
    }

    /// The number under a key; `None`: it has none.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).map(of)
    }
}

impl OperationSet {
    /// The words of the operations, in the order in which they are printed.
    pub(crate) const WORDS: [&str; 3] = ["program", "gc_program", "erase"];
}

impl Field for OperationSet {
    fn of(value: &Value) -> Self {
        let has = |word| value.items().iter().any(|item| item.text() == word);
        let [program, gc_program, erase] = OperationSet::WORDS.map(has);
        OperationSet { program, gc_program, erase }
    }

    fn value(&self) -> Option<Value> {
        let chosen = [self.program, self.gc_program, self.erase];
        let words = OperationSet::WORDS.into_iter().zip(chosen).filter(|(_, chosen)| *chosen);
        Some(Value::List(words.map(|(word, _)| Value::from(word)).collect()))
    }
}

words! {
    /// Which pending programs the write queue limit counts.
    LimitScope {
        "die" = Die, "The programs that wait at each die, with a limit for each.";
        "drive" = Drive, "The programs that wait at all dies of the drive together.";
    }

    /// The order of transfers on a channel.
    ChannelOrder {
        "asked" = Asked, "In order of request; if the scheduler prefers reads, theirs first.";
        "data_first" = DataFirst, "Outgoing pages in order of request, then dies in turn.";
        "commands_first" = CommandsFirst, "Commands of reads and erases, then in order of request.";
    }

    /// The resource that two operations must not share.
    Conflict {
        "chip" = Chip, "A chip: its dies work one after the other.";
        "die" = Die, "A die: those of a chip work side by side.";
    }
}

//! What goes first: at a die, over all queues of the drive, and on a channel.

use reprieve_base::Dur;

use super::MbmRules;
use crate::steps::Step;

/// Which operations a class of reads or writes may suspend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationSet {
    pub program: bool,
    /// Programs of garbage collection.
    pub gc_program: bool,
    pub erase: bool,
}

/// Section `[suspension]`, the controller's half.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuspendRules {
    pub policy: String,
    pub min_remaining: Option<Dur>,
    pub max_suspended: Option<Dur>,
    pub host_read_suspends: OperationSet,
    pub rmw_read_suspends: OperationSet,
    pub gc_read_suspends: OperationSet,
    /// What a host write may suspend: nothing, or erases.
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
    /// What goes first over all queues.
    pub dispatch: Dispatch,
}

/// Which pending programs the write queue limit counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitScope {
    #[default]
    Die,
    Drive,
}

/// How long each class should wait at most, from its arrival at the queues.
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

/// Who has the channel next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChannelOrder {
    #[default]
    Asked,
    DataFirst,
    CommandsFirst,
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

/// What two operations must not share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflict {
    #[default]
    Chip,
    Die,
}

//! The state of an unanswered command.

use reprieve_base::{Dur, Time};

use crate::clock::Wall;
use crate::protocol;
use crate::slots::Key;

/// An unanswered command.
pub struct Command {
    pub(crate) client: Key,
    pub(crate) request: protocol::Request,
    pub(crate) error: u32,
    /// Its requests that are in the model.
    pub(crate) left: u32,
    /// All its requests have been submitted.
    pub(crate) is_whole: bool,
    /// The model has had some of its requests.
    pub(crate) is_modelled: bool,
    /// Numbers of its requests, if they are recorded.
    pub(crate) numbers: Vec<u64>,
    pub(crate) arrival: Time,
    pub(crate) completion: Time,
    /// Time of receipt; if the model has no part in it, the time of its answer.
    pub(crate) received: Wall,
    /// The store's operation that must finish first.
    pub(crate) ticket: Option<u64>,
    /// Delay of its answer beyond the model's completion, in the model's time.
    pub(crate) late: Dur,
}

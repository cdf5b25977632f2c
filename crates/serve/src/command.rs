//! A command of a client that is under way.

use reprieve_base::{Dur, Time};

use crate::clock::Wall;
use crate::protocol;
use crate::slots::Key;

/// A command that is under way.
pub struct Command {
    pub(crate) client: Key,
    pub(crate) request: protocol::Request,
    pub(crate) error: u32,
    /// Requests that the model has of it.
    pub(crate) left: u32,
    /// Nothing more of it is handed over.
    pub(crate) is_whole: bool,
    /// The model has had a part in it.
    pub(crate) is_modelled: bool,
    /// Its requests, where they are recorded.
    pub(crate) numbers: Vec<u64>,
    pub(crate) arrival: Time,
    pub(crate) completion: Time,
    /// When it came, and when it is due if the model has no part in it.
    pub(crate) received: Wall,
    /// What has to be brought to safety first.
    pub(crate) ticket: Option<u64>,
    /// How much later than the model says it is answered, by the model's clock.
    pub(crate) late: Dur,
}

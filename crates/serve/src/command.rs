//! A command of a client that is under way.

use reprieve_base::Time;

use crate::clock::Wall;
use crate::protocol;
use crate::slots::Key;

/// A command that is under way.
pub struct Command {
    pub(crate) client: Key,
    pub(crate) request: protocol::Request,
    pub(crate) error: u32,
    /// Requests of the model that it waits for.
    pub(crate) left: u32,
    pub(crate) numbers: (u64, u32),
    pub(crate) arrival: Time,
    pub(crate) completion: Time,
    /// When it is due if the model has no part in it.
    pub(crate) received: Wall,
    /// What has to be brought to safety first.
    pub(crate) ticket: Option<u64>,
}

//! Vocabulary of a die: its part, its commands and its answers.

use reprieve_base::{PageAddress, Time};

use crate::parallelism::Parallelism;
use crate::refusal::Refusal;
use crate::timing::{Suspension, Timing};

/// Numbers of a die's components; each is at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Planes of the die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block, at most 65,535.
    pub pages_per_block: u32,
}

impl Shape {
    /// Returns the block of a page, of all blocks of the die, plane by plane.
    #[inline]
    pub(crate) fn block_index(&self, at: PageAddress) -> Result<usize, Refusal> {
        let Shape { planes, blocks_per_plane, pages_per_block } = *self;
        if at.plane >= planes || at.block >= blocks_per_plane || at.page >= pages_per_block {
            return Err(Refusal::NoSuchPage);
        }
        Ok(at.plane as usize * blocks_per_plane as usize + at.block as usize)
    }
}

/// Properties that all dies of a drive share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Numbers of a die's components.
    pub shape: Shape,
    /// Its times.
    pub timing: Timing,
    /// Properties of suspension.
    pub suspension: Suspension,
    /// Properties of parallelism.
    pub parallelism: Parallelism,
}

impl Part {
    /// Whether its dies run several operations at once.
    pub(crate) fn does_several(&self) -> bool {
        self.parallelism != Parallelism::NONE
    }
}

/// Commands of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Sense a page into the page buffer.
    Read(PageAddress),
    /// Take a page over the channel and program it.
    Program(PageAddress),
    /// Erase the block; the page of the address is ignored.
    Erase(PageAddress),
    /// Sense a page into the page buffer and program it elsewhere in its plane, by two commands
    /// without a transfer.
    Copyback {
        /// The moved page.
        from: PageAddress,
        /// Its new place.
        to: PageAddress,
    },
}

/// The answer to a suspend request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspend {
    /// The array is free, and the operation suspended, at this instant.
    FreeAt(Time),
    /// The request takes effect only at the operation's end: it completes, unsuspended.
    RunsToEnd,
}

/// Results at the instant that the die announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elapsed {
    /// The page is sensed and ready to leave; with a second register the array is free too.
    ReadReady,
    /// The page is sensed but the output register is in use; the transfer follows.
    ReadHeld,
    /// The program is complete.
    Programmed,
    /// The erase is complete.
    Erased,
    /// The operation is suspended and the array free.
    Suspended,
}

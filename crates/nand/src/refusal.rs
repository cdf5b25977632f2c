//! Refusals of a die: commands that a chip must never get.

use std::fmt;

use reprieve_base::Time;

/// The reason for a refusal; a refused command does not change the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The array, or the page buffer that the command needs, is in use.
    Busy,
    /// The address lies outside the die.
    NoSuchPage,
    /// The pages of a block are programmed in order; `expected` is the next one.
    OutOfOrder {
        /// The next page of the block.
        expected: u32,
    },
    /// The page was programmed since the last erase of its block.
    AlreadyProgrammed,
    /// The block belongs to a suspended operation.
    SuspendedBlock,
    /// An operation is suspended, and the part does not run this one inside it: an erase never, a
    /// program only inside an erase, and only if the part can.
    Nested,
    /// One command cannot take these pages or blocks together on this part.
    NotTogether,
    /// A copyback stays in its plane.
    OtherPlane,
    /// A suspended copyback needs a shadow buffer, which alone has its page.
    CannotRestore,
    /// No program or erase is running.
    NothingToSuspend,
    /// No operation is suspended.
    NothingToResume,
    /// The running operation already enters suspension.
    AlreadySuspending,
    /// The part cannot suspend this kind of operation.
    NotSuspendable,
    /// The operation has reached its limit of suspensions.
    LimitReached,
    /// The operation was resumed too recently.
    TooSoon {
        /// The first instant at which a suspension is allowed again.
        until: Time,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Busy => f.write_str("the array or its page buffer is in use"),
            Refusal::NoSuchPage => f.write_str("the address lies outside the die"),
            Refusal::OutOfOrder { expected } => write!(
                f,
                "pages of a block are programmed in order, and the next of this one is {expected}"
            ),
            Refusal::AlreadyProgrammed => {
                f.write_str("the page is already programmed and its block was not erased since")
            }
            Refusal::SuspendedBlock => f.write_str("the block's own program or erase is suspended"),
            Refusal::Nested => f.write_str(
                "another operation is suspended, and the part does not take this one inside it",
            ),
            Refusal::NotTogether => {
                f.write_str("the part does not take these pages or blocks with one command")
            }
            Refusal::OtherPlane => f.write_str("a copyback stays in its plane"),
            Refusal::CannotRestore => {
                f.write_str("the page of a suspended copyback could not be restored")
            }
            Refusal::NothingToSuspend => f.write_str("no program or erase is running"),
            Refusal::NothingToResume => f.write_str("no operation is suspended"),
            Refusal::AlreadySuspending => f.write_str("the operation is already being suspended"),
            Refusal::NotSuspendable => f.write_str("the part cannot suspend this operation"),
            Refusal::LimitReached => f.write_str("the operation has used up its suspensions"),
            Refusal::TooSoon { until } => {
                write!(f, "the operation was resumed too recently; allowed from {until}")
            }
        }
    }
}

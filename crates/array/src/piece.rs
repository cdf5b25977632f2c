//! Parts of the work of an array, and the order of their operations.

use std::ops::Range;

use reprieve_base::{Op, Time};

/// The first operations of a piece: a read of the drive that has the data, or reads before writes.
pub(crate) const FIRST: usize = 0;
/// A write of the log before the writes of a piece.
pub(crate) const LOG: usize = 1;
/// Its last operations: reads of other drives, or writes.
pub(crate) const LAST: usize = 2;
pub(crate) const LEGS: usize = 3;

/// The work to which a piece belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Trim,
    Flush,
    Rebuild,
}

/// The part of a request in one chunk if it is a read, in one stripe if it is a write; or stripes
/// that are rebuilt together; or all of a trim or flush.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Counts pieces, as their places are used again.
    pub number: u64,
    pub kind: Kind,
    /// `usize::MAX` without a request.
    pub row: usize,
    pub is_answered: bool,
    pub stripe: u64,
    /// Bytes of the stripe's data.
    pub bytes: Range<u64>,
    /// Open operations.
    pub open: [usize; LEGS],
    /// The first completion among its writes.
    pub first_written: Time,
}

impl Piece {
    /// Returns the operation that it sends to drives.
    pub fn op(&self, leg: usize) -> Op {
        match self.kind {
            Kind::Trim => Op::Trim,
            Kind::Flush => Op::Flush,
            Kind::Write | Kind::Rebuild if leg != FIRST => Op::Write,
            _ => Op::Read,
        }
    }

    /// Whether others follow from the completion of its operations.
    pub fn causes(&self, leg: usize) -> bool {
        match self.kind {
            Kind::Read | Kind::Trim | Kind::Flush => false,
            Kind::Write => leg != LAST,
            Kind::Rebuild => true,
        }
    }
}

//! What a die has to keep beside its operation: on most parts, and at most times, nothing.

use reprieve_base::{PageAddress, Stream};

use super::Die;
use super::cache::Loaded;
use super::pieces::Piece;
use super::planes::PlaneRead;
use crate::command::Part;
use crate::operation::Operation;
use crate::parallelism::Parallelism;
use crate::timing::ReadLaw;

/// What there is beside the operation, out of the way of what is looked at in every command.
#[derive(Clone, Debug)]
pub(super) struct OtherPlanes {
    /// The suspended erase inside which the operation, a program, runs or is suspended.
    pub(super) outer: Option<(Operation, PageAddress)>,
    /// What else the operation, and `outer`, work on: pages and blocks of other planes.
    pub(super) companions: Vec<PageAddress>,
    pub(super) outer_companions: Vec<PageAddress>,
    /// The program whose page is in the second register, or on its way there, and what it works on
    /// besides; it begins when the operation ends.
    pub(super) loaded: Option<Loaded>,
    pub(super) loaded_companions: Vec<PageAddress>,
    /// Of an operation on several planes, those that were stopped apart from the others.
    pub(super) pieces: Vec<Piece>,
    /// Where each plane stands that reads by itself; empty on a part whose planes do not.
    pub(super) planes: Vec<PlaneRead>,
    /// The lengths of reads, where they are drawn.
    pub(super) read: Stream,
    /// From which the iterations of a wordline follow.
    pub(super) wordlines: u64,
}

impl OtherPlanes {
    /// Whether the dies of a part can come to have any of it.
    pub(super) fn is_needed(part: &Part) -> bool {
        part.parallelism != Parallelism::NONE
            || part.suspension.program_in_erase
            || part.timing.read_law == ReadLaw::Exponential
            || part.timing.spread.is_some()
    }

    /// Nothing yet.
    pub(super) fn new(part: &Part, seed: u64, index: u64) -> OtherPlanes {
        let planes = match part.parallelism.independent_plane_reads {
            true => part.shape.planes as usize,
            false => 0,
        };
        OtherPlanes {
            outer: None,
            companions: Vec::new(),
            outer_companions: Vec::new(),
            loaded: None,
            loaded_companions: Vec::new(),
            pieces: Vec::new(),
            planes: vec![PlaneRead::default(); planes],
            read: Stream::new(seed, "nand.read", index),
            wordlines: Stream::new(seed, "nand.wordlines", index).next_u64(),
        }
    }
}

impl Die {
    /// Whether no plane of what runs was stopped apart.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.beside.get().is_none_or(|beside| beside.pieces.is_empty())
    }

    /// The suspended erase now lies around the program that begins.
    #[cold]
    pub(super) fn enclose(&mut self) {
        let beside = &mut *self.beside;
        beside.outer = self.operation.take();
        std::mem::swap(&mut beside.companions, &mut beside.outer_companions);
        self.suspended = false;
    }

    /// The program is complete; what is suspended now is the erase around it.
    #[cold]
    pub(super) fn uncover(&mut self) {
        let beside = &mut *self.beside;
        self.operation = beside.outer.take();
        std::mem::swap(&mut beside.companions, &mut beside.outer_companions);
        self.suspended = true;
    }
}

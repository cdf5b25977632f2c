//! Plane suspension: each plane is suspended for its own reads while the others work.

use reprieve_base::{PageAddress, Time};

use super::{Array, Die};
use crate::command::{Command, Elapsed, Suspend};
use crate::operation::{Kind, Operation, Run, Stop};
use crate::refusal::Refusal;
use crate::timing::ResumeAt;

/// State of the program or erase of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum PlaneWork {
    /// No program or erase.
    None,
    /// It runs until this instant.
    Running(Time),
    /// It enters suspension, until this instant.
    Suspending(Time),
    /// It is suspended.
    Suspended,
}

/// Part of an operation on a plane that was suspended alone.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Piece {
    pub(super) operation: Operation,
    pub(super) at: PageAddress,
    pub(super) work: PlaneWork,
}

/// The planes that were suspended alone and whose operations are not complete.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Pieces(Vec<Piece>);

impl Pieces {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, piece: Piece) {
        self.0.push(piece);
    }

    pub(super) fn on(&self, plane: u32) -> Option<&Piece> {
        self.0.iter().find(|piece| piece.at.plane == plane)
    }

    pub(super) fn on_mut(&mut self, plane: u32) -> Option<&mut Piece> {
        self.0.iter_mut().find(|piece| piece.at.plane == plane)
    }

    /// Whether any plane is in this state.
    pub(super) fn any(&self, work: PlaneWork) -> bool {
        self.0.iter().any(|piece| piece.work == work)
    }

    /// Whether all planes are in this state.
    pub(super) fn all(&self, work: PlaneWork) -> bool {
        self.0.iter().all(|piece| piece.work == work)
    }

    /// Whether `holds` is true of the kind and place of any plane.
    pub(super) fn hold(&self, holds: impl Fn(Kind, &PageAddress) -> bool) -> bool {
        self.0.iter().any(|piece| holds(piece.operation.kind, &piece.at))
    }

    /// Advances a plane to its event at `now`; removes a complete one.
    pub(super) fn elapse(&mut self, now: Time, plane: u32) -> Elapsed {
        let place = self.0.iter().position(|piece| piece.at.plane == plane);
        let place = place.expect("a plane promised that was suspended by itself");
        let piece = &mut self.0[place];
        match piece.work {
            PlaneWork::Suspending(until) if until == now => {
                piece.work = PlaneWork::Suspended;
                Elapsed::Suspended
            }
            PlaneWork::Running(until) if until == now => {
                self.0.remove(place).operation.kind.complete()
            }
            other => panic!("at {now} plane {plane} had promised another instant: {other:?}"),
        }
    }
}

impl Die {
    /// Returns the work of a plane, of a part that suspends planes alone.
    pub fn plane_work(&self, plane: u32) -> PlaneWork {
        if let Some(piece) = self.operations.piece_on(plane) {
            return piece.work;
        }
        match self.array {
            Array::Running(until) if self.operations.has_plane(plane) => PlaneWork::Running(until),
            _ => PlaneWork::None,
        }
    }

    /// Whether the die is at rest: nothing is sensed, programmed or erased, and no page is in a
    /// buffer; operations may be suspended.
    #[inline(always)]
    pub fn is_at_rest(&self) -> bool {
        let rests = || self.operations.pieces_rest() && self.plane_reads.are_free();
        self.is_free() || self.array == Array::InPieces && rests()
    }

    /// Returns the run on a plane that was suspended alone and resumed at `from`, to follow its
    /// phases.
    pub fn plane_run(&self, plane: u32, from: Time) -> Option<Run> {
        let piece = self.operations.piece_on(plane)?;
        let runs = matches!(piece.work, PlaneWork::Running(_));
        runs.then(|| Run::new(piece.operation, from))
    }

    /// Whether a command is a read of a plane that is free for it during operations on others.
    #[cold]
    pub(super) fn reads_beside(&self, command: Command) -> bool {
        let Command::Read(at) = command else { return false };
        self.part.parallelism.plane_suspension
            && matches!(self.plane_work(at.plane), PlaneWork::None | PlaneWork::Suspended)
    }

    /// Whether a suspended plane reads into a second register.
    pub(super) fn lends_register(&self, plane: u32) -> bool {
        self.part.suspension.resume_at == ResumeAt::ArrayRead
            && self.plane_work(plane) == PlaneWork::Suspended
    }

    /// Suspends the operation of a plane at `now`, there alone.
    pub fn suspend_plane(&mut self, now: Time, plane: u32) -> Result<Suspend, Refusal> {
        self.may_suspend(now, Some(plane))?;
        let running = self.operations.on(Some(plane));
        let mut operation = *running.expect("a running array has an operation");
        let stop = operation.stop(now, &self.part.timing, &self.part.suspension, &mut self.vth);
        let Stop::At(free_at) = stop else { return Ok(Suspend::RunsToEnd) };
        self.operations.suspend_piece(plane, operation, free_at);
        if self.operations.innermost().is_none() {
            self.array = Array::InPieces;
        }
        Ok(Suspend::FreeAt(free_at))
    }

    /// Whether the page of a plane that was suspended alone has to be sent over the channel again.
    pub fn plane_needs_channel(&self, plane: u32) -> bool {
        let piece = self.operations.piece_on(plane);
        let program = piece.is_some_and(|piece| piece.operation.kind == Kind::Program);
        program && !self.part.suspension.shadow_buffer
    }

    /// Resumes a suspended plane at `now`; without a shadow buffer the caller sends the page of a
    /// program over the channel from then on. Returns its end without suspension.
    pub fn resume_plane(&mut self, now: Time, plane: u32) -> Result<Time, Refusal> {
        let piece = self.operations.piece_on(plane);
        if piece.is_none_or(|piece| piece.work != PlaneWork::Suspended) {
            return Err(Refusal::NothingToResume);
        }
        let page_leaves = self.plane_reads.output_in_use(plane) && self.plane_needs_channel(plane);
        if !self.plane_reads.is_free(plane) || page_leaves {
            return Err(Refusal::Busy);
        }
        Ok(self.operations.resume_piece(now, plane, &self.part))
    }

    /// Advances a plane that was suspended alone to its event at `now`.
    ///
    /// Panics if no event is due at `now`: then the caller has lost track of the die.
    pub fn elapse_piece(&mut self, now: Time, plane: u32) -> Elapsed {
        let elapsed = self.operations.elapse_piece(now, plane);
        if self.array == Array::InPieces && self.operations.is_whole() {
            self.array = Array::Idle;
        }
        elapsed
    }
}

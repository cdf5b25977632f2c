//! Planes that are stopped apart: each makes way for its own reads while the others work on.

use reprieve_base::{PageAddress, Time};

use super::{Array, Die};
use crate::command::{Command, Elapsed, Suspend};
use crate::operation::{Kind, Operation, Run, Stop};
use crate::refusal::Refusal;
use crate::timing::ResumeAt;

/// What an operation does on a plane that has been stopped apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    operation: Operation,
    pub(super) at: PageAddress,
    work: PlaneWork,
}

impl Piece {
    /// What `holds` says of its kind and place.
    pub(super) fn holds(&self, holds: impl Fn(Kind, &PageAddress) -> bool) -> bool {
        holds(self.operation.kind, &self.at)
    }
}

/// Where the program or erase of a plane stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneWork {
    /// Nothing is programmed or erased there.
    None,
    /// It runs until then.
    Running(Time),
    /// It is on its way into suspension, which it reaches then.
    Suspending(Time),
    /// It is suspended.
    Suspended,
}

impl Die {
    /// What is programmed or erased on a plane; not of a part that suspends all planes at once.
    pub fn plane_work(&self, plane: u32) -> PlaneWork {
        if let Some(piece) = self.beside.pieces.iter().find(|piece| piece.at.plane == plane) {
            return piece.work;
        }
        match self.array {
            Array::Running(until) if self.runs_on(plane) => PlaneWork::Running(until),
            _ => PlaneWork::None,
        }
    }

    /// Whether nothing is sensed, programmed or erased and no page is in a buffer: all that there
    /// is has been suspended.
    #[inline(always)]
    pub fn is_at_rest(&self) -> bool {
        self.is_free() || self.array == Array::InPieces && self.pieces_rest()
    }

    /// Whether a plane that was stopped apart is suspended.
    pub fn has_suspended_plane(&self) -> bool {
        let is_suspended = |piece: &Piece| piece.work == PlaneWork::Suspended;
        self.beside.get().is_some_and(|beside| beside.pieces.iter().any(is_suspended))
    }

    /// The operation of a plane that was stopped apart.
    pub(super) fn piece_on(&self, plane: u32) -> Option<&Operation> {
        let pieces = &self.beside.get()?.pieces;
        pieces.iter().find(|piece| piece.at.plane == plane).map(|piece| &piece.operation)
    }

    #[cold]
    fn pieces_rest(&self) -> bool {
        let all_stand = self.beside.pieces.iter().all(|piece| piece.work == PlaneWork::Suspended);
        all_stand && self.buffers_in_use == 0
    }

    /// What runs on a plane that was stopped apart and resumed at `from`, to follow its phases.
    pub fn plane_run(&self, plane: u32, from: Time) -> Option<Run> {
        let piece = self.beside.pieces.iter().find(|piece| piece.at.plane == plane)?;
        let runs = matches!(piece.work, PlaneWork::Running(_));
        runs.then(|| Run::new(piece.operation, from))
    }

    /// Whether the operation that runs works on a plane.
    fn runs_on(&self, plane: u32) -> bool {
        let is_own = |at: &PageAddress| at.plane == plane;
        self.operation.as_ref().is_some_and(|(_, at)| is_own(at))
            || self.beside.companions.iter().any(is_own)
    }

    /// Whether a command is a read of a plane that is free for it though others are at work.
    #[cold]
    pub(super) fn reads_beside(&self, command: Command) -> bool {
        let Command::Read(at) = command else { return false };
        self.part.parallelism.plane_suspension
            && matches!(self.plane_work(at.plane), PlaneWork::None | PlaneWork::Suspended)
    }

    /// Whether a plane that is suspended reads into a second register.
    pub(super) fn lends_register(&self, plane: u32) -> bool {
        self.part.suspension.resume_at == ResumeAt::ArrayRead
            && self.plane_work(plane) == PlaneWork::Suspended
    }

    /// Asks what runs on a plane to make way at `now`, there alone.
    pub fn suspend_plane(&mut self, now: Time, plane: u32) -> Result<Suspend, Refusal> {
        self.may_suspend(now, Some(plane))?;
        let place = self.beside.pieces.iter().position(|piece| piece.at.plane == plane);
        let running = match place {
            Some(place) => self.beside.pieces[place].operation,
            None => self.operation.expect("a running array has an operation").0,
        };
        let mut operation = running;
        let stop = operation.stop(now, &self.part.timing, &self.part.suspension, &mut self.vth);
        let Stop::At(free_at) = stop else { return Ok(Suspend::RunsToEnd) };
        let work = PlaneWork::Suspending(free_at);
        match place {
            Some(place) => {
                let piece = &mut self.beside.pieces[place];
                (piece.operation, piece.work) = (operation, work);
            }
            None => {
                let at = self.take_apart(plane);
                self.beside.pieces.push(Piece { operation: operation.on_planes(1), at, work });
            }
        }
        Ok(Suspend::FreeAt(free_at))
    }

    /// Takes a plane out of the operation that runs; returns where that works there.
    fn take_apart(&mut self, plane: u32) -> PageAddress {
        if let Some(place) = self.beside.companions.iter().position(|at| at.plane == plane) {
            return self.beside.companions.remove(place);
        }
        let (_, own) = self.operation.as_mut().expect("it works on the plane");
        let at = *own;
        if self.beside.companions.is_empty() {
            self.operation = None;
            self.array = Array::InPieces;
        } else {
            *own = self.beside.companions.remove(0);
        }
        at
    }

    /// Whether the page of a plane that was stopped apart has to be sent again over the channel.
    pub fn plane_needs_channel(&self, plane: u32) -> bool {
        let program = self.piece_on(plane).is_some_and(|piece| piece.kind == Kind::Program);
        program && !self.part.suspension.shadow_buffer
    }

    /// Lets a suspended plane go on from `now`; without a shadow buffer the caller sends the page
    /// of a program over the channel from then on. Says when it will have ended, if left alone.
    pub fn resume_plane(&mut self, now: Time, plane: u32) -> Result<Time, Refusal> {
        let found = self.beside.pieces.iter().position(|piece| piece.at.plane == plane);
        let place = found.filter(|place| self.beside.pieces[*place].work == PlaneWork::Suspended);
        let Some(place) = place else { return Err(Refusal::NothingToResume) };
        let page_leaves = self.plane_output_in_use(plane) && self.plane_needs_channel(plane);
        if !self.plane_is_free(plane) || page_leaves {
            return Err(Refusal::Busy);
        }
        let piece = &mut self.beside.pieces[place];
        piece.operation.resume(now, &self.part.timing, &self.part.suspension);
        let until = piece.operation.end(&self.part.timing);
        piece.work = PlaneWork::Running(until);
        Ok(until)
    }

    /// The instant has come that a plane promised which was stopped apart.
    ///
    /// Panics if nothing was promised for `now`: then the caller has lost track of the die.
    pub fn elapse_piece(&mut self, now: Time, plane: u32) -> Elapsed {
        let place = self.beside.pieces.iter().position(|piece| piece.at.plane == plane);
        let place = place.expect("a plane promised that was stopped apart");
        let piece = &mut self.beside.pieces[place];
        match piece.work {
            PlaneWork::Suspending(until) if until == now => {
                piece.work = PlaneWork::Suspended;
                Elapsed::Suspended
            }
            PlaneWork::Running(until) if until == now => {
                let Piece { operation, .. } = self.beside.pieces.remove(place);
                if self.beside.pieces.is_empty() && self.array == Array::InPieces {
                    self.array = Array::Idle;
                }
                match operation.kind {
                    Kind::Program => Elapsed::Programmed,
                    Kind::Erase => Elapsed::Erased,
                }
            }
            other => panic!("at {now} plane {plane} had promised another instant: {other:?}"),
        }
    }
}

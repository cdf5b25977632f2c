//! Programs and erases of a die that are not complete.

use reprieve_base::{PageAddress, Rare, Stream, Time};

use super::pieces::{Piece, Pieces, PlaneWork};
use crate::command::{Elapsed, Part};
use crate::operation::{Kind, Operation, Run, Stop};
use crate::timing::SameBlock;

/// Programs and erases of a die that are not complete.
///
/// There is at most one operation, and one more inside it: a program inside a suspended erase. On
/// some parts an operation works on several planes, and planes are suspended one by one.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Operations {
    /// The last operation started, and its block on the plane of its command.
    innermost: Option<(Operation, PageAddress)>,
    is_suspended: bool,
    beside: Rare<Beside>,
}

/// State that most parts never have, separate from that of every command.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Beside {
    /// The suspended erase inside which the innermost operation, a program, runs or is suspended.
    outer: Option<(Operation, PageAddress)>,
    /// Pages and blocks of other planes of the innermost operation, and of the outer one.
    companions: Vec<PageAddress>,
    outer_companions: Vec<PageAddress>,
    /// Planes that were suspended alone, out of an operation on several planes.
    pieces: Pieces,
}

impl Operations {
    pub(super) fn new(part: &Part) -> Operations {
        let has_several = part.does_several() || part.suspension.program_in_erase;
        Operations {
            innermost: None,
            is_suspended: false,
            beside: Rare::only_if(has_several, Beside::default),
        }
    }

    /// Returns plane and block of the last operation started, running or suspended.
    #[inline]
    pub fn block(&self) -> Option<(u32, u32)> {
        self.innermost.as_ref().map(|(_, at)| (at.plane, at.block))
    }

    /// Returns plane and block of the suspended erase around it.
    #[inline]
    pub fn outer_block(&self) -> Option<(u32, u32)> {
        let (_, at) = self.beside.get()?.outer.as_ref()?;
        Some((at.plane, at.block))
    }

    /// Returns the number of suspensions.
    pub fn suspensions(&self) -> u32 {
        self.innermost.as_ref().map_or(0, |(operation, _)| operation.suspensions)
    }

    /// Returns the pages or blocks on which it works at once.
    #[inline]
    pub fn planes(&self) -> u32 {
        1 + self.beside.get().map_or(0, |beside| beside.companions.len() as u32)
    }

    /// Whether a plane that was suspended alone is suspended now.
    pub fn has_suspended_plane(&self) -> bool {
        self.beside.get().is_some_and(|beside| beside.pieces.any(PlaneWork::Suspended))
    }

    /// Whether the last operation started is suspended.
    #[inline(always)]
    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Returns the last operation started, on all its planes.
    #[inline(always)]
    pub(super) fn innermost(&self) -> Option<&Operation> {
        self.innermost.as_ref().map(|(operation, _)| operation)
    }

    /// Returns the operation of a plane that was suspended alone, or else the last one started.
    pub(super) fn on(&self, plane: Option<u32>) -> Option<&Operation> {
        let piece = plane.and_then(|plane| self.piece_on(plane));
        piece.map(|piece| &piece.operation).or(self.innermost())
    }

    /// Returns the operation on a plane that was suspended alone.
    #[inline]
    pub(super) fn piece_on(&self, plane: u32) -> Option<&Piece> {
        self.beside.get()?.pieces.on(plane)
    }

    /// Whether no plane was suspended alone.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.beside.get().is_none_or(|beside| beside.pieces.is_empty())
    }

    /// Whether all planes that were suspended alone are suspended now.
    pub(super) fn pieces_rest(&self) -> bool {
        self.beside.get().is_none_or(|beside| beside.pieces.all(PlaneWork::Suspended))
    }

    /// Returns the last operation started, to follow its phases from its start or resume at `from`.
    pub(super) fn run(&self, from: Time) -> Option<Run> {
        self.innermost().map(|operation| Run::new(*operation, from))
    }

    /// Whether the last operation started works on a plane.
    pub(super) fn has_plane(&self, plane: u32) -> bool {
        let is_own = |at: &PageAddress| at.plane == plane;
        self.innermost.as_ref().is_some_and(|(_, at)| is_own(at))
            || self.beside.get().is_some_and(|beside| beside.companions.iter().any(is_own))
    }

    /// Whether an operation works on the block of `at`.
    #[inline]
    pub(super) fn work_on(&self, at: PageAddress) -> bool {
        let is_own = |own: &PageAddress| (own.plane, own.block) == (at.plane, at.block);
        self.innermost.as_ref().is_some_and(|(_, own)| is_own(own))
            || self.beside.get().is_some_and(|beside| self.work_beside(beside, is_own))
    }

    #[cold]
    fn work_beside(&self, beside: &Beside, is_own: impl Fn(&PageAddress) -> bool) -> bool {
        let Beside { outer, companions, outer_companions, pieces } = beside;
        let outer = outer.iter().map(|(_, at)| at);
        let mut others = outer.chain(companions).chain(outer_companions);
        self.innermost.is_some() && others.any(&is_own) || pieces.hold(|_, at| is_own(at))
    }

    /// Whether a read of `at` has to wait for an operation.
    #[inline]
    pub(super) fn bar_read(&self, part: &Part, at: PageAddress) -> bool {
        self.work_on(at)
            && (part.suspension.same_block == SameBlock::Block || self.hold_page(part, at))
    }

    /// As above for a page of a block in use, of which a program may hold only a part.
    #[cold]
    fn hold_page(&self, part: &Part, at: PageAddress) -> bool {
        let holds = |kind: Kind, own: &PageAddress| {
            let same_block = (own.plane, own.block) == (at.plane, at.block);
            same_block && (kind == Kind::Erase || program_holds(part, own.page, at.page))
        };
        let all = |(operation, own): &(Operation, PageAddress), others: &[PageAddress]| {
            holds(operation.kind, own) || others.iter().any(|own| holds(operation.kind, own))
        };
        let Some(Beside { outer, companions, outer_companions, pieces }) = self.beside.get() else {
            return self.innermost.as_ref().is_some_and(|innermost| all(innermost, &[]));
        };
        self.innermost.as_ref().is_some_and(|innermost| all(innermost, companions))
            || outer.as_ref().is_some_and(|outer| all(outer, outer_companions))
            || pieces.hold(holds)
    }

    /// Starts an operation at `at` and on the pages or blocks `others` of other planes.
    #[inline(always)]
    pub(super) fn begin(&mut self, operation: Operation, at: PageAddress, others: &[PageAddress]) {
        if self.is_suspended {
            self.push();
        }
        if !others.is_empty() {
            self.beside.companions.extend_from_slice(others);
        }
        self.innermost = Some((operation, at));
    }

    /// The suspended erase is now around the new program.
    #[cold]
    fn push(&mut self) {
        let beside = &mut *self.beside;
        beside.outer = self.innermost.take();
        std::mem::swap(&mut beside.companions, &mut beside.outer_companions);
        self.is_suspended = false;
    }

    /// Ends the running operation; an erase around it is then the suspended one.
    #[inline(always)]
    pub(super) fn end(&mut self) -> Kind {
        let (operation, _) = self.innermost.take().expect("a running array");
        if self.beside.get().is_some() {
            self.end_beside();
        }
        operation.kind
    }

    #[inline(never)]
    fn end_beside(&mut self) {
        let beside = &mut *self.beside;
        beside.companions.clear();
        if beside.outer.is_some() {
            self.innermost = beside.outer.take();
            std::mem::swap(&mut beside.companions, &mut beside.outer_companions);
            self.is_suspended = true;
        }
    }

    /// Stops the running operation.
    #[inline]
    pub(super) fn stop(&mut self, now: Time, part: &Part, vth: &mut Stream) -> Stop {
        let (operation, _) = self.innermost.as_mut().expect("a running array has an operation");
        operation.stop(now, &part.timing, &part.suspension, vth)
    }

    /// Suspends the operation.
    #[inline(always)]
    pub(super) fn suspended(&mut self) {
        self.is_suspended = true;
    }

    /// Resumes the suspended operation. Returns its end without suspension.
    #[inline]
    pub(super) fn resume(&mut self, now: Time, part: &Part) -> Time {
        let (operation, _) = self.innermost.as_mut().expect("a suspended die has an operation");
        operation.resume(now, &part.timing, &part.suspension);
        self.is_suspended = false;
        operation.end(&part.timing)
    }

    /// Suspends a plane alone, with this `operation`.
    pub(super) fn suspend_piece(&mut self, plane: u32, operation: Operation, free_at: Time) {
        let work = PlaneWork::Suspending(free_at);
        if let Some(piece) = self.beside.pieces.on_mut(plane) {
            (piece.operation, piece.work) = (operation, work);
            return;
        }
        let at = self.split_off(plane);
        self.beside.pieces.push(Piece { operation: operation.on_planes(1), at, work });
    }

    /// Removes a plane from the running operation; returns its page or block there.
    fn split_off(&mut self, plane: u32) -> PageAddress {
        let companions = &mut self.beside.companions;
        if let Some(place) = companions.iter().position(|at| at.plane == plane) {
            return companions.remove(place);
        }
        let (operation, at) = self.innermost.take().expect("it works on the plane");
        if !companions.is_empty() {
            self.innermost = Some((operation, companions.remove(0)));
        }
        at
    }

    /// Resumes a suspended plane alone. Returns the end of its operation without suspension.
    pub(super) fn resume_piece(&mut self, now: Time, plane: u32, part: &Part) -> Time {
        let piece = self.beside.pieces.on_mut(plane).expect("the plane is suspended");
        piece.operation.resume(now, &part.timing, &part.suspension);
        let until = piece.operation.end(&part.timing);
        piece.work = PlaneWork::Running(until);
        until
    }

    /// Advances a plane that was suspended alone to its event at `now`.
    pub(super) fn elapse_piece(&mut self, now: Time, plane: u32) -> Elapsed {
        self.beside.pieces.elapse(now, plane)
    }
}

/// Whether the program of page `own` holds another page of its block.
fn program_holds(part: &Part, own: u32, page: u32) -> bool {
    let timing = &part.timing;
    match part.suspension.same_block {
        SameBlock::Block => true,
        SameBlock::Wordline => timing.wordline_of(own) == timing.wordline_of(page),
        SameBlock::Page => (own..own + timing.pages_together()).contains(&page),
    }
}

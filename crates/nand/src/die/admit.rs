//! What a die takes: addresses, order of pages, and what lies in the way of a command.

use reprieve_base::PageAddress;

use super::Die;
use super::multi_plane::OtherPlanes;
use crate::command::{Command, Shape};
use crate::operation::Kind;
use crate::parallelism::MultiPlane;
use crate::refusal::Refusal;
use crate::timing::{ProgramSuspension, SameBlock, Suspension};

impl Die {
    /// Pages of a block that were programmed, or begun, since its last erase began.
    ///
    /// Panics if the die has no such block.
    pub fn programmed(&self, plane: u32, block: u32) -> u32 {
        let index = self.block_index(PageAddress { plane, block, page: 0 });
        u32::from(self.next_page[index.expect("the caller knows the die's shape")])
    }

    /// The page that a program is about to take has to be the next one of its block.
    #[inline(always)]
    pub(super) fn take_page(&mut self, block: usize, at: PageAddress) -> Result<(), Refusal> {
        let expected = u32::from(self.next_page[block]);
        match at.page.cmp(&expected) {
            std::cmp::Ordering::Less => return Err(Refusal::AlreadyProgrammed),
            std::cmp::Ordering::Greater => return Err(Refusal::OutOfOrder { expected }),
            std::cmp::Ordering::Equal => self.next_page[block] += self.pages_together,
        }
        if self.suspended {
            self.enclose();
        }
        Ok(())
    }

    /// Whether one command can take the page or block of `command` and all of `others` now.
    #[cold]
    pub(super) fn admit_together(
        &self,
        command: Command,
        others: &[PageAddress],
    ) -> Result<(), Refusal> {
        self.admit_set(command, others)?;
        let bars = |other: &PageAddress| match command {
            Command::Read(_) => self.bars_read(*other),
            _ => self.works_on(*other),
        };
        let open = !others.iter().any(bars);
        if open { Ok(()) } else { Err(Refusal::SuspendedBlock) }
    }

    /// Whether the part takes these pages or blocks with one command, and each page is in order.
    pub(super) fn admit_set(
        &self,
        command: Command,
        others: &[PageAddress],
    ) -> Result<(), Refusal> {
        let (at, is_erase) = match command {
            Command::Read(at) | Command::Program(at) => (at, false),
            Command::Erase(at) => (at, true),
            Command::Copyback { .. } => return Err(Refusal::NotTogether),
        };
        for (index, other) in others.iter().enumerate() {
            let block = self.block_index(*other)?;
            let before = others[..index].iter().chain([&at]);
            let fits = match self.part.parallelism.multi_plane {
                MultiPlane::None => false,
                MultiPlane::Page => is_erase || other.page == at.page,
                MultiPlane::Block => other.block == at.block && (is_erase || other.page == at.page),
            };
            if !fits || before.into_iter().any(|before| before.plane == other.plane) {
                return Err(Refusal::NotTogether);
            }
            let expected = u32::from(self.next_page[block]);
            if matches!(command, Command::Program(_)) && other.page != expected {
                return Err(match other.page < expected {
                    true => Refusal::AlreadyProgrammed,
                    false => Refusal::OutOfOrder { expected },
                });
            }
        }
        Ok(())
    }

    /// Whether a page can be moved within the die now.
    pub(super) fn admit_copyback(&self, from: PageAddress, to: PageAddress) -> Result<(), Refusal> {
        self.block_index(from)?;
        if self.pages_together > 1 {
            return Err(Refusal::NotTogether);
        }
        if from.plane != to.plane {
            return Err(Refusal::OtherPlane);
        }
        let Suspension { program, shadow_buffer, .. } = self.part.suspension;
        if program != ProgramSuspension::None && !shadow_buffer {
            return Err(Refusal::CannotRestore);
        }
        if self.works_on(from) {
            return Err(Refusal::SuspendedBlock);
        }
        self.admit_operation(Kind::Program, to)
    }

    /// Whether an operation of this kind may begin in an idle array.
    #[inline]
    pub(super) fn admit_operation(&self, kind: Kind, at: PageAddress) -> Result<(), Refusal> {
        if self.buffers_in_use > 0 {
            return Err(Refusal::Busy);
        }
        let Some((suspended, _)) = &self.operation else { return Ok(()) };
        if self.works_on(at) {
            return Err(Refusal::SuspendedBlock);
        }
        // What lies innermost is a program if there are two, so that there are never three.
        let fits = (kind, suspended.kind) == (Kind::Program, Kind::Erase);
        if fits && self.part.suspension.program_in_erase { Ok(()) } else { Err(Refusal::Nested) }
    }

    /// Whether an operation that runs or is suspended works on the block of `at`.
    #[inline]
    pub fn works_on(&self, at: PageAddress) -> bool {
        let is_own = |own: &PageAddress| (own.plane, own.block) == (at.plane, at.block);
        self.operation.as_ref().is_some_and(|(_, own)| is_own(own))
            || self.beside.get().is_some_and(|beside| self.works_beside_on(beside, is_own))
    }

    /// Whether a read of `at` waits for an operation that runs or is suspended.
    #[inline]
    pub fn bars_read(&self, at: PageAddress) -> bool {
        self.works_on(at) && (self.part.suspension.same_block == SameBlock::Block || self.holds(at))
    }

    /// The same of a page whose block is being worked on, where a program may hold less than that.
    #[cold]
    fn holds(&self, at: PageAddress) -> bool {
        let holds = |kind: Kind, own: &PageAddress| {
            let same_block = (own.plane, own.block) == (at.plane, at.block);
            same_block && (kind == Kind::Erase || self.program_holds(own.page, at.page))
        };
        if self.operation.as_ref().is_some_and(|(operation, own)| holds(operation.kind, own)) {
            return true;
        }
        let Some(OtherPlanes { outer, companions, outer_companions, pieces, .. }) =
            self.beside.get()
        else {
            return false;
        };
        let kind = self.operation.as_ref().map(|(operation, _)| operation.kind);
        let with_operation = kind.is_some_and(|kind| companions.iter().any(|own| holds(kind, own)));
        let with_outer = outer.as_ref().is_some_and(|(outer, own)| {
            holds(outer.kind, own) || outer_companions.iter().any(|own| holds(outer.kind, own))
        });
        with_operation || with_outer || pieces.iter().any(|piece| piece.holds(holds))
    }

    /// Whether the program of `own` holds another page of its block.
    fn program_holds(&self, own: u32, page: u32) -> bool {
        let timing = &self.part.timing;
        match self.part.suspension.same_block {
            SameBlock::Block => true,
            SameBlock::Wordline => timing.wordline_of(own) == timing.wordline_of(page),
            SameBlock::Page => (own..own + u32::from(self.pages_together)).contains(&page),
        }
    }

    #[cold]
    fn works_beside_on(&self, beside: &OtherPlanes, is_own: impl Fn(&PageAddress) -> bool) -> bool {
        let OtherPlanes { outer, companions, outer_companions, pieces, .. } = beside;
        let has_operation = self.operation.is_some();
        let outer = outer.iter().map(|(_, at)| at);
        let mut others = outer.chain(companions).chain(outer_companions);
        has_operation && others.any(&is_own) || pieces.iter().any(|piece| is_own(&piece.at))
    }

    #[inline]
    pub(super) fn block_index(&self, at: PageAddress) -> Result<usize, Refusal> {
        let Shape { planes, blocks_per_plane, pages_per_block } = self.part.shape;
        if at.plane >= planes || at.block >= blocks_per_plane || at.page >= pages_per_block {
            return Err(Refusal::NoSuchPage);
        }
        Ok(at.plane as usize * blocks_per_plane as usize + at.block as usize)
    }
}

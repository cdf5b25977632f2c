//! Admission of commands: addresses, order of pages, and other operations of the die.

use reprieve_base::PageAddress;

use super::Die;
use crate::command::Command;
use crate::operation::Kind;
use crate::parallelism::MultiPlane;
use crate::refusal::Refusal;
use crate::timing::{ProgramSuspension, Suspension};

impl Die {
    /// Returns the pages of a block programmed, or started, since the start of its last erase.
    ///
    /// Panics if the die has no such block.
    pub fn programmed(&self, plane: u32, block: u32) -> u32 {
        let index = self.part.shape.block_index(PageAddress { plane, block, page: 0 });
        self.pages.of(index.expect("the caller knows the die's shape"))
    }

    /// Marks the pages of a program: `at`, which has to be the next page of its block, and those of
    /// `others`, which are known to be.
    #[inline(always)]
    pub(super) fn take_pages(
        &mut self,
        block: usize,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<(), Refusal> {
        self.pages.admit(block, at.page)?;
        self.pages.advance(block);
        for other in others {
            self.pages.advance(self.part.shape.block_index(*other)?);
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
            let block = self.part.shape.block_index(*other)?;
            let before = others[..index].iter().chain([&at]);
            let fits = match self.part.parallelism.multi_plane {
                MultiPlane::None => false,
                MultiPlane::Page => is_erase || other.page == at.page,
                MultiPlane::Block => other.block == at.block && (is_erase || other.page == at.page),
            };
            if !fits || before.into_iter().any(|before| before.plane == other.plane) {
                return Err(Refusal::NotTogether);
            }
            if matches!(command, Command::Program(_)) {
                self.pages.admit(block, other.page)?;
            }
        }
        Ok(())
    }

    /// Whether a page can be moved within the die now.
    pub(super) fn admit_copyback(&self, from: PageAddress, to: PageAddress) -> Result<(), Refusal> {
        self.part.shape.block_index(from)?;
        if self.part.timing.pages_together() > 1 {
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

    /// Whether an operation of this kind may start in an idle array.
    #[inline]
    pub(super) fn admit_operation(&self, kind: Kind, at: PageAddress) -> Result<(), Refusal> {
        if !self.plane_reads.are_free() {
            return Err(Refusal::Busy);
        }
        let Some(suspended) = self.operations.innermost() else { return Ok(()) };
        if self.works_on(at) {
            return Err(Refusal::SuspendedBlock);
        }
        // If there are two operations, the inner one is a program, so that there are never three.
        let fits = (kind, suspended.kind) == (Kind::Program, Kind::Erase);
        if fits && self.part.suspension.program_in_erase { Ok(()) } else { Err(Refusal::Nested) }
    }

    /// Whether an operation that runs or is suspended works on the block of `at`.
    #[inline]
    pub fn works_on(&self, at: PageAddress) -> bool {
        self.operations.work_on(at)
    }

    /// Whether a read of `at` waits for an operation that runs or is suspended.
    #[inline]
    pub fn bars_read(&self, at: PageAddress) -> bool {
        self.operations.bar_read(&self.part, at)
    }
}

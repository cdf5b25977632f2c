//! Cache program: the data of the next program comes in while one runs.

use reprieve_base::{PageAddress, Time};

use super::{Array, Die};
use crate::command::Command;
use crate::operation::{Kind, Operation};
use crate::refusal::Refusal;
use crate::timing::ProgramSuspension;

/// The second register, for the page of a program that starts when the running one has ended.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct LoadRegister {
    /// The page in it, or on its way there, and the end of its data-in.
    page: Option<(PageAddress, Time)>,
    /// Pages of other planes that are programmed with it.
    companions: Vec<PageAddress>,
}

impl LoadRegister {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.page.is_none()
    }
}

impl Die {
    /// Whether the data of a next program can come in now, during a running program.
    #[inline]
    pub fn takes_load(&self, now: Time) -> bool {
        let is_free = self.loaded.get().is_some_and(LoadRegister::is_empty)
            && matches!(self.array, Array::Running(_))
            && self.operations.outer_block().is_none()
            && !self.output_in_use();
        let next_to = |operation: &Operation| {
            operation.kind == Kind::Program && !operation.is_in_transfer(now)
        };
        is_free && self.operations.innermost().is_some_and(next_to)
    }

    /// Takes the page of a next program over the channel from `now` on, and those of `others` in
    /// further planes; it starts when the running one has ended and its own data is in.
    ///
    /// Returns when its data is in.
    pub fn load(
        &mut self,
        now: Time,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        let block = self.part.shape.block_index(at)?;
        if !self.takes_load(now) {
            return Err(Refusal::Busy);
        }
        let suspension = &self.part.suspension;
        if suspension.program != ProgramSuspension::None && !suspension.shadow_buffer {
            return Err(Refusal::CannotRestore);
        }
        if !others.is_empty() {
            self.admit_set(Command::Program(at), others)?;
        }
        self.take_pages(block, at, others)?;
        let planes = others.len() as u64 + 1;
        let timing = &self.part.timing;
        let data_in_end = now + (timing.command + timing.data_in()) * planes;
        self.loaded.companions.extend_from_slice(others);
        self.loaded.page = Some((at, data_in_end));
        Ok(data_in_end)
    }

    /// Ends one of several operations: with suspended planes left, or a loaded program that starts.
    #[cold]
    pub(super) fn end_one_of_several(&mut self, now: Time) {
        if !self.operations.is_whole() {
            self.array = Array::InPieces;
        }
        if self.loaded.get().is_some_and(|register| !register.is_empty()) {
            let (at, data_in_end) = self.loaded.page.take().expect("a program is loaded");
            let mut others = std::mem::take(&mut self.loaded.companions);
            let iterations = self.lengths.longest(&self.part, at, &others);
            let operation = Operation::program(data_in_end.max(now), iterations);
            self.begin(operation.on_planes(others.len() as u32 + 1), at, &others);
            // Keeps its memory, so that the next program allocates none.
            others.clear();
            self.loaded.companions = others;
        }
    }

    /// Returns the end of the running program or erase without suspension.
    pub fn running_until(&self) -> Option<Time> {
        match self.array {
            Array::Running(until) => Some(until),
            _ => None,
        }
    }
}

//! Cache program: the data of the next program comes in while one runs.

use reprieve_base::{PageAddress, Time};

use super::{Array, Die};
use crate::command::Command;
use crate::operation::{Kind, Operation};
use crate::refusal::Refusal;
use crate::timing::ProgramSuspension;

/// A program whose page is in the second register, or on its way there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    at: PageAddress,
    planes: u32,
    data_in_end: Time,
}

impl Die {
    /// Whether the page of a next program could come in now, beside a program that runs.
    #[inline]
    pub fn takes_load(&self, now: Time) -> bool {
        let is_free = self.part.parallelism.cache_program
            && matches!(self.array, Array::Running(_))
            && self.beside.loaded.is_none()
            && self.beside.outer.is_none()
            && !self.output_in_use();
        let next_to = |operation: &Operation| {
            operation.kind == Kind::Program && !operation.is_in_transfer(now)
        };
        is_free && self.operation.as_ref().is_some_and(|(operation, _)| next_to(operation))
    }

    /// Takes the page of a next program over the channel from `now` on, and of `others` in further
    /// planes; it begins when the one that runs has ended and its own data is in.
    ///
    /// Returns when its data is in.
    pub fn load(
        &mut self,
        now: Time,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        let block = self.block_index(at)?;
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
        self.take_page(block, at)?;
        for other in others {
            let block = self.block_index(*other)?;
            self.next_page[block] += self.pages_together;
        }
        self.beside.loaded_companions.extend_from_slice(others);
        let planes = others.len() as u32 + 1;
        let timing = &self.part.timing;
        let data_in_end = now + (timing.command + timing.data_in()) * u64::from(planes);
        self.beside.loaded = Some(Loaded { at, planes, data_in_end });
        Ok(data_in_end)
    }

    /// An operation, and what belonged to it, has ended; a program that was loaded takes the array.
    #[cold]
    pub(super) fn end_together(&mut self, now: Time) {
        self.beside.companions.clear();
        if !self.beside.pieces.is_empty() {
            self.array = Array::InPieces;
        }
        if self.beside.loaded.is_some() {
            self.begin_loaded(now);
        }
    }

    fn begin_loaded(&mut self, now: Time) {
        let Loaded { at, planes, data_in_end } =
            self.beside.loaded.take().expect("a program is loaded");
        let iterations = self.iterations_together(at, &self.beside.loaded_companions);
        let operation = Operation::program(data_in_end.max(now), &self.part.timing, iterations);
        let beside = &mut *self.beside;
        std::mem::swap(&mut beside.companions, &mut beside.loaded_companions);
        self.begin(operation.on_planes(planes), at);
    }

    /// When the program or erase that runs will have ended, if it is not suspended.
    pub fn running_until(&self) -> Option<Time> {
        match self.array {
            Array::Running(until) => Some(until),
            _ => None,
        }
    }
}

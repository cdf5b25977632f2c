//! Independent plane reads: each plane has its own page buffer and output register.

use reprieve_base::{PageAddress, Time};

use super::{Array, Die};
use crate::command::{Elapsed, Part};
use crate::refusal::Refusal;

/// Buffers and registers of planes with independent reads; empty on other parts.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct PlaneReads {
    planes: Box<[PlaneRead]>,
    /// Numbers of planes whose page buffer, and whose output register, is in use.
    buffers_in_use: u32,
    registers_in_use: u32,
}

/// State of a plane with independent reads.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct PlaneRead {
    buffer: Buffer,
    /// A sensed page in the output register waits for its transfer, or is transferred.
    output_in_use: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Buffer {
    #[default]
    Idle,
    /// Senses until this instant.
    Reading(Time),
    /// A sensed page is in it.
    Holding,
}

impl PlaneReads {
    pub(super) fn new(part: &Part) -> PlaneReads {
        let planes = match part.parallelism.independent_plane_reads {
            true => part.shape.planes as usize,
            false => 0,
        };
        PlaneReads {
            planes: vec![PlaneRead::default(); planes].into_boxed_slice(),
            buffers_in_use: 0,
            registers_in_use: 0,
        }
    }

    /// Whether the part has independent plane reads.
    #[inline(always)]
    pub(super) fn has_planes(&self) -> bool {
        !self.planes.is_empty()
    }

    /// Whether the buffer of some plane is free.
    #[inline]
    pub fn has_free(&self) -> bool {
        (self.buffers_in_use as usize) < self.planes.len()
    }

    /// Whether the buffer of a plane is free.
    #[inline]
    pub fn is_free(&self, plane: u32) -> bool {
        self.planes[plane as usize].buffer == Buffer::Idle
    }

    /// Whether the buffers of all planes are free.
    #[inline(always)]
    pub(super) fn are_free(&self) -> bool {
        self.buffers_in_use == 0
    }

    /// Whether the output register of a plane holds a sensed page.
    pub fn output_in_use(&self, plane: u32) -> bool {
        self.planes[plane as usize].output_in_use
    }

    /// Whether that is so on some plane.
    #[inline(always)]
    pub(super) fn any_output_in_use(&self) -> bool {
        self.registers_in_use > 0
    }

    /// Returns when the last plane has sensed; `None`: none senses.
    pub fn until(&self) -> Option<Time> {
        self.ends().max()
    }

    /// Returns how many planes sense.
    pub fn sensing(&self) -> u32 {
        self.ends().count() as u32
    }

    fn ends(&self) -> impl Iterator<Item = Time> {
        self.planes.iter().filter_map(|plane| match plane.buffer {
            Buffer::Reading(until) => Some(until),
            Buffer::Idle | Buffer::Holding => None,
        })
    }

    /// Starts sensing on a plane, whose buffer is free, until `until`.
    fn start(&mut self, plane: u32, until: Time) {
        self.planes[plane as usize].buffer = Buffer::Reading(until);
        self.buffers_in_use += 1;
    }

    /// Ends the sensing of a plane at `now`; the page moves into its register if that is free.
    fn elapse(&mut self, now: Time, plane: u32, has_register: bool) -> Elapsed {
        let state = &mut self.planes[plane as usize];
        assert_eq!(state.buffer, Buffer::Reading(now), "a plane promised another instant");
        if state.output_in_use || !has_register {
            state.buffer = Buffer::Holding;
            return if state.output_in_use { Elapsed::ReadHeld } else { Elapsed::ReadReady };
        }
        state.buffer = Buffer::Idle;
        state.output_in_use = true;
        self.buffers_in_use -= 1;
        self.registers_in_use += 1;
        Elapsed::ReadReady
    }

    /// Completes the transfer of a page. Returns true if a held page can be transferred now.
    fn release(&mut self, plane: u32, has_register: bool) -> bool {
        let state = &mut self.planes[plane as usize];
        let holds = state.buffer == Buffer::Holding;
        assert!(holds || state.output_in_use, "a page left a plane that had none");
        if !state.output_in_use {
            state.buffer = Buffer::Idle;
            self.buffers_in_use -= 1;
            return false;
        }
        state.output_in_use = holds && has_register;
        if state.output_in_use {
            state.buffer = Buffer::Idle;
            self.buffers_in_use -= 1;
        } else {
            self.registers_in_use -= 1;
        }
        holds
    }
}

impl Die {
    /// Returns the planes with independent reads, if the part has them.
    #[inline(always)]
    pub fn plane_reads(&self) -> &PlaneReads {
        &self.plane_reads
    }

    /// Whether nothing is programmed or erased, so that any plane whose buffer is free can read.
    #[inline]
    pub fn takes_reads(&self) -> bool {
        self.array == Array::Idle
    }

    /// Starts a read on its plane, whose command cycles are over at `issued`.
    pub(super) fn start_on_plane(
        &mut self,
        issued: Time,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        if !others.is_empty() {
            return Err(Refusal::NotTogether);
        }
        if !self.plane_reads.is_free(at.plane) {
            return Err(Refusal::Busy);
        }
        let until = issued + self.lengths.read(&self.part, at);
        self.plane_reads.start(at.plane, until);
        Ok(until)
    }

    /// Advances an independent read of a plane to its event at `now`.
    ///
    /// Panics if no event is due at `now`: then the caller has lost track of the die.
    pub fn elapse_plane(&mut self, now: Time, plane: u32) -> Elapsed {
        let has_register = self.has_output_register() || self.lends_register(plane);
        self.plane_reads.elapse(now, plane, has_register)
    }

    /// Completes a transfer of a plane. Returns true if a held page can be transferred now.
    pub fn release_plane(&mut self, plane: u32) -> bool {
        let has_register = self.has_output_register() || self.lends_register(plane);
        self.plane_reads.release(plane, has_register)
    }
}

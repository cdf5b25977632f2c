//! Planes that read by themselves: each has its own page buffer and output register.

use reprieve_base::{PageAddress, Time};

use super::{Array, Die};
use crate::command::Elapsed;
use crate::refusal::Refusal;

/// Where a plane stands that reads by itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlaneRead {
    buffer: Buffer,
    /// A sensed page that the buffer has let go of is waiting to leave, or leaving.
    output_in_use: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Buffer {
    #[default]
    Idle,
    /// Sensing until then.
    Reading(Time),
    /// A sensed page waits in it.
    Holding,
}

impl Die {
    /// Begins a read on its plane, whose command cycles are over at `issued`.
    pub(super) fn start_on_plane(
        &mut self,
        issued: Time,
        at: PageAddress,
        others: &[PageAddress],
    ) -> Result<Time, Refusal> {
        if !others.is_empty() {
            return Err(Refusal::NotTogether);
        }
        if self.beside.planes[at.plane as usize].buffer != Buffer::Idle {
            return Err(Refusal::Busy);
        }
        let until = issued + self.read_time(at.page);
        self.beside.planes[at.plane as usize].buffer = Buffer::Reading(until);
        self.buffers_in_use += 1;
        Ok(until)
    }

    /// Whether nothing is programmed or erased, so that any plane whose buffer is free can read.
    #[inline]
    pub fn takes_reads(&self) -> bool {
        self.array == Array::Idle
    }

    /// Whether the buffer of one of the planes that read by themselves is free.
    #[inline]
    pub fn has_free_plane(&self) -> bool {
        (self.buffers_in_use as usize) < self.beside.planes.len()
    }

    /// When the last of the planes that read by themselves will have sensed; `None`: none senses.
    pub fn senses_until(&self) -> Option<Time> {
        self.ends_of_senses().max()
    }

    /// Planes that read by themselves and sense.
    pub fn planes_sensing(&self) -> u32 {
        self.ends_of_senses().count() as u32
    }

    fn ends_of_senses(&self) -> impl Iterator<Item = Time> {
        let planes = self.beside.get().map_or(&[][..], |beside| &beside.planes);
        planes.iter().filter_map(|plane| match plane.buffer {
            Buffer::Reading(until) => Some(until),
            Buffer::Idle | Buffer::Holding => None,
        })
    }

    /// Whether the buffer of a plane that reads by itself is free.
    #[inline]
    pub fn plane_is_free(&self, plane: u32) -> bool {
        self.beside.planes[plane as usize].buffer == Buffer::Idle
    }

    /// Whether a sensed page that its buffer has let go of waits to leave a plane, or leaves it.
    pub fn plane_output_in_use(&self, plane: u32) -> bool {
        self.beside.planes[plane as usize].output_in_use
    }

    /// The instant that a read promised has come, on a plane that reads by itself.
    ///
    /// Panics if nothing was promised for `now`: then the caller has lost track of the die.
    pub fn elapse_plane(&mut self, now: Time, plane: u32) -> Elapsed {
        let has_register = self.has_output_register() || self.lends_register(plane);
        let state = &mut self.beside.planes[plane as usize];
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

    /// A page of a plane that reads by itself has left. Returns true if a held one can leave now.
    pub fn release_plane(&mut self, plane: u32) -> bool {
        let has_register = self.has_output_register() || self.lends_register(plane);
        let state = &mut self.beside.planes[plane as usize];
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

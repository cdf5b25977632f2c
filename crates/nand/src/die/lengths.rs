//! Read and program times of a die, where they differ from the part's.

use reprieve_base::{Dur, PageAddress, Rare, Stream};

use super::Die;
use crate::command::Part;
use crate::timing::{ReadLaw, SlcMode};
use crate::wordlines::IterationSpread;

/// Read and program times of a die.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Lengths {
    drawn: Rare<Drawn>,
    /// Whether each block is in SLC mode, where a part has one.
    slc: Rare<Vec<bool>>,
}

/// Random streams of times that differ by page or by read.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Drawn {
    /// Stream of read times.
    reads: Stream,
    /// Stream of the iterations of wordlines.
    wordlines: u64,
}

impl Lengths {
    /// Returns those of the die `index`, with no block in SLC mode.
    pub(super) fn new(part: &Part, seed: u64, index: u64) -> Lengths {
        let Part { timing, shape, .. } = part;
        let differ = timing.read_law == ReadLaw::Exponential || timing.spread.is_some();
        let drawn = Rare::only_if(differ, || Drawn {
            reads: Stream::new(seed, "nand.read", index),
            wordlines: Stream::new(seed, "nand.wordlines", index).next_u64(),
        });
        let blocks = shape.planes as usize * shape.blocks_per_plane as usize;
        Lengths { drawn, slc: Rare::only_if(timing.slc.is_some(), || vec![false; blocks]) }
    }

    /// Returns the time of a read of a page: drawn anew each time, or the part's.
    #[inline(always)]
    pub(super) fn read(&mut self, part: &Part, at: PageAddress) -> Dur {
        let timing = &part.timing;
        let read = match self.slc_mode(part, at) {
            None => timing.read_of(at.page),
            Some(mode) => mode.read,
        };
        match timing.read_law {
            ReadLaw::Fixed => read,
            ReadLaw::Exponential => self.draw_read(read),
        }
    }

    #[inline(never)]
    fn draw_read(&mut self, mean: Dur) -> Dur {
        // The argument is in (0, 1]; `libm` for the same bits on every machine.
        let times_mean = -libm::log(1.0 - self.drawn.reads.unit());
        Dur::from_ns((times_mean * mean.ns() as f64).round() as u64)
    }

    /// Returns the iterations of a program of this page, a constant of the page.
    #[inline(always)]
    pub(super) fn iterations(&self, part: &Part, at: PageAddress) -> u32 {
        if let Some(mode) = self.slc_mode(part, at) {
            return mode.program_iterations;
        }
        match (&part.timing.spread, part.timing.coarse_iterations) {
            (None, None) => part.timing.iterations_of(at.page),
            (None, Some(coarse)) => in_two_passes(part, coarse, at.page),
            (Some(spread), _) => self.by_wordline(spread, part, at),
        }
    }

    #[cold]
    fn by_wordline(&self, spread: &IterationSpread, part: &Part, at: PageAddress) -> u32 {
        let block = part.shape.block_index(at).expect("programs stay inside the die") as u64;
        let pages = block * u64::from(part.shape.pages_per_block);
        let wordline = (pages + u64::from(at.page)) / u64::from(part.timing.pages_together());
        spread.of(self.drawn.wordlines, wordline)
    }

    /// Returns the times of a block in SLC mode; `None` in normal mode.
    #[inline(always)]
    fn slc_mode(&self, part: &Part, at: PageAddress) -> Option<SlcMode> {
        let blocks = self.slc.get()?;
        let block = part.shape.block_index(at).expect("commands stay inside the die");
        part.timing.slc.filter(|_| blocks[block])
    }

    /// Whether the block of an address is in SLC mode.
    #[inline(always)]
    pub(super) fn is_slc(&self, part: &Part, at: PageAddress) -> bool {
        self.slc_mode(part, at).is_some()
    }

    /// Sets or clears the SLC mode of a block, by its number in the die.
    #[inline]
    pub(super) fn set_slc(&mut self, block: usize, is_slc: bool) {
        if self.slc.get().is_some() {
            self.slc[block] = is_slc;
        }
    }

    /// Returns the iterations of a program of pages of several planes, the most of any.
    #[inline]
    pub(super) fn longest(&self, part: &Part, at: PageAddress, others: &[PageAddress]) -> u32 {
        let rest = others.iter().map(|other| self.iterations(part, *other));
        rest.fold(self.iterations(part, at), u32::max)
    }
}

/// Returns the iterations of a program: the coarse pass over its wordline, the fine pass over the
/// one before it in the block, and over its own if it is the last.
#[cold]
fn in_two_passes(part: &Part, coarse: u32, page: u32) -> u32 {
    let Part { timing, shape, .. } = part;
    let has_before = page >= timing.pages_together();
    let is_last = page + timing.pages_together() >= shape.pages_per_block;
    coarse + (u32::from(has_before) + u32::from(is_last)) * timing.program_iterations
}

impl Die {
    /// Returns the iterations of a program of this page, a constant of the page.
    #[inline(always)]
    pub fn iterations_of(&self, at: PageAddress) -> u32 {
        self.lengths.iterations(&self.part, at)
    }

    /// Returns the time of a program of this page without suspension, with command and data-in.
    #[inline]
    pub fn undisturbed_program(&self, at: PageAddress) -> Dur {
        let is_slc = self.lengths.is_slc(&self.part, at);
        self.part.timing.undisturbed_program(is_slc, self.iterations_of(at))
    }

    /// Puts an empty block into SLC mode, until its next erase.
    ///
    /// Panics if pages of it are programmed in another mode, or the part has no such mode.
    pub fn use_slc(&mut self, at: PageAddress) {
        if self.lengths.is_slc(&self.part, at) {
            return;
        }
        let block = self.part.shape.block_index(at).expect("programs stay inside the die");
        assert!(self.part.timing.slc.is_some() && self.pages.of(block) == 0, "no block for SLC");
        self.lengths.set_slc(block, true);
    }

    /// Returns the time of a copyback without suspension, with its two commands.
    #[inline(never)]
    pub fn undisturbed_copyback(&self, from: PageAddress, to: PageAddress) -> Dur {
        self.part.timing.undisturbed_copyback(from.page, self.iterations_of(to))
    }
}

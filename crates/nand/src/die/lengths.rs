//! How long the program of a page of this die takes, which can depend on its wordline.

use reprieve_base::{Dur, PageAddress};

use super::Die;
use crate::wordlines::IterationSpread;

impl Die {
    /// Iterations of a program of this page, the same each time it is programmed.
    #[inline(always)]
    pub fn iterations_of(&self, at: PageAddress) -> u32 {
        match &self.part.timing.spread {
            None => self.part.timing.iterations_of(at.page),
            Some(spread) => self.iterations_by_wordline(spread, at),
        }
    }

    #[cold]
    fn iterations_by_wordline(&self, spread: &IterationSpread, at: PageAddress) -> u32 {
        let block = self.block_index(at).expect("programs stay inside the die") as u64;
        let pages = block * u64::from(self.part.shape.pages_per_block);
        let wordline = (pages + u64::from(at.page)) / u64::from(self.pages_together);
        spread.of(self.beside.wordlines, wordline)
    }

    /// Iterations of a program of pages of several planes, which lasts as long as the longest.
    #[inline]
    pub(super) fn iterations_together(&self, at: PageAddress, others: &[PageAddress]) -> u32 {
        let rest = others.iter().map(|other| self.iterations_of(*other));
        rest.fold(self.iterations_of(at), u32::max)
    }

    /// A program of this page that nobody suspends, its command and its data in included.
    #[inline]
    pub fn undisturbed_program(&self, at: PageAddress) -> Dur {
        self.part.timing.undisturbed_program(self.iterations_of(at))
    }

    /// A copyback that nobody suspends, its two commands included.
    #[inline(never)]
    pub fn undisturbed_copyback(&self, from: PageAddress, to: PageAddress) -> Dur {
        self.part.timing.undisturbed_copyback(from.page, self.iterations_of(to))
    }
}

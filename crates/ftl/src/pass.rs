//! Passes of overwrites, and the test for a stationary drive.

use reprieve_base::UserError;

/// Passes whose counts of moved pages differ by less than one in this many writes are alike; three
/// in a row have to be, as an oscillating count is alike where it turns.
const STATIONARY: u64 = 200;
/// Standard deviations between passes that count as chance. Free pages of victims spread like a
/// Poisson law, so that with draws of one page each the deviation of a count is the root of the
/// writes, times write amplification; requests of several pages are as many draws fewer.
const DEVIATIONS: u64 = 3;
/// Passes after which a drive has settled unless it still drifts, despite larger spread: with few
/// spare blocks a few planes spread more than draws do.
const SETTLED: u32 = 12;
/// Passes after which preconditioning is given up.
const PASSES_MAX: u32 = 40;

/// One pass: as many random overwrites as the drive has logical pages.
pub(super) struct Pass {
    number: u32,
    /// Pages moved by garbage collection in this pass, and in earlier ones, the last first.
    pub(super) moved: u64,
    before: [u64; 5],
    /// Places drawn in this pass: one for each write, or for each request.
    pub(super) draws: u64,
}

impl Pass {
    pub(super) fn first() -> Pass {
        Pass { number: 0, moved: 0, before: [0; 5], draws: 0 }
    }

    pub(super) fn is_like_those_before(&self, pages: u64, physical_pages: u64) -> bool {
        // Before every block has been filled once, garbage collection has no work.
        if u64::from(self.number) * pages < physical_pages {
            return false;
        }
        let [before, earlier, ..] = self.before;
        let differs_by = self.moved.abs_diff(before).max(self.moved.abs_diff(earlier));
        let drifts = (self.moved > before) == (before > earlier);
        let chance = DEVIATIONS * (self.moved + pages) / self.draws.isqrt().max(1);
        let alike = (pages / STATIONARY).max(DEVIATIONS * pages.isqrt());
        differs_by <= alike || !drifts && differs_by <= chance
    }

    /// Whether a drive of which a few planes are overwritten drifts no more.
    pub(super) fn has_settled(&self) -> bool {
        // Three passes that drift have a mean beyond each of the three before them.
        let [before, earlier, others @ ..] = self.before;
        let of_three = self.moved + before + earlier;
        let [low, high] = [others.iter().min(), others.iter().max()].map(|it| 3 * it.unwrap_or(&0));
        self.number >= SETTLED && (low..=high).contains(&of_three)
    }

    /// Returns the write amplification of a completed pass.
    pub(super) fn waf(&self, pages: u64) -> f64 {
        1.0 + self.moved as f64 / pages as f64
    }

    pub(super) fn next(&mut self) -> Result<(), UserError> {
        if self.number + 1 == PASSES_MAX {
            return Err(UserError::new(format!(
                "ftl.precondition = \"steady\": after {PASSES_MAX} overwrites of the drive its \
                 write amplification still changes from one to the next; use \"sequential\", or a \
                 larger ftl.over_provisioning"
            )));
        }
        let [one, two, three, four, _] = self.before;
        let before = [self.moved, one, two, three, four];
        *self = Pass { number: self.number + 1, moved: 0, before, draws: 0 };
        Ok(())
    }
}

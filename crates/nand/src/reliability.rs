//! Reliability: the raw bit error rate of pages, and wear.

pub use crate::worst_codeword::WorstCodeword;

/// History of a page and its block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stress {
    /// Program/erase cycles of the block; fractional by suspensions.
    pub cycles: f64,
    /// Days since the page was programmed.
    pub retention_days: f64,
    /// Reads of the block since its erase.
    pub reads: f64,
    /// Suspensions of the program that wrote the page.
    pub suspensions: f64,
}

/// Rate of raw bit errors (RBER): the sum of a base, wear, retention, read disturb, suspensions.
///
/// `epsilon + alpha C^k + beta C^m t^n + gamma C^p R^q + delta S`, the form of Kim, Choi and Min,
/// FAST 2019, with a last term of ours; `C`, `t` in days, `R` and `S` as in [`Stress`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rber {
    /// Base rate.
    pub epsilon: f64,
    /// Wear.
    pub alpha: f64,
    /// Exponent of the cycles in wear.
    pub k: f64,
    /// Retention.
    pub beta: f64,
    /// Exponent of the cycles in retention.
    pub m: f64,
    /// Exponent of the days in retention.
    pub n: f64,
    /// Read disturb.
    pub gamma: f64,
    /// Exponent of the cycles in read disturb.
    pub p: f64,
    /// Exponent of the reads in read disturb.
    pub q: f64,
    /// Added for each suspension of the program.
    pub delta: f64,
}

/// Terms of [`Rber`] that depend on the cycles of a block only, among them all of wear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleTerms {
    /// The cycles.
    pub cycles: f64,
    wear: f64,
    retention: f64,
    disturb: f64,
}

/// Error rate of a random bit, the maximum.
pub const COIN: f64 = 0.5;

impl Rber {
    /// Returns the rate of a page, at most one half, where a bit carries no information.
    pub fn rate(&self, stress: &Stress) -> f64 {
        self.rate_by(&self.by_cycles(stress.cycles), stress)
    }

    /// Returns the terms that depend on the cycles of the block alone.
    pub fn by_cycles(&self, cycles: f64) -> CycleTerms {
        // `libm` for the same bits on every machine; a zero term costs nothing.
        let term = |factor: f64, exponent: f64| match factor {
            0.0 => 0.0,
            _ => factor * libm::pow(cycles, exponent),
        };
        CycleTerms {
            cycles,
            wear: term(self.alpha, self.k),
            retention: term(self.beta, self.m),
            disturb: term(self.gamma, self.p),
        }
    }

    /// Returns the rate of a page with known terms of its block.
    pub fn rate_by(&self, terms: &CycleTerms, stress: &Stress) -> f64 {
        let Stress { retention_days, reads, suspensions, .. } = *stress;
        let term = |by_cycles: f64, other: f64, exponent: f64| match by_cycles {
            0.0 => 0.0,
            _ => by_cycles * libm::pow(other, exponent),
        };
        let rate = self.epsilon
            + terms.wear
            + term(terms.retention, retention_days, self.n)
            + term(terms.disturb, reads, self.q)
            + self.delta * suspensions;
        rate.min(COIN)
    }

    /// Returns the error rates that a characterisation finds in a block with suspensions and in one
    /// without.
    pub fn characterised(&self, test: &Characterisation) -> Characterised {
        let fresh = Stress { cycles: test.cycles, ..Stress::default() };
        let before = self.rate(&fresh);
        let worn = test.run_cycles * (1.0 + test.suspensions * test.wear_per_program_suspend);
        let suspended = Stress {
            cycles: test.cycles + worn,
            suspensions: test.suspensions,
            ..Stress::default()
        };
        let untouched = Stress { retention_days: test.elapsed_days, ..fresh };
        Characterised {
            suspended: (before, self.rate(&suspended)),
            untouched: (before, self.rate(&untouched)),
        }
    }
}

/// A characterisation: cycles of a block, and suspensions of each program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Characterisation {
    /// Cycles of both blocks before.
    pub cycles: f64,
    /// Cycles that the characterisation adds to the block under test.
    pub run_cycles: f64,
    /// Suspensions of each program.
    pub suspensions: f64,
    /// Share of a cycle that a suspension of a program wears the block.
    pub wear_per_program_suspend: f64,
    /// Its length in days, during which the other block's data ages.
    pub elapsed_days: f64,
}

/// Rates of raw bit errors before and after a characterisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Characterised {
    /// Of the block with suspended programs, read right after its programs.
    pub suspended: (f64, f64),
    /// Of a block that was written before and not disturbed.
    pub untouched: (f64, f64),
}

/// Wear of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Wear {
    /// Cycles before the simulation.
    pub cycles_at_start: u32,
    /// Erases since, without those in SLC mode.
    pub erases: u32,
    /// Cycles by erases in SLC mode since.
    pub slc_cycles: f64,
    /// Suspensions of its programs since.
    pub program_suspensions: u64,
    /// Suspensions of its erases since.
    pub erase_suspensions: u64,
}

impl Wear {
    /// Returns program/erase cycles, with `shares` for suspensions.
    pub fn cycles(&self, shares: &SuspendWear) -> f64 {
        f64::from(self.cycles_at_start)
            + f64::from(self.erases)
            + self.slc_cycles
            + shares.cycles(self.program_suspensions, self.erase_suspensions)
    }
}

/// Shares of a cycle that suspensions wear their block.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SuspendWear {
    /// Of each suspension of a program.
    pub per_program: f64,
    /// Of each suspension of an erase.
    pub per_erase: f64,
}

impl SuspendWear {
    /// Returns the wear of these suspensions of programs, and of erases, in cycles.
    pub fn cycles(&self, of_programs: u64, of_erases: u64) -> f64 {
        if self.per_program == self.per_erase {
            // One product, rounded once.
            return self.per_program * (of_programs + of_erases) as f64;
        }
        self.per_program * of_programs as f64 + self.per_erase * of_erases as f64
    }
}

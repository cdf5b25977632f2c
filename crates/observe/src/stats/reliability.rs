//! Sections `reliability` and `wear` of the summary: bit errors and lifetime.

use reprieve_nand::reliability::SuspendWear;
use serde_json::{Value, json};

/// Counters of bit errors and their correction.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ErrorCounts {
    /// Pages read, each counted once for any number of senses.
    pub reads: u64,
    /// Sum of their rates of raw bit errors at the first sense.
    pub rber_sum: f64,
    /// The highest of them.
    pub rber_max: f64,
    /// Counters of the decoder; `None` without an error-correcting code.
    pub decoding: Option<DecodeCounts>,
}

/// How pages were decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DecodeCounts {
    /// Pages that hard decoding corrected after 0, 1, 2 … retries.
    pub hard_by_retries: Vec<u64>,
    /// Pages that soft decoding corrected.
    pub soft: u64,
    /// Uncorrectable pages: of host reads, read-modify-writes, garbage collection, others.
    pub uncorrectable: [u64; 4],
    /// Senses beyond the first of each page.
    pub further_senses: u64,
    /// Pages whose decoding or next sense is pending.
    pub open: u64,
    /// Time spent in decoding.
    pub decode_ns: u64,
}

impl DecodeCounts {
    /// Returns the uncorrectable pages.
    pub fn uncorrectable(&self) -> u64 {
        self.uncorrectable.iter().sum()
    }

    fn since(&self, before: &DecodeCounts) -> DecodeCounts {
        let hard = self.hard_by_retries.iter().zip(&before.hard_by_retries);
        DecodeCounts {
            hard_by_retries: hard.map(|(now, before)| now - before).collect(),
            soft: self.soft - before.soft,
            uncorrectable: std::array::from_fn(|of| {
                self.uncorrectable[of] - before.uncorrectable[of]
            }),
            further_senses: self.further_senses - before.further_senses,
            open: self.open,
            decode_ns: self.decode_ns - before.decode_ns,
        }
    }
}

fn mean(sum: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum / count as f64 }
}

impl ErrorCounts {
    /// Counts a page by the raw bit error rate of its first sense.
    pub fn read(&mut self, rber: f64) {
        self.reads += 1;
        self.rber_sum += rber;
        self.rber_max = self.rber_max.max(rber);
    }

    /// Returns the counts since `before`; the highest rate is of both.
    pub fn since(&self, before: &ErrorCounts) -> ErrorCounts {
        let decoding = self.decoding.as_ref().zip(before.decoding.as_ref());
        ErrorCounts {
            reads: self.reads - before.reads,
            rber_sum: self.rber_sum - before.rber_sum,
            rber_max: self.rber_max,
            decoding: decoding.map(|(now, before)| now.since(before)),
        }
    }

    /// Returns the section `reliability`.
    pub(super) fn section(&self) -> Value {
        let mut section = json!({
            "reads": self.reads,
            "rber": {"mean": mean(self.rber_sum, self.reads), "max": self.rber_max},
        });
        if let Some(decoding) = &self.decoding {
            let [host, rmw, gc, others] = decoding.uncorrectable;
            let hard: u64 = decoding.hard_by_retries.iter().sum();
            section["decoded"] = json!({
                "hard": hard,
                "soft": decoding.soft,
                "uncorrectable": decoding.uncorrectable(),
            });
            section["hard_by_retries"] = json!(decoding.hard_by_retries);
            section["uncorrectable"] =
                json!({"host_reads": host, "rmw_reads": rmw, "gc_reads": gc, "others": others});
            section["further_senses"] = json!(decoding.further_senses);
            section["decode_ns_mean"] = json!(mean(decoding.decode_ns as f64, self.reads));
        }
        section
    }

    /// Checks that each page that was read has one outcome, or is pending.
    pub fn verify(&self) -> Result<(), String> {
        let Some(decoding) = &self.decoding else { return Ok(()) };
        let hard: u64 = decoding.hard_by_retries.iter().sum();
        let ended = hard + decoding.soft + decoding.uncorrectable();
        if ended + decoding.open == self.reads {
            return Ok(());
        }
        Err(format!("{} pages were read, {ended} decoded, {} to come", self.reads, decoding.open))
    }
}

/// Wear of the blocks of a drive, and the data for a lifetime.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WearFacts {
    /// Cycles of a block, suspensions included: mean, fewest, most.
    pub cycles: [f64; 3],
    /// Erases of blocks in this run.
    pub erases: u64,
    /// Suspensions of programs, counted for each of their blocks.
    pub program_suspensions: u64,
    /// Suspensions of erases.
    pub erase_suspensions: u64,
    /// Wear of each of them, in cycles.
    pub suspend_wear: SuspendWear,
    /// Rated cycles of a block.
    pub rated_cycles: Option<u32>,
    /// Days of the warranty.
    pub warranty_days: u32,
    /// Ratio of physical pages to user pages.
    pub capacity_ratio: f64,
    /// Pages of a block.
    pub pages_per_block: u32,
}

/// Drive writes a day over the warranty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifetime {
    /// Without wear of suspensions.
    pub without_suspensions: f64,
    /// With the wear of suspensions.
    pub with_suspensions: f64,
}

impl WearFacts {
    /// With the erases and suspensions since these earlier facts.
    pub fn since(&self, before: &WearFacts) -> WearFacts {
        WearFacts {
            erases: self.erases - before.erases,
            program_suspensions: self.program_suspensions - before.program_suspensions,
            erase_suspensions: self.erase_suspensions - before.erase_suspensions,
            ..*self
        }
    }

    /// Returns the wear of suspensions in cycles, over all blocks.
    pub fn suspension_cycles(&self) -> f64 {
        self.suspend_wear.cycles(self.program_suspensions, self.erase_suspensions)
    }

    /// Returns rated cycles × capacity ratio / (WAF × days); with suspensions, times the share of
    /// wear by programs. `None` without rated cycles, or if nothing was written.
    pub fn lifetime(&self, programs: u64, waf: f64) -> Option<Lifetime> {
        let rated = f64::from(self.rated_cycles?);
        if programs == 0 || waf == 0.0 {
            return None;
        }
        let alone = rated * self.capacity_ratio / (waf * f64::from(self.warranty_days));
        // A programmed block will be erased: cycles of a block.
        let cycles = programs as f64 / f64::from(self.pages_per_block);
        Some(Lifetime {
            without_suspensions: alone,
            with_suspensions: alone * cycles / (cycles + self.suspension_cycles()),
        })
    }

    /// Returns the section `wear`.
    pub(super) fn section(&self, programs: u64, waf: f64) -> Value {
        let [mean, min, max] = self.cycles;
        let lifetime = self.lifetime(programs, waf);
        json!({
            "cycles": {"mean": mean, "min": min, "max": max},
            "erases": self.erases,
            "suspensions": self.program_suspensions + self.erase_suspensions,
            "cycles_by_suspensions": self.suspension_cycles(),
            "drive_writes_per_day": lifetime.map(|lifetime| json!({
                "with_suspensions": lifetime.with_suspensions,
                "without_suspensions": lifetime.without_suspensions,
            })),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_what_the_formula_says() {
        let facts = WearFacts {
            cycles: [0.0; 3],
            erases: 0,
            program_suspensions: 30,
            erase_suspensions: 5,
            suspend_wear: SuspendWear { per_program: 0.05, per_erase: 0.1 },
            rated_cycles: Some(3650),
            warranty_days: 1825,
            capacity_ratio: 1.25,
            pages_per_block: 64,
        };
        // 3650 x 1.25 / (2.5 x 1825) = 1 write a day. 384 pages are 6 cycles of a block, and 30
        // suspensions of programs and 5 of erases cost 1.5 and 0.5 more: 6/8 of it.
        let lifetime = facts.lifetime(384, 2.5).expect("something was written");
        assert!((lifetime.without_suspensions - 1.0).abs() < 1e-12, "{lifetime:?}");
        assert!((lifetime.with_suspensions - 0.75).abs() < 1e-12, "{lifetime:?}");
        assert_eq!(facts.lifetime(0, 2.5), None);
        assert_eq!(WearFacts { rated_cycles: None, ..facts }.lifetime(384, 2.5), None);
    }

    #[test]
    fn a_page_without_an_outcome_is_noticed() {
        let decoding = DecodeCounts {
            hard_by_retries: vec![5, 1],
            soft: 1,
            uncorrectable: [1, 0, 1, 0],
            open: 1,
            ..DecodeCounts::default()
        };
        let counts = ErrorCounts { reads: 10, decoding: Some(decoding), ..ErrorCounts::default() };
        assert_eq!(counts.verify(), Ok(()));
        let more = ErrorCounts { reads: 11, ..counts };
        let what = more.verify().expect_err("one has none");
        assert_eq!(what, "11 pages were read, 9 decoded, 1 to come");
    }
}

//! Cells with bit errors and wear: history of each block and page, and errors of a sensed page.

mod state;

use reprieve_base::{Archive, Dur, Geometry, PageAddress, Stream, Time, parts};
use reprieve_config::{Ageing, Scenario, SlcCache};
use reprieve_nand::reliability::{COIN, CycleTerms, Rber, Stress, Wear, WorstCodeword};
use reprieve_nand::{Ecc, PageTypes};
use reprieve_observe::stats::{DecodeCounts, ErrorCounts, WearFacts};
use reprieve_policy::stream::SLC_FRONT;
use reprieve_policy::txn::{Kind, Txn};

pub use state::{Aftermath, WornCells};

const NS_PER_DAY: f64 = 86_400e9;

/// Entries of the cache of rates by cycles, which many blocks share.
const REMEMBERED: usize = 256;

/// History of blocks and pages, error streams, and counters.
pub struct Media {
    geometry: Geometry,
    rber: Rber,
    /// Terms of cycles, by a number made of them.
    by_cycles: Box<[CycleTerms]>,
    /// Types of pages and the factor of each, where they differ.
    factors: Option<(PageTypes, Vec<f64>)>,
    ecc: Option<Ecc>,
    /// Of the code, if there is one.
    worst: Option<WorstCodeword>,
    ageing: Ageing,
    rated_cycles: Option<u32>,
    capacity_ratio: f64,
    transfer_unit_bytes: Option<u32>,
    wear: Vec<Wear>,
    /// Sums of the wear from before the run.
    before: WearSums,
    /// Reads of each block since its erase.
    reads: Vec<u64>,
    /// When each page was programmed; negative for initial data.
    programmed_ns: Vec<i64>,
    /// Blocks in SLC mode, the wear of an erase there, and the factor of its error rate.
    slc: Vec<bool>,
    slc_cache: SlcCache,
    /// The retry that last read a page of each block since its erase; empty: not remembered.
    retries: Vec<u8>,
    /// Suspensions of the program of each page; empty where they do not matter.
    suspensions: Vec<u32>,
    /// One for each die.
    errors: Vec<Stream>,
    pub(super) counts: ErrorCounts,
}

/// Result of a sense, after its decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The page is corrected.
    Good,
    /// The page is sensed once more.
    Again,
    /// The page is lost.
    Lost,
}

impl Media {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.wear, self.before, self.reads, self.programmed_ns, self.suspensions);
        parts!(archive; self.errors, self.counts, self.retries, self.slc);
    }

    /// Creates the cells of a scenario; `None` without bit errors and wear.
    pub(super) fn of(scenario: &Scenario) -> Option<Box<Media>> {
        let ageing = scenario.reliability.ageing?;
        let geometry = scenario.geometry;
        let mut spread = Stream::new(scenario.seed, "reliability.wear", 0);
        let pages = geometry.pages() as usize;
        let age_ns = (ageing.age_days * NS_PER_DAY).round() as i64;
        let rber = scenario.reliability.rber;
        let decoding = scenario.ecc.map(|ecc| DecodeCounts {
            hard_by_retries: vec![0; ecc.retries_max as usize + 1],
            ..DecodeCounts::default()
        });
        Some(Box::new(Media {
            geometry,
            rber,
            by_cycles: vec![rber.by_cycles(0.0); REMEMBERED].into_boxed_slice(),
            factors: match scenario.reliability.factor_by_type.as_slice() {
                [] => None,
                factors => scenario.timing.page_types.map(|types| (types, factors.to_vec())),
            },
            ecc: scenario.ecc,
            worst: scenario.ecc.map(|ecc| WorstCodeword::new(ecc.codeword_bits())),
            ageing,
            rated_cycles: scenario.reliability.rated_cycles,
            capacity_ratio: geometry.pages() as f64 / f64::from(scenario.user_pages()),
            transfer_unit_bytes: scenario.transfer_unit_bytes(),
            wear: (0..geometry.blocks())
                .map(|_| Wear {
                    cycles_at_start: cycles_at_start(&ageing, &mut spread),
                    ..Wear::default()
                })
                .collect(),
            before: WearSums::default(),
            reads: vec![0; geometry.blocks() as usize],
            programmed_ns: vec![-age_ns; pages],
            slc: match scenario.ftl.slc_cache {
                Some(_) => vec![false; geometry.blocks() as usize],
                None => Vec::new(),
            },
            slc_cache: scenario.ftl.slc_cache.unwrap_or_default(),
            retries: match scenario.ecc {
                Some(ecc) if ecc.remembers_retries => vec![0; geometry.blocks() as usize],
                _ => Vec::new(),
            },
            suspensions: if rber.delta > 0.0 { vec![0; pages] } else { Vec::new() },
            errors: (0..geometry.dies())
                .map(|die| Stream::new(scenario.seed, "ecc.errors", u64::from(die)))
                .collect(),
            counts: ErrorCounts { decoding, ..ErrorCounts::default() },
        }))
    }

    fn block(&self, die: u32, at: PageAddress) -> usize {
        let plane = die * self.geometry.planes_per_die + at.plane;
        plane as usize * self.geometry.blocks_per_plane as usize + at.block as usize
    }

    fn page(&self, die: u32, at: PageAddress) -> usize {
        self.block(die, at) * self.geometry.pages_per_block as usize + at.page as usize
    }

    /// Returns the raw bit error rate of a page that is read at `now`.
    fn rate(&mut self, die: u32, at: PageAddress, now: Time) -> f64 {
        let (block, page) = (self.block(die, at), self.page(die, at));
        let age_ns = now.ns() as i64 - self.programmed_ns[page];
        let stress = Stress {
            cycles: self.wear[block].cycles(&self.ageing.suspend_wear),
            retention_days: age_ns as f64 / NS_PER_DAY,
            reads: self.reads[block] as f64,
            suspensions: f64::from(self.suspensions.get(page).copied().unwrap_or(0)),
        };
        let terms = &mut self.by_cycles[remembered_at(stress.cycles)];
        if terms.cycles != stress.cycles {
            *terms = self.rber.by_cycles(stress.cycles);
        }
        let rate = self.rber.rate_by(terms, &stress);
        if self.slc.get(block) == Some(&true) {
            return (rate * self.slc_cache.rber_factor).min(COIN);
        }
        match &self.factors {
            None => rate,
            Some((types, factors)) => (rate * factors[types.of(at.page)]).min(COIN),
        }
    }

    /// Updates the history after a page of a program or a block of an erase.
    ///
    /// `leads`: it is the first page of the program in its block.
    pub(super) fn worked(&mut self, txn: &Txn, leads: bool, now: Time) {
        let (block, page) = (self.block(txn.die, txn.at), self.page(txn.die, txn.at));
        let wear = &mut self.wear[block];
        if leads {
            let suspensions = match txn.kind {
                Kind::Erase => &mut wear.erase_suspensions,
                _ => &mut wear.program_suspensions,
            };
            *suspensions += u64::from(txn.suspensions);
        }
        if txn.kind == Kind::Erase {
            match self.slc.get_mut(block).map(std::mem::take) {
                Some(true) => wear.slc_cycles += self.slc_cache.wear_per_erase,
                _ => wear.erases += 1,
            }
            self.reads[block] = 0;
            if let Some(retry) = self.retries.get_mut(block) {
                *retry = 0;
            }
            return;
        }
        if usize::from(txn.front) == SLC_FRONT {
            self.slc[block] = true;
        }
        self.programmed_ns[page] = now.ns() as i64;
        if let Some(suspensions) = self.suspensions.get_mut(page) {
            *suspensions = txn.suspensions;
        }
    }

    /// Counts a sensed page of a block that stays in its die.
    pub(super) fn sensed(&mut self, die: u32, at: PageAddress) {
        let block = self.block(die, at);
        self.reads[block] += 1;
    }

    /// Sets the voltages of the first sense of a page to those that its block last needed.
    pub(super) fn choose_voltages(&self, txn: &mut Txn) {
        if txn.further_senses == 0 && !self.retries.is_empty() {
            txn.first_retry = self.retries[self.block(txn.die, txn.at)];
        }
    }

    /// Returns the decoding time of a page that has left its die, and the verdict.
    pub(super) fn judge(&mut self, txn: &mut Txn, now: Time) -> (Dur, Verdict) {
        let is_first = txn.further_senses == 0;
        let rate = self.rate(txn.die, txn.at, now);
        if txn.place == 0 || !is_first {
            self.sensed(txn.die, txn.at);
        }
        if is_first {
            self.counts.read(rate);
        }
        let Some(ecc) = self.ecc else { return (Dur::ZERO, Verdict::Good) };
        let retry = u32::from(txn.first_retry) + u32::from(txn.further_senses);
        let (decode, verdict) = match retry.checked_sub(ecc.retries_max + 1) {
            None => {
                txn.errors = self.draw(&ecc, ecc.retried(rate, retry), txn);
                let errors = u64::from(txn.errors);
                let verdict = match errors <= u64::from(ecc.correctable_bits) {
                    true => Verdict::Good,
                    false if retry < ecc.retries_max || ecc.soft.senses > 0 => Verdict::Again,
                    false => Verdict::Lost,
                };
                (ecc.hard_decode(errors), verdict)
            }
            // No decoding before the last of the senses around it.
            Some(before) if before + 1 < ecc.soft.senses => (Dur::ZERO, Verdict::Again),
            Some(_) => match txn.errors <= ecc.soft.correctable_bits {
                true => (ecc.soft.decode, Verdict::Good),
                false => (ecc.soft.decode, Verdict::Lost),
            },
        };
        let is_hard = retry <= ecc.retries_max;
        if is_hard && verdict == Verdict::Good && !self.retries.is_empty() {
            let block = self.block(txn.die, txn.at);
            self.retries[block] = retry as u8;
        }
        self.count(txn, is_hard, verdict, decode);
        (decode, verdict)
    }

    /// Draws the wrong bits of the worst codeword among those transferred.
    fn draw(&mut self, ecc: &Ecc, rate: f64, txn: &Txn) -> u32 {
        let left = txn.out_units.zip(self.transfer_unit_bytes);
        let bytes = left.map_or(self.geometry.page_bytes, |(units, bytes)| units.get() * bytes);
        let stream = &mut self.errors[txn.die as usize];
        let worst = self.worst.as_mut().expect("there is a code");
        let errors = worst.draw(rate, ecc.codewords(bytes), stream);
        u32::try_from(errors).expect("a codeword has less than 2^32 bits")
    }

    fn count(&mut self, txn: &Txn, is_hard: bool, verdict: Verdict, decode: Dur) {
        let counts = self.counts.decoding.as_mut().expect("there is a code");
        counts.decode_ns += decode.ns();
        counts.open += u64::from(txn.further_senses == 0);
        match verdict {
            Verdict::Again => counts.further_senses += 1,
            Verdict::Good if is_hard => {
                counts.hard_by_retries[txn.further_senses as usize] += 1;
                counts.open -= 1;
            }
            Verdict::Good => {
                counts.soft += 1;
                counts.open -= 1;
            }
            Verdict::Lost => {
                let of = match txn.kind {
                    Kind::HostRead => 0,
                    Kind::RmwRead => 1,
                    Kind::GcRead => 2,
                    _ => 3,
                };
                counts.uncorrectable[of] += 1;
                counts.open -= 1;
            }
        }
    }

    /// Returns the cycles of a block, wear by suspensions included.
    pub(super) fn cycles(&self, die: u32, at: PageAddress) -> f64 {
        self.wear[self.block(die, at)].cycles(&self.ageing.suspend_wear)
    }

    fn sums(&self) -> WearSums {
        let sum = |of: fn(&Wear) -> u64| self.wear.iter().map(of).sum();
        WearSums {
            erases: sum(|wear| u64::from(wear.erases)),
            program_suspensions: sum(|wear| wear.program_suspensions),
            erase_suspensions: sum(|wear| wear.erase_suspensions),
        }
    }

    /// Returns the counters of errors and wear for the summary.
    pub fn counted(&self) -> (&ErrorCounts, WearFacts) {
        (&self.counts, self.wear())
    }

    fn wear(&self) -> WearFacts {
        let cycles = |wear: &Wear| wear.cycles(&self.ageing.suspend_wear);
        let all = || self.wear.iter().map(cycles);
        let sums = self.sums();
        WearFacts {
            cycles: [
                all().sum::<f64>() / self.wear.len() as f64,
                all().fold(f64::INFINITY, f64::min),
                all().fold(0.0, f64::max),
            ],
            erases: sums.erases - self.before.erases,
            program_suspensions: sums.program_suspensions - self.before.program_suspensions,
            erase_suspensions: sums.erase_suspensions - self.before.erase_suspensions,
            suspend_wear: self.ageing.suspend_wear,
            rated_cycles: self.rated_cycles,
            warranty_days: self.ageing.warranty_days,
            capacity_ratio: self.capacity_ratio,
            pages_per_block: self.geometry.pages_per_block,
        }
    }
}

/// Returns the cache slot of a number of cycles.
fn remembered_at(cycles: f64) -> usize {
    // Whole numbers differ in the highest bits of the fraction, and shares of a cycle below.
    let bits = cycles.to_bits();
    ((bits >> 52 ^ bits >> 44 ^ bits >> 36 ^ bits >> 20 ^ bits) % REMEMBERED as u64) as usize
}

/// Sums over all blocks.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct WearSums {
    erases: u64,
    program_suspensions: u64,
    erase_suspensions: u64,
}

/// Draws uniformly from the whole numbers within the spread around the mean.
fn cycles_at_start(ageing: &Ageing, stream: &mut Stream) -> u32 {
    let mean = f64::from(ageing.cycles_at_start);
    let (low, high) = (mean * (1.0 - ageing.cycles_spread), mean * (1.0 + ageing.cycles_spread));
    let (low, high) = (low.ceil() as u64, high.floor() as u64);
    let drawn = low + stream.below(high - low + 1);
    u32::try_from(drawn).expect("the schema bounds it")
}

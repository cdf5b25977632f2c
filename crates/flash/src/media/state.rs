//! Cells of a drive in a saved state: the history of their blocks and pages.

use std::collections::BTreeSet;

use reprieve_base::{PageAddress, Time, UserError};
use reprieve_config::Scenario;
use reprieve_nand::reliability::Wear;
use reprieve_state::State;

use super::Media;

/// Limit for cycles and suspensions of a block, and its reads: as many again can be counted.
const COUNT_MAX: u64 = 1 << 62;
/// The column that marks a state with ages.
const AGE: &str = "media.age_ns";

/// Effects of a loss of power on the cells after its instant.
#[derive(Clone, Debug, Default)]
pub struct Aftermath {
    /// Pages whose programs still ended, each with its die.
    pub programmed: Vec<(u32, PageAddress)>,
    /// A page of each block, or more, whose erase had started.
    pub erased: Vec<(u32, PageAddress)>,
}

/// The columns of a drive's initial cells.
pub struct WornCells {
    wear: Vec<Wear>,
    reads: Vec<u64>,
    age_ns: Vec<u64>,
    suspensions: Vec<u32>,
}

impl WornCells {
    /// Reads the columns of a state; `None` without bit errors and wear.
    ///
    /// Errors if the state has none and the scenario needs them, or the other way round.
    pub fn take(state: &mut State, scenario: &Scenario) -> Result<Option<WornCells>, UserError> {
        let (asks, has) = (scenario.reliability.ageing.is_some(), state.has_wide(AGE));
        match (asks, has) {
            (false, false) => Ok(None),
            (true, true) => Ok(Some(WornCells::of(state, scenario)?)),
            (true, false) => Err(UserError::new(
                "the state holds neither the age of pages nor the wear of blocks; must be \
                 reliability.model = \"none\", as it was",
            )),
            (false, true) => Err(UserError::new(
                "the state holds the age of pages and the wear of blocks; must be \
                 reliability.model = \"power\", as it was",
            )),
        }
    }

    fn of(state: &mut State, scenario: &Scenario) -> Result<WornCells, UserError> {
        let (blocks, pages) =
            (scenario.geometry.blocks() as usize, scenario.geometry.pages() as usize);
        let starts = state.take("media.cycles", blocks)?;
        let erases = state.take("media.erases", blocks)?;
        let mut counts = |name| {
            let counts = state.take_wide(name, blocks)?;
            match counts.iter().max().is_some_and(|count| *count > COUNT_MAX) {
                true => Err(UserError::new(format!(
                    "the state contradicts itself: {name} is above what can be counted; save it \
                     anew"
                ))),
                false => Ok(counts),
            }
        };
        let programs = counts("media.program_suspensions")?;
        let suspended_erases = counts("media.erase_suspensions")?;
        let reads = counts("media.reads")?;
        let age_ns = state.take_wide(AGE, pages)?;
        if age_ns.iter().max().is_some_and(|age_ns| *age_ns > COUNT_MAX) {
            return Err(UserError::new(
                "the state contradicts itself: a page is older than time is counted; save it anew",
            ));
        }
        // Not kept where they have no effect.
        let matter = scenario.reliability.rber.delta > 0.0;
        let given = state.take_any("media.page_suspensions");
        let suspensions = match (matter, given.len() == pages) {
            (false, _) => Vec::new(),
            (true, true) => given,
            (true, false) => vec![0; pages],
        };
        let wear = starts.iter().zip(&erases).zip(programs.iter().zip(&suspended_erases));
        let wear = wear.map(|((start, erases), (program, erase))| Wear {
            cycles_at_start: *start,
            erases: *erases,
            program_suspensions: *program,
            erase_suspensions: *erase,
            slc_cycles: 0.0,
        });
        Ok(WornCells { wear: wear.collect(), reads, age_ns, suspensions })
    }
}

impl Media {
    /// Adds the state of the cells.
    pub fn save(&self, state: &mut State, now: Time, after: &Aftermath) {
        let (mut wear, mut reads) = (self.wear.clone(), self.reads.clone());
        let age_ns = |programmed_ns: &i64| {
            let age_ns = i128::from(now.ns()) - i128::from(*programmed_ns);
            u64::try_from(age_ns).expect("nothing is programmed in the future")
        };
        let mut ages_ns: Vec<u64> = self.programmed_ns.iter().map(age_ns).collect();
        for (die, at) in &after.programmed {
            ages_ns[self.page(*die, *at)] = 0;
        }
        let erased: BTreeSet<usize> =
            after.erased.iter().map(|(die, at)| self.block(*die, *at)).collect();
        for block in erased {
            wear[block].erases += 1;
            reads[block] = 0;
        }
        let narrow = |of: fn(&Wear) -> u32| wear.iter().map(of).collect();
        let wide = |of: fn(&Wear) -> u64| wear.iter().map(of).collect();
        state.put("media.cycles", narrow(|wear| wear.cycles_at_start));
        state.put("media.erases", narrow(|wear| wear.erases));
        state.put_wide("media.program_suspensions", wide(|wear| wear.program_suspensions));
        state.put_wide("media.erase_suspensions", wide(|wear| wear.erase_suspensions));
        state.put_wide("media.reads", reads);
        state.put_wide(AGE, ages_ns);
        if !self.suspensions.is_empty() {
            state.put("media.page_suspensions", self.suspensions.clone());
        }
    }

    /// Sets the history of the cells before the run.
    pub(crate) fn start_worn(&mut self, cells: WornCells) {
        (self.wear, self.reads) = (cells.wear, cells.reads);
        let before = |age_ns: &u64| -i64::try_from(*age_ns).expect("it was checked");
        self.programmed_ns = cells.age_ns.iter().map(before).collect();
        self.suspensions = cells.suspensions;
        self.before = self.sums();
    }
}

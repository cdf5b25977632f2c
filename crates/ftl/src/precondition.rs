//! Preconditioning: writes a drive's mapping to its initial state, without time.
//!
//! Uniform overwrites do not distinguish pages. So the steady state is reached with one valid bit
//! for each physical page, and logical pages are assigned at the end by a random draw. The result
//! has the same law as overwriting page by page, and the working set is a few dozen kilobytes a
//! plane instead of the whole mapping.
//!
//! Where pages differ, by streams or a mapping in flash, overwrites go page by page.

use reprieve_base::UserError;
use reprieve_config::{Precondition, Scenario};
use reprieve_policy::victim;

use super::larger_units::LargerUnits;
use super::overwriting::{MODEL_PAGES, Overwriting, SAMPLED_PAGES, Sampling};
use super::pass::Pass;
use super::plane_replication::{BY_NAME_PAGES, Incremental, PlaneReplication};
use super::replay::Replay;
use super::{FreeTarget, Ftl};

/// Preconditioning in steps, so that progress can be shown.
pub struct Preconditioner {
    state: Progress,
    kept: FreeTarget,
    /// Write amplification in the last pass of overwrites.
    waf: Option<f64>,
}

enum Progress {
    /// Logical pages below this one, followed by those of the mapping, are written in order.
    Filling(u32),
    /// All are written; they are overwritten page by page.
    Replaying(Box<Replaying>),
    /// They are written and overwritten without logical page numbers.
    Overwriting(Box<Overwriting>),
    /// Some of its planes are overwritten page by page, and the others are copies of them.
    PlaneReplication(Box<PlaneReplication<Preconditioner>>),
    /// They are overwritten in larger mapping units.
    InLargerUnits(Box<LargerUnits<Preconditioner>>),
    /// The mapping has its target state.
    Settling,
    Done,
}

impl Incremental for Preconditioner {
    fn advance(
        &mut self,
        ftl: &mut Ftl,
        scenario: &Scenario,
        writes: u64,
    ) -> Result<(), UserError> {
        Preconditioner::advance(self, ftl, scenario, writes)
    }

    fn is_done(&self) -> bool {
        Preconditioner::is_done(self)
    }

    fn waf(&self) -> Option<f64> {
        self.waf
    }
}

struct Replaying {
    replay: Replay,
    pass: Pass,
    /// Writes left in this pass.
    left: u64,
}

impl Preconditioner {
    /// Creates the preconditioning of an unwritten drive to the state of its scenario.
    pub fn new(scenario: &Scenario, ftl: &mut Ftl, kept: FreeTarget) -> Preconditioner {
        match LargerUnits::of(scenario) {
            Some(larger) => {
                Preconditioner { state: Progress::InLargerUnits(Box::new(larger)), kept, waf: None }
            }
            None => Preconditioner::with_limit(scenario, ftl, kept, BY_NAME_PAGES),
        }
    }

    /// Creates the preconditioning that overwrites page by page, if anything.
    pub(super) fn by_name(scenario: &Scenario, ftl: &mut Ftl, kept: FreeTarget) -> Preconditioner {
        Preconditioner::with_limit(scenario, ftl, kept, u32::MAX)
    }

    /// Creates one that copies planes if there are more logical pages than that.
    pub(super) fn with_limit(
        scenario: &Scenario,
        ftl: &mut Ftl,
        kept: FreeTarget,
        by_name_pages: u32,
    ) -> Preconditioner {
        match PlaneReplication::of(scenario, by_name_pages) {
            Some(replication) => Preconditioner {
                state: Progress::PlaneReplication(Box::new(replication)),
                kept,
                waf: None,
            },
            None => {
                // Units of a page are written one by one.
                let beyond = SAMPLED_PAGES / scenario.units_per_page();
                let sampling = Sampling { beyond, models: MODEL_PAGES };
                Preconditioner::without_names(scenario, ftl, kept, sampling)
            }
        }
    }

    /// As above, without copied planes.
    pub(super) fn without_names(
        scenario: &Scenario,
        ftl: &mut Ftl,
        kept: FreeTarget,
        sampling: Sampling,
    ) -> Preconditioner {
        ftl.tables.blocks.victim =
            victim::make(&scenario.drawing_apart("precondition.victim"), ftl.numbering.geometry);
        // Units that a very large drive writes several at a time are drawn as if one by one.
        let is_large = scenario.logical_pages() > BY_NAME_PAGES;
        let overwrites = scenario.overwrites();
        let is_drawn = overwrites.are_even() || is_large && overwrites.are_everywhere();
        let state = match scenario.ftl.precondition {
            Precondition::None => Progress::Done,
            Precondition::Steady if ftl.tables.blocks.fronts.is_simple() && is_drawn => {
                Progress::Overwriting(Box::new(Overwriting::new(ftl, scenario, kept, sampling)))
            }
            Precondition::Sequential | Precondition::Steady => Progress::Filling(0),
        };
        Preconditioner { state, kept, waf: None }
    }

    /// Creates a finished one for a drive with other state, and its write amplification.
    pub fn done(waf: Option<f64>) -> Preconditioner {
        Preconditioner { state: Progress::Done, kept: FreeTarget::always(0), waf }
    }

    /// Returns the free blocks that it leaves in a plane.
    pub fn kept(&self) -> FreeTarget {
        self.kept
    }

    /// Returns the write amplification of its last overwrites of the drive; `None` without
    /// overwrites, or for planes that others were copied from.
    pub fn waf(&self) -> Option<f64> {
        self.waf
    }

    /// Whether the target state is reached.
    pub fn is_done(&self) -> bool {
        matches!(self.state, Progress::Done)
    }

    /// Advances by about `writes` page writes.
    ///
    /// Errors if the drive does not become stationary.
    pub fn advance(
        &mut self,
        ftl: &mut Ftl,
        scenario: &Scenario,
        writes: u64,
    ) -> Result<(), UserError> {
        let next = match &mut self.state {
            Progress::Done => None,
            Progress::Filling(next) => {
                let pages = ftl.tables.map.all_pages();
                if *next == 0 && scenario.ftl.precondition == Precondition::Sequential {
                    *next = ftl.fill_in_order(SAMPLED_PAGES);
                }
                let end = (u64::from(*next) + writes).min(u64::from(pages)) as u32;
                ftl.fill(*next..end);
                *next = end;
                match end == pages {
                    true => Some(Progress::after_filling(ftl, scenario, self.kept)?),
                    false => None,
                }
            }
            Progress::Replaying(replaying) => {
                let is_done = replaying.advance(ftl, writes)?;
                self.waf = Some(replaying.pass.waf(ftl.tables.map.logical_pages().into()));
                is_done.then_some(Progress::Settling)
            }
            Progress::Overwriting(overwriting) => {
                let is_done = overwriting.advance(ftl, writes)?;
                self.waf = Some(overwriting.waf());
                is_done.then_some(Progress::Settling)
            }
            Progress::PlaneReplication(replication) => {
                let by_name = Preconditioner::by_name;
                let is_done = replication.advance(ftl, scenario, self.kept, by_name, writes)?;
                is_done.then_some(Progress::Settling)
            }
            Progress::InLargerUnits(larger) => {
                let kept = self.kept;
                let begin = |scenario: &_, ftl: &mut _| Preconditioner::new(scenario, ftl, kept);
                let is_done = larger.advance(ftl, &begin, writes)?;
                self.waf = larger.waf;
                is_done.then_some(Progress::Settling)
            }
            Progress::Settling => {
                ftl.settle(scenario);
                ftl.tables.blocks.forget_wear();
                Some(Progress::Done)
            }
        };
        if let Some(next) = next {
            self.state = next;
        }
        Ok(())
    }
}

impl Progress {
    fn after_filling(
        ftl: &mut Ftl,
        scenario: &Scenario,
        kept: FreeTarget,
    ) -> Result<Progress, UserError> {
        ftl.sectors.hold_all();
        Ok(match scenario.ftl.precondition {
            Precondition::Steady => Progress::Replaying(Box::new(Replaying {
                replay: Replay::new(scenario, kept)?,
                pass: Pass::first(),
                left: u64::from(ftl.tables.map.logical_pages()),
            })),
            _ => Progress::Settling,
        })
    }
}

impl Replaying {
    /// Advances by about `writes` page writes; true when the drive is stationary.
    fn advance(&mut self, ftl: &mut Ftl, writes: u64) -> Result<bool, UserError> {
        let done = self.replay.overwrite(ftl, writes.min(self.left))?;
        self.pass.moved += done.moved;
        self.pass.draws += done.draws;
        self.left = self.left.saturating_sub(done.written);
        if self.left > 0 {
            return Ok(false);
        }
        let pages = u64::from(ftl.tables.map.logical_pages());
        if self.pass.is_like_those_before(pages, ftl.numbering.geometry.pages()) {
            return Ok(true);
        }
        self.pass.next()?;
        self.left = pages;
        Ok(false)
    }
}

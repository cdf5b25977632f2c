//! Preconditioning: the state of a drive that was written to, on the mapping alone, without time.
//!
//! Uniform overwrites do not tell pages apart. So the steady state is reached without their names:
//! which physical pages are valid is all that is kept, one bit each, and which logical page each
//! of them holds is drawn at the end. The law of the state is that of writing every page by name,
//! and what the caches have to hold is a few dozen kilobytes a plane instead of the whole mapping.
//!
//! Where pages differ, by streams or because some are of the mapping, they are written by name.

use reprieve_base::{Stream, UserError};
use reprieve_config::{Precondition, Scenario};
use reprieve_policy::victim;

use super::bitmap_precondition::BitmapDrive;
use super::replay::Replay;
use super::scope::Scope;
use super::tile::{BY_NAME_PAGES, InPieces, Tiling};
use super::{Ftl, Kept};

/// Two passes whose counts of pages moved are apart by less than one in so many writes are alike;
/// three in a row have to be, as a count that swings is alike where it turns.
const STATIONARY: u64 = 200;
/// Of passes that neither rise nor fall, this many standard deviations are chance. Pages that a
/// victim leaves free spread like those of a Poisson law, so that with draws of one page each the
/// deviation of a count is the root of the writes, times write amplification; requests of several
/// pages are as many draws fewer.
const DEVIATIONS: u64 = 3;
/// Passes after which we give up; a drive settles within ten.
const PASSES_MAX: u32 = 40;

/// Preconditioning under way, a piece at a time, so that whoever waits for it can be told.
pub struct Preconditioner {
    state: Progress,
    kept: Kept,
    /// Write amplification in the last pass of overwrites.
    waf: Option<f64>,
}

enum Progress {
    /// Logical pages below this one, and behind them those of the mapping, are written in order.
    Filling(u32),
    /// All are written; they are overwritten by name.
    Replaying(Box<Replaying>),
    /// They are written and overwritten without names.
    Overwriting(Box<Overwriting>),
    /// Some of its planes are, by name, and the others are copies of them.
    Tiling(Box<Tiling<Preconditioner>>),
    /// The mapping is as asked for.
    Settling,
    Done,
}

impl InPieces for Preconditioner {
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
}

struct Replaying {
    replay: Replay,
    pass: Pass,
    /// Writes that are left of this pass.
    left: u64,
}

struct Overwriting {
    unnamed: BitmapDrive,
    /// In the order of planes.
    scopes: Vec<Scope>,
    /// Each plane has its own scope.
    by_plane: bool,
    pass: Pass,
    /// Scopes that have their names; `None`: the drive is not stationary yet.
    named: Option<usize>,
}

/// One pass: as many random overwrites as the drive has logical pages.
struct Pass {
    number: u32,
    /// Pages that garbage collection has moved in this pass, and in the two before.
    moved: u64,
    before: [u64; 2],
    /// Places that were drawn in this pass: one for each write, or for each request.
    draws: u64,
}

impl Preconditioner {
    /// For a drive with nothing written and the state that its scenario asks for.
    pub fn new(scenario: &Scenario, ftl: &mut Ftl, kept: Kept) -> Preconditioner {
        Preconditioner::with_limit(scenario, ftl, kept, BY_NAME_PAGES)
    }

    /// The same with every page overwritten by name, where any is.
    pub(super) fn by_name(scenario: &Scenario, ftl: &mut Ftl, kept: Kept) -> Preconditioner {
        Preconditioner::with_limit(scenario, ftl, kept, u32::MAX)
    }

    /// The same with copies of planes if there are more logical pages than that.
    pub(super) fn with_limit(
        scenario: &Scenario,
        ftl: &mut Ftl,
        kept: Kept,
        by_name_pages: u32,
    ) -> Preconditioner {
        match Tiling::of(scenario, by_name_pages) {
            Some(tiling) => {
                Preconditioner { state: Progress::Tiling(Box::new(tiling)), kept, waf: None }
            }
            None => Preconditioner::with_threads(scenario, ftl, kept, BitmapDrive::threads()),
        }
    }

    /// The same with at most so many threads; the state does not depend on it.
    pub(super) fn with_threads(
        scenario: &Scenario,
        ftl: &mut Ftl,
        kept: Kept,
        threads: usize,
    ) -> Preconditioner {
        ftl.tables.blocks.victim =
            victim::make(&scenario.drawing_apart("precondition.victim"), ftl.numbering.geometry);
        let state = match scenario.ftl.precondition {
            Precondition::None => Progress::Done,
            Precondition::Steady if ftl.pages_are_alike() && scenario.writes_evenly() => {
                Progress::Overwriting(Box::new(Overwriting::new(ftl, scenario, kept, threads)))
            }
            Precondition::Sequential | Precondition::Steady => Progress::Filling(0),
        };
        Preconditioner { state, kept, waf: None }
    }

    /// For a drive that has its state from elsewhere.
    pub fn done() -> Preconditioner {
        Preconditioner { state: Progress::Done, kept: Kept::always(0), waf: None }
    }

    /// Free blocks that it leaves in a plane.
    pub fn kept(&self) -> Kept {
        self.kept
    }

    /// Write amplification of its last overwrites of the drive; `None` where nothing was
    /// overwritten, or on planes that others were copied from.
    pub fn waf(&self) -> Option<f64> {
        self.waf
    }

    /// Whether the state asked for is reached.
    pub fn is_done(&self) -> bool {
        matches!(self.state, Progress::Done)
    }

    /// Goes on for about `writes` page writes.
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
                self.waf = Some(replaying.pass.waf(ftl.tables.map.logical_pages()));
                is_done.then_some(Progress::Settling)
            }
            Progress::Overwriting(overwriting) => {
                let is_done = overwriting.advance(ftl, writes)?;
                self.waf = Some(overwriting.pass.waf(ftl.tables.map.logical_pages()));
                is_done.then_some(Progress::Settling)
            }
            Progress::Tiling(tiling) => {
                let by_name = (self.kept, Preconditioner::by_name as fn(&_, &mut _, _) -> _);
                let is_done = tiling.advance(ftl, scenario, by_name, writes)?;
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
        kept: Kept,
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
    /// Goes on for about `writes` page writes; true when the drive is stationary.
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

impl Overwriting {
    /// Every logical page written once.
    fn new(ftl: &mut Ftl, scenario: &Scenario, kept: Kept, threads: usize) -> Overwriting {
        ftl.sectors.hold_all();
        let pages = ftl.tables.map.logical_pages();
        let planes = ftl.numbering.geometry.planes();
        let stream = |index| Stream::new(scenario.seed, "precondition.overwrite", index);
        let home = |first_lpn| {
            let plane = ftl.placement.home(first_lpn);
            let lpns = (pages - first_lpn).div_ceil(planes);
            let stream = stream(u64::from(plane));
            Scope { plane, first_lpn, stride: planes, lpns, left: lpns.into(), stream }
        };
        let mut scopes: Vec<Scope> = (0..planes.min(pages)).map(home).collect();
        scopes.sort_by_key(|scope| scope.plane);
        // A plane's pages stay there, whatever happens to those of the others.
        let by_plane = ftl.placement.is_fixed();
        let threads = if by_plane { threads } else { 1 };
        let mut unnamed = BitmapDrive::new(ftl, scenario, threads, kept);
        for home in &scopes {
            unnamed.fill(ftl, home.plane, home.lpns);
        }
        if !by_plane {
            let (left, stream) = (pages.into(), stream(0));
            scopes = vec![Scope { plane: 0, first_lpn: 0, stride: 1, lpns: pages, left, stream }];
        }
        Overwriting { unnamed, scopes, by_plane, pass: Pass::first(), named: None }
    }

    /// Goes on for about `writes` page writes of each thread; true when every page has its name.
    fn advance(&mut self, ftl: &mut Ftl, writes: u64) -> Result<bool, UserError> {
        if let Some(named) = self.named {
            let rest = &mut self.scopes[named..];
            let count = rest.len().min(self.unnamed.groups());
            match self.by_plane {
                true => self.unnamed.name_homes(ftl, &mut rest[..count]),
                false => self.unnamed.name(ftl, &mut rest[0]),
            }
            self.named = Some(named + count);
            if count < rest.len() {
                return Ok(false);
            }
            self.unnamed.give_back(ftl);
            return Ok(true);
        }
        self.pass.moved += match (self.by_plane, &mut self.scopes[..]) {
            (true, scopes) => self.unnamed.overwrite_homes(ftl, scopes, writes),
            (false, scopes) => {
                let scope = &mut scopes[0];
                let now = writes.min(scope.left);
                scope.left -= now;
                self.unnamed.overwrite(ftl, now, &mut scope.stream)
            }
        };
        if self.scopes.iter().all(|scope| scope.left == 0) {
            self.end_pass(ftl)?;
        }
        Ok(false)
    }

    fn end_pass(&mut self, ftl: &Ftl) -> Result<(), UserError> {
        let pages = u64::from(ftl.tables.map.logical_pages());
        self.pass.draws = pages;
        if self.pass.is_like_those_before(pages, ftl.numbering.geometry.pages()) {
            self.named = Some(0);
            return Ok(());
        }
        self.pass.next()?;
        self.scopes.iter_mut().for_each(|scope| scope.left = scope.lpns.into());
        Ok(())
    }
}

impl Pass {
    fn first() -> Pass {
        Pass { number: 0, moved: 0, before: [0; 2], draws: 0 }
    }

    fn is_like_those_before(&self, pages: u64, physical_pages: u64) -> bool {
        // Before every block has been filled once, garbage collection has nothing to do.
        if u64::from(self.number) * pages < physical_pages {
            return false;
        }
        let [before, earlier] = self.before;
        let differs_by = self.moved.abs_diff(before).max(self.moved.abs_diff(earlier));
        let drifts = (self.moved > before) == (before > earlier);
        let chance = DEVIATIONS * (self.moved + pages) / self.draws.isqrt().max(1);
        let alike = (pages / STATIONARY).max(DEVIATIONS * pages.isqrt());
        differs_by <= alike || !drifts && differs_by <= chance
    }

    /// Write amplification of a pass that is complete.
    fn waf(&self, pages: u32) -> f64 {
        1.0 + self.moved as f64 / f64::from(pages)
    }

    fn next(&mut self) -> Result<(), UserError> {
        if self.number + 1 == PASSES_MAX {
            return Err(UserError::new(format!(
                "ftl.precondition = \"steady\": after {PASSES_MAX} overwrites of the drive its \
                 write amplification still changes from one to the next; use \"sequential\", or a \
                 larger ftl.over_provisioning"
            )));
        }
        let before = [self.moved, self.before[0]];
        *self = Pass { number: self.number + 1, moved: 0, before, draws: 0 };
        Ok(())
    }
}

//! Overwrites without logical page numbers until the steady state, and their assignment at its end.
//!
//! The planes of a very large drive are many, and statistically equal. Some are overwritten, and
//! continue while the others are copied from them, so that no two copies are alike.

use reprieve_base::{Stream, UserError};
use reprieve_config::Scenario;

use super::bitmap_precondition::BitmapDrive;
use super::overwrite_scope::Scope;
use super::pass::Pass;
use super::{FreeTarget, Ftl};

/// Logical pages up to which every plane is overwritten, in seconds.
pub(super) const SAMPLED_PAGES: u32 = 1 << 24;
/// Approximate logical pages of the overwritten planes of a larger drive.
pub(super) const MODEL_PAGES: u32 = 1 << 21;
/// Fewest overwritten planes.
const MODELS_MIN: usize = 2;

/// Limits of the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling {
    /// Logical pages beyond which only some planes are overwritten.
    pub(super) beyond: u32,
    /// Approximate logical pages of those planes.
    pub(super) models: u32,
}

/// Pages that are written and overwritten without logical page numbers.
pub(super) struct Overwriting {
    unnamed: BitmapDrive,
    /// Scopes that are overwritten, and finally numbered, in the order of planes; and their logical
    /// pages.
    scopes: Vec<Scope>,
    pages: u64,
    /// Each plane has its own scope.
    by_plane: bool,
    /// The planes that are copied from others.
    copies: Option<Copies>,
    pass: Pass,
    is_stationary: bool,
}

/// Copied planes.
struct Copies {
    /// Planes still to be copied.
    left: Vec<Copy>,
    /// Overwrites of a plane between two of its copies.
    writes: u64,
    seed: u64,
}

/// A copied plane.
struct Copy {
    plane: u32,
    /// Its logical pages.
    lpns: u32,
    /// The number of its model's scope.
    of: usize,
}

impl Overwriting {
    /// Writes every logical page once.
    pub(super) fn new(
        ftl: &mut Ftl,
        scenario: &Scenario,
        kept: FreeTarget,
        sampling: Sampling,
    ) -> Overwriting {
        ftl.sectors.hold_all();
        let pages = ftl.tables.map.logical_pages();
        let mut scopes = homes(ftl, scenario.seed);
        let has_own_blocks = scenario.ftl.faults.factory_bad_share > 0.0;
        let is_sampled = pages > sampling.beyond && !has_own_blocks && scopes.len() > MODELS_MIN;
        let copies = is_sampled.then(|| Copies::of(&mut scopes, sampling.models, scenario.seed));
        // A plane's pages stay there, independent of the other planes.
        let by_plane = ftl.placement.is_fixed() || is_sampled;
        let is_shared = is_sampled && !ftl.placement.is_fixed();
        scopes.iter_mut().for_each(|scope| scope.is_shared = is_shared);
        let mut unnamed = BitmapDrive::new(ftl, scenario, kept);
        for home in &scopes {
            unnamed.fill(ftl, home.plane, home.lpns);
        }
        if !by_plane {
            scopes = vec![Scope::of_drive(ftl, scenario.seed)];
        }
        let pages = scopes.iter().map(|scope| u64::from(scope.lpns)).sum();
        let (pass, is_stationary) = (Pass::first(), false);
        Overwriting { unnamed, scopes, pages, by_plane, copies, pass, is_stationary }
    }

    /// Advances by about `writes` page writes; true when every page has its logical page.
    pub(super) fn advance(&mut self, ftl: &mut Ftl, writes: u64) -> Result<bool, UserError> {
        if self.is_stationary {
            if self.copies.is_some() {
                return Ok(self.copy_next(ftl));
            }
            self.scopes.iter_mut().for_each(|it| self.unnamed.name(ftl, it, self.by_plane));
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

    /// Returns the write amplification of the last pass.
    pub(super) fn waf(&self) -> f64 {
        self.pass.waf(self.pages)
    }

    fn end_pass(&mut self, ftl: &Ftl) -> Result<(), UserError> {
        let pages = self.pages;
        self.pass.draws = pages;
        let physical = match self.copies {
            None => ftl.numbering.geometry.pages(),
            Some(_) => self.scopes.len() as u64 * u64::from(ftl.numbering.pages_per_plane()),
        };
        let has_settled = self.copies.is_some() && self.pass.has_settled();
        if has_settled || self.pass.is_like_those_before(pages, physical) {
            self.is_stationary = true;
            return Ok(());
        }
        self.pass.next()?;
        self.scopes.iter_mut().for_each(|scope| scope.left = scope.lpns.into());
        Ok(())
    }

    /// Copies the next plane; true when all are copied, with logical pages.
    fn copy_next(&mut self, ftl: &mut Ftl) -> bool {
        let copies = self.copies.as_mut().expect("there are planes to copy");
        if let Some(Copy { plane, lpns, of }) = copies.left.pop() {
            let scope = &mut self.scopes[of];
            self.unnamed.overwrite_home(ftl, scope, copies.writes);
            self.unnamed.copy_plane(ftl, scope, plane, lpns);
            return false;
        }
        let scopes = match ftl.placement.is_fixed() {
            true => homes(ftl, copies.seed),
            false => {
                let mut scope = Scope::of_drive(ftl, copies.seed);
                self.unnamed.share_out(ftl, scope.lpns, &mut scope.stream);
                vec![scope]
            }
        };
        self.unnamed.name_by_number(ftl, scopes);
        self.unnamed.give_back(ftl);
        true
    }
}

impl Copies {
    /// Takes from the planes with these scopes those that are copied, and leaves the models: planes
    /// with the most logical pages.
    fn of(scopes: &mut Vec<Scope>, pages: u32, seed: u64) -> Copies {
        let most = scopes.iter().map(|scope| scope.lpns).max().expect("a drive has pages");
        let full: Vec<u32> =
            scopes.iter().filter(|it| it.lpns == most).map(|it| it.plane).collect();
        let count = ((pages / most) as usize).max(MODELS_MIN).min(full.len());
        let models: Vec<u32> = (0..count).map(|it| full[it * full.len() / count]).collect();
        let others = scopes.iter().filter(|scope| !models.contains(&scope.plane));
        let copy = |(number, scope): (usize, &Scope)| Copy {
            plane: scope.plane,
            lpns: scope.lpns,
            of: number % count,
        };
        let left: Vec<Copy> = others.enumerate().map(copy).collect();
        scopes.retain(|scope| models.contains(&scope.plane));
        // A pass over the model for all of its copies: each is many blocks from the next.
        let writes = u64::from(most) / (left.len() as u64).div_ceil(count as u64).max(1);
        Copies { left, writes, seed: Stream::new(seed, "precondition.names", 0).next_u64() }
    }
}

/// Returns the logical pages of each plane, in the order of planes.
fn homes(ftl: &Ftl, seed: u64) -> Vec<Scope> {
    let pages = ftl.tables.map.logical_pages();
    let (planes, run) = (ftl.numbering.geometry.planes(), ftl.numbering.units_per_page());
    let home = |place| {
        let (first_lpn, stride) = (place * run, planes * run);
        let plane = ftl.placement.home(first_lpn);
        let lpns = (pages - first_lpn).div_ceil(stride) * run;
        let stream = Stream::new(seed, "precondition.overwrite", u64::from(plane));
        let left = lpns.into();
        Scope { plane, first_lpn, run, stride, lpns, left, is_shared: false, stream }
    };
    let mut scopes: Vec<Scope> = (0..planes.min(pages / run)).map(home).collect();
    scopes.sort_by_key(|scope| scope.plane);
    scopes
}

impl Scope {
    /// Returns all logical pages of a drive.
    fn of_drive(ftl: &Ftl, seed: u64) -> Scope {
        let lpns = ftl.tables.map.logical_pages();
        let stream = Stream::new(seed, "precondition.overwrite", 0);
        let (left, is_shared) = (lpns.into(), false);
        Scope { plane: 0, first_lpn: 0, run: 1, stride: 1, lpns, left, is_shared, stream }
    }
}

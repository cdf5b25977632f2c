//! Logical pages of a drive whose planes are copies of those of a small one, computed on demand.

use super::{Ftl, Mapping};

/// A page of the models that holds nothing.
const NONE: u32 = u32::MAX;

/// The places of a small drive's pages, of whose planes each of the drive is a copy.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct ReplicatedNames {
    /// Of each logical page of the models its page, and the reverse.
    pages: Vec<u32>,
    lpns: Vec<u32>,
    logical_pages: u32,
    pages_per_plane: u32,
    /// Mapping units of a page, which stay on one plane.
    units: u32,
    models: u32,
    planes: Vec<Replica>,
    /// The plane of each of the first user pages.
    columns: Vec<u32>,
}

/// The model of a plane, and the first user page of each in the order of logical pages.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Replica {
    model: u32,
    first: u32,
    model_first: u32,
}

impl ReplicatedNames {
    /// Returns the names of a drive whose planes are copies of `model_of` of the models.
    pub(super) fn new(ftl: &Ftl, models: &Ftl, model_of: &[u32]) -> ReplicatedNames {
        let page_of = |lpn| match models.tables.map.get(lpn) {
            Mapping::Flash(page) => page,
            other => panic!("a page of a drive in its steady state is {other:?}"),
        };
        let lpn_of = |page| models.tables.blocks.owner(page).unwrap_or(NONE);
        let (own, of) = (firsts(ftl), firsts(models));
        let mut columns = vec![0; own.len()];
        (0..).zip(&own).for_each(|(plane, first)| columns[*first as usize] = plane);
        let replica = |(model, first): (&u32, u32)| {
            let model_first = of[*model as usize];
            Replica { model: *model, first, model_first }
        };
        ReplicatedNames {
            pages: (0..models.tables.map.logical_pages()).map(page_of).collect(),
            lpns: (0..models.numbering.geometry.pages() as u32).map(lpn_of).collect(),
            logical_pages: ftl.tables.map.logical_pages(),
            pages_per_plane: ftl.numbering.pages_per_plane(),
            units: ftl.numbering.units_per_page(),
            models: models.numbering.geometry.planes(),
            planes: model_of.iter().zip(own).map(replica).collect(),
            columns,
        }
    }

    /// Returns the logical page of the models like one of the drive, and the plane that has it.
    pub(super) fn like(&self, lpn: u32) -> (u32, u32) {
        let (page, unit) = (lpn / self.units, lpn % self.units);
        let planes = self.columns.len() as u32;
        let plane = self.columns[(page % planes) as usize];
        let first = self.planes[plane as usize].model_first;
        ((page / planes * self.models + first) * self.units + unit, plane)
    }

    /// Returns the pages, counted over the drive, whose models hold a page that the drive lacks.
    pub(super) fn missing(&self) -> Vec<u32> {
        let rows = self.pages.len() as u32 / (self.units * self.models);
        let mut missing = Vec::new();
        for (plane, replica) in (0..).zip(&self.planes) {
            let last = (rows - 1) * self.columns.len() as u32 + replica.first;
            if last >= self.logical_pages / self.units {
                let first = ((rows - 1) * self.models + replica.model_first) * self.units;
                let like = &self.pages[first as usize..(first + self.units) as usize];
                let offset = self.offset(plane);
                missing.extend(like.iter().map(|page| page.wrapping_add(offset)));
            }
        }
        missing
    }

    /// Returns the distance of a plane's pages from its model's, modulo 2^32.
    fn offset(&self, plane: u32) -> u32 {
        let model = self.planes[plane as usize].model;
        plane.wrapping_sub(model).wrapping_mul(self.pages_per_plane)
    }

    /// Returns the page, counted over the drive, that holds a logical page.
    pub(super) fn page(&self, lpn: u32) -> u32 {
        let (like, plane) = self.like(lpn);
        self.pages[like as usize].wrapping_add(self.offset(plane))
    }

    /// Returns the logical page that a page, counted over the drive, holds.
    pub(super) fn owner(&self, page: u32) -> Option<u32> {
        let (plane, own) = (page / self.pages_per_plane, page % self.pages_per_plane);
        let Replica { model, first, .. } = self.planes[plane as usize];
        let like = self.lpns[(model * self.pages_per_plane + own) as usize];
        if like == NONE {
            return None;
        }
        let (page, unit) = (like / self.units, like % self.units);
        let row = u64::from(page / self.models);
        let page = row * self.columns.len() as u64 + u64::from(first);
        let lpn = page * u64::from(self.units) + u64::from(unit);
        // A plane may have one user page fewer than its model.
        (lpn < u64::from(self.logical_pages)).then_some(lpn as u32)
    }
}

/// Returns each plane's first user page, in the order of logical pages.
fn firsts(ftl: &Ftl) -> Vec<u32> {
    let mut firsts = vec![0; ftl.numbering.geometry.planes() as usize];
    let home = |page| ftl.placement.home(page * ftl.numbering.units_per_page());
    (0..ftl.numbering.geometry.planes()).for_each(|page| firsts[home(page) as usize] = page);
    firsts
}

//! Logical pages of the valid pages of a prepared drive, computed on demand.
//!
//! The order in which the valid pages of a plane got their logical pages is an invertible
//! permutation. So a large drive starts without a full table: the tables have only later changes,
//! and a run that touches few pages does not pay for the others.

use reprieve_base::Archive;

use super::Ftl;
use super::in_order::InOrder;
use super::overwrite_scope::Scope;
use super::permutation::Permutation;
use super::ranked_bits::{GROUP_WORDS, RankedBits};
use super::replicated_names::ReplicatedNames;

/// Contents of the valid pages of a drive that was just prepared.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Names {
    pages: PreparedPages,
    /// Mapping units that stay together as such a page, as a power of two.
    unit_bits: u32,
}

/// How the pages were written.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum PreparedPages {
    /// Once, in order.
    InOrder(InOrder),
    /// At random.
    Drawn(DrawnNames),
    /// As those of a smaller drive.
    Replicated(ReplicatedNames),
}

impl Names {
    /// Creates names of pages of one mapping unit.
    pub(super) fn new(pages: PreparedPages) -> Names {
        Names { pages, unit_bits: 0 }
    }

    /// Returns the names of a drive whose pages are `1 << bits` mapping units each.
    pub(super) fn divided(self, bits: u32) -> Names {
        Names { unit_bits: self.unit_bits + bits, ..self }
    }

    /// Writes its tables, or takes them back; the drive has `planes` planes.
    pub(super) fn archive(&mut self, archive: &mut Archive, planes: usize) {
        match &mut self.pages {
            PreparedPages::Drawn(drawn) => drawn.archive(archive, planes),
            PreparedPages::InOrder(_) | PreparedPages::Replicated(_) => {}
        }
    }

    /// The logical page that a page, counted over the drive, holds.
    #[cold]
    pub(super) fn owner(&self, page: u32) -> Option<u32> {
        let whole = page >> self.unit_bits;
        let lpn = match &self.pages {
            PreparedPages::InOrder(pages) => pages.owner(whole),
            PreparedPages::Drawn(drawn) => drawn.owner(whole),
            PreparedPages::Replicated(replicated) => replicated.owner(whole),
        };
        Some(lpn? << self.unit_bits | self.unit(page))
    }

    /// The page, counted over the drive, that holds a logical page.
    #[cold]
    pub(super) fn page(&self, lpn: u32) -> Option<u32> {
        let whole = lpn >> self.unit_bits;
        let page = match &self.pages {
            PreparedPages::InOrder(pages) => pages.page(whole)?,
            PreparedPages::Drawn(drawn) => drawn.page(whole),
            PreparedPages::Replicated(replicated) => replicated.page(whole),
        };
        Some(page << self.unit_bits | self.unit(lpn))
    }

    /// Brings what [`Names::page`] reads for these logical pages into the caches.
    pub(super) fn touch(&self, lpns: impl Iterator<Item = u32>) {
        if let PreparedPages::Drawn(drawn) = &self.pages {
            drawn.touch(lpns.map(|lpn| lpn >> self.unit_bits));
        }
    }

    fn unit(&self, number: u32) -> u32 {
        number & ((1 << self.unit_bits) - 1)
    }
}

/// Logical pages that were drawn for the valid pages of each plane, or of the drive.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct DrawnNames {
    /// One valid bit for each page. Each plane starts a group.
    #[serde(skip)]
    valid: RankedBits,
    groups_per_plane: u32,
    pages_per_plane: u32,
    /// The logical pages of each plane, in the order of planes, or those of the drive.
    scopes: Vec<Named>,
    /// Of each of the first logical pages, one a plane, the number of its scope.
    scope_of: Vec<u32>,
}

/// The logical pages of a scope, and the order in which its valid pages hold them.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Named {
    scope: Scope,
    order: Permutation,
    /// Valid pages of the drive before those of the scope.
    before: u32,
}

impl DrawnNames {
    /// Of a drive whose planes have these words of valid pages, given to scopes that are those of
    /// each plane, in the order of planes, or that of the drive.
    pub(super) fn new<'a>(
        ftl: &Ftl,
        planes: impl Iterator<Item = &'a [u64]>,
        scopes: Vec<Scope>,
    ) -> DrawnNames {
        let pages_per_plane = ftl.numbering.pages_per_plane();
        let groups_per_plane = pages_per_plane.div_ceil(u64::BITS).div_ceil(GROUP_WORDS as u32);
        let words_per_plane = groups_per_plane as usize * GROUP_WORDS;
        let count = ftl.tables.blocks.planes.len();
        let mut valid = Vec::with_capacity(count * words_per_plane);
        for (plane, words) in (1..).zip(planes) {
            valid.extend_from_slice(words);
            valid.resize(plane * words_per_plane, 0);
        }
        let valid = RankedBits::new(valid);
        assert!(scopes.len() == 1 || scopes.len() == count, "every page has its scope");
        let mut scope_of = vec![0; scopes.len()];
        let named = |(number, mut scope): (u32, Scope)| {
            scope_of[(scope.first_lpn / scope.run) as usize] = number;
            let order = Permutation::new(scope.lpns, &mut scope.stream);
            let before = valid.before((scope.plane * groups_per_plane) as usize);
            Named { scope, order, before }
        };
        let scopes: Vec<Named> = (0..).zip(scopes).map(named).collect();
        let lpns = scopes.iter().map(|named| u64::from(named.scope.lpns)).sum::<u64>();
        assert_eq!(u64::from(valid.ones()), lpns, "as many pages are valid as have names");
        DrawnNames { valid, groups_per_plane, pages_per_plane, scopes, scope_of }
    }

    /// Writes which pages of `planes` planes are valid, or takes that back.
    fn archive(&mut self, archive: &mut Archive, planes: usize) {
        self.valid.archive(archive, planes * self.groups_per_plane as usize * GROUP_WORDS);
    }

    /// The logical page that a page, counted over the drive, holds.
    fn owner(&self, page: u32) -> Option<u32> {
        let (plane, own) = (page / self.pages_per_plane, page % self.pages_per_plane);
        let first = (plane * self.groups_per_plane) as usize * GROUP_WORDS;
        let number = self.valid.number(first * u64::BITS as usize + own as usize)?;
        let Named { scope, order, before } =
            &self.scopes[if self.scopes.len() == 1 { 0 } else { plane as usize }];
        Some(scope.logical_page(order.of(number - before)))
    }

    /// Brings what [`DrawnNames::page`] reads for these logical pages into the caches.
    fn touch(&self, lpns: impl Iterator<Item = u32>) {
        let numbers: Vec<u32> = lpns.map(|lpn| self.number(lpn)).collect();
        self.valid.touch(numbers.iter().copied());
    }

    /// The number of the valid page that holds a logical page.
    fn number(&self, lpn: u32) -> u32 {
        let Scope { run, stride, .. } = self.scopes[0].scope;
        let number = self.scope_of[(lpn % stride / run) as usize];
        let Named { scope, order, before } = &self.scopes[number as usize];
        before + order.back(scope.number(lpn))
    }

    /// The page, counted over the drive, that holds a logical page.
    fn page(&self, lpn: u32) -> u32 {
        let bit = self.valid.bit(self.number(lpn));
        let bits_per_plane = self.groups_per_plane as usize * GROUP_WORDS * u64::BITS as usize;
        (bit / bits_per_plane) as u32 * self.pages_per_plane + (bit % bits_per_plane) as u32
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;
    use crate::tests::drive;

    /// Pages that are valid by chance: each has a logical page, and that has it.
    #[test]
    fn every_valid_page_has_a_logical_page_that_has_it() {
        let mut chance = Stream::new(1, "test.names", 0);
        for by_plane in [true, false] {
            let ftl = Ftl::new(&drive(1, &[])).expect("a small drive");
            let planes = ftl.numbering.geometry.planes();
            let pages = ftl.numbering.pages_per_plane();
            let mut words = vec![vec![0u64; pages.div_ceil(64) as usize]; planes as usize];
            let mut page_of: Vec<u32> = Vec::new();
            let lpns = pages / 3;
            for plane in 0..planes {
                let mut left = lpns;
                while left > 0 {
                    let page = chance.below(pages.into()) as u32;
                    let word = &mut words[plane as usize][page as usize / 64];
                    if *word & (1 << (page % 64)) == 0 {
                        *word |= 1 << (page % 64);
                        page_of.push(plane * pages + page);
                        left -= 1;
                    }
                }
            }
            let scope = |plane, first_lpn, stride, lpns| {
                let stream = Stream::new(2, "test.names", u64::from(plane));
                Scope { plane, first_lpn, run: 1, stride, lpns, left: 0, is_shared: false, stream }
            };
            let scopes = match by_plane {
                // Pages of the last plane come first.
                true => (0..planes).map(|it| scope(it, planes - 1 - it, planes, lpns)).collect(),
                false => vec![scope(0, 0, 1, lpns * planes)],
            };
            let names = DrawnNames::new(&ftl, words.iter().map(Vec::as_slice), scopes);
            let mut lpns_of: Vec<u32> = Vec::new();
            for page in 0..planes * pages {
                assert_eq!(names.owner(page).is_some(), page_of.contains(&page), "{page}");
                let Some(lpn) = names.owner(page) else { continue };
                assert_eq!(names.page(lpn), page, "{lpn}");
                assert!(!by_plane || page / pages == planes - 1 - lpn % planes, "{lpn}");
                lpns_of.push(lpn);
            }
            assert!(!lpns_of.is_sorted(), "the order is one of chance");
            lpns_of.sort_unstable();
            assert!(lpns_of.into_iter().eq(0..lpns * planes));
        }
    }
}

//! Sectors with data of each logical page: a bit a sector, for partial writes.

use std::ops::Range;

use reprieve_base::{Archive, SECTOR_BYTES, UserError};
use reprieve_config::{PartialWrite, Scenario};
use reprieve_state::State;

use super::Mapping;
use super::contradiction::wrong;
use super::map::Map;

/// The column of a saved state.
const COLUMN: &str = "map.sectors";

const WORD_BITS: u64 = u64::BITS as u64;

/// A bit for each sector of the logical pages.
///
/// Indexed by logical page, so that moves of data do not change it.
#[derive(Debug)]
struct Sectors {
    words: Vec<u64>,
    pages: u32,
    /// Sectors of a page.
    per_page: u32,
}

impl Sectors {
    /// Creates the bits of an empty drive; `None` if its scenario does not track sectors.
    ///
    /// Errors if memory is short.
    fn of(scenario: &Scenario) -> Result<Option<Sectors>, UserError> {
        if scenario.ftl.partial_write != PartialWrite::TrackSectors {
            return Ok(None);
        }
        let page_bytes = u64::from(scenario.mapping_bytes());
        let per_page = u32::try_from(page_bytes / SECTOR_BYTES).expect("a page has 32-bit bytes");
        Ok(Some(Sectors::new(scenario.logical_pages(), per_page)?))
    }

    fn new(pages: u32, per_page: u32) -> Result<Sectors, UserError> {
        let count = (u64::from(pages) * u64::from(per_page)).div_ceil(WORD_BITS) as usize;
        let mut words = Vec::new();
        words.try_reserve_exact(count).map_err(|error| {
            UserError::new(format!(
                "ftl.partial_write = \"track_sectors\": no memory for a bit for each 512 bytes of \
                 the drive ({} MiB): {error}; use \"read_modify_write\"",
                (count * size_of::<u64>()) >> 20
            ))
        })?;
        words.resize(count, 0);
        Ok(Sectors { words, pages, per_page })
    }

    /// Returns the words with the bits of some sectors of a page, each with a mask.
    fn words_of(
        &self,
        lpn: u32,
        sectors: Range<u32>,
    ) -> impl Iterator<Item = (usize, u64)> + use<> {
        debug_assert!(lpn < self.pages && sectors.end <= self.per_page, "{lpn} {sectors:?}");
        let first = u64::from(lpn) * u64::from(self.per_page);
        let (mut at, end) = (first + u64::from(sectors.start), first + u64::from(sectors.end));
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let word = at / WORD_BITS;
            let count = end.min((word + 1) * WORD_BITS) - at;
            let mask = (u64::MAX >> (WORD_BITS - count)) << (at % WORD_BITS);
            at += count;
            Some((word as usize, mask))
        })
    }

    /// Returns the word with the bits of some sectors of a page and a mask, if it is one word, as
    /// usual.
    #[inline(always)]
    fn one_word_of(&self, lpn: u32, sectors: &Range<u32>) -> Option<(usize, u64)> {
        let from = u64::from(lpn) * u64::from(self.per_page) + u64::from(sectors.start);
        let count = u64::from(sectors.end.wrapping_sub(sectors.start));
        let is_one = (1..=WORD_BITS - from % WORD_BITS).contains(&count);
        let mask = || (u64::MAX >> (WORD_BITS - count)) << (from % WORD_BITS);
        is_one.then(|| ((from / WORD_BITS) as usize, mask()))
    }

    #[inline(always)]
    fn hold(&mut self, lpn: u32, sectors: Range<u32>) {
        match self.one_word_of(lpn, &sectors) {
            Some((word, mask)) => self.words[word] |= mask,
            None => self.hold_in_words(lpn, sectors),
        }
    }

    #[cold]
    fn hold_in_words(&mut self, lpn: u32, sectors: Range<u32>) {
        for (word, mask) in self.words_of(lpn, sectors) {
            self.words[word] |= mask;
        }
    }

    fn clear(&mut self, lpn: u32, sectors: Range<u32>) {
        for (word, mask) in self.words_of(lpn, sectors) {
            self.words[word] &= !mask;
        }
    }

    #[inline(always)]
    fn any(&self, lpn: u32, sectors: Range<u32>) -> bool {
        match self.one_word_of(lpn, &sectors) {
            Some((word, mask)) => self.words[word] & mask != 0,
            None => self.any_in_words(lpn, sectors),
        }
    }

    #[inline]
    fn holds(&self, lpn: u32, sector: u32) -> bool {
        debug_assert!(lpn < self.pages && sector < self.per_page, "{lpn} {sector}");
        let at = u64::from(lpn) * u64::from(self.per_page) + u64::from(sector);
        self.words[(at / WORD_BITS) as usize] >> (at % WORD_BITS) & 1 == 1
    }

    #[cold]
    fn any_in_words(&self, lpn: u32, sectors: Range<u32>) -> bool {
        self.words_of(lpn, sectors).any(|(word, mask)| self.words[word] & mask != 0)
    }

    /// Returns all sectors of a page.
    fn whole(&self) -> Range<u32> {
        0..self.per_page
    }

    /// Whether a page holds a sector outside of `written`.
    fn leaves(&self, lpn: u32, written: &Range<u32>) -> bool {
        self.any(lpn, 0..written.start) || self.any(lpn, written.end..self.per_page)
    }

    /// Mapping units in which a page holds a sector outside of `written`.
    fn units_left(&self, lpn: u32, written: &Range<u32>, unit: u32) -> u32 {
        let is_left = |first: &u32| {
            let (first, end) = (*first, *first + unit);
            self.any(lpn, first..end.min(written.start.max(first)))
                || self.any(lpn, first.max(written.end.min(end))..end)
        };
        (0..self.per_page).step_by(unit as usize).filter(is_left).count() as u32
    }

    /// Sets all sectors of every page.
    fn hold_all(&mut self) {
        (0..self.pages).for_each(|lpn| self.hold(lpn, self.whole()));
    }

    /// Returns the words as a column of a state.
    fn column(&self) -> Vec<u32> {
        self.words.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).collect()
    }

    /// Sets the words from a column; false if its length differs.
    fn fill(&mut self, column: &[u32]) -> bool {
        if column.len() != 2 * self.words.len() {
            return false;
        }
        for (word, halves) in self.words.iter_mut().zip(column.chunks_exact(2)) {
            *word = u64::from(halves[0]) | (u64::from(halves[1]) << 32);
        }
        self.has_no_more()
    }

    /// Whether no bit is set after the last page.
    fn has_no_more(&self) -> bool {
        let used = u64::from(self.pages) * u64::from(self.per_page) % WORD_BITS;
        used == 0 || self.words.last().is_none_or(|word| word >> used == 0)
    }
}

/// Sectors with data, if tracked.
///
/// Without tracking every page counts as whole.
#[derive(Debug)]
pub struct SectorMap(Option<Sectors>);

impl SectorMap {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        if let Some(sectors) = &mut self.0 {
            archive.table(bytemuck::cast_slice_mut(&mut sectors.words));
        }
    }

    /// Creates the map of an empty drive.
    ///
    /// Errors if memory is short.
    pub(super) fn of(scenario: &Scenario) -> Result<SectorMap, UserError> {
        Ok(SectorMap(Sectors::of(scenario)?))
    }

    /// Whether sectors are tracked.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a page holds sectors besides the written ones; true without tracking.
    pub fn leaves(&self, lpn: u32, written: &Range<u32>) -> bool {
        self.0.as_ref().is_none_or(|sectors| sectors.leaves(lpn, written))
    }

    /// Returns the mapping units of a page with sectors besides the written ones; `None` without
    /// tracking.
    pub fn units_left(&self, lpn: u32, written: &Range<u32>, unit: u32) -> Option<u32> {
        self.0.as_ref().map(|sectors| sectors.units_left(lpn, written, unit))
    }

    /// Sets sectors of a page.
    pub fn hold(&mut self, lpn: u32, written: Range<u32>) {
        if let Some(sectors) = &mut self.0 {
            sectors.hold(lpn, written);
        }
    }

    /// Sets all sectors of a page.
    pub fn hold_page(&mut self, lpn: u32) {
        if let Some(sectors) = &mut self.0 {
            sectors.hold(lpn, sectors.whole());
        }
    }

    /// Reads sectors of an unwritten page from the drive's image, which has them, unless an earlier
    /// read has found others.
    pub fn find(&mut self, lpn: u32, read: Range<u32>) {
        if let Some(sectors) = self.0.as_mut().filter(|it| !it.any(lpn, it.whole())) {
            sectors.hold(lpn, read);
        }
    }

    /// Trims sectors of a page, and no others; true if the page is known to be empty.
    pub(super) fn trim(&mut self, lpn: u32, trimmed: Range<u32>) -> bool {
        let Some(sectors) = &mut self.0 else { return false };
        sectors.clear(lpn, trimmed);
        !sectors.any(lpn, sectors.whole())
    }

    /// Clears all sectors of a page.
    pub(super) fn trim_page(&mut self, lpn: u32) {
        if let Some(sectors) = &mut self.0 {
            sectors.clear(lpn, sectors.whole());
        }
    }

    /// Whether a page holds a sector.
    pub fn holds(&self, lpn: u32, sector: u32) -> bool {
        self.0.as_ref().is_some_and(|sectors| sectors.holds(lpn, sector))
    }

    /// Whether a page is known to hold a sector.
    pub fn holds_any(&self, lpn: u32) -> bool {
        self.0.as_ref().is_some_and(|sectors| sectors.any(lpn, sectors.whole()))
    }

    /// Sets every sector, after all pages were written.
    pub(super) fn hold_all(&mut self) {
        if let Some(sectors) = &mut self.0 {
            sectors.hold_all();
        }
    }

    /// Returns whether sectors are tracked.
    pub(super) fn is_tracked(&self) -> bool {
        self.0.is_some()
    }

    /// Copies the sectors of a page from one of a drive with pages of equal size.
    pub(super) fn copy(&mut self, lpn: u32, from: &SectorMap, like: u32) {
        let (Some(own), Some(from)) = (&mut self.0, &from.0) else { return };
        let held = (0..own.per_page).filter(|sector| from.holds(like, *sector));
        held.collect::<Vec<_>>().into_iter().for_each(|sector| own.hold(lpn, sector..sector + 1));
    }

    /// Adds the sectors with data to a state.
    pub(super) fn save(&self, state: &mut State) {
        if let Some(sectors) = &self.0 {
            state.put(COLUMN, sectors.column());
        }
    }

    /// Restores the sectors with data from a state, after the mapping; without this column all
    /// pages were written whole.
    ///
    /// Errors if that does not fit the mapping.
    pub(super) fn restore(&mut self, state: &mut State, map: &Map) -> Result<(), UserError> {
        let column = state.take_any(COLUMN);
        let Some(sectors) = &mut self.0 else { return Ok(()) };
        if column.is_empty() {
            let is_written = |lpn: &u32| matches!(map.get(*lpn), Mapping::Flash(_));
            let written = (0..sectors.pages).filter(is_written);
            written.for_each(|lpn| sectors.hold(lpn, sectors.whole()));
        } else if !sectors.fill(&column) {
            return Err(wrong("the sectors held are not those of its pages".into()));
        }
        self.verify(map).map_err(wrong)
    }

    /// A written page has at least a sector, and a trimmed one none.
    pub(super) fn verify(&self, map: &Map) -> Result<(), String> {
        let Some(sectors) = &self.0 else { return Ok(()) };
        for lpn in 0..sectors.pages {
            let holds = sectors.any(lpn, sectors.whole());
            let mapping = map.get(lpn);
            let fits = match mapping {
                Mapping::Flash(_) | Mapping::Buffered(_) => holds,
                Mapping::Trimmed => !holds,
                // A read may have found some.
                Mapping::Unwritten => true,
            };
            if !fits {
                let some = if holds { "some" } else { "no" };
                return Err(format!("logical page {lpn} is {mapping:?} and holds {some} sectors"));
            }
        }
        let what = "sectors are held behind the last logical page";
        sectors.has_no_more().then_some(()).ok_or_else(|| what.to_string())
    }

    #[cfg(feature = "testing")]
    fn broken(&mut self) -> &mut Sectors {
        self.0.as_mut().expect("the drive keeps track")
    }
}

/// A way to corrupt the table, and a part of the resulting message.
#[cfg(feature = "testing")]
type SectorBreak = (fn(&mut super::Ftl), &'static str);

/// Ways to corrupt the table of a drive with every page written.
#[cfg(feature = "testing")]
pub const BREAKS: &[SectorBreak] = &[
    (
        |ftl| ftl.sectors.broken().clear(4, 1..2),
        "sector 1 of logical page 4 is held: false; by the record",
    ),
    (|ftl| ftl.sectors.broken().clear(4, 0..4), "and holds no sectors"),
    (
        |ftl| {
            let last = ftl.sectors.broken().words.len() - 1;
            ftl.sectors.broken().words[last] |= 1 << 63;
        },
        "behind the last logical page",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Sectors of a page that are held, as a string of digits.
    fn held(sectors: &Sectors, lpn: u32) -> String {
        let is_held = |sector| sectors.any(lpn, sector..sector + 1);
        (0..sectors.per_page).map(|sector| if is_held(sector) { '1' } else { '0' }).collect()
    }

    #[test]
    fn pages_share_words_and_lie_across_them() {
        // 24 sectors a page: page 2 has the bits 48 to 71, in two words.
        let mut sectors = Sectors::new(5, 24).expect("a few bytes");
        sectors.hold(2, 10..20);
        assert_eq!(held(&sectors, 2), "000000000011111111110000");
        for lpn in [0, 1, 3, 4] {
            assert_eq!(held(&sectors, lpn), "0".repeat(24), "{lpn}");
        }
        sectors.clear(2, 12..17);
        assert_eq!(held(&sectors, 2), "000000000011000001110000");
        assert!(!sectors.leaves(2, &(10..20)) && !sectors.leaves(2, &(0..24)));
        assert!(sectors.leaves(2, &(11..20)) && sectors.leaves(2, &(10..19)));
        // Units of four: sectors 8 to 11, of which 10 and 11 are held, and 16 to 19.
        assert_eq!(sectors.units_left(2, &(0..1), 4), 2);
        // A write of 10 and 11 leaves the second; of 11 to 17, both; of 10 to 19, none.
        assert_eq!(sectors.units_left(2, &(10..12), 4), 1);
        assert_eq!(sectors.units_left(2, &(11..18), 4), 2);
        assert_eq!(sectors.units_left(2, &(10..20), 4), 0);
    }

    #[test]
    fn where_nobody_keeps_track_every_page_counts_as_whole() {
        let mut kept = SectorMap(Some(Sectors::new(3, 8).expect("a few bytes")));
        let mut none = SectorMap(None);
        for sectors in [&mut kept, &mut none] {
            sectors.hold(1, 2..4);
        }
        // A write of all sectors with data leaves nothing, if they are tracked.
        assert!(!kept.leaves(1, &(2..4)) && none.leaves(1, &(2..4)));
        assert_eq!(
            (kept.units_left(1, &(3..4), 4), none.units_left(1, &(3..4), 4)),
            (Some(1), None)
        );
        assert!(!kept.trim(1, 2..3) && kept.trim(1, 3..4), "the second was the last");
        assert!(!none.trim(1, 2..3) && !none.trim(1, 3..4));
        // The result of a read is kept until the next one.
        kept.find(1, 5..6);
        kept.find(1, 0..1);
        assert!(kept.holds(1, 5) && !kept.holds(1, 0) && kept.holds_any(1) && !none.holds_any(1));
    }

    #[test]
    fn a_page_of_more_than_a_word_is_held_whole() {
        let mut sectors = Sectors::new(3, 200).expect("a few bytes");
        sectors.hold(1, 0..200);
        assert_eq!([0, 1, 2].map(|lpn| held(&sectors, lpn).matches('1').count()), [0, 200, 0]);
        assert!(sectors.leaves(1, &(0..199)) && sectors.leaves(1, &(1..200)));
        assert!(!sectors.leaves(1, &(0..200)));
    }

    #[test]
    fn a_column_is_of_as_many_pages_and_no_more() {
        // 60 bits: four of the only word are after the last page.
        let mut sectors = Sectors::new(5, 12).expect("a few bytes");
        sectors.hold(4, 3..12);
        let column = sectors.column();
        let mut again = Sectors::new(5, 12).expect("a few bytes");
        assert!(again.fill(&column));
        assert_eq!(again.words, sectors.words);
        assert!(!again.fill(&[0, 1 << 28]) && !again.fill(&[0]) && !again.fill(&[0; 4]));
    }
}

//! Open blocks of a plane, and their choice for each page.

use reprieve_base::Archive;
use reprieve_config::Scenario;
use reprieve_policy::stream::{self, STREAMS_MAX, StreamPolicy};

use super::plane::Victim;

/// The front of pages that garbage collection moves, if separate.
const GC_FRONT: usize = STREAMS_MAX;
/// The front of pages of the mapping.
const MAP_FRONT: usize = STREAMS_MAX + 1;
/// The front of pages that static wear levelling moves, if it is on.
pub(super) const LEVELLING_FRONT: usize = STREAMS_MAX + 2;

/// The division of pages among the open blocks of a plane.
pub(super) struct WriteFrontiers {
    policy: Box<dyn StreamPolicy>,
    streams: u8,
    gc_separate: bool,
    has_map: bool,
    levels_wear: bool,
    /// Free blocks are opened in SLC mode.
    opens_slc: bool,
    /// Each zone that is written has an open block.
    has_zones: bool,
    /// A plane has one open block for everything, without a policy.
    is_simple: bool,
    /// Pages that a program takes, if it takes several.
    program_pages: u32,
    /// Pages from this one on are pages of the mapping.
    logical_pages: u32,
}

impl WriteFrontiers {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        self.policy.archive(archive);
    }

    pub(super) fn new(scenario: &Scenario) -> WriteFrontiers {
        let policy = stream::make(scenario);
        let streams = policy.streams();
        let gc_separate = scenario.ftl.streams.gc_separate;
        let has_map = scenario.ftl.demand.is_some();
        WriteFrontiers {
            policy,
            streams,
            gc_separate,
            has_map,
            levels_wear: scenario.ftl.wear.static_spread.is_some(),
            opens_slc: scenario.ftl.slc_cache.is_some_and(|cache| cache.is_dynamic),
            has_zones: scenario.zones.is_some(),
            is_simple: streams == 1 && !gc_separate && !has_map && scenario.zones.is_none(),
            program_pages: scenario.units_together(),
            logical_pages: scenario.logical_pages(),
        }
    }

    /// Whether a plane has one open block for everything but wear levelling.
    pub(super) fn is_simple(&self) -> bool {
        self.is_simple
    }

    /// Whether open blocks belong to zones.
    pub(super) fn has_zones(&self) -> bool {
        self.has_zones
    }

    /// Returns the stream policy's memory of each page, if any.
    pub(super) fn memory(&self) -> Vec<u32> {
        self.policy.memory()
    }

    /// Restores the memory of the policy.
    pub(super) fn remember(&mut self, memory: &[u32]) {
        self.policy.remember(memory);
    }

    /// Returns the maximum of open blocks of a plane; those of zones count as one, as they hold the
    /// data of full ones.
    pub(super) fn count(&self) -> u32 {
        u32::from(self.streams)
            + u32::from(self.gc_separate)
            + u32::from(self.has_map)
            + u32::from(self.levels_wear)
            + u32::from(self.opens_slc)
    }

    /// Returns the open blocks of a plane, by their indices.
    pub(super) fn of_all(&self) -> impl Iterator<Item = usize> {
        let of_data = self.of_data().chain(self.has_map.then_some(MAP_FRONT));
        of_data.chain(self.levels_wear.then_some(LEVELLING_FRONT))
    }

    /// Returns the open blocks of a plane that hold data, by their indices.
    pub(super) fn of_data(&self) -> impl Iterator<Item = usize> {
        let streams = if self.has_zones { STREAMS_MAX } else { usize::from(self.streams) };
        (0..streams).chain(self.gc_separate.then_some(GC_FRONT))
    }

    /// Returns the open blocks that take moved pages, by their indices.
    pub(super) fn of_moved_data(&self) -> impl Iterator<Item = usize> {
        self.of_data().filter(|front| !self.gc_separate || *front == GC_FRONT)
    }

    /// Iterates over them and that of pages of the mapping, if there is one.
    pub(super) fn of_moved_pages(&self) -> impl Iterator<Item = usize> {
        self.of_moved_data().chain(self.has_map.then_some(MAP_FRONT))
    }

    /// Returns the number of open blocks of a plane that take moved pages.
    pub(super) fn count_of_moved(&self) -> u32 {
        let data = if self.gc_separate { 1 } else { u32::from(self.streams) };
        data + u32::from(self.has_map)
    }

    /// Whether moved pages of one block have to be held by open block, as a wordline takes several
    /// and they go to several open blocks.
    #[inline]
    pub(super) fn parts_moved(&self) -> bool {
        self.program_pages > 1 && self.count_of_moved() > 1
    }

    /// Returns the front of a page that is written now, with a placement handle.
    #[inline]
    pub(super) fn of_write(&mut self, lpn: u32, handle: u8) -> u8 {
        if self.is_simple { 0 } else { self.choose_for_write(lpn, handle) }
    }

    #[cold]
    fn choose_for_write(&mut self, lpn: u32, handle: u8) -> u8 {
        if lpn >= self.logical_pages { MAP_FRONT as u8 } else { self.policy.of_write(lpn, handle) }
    }

    /// Returns the front of a page that is moved now.
    #[inline]
    pub(super) fn of_moved(&self, lpn: u32) -> usize {
        if self.is_simple { 0 } else { self.choose_for_moved(lpn) }
    }

    /// Returns the front of a page of a victim that is moved now.
    #[inline]
    pub(super) fn of_victim(&self, victim: Option<Victim>, lpn: u32) -> usize {
        match victim {
            Some(Victim { levels: true, .. }) => LEVELLING_FRONT,
            _ => self.of_moved(lpn),
        }
    }

    #[cold]
    fn choose_for_moved(&self, lpn: u32) -> usize {
        if lpn >= self.logical_pages {
            MAP_FRONT
        } else if self.gc_separate {
            GC_FRONT
        } else {
            usize::from(self.policy.of_moved(lpn))
        }
    }
}

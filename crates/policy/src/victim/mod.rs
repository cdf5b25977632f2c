//! Victim policies: which full block of a plane garbage collection reclaims.

mod cost_benefit;
mod d_choices;
mod fifo;
mod filled;
mod greedy;
mod random;
mod windowed_greedy;

use reprieve_base::{Archive, Entry, Geometry};
use reprieve_config::Scenario;

/// View of the full blocks of a plane, counted over the drive, for a victim policy.
pub trait BlockView {
    /// The block with the fewest valid pages, if collecting it gains a page.
    fn emptiest(&mut self, plane: u32) -> Option<u32>;

    /// Blocks of a plane, full or not.
    fn blocks_per_plane(&self) -> u32;

    /// Returns the pages gained by collecting the block; `None` unless it is full.
    fn gain(&self, block: u32) -> Option<u32>;
}

/// A victim policy.
pub trait VictimPolicy: Send {
    /// Saves or restores its state, if it has any.
    fn archive(&mut self, _archive: &mut Archive) {}

    /// Returns the block of `plane` to collect, with an invalid page; `None`: there is none.
    ///
    /// The caller reclaims it.
    fn pick(&mut self, blocks: &mut dyn BlockView, plane: u32) -> Option<u32>;

    /// Adds a block of `plane` that has become full.
    fn filled(&mut self, _plane: u32, _block: u32) {}

    /// Counts blocks of `plane` that became full in between and are full no more.
    fn passed(&mut self, _plane: u32, _blocks: u32) {}

    /// Removes a full block of `plane` that is collected without a pick of the policy.
    fn taken(&mut self, _plane: u32, _block: u32) {}
}

type MakeVictim = fn(&Scenario) -> Box<dyn VictimPolicy>;

/// The registry: name, sentence, maker.
const POLICIES: &[(Entry, MakeVictim)] = &[
    (greedy::ENTRY, |_| Box::new(greedy::Greedy)),
    (d_choices::ENTRY, |scenario| Box::new(d_choices::DChoices::of(scenario))),
    (random::ENTRY, |scenario| Box::new(random::of(scenario))),
    (fifo::ENTRY, |scenario| Box::new(fifo::OldestFirst::new(&scenario.geometry))),
    (windowed_greedy::ENTRY, |scenario| Box::new(windowed_greedy::WindowedGreedy::of(scenario))),
    (cost_benefit::ENTRY, |scenario| Box::new(cost_benefit::CostBenefit::of(scenario))),
];

/// Every victim policy.
pub fn entries() -> Vec<Entry> {
    POLICIES.iter().map(|(entry, _)| *entry).collect()
}

/// Creates the policy of a scenario, which has checked its name, for this geometry.
pub fn make(scenario: &Scenario, geometry: Geometry) -> Box<dyn VictimPolicy> {
    let scenario = Scenario { geometry, ..scenario.clone() };
    let name = &scenario.ftl.gc_victim;
    let found = POLICIES.iter().find(|(entry, _)| entry.name == name);
    found.map(|(_, make)| make(&scenario)).expect("the scenario names a registered victim policy")
}

#[cfg(test)]
mod tests;

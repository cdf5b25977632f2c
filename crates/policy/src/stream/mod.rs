//! Streams: the choice of an open block of a plane for each page, to group similar pages.

mod hot_cold;
mod placement;
mod single;

use reprieve_base::{Archive, Entry};
use reprieve_config::Scenario;

/// Maximum of open blocks of a plane for host pages.
pub const STREAMS_MAX: usize = 16;

/// Maximum of open blocks of a plane: those of the streams, of moved pages, of the mapping, and in
/// SLC mode.
pub const FRONTS: usize = STREAMS_MAX + 4;

/// The open block of a plane in SLC mode, by its index among all.
pub const SLC_FRONT: usize = STREAMS_MAX + 3;

/// A division of the host's pages into streams.
pub trait StreamPolicy: Send {
    /// Saves or restores its state, if it has any.
    fn archive(&mut self, _archive: &mut Archive) {}

    /// Number of streams, from 1 to [`STREAMS_MAX`]; they are numbered from 0.
    fn streams(&self) -> u8;

    /// Returns the stream of a page that the host writes now, with a placement handle.
    fn of_write(&mut self, lpn: u32, handle: u8) -> u8;

    /// Returns the stream of a page that garbage collection moves now.
    fn of_moved(&self, lpn: u32) -> u8;

    /// Returns the policy's number for each page, for a saved state; empty if none.
    fn memory(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Restores the output of [`StreamPolicy::memory`], for as many pages.
    fn remember(&mut self, _: &[u32]) {}
}

type MakeStream = fn(&Scenario) -> Box<dyn StreamPolicy>;

/// The registry: name, sentence, maker.
const POLICIES: &[(Entry, MakeStream)] = &[
    (single::ENTRY, |_| Box::new(single::Single)),
    (hot_cold::ENTRY, |scenario| Box::new(hot_cold::HotCold::of(scenario))),
    (placement::ENTRY, |scenario| Box::new(placement::Handles::of(scenario))),
];

/// Every division into streams.
pub fn entries() -> Vec<Entry> {
    POLICIES.iter().map(|(entry, _)| *entry).collect()
}

/// Creates the policy of a scenario, which has checked its name.
pub fn make(scenario: &Scenario) -> Box<dyn StreamPolicy> {
    let name = &scenario.ftl.streams.policy;
    let found = POLICIES.iter().find(|(entry, _)| entry.name == name);
    found.map(|(_, make)| make(scenario)).expect("the scenario names a registered stream policy")
}

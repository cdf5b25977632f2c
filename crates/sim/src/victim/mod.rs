//! Victim policies: which full block of a plane garbage collection reclaims.

mod greedy;

use reprieve_base::Entry;

/// What a victim policy may ask about the full blocks of a plane.
pub trait BlockView {
    /// The one with the fewest valid pages, if reclaiming it gains a page.
    fn emptiest(&mut self, plane: u32) -> Option<u32>;
}

/// A victim policy.
pub trait VictimPolicy: Send {
    /// The block of `plane` to reclaim, which is not full of valid pages; `None`: all are.
    fn pick(&mut self, blocks: &mut dyn BlockView, plane: u32) -> Option<u32>;
}

type Make = fn() -> Box<dyn VictimPolicy>;

/// The registry: name, sentence, maker.
const POLICIES: &[(Entry, Make)] = &[(greedy::ENTRY, || Box::new(greedy::Greedy))];

/// Every victim policy.
pub fn entries() -> Vec<Entry> {
    POLICIES.iter().map(|(entry, _)| *entry).collect()
}

/// The policy of that name, which the scenario has checked.
pub fn make(name: &str) -> Box<dyn VictimPolicy> {
    let found = POLICIES.iter().find(|(entry, _)| entry.name == name);
    found.map(|(_, make)| make()).expect("the scenario names a registered victim policy")
}

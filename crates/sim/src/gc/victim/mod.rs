//! Victim policies: which full block of a plane garbage collection reclaims.

mod greedy;

use reprieve_base::Entry;

use super::index::BlockIndex;

/// A victim policy.
pub trait VictimPolicy: Send {
    /// The block of `plane` to reclaim, with fewer valid pages than a block holds; `None`: none has.
    fn pick(&mut self, index: &mut BlockIndex, plane: u32) -> Option<u32>;
}

/// The registry: name, sentence, maker.
const POLICIES: &[(Entry, fn() -> Box<dyn VictimPolicy>)] =
    &[(greedy::ENTRY, || Box::new(greedy::Greedy))];

/// Every victim policy.
pub fn entries() -> Vec<Entry> {
    POLICIES.iter().map(|(entry, _)| *entry).collect()
}

/// The policy of that name, which the scenario has checked.
pub fn make(name: &str) -> Box<dyn VictimPolicy> {
    let found = POLICIES.iter().find(|(entry, _)| entry.name == name);
    found.map(|(_, make)| make()).expect("the scenario names a registered victim policy")
}

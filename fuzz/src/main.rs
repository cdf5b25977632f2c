//! Feeds bytes to one entry of the threat model, which `REPRIEVE_FUZZ` names; a panic is a fault.
#![no_main]

mod entries;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

/// The function that takes the bytes.
static ENTRY: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("REPRIEVE_FUZZ").expect("REPRIEVE_FUZZ names an entry");
    let found = entries::ALL.iter().find(|(entry, _)| *entry == name);
    let names: Vec<_> = entries::ALL.iter().map(|(entry, _)| *entry).collect();
    found.unwrap_or_else(|| panic!("{name} is none of {}", names.join(", "))).1
});

fuzz_target!(|data: &[u8]| ENTRY(data));

//! Feeds bytes to one entry of the threat model, which `REPRIEVE_FUZZ` names; a panic is a fault.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use reprieve_fuzz::{ALL, take};

static ENTRY: LazyLock<String> = LazyLock::new(|| {
    let name = std::env::var("REPRIEVE_FUZZ").expect("REPRIEVE_FUZZ names an entry");
    let names: Vec<_> = ALL.iter().map(|(entry, _)| *entry).collect();
    assert!(names.contains(&name.as_str()), "{name} is none of {}", names.join(", "));
    name
});

fuzz_target!(|data: &[u8]| take(&ENTRY, data));

//! Where data goes, by what the machine has and what the user asks for.

use std::path::PathBuf;

use super::DataPlace;
use crate::options::{Options, Place};

/// The bytes of a drive, and what they take up in memory: a page of 4 KiB more for each 2 MiB.
const BYTES: u64 = 1 << 30;
const IN_MEMORY_BYTES: u64 = (1 << 30) + (1 << 21);

fn nothing_asked() -> Options {
    Options {
        place: Place::Unix(PathBuf::from("s")),
        control: None,
        from_state: None,
        store: None,
        memory_bytes: None,
        discard_data: false,
        scale_thousandths: 1000,
        record: None,
        metrics: None,
        faults: Vec::new(),
    }
}

#[test]
fn data_goes_into_memory_where_all_of_it_fits() {
    let memory = DataPlace::Memory { limit_bytes: IN_MEMORY_BYTES };
    for available in [None, Some(IN_MEMORY_BYTES), Some(u64::MAX)] {
        let chosen = DataPlace::choose_with(BYTES, &nothing_asked(), available);
        assert_eq!(chosen.expect("nothing contradicts"), memory);
    }
    assert_eq!(memory.note(), None);
}

#[test]
fn data_goes_into_a_file_without_a_name_where_it_might_not_fit() {
    let chosen = DataPlace::choose_with(BYTES, &nothing_asked(), Some(IN_MEMORY_BYTES - 1));
    let chosen = chosen.expect("nothing contradicts");
    assert_eq!(chosen, DataPlace::TemporaryFile);
    assert!(chosen.note().expect("it is said").contains("unlinked file in "));
}

#[test]
fn what_is_asked_for_holds_whatever_the_machine_has() {
    let file = Options { store: Some(PathBuf::from("f")), ..nothing_asked() };
    let limited = Options { memory_bytes: Some(5), ..nothing_asked() };
    let none = Options { discard_data: true, ..nothing_asked() };
    for available in [None, Some(0), Some(u64::MAX)] {
        let choose = |options| DataPlace::choose_with(BYTES, options, available);
        assert_eq!(choose(&file).expect("one is asked for"), DataPlace::File(PathBuf::from("f")));
        let memory = DataPlace::Memory { limit_bytes: 5 };
        assert_eq!(choose(&limited).expect("one is asked for"), memory);
        assert_eq!(choose(&none).expect("one is asked for"), DataPlace::Discarded);
    }
}

#[test]
fn two_places_are_refused() {
    let store = Some(PathBuf::from("f"));
    for options in [
        Options { store: store.clone(), memory_bytes: Some(5), ..nothing_asked() },
        Options { store, discard_data: true, ..nothing_asked() },
        Options { memory_bytes: Some(5), discard_data: true, ..nothing_asked() },
    ] {
        let refused = DataPlace::choose(BYTES, &options).expect_err("they contradict").to_string();
        assert!(refused.contains("give one of them"), "{refused}");
    }
}

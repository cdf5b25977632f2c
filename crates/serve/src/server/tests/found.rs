//! Faults of the server that histories have found, each by itself.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::disk::{Fault, Machine};
use crate::store::Store;

const BYTES: u64 = 8192;

/// Opens the drive's file in a new process.
fn open(machine: &Arc<Mutex<Machine>>, fault: Option<(u64, Fault)>) -> Option<Store> {
    let disk = Machine::boot(machine);
    if let Some((calls, fault)) = fault {
        machine.lock().expect("no panic").arm(calls, fault);
    }
    Store::in_file(&disk, Path::new("store"), BYTES, None).ok()
}

/// Flushes, and returns whether that succeeds.
fn flush(store: &mut Store) -> bool {
    let ticket = store.begin_sync(0, BYTES).expect("it can begin").expect("a file is not safe");
    while store.step() {}
    store.outcome(ticket).expect("no step is left").is_ok()
}

#[test]
fn a_server_that_dies_while_it_makes_its_file_leaves_one_that_opens() {
    for (calls, seed) in (1..8).flat_map(|calls| (0..8).map(move |seed| (calls, seed))) {
        for death in [Fault::Kill, Fault::Cut] {
            let machine = Machine::new(seed, false);
            drop(open(&machine, Some((calls, death))));
            assert!(open(&machine, None).is_some(), "{calls} calls and {death:?}");
        }
    }
}

#[test]
fn the_name_of_a_file_is_safe_whichever_server_made_it() {
    for (calls, seed) in (1..8).flat_map(|calls| (0..8).map(move |seed| (calls, seed))) {
        let machine = Machine::new(seed, false);
        drop(open(&machine, Some((calls, Fault::Kill))));
        let mut store = open(&machine, None).expect("it opens");
        store.write(0, &[7; 512]).expect("there is room");
        assert!(flush(&mut store));
        let mut machine = machine.lock().expect("no panic");
        machine.cut();
        assert_eq!(machine.bytes().first(), Some(&7), "{calls} calls");
    }
}

#[test]
fn no_server_ends_well_after_a_sync_that_failed() {
    let machine = Machine::new(1, false);
    let mut store = open(&machine, None).expect("it opens");
    store.write(0, &[7; 512]).expect("there is room");
    machine.lock().expect("no panic").arm(0, Fault::SyncError);
    assert!(!flush(&mut store) && !flush(&mut store), "a failure is permanent");
    assert!(store.close().is_err());
}

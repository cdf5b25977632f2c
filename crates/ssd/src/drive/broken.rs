//! Deliberately corrupted tables of a drive: each is detected, with the data to find the fault.

use std::panic::{AssertUnwindSafe, catch_unwind};

use reprieve_config::{self as scenario, Sources};

use super::*;

const COMMAND: &str = "reprieve run broken.toml --check";

/// Returns the message of the panic of `broken`.
fn message(broken: impl FnOnce()) -> String {
    let fault = catch_unwind(AssertUnwindSafe(broken)).expect_err("the checker sees nothing");
    *fault.downcast::<String>().expect("a panic with a message")
}

/// Returns a running drive under the checker.
fn at_work(sets: &[&str]) -> Ssd {
    let text = "seed = 3\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n[geometry]\nchannels = 2\n\
        planes_per_die = 2\nblocks_per_plane = 24\npages_per_block = 8\n\
        [ftl]\nover_provisioning = 0.35\nprecondition = \"steady\"\n[workload]\n\
        generator = \"mixed\"\nrequests = 20000\nread_fraction = 0.5\nrequest_bytes = 2048\n\
        queue_depth = 8\n";
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let sources = Sources { text, path: "broken.toml", sets: &sets };
    let scenario = scenario::load(&sources, crate::registries()).expect("no mistakes");
    let options = Options { check: Some(COMMAND.to_string()), ..Options::default() };
    let mut ssd = Ssd::with(scenario, &options).expect("a drive that fits into memory");
    while ssd.progress().1 < 1000 {
        ssd.step(500).expect("a generator without bad rows");
    }
    ssd
}

#[test]
fn a_drive_that_is_not_broken_is_let_through() {
    for sets in [&[][..], FRONT, TRACKED, &["ftl.partial_write=pad", TRACKED[1], TRACKED[2]]] {
        let mut ssd = at_work(sets);
        while ssd.step(1000).expect("a generator without bad rows") {}
        assert_eq!(ssd.progress().1, 20_000);
    }
}

/// Held dirty pages, a read cache, and two queues with more requests than are fetched.
const FRONT: &[&str] = &[
    "buffer.acknowledge=back",
    "buffer.replacement=lru",
    "buffer.bytes=65536",
    "read_cache.bytes=65536",
    "host.interface=nvme",
    "host.queues=2",
    "host.queue_entries=2",
];

#[test]
fn a_buffer_a_cache_or_queues_that_do_not_agree_are_caught() {
    for (breaks, what) in verify::BREAKS {
        let mut ssd = at_work(FRONT);
        let said = message(|| ssd.run.break_front(*breaks));
        assert!(said.contains(what), "{what:?}: {said}");
        assert!(said.ends_with(&format!("(seed 3; to repeat: {COMMAND})")), "{said}");
    }
}

/// Partial writes, on a drive that tracks sectors.
const TRACKED: &[&str] =
    &["ftl.partial_write=track_sectors", "workload.request_bytes=1024", "workload.align_bytes=512"];

#[test]
fn sectors_that_do_not_agree_are_caught() {
    for (breaks, what) in reprieve_ftl::SECTOR_BREAKS {
        let mut ssd = at_work(TRACKED);
        ssd.run.break_ftl(*breaks);
        let said = message(|| while ssd.step(1000).expect("a generator without bad rows") {});
        assert!(said.contains(what), "{what:?}: {said}");
        assert!(said.ends_with(&format!("(seed 3; to repeat: {COMMAND})")), "{said}");
    }
}

#[test]
fn tables_that_do_not_agree_are_caught() {
    for (breaks, what) in reprieve_ftl::BREAKS {
        let mut ssd = at_work(&[]);
        ssd.run.break_ftl(*breaks);
        let said = message(|| while ssd.step(1000).expect("a generator without bad rows") {});
        assert!(said.contains(" the FTL: ") && said.contains(what), "{what:?}: {said}");
        assert!(said.ends_with(&format!("(seed 3; to repeat: {COMMAND})")), "{said}");
    }
}

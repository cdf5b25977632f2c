//! The file of a state: a round trip preserves it, and every other file is refused.

use reprieve_config::{self as scenario, Sources};

use super::*;

fn scenario(sets: &[&str]) -> Scenario {
    let text = "device = \"fast12-slc\"\n[geometry]\nchannels = 2\n\
        [workload]\ngenerator = \"mixed\"\nrequests = 1\nread_fraction = 0.5\nqueue_depth = 1\n";
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let sources = Sources { text, path: "drive.toml", sets: &sets };
    scenario::load(&sources, &reprieve_policy::registries(|_| None))
        .expect("a scenario without mistakes")
}

fn state() -> State {
    let mut state = State::default();
    state.put("empty", Vec::new());
    state.put("one", vec![u32::MAX]);
    state.put("many", (0..200_000u32).map(|n| n.wrapping_mul(2_654_435_761)).collect());
    state
}

fn refusal(bytes: &[u8], sets: &[&str]) -> String {
    file::decode(bytes, &scenario(sets)).expect_err("not a state of this drive").to_string()
}

#[test]
fn what_is_written_is_read() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("drive.state");
    state().write(&path, &scenario(&[])).expect("room for a file");
    // Seed, policies and workload are the run's, not the drive's.
    let other = scenario(&["seed=9", "policy=pes-ipc", "ftl.gc_victim=fifo"]);
    let mut read = State::read(&path, &other).expect("a whole state");
    assert_eq!(read, state());
    assert_eq!(std::fs::read_dir(directory.path()).expect("it exists").count(), 1);
    assert!(read.take("one", 2).is_err() && read.take("two", 1).is_err());
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("missing").join("drive.state");
    let error = state().write(&path, &scenario(&[])).expect_err("no such directory").to_string();
    assert!(error.contains("drive.state: cannot write the state"), "{error}");
    let error = state().write(directory.path(), &scenario(&[])).expect_err("a directory");
    assert!(error.to_string().contains("cannot write the state"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).expect("it exists").count(), 0);
}

#[cfg(unix)]
#[test]
fn a_device_without_an_end_is_refused() {
    let error = State::read("/dev/zero".as_ref(), &scenario(&[])).expect_err("no state");
    assert!(error.to_string().contains("/dev/zero: is not a saved state"), "{error}");
}

#[test]
fn a_file_that_was_cut_or_changed_anywhere_is_refused() {
    let whole = file::encode(state(), &scenario(&[])).concat();
    for length in [0, 7, 19, 20, 24, 100, whole.len() / 2, whole.len() - 1] {
        let error = refusal(&whole[..length], &[]);
        assert!(error.contains("not a saved state") || error.contains("not whole"), "{error}");
    }
    for place in [12, 20, 30, whole.len() / 2, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[place] ^= 4;
        assert!(refusal(&changed, &[]).contains("damaged"), "byte {place}");
    }
    let mut older = whole.clone();
    older[8] = 200;
    assert!(refusal(&older, &[]).contains("version 200, and this program reads version"));
    assert!(refusal(b"[geometry]\nchannels = 4\n # a scenario", &[]).contains("not a saved state"));
}

#[test]
fn a_state_of_another_drive_is_refused_by_the_key_that_differs() {
    let bytes = file::encode(state(), &scenario(&[])).concat();
    for (set, key) in [
        ("geometry.channels=4", "geometry.channels = 2, and the scenario has 4"),
        ("geometry.dies_per_channel=2", "geometry.dies_per_channel = 1"),
        ("geometry.planes_per_die=2", "geometry.planes_per_die"),
        ("geometry.blocks_per_plane=512", "geometry.blocks_per_plane"),
        ("geometry.pages_per_block=32", "geometry.pages_per_block"),
        ("geometry.page_bytes=4096", "geometry.page_bytes"),
        ("ftl.over_provisioning=0.4", "ftl.over_provisioning"),
        (
            "ftl.twin_blocks=true parallelism.multi_plane=block",
            "ftl.twin_blocks = false, and the scenario has true",
        ),
        ("ftl.placement=wcdp", "ftl.placement = \"cwdp\", and the scenario has \"wcdp\""),
    ] {
        let error = refusal(&bytes, &set.split_whitespace().collect::<Vec<_>>());
        assert!(error.contains(key), "{set}: {error}");
    }
}

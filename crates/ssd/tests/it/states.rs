//! Saved states: a run from one is the run that saved it, and after a run nothing is left over.

use std::path::{Path, PathBuf};

use reprieve_ssd::{Options, Ssd};
use serde_json::Value;

use super::drive;

/// A busy little drive; the policies are each test's own.
const DRIVE: &str = "seed = 7\ndevice = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 2\ndies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 24\n\
    pages_per_block = 8\n[ftl]\nover_provisioning = 0.35\nprecondition = \"steady\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 3000\nread_fraction = 0.5\n\
    trim_fraction = 0.05\nrequest_bytes = [[512, 1], [2048, 3], [6144, 1]]\nalign_bytes = 512\n\
    queue_depth = 8\n";

/// Sets of policies, of which each has something to remember or to finish.
const DRIVES: [&[&str]; 34] = [
    &[],
    &[
        "reliability.model=power",
        "timing.t_erase_loops_us=[100, 300]",
        "timing.t_erase_us_by_cycles=[[0, [[150, 1], [900, 2]]], [3, [[1900, 1]]]]",
        "suspension.erase_mode=deferred",
    ],
    &["ftl.gc_victim=fifo"],
    &["ftl.gc_victim=d-choices"],
    &["ftl.gc_victim=random", "ftl.gc_background=false"],
    &["ftl.placement=dynamic", "ftl.precondition=sequential"],
    &["ftl.placement=dynamic"],
    &["ftl.placement=aligned", "parallelism.multi_plane=page", "parallelism.cache_program=true"],
    &["ftl.copyback=true", "parallelism.independent_plane_reads=true"],
    &["timing.wordline_pages=2", "ftl.over_provisioning=0.65", "buffer.acknowledge=back"],
    &["buffer.acknowledge=back", "ftl.gc_background=false"],
    &["ftl.precondition=none", "buffer.acknowledge=back", "ftl.gc_start_free_share=0.5"],
    &["ftl.free_block=least-worn", "ftl.static_wear_spread=2", "ftl.count_erases=true"],
    &["ftl.gc_victim=cost-benefit", "ftl.gc_dies_max=1", "ftl.gc_start_free_share=0.3"],
    &["ftl.gc_parallel_planes=true", "parallelism.multi_plane=page", "ftl.placement=aligned"],
    &[
        "parallelism.multi_plane=page",
        "ftl.gc_parallel_planes=true",
        "ftl.gc_stream=separate",
        "ftl.gc_victims_in_step=true",
        "ftl.gc_hard_free_blocks=3",
    ],
    &["ftl.gc_victim=windowed-greedy", "ftl.gc_preemptible=false", "ftl.count_erases=true"],
    &["ftl.gc_background=false", "ftl.gc_rate_pages_per_write=2", "ftl.gc_start_free_share=0.3"],
    &["ftl.gc_background=false", "ftl.gc_pace=free-space", "ftl.gc_start_free_share=0.3"],
    &["buffer.acknowledge=back", "buffer.replacement=lru", "buffer.flush_idle_us=500"],
    &["ftl.partial_write=track_sectors"],
    &["ftl.partial_write=track_sectors", "ftl.precondition=none", "buffer.acknowledge=back"],
    &["ftl.stream=hot-cold", "ftl.gc_hard_free_blocks=3"],
    &["ftl.gc_stream=separate", "ftl.gc_hard_free_blocks=3"],
    &["ftl.mapping_bytes=512", "ftl.over_provisioning=0.65", "buffer.acknowledge=back"],
    &["ftl.mapping_bytes=1024", "ftl.placement=aligned", "parallelism.multi_plane=page"],
    &["ftl.mapping_bytes=1024", "ftl.placement=dynamic", "ftl.partial_write=track_sectors"],
    &[
        "ftl.mapping_bytes=512",
        "ftl.stream=hot-cold",
        "ftl.gc_hard_free_blocks=3",
        "ftl.over_provisioning=0.65",
    ],
    &["ftl.factory_bad_share=0.05", "ftl.over_provisioning=0.7"],
    &["nand.program_failure=0.001", "ftl.over_provisioning=0.7"],
    &["nand.erase_failure=0.002", "ftl.over_provisioning=0.7"],
    &["reliability.model=power", "reliability.delta=0.1", "ecc.code=ldpc"],
    &[
        "scheduling.dispatch=mbm",
        "scheduling.mbm_redistribution=either",
        "scheduling.mbm_writes_per_redistributed_page=1",
        "suspension.host_read_suspends=[]",
    ],
    &[
        "buffer.acknowledge=back",
        "buffer.replacement=fifo",
        "read_cache.bytes=65536",
        "host.interface=nvme",
        "host.queues=2",
        "host.queue_entries=2",
        "host.t_command_us=2",
    ],
];

struct Run {
    ssd: Ssd,
}

impl Run {
    fn new(sets: &[&str], from: Option<&Path>) -> Run {
        let check = Some(format!("a saved state with {sets:?}"));
        let from_state = from.map(PathBuf::from);
        let options = Options { from_state, check, ..Options::default() };
        let ssd = Ssd::with(drive::load_with(DRIVE, sets), &options).expect("a drive");
        let mut run = Run { ssd };
        while !run.ssd.is_preconditioned() {
            assert!(from.is_none(), "a drive from a state is preconditioned");
            run.ssd.step(1).expect("a drive that settles");
        }
        run
    }

    fn finish(&mut self) -> Value {
        while self.ssd.step(1000).expect("a generator without bad rows") {}
        let mut summary = self.ssd.summary();
        // What was done before the run is not of the run, and a state does not tell it.
        let table = summary.as_object_mut().expect("a table");
        table.retain(|section, _| !["prepare", "precondition"].contains(&section.as_str()));
        summary
    }

    fn save(&mut self, path: &Path) -> Vec<u8> {
        self.ssd.save_state(path).expect("room for a file");
        std::fs::read(path).expect("it was just written")
    }
}

#[test]
fn a_run_from_the_state_at_its_start_is_the_same_run() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("start.state");
    for sets in DRIVES {
        let whole = Run::new(sets, None).finish();
        // Saving disturbs nothing.
        let mut saved = Run::new(sets, None);
        saved.save(&path);
        assert_eq!(saved.finish(), whole, "{sets:?}");
        assert_eq!(Run::new(sets, Some(&path)).finish(), whole, "{sets:?}");
        // A state says how it was reached in nothing: another seed can start from it too.
        let other = [sets, &["seed=8"]].concat();
        assert_ne!(Run::new(&other, Some(&path)).finish(), whole, "{sets:?}");
    }
}

#[test]
fn the_state_at_the_end_is_whole_and_what_the_next_run_starts_from() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (first, again) = (directory.path().join("first"), directory.path().join("again"));
    for sets in DRIVES {
        let mut run = Run::new(sets, None);
        let summary = run.finish();
        let end = run.save(&first);
        // Closing once more changes nothing, nor does reading and writing.
        assert!(run.save(&again) == end, "{sets:?}");
        assert!(Run::new(sets, Some(&first)).save(&again) == end, "{sets:?}");
        let next = Run::new(sets, Some(&first)).finish();
        assert_ne!(next, summary, "{sets:?}");
        assert_eq!(Run::new(sets, Some(&first)).finish(), next, "{sets:?}");
    }
}

#[test]
fn what_was_written_is_in_the_state_at_the_end() {
    // Reads of what was never written, trimmed pages too, take no flash read; others one each.
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("end");
    let first = ["ftl.precondition=none", "workload.unwritten=zero", "buffer.acknowledge=back"];
    let mut run = Run::new(&first, None);
    run.finish();
    run.save(&path);
    let reads = [
        "workload.read_fraction=1",
        "workload.trim_fraction=0",
        "seed=9",
        "workload.unwritten=zero",
        "workload.request_bytes=2048",
        "workload.align_bytes=2048",
    ];
    let empty = Run::new(&[&reads[..], &["ftl.precondition=none"]].concat(), None).finish();
    assert_eq!(empty["flash"]["host_reads"], 0);
    let after = Run::new(&reads, Some(&path)).finish();
    let (read, zero) = (&after["flash"]["host_reads"], &after["device"]["zero_reads"]);
    assert_eq!(read.as_u64().expect("a count") + zero.as_u64().expect("a count"), 3000);
    // 1350 writes of 2 pages on average leave exp(-2.7) of the 998 pages unwritten; 150 trims of
    // 0.6 whole pages trim one in thirty: of 3000 reads about 290 find nothing, give or take 35.
    let zero = zero.as_u64().expect("a count");
    assert!((150..430).contains(&zero), "{zero}");
}

#[test]
fn a_state_is_saved_at_the_start_or_at_the_end() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("state");
    let mut run = Run::new(&[], None);
    run.ssd.step(10).expect("a generator without bad rows");
    let error = run.ssd.save_state(&path).expect_err("requests are to come").to_string();
    assert!(error.contains("before its first request, or after its last"), "{error}");
    assert!(!path.exists());
}

#[test]
fn wear_goes_on_from_a_state() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("end");
    let wear = ["ftl.count_erases=true", "ftl.gc_background=false"];
    let blocks = 8.0 * 24.0;
    let mean = |summary: &Value| summary["flash"]["wear"]["mean"].as_f64().expect("a number");
    let mut first = Run::new(&wear, None);
    let summary = first.finish();
    let erases = summary["flash"]["erases"].as_f64().expect("a count");
    // Erases before the first request do not count.
    assert!((mean(&summary) * blocks - erases).abs() < 1e-6 && erases > 0.0, "{erases} erases");
    first.save(&path);
    let next = Run::new(&wear, Some(&path)).finish();
    let more = next["flash"]["erases"].as_f64().expect("a count");
    // Victims that were begun are erased when the state is saved: one a plane at most.
    let before = mean(&next) * blocks - more;
    assert!(before >= erases - 1e-6 && before <= erases + 8.0, "{before} after {erases}");
}

#[test]
fn a_mapping_elsewhere_is_refused_by_its_key() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (whole, in_flash) = (directory.path().join("whole"), directory.path().join("in-flash"));
    let room = ["ftl.over_provisioning=0.6", "ftl.gc_hard_free_blocks=2"];
    let sets = [&room[..], &["ftl.mapping=demand"]].concat();
    Run::new(&room, None).save(&whole);
    Run::new(&sets, None).save(&in_flash);
    for (state, sets, must) in [(&whole, &sets[..], "flat"), (&in_flash, &room, "demand")] {
        let error = refused(state, sets);
        assert!(error.contains("ftl.mapping: the state has its mapping in "), "{error}");
        assert!(error.ends_with(&format!("; must be \"{must}\" to start from it")), "{error}");
    }
}

fn refused(state: &Path, sets: &[&str]) -> String {
    let options = Options { from_state: Some(state.to_path_buf()), ..Options::default() };
    let from = Ssd::with(drive::load_with(DRIVE, sets), &options);
    from.err().unwrap_or_else(|| panic!("{sets:?} is not refused")).to_string()
}

#[test]
fn a_state_of_another_kind_of_drive_is_refused_by_the_keys() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("state");
    let room = ["ftl.over_provisioning=0.6", "ftl.gc_hard_free_blocks=3"];
    let with = |set| [&room[..], &[set]].concat();
    let streams = with("ftl.stream=hot-cold");
    let faulty = with("ftl.factory_bad_share=0.05");
    let aged = with("reliability.model=power");
    for (own, other, key) in [
        (&streams, &room[..], "ftl.stream and ftl.gc_stream"),
        (&room.to_vec(), &streams, "ftl.stream and ftl.gc_stream"),
        (&faulty, &room[..], "ftl.factory_bad_share"),
        (&aged, &room[..], "reliability.model = \"power\", as it was"),
        (&room.to_vec(), &aged, "reliability.model = \"none\", as it was"),
    ] {
        Run::new(own, None).save(&path);
        let said = refused(&path, other);
        assert!(said.contains(key) && said.contains("must be"), "{own:?}, {other:?}: {said}");
    }
    // Of a drive whose blocks are all good the state says nothing of bad ones.
    Run::new(&room, None).save(&path);
    Run::new(&faulty, Some(&path)).finish();
}

#[test]
fn bad_blocks_stay_bad() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("end");
    let sets = ["nand.erase_failure=0.003", "ftl.over_provisioning=0.7"];
    let mut first = Run::new(&sets, None);
    let grown = |summary: &Value, name: &str| {
        summary["flash"]["bad_blocks"][name].as_u64().expect("a count")
    };
    first.finish();
    first.save(&path);
    // What failed as the drive was closed is in the state, and in the summary after it.
    let bad = grown(&first.ssd.summary(), "grown");
    assert!(bad > 0, "nothing has failed");
    let next = Run::new(&sets, Some(&path)).finish();
    assert_eq!(grown(&next, "factory"), bad);
}

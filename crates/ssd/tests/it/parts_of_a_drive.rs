//! Flows on dies of their own: each as if it had a drive to itself, to the bit.

use reprieve_ssd::Ssd;

use super::drive::{self, Outcome, Row};

/// Four channels of two dies of two planes, small enough that writes make collection work.
const DRIVE: &str = "device = \"fast12-slc\"\npolicy = \"pes-ipc\"\n\
    [geometry]\nchannels = 4\ndies_per_channel = 2\nplanes_per_die = 2\nblocks_per_plane = 32\n\
    pages_per_block = 16\npage_bytes = 4096\n\
    [ftl]\nover_provisioning = 0.25\nprecondition = \"sequential\"\n\
    [host]\nlink_bytes_per_s = \"none\"\n\
    [workload]\ngenerator = \"mixed\"\nrequests = 4000\nread_fraction = 0.3\n\
    request_bytes = [[4096, 2], [12288, 1], [1024, 1]]\nalign_bytes = 1024\n";

const BUSY: &str = "[flow.busy]\nqueue_depth = 16\n";
const QUIET: &str = "[flow.quiet]\narrivals = \"poisson\"\nrate_iops = 4000\ntrim_fraction = 0.1\n";

/// When each request of a flow came and was complete, in order of their numbers.
fn times(outcome: &Outcome, flow: u64) -> Vec<(u64, u64)> {
    let rows = outcome.rows.iter().filter(|row| row.flow == flow);
    let mut times: Vec<(u64, u64, u64)> =
        rows.map(|row: &Row| (row.id, row.arrival_ns, row.completion_ns)).collect();
    times.sort_unstable();
    times.into_iter().map(|(_, arrival, completion)| (arrival, completion)).collect()
}

fn run(text: &str, sets: &[&str]) -> Outcome {
    drive::run(drive::load_with(text, sets))
}

/// Both flows at once, each alone on its part of the same drive, and each on a drive that has that
/// part only: channels, and of each channel some dies.
fn agree(sets_of_busy: &str, sets_of_quiet: &str, alone: [&[&str]; 2]) {
    let with = |flow: &str, set: &str| format!("{flow}{set}\n");
    let (busy, quiet) = (with(BUSY, sets_of_busy), with(QUIET, sets_of_quiet));
    let both = run(&format!("{DRIVE}{busy}{quiet}"), &[]);
    assert!(both.count("flash.gc_programs") > 1000, "collection has to work");
    for (number, (flow, without, sets)) in
        [(&busy, BUSY, alone[0]), (&quiet, QUIET, alone[1])].into_iter().enumerate()
    {
        let together = times(&both, number as u64);
        assert_eq!(together.len(), 4000);
        let on_its_part = run(&format!("{DRIVE}{flow}"), &[]);
        assert!(times(&on_its_part, 0) == together, "{flow}: alone on its part");
        let on_its_drive = run(&format!("{DRIVE}{without}"), sets);
        assert!(times(&on_its_drive, 0) == together, "{flow}: on a drive of its own");
    }
    // The drive has done what both have, and nothing more.
    let of_parts = [(&busy, alone[0]), (&quiet, alone[1])].map(|(flow, sets)| {
        let flow = flow.lines().filter(|line| !line.contains("= [")).collect::<Vec<_>>().join("\n");
        run(&format!("{DRIVE}{flow}\n"), sets)
    });
    for key in ["flash.programs", "flash.gc_programs", "flash.erases", "flash.reads"] {
        let sum: u64 = of_parts.iter().map(|outcome| outcome.count(key)).sum();
        assert_eq!(both.count(key), sum, "{key}");
    }
}

#[test]
fn two_flows_on_channels_of_their_own_are_two_drives() {
    agree(
        "channels = [0, 2]",
        "channels = [3, 1]",
        [&["geometry.channels=2"], &["geometry.channels=2"]],
    );
    // Three channels and one.
    agree(
        "channels = [0, 1, 3]",
        "channels = [2]",
        [&["geometry.channels=3"], &["geometry.channels=1"]],
    );
}

#[test]
fn dies_are_parts_as_channels_are() {
    // Dies 0 to 3 are those of channels 0 and 1.
    agree(
        "dies = [0, 1, 2, 3]",
        "channels = [2]",
        [&["geometry.channels=2"], &["geometry.channels=1"]],
    );
}

#[test]
fn flows_on_the_same_dies_share_them() {
    let shared = "channels = [1]\n";
    let both = run(&format!("{DRIVE}{BUSY}{shared}{QUIET}{shared}"), &[]);
    let alone = run(&format!("{DRIVE}{QUIET}{shared}"), &[]);
    assert_ne!(times(&both, 1), times(&alone, 0));
    // They have the same pages: an eighth of the raw ones a die, less what is kept.
    let pages = 4 * 2 * 2 * 32 * 16 * 3 / 4;
    let bound = pages / 4 * 4096 / 512;
    assert!(both.rows.iter().all(|row| row.lba < bound), "the only part begins at 0");
}

#[test]
fn parts_that_cannot_be_are_refused() {
    let error = |flows: &str, sets: &[&str]| drive::bad(&format!("{DRIVE}{flows}"), sets);
    let flow = |name: &str, keys: &str| format!("[flow.{name}]\nqueue_depth = 1\n{keys}\n");
    let cases = [
        (flow("a", "channels = [4]"), &[][..], "4 is no channel; there are those from 0 to 3"),
        (flow("a", "dies = [8]"), &[], "8 is no die; there are those from 0 to 7"),
        (flow("a", "channels = []"), &[], "must be a list of integers"),
        (flow("a", "channels = [1, 1]"), &[], "names 1 twice"),
        (flow("a", "channels = [1]\ndies = [2]"), &[], "give one of them"),
        (
            flow("a", "channels = [0, 1]") + &flow("b", "channels = [1, 2]"),
            &[],
            "[flow.b] shares some of its dies with [flow.a] and not all; by workload.channels or",
        ),
        (
            flow("a", "channels = [0, 1]") + &flow("b", ""),
            &[],
            "shares some of its dies with [flow.a] and not all",
        ),
        (String::new(), &["workload.channels=[0]", "workload.queue_depth=1"], "[flow.NAME]"),
    ];
    for (flows, sets, what) in cases {
        let found = error(&flows, sets);
        assert!(found.contains(what), "{flows}: {found}");
    }
    let one = flow("a", "channels = [0]");
    for set in [
        "ftl.placement=dynamic",
        "ftl.precondition=steady",
        "ftl.stream=hot-cold",
        "ftl.mapping=demand",
        "ftl.gc_dies_max=1",
    ] {
        let found = error(&one, &[set]);
        assert!(
            found.contains("all else is of the drive, and not of its planes"),
            "{set}: {found}"
        );
    }
    let placing = drive::load_with(&format!("{DRIVE}{one}"), &["scheduling.dispatch=mbm"]);
    let found = Ssd::new(placing, false).err().expect("it places writes anywhere").to_string();
    assert!(found.contains("the dispatcher places writes on any die"), "{found}");
}

//! Summaries of four small runs, kept as files: tells when any number moves.

use std::path::PathBuf;
use std::{env, fs};

use super::drive;

/// Differing lines shown of a summary.
const SHOWN: usize = 20;

/// Compares the summary of a scenario with the file of that name; `BLESS=1` writes the file.
fn assert_golden(name: &str, text: &str) {
    let mut summary = drive::run_text(text).summary;
    // A new version alone changes no number.
    summary["run"].as_object_mut().expect("a section").remove("version");
    let summary = serde_json::to_string_pretty(&summary).expect("a summary is JSON") + "\n";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.json"));
    if env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &summary).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let golden = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; BLESS=1 writes it", path.display()));
    if golden == summary {
        return;
    }
    let pairs = golden.lines().zip(summary.lines()).filter(|(before, now)| before != now);
    let moved: Vec<String> =
        pairs.take(SHOWN).map(|(before, now)| format!("- {before}\n+ {now}")).collect();
    panic!(
        "results of {name} have changed:\n{}\nIf that is meant: run the tests with BLESS=1, and \
         add a line under \"Results change\" in CHANGELOG.md that says what changed and why.",
        moved.join("\n")
    );
}

#[test]
fn slc_reads_first() {
    assert_golden(
        "slc-rps-closed",
        "seed = 1\ndevice = \"fast12-slc\"\npolicy = \"rps\"\n\
         [geometry]\nchannels = 4\nblocks_per_plane = 32\npages_per_block = 16\n\
         [ftl]\nprecondition = \"steady\"\n\
         [workload]\ngenerator = \"mixed\"\nrequests = 20000\nread_fraction = 0.7\n\
         request_bytes = 2048\nqueue_depth = 32\n",
    );
}

#[test]
fn mlc_suspends() {
    assert_golden(
        "mlc-pes-ipc-poisson",
        "seed = 2\ndevice = \"fast12-mlc\"\npolicy = \"pes-ipc\"\n\
         [geometry]\nchannels = 8\nblocks_per_plane = 32\npages_per_block = 32\n\
         [suspension]\nvth_reached = \"proportional\"\n[scheduling]\nwrite_queue_limit = 16\n\
         [ftl]\nprecondition = \"steady\"\n\
         [workload]\ngenerator = \"mixed\"\nrequests = 20000\nread_fraction = 0.7\n\
         request_bytes = [[4096, 3], [16384, 1]]\narrivals = \"poisson\"\nrate_iops = 5000\n",
    );
}

#[test]
fn tlc_writes_back() {
    assert_golden(
        "tlc-write-back",
        "seed = 3\ndevice = \"tlc3d-1tb\"\n\
         [geometry]\nchannels = 2\nblocks_per_plane = 32\npages_per_block = 48\n\
         [ftl]\nover_provisioning = 0.3\nprecondition = \"steady\"\n[buffer]\nbytes = 1048576\n\
         [workload]\ngenerator = \"mixed\"\nrequests = 20000\nread_fraction = 0.6\n\
         request_bytes = [[4096, 1], [65536, 1]]\nalign_bytes = 4096\naddresses = \"zipf\"\n\
         zipf_theta = 1.0\nqueue_depth = 16\n",
    );
}

#[test]
fn everything_in_order() {
    assert_golden(
        "slc-fifo-dynamic-fixed",
        "seed = 4\ndevice = \"fast12-slc\"\npolicy = \"fifo\"\n\
         [geometry]\nchannels = 2\ndies_per_channel = 2\nblocks_per_plane = 32\n\
         pages_per_block = 16\n[timing]\ncache_register = true\nt_command_us = 0.2\n\
         [ftl]\nplacement = \"dynamic\"\nprecondition = \"sequential\"\n\
         [workload]\ngenerator = \"mixed\"\nrequests = 20000\nread_fraction = 0.5\n\
         trim_fraction = 0.1\nrequest_bytes = [[512, 1], [6144, 2]]\nalign_bytes = 512\n\
         addresses = \"hot-cold\"\nhot_share = 0.2\nhot_fraction = 0.8\narrivals = \"fixed\"\n\
         rate_iops = 5000\n",
    );
}

//! Summaries of four small runs, kept as files: tells when any number moves.

use std::path::PathBuf;
use std::{env, fs};

use super::drive;

/// Differing lines shown of a summary.
const SHOWN: usize = 20;

/// Compares the summary of `NAME.toml` with `NAME.json`; `BLESS=1` writes that file.
fn assert_golden(name: &str) {
    let file = |kind: &str| {
        let path = format!("tests/golden/{name}.{kind}");
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
    };
    let scenario = file("toml");
    let text = fs::read_to_string(&scenario)
        .unwrap_or_else(|error| panic!("{}: {error}", scenario.display()));
    let mut summary = drive::run_text(&text).summary;
    // A new version alone changes no number.
    summary["run"].as_object_mut().expect("a section").remove("version");
    let summary = serde_json::to_string_pretty(&summary).expect("a summary is JSON") + "\n";
    let path = file("json");
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
    assert_golden("slc-rps-closed");
}

#[test]
fn mlc_suspends() {
    assert_golden("mlc-pes-ipc-poisson");
}

#[test]
fn tlc_writes_back() {
    assert_golden("tlc-write-back");
}

#[test]
fn everything_in_order() {
    assert_golden("slc-fifo-dynamic-fixed");
}

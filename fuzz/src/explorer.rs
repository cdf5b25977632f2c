//! Questions to the core in the browser, as the native library answers them.

use reprieve_ssd::registries;
use reprieve_ssd::scenario::{self, Sources};
use reprieve_web::explorer::{self, Explorer};
use serde_json::Value;

/// Pages that are filled in a moment.
const PAGES_MAX: u64 = 1 << 14;

/// Answers a question of each kind, or says in a sentence why not; a run has a summary at any time.
pub fn explorer(question: &[u8]) {
    if let Some(line) = question.strip_prefix(b"hold ") {
        // Held under one name, as the process goes on.
        let _refused = explorer::hold(&[b"held\n", line].concat());
        return;
    }
    let _resolved = explorer::resolve(question);
    let Some(question) = small(question) else { return };
    let question = question.as_bytes();
    let _drawn = explorer::rig(question);
    let mut explorer = Explorer::default();
    if explorer.open(question).is_err() {
        return;
    }
    for _step in 0..4 {
        let goes_on = explorer.step(64);
        let _shown = explorer.snapshot();
        if !goes_on.is_ok_and(|goes_on| goes_on) {
            break;
        }
    }
    explorer.summary().expect("a drive is open");
    explorer.timeline().expect("a drive is open");
}

/// Returns the question with few requests, if its drive is small and it names no file.
fn small(question: &[u8]) -> Option<String> {
    let mut value: Value = serde_json::from_slice(question).ok()?;
    let sets = value["sets"].as_array().into_iter().flatten();
    let mut sets: Vec<String> = sets.filter_map(|set| Some(set.as_str()?.to_string())).collect();
    let text = value["text"].as_str().unwrap_or_default().to_string();
    let all = format!("{text}{sets:?}");
    if ["trace", "fio", "/", "\\", "kv", "file"].iter().any(|word| all.contains(word)) {
        return None;
    }
    let sources = Sources { text: &text, path: "scenario.toml", sets: &sets };
    let scenario = scenario::load_rig_file(&sources, registries()).ok()?;
    if scenario.geometry.pages() > PAGES_MAX {
        return None;
    }
    sets.push("workload.requests=200".to_string());
    value.as_object_mut()?.insert("sets".to_string(), sets.into());
    Some(value.to_string())
}

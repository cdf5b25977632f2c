//! Every input of the corpus, and every beginning of it, as fuzzing feeds them.

use std::fs;
use std::path::Path;

use reprieve_fuzz::{ALL, take};

#[test]
fn the_corpus_and_its_beginnings_panic_nowhere() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (entry, _) in ALL {
        let seeds = fs::read_dir(corpus.join(entry)).expect("each entry has a corpus");
        let mut fed = 0;
        for seed in seeds {
            let data = fs::read(seed.expect("a readable folder").path()).expect("a seed");
            // As many beginnings as take a moment, the whole among them.
            let step = data.len().div_ceil(64).max(1);
            for end in (0..=data.len()).rev().step_by(step) {
                take(entry, &data[..end]);
                fed += 1;
            }
        }
        assert!(fed > 0, "{entry} has no seed");
    }
}

#[test]
#[should_panic(expected = "no entry is called")]
fn an_entry_that_does_not_exist_is_a_fault() {
    take("nothing", b"");
}

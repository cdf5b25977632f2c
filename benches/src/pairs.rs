//! Random scenarios of two features each, whose results `make same` keeps.

use reprieve_base::Stream;
use reprieve_ssd::scenario::{self, Refusal};
use serde_json::{Map, Value, json};

use crate::features::{self, DRIVE, Feature, sets};

/// One of this number of pairs is taken.
const OUT_OF: u64 = 18;
const SEED: u64 = 1;

/// The drive, and by the names of two features the `KEY=VALUE` that they set on it.
///
/// Each pair draws from a separate stream, named by the features: a new feature adds pairs and does
/// not change the others.
pub fn document() -> Value {
    let mut features = features::all();
    features.sort_by_key(|feature| feature.name);
    let mut pairs = Map::new();
    for (number, one) in features.iter().enumerate() {
        for other in &features[number + 1..] {
            pairs.extend(pair(one, other));
        }
    }
    json!({"drive": DRIVE, "pairs": pairs})
}

/// The pair with its name, if it is one of those that are taken.
fn pair(one: &Feature, other: &Feature) -> Option<(String, Value)> {
    let name = format!("{}+{}", one.name, other.name);
    let mut stream = Stream::new(SEED, &format!("same.{name}"), 0);
    (stream.below(OUT_OF) == 0).then(|| (name, json!(sets(&[one, other], &mut stream))))
}

/// Prints the pairs of features that no scenario may have, with their reasons, and their number.
pub fn refusals() {
    let all: Vec<_> = scenario::refusals().collect();
    for Refusal { key, one, other, what } in &all {
        println!("{} + {}: {key} {what}", one.name, other.name);
    }
    println!("{} pairs of features are refused", all.len());
}

//! The part of the schema that says from when on a run is measured.

use reprieve_base::Entry;

use super::{Kind, Section, Unit};
use super::{count, usual};

const WARMUP: &[Entry] = &[
    Entry { name: "none", doc: "Nothing is excluded but what the other keys say." },
    Entry {
        name: "auto",
        doc: "The run finds the end of its transient, and is simulated again from there.",
    },
];

/// Section `[measure]`.
pub(super) const MEASURE: Section = Section {
    name: "measure",
    doc: "From when on a run is measured; what comes before is simulated and not counted.",
    keys: &[
        usual(
            "measure.from_request",
            count(0, u64::MAX >> 1),
            "0",
            "Requests with a lower number in order of arrival are excluded.",
        ),
        usual(
            "measure.from_s",
            Kind::Duration(Unit::Seconds),
            "0",
            "Requests that arrive earlier in simulated time are excluded.",
        ),
        usual(
            "measure.warmup",
            Kind::Choice(WARMUP),
            "\"none\"",
            "Who finds the end of the transient.",
        )
        .source(
            "auto: MSER-5; White, Simulation 69(6), 1997; White, Cobb and Spratt, Winter \
             Simulation Conference 2000",
        ),
    ],
};

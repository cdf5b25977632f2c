//! The part of the schema that says what a die can do at once.

use reprieve_base::Entry;

use super::{Kind, Section, usual};

const MULTI_PLANE: &[Entry] = &[
    Entry { name: "none", doc: "Nothing: a command is of one plane." },
    Entry { name: "page", doc: "Pages of the same number in their blocks, or any blocks." },
    Entry { name: "block", doc: "The same, of blocks of the same number in their planes." },
];

/// Section `[parallelism]`.
pub(super) const PARALLELISM: Section = Section {
    name: "parallelism",
    doc: "What a die can do at once.",
    keys: &[
        usual(
            "parallelism.multi_plane",
            Kind::Choice(MULTI_PLANE),
            "\"none\"",
            "What of different planes one read, program or erase takes together.",
        )
        .source("data sheets of NAND parts; page alone is the rule of MQSim (FAST 2018)"),
        usual(
            "parallelism.independent_plane_reads",
            Kind::Flag,
            "false",
            "Whether each plane reads by itself while others read.",
        )
        .source("Micron data sheets of 3D parts: independent multi-plane reads"),
        usual(
            "parallelism.cache_program",
            Kind::Flag,
            "false",
            "Whether the page of the next program comes in while one runs.",
        )
        .source("data sheets of NAND parts"),
    ],
};

//! The part of the schema that describes what the channels between controller and dies carry.

use reprieve_base::Entry;

use super::{Kind, Section};
use super::{optional, sectors, usual};

const ORDER: &[Entry] = &[
    Entry { name: "asked", doc: "As asked; where the scheduler prefers reads, theirs first." },
    Entry { name: "data_first", doc: "Pages that leave as asked, then dies in turn." },
    Entry { name: "commands_first", doc: "Commands of reads and erases, then as asked." },
];

/// Section `[channel]`.
pub(super) const CHANNEL: Section = Section {
    name: "channel",
    doc: "What a channel carries, and in which order.",
    keys: &[
        usual(
            "channel.order",
            Kind::Choice(ORDER),
            "\"asked\"",
            "Who of those that wait has the channel next.",
        )
        .source("data_first: measured on MQSim 7ec40e3"),
        optional(
            "channel.transfer_unit_bytes",
            sectors(1 << 24),
            "A read sends out only the units of its page that it needs; absent: the whole page.",
        ),
    ],
};

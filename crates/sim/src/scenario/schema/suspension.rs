//! The part of the schema that describes suspension: what a part can do, what a drive asks of it.

use reprieve_base::Entry;

use super::drive::{U32, US, Z21};
use super::{Family, Kind, Section, When};
use super::{closed, count, optional, required, usual};

const PROGRAM: &[Entry] = &[
    Entry { name: "none", doc: "Never." },
    Entry { name: "ips", doc: "At the end of the phase in progress." },
    Entry { name: "ipc", doc: "The phase is cancelled; a voltage reset later the array is free." },
    Entry { name: "iteration", doc: "At the end of the pulse and verify in progress (3D parts)." },
    Entry { name: "sliced", doc: "At the end of the slice in progress: the program is cut up." },
];

const ERASE_RESUME: &[Entry] = &[
    Entry { name: "exact", doc: "With what was left of the pulse (Wu and He, FAST 2012)." },
    Entry { name: "redo_phase", doc: "With the whole of the phase that was broken off." },
    Entry { name: "restart", doc: "From the beginning of the pulse (Samsung OneNAND)." },
];

const ERASE_MODE: &[Entry] = &[
    Entry { name: "immediate", doc: "The phase is broken off; a voltage reset later it is free." },
    Entry { name: "deferred", doc: "At the end of the segment in progress; not in the verify." },
    Entry { name: "timeout", doc: "Immediate up to an age of the erase, deferred from then on." },
];

const RESTORE: &[Entry] = &[
    Entry { name: "atomic", doc: "Never: the request takes effect at its end." },
    Entry { name: "interruptible", doc: "It is broken off, and done anew on the next resume." },
];

const RESUME_AT: &[Entry] = &[
    Entry { name: "data_out", doc: "When its page has left over the channel." },
    Entry { name: "array_read", doc: "At the end of tR; the page waits in a second register." },
];

const VTH_REACHED: &[Entry] = &[
    Entry { name: "never", doc: "The worst case: the pulse is done again." },
    Entry { name: "always", doc: "The best case: the next iteration follows." },
    Entry { name: "proportional", doc: "With a probability of the elapsed share of the pulse." },
];

const SLICED: When = When::Equals("suspension.program", &["sliced"]);
const THRESHOLD: When = When::Equals("suspension.policy", &["threshold"]);

const SUSPENDED_PLANES: &[Entry] = &[
    Entry { name: "whole", doc: "All: the operation is suspended whole." },
    Entry { name: "plane", doc: "The plane of the read alone; the others go on meanwhile." },
];

const SAME_BLOCK: &[Entry] = &[
    Entry { name: "block", doc: "Those of its block." },
    Entry { name: "wordline", doc: "Those of its wordline." },
    Entry { name: "page", doc: "Those of the page, or pages, that it programs." },
];

/// Section `[suspension]`.
pub(super) const SUSPENSION: Section = Section {
    name: "suspension",
    doc: "What the part can suspend, and when the controller asks for it.",
    keys: &[
        usual("suspension.program", Kind::Choice(PROGRAM), "\"none\"", "How a program stops.")
            .source("Wu and He, FAST 2012, section 4"),
        required("suspension.slice_iterations", count(1, 1000), "Iterations of a slice.")
            .when(SLICED)
            .source("US patent 9,892,794"),
        required("suspension.t_slice_overhead_us", US, "What every slice begins with.")
            .when(SLICED),
        usual(
            "suspension.retention_iterations",
            count(0, 1000),
            "0",
            "Iterations that a program has more after an early suspension and then a long run.",
        )
        .source(Z21),
        usual(
            "suspension.retention_first_share",
            closed(0.0, 1.0),
            "0.2",
            "Early: before this share of the program's undisturbed array time is done.",
        )
        .source(Z21),
        usual(
            "suspension.retention_second_share",
            closed(0.0, 1.0),
            "0.7",
            "Long: a later run without a suspension for at least this share of it.",
        )
        .source(Z21),
        usual("suspension.erase", Kind::Flag, "false", "Whether an erase can be suspended."),
        usual(
            "suspension.erase_mode",
            Kind::Choice(ERASE_MODE),
            "\"immediate\"",
            "When an erase makes way.",
        )
        .source("Kim et al., USENIX ATC 2019, as reported by others"),
        required(
            "suspension.erase_timeout_us",
            US,
            "From this long after the end of its command on an erase is suspended as deferred.",
        )
        .when(When::Equals("suspension.erase_mode", &["timeout"])),
        usual(
            "suspension.erase_resume",
            Kind::Choice(ERASE_RESUME),
            "\"exact\"",
            "With what a suspended erase goes on.",
        ),
        usual(
            "suspension.reset_inside_phase",
            Kind::Flag,
            "true",
            "Whether the last t_voltage_reset_us of a phase is its reset; else phases have none.",
        )
        .source("Wu and He, FAST 2012, section 4.1"),
        usual(
            "suspension.shadow_buffer",
            Kind::Flag,
            "true",
            "Whether the page buffer is restored on the chip; else over the channel (tBUS).",
        )
        .source("Wu and He, FAST 2012, section 4"),
        usual(
            "suspension.restore",
            Kind::Choice(RESTORE),
            "\"atomic\"",
            "Whether a request breaks off a restore from the shadow buffer, or a set-up.",
        ),
        usual(
            "suspension.resume_at",
            Kind::Choice(RESUME_AT),
            "\"data_out\"",
            "From when on the array is free after a read during a suspension.",
        ),
        usual(
            "suspension.multi_plane",
            Kind::Choice(SUSPENDED_PLANES),
            "\"whole\"",
            "Which planes of an operation make way for a read.",
        )
        .source("US patent 11,687,285"),
        usual(
            "suspension.vth_reached",
            Kind::Choice(VTH_REACHED),
            "\"never\"",
            "Whether a cancelled program pulse had already brought the cells to their target.",
        ),
        usual(
            "suspension.same_block",
            Kind::Choice(SAME_BLOCK),
            "\"block\"",
            "Which reads wait for a program that runs or is suspended; an erase holds its block.",
        )
        .source("Numonyx J3, Spansion S29GL: the block; Intel W30, Sharp LRS1383: the location"),
        optional(
            "suspension.max_per_program",
            count(1, U32),
            "A program that was suspended this often runs to its end; absent: no limit.",
        ),
        optional(
            "suspension.max_per_erase",
            count(1, U32),
            "An erase that was suspended this often runs to its end; absent: no limit.",
        ),
        optional(
            "suspension.max_per_operation",
            count(1, U32),
            "An operation that was suspended this often runs to its end; absent: no limit.",
        )
        .stands_for(&["suspension.max_per_program", "suspension.max_per_erase"]),
        usual(
            "suspension.min_progress_us",
            US,
            "0",
            "An operation is not suspended again sooner than this after its resume.",
        ),
        usual(
            "suspension.policy",
            Kind::Registered(Family::SuspendPolicy),
            "\"always\"",
            "When the controller asks for a suspension.",
        ),
        optional(
            "suspension.min_remaining_us",
            US,
            "An operation with less than this left is not suspended; absent: no such limit.",
        )
        .when(THRESHOLD),
        optional(
            "suspension.max_suspended_us",
            US,
            "After this much time in suspension an operation runs to its end; absent: no limit.",
        )
        .when(THRESHOLD),
        usual(
            "suspension.host_read_suspends",
            Kind::Operations,
            "[\"program\", \"gc_program\", \"erase\"]",
            "What a host read may suspend.",
        ),
        usual(
            "suspension.rmw_read_suspends",
            Kind::Operations,
            "[]",
            "What the read of a read-modify-write may suspend.",
        ),
        usual(
            "suspension.gc_read_suspends",
            Kind::Operations,
            "[]",
            "What a read of garbage collection may suspend.",
        ),
        usual(
            "suspension.host_write_suspends",
            Kind::Operations,
            "[]",
            "What the program of a host write may suspend, and run inside: `[\"erase\"]` or `[]`.",
        )
        .source("Wu, Huang and He, Journal of Systems Architecture 60(4), 2014"),
    ],
};

//! The part of the schema that describes a drive: everything but the workload.

use reprieve_base::Entry;
use reprieve_nand::{PAGE_TYPES_MAX, SPREAD_MAX};

use super::{Fallback, Family, Key, Kind, Section, Unit, When, ftl};
use super::{below, closed, count, open, optional, required, same, sectors, usual};

const US: Kind = Kind::Duration(Unit::Microseconds);
pub(super) const U32: u64 = u32::MAX as u64;
/// A count of the geometry; the product of all is checked against the size of the page tables.
const MANY: Kind = count(1, 1 << 31);
const FAST12: &str = "Wu and He, FAST 2012, Table 1";

/// Keys before every section.
pub(super) const TOP: Section = Section {
    name: "",
    doc: "Keys that stand before every section.",
    keys: &[
        usual("seed", count(0, u64::MAX), "1", "Seed of every random stream."),
        optional(
            "device",
            Kind::Preset,
            "The drive to start from: a built-in preset, or the path of a file of the same form.",
        ),
        optional(
            "part",
            Kind::Preset,
            "The NAND part under the drive, in place of the one that the device names.",
        ),
        optional(
            "load",
            Kind::Preset,
            "The load to start from: a built-in preset, or the path of a file of the same form.",
        ),
        Key {
            default: Fallback::Absent,
            ..required("name", Kind::Text, "What results call this drive; else the device's name.")
        },
        optional(
            "policy",
            Kind::Choice(SHORTHANDS),
            "Shorthand for scheduling.policy, suspension.program and suspension.erase together.",
        )
        .source("Wu and He, FAST 2012, section 5"),
    ],
};

/// What `policy` may say; see `layers` for what each stands for.
pub const SHORTHANDS: &[Entry] = &[
    Entry { name: "fifo", doc: "In order of arrival, nothing is suspended." },
    Entry { name: "rps", doc: "Read priority scheduling, nothing is suspended." },
    Entry { name: "per", doc: "RPS with program and erase as short as a read." },
    Entry { name: "pe0", doc: "RPS with program and erase of no length." },
    Entry { name: "pes-ips", doc: "RPS with erase and inter-phase program suspension." },
    Entry { name: "pes-ipc", doc: "RPS with erase suspension and intra-phase cancellation." },
];

/// Section `[geometry]`.
pub(super) const GEOMETRY: Section = Section {
    name: "geometry",
    doc: "How many of what the drive has; at most 2147483632 pages in all.",
    keys: &[
        required("geometry.channels", MANY, "Independent buses between controller and flash."),
        required("geometry.dies_per_channel", MANY, "Dies that share a channel."),
        same(
            "geometry.chips_per_channel",
            MANY,
            "geometry.dies_per_channel",
            "Chips (packages) on a channel; divides dies_per_channel.",
        ),
        required("geometry.planes_per_die", MANY, "Planes of a die."),
        required("geometry.blocks_per_plane", MANY, "Erase blocks of a plane."),
        required("geometry.pages_per_block", MANY, "Pages of a block."),
        required("geometry.page_bytes", sectors(1 << 24), "User bytes of a page."),
    ],
};

const READ_LAW: &[Entry] = &[
    Entry { name: "fixed", doc: "Every read takes the same time." },
    Entry { name: "exponential", doc: "Drawn for each read: hypothetical, as theory has it." },
];

const PAGE_ORDER: &[Entry] = &[
    Entry { name: "modulo", doc: "The types by turns: page p has type p modulo page_types." },
    Entry {
        name: "interleaved",
        doc: "Of three types: six pages of the first, two of the second, then two of each by turns \
              (Yaakobi et al., ICNC 2012).",
    },
];

const TYPED: When = When::Given("timing.page_types");

/// Section `[timing]`.
pub(super) const TIMING: Section = Section {
    name: "timing",
    doc: "How long the part takes.",
    keys: &[
        usual("timing.t_command_us", US, "0", "Command and address cycles on the channel (tCMD)."),
        required("timing.t_bus_us", US, "One page over the channel (tBUS).").source(FAST12),
        required("timing.t_read_us", US, "Array read of a page (tR).").source(FAST12),
        usual(
            "timing.read_law",
            Kind::Choice(READ_LAW),
            "\"fixed\"",
            "How array reads vary; every law has the mean t_read_us.",
        ),
        required(
            "timing.program_iterations",
            count(1, 1000),
            "Iterations of pulse and verify (ISPP) of a page program.",
        )
        .source(FAST12),
        required("timing.t_program_pulse_us", US, "Program pulse of one iteration.").source(FAST12),
        required("timing.t_verify_us", US, "Program verify of one iteration.").source(FAST12),
        required("timing.t_erase_us", US, "Erase pulse, all its segments together.").source(FAST12),
        usual(
            "timing.erase_segments",
            count(1, 1_000_000),
            "1",
            "Equal segments of the erase pulse, with a safe point between any two; divides it.",
        )
        .source("Kim et al., USENIX ATC 2019, as reported by others"),
        same("timing.t_erase_verify_us", US, "timing.t_verify_us", "Verify after the erase pulse.")
            .source("Wu and He, FAST 2012, section 4.1"),
        required(
            "timing.t_voltage_reset_us",
            US,
            "Reset of the operating voltages; inside a phase, no longer than that.",
        )
        .source(FAST12),
        usual(
            "timing.t_buffer_us",
            US,
            "0",
            "Restoring the page buffer from the shadow buffer before a program goes on.",
        )
        .source(FAST12),
        usual(
            "timing.t_suspend_overhead_us",
            US,
            "0",
            "Added to a suspension at the end of an atomic iteration (3D parts).",
        )
        .source("Zambelli et al. 2021"),
        usual(
            "timing.cache_register",
            Kind::Flag,
            "false",
            "Whether the array is free at the end of tR: the data waits in a second register.",
        ),
        usual(
            "timing.wordline_pages",
            count(1, 16),
            "1",
            "Pages of a block that one program takes together; divides pages_per_block.",
        ),
        usual("timing.t_load_gap_us", US, "0", "Between the transfers of two pages of a wordline."),
        optional(
            "timing.page_types",
            count(2, PAGE_TYPES_MAX as u64),
            "Types of pages, as many as a cell has bits; absent: all pages are alike.",
        ),
        usual(
            "timing.page_type_order",
            Kind::Choice(PAGE_ORDER),
            "\"modulo\"",
            "Which page of a block has which type.",
        )
        .when(TYPED),
        optional(
            "timing.t_read_us_by_type",
            Kind::Durations(Unit::Microseconds),
            "Array read of a page of each type, in place of t_read_us; absent: alike.",
        )
        .when(TYPED),
        optional(
            "timing.program_iterations_by_type",
            Kind::Counts { min: 1, max: 1000 },
            "Iterations of a program of each type, in place of program_iterations; absent: alike.",
        )
        .when(TYPED),
        optional(
            "timing.program_iterations_weights",
            Kind::Weights { max: 1000, most: SPREAD_MAX },
            "Iterations by wordline, `[[24, 1], [25, 3]]`, in place of program_iterations.",
        )
        .source(Z21),
    ],
};

const Z21: &str = "Zambelli et al., Electronics 10, 1394 (2021)";

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
        optional(
            "suspension.max_per_operation",
            count(1, U32),
            "An operation that was suspended this often runs to its end; absent: no limit.",
        ),
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

const DEADLINE: When = When::Equals("scheduling.policy", &["deadline"]);

/// Section `[scheduling]`.
pub(super) const SCHEDULING: Section = Section {
    name: "scheduling",
    doc: "Which transaction a die serves next.",
    keys: &[
        usual(
            "scheduling.policy",
            Kind::Registered(Family::Scheduler),
            "\"rps\"",
            "Order in which a die serves its transactions.",
        ),
        optional(
            "scheduling.write_queue_limit",
            count(1, U32),
            "Pending programs of a die at which they go ahead of reads; absent: no limit.",
        )
        .source("Wu and He, FAST 2012, section 5.3"),
        usual("scheduling.age_limit_us", US, "10000", "A write that waits so long goes first.")
            .when(When::Equals("scheduling.policy", &["rps-age"])),
        usual("scheduling.read_deadline_us", US, "1000", "Deadline of a read, from its arrival.")
            .when(DEADLINE),
        usual("scheduling.write_deadline_us", US, "10000", "Deadline of a write, likewise.")
            .when(DEADLINE),
        usual(
            "scheduling.gc_deadline_us",
            US,
            "10000",
            "Deadline of garbage collection, from when it is urgent or its operation begins.",
        )
        .when(DEADLINE),
    ],
};

const PRECONDITION: &[Entry] = &[
    Entry { name: "none", doc: "Nothing written." },
    Entry { name: "sequential", doc: "Every logical page written once, in order." },
    Entry { name: "steady", doc: "Sequential, then random overwrites to the steady state." },
];

/// Section `[ftl]`.
pub(super) const FTL: Section = Section {
    name: "ftl",
    doc: "Mapping, placement and garbage collection.",
    keys: &[
        required(
            "ftl.over_provisioning",
            open(0.0, 1.0),
            "Share of the raw pages kept from the user.",
        ),
        usual(
            "ftl.placement",
            Kind::Registered(Family::Placement),
            "\"cwdp\"",
            "In which plane a page is written.",
        ),
        usual(
            "ftl.gc_victim",
            Kind::Registered(Family::GcVictim),
            "\"greedy\"",
            "Which block garbage collection empties.",
        ),
        usual(
            "ftl.gc_choices",
            count(1, 65536),
            "10",
            "Full blocks drawn at random, of which the emptiest is the victim.",
        )
        .when(When::Equals("ftl.gc_victim", &["d-choices"]))
        .source("Van Houdt, SIGMETRICS 2013: d = 10 comes close to greedy"),
        ftl::GC_WINDOW,
        usual(
            "ftl.gc_start_free_share",
            below(0.0, 1.0),
            "0.05",
            "Background collection of a plane runs while fewer of its blocks than this are free.",
        ),
        usual(
            "ftl.gc_hard_free_blocks",
            count(1, 65536),
            "2",
            "With so few free blocks a plane takes host writes only into its open block.",
        ),
        usual(
            "ftl.gc_background",
            Kind::Flag,
            "true",
            "Whether collection uses idle time, or only runs when it is forced.",
        ),
        ftl::GC_PREEMPTIBLE,
        ftl::GC_RATE,
        ftl::GC_DIES,
        ftl::GC_PARALLEL,
        ftl::STREAM,
        ftl::HOT_WINDOW,
        ftl::GC_STREAM,
        ftl::FREE_BLOCK,
        ftl::WEAR_SPREAD,
        ftl::COUNT_ERASES,
        ftl::FACTORY_BAD,
        ftl::MAPPING,
        ftl::MAP_CACHE,
        ftl::MAP_CACHE_POLICY,
        usual(
            "ftl.wordline_timeout_us",
            US,
            "1000",
            "How long a host page waits for the others of its wordline before it is padded.",
        ),
        usual(
            "ftl.copyback",
            Kind::Flag,
            "false",
            "Whether collection moves pages within their plane without the channel.",
        ),
        usual(
            "ftl.precondition",
            Kind::Choice(PRECONDITION),
            "\"none\"",
            "State of the drive before the first request.",
        ),
    ],
};

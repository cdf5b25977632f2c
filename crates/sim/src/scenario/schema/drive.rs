//! The part of the schema that describes a drive: geometry, times, scheduling, FTL.

use reprieve_base::Entry;
use reprieve_nand::{PAGE_TYPES_MAX, SPREAD_MAX};

use super::{Fallback, Family, Key, Kind, Section, Unit, When, dispatch, ftl, mbm};
use super::{below, count, open, optional, required, same, sectors, usual};

pub(super) const US: Kind = Kind::Duration(Unit::Microseconds);
pub(super) const U32: u64 = u32::MAX as u64;
/// A count of the geometry; the product of all is checked against the size of the page tables.
const MANY: Kind = count(1, 1 << 31);
pub(super) const Z21: &str = "Zambelli et al., Electronics 10, 1394 (2021)";
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

const VALUES: &[Entry] = &[
    Entry { name: "typical", doc: "Those without an ending." },
    Entry { name: "maximum", doc: "Those that end in _max, where the part has them." },
];
const SB: &str = "Starblaze, Flash Memory Summit 2017: a typical and a maximum of each time";

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
        usual(
            "timing.values",
            Kind::Choice(VALUES),
            "\"typical\"",
            "Which times hold of a part that has two of them.",
        )
        .source(SB),
        optional("timing.t_read_us_max", US, "The maximum of t_read_us; absent: alike.").source(SB),
        optional(
            "timing.program_iterations_max",
            count(1, 1000),
            "The maximum of program_iterations; absent: alike.",
        )
        .source(SB),
        optional("timing.t_erase_us_max", US, "The maximum of t_erase_us; absent: alike.")
            .source(SB),
    ],
};

const DEADLINE: When = When::Equals("scheduling.policy", &["deadline"]);

const LIMIT_SCOPE: &[Entry] = &[
    Entry { name: "die", doc: "The programs that wait at each die, which has a limit of its own." },
    Entry { name: "drive", doc: "The programs that wait at all dies of the drive together." },
];

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
            "Pending programs at which they go ahead of reads; absent: no limit.",
        )
        .source("Wu and He, FAST 2012, section 5.3"),
        usual(
            "scheduling.write_queue_limit_scope",
            Kind::Choice(LIMIT_SCOPE),
            "\"die\"",
            "Which programs the limit counts.",
        )
        .when(When::Given("scheduling.write_queue_limit"))
        .source("Wu and He, FAST 2012, section 5.3: the flash controller limits its write queue"),
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
        usual(
            "scheduling.steps",
            Kind::Steps,
            "[\"host_read\", \"gc_read\", \"gc_program\", \"erase\", \"host_write\", \"resume\"]",
            "What goes first at a die: the first step for which something waits.",
        )
        .when(When::Equals("scheduling.policy", &["microcode"]))
        .source("after Starblaze, Flash Memory Summit 2017: a microcoded controller"),
        dispatch::DISPATCH,
        dispatch::PAQ_WINDOW,
        dispatch::PAQ_CONFLICT,
        mbm::CHANNEL_LIMIT,
        mbm::SHARE_WHEN,
        mbm::SHARE_WRITES,
        mbm::SHARE_READ_WEIGHT,
        mbm::SHARE_COLLECTION,
        mbm::TIES,
        mbm::ALIGNMENT,
        mbm::CHIPS,
        mbm::FIRST_CHIP,
        mbm::JOINT_READS,
        mbm::READ_AREAS,
        mbm::READ_THRESHOLD,
        mbm::READ_AREA,
        mbm::READ_AREA_END,
        mbm::REDISTRIBUTION,
        mbm::REDISTRIBUTED,
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
        ftl::PARTIAL_WRITE,
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
        ftl::TWIN_BLOCKS,
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

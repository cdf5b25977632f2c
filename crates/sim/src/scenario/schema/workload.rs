//! The part of the schema that describes the workload: a trace, a generator, or a fio file.

use reprieve_base::Entry;

use super::{Family, Key, Kind, Section, Unit, When, reading};
use super::{above, below, closed, count, open, optional, required, same, sectors, usual};

const US: Kind = Kind::Duration(Unit::Microseconds);
const S: Kind = Kind::Duration(Unit::Seconds);
const TRACE: When = When::Given("workload.trace");
const MIXED: When = When::Equals("workload.generator", &["mixed"]);

const PLACED: When = When::Equals("workload.addresses", &["uniform", "zipf", "hot-cold"]);
const OPEN: &[&str] = &["poisson", "fixed", "hyperexponential"];
const CLOSED: When =
    When::EqualsOr("workload.replay", &["closed"], "workload.arrivals", &["closed"]);
const BURSTS: When = When::Equals("workload.arrivals", &["hyperexponential"]);

const ADDRESS: &[Entry] = &[
    Entry { name: "modulo", doc: "Wrap around the end of the drive." },
    Entry { name: "scale", doc: "Map the extent of the trace onto the drive, linearly." },
    Entry { name: "clamp", doc: "The last address at which the request fits." },
    Entry { name: "drop", doc: "Leave the request out and count it." },
    Entry { name: "error", doc: "Stop, naming the row." },
];

const ADDRESSES: &[Entry] = &[
    Entry { name: "uniform", doc: "Every place alike." },
    Entry { name: "sequential", doc: "One after the other, from the start again at the end." },
    Entry { name: "zipf", doc: "The place of rank r with a frequency of r^-zipf_theta." },
    Entry { name: "hot-cold", doc: "hot_fraction of the requests go to hot_share of the space." },
];

const ARRIVALS: &[Entry] = &[
    Entry { name: "closed", doc: "A new request when one completes: queue_depth outstanding." },
    Entry { name: "poisson", doc: "At random, rate_iops a second on average." },
    Entry { name: "fixed", doc: "At equal distances, rate_iops a second." },
    Entry { name: "hyperexponential", doc: "In bursts: gaps of a short and of a long phase." },
];

const REPLAY: &[Entry] = &[
    Entry { name: "open", doc: "When the trace says, whatever the drive does." },
    Entry { name: "closed", doc: "When one completes: queue_depth outstanding, times unused." },
];

const UNWRITTEN: &[Entry] = &[
    Entry { name: "flash", doc: "Like any page: a flash read." },
    Entry { name: "zero", doc: "Answered without a flash read." },
];

/// Section `[workload]`.
pub(super) const WORKLOAD: Section = Section {
    name: "workload",
    doc: "What the drive is asked to do: a trace, a generator, or a fio file. Tables \
        `[flow.NAME]` ask for several loads at once; each has the keys that differ from these.",
    keys: &[
        optional(
            "workload.trace",
            Kind::Path,
            "The trace to replay, plain, .gz or .zst: a file, a folder, or a pattern with `*`.",
        ),
        optional(
            "workload.generator",
            Kind::Registered(Family::Generator),
            "The generator of requests, in place of a trace.",
        ),
        optional(
            "workload.fio",
            Kind::Path,
            "A job file of fio in place of both; each of its jobs is a flow.",
        ),
        usual(
            "workload.unwritten",
            Kind::Choice(UNWRITTEN),
            "\"flash\"",
            "What the read of a page that was never written costs.",
        ),
        optional(
            "workload.queues",
            Kind::Counts { min: 0, max: 65534 },
            "Submission queues that the requests go to by turns; absent: all, or a flow's own.",
        )
        .when(When::Equals("host.interface", &["nvme"])),
        reading::FORMAT,
        reading::COLUMNS,
        reading::SECTOR_BYTES,
        reading::ACTION,
        reading::ETW,
        reading::WAIT,
        reading::SECOND,
        reading::OP,
        reading::INTERVAL,
        reading::ZERO,
        usual(
            "workload.replay",
            Kind::Choice(REPLAY),
            "\"open\"",
            "When a request of the trace reaches the drive.",
        )
        .when(TRACE),
        usual("workload.start_s", S, "0", "Earlier rows are left out; in trace time.").when(TRACE),
        optional("workload.duration_s", S, "Rows from this long after the start are left out.")
            .when(TRACE),
        optional("workload.max_requests", count(1, u64::MAX), "The run ends after this many.")
            .when(TRACE),
        usual(
            "workload.devices",
            Kind::Devices,
            "\"concatenate\"",
            "Each device of the trace gets its own range, or all share one, or only these count.",
        )
        .when(TRACE),
        usual(
            "workload.address",
            Kind::Choice(ADDRESS),
            "\"modulo\"",
            "What becomes of an address past the end of the drive.",
        )
        .when(TRACE),
        optional(
            "workload.drop_duplicates_within_us",
            US,
            "A row that repeats another within this time is dropped; absent: none is.",
        )
        .when(TRACE),
        usual(
            "workload.sort_window_requests",
            count(0, 1 << 24),
            "0",
            "Rows within which a time that runs back is sorted into place; 0: it is an error.",
        )
        .when(TRACE),
        required("workload.requests", count(1, u64::MAX), "How many requests.").when(MIXED),
        required("workload.read_fraction", closed(0.0, 1.0), "Share of reads.").when(MIXED),
        usual("workload.trim_fraction", closed(0.0, 1.0), "0.0", "Share of trims.").when(MIXED),
        optional(
            "workload.flush_every_requests",
            count(2, u64::MAX),
            "Every so many requests one is a flush; absent: none is.",
        )
        .when(MIXED),
        usual(
            "workload.fua_fraction",
            closed(0.0, 1.0),
            "0.0",
            "Share of the writes that are acknowledged only when they are programmed (FUA).",
        )
        .when(MIXED),
        usual("workload.request_bytes", Kind::Sizes, "4096", "Size of a request.").when(MIXED),
        optional(
            "workload.read_request_bytes",
            Kind::Sizes,
            "Size of a read; absent: that of any request.",
        )
        .when(MIXED),
        optional(
            "workload.write_request_bytes",
            Kind::Sizes,
            "Size of a write; absent: that of any request.",
        )
        .when(MIXED),
        same(
            "workload.align_bytes",
            sectors(1 << 30),
            "geometry.page_bytes",
            "Every address is a multiple of this.",
        )
        .when(MIXED),
        ADDRESSES_KEY,
        required("workload.zipf_theta", above(0.0, 10.0), "Exponent of the Zipf law.")
            .when(When::Equals("workload.addresses", &["zipf"])),
        optional(
            "workload.zipf_unit_bytes",
            sectors(1 << 30),
            "Length of a place of the Zipf law; absent: the alignment, at least 4096.",
        )
        .when(When::Equals("workload.addresses", &["zipf"])),
        required("workload.hot_share", open(0.0, 1.0), "Share of the space that is hot.")
            .when(When::Equals("workload.addresses", &["hot-cold"])),
        required("workload.hot_fraction", closed(0.0, 1.0), "Share of requests to the hot space.")
            .when(When::Equals("workload.addresses", &["hot-cold"])),
        usual(
            "workload.read_sequential_fraction",
            closed(0.0, 1.0),
            "0.0",
            "Share of the reads that begin where the last read ended, or aligned just behind.",
        )
        .when(PLACED),
        usual(
            "workload.write_sequential_fraction",
            closed(0.0, 1.0),
            "0.0",
            "Share of the writes that begin where the last write ended, or aligned just behind.",
        )
        .when(PLACED),
        usual(
            "workload.footprint_start_bytes",
            Kind::Count { min: 0, max: 1 << 60, step: 512 },
            "0",
            "The first address; a multiple of the alignment.",
        )
        .when(MIXED),
        optional(
            "workload.footprint_bytes",
            sectors(1 << 60),
            "How much of the user capacity is addressed, from the first address on.",
        )
        .when(MIXED),
        optional(
            "workload.footprint_share",
            above(0.0, 1.0),
            "The same as a share of what lies behind the first address; without either, all of it.",
        )
        .when(MIXED),
        usual(
            "workload.arrivals",
            Kind::Choice(ARRIVALS),
            "\"closed\"",
            "When a request reaches the drive.",
        )
        .when(MIXED),
        required("workload.queue_depth", count(1, 65536), "Requests kept outstanding.")
            .when(CLOSED),
        required("workload.rate_iops", above(0.0, 1e9), "Requests a second.")
            .when(When::Equals("workload.arrivals", OPEN)),
        usual(
            "workload.simultaneous_fraction",
            below(0.0, 1.0),
            "0.0",
            "Share of the requests that arrive together with the one before.",
        )
        .when(BURSTS),
        required(
            "workload.burst_fraction",
            open(0.0, 1.0),
            "Share of the other gaps that are of the short phase.",
        )
        .when(BURSTS)
        .source("Wajahat et al., Performance Evaluation 142, 2020: two phases fit traces best"),
        required(
            "workload.burst_gap_us",
            US,
            "Mean of the short phase; the rate and the rest settle that of the long one.",
        )
        .when(BURSTS),
        optional(
            "workload.burst_length",
            closed(1.0, 1e9),
            "Mean number of short gaps in a row; absent: each gap is drawn anew.",
        )
        .when(BURSTS),
        TIME_SCALE,
    ],
};

const TIME_SCALE: Key = usual(
    "workload.time_scale",
    above(0.0, 1e9),
    "1.0",
    "Multiplies the times between arrivals: 0.1 is ten times the load.",
)
.when(When::GivenOr("workload.trace", "workload.arrivals", OPEN));

const ADDRESSES_KEY: Key = usual(
    "workload.addresses",
    Kind::Choice(ADDRESSES),
    "\"uniform\"",
    "Where in the space a request goes.",
)
.when(MIXED);

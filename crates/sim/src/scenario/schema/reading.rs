//! The keys of the schema that say how a trace is read, where its format leaves that open.

use reprieve_base::Entry;

use super::{Family, Key, Kind, Unit, When};
use super::{count, optional, usual};

const TRACE: When = When::Given("workload.trace");

const BLKTRACE_ACTION: &[Entry] = &[
    Entry { name: "queue", doc: "Events Q: what the host asks, before the block layer merges." },
    Entry { name: "issue", doc: "Events D: what the device gets." },
];

const ETW_TIME: &[Entry] = &[
    Entry { name: "begin", doc: "A request arrives its elapsed time before the timestamp." },
    Entry { name: "end", doc: "It arrives at the timestamp, which is that of its completion." },
];

const IOLOG_WAIT: &[Entry] = &[
    Entry { name: "relative-us", doc: "Microseconds since the last wait, as fio's manual says." },
    Entry { name: "absolute-ms", doc: "Milliseconds since the start, as fio 3.33 does." },
];

const SAME_SECOND: &[Entry] = &[
    Entry { name: "spread", doc: "At equal distances within it, in the order of the file." },
    Entry { name: "as-written", doc: "All at its beginning." },
];

const ROW_OP: &[Entry] = &[
    Entry { name: "read", doc: "Every row reads." },
    Entry { name: "write", doc: "Every row writes." },
];

const ZERO_LENGTH: &[Entry] = &[
    Entry { name: "drop", doc: "Such rows are left out and counted." },
    Entry { name: "error", doc: "The run ends and names the row." },
];

pub(super) const FORMAT: Key = usual(
    "workload.format",
    Kind::Registered(Family::TraceFormat),
    "\"auto\"",
    "How the trace is written.",
)
.when(TRACE);

pub(super) const COLUMNS: Key = optional(
    "workload.columns",
    Kind::Text,
    "The columns of a trace of format columns, such as \"time_s,device,sector,bytes,op\".",
)
.when(TRACE);

pub(super) const SECTOR_BYTES: Key = optional(
    "workload.sector_bytes",
    count(1, 1 << 20),
    "What addresses count, where a format leaves it open; absent: the format's own, mostly 512.",
)
.when(TRACE);

pub(super) const ACTION: Key = optional(
    "workload.blktrace_action",
    Kind::Choice(BLKTRACE_ACTION),
    "Which events of blktrace are the requests; absent: \"queue\".",
)
.when(TRACE);

pub(super) const ETW: Key = optional(
    "workload.etw_time",
    Kind::Choice(ETW_TIME),
    "When a request of an ETW trace arrives; absent: \"begin\".",
)
.when(TRACE);

pub(super) const WAIT: Key = optional(
    "workload.iolog_wait",
    Kind::Choice(IOLOG_WAIT),
    "What `wait` means in a log of fio of version 2; absent: \"relative-us\".",
)
.when(TRACE);

pub(super) const SECOND: Key = optional(
    "workload.same_second",
    Kind::Choice(SAME_SECOND),
    "Where the rows of one second lie if the trace's clock has whole ones; absent: \"spread\".",
)
.when(TRACE);

pub(super) const OP: Key = optional(
    "workload.row_op",
    Kind::Choice(ROW_OP),
    "The operation of every row of a trace that names none.",
)
.when(TRACE);

pub(super) const INTERVAL: Key = optional(
    "workload.row_interval_us",
    Kind::Duration(Unit::Microseconds),
    "The time from row to row of a trace that has none.",
)
.when(TRACE);

pub(super) const ZERO: Key = optional(
    "workload.zero_length",
    Kind::Choice(ZERO_LENGTH),
    "What becomes of rows of no length; absent: \"drop\".",
)
.when(TRACE);

//! Trace formats: their list, and the contents of a row.

mod binary;
mod blkparse;
mod blktrace;
mod columns;
mod detect;
mod etw;
pub(crate) mod fields;
mod ftrace;
mod guess;
mod iolog;
mod names;
mod oracle_general;
mod rwbs;
mod scsi;
mod srt;
mod table;
mod tables;
mod text;
mod vscsi;

pub(crate) use detect::{detect, is_foreign};
use std::sync::LazyLock;

use names::Names;
use reprieve_base::{Entry, Op, SECTOR_BYTES, UserError, nearest};
pub(crate) use text::TextParser;

use crate::reading::ReadOptions;

/// Formats with a separate grammar. To add one: its file, and its line here; one of columns is a
/// row of `tables.rs`.
const OTHERS: &[Format] = &[
    blkparse::FORMAT,
    blktrace::FORMAT,
    columns::FORMAT,
    etw::FORMAT,
    ftrace::FORMAT,
    iolog::FORMAT,
    srt::FORMAT,
    vscsi::FORMAT,
];

/// Every format, by name.
static FORMATS: LazyLock<Vec<&Format>> = LazyLock::new(|| {
    let mut formats: Vec<&Format> =
        tables::TABLES.iter().chain(OTHERS).chain(&oracle_general::ENTRIES).collect();
    formats.sort_by_key(|format| format.entry.name);
    formats
});

/// A format: its name, how to read it, how to write it.
pub(crate) struct Format {
    /// Its name and sentence in the registry.
    pub(crate) entry: Entry,
    /// Whether a row names its device; if not, every row is of device 0.
    pub(crate) has_devices: bool,
    /// The name of a device, besides its number.
    pub(crate) device_name: fn(u32, &Names) -> Option<String>,
    /// A format with the same columns and the same meaning: a trace that fits both is read as
    /// that one.
    pub(crate) reads_like: Option<&'static str>,
    /// A note for the user if the format was detected: an assumption that its rows do not show.
    pub(crate) guess: Option<&'static str>,
    /// Whether the beginning of a file can be of no other format.
    pub(crate) magic: fn(&[u8]) -> bool,
    /// The read options that it takes; every format takes `zero_length`.
    pub(crate) options: &'static [&'static str],
    /// Whether its clock ticks once a second, so that rows of the same time lie within one.
    pub(crate) whole_seconds: bool,
    /// Whether a file may end in the middle of a row, as its writer may be stopped; such a row is
    /// passed over.
    pub(crate) may_be_cut: bool,
    /// A parser at the start of a file; the error says which option is missing or wrong.
    pub(crate) new_parser: fn(&Context) -> Result<Parser, String>,
    /// The writer; `None`: this format is only read.
    pub(crate) writer: Option<Writer>,
}

/// The fields of most formats.
const PLAIN: Format = Format {
    entry: Entry { name: "", doc: "" },
    has_devices: false,
    device_name: |_, _| None,
    reads_like: None,
    guess: None,
    magic: |_| false,
    options: &[],
    whole_seconds: false,
    may_be_cut: false,
    new_parser: |_| Err(String::new()),
    writer: None,
};

/// State shared by the parsers of a trace's files.
#[derive(Clone)]
pub(crate) struct Context {
    options: ReadOptions,
    names: Names,
}

impl Context {
    /// The error says which option the format has no use for, or misses.
    pub(crate) fn new(format: &Format, options: &ReadOptions) -> Result<Context, String> {
        let name = format.entry.name;
        for key in options.given() {
            if key == "zero_length" || format.options.contains(&key) {
                continue;
            }
            let users: Vec<&str> = FORMATS
                .iter()
                .filter(|format| format.options.contains(&key))
                .map(|format| format.entry.name)
                .collect();
            let users = users.join(", ");
            return Err(format!("{key} means nothing to format {name}; it is for {users}"));
        }
        let context = Context { options: options.clone(), names: Names::default() };
        match (format.new_parser)(&context) {
            Ok(_) => Ok(context),
            Err(what) => Err(format!("format {name} {what}")),
        }
    }

    /// A parser for one more file.
    pub(crate) fn parser(&self, format: &Format) -> Parser {
        (format.new_parser)(self).expect("made before, when the context was")
    }

    /// Whether the format's files hold records in place of lines.
    pub(crate) fn is_binary(&self, format: &Format) -> bool {
        matches!(self.parser(format), Parser::Records(_))
    }

    /// Returns the names of hosts or files.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }
}

/// Turns the contents of a file into rows.
pub(crate) enum Parser {
    Lines(TextParser),
    Records(RecordParser),
}

/// Parses one line after the other, never a blank one or a comment; the error is the expected
/// content. A line may be parsed twice: a parser changes its state with a good row only.
type LineParser = Box<dyn FnMut(&[u8]) -> Result<Row, &'static str> + Send>;

/// Parses the record at the beginning of the bytes, of which there may be more or fewer; the error
/// is the expected content.
pub(crate) type RecordParser = Box<dyn FnMut(&[u8]) -> Result<Step, &'static str> + Send>;

/// The next step of a parser of records.
pub(crate) enum Step {
    /// A record and its length in bytes.
    Record(Row, usize),
    /// The record has at least this many bytes, which are more than there are.
    Needs(usize),
}

/// A parser of lines.
fn lines(parse: impl FnMut(&[u8]) -> Result<Row, &'static str> + Send + 'static) -> Parser {
    Parser::Lines(TextParser::new(Box::new(parse)))
}

/// A parser of records.
fn records(parse: impl FnMut(&[u8]) -> Result<Step, &'static str> + Send + 'static) -> Parser {
    Parser::Records(Box::new(parse))
}

/// Writes the rows of a format.
pub(crate) struct Writer {
    /// Text before the first row; empty, or whole lines.
    pub(crate) heading: &'static str,
    /// Appends a row with its line's end; the error says what the format cannot hold.
    pub(crate) row: fn(&RawRequest, &mut Vec<u8>) -> Result<(), &'static str>,
    /// Nanoseconds of a time step; times are rounded down to it.
    pub(crate) tick_ns: u64,
    /// Whether addresses and lengths are counted in sectors, so that requests must be widened.
    pub(crate) whole_sectors: bool,
    /// Whether a write can have forced unit access.
    pub(crate) holds_fua: bool,
    /// Whether rows name their device; if not, a trace of several is not written.
    pub(crate) holds_devices: bool,
}

/// The fields of most writers.
const WRITER: Writer = Writer {
    heading: "",
    row: |_, _| Ok(()),
    tick_ns: 1,
    whole_sectors: true,
    holds_fua: false,
    holds_devices: true,
};

/// The contents of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A request.
    Request(RawRequest),
    /// A row that the format's nature explains and no drive can serve.
    Drop(DropReason),
    /// A preamble, a heading, a comment or a blank line.
    Other,
}

impl Row {
    /// The row with forced unit access, if it is a write.
    fn with_fua(self, fua: bool) -> Row {
        match self {
            Row::Request(raw) if raw.op == Op::Write => Row::Request(RawRequest { fua, ..raw }),
            other => other,
        }
    }
}

/// A row of a trace, before any transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRequest {
    /// In the trace's own reckoning; only differences mean anything.
    pub time_ns: u64,
    /// Disk, application unit or volume; 0 where the format has none.
    pub device: u32,
    /// The operation.
    pub op: Op,
    /// First byte, in the device's own address space.
    pub offset_bytes: u64,
    /// Length; not always a multiple of a sector.
    pub bytes: u32,
    /// Force unit access; most formats do not know it, and have `false`.
    pub fua: bool,
}

impl RawRequest {
    /// First byte behind the request.
    pub(crate) fn end_bytes(&self) -> u64 {
        self.offset_bytes + u64::from(self.bytes)
    }
}

/// The reason why a row was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    ZeroLength,
    AddressOutOfRange,
    NeitherReadNorWrite,
    UnknownEvent,
    BeforeTrace,
    Incomplete,
    BeforeStart,
    OtherDevice,
    Duplicate,
    PastEnd,
}

impl DropReason {
    /// In the order of reports.
    const ALL: [(DropReason, &'static str); 10] = [
        (DropReason::ZeroLength, "zero length"),
        (DropReason::AddressOutOfRange, "address out of range"),
        (DropReason::NeitherReadNorWrite, "neither read nor write"),
        (DropReason::UnknownEvent, "unknown event"),
        (DropReason::BeforeTrace, "begun before the trace"),
        (DropReason::Incomplete, "incomplete row"),
        (DropReason::BeforeStart, "before start"),
        (DropReason::OtherDevice, "other device"),
        (DropReason::Duplicate, "duplicate"),
        (DropReason::PastEnd, "past the end of the drive"),
    ];
}

/// Numbers of rows left out, by reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    pub(crate) fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    /// Adds what another has counted.
    pub(crate) fn add(&mut self, other: &Drops) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }

    /// Rows left out for this reason.
    pub(crate) fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Reasons and counts, where there are any.
    pub(crate) fn listed(&self) -> Vec<(&'static str, u64)> {
        let names = DropReason::ALL.iter().map(|(_, name)| *name);
        names.zip(self.0).filter(|(_, count)| *count > 0).collect()
    }
}

/// Bytes behind the last address that a drive can have: 2^48 sectors, the limit of ATA's 48-bit
/// addresses (ATA/ATAPI-6, 2002). A trace that goes further is damaged, or of another format.
pub(crate) const ADDRESS_BYTES_MAX: u64 = (1 << 48) * SECTOR_BYTES;

/// The trace formats that can be read, by name.
pub fn formats() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> =
        LazyLock::new(|| FORMATS.iter().map(|format| format.entry).collect());
    &ENTRIES
}

/// Names of the formats that can be written.
pub(crate) fn writable() -> Vec<&'static str> {
    FORMATS.iter().filter(|f| f.writer.is_some()).map(|f| f.entry.name).collect()
}

/// The format of this name.
pub(crate) fn find(name: &str) -> Result<&'static Format, UserError> {
    FORMATS.iter().copied().find(|format| format.entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.entry.name).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("known are auto, {}", known.join(", ")),
        };
        UserError::new(format!("format = \"{name}\": there is no such trace format; {hint}"))
    })
}

//! Trace formats: the list of them, what a row may hold, and telling them apart by content.

mod blkreplay;
mod diskmon;
mod disksim;
mod fields;
mod mqsim;
mod msbytes;
mod msr;
mod recording;
mod spc;
mod ssdsim;

use reprieve_base::{Entry, Op, SECTOR_BYTES, UserError, nearest};

use crate::source::Sample;

/// Every format. To add one: its file, and its line here.
const FORMATS: &[Format] = &[
    blkreplay::FORMAT,
    diskmon::FORMAT,
    disksim::FORMAT,
    mqsim::FORMAT,
    msbytes::FORMAT,
    msr::FORMAT,
    recording::FORMAT,
    spc::FORMAT,
    ssdsim::FORMAT,
];

/// A format: its name, how to read it, how to write it.
pub(crate) struct Format {
    /// What the registry says of it.
    pub(crate) entry: Entry,
    /// Whether a row names its device; if not, every row is of device 0.
    pub(crate) has_devices: bool,
    /// A format with the same columns and the same meaning: a trace that fits both is read as
    /// that one.
    pub(crate) reads_like: Option<&'static str>,
    /// A parser at the start of a trace.
    pub(crate) new_parser: fn() -> Parser,
    /// How to write a row; `None`: this format is only read.
    pub(crate) writer: Option<Writer>,
}

/// Parses one line after the other, never a blank one; the error says what was expected.
pub(crate) type Parser = Box<dyn FnMut(&[u8]) -> Result<Row, &'static str> + Send>;

/// How a format is written.
pub(crate) struct Writer {
    /// What stands before the first row; empty, or whole lines.
    pub(crate) heading: &'static str,
    /// Appends a row with its line's end; the error says what the format cannot hold.
    pub(crate) row: fn(&RawRequest, &mut Vec<u8>) -> Result<(), &'static str>,
    /// Nanoseconds of a time step; times are rounded down to it.
    pub(crate) tick_ns: u64,
    /// Whether addresses and lengths are counted in sectors, so that requests must be widened.
    pub(crate) whole_sectors: bool,
}

/// What a line of a trace holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    /// A request.
    Request(RawRequest),
    /// A row that the format's nature explains and no drive can serve.
    Drop(DropReason),
    /// A preamble, a heading or a blank line.
    Other,
}

/// A row of a trace as it stands there, before any transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRequest {
    /// In the trace's own reckoning; only differences mean anything.
    pub time_ns: u64,
    /// Disk, application unit or volume; 0 where the format has none.
    pub device: u32,
    /// What was asked.
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

/// Why a row was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    ZeroLength,
    AddressOutOfRange,
    BeforeStart,
    OtherDevice,
    Duplicate,
}

impl DropReason {
    /// In the order of reports.
    const ALL: [(DropReason, &'static str); 5] = [
        (DropReason::ZeroLength, "zero length"),
        (DropReason::AddressOutOfRange, "address out of range"),
        (DropReason::BeforeStart, "before start"),
        (DropReason::OtherDevice, "other device"),
        (DropReason::Duplicate, "duplicate"),
    ];
}

/// How many rows were left out, by reason.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    pub(crate) fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
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

const FORMAT_NAMES: usize = FORMATS.len();

/// The registry, as it is listed to users.
static ENTRIES: [Entry; FORMAT_NAMES] = {
    let mut entries = [FORMATS[0].entry; FORMAT_NAMES];
    let mut index = 0;
    while index < FORMAT_NAMES {
        entries[index] = FORMATS[index].entry;
        index += 1;
    }
    entries
};

/// The trace formats that can be read, by name.
pub fn formats() -> &'static [Entry] {
    &ENTRIES
}

/// Names of the formats that can be written.
pub(crate) fn writable() -> Vec<&'static str> {
    FORMATS.iter().filter(|f| f.writer.is_some()).map(|f| f.entry.name).collect()
}

/// The format of this name.
pub(crate) fn find(name: &str) -> Result<&'static Format, UserError> {
    FORMATS.iter().find(|format| format.entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.entry.name).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("known are auto, {}", known.join(", ")),
        };
        UserError::new(format!("format = \"{name}\": there is no such trace format; {hint}"))
    })
}

/// The format that fits the beginning of a trace best.
pub(crate) fn detect(sample: &Sample) -> Result<&'static Format, UserError> {
    let fits: Vec<(f64, &Format)> = FORMATS.iter().map(|f| (fit(f, sample), f)).collect();
    let best = fits.iter().map(|(fit, _)| *fit).fold(0.0, f64::max);
    // A single bad row must be reported as such, so most rows suffice; fewer are accidents.
    if best <= 0.5 {
        let sentence = "no trace format fits the first lines; if it is a trace, name its `format`";
        return Err(UserError::new(sentence));
    }
    let fitting: Vec<&Format> =
        fits.iter().filter(|(fit, _)| *fit == best).map(|(_, format)| *format).collect();
    let is_fitting = |name: &str| fitting.iter().any(|format| format.entry.name == name);
    let distinct: Vec<&&Format> =
        fitting.iter().filter(|format| !format.reads_like.is_some_and(is_fitting)).collect();
    match distinct[..] {
        [one] => Ok(one),
        _ => {
            let names: Vec<&str> = distinct.iter().map(|format| format.entry.name).collect();
            let names = names.join(" and ");
            let sentence = format!("fits {names} equally; say which by the key `format`");
            Err(UserError::new(sentence))
        }
    }
}

/// What a line holds; a blank one, as may stand at the end, holds nothing in any format.
#[inline]
pub(crate) fn parse(parser: &mut Parser, line: &[u8]) -> Result<Row, &'static str> {
    if line.trim_ascii_start().is_empty() { Ok(Row::Other) } else { parser(line) }
}

/// Share of the sample's rows that the format can read.
fn fit(format: &Format, sample: &Sample) -> f64 {
    let mut parser = (format.new_parser)();
    let (mut good, mut bad) = (0u32, 0u32);
    for line in sample.lines() {
        match parse(&mut parser, line) {
            Ok(Row::Request(_) | Row::Drop(_)) => good += 1,
            Ok(Row::Other) => (),
            Err(_) => bad += 1,
        }
    }
    if good == 0 { 0.0 } else { f64::from(good) / f64::from(good + bad) }
}

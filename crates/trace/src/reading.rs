//! Options for reading a trace: its format, and what the format does not define.

use reprieve_base::{Dur, Op, UserError, nearest};

/// The format of a trace, and options that its rows leave open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// `"auto"`, or a name of [`formats`](crate::formats()).
    pub format: String,
    /// The given options; a format refuses those that it does not use.
    pub options: ReadOptions,
}

impl From<&str> for Reading {
    fn from(format: &str) -> Reading {
        Reading { format: format.to_owned(), options: ReadOptions::default() }
    }
}

impl From<&Reading> for Reading {
    fn from(reading: &Reading) -> Reading {
        reading.clone()
    }
}

/// Options that formats leave open; `None`: the format's own default, or an error without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadOptions {
    /// The columns of format `columns`, by name.
    pub columns: Option<String>,
    /// Unit of addresses in bytes, where a format does not fix it.
    pub sector_bytes: Option<u32>,
    /// Which events of blktrace are the requests; `Queue` unless given.
    pub blktrace_action: Option<BlktraceAction>,
    /// The end of a request that ETW's rows are taken at; `Begin` unless given.
    pub etw_time: Option<EtwTime>,
    /// Meaning of fio's `wait`; `RelativeUs` unless given.
    pub iolog_wait: Option<IologWait>,
    /// Times of rows within a second, for clocks of whole seconds; `Spread` unless given.
    pub same_second: Option<SameSecond>,
    /// The operation of every row, for formats without one: a read or a write.
    pub row_op: Option<Op>,
    /// The time between rows, for formats without times.
    pub row_interval: Option<Dur>,
    /// Handling of rows of no length; `Drop` unless given.
    pub zero_length: Option<ZeroLength>,
}

/// A choice that a scenario writes as a word.
pub trait ReadWord: Copy + PartialEq + 'static {
    /// Every value with its word.
    const WORDS: &'static [(&'static str, Self)];
}

/// Which events of blktrace are the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlktraceAction {
    /// Q: queued by the host, before the block layer merges.
    Queue,
    /// I: inserted into a scheduler of the block layer.
    Insert,
    /// D: issued to the device by the block layer.
    Issue,
}

impl ReadWord for BlktraceAction {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("queue", BlktraceAction::Queue),
        ("insert", BlktraceAction::Insert),
        ("issue", BlktraceAction::Issue),
    ];
}

/// The end of a request that ETW's rows are taken at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtwTime {
    /// The timestamp less the elapsed time: the arrival of the request.
    Begin,
    /// The timestamp: the completion of the request.
    End,
}

impl ReadWord for EtwTime {
    const WORDS: &'static [(&'static str, Self)] =
        &[("begin", EtwTime::Begin), ("end", EtwTime::End)];
}

/// Meaning of `wait` in a log of fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IologWait {
    /// As its manual says: microseconds since the last wait, of which less than 100 are none.
    RelativeUs,
    /// As fio 3.33 was measured to do: milliseconds since the start of the log.
    AbsoluteMs,
}

impl ReadWord for IologWait {
    const WORDS: &'static [(&'static str, Self)] =
        &[("relative-us", IologWait::RelativeUs), ("absolute-ms", IologWait::AbsoluteMs)];
}

/// Times of rows within a second, for clocks of whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameSecond {
    /// At equal distances, in the order of the file.
    Spread,
    /// At its beginning, as recorded.
    AsWritten,
}

impl ReadWord for SameSecond {
    const WORDS: &'static [(&'static str, Self)] =
        &[("spread", SameSecond::Spread), ("as-written", SameSecond::AsWritten)];
}

/// Handling of rows of no length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroLength {
    /// They are left out and counted.
    Drop,
    /// The first is an error.
    Error,
}

impl ReadWord for ZeroLength {
    const WORDS: &'static [(&'static str, Self)] =
        &[("drop", ZeroLength::Drop), ("error", ZeroLength::Error)];
}

/// The operation of rows in a format without one.
impl ReadWord for Op {
    const WORDS: &'static [(&'static str, Self)] = &[("read", Op::Read), ("write", Op::Write)];
}

/// Smallest and largest block that addresses may count.
pub const SECTOR_BYTES_RANGE: (u32, u32) = (1, 1 << 20);

impl ReadOptions {
    /// The keys, as scenarios, commands and errors write them.
    pub const KEYS: [&'static str; 9] = [
        "columns",
        "sector_bytes",
        "blktrace_action",
        "etw_time",
        "iolog_wait",
        "same_second",
        "row_op",
        "row_interval_us",
        "zero_length",
    ];

    /// The keys that are given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            self.columns.is_some(),
            self.sector_bytes.is_some(),
            self.blktrace_action.is_some(),
            self.etw_time.is_some(),
            self.iolog_wait.is_some(),
            self.same_second.is_some(),
            self.row_op.is_some(),
            self.row_interval.is_some(),
            self.zero_length.is_some(),
        ];
        ReadOptions::KEYS.into_iter().zip(given).filter(|(_, given)| *given).map(|(key, _)| key)
    }

    /// Reads `KEY=VALUE`, as a command has it.
    pub fn set(&mut self, written: &str) -> Result<(), UserError> {
        let Some((key, value)) = written.split_once('=') else {
            let sentence = format!("--option {written}: it must be KEY=VALUE");
            return Err(UserError::new(sentence));
        };
        match key {
            "columns" => self.columns = Some(value.to_owned()),
            "sector_bytes" => self.sector_bytes = Some(sector_bytes(value)?),
            "blktrace_action" => self.blktrace_action = Some(word(key, value)?),
            "etw_time" => self.etw_time = Some(word(key, value)?),
            "iolog_wait" => self.iolog_wait = Some(word(key, value)?),
            "same_second" => self.same_second = Some(word(key, value)?),
            "row_op" => self.row_op = Some(word(key, value)?),
            "row_interval_us" => self.row_interval = Some(interval(value)?),
            "zero_length" => self.zero_length = Some(word(key, value)?),
            _ => {
                let hint = match nearest(key, ReadOptions::KEYS) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("there are {}", ReadOptions::KEYS.join(", ")),
                };
                let sentence = format!("--option {written}: there is no such option; {hint}");
                return Err(UserError::new(sentence));
            }
        }
        Ok(())
    }
}

fn word<W: ReadWord>(key: &str, value: &str) -> Result<W, UserError> {
    let found = W::WORDS.iter().find(|(word, _)| *word == value);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
        UserError::new(format!("--option {key}={value}: must be {}", words.join(" or ")))
    })
}

fn sector_bytes(value: &str) -> Result<u32, UserError> {
    let (min, max) = SECTOR_BYTES_RANGE;
    let bytes = value.parse().ok().filter(|bytes| (min..=max).contains(bytes));
    bytes.ok_or_else(|| {
        let what = format!("must be a whole number from {min} to {max}");
        UserError::new(format!("--option sector_bytes={value}: {what}"))
    })
}

fn interval(value: &str) -> Result<Dur, UserError> {
    let ns = crate::formats::fields::decimal(value.as_bytes(), 3);
    ns.map(Dur::from_ns).ok_or_else(|| {
        let what = "must be a number of microseconds, such as 10 or 2.5";
        UserError::new(format!("--option row_interval_us={value}: {what}"))
    })
}

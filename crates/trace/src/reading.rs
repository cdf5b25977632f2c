//! Options for reading a trace: its format, and what the format does not define.

use reprieve_base::{Dur, Op, UserError, nearest};

use crate::formats::fields::decimal;

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

/// Defines the options: key, field, and the function that reads the value of a command.
macro_rules! options {
    ($($(#[$doc:meta])* $key:literal $field:ident: $type:ty = $read:expr;)*) => {
        /// Options that formats leave open; `None`: the format's own default, or an error without
        /// one.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct ReadOptions {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl ReadOptions {
            /// The keys, as scenarios, commands and errors write them.
            const KEYS: &'static [&'static str] = &[$($key),*];

            /// Returns the keys that are given.
            pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
                let given = [$(self.$field.is_some().then_some($key)),*];
                given.into_iter().flatten()
            }

            /// Reads `KEY=VALUE`, as a command has it.
            pub fn set(&mut self, written: &str) -> Result<(), UserError> {
                let refused = |what: &str| UserError::new(format!("--option {written}: {what}"));
                let parts = written.split_once('=').ok_or_else(|| refused("it must be KEY=VALUE"));
                let (key, value) = parts?;
                match key {
                    $($key => {
                        let read: fn(&str) -> Result<$type, String> = $read;
                        self.$field = Some(read(value).map_err(|what| refused(&what))?);
                    })*
                    _ => {
                        let hint = match nearest(key, ReadOptions::KEYS.iter().copied()) {
                            Some(near) => format!("did you mean {near}?"),
                            None => format!("there are {}", ReadOptions::KEYS.join(", ")),
                        };
                        return Err(refused(&format!("there is no such option; {hint}")));
                    }
                }
                Ok(())
            }
        }
    };
}

options! {
    /// The columns of format `columns`, by name.
    "columns" columns: String = |names| Ok(names.to_owned());
    /// Unit of addresses in bytes, where a format does not fix it.
    "sector_bytes" sector_bytes: u32 = sector_bytes;
    /// Which events of blktrace are the requests; `Queue` unless given.
    "blktrace_action" blktrace_action: BlktraceAction = word;
    /// The end of a request that ETW's rows are taken at; `Begin` unless given.
    "etw_time" etw_time: EtwTime = word;
    /// Meaning of fio's `wait`; `RelativeUs` unless given.
    "iolog_wait" iolog_wait: IologWait = word;
    /// Times of rows within a second, for clocks of whole seconds; `Spread` unless given.
    "same_second" same_second: SameSecond = word;
    /// The operation of every row, for formats without one: a read or a write.
    "row_op" row_op: Op = word;
    /// The time between rows, for formats without times.
    "row_interval_us" row_interval: Dur = interval;
    /// Handling of rows of no length; `Drop` unless given.
    "zero_length" zero_length: ZeroLength = word;
}

/// A choice that a command writes as a word.
trait Word: Copy + 'static {
    /// Every value with its word.
    const WORDS: &'static [(&'static str, Self)];
}

/// The operation of rows in a format without one.
impl Word for Op {
    const WORDS: &'static [(&'static str, Op)] = &[("read", Op::Read), ("write", Op::Write)];
}

/// Defines choices with their words.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $value:ident = $word:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $value,)*
        }

        impl Word for $name {
            const WORDS: &'static [(&'static str, $name)] = &[$(($word, $name::$value)),*];
        }
    )*};
}

words! {
    /// Which events of blktrace are the requests.
    BlktraceAction {
        /// Q: queued by the host, before the block layer merges.
        Queue = "queue",
        /// I: inserted into a scheduler of the block layer.
        Insert = "insert",
        /// D: issued to the device by the block layer.
        Issue = "issue",
    }
    /// The end of a request that ETW's rows are taken at.
    EtwTime {
        /// The timestamp less the elapsed time: the arrival of the request.
        Begin = "begin",
        /// The timestamp: the completion of the request.
        End = "end",
    }
    /// Meaning of `wait` in a log of fio.
    IologWait {
        /// As its manual says: microseconds since the last wait, of which less than 100 are none.
        RelativeUs = "relative-us",
        /// As fio 3.33 was measured to do: milliseconds since the start of the log.
        AbsoluteMs = "absolute-ms",
    }
    /// Times of rows within a second, for clocks of whole seconds.
    SameSecond {
        /// At equal distances, in the order of the file.
        Spread = "spread",
        /// At its beginning, as recorded.
        AsWritten = "as-written",
    }
    /// Handling of rows of no length.
    ZeroLength {
        /// They are left out and counted.
        Drop = "drop",
        /// The first is an error.
        Error = "error",
    }
}

fn word<W: Word>(value: &str) -> Result<W, String> {
    let found = W::WORDS.iter().find(|(word, _)| *word == value);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = W::WORDS.iter().map(|(word, _)| *word).collect();
        format!("must be {}", words.join(" or "))
    })
}

fn sector_bytes(value: &str) -> Result<u32, String> {
    let bytes = value.parse().ok().filter(|bytes| (1..=1 << 20).contains(bytes));
    bytes.ok_or_else(|| "must be a whole number from 1 to 1048576".to_owned())
}

fn interval(value: &str) -> Result<Dur, String> {
    let ns = decimal(value.as_bytes(), 3).map(Dur::from_ns);
    ns.ok_or_else(|| "must be a number of microseconds, such as 10 or 2.5".to_owned())
}

//! How a trace is read, from the values of the keys and back to them.

use reprieve_base::Op;
use reprieve_trace::{
    BlktraceAction, EtwTime, IologWait, ReadOptions, ReadWord, Reading, SameSecond, ZeroLength,
};

use super::flatten::Pair;
use super::resolve::Values;
use super::value::Value;
use super::words::Word;

impl Word for BlktraceAction {
    const WORDS: &'static [(&'static str, Self)] = <Self as ReadWord>::WORDS;
}

impl Word for EtwTime {
    const WORDS: &'static [(&'static str, Self)] = <Self as ReadWord>::WORDS;
}

impl Word for IologWait {
    const WORDS: &'static [(&'static str, Self)] = <Self as ReadWord>::WORDS;
}

impl Word for SameSecond {
    const WORDS: &'static [(&'static str, Self)] = <Self as ReadWord>::WORDS;
}

impl Word for ZeroLength {
    const WORDS: &'static [(&'static str, Self)] = <Self as ReadWord>::WORDS;
}

impl Word for Op {
    const WORDS: &'static [(&'static str, Self)] = <Self as ReadWord>::WORDS;
}

/// What the keys say of how the trace is read.
pub(super) fn read(values: &Values) -> Reading {
    Reading {
        format: values.text("workload.format").to_string(),
        options: ReadOptions {
            columns: values.text_if_on("workload.columns").map(str::to_string),
            sector_bytes: values.u32_if_on("workload.sector_bytes"),
            blktrace_action: word(values, "workload.blktrace_action"),
            etw_time: word(values, "workload.etw_time"),
            iolog_wait: word(values, "workload.iolog_wait"),
            same_second: word(values, "workload.same_second"),
            row_op: word(values, "workload.row_op"),
            row_interval: values.dur_if_on("workload.row_interval_us"),
            zero_length: word(values, "workload.zero_length"),
        },
    }
}

fn word<W: Word>(values: &Values, name: &str) -> Option<W> {
    values.text_if_on(name).map(W::of_word)
}

/// The values of the keys that say so.
pub(super) fn pairs(reading: &Reading) -> Vec<Pair> {
    let options = &reading.options;
    let text = |text: &str| Some(Value::Text(text.to_string()));
    vec![
        ("workload.format", text(&reading.format)),
        ("workload.columns", options.columns.as_deref().and_then(text)),
        ("workload.sector_bytes", options.sector_bytes.map(|bytes| Value::Count(bytes.into()))),
        ("workload.blktrace_action", options.blktrace_action.map(Word::word).and_then(text)),
        ("workload.etw_time", options.etw_time.map(Word::word).and_then(text)),
        ("workload.iolog_wait", options.iolog_wait.map(Word::word).and_then(text)),
        ("workload.same_second", options.same_second.map(Word::word).and_then(text)),
        ("workload.row_op", options.row_op.map(Word::word).and_then(text)),
        ("workload.row_interval_us", options.row_interval.map(Value::Duration)),
        ("workload.zero_length", options.zero_length.map(Word::word).and_then(text)),
    ]
}

//! Telling formats apart by what stands at the beginning of a file.

use reprieve_base::{Dur, Op, UserError};

use super::names::Names;
use super::{Context, DropReason, FORMATS, Format, Parser, Row, Step, parse};
use crate::reading::ReadOptions;
use crate::source::Sample;

/// The format that fits the beginning of a trace best.
pub(crate) fn detect(sample: &Sample, options: &ReadOptions) -> Result<&'static Format, UserError> {
    if let Some(format) = FORMATS.iter().find(|format| (format.magic)(sample.bytes())) {
        return Ok(format);
    }
    let fits: Vec<(f64, &Format)> = FORMATS.iter().map(|f| (fit(f, sample, options), f)).collect();
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

/// Share of the sample's rows that the format can read.
fn fit(format: &Format, sample: &Sample, options: &ReadOptions) -> f64 {
    let mut options = options.clone();
    // What only the user can know must not keep a format from being found: with its name he is
    // told what to give.
    options.row_op.get_or_insert(Op::Read);
    options.row_interval.get_or_insert(Dur::from_ns(1));
    let context = Context { options, names: Names::default() };
    let Ok(mut parser) = (format.new_parser)(&context) else { return 0.0 };
    let (mut good, mut bad) = (0u32, 0u32);
    let mut count = |row: Result<Row, &str>| match row {
        // A row that lacks fields fits any format, and so none.
        Ok(Row::Drop(DropReason::Incomplete)) | Err(_) => bad += 1,
        Ok(Row::Request(_) | Row::Drop(_)) => good += 1,
        Ok(Row::Other) => (),
    };
    match &mut parser {
        Parser::Lines(parser) => {
            sample.lines().for_each(|line| count(parse(parser, line)));
        }
        Parser::Records(parser) => {
            let mut rest = sample.bytes();
            loop {
                match parser(rest) {
                    Ok(Step::Record(row, bytes)) => {
                        count(Ok(row));
                        rest = &rest[bytes..];
                    }
                    Ok(Step::Needs(_)) => break,
                    // Behind a bad record nothing says where the next begins.
                    Err(expected) => {
                        count(Err(expected));
                        break;
                    }
                }
            }
        }
    }
    if good == 0 { 0.0 } else { f64::from(good) / f64::from(good + bad) }
}

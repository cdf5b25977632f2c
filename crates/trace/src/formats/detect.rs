//! Detects the format of a file by its beginning.

use reprieve_base::{Dur, Op, UserError};

use super::names::Names;
use super::{Context, DropReason, FORMATS, Format, Parser, Row, Step, guess};
use crate::reading::ReadOptions;
use crate::source::Sample;

/// Returns the format that fits the beginning of a trace best.
pub(crate) fn detect(sample: &Sample, options: &ReadOptions) -> Result<&'static Format, UserError> {
    if let Some(format) = FORMATS.iter().copied().find(|format| (format.magic)(sample.text())) {
        return Ok(format);
    }
    let fits: Vec<(f64, &Format)> =
        FORMATS.iter().map(|&f| (fit(f, sample, options).share(), f)).collect();
    let best = fits.iter().map(|(fit, _)| *fit).fold(0.0, f64::max);
    // A single bad row must be reported as such, so most rows suffice; fewer are accidents.
    if best <= 0.5 {
        return Err(UserError::new(guess::refusal(sample)));
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

/// Returns whether the format refuses lines of a sample, and none is a row of it.
pub(crate) fn is_foreign(format: &Format, sample: &Sample, options: &ReadOptions) -> bool {
    let fit = fit(format, sample, options);
    fit.good == 0 && fit.refused > 0
}

/// Rows of a sample, by whether a format reads them.
#[derive(Default)]
struct Fit {
    good: u32,
    /// Rows that lack fields fit any format, and so none.
    incomplete: u32,
    refused: u32,
}

impl Fit {
    fn share(&self) -> f64 {
        let rows = f64::from(self.good + self.incomplete + self.refused);
        if self.good == 0 { 0.0 } else { f64::from(self.good) / rows }
    }

    fn count(&mut self, row: Result<Row, &str>) {
        match row {
            Ok(Row::Drop(DropReason::Incomplete)) => self.incomplete += 1,
            Ok(Row::Request(_) | Row::Drop(_)) => self.good += 1,
            Ok(Row::Other) => (),
            Err(_) => self.refused += 1,
        }
    }
}

/// Reads a sample in a format, and counts.
fn fit(format: &Format, sample: &Sample, options: &ReadOptions) -> Fit {
    let mut options = options.clone();
    // Options that only the user knows must not prevent detection; the error that requires them
    // names the format.
    options.row_op.get_or_insert(Op::Read);
    options.row_interval.get_or_insert(Dur::from_ns(1));
    let context = Context { options, names: Names::default() };
    let mut fit = Fit::default();
    match (format.new_parser)(&context) {
        Err(_) => {}
        Ok(Parser::Lines(mut parser)) => {
            sample.lines().for_each(|line| fit.count(parser.parse(line)));
        }
        Ok(Parser::Records(mut parser)) => {
            let mut rest = sample.bytes();
            loop {
                match parser(rest) {
                    Ok(Step::Record(row, bytes)) => {
                        fit.count(Ok(row));
                        rest = &rest[bytes..];
                    }
                    Ok(Step::Needs(_)) => break,
                    // Behind a bad record nothing says where the next begins.
                    Err(expected) => {
                        fit.count(Err(expected));
                        break;
                    }
                }
            }
        }
    }
    fit
}

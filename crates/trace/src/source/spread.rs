//! Rows of a clock of whole seconds, spread evenly over each second.

use std::collections::VecDeque;

use reprieve_base::UserError;

use super::file::NumberedRow;

const SECOND_NS: u64 = 1_000_000_000;

/// Limit on the rows of one second, all of which are in memory at once: more than any volume of
/// disks serves, in some 200 MB.
const ROWS_MAX: usize = 1 << 22;

/// Holds back the rows of one second until the last of them is known.
#[derive(Default)]
pub(super) struct Spread {
    held: VecDeque<NumberedRow>,
    /// Rows of the current second, and how many of them have been returned.
    rows: u64,
    handed_out: u64,
    /// The item after them: the first row of the next second, or an error.
    next: Option<Result<NumberedRow, UserError>>,
}

impl Spread {
    /// Returns the next row; reads ahead from `source`. A second with too many rows is an error at
    /// its first, made by `refused`.
    pub(super) fn next_row(
        &mut self,
        mut source: impl FnMut() -> Result<Option<NumberedRow>, UserError>,
        refused: impl FnOnce(NumberedRow, String) -> UserError,
    ) -> Result<Option<NumberedRow>, UserError> {
        if self.held.is_empty() {
            let first = match self.next.take() {
                Some(row) => Some(row?),
                None => source()?,
            };
            let Some(first) = first else { return Ok(None) };
            self.held.push_back(first);
            // The rows before an error are good.
            self.next = loop {
                match source().transpose() {
                    Some(Ok(row)) if row.raw.time_ns == first.raw.time_ns => {
                        if self.held.len() == ROWS_MAX {
                            return Err(refused(first, too_many()));
                        }
                        self.held.push_back(row);
                    }
                    next => break next,
                }
            };
            (self.rows, self.handed_out) = (self.held.len() as u64, 0);
        }
        let mut row = self.held.pop_front().expect("a second has a row");
        let within_ns = u128::from(self.handed_out) * u128::from(SECOND_NS) / u128::from(self.rows);
        row.raw.time_ns += u64::try_from(within_ns).expect("less than a second");
        self.handed_out += 1;
        Ok(Some(row))
    }
}

fn too_many() -> String {
    format!(
        "begins a second of more than {ROWS_MAX} rows, which are not spread; with same_second = \
         \"as-written\" they keep their time"
    )
}

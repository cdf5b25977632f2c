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

/// The reason why a second could not be spread.
pub(super) enum SpreadError {
    /// The rows themselves are in error.
    Rows(UserError),
    /// There are too many in one second, of which this is the first.
    TooMany(NumberedRow),
}

impl SpreadError {
    /// The sentence of `TooMany`.
    pub(super) fn sentence() -> String {
        format!(
            "begins a second of more than {ROWS_MAX} rows, which are not spread; with \
             same_second = \"as-written\" they keep their time"
        )
    }
}

impl Spread {
    /// The next row; reads ahead from `source`.
    pub(super) fn next_row(
        &mut self,
        mut source: impl FnMut() -> Result<Option<NumberedRow>, UserError>,
    ) -> Result<Option<NumberedRow>, SpreadError> {
        if self.held.is_empty() {
            let first = match self.next.take() {
                Some(row) => row.map_err(SpreadError::Rows)?,
                None => match source().map_err(SpreadError::Rows)? {
                    Some(row) => row,
                    None => return Ok(None),
                },
            };
            self.held.push_back(first);
            self.fill(first, source)?;
        }
        let mut row = self.held.pop_front().expect("a second has a row");
        let within_ns = u128::from(self.handed_out) * u128::from(SECOND_NS) / u128::from(self.rows);
        row.raw.time_ns += u64::try_from(within_ns).expect("less than a second");
        self.handed_out += 1;
        Ok(Some(row))
    }

    fn fill(
        &mut self,
        first: NumberedRow,
        mut source: impl FnMut() -> Result<Option<NumberedRow>, UserError>,
    ) -> Result<(), SpreadError> {
        loop {
            match source() {
                Ok(Some(row)) if row.raw.time_ns == first.raw.time_ns => {
                    if self.held.len() == ROWS_MAX {
                        return Err(SpreadError::TooMany(first));
                    }
                    self.held.push_back(row);
                }
                Ok(Some(row)) => {
                    self.next = Some(Ok(row));
                    break;
                }
                Ok(None) => break,
                // The rows before the error are good.
                Err(error) => {
                    self.next = Some(Err(error));
                    break;
                }
            }
        }
        self.rows = self.held.len() as u64;
        self.handed_out = 0;
        Ok(())
    }
}

//! Rows in order of time: late ones put in place within a window, or refused.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use reprieve_base::UserError;

use crate::counts::Counts;
use crate::source::{NumberedRow, Place, Rows};

/// The window if no key of a scenario sets one: far more than recordings are known to need, in
/// some 4 MB of memory.
pub(crate) const SORT_WINDOW_ROWS: u32 = 1 << 16;

/// Rows of a trace whose times never run back.
pub(crate) struct Ordered {
    rows: Rows,
    window: usize,
    /// Rows held back, earliest first; the sort is stable; empty while `window` is 0.
    held: BinaryHeap<Reverse<NumberedRow>>,
    /// Latest time read, and its place.
    latest: (u64, Place),
    /// Time returned last.
    released_ns: u64,
    at_end: bool,
    resorted: u64,
}

impl Ordered {
    /// Puts `rows` in order, holding back at most `window` of them.
    pub(crate) fn new(rows: Rows, window: u32) -> Ordered {
        Ordered {
            rows,
            window: window as usize,
            held: BinaryHeap::new(),
            latest: (0, Place::default()),
            released_ns: 0,
            at_end: false,
            resorted: 0,
        }
    }

    /// Returns the next row in order of time.
    #[inline]
    pub(crate) fn next_row(&mut self) -> Result<Option<NumberedRow>, UserError> {
        while !self.at_end {
            let Some(row) = self.rows.next_row()? else {
                self.at_end = true;
                break;
            };
            let time_ns = row.raw.time_ns;
            if time_ns < self.released_ns {
                return Err(self.too_late(row));
            }
            if time_ns < self.latest.0 {
                self.resorted += 1;
            } else {
                self.latest = (time_ns, row.place);
            }
            if self.window == 0 {
                self.released_ns = time_ns;
                return Ok(Some(row));
            }
            self.held.push(Reverse(row));
            if self.held.len() > self.window {
                break;
            }
        }
        let row = self.held.pop().map(|Reverse(row)| row);
        self.released_ns = row.map_or(self.released_ns, |row| row.raw.time_ns);
        Ok(row)
    }

    fn too_late(&self, row: NumberedRow) -> UserError {
        let (latest_ns, latest) = self.latest;
        let back_ns = latest_ns - row.raw.time_ns;
        let latest = self.rows.name_of(latest);
        let sentence = format!(
            "time runs back by {back_ns} ns from {latest}; with \
             sort_window_requests above {} such rows are put in order",
            self.window
        );
        self.rows.at(row.place, sentence)
    }

    /// Returns the counts of the rows.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            rows: self.rows.count(),
            other_lines: self.rows.other_lines(),
            dropped: self.rows.drops().listed(),
            resorted: self.resorted,
            ..Counts::default()
        }
    }

    /// Returns the rows as they are read.
    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Returns mutable access, for later stages to count drops.
    pub(crate) fn rows_mut(&mut self) -> &mut Rows {
        &mut self.rows
    }
}

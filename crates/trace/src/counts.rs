//! Counts of a trace's rows by outcome.

use serde_json::{Value, json};

/// Counts of rows and requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows of the trace that hold a request, including dropped ones.
    pub rows: u64,
    /// Requests handed out (or written, by `convert`).
    pub requests: u64,
    /// Lines that are no rows: prose before or between them, blank ones.
    pub other_lines: u64,
    /// Rows left out: reason and count, only where there are any, in a fixed order.
    pub dropped: Vec<(&'static str, u64)>,
    /// Requests whose address the address policy moved.
    pub wrapped: u64,
    /// Rows that stood behind a later one and were put in order of time.
    pub resorted: u64,
    /// Requests widened outward to whole 512-byte sectors.
    pub widened: u64,
    /// Times rounded down to the resolution of the format written; 0 unless converting.
    pub times_rounded: u64,
}

impl Counts {
    /// Returns the counts of a conversion as a JSON object.
    pub fn to_json(&self) -> String {
        let dropped: Value = self.dropped.iter().copied().collect();
        let Counts { rows, requests, widened, resorted, times_rounded, .. } = self;
        json!({
            "rows": rows,
            "requests": requests,
            "dropped": dropped,
            "widened": widened,
            "resorted": resorted,
            "times_rounded": times_rounded,
        })
        .to_string()
    }

    /// Adds the counts of another load, or of an earlier part.
    pub fn add(&mut self, other: &Counts) {
        self.rows += other.rows;
        self.requests += other.requests;
        self.other_lines += other.other_lines;
        self.wrapped += other.wrapped;
        self.resorted += other.resorted;
        self.widened += other.widened;
        self.times_rounded += other.times_rounded;
        for (reason, rows) in &other.dropped {
            match self.dropped.iter_mut().find(|(known, _)| known == reason) {
                Some((_, sum)) => *sum += rows,
                None => self.dropped.push((reason, *rows)),
            }
        }
    }
}

//! The rebuild of a replaced drive, some stripes at a time.

use std::ops::Range;

use reprieve_base::{Dur, Time};
use serde_json::{Value, json};

use crate::layout::{Layout, Part};
use crate::options::Options;

/// Progress of a rebuild, and its next instant.
#[derive(Debug)]
pub(crate) struct Rebuild {
    pub drive: usize,
    chunk_bytes: u64,
    stripes: u64,
    /// Stripes that are rebuilt together.
    together: u64,
    /// Least time between two starts.
    interval: Dur,
    began: Time,
    /// When the next stripes are read; `None` while others are rebuilt, and at the end.
    pub due: Option<Time>,
    end: Option<Time>,
}

impl Rebuild {
    pub fn new(drive: usize, stripes: u64, options: &Options) -> Rebuild {
        let (together, chunk_bytes) = (options.rebuild_stripes, options.chunk_bytes);
        let bytes = (together * chunk_bytes) as f64;
        let interval_ns = options.rebuild_bytes_per_s.map_or(0.0, |rate| bytes / rate * 1e9);
        Rebuild {
            drive,
            chunk_bytes,
            stripes,
            together,
            interval: Dur::from_ns(interval_ns.round() as u64),
            began: Time::ZERO,
            due: Some(Time::ZERO),
            end: None,
        }
    }

    /// Begins with the next stripes; returns them.
    pub fn begin(&mut self, at: Time, layout: &mut Layout) -> Range<u64> {
        (self.due, self.began) = (None, at);
        let first = layout.has_below[self.drive];
        let below = self.stripes.min(first + self.together);
        layout.written_below[self.drive] = below;
        first..below
    }

    /// Returns the write of stripes to the new drive, where their chunks lie side by side.
    pub fn write(&self, stripe: u64, stripes: &Range<u64>) -> Part {
        let bytes = (stripes.end - stripes.start) * self.chunk_bytes;
        Part { drive: self.drive, at_byte: stripe * self.chunk_bytes, bytes }
    }

    /// The stripes that were started are written.
    pub fn finish(&mut self, at: Time, controller: Dur, layout: &mut Layout) {
        layout.has_below[self.drive] = layout.written_below[self.drive];
        if layout.has_below[self.drive] == self.stripes {
            self.end = Some(at);
        } else {
            self.due = Some((at + controller).max(self.began + self.interval));
        }
    }

    pub fn summary(&self, layout: &Layout) -> Value {
        json!({
            "drive": self.drive,
            "rebuilt_bytes": layout.has_below[self.drive] * self.chunk_bytes,
            "bytes": self.stripes * self.chunk_bytes,
            "end_ns": self.end.map(Time::ns),
        })
    }
}

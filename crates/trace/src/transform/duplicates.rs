//! Rows that repeat an earlier one within a short time, as stacked recordings hold them.

use std::collections::{BTreeSet, VecDeque};

use reprieve_base::{Dur, Op};

use crate::formats::RawRequest;

/// Attributes that are equal if two rows are the same request recorded twice.
type Key = (u64, u32, u32, Op);

/// Finds repeats; remembers the rows of one window and no more.
pub(crate) struct Duplicates {
    window_ns: u64,
    /// Kept rows of the window, in order of time.
    recent: VecDeque<(u64, Key)>,
    /// As `recent`, by key: no key is kept twice within a window.
    kept: BTreeSet<Key>,
}

impl Duplicates {
    pub(crate) fn new(window: Dur) -> Duplicates {
        Duplicates { window_ns: window.ns(), recent: VecDeque::new(), kept: BTreeSet::new() }
    }

    /// Whether a row equal to this one was kept at most a window earlier; if not, this one is
    /// kept. Times must not run back.
    pub(crate) fn is_duplicate(&mut self, raw: &RawRequest) -> bool {
        while let Some((time_ns, key)) = self.recent.front() {
            if raw.time_ns - time_ns <= self.window_ns {
                break;
            }
            self.kept.remove(key);
            self.recent.pop_front();
        }
        let key = (raw.offset_bytes, raw.bytes, raw.device, raw.op);
        if self.kept.contains(&key) {
            return true;
        }
        self.kept.insert(key);
        self.recent.push_back((raw.time_ns, key));
        false
    }
}

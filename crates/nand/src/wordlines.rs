//! How the programs of wordlines differ in length, and the slices of a part that has to cut them.

use reprieve_base::{Dur, Stream};

/// The most counts of iterations that a spread can have.
pub const SPREAD_MAX: usize = 16;

/// Iteration counts with their weights; the count of a wordline is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationSpread {
    entries: [(u16, u16); SPREAD_MAX],
    used: u8,
}

impl IterationSpread {
    /// The spread of these counts and weights.
    ///
    /// Panics unless there are 1 to [`SPREAD_MAX`] of them, all counts and weights 1 or more.
    pub fn new(given: &[(u16, u16)]) -> IterationSpread {
        assert!((1..=SPREAD_MAX).contains(&given.len()), "a spread of {} counts", given.len());
        let all_count = given.iter().all(|(count, weight)| *count > 0 && *weight > 0);
        assert!(all_count, "a wordline without iterations, or one that is never met");
        let mut entries = [(0, 0); SPREAD_MAX];
        entries[..given.len()].copy_from_slice(given);
        IterationSpread { entries, used: given.len() as u8 }
    }

    /// Counts and weights.
    pub fn entries(&self) -> &[(u16, u16)] {
        &self.entries[..usize::from(self.used)]
    }

    /// The lowest count from `least` on; `None`: all are lower.
    pub(crate) fn next_from(&self, least: u32) -> Option<u32> {
        let counts = self.entries().iter().map(|(count, _)| u32::from(*count));
        counts.filter(|count| *count >= least).min()
    }

    /// The highest count.
    pub(crate) fn highest(&self) -> u32 {
        let counts = self.entries().iter().map(|(count, _)| u32::from(*count));
        counts.max().expect("a spread has a count")
    }

    /// The share of wordlines with at most `count` iterations.
    pub(crate) fn share_to(&self, count: u32) -> f64 {
        let weight = |most: u32| -> u64 {
            let counted = self.entries().iter().filter(|(count, _)| u32::from(*count) <= most);
            counted.map(|(_, weight)| u64::from(*weight)).sum()
        };
        weight(count) as f64 / weight(u32::MAX) as f64
    }

    /// Iterations of wordline `number` of the die with this key.
    pub(crate) fn of(&self, key: u64, number: u64) -> u32 {
        let entries = self.entries();
        let total = entries.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut left = Stream::new(key, "wordline", number).below(total);
        for (count, weight) in entries {
            match left.checked_sub(u64::from(*weight)) {
                None => return u32::from(*count),
                Some(rest) => left = rest,
            }
        }
        unreachable!("a draw below the sum of the weights")
    }
}

/// The slices of a program: each begins with an overhead, and only between two of them can the
/// array be used for something else (US patent 9,892,794).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slices {
    /// Iterations of a slice, 1 or more; the last may have fewer.
    pub iterations: u32,
    /// Time with which each begins.
    pub overhead: Dur,
}

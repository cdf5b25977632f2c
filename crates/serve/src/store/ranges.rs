//! Sets of whole numbers as disjoint ranges.

use std::collections::BTreeMap;

/// Disjoint ranges that do not touch: the end of each by its beginning.
#[derive(Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds `from..to`, joined with every range that it touches.
    pub(super) fn insert(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        let (mut start, mut end) = (from, to);
        while let Some((&other, &other_end)) = self.0.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            (start, end) = (start.min(other), end.max(other_end));
            self.0.remove(&other);
        }
        self.0.insert(start, end);
    }

    /// Removes `from..to`; a range that reaches beyond keeps the rest.
    pub(super) fn remove(&mut self, from: u64, to: u64) {
        while let Some((&start, &end)) = self.0.range(..to).next_back() {
            if from >= to || end <= from {
                break;
            }
            self.0.remove(&start);
            if end > to {
                self.0.insert(to, end);
            }
            if start < from {
                self.0.insert(start, from);
            }
        }
    }

    /// Returns whether `at` is in the set, and the first later number for which that differs.
    pub(super) fn stretch(&self, at: u64) -> (bool, u64) {
        match self.0.range(..=at).next_back() {
            Some((_, &end)) if end > at => (true, end),
            _ => (false, self.0.range(at..).next().map_or(u64::MAX, |(&start, _)| start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;

    #[test]
    fn ranges_agree_with_an_array() {
        let mut stream = Stream::new(1, "ranges", 0);
        for _ in 0..100 {
            let (mut ranges, mut array) = (Ranges::default(), [false; 40]);
            for _ in 0..40 {
                let (from, to) = (stream.below(40), stream.below(41));
                let is_in = stream.below(2) == 0;
                if is_in {
                    ranges.insert(from, to)
                } else {
                    ranges.remove(from, to)
                }
                if from < to {
                    array[from as usize..to as usize].fill(is_in);
                }
                for at in 0..40 {
                    let same = array[at..].iter().take_while(|held| **held == array[at]).count();
                    let (held, until) = ranges.stretch(at as u64);
                    assert_eq!((held, until.min(40)), (array[at], (at + same) as u64));
                }
            }
        }
    }
}

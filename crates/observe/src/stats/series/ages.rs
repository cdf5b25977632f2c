//! Progress of programs and erases at their suspension.

use reprieve_base::Dur;

/// Bins of the completed share, each of a twentieth.
pub const AGES: usize = 20;

/// Suspensions by the completed share of the operation at the request.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Ages {
    /// Offset of each die: itself as a whole, and its planes.
    places_of_die: usize,
    /// Bins of requested suspensions that have not taken effect, by place.
    asked: Vec<Option<usize>>,
    /// Of programs and of erases.
    counts: [[u64; AGES]; 2],
}

impl Ages {
    /// Nothing counted yet; suspensions of a die as a whole, and of a plane, follow each other.
    pub fn new(dies: u32, planes_per_die: u32) -> Ages {
        let places_of_die = 1 + planes_per_die as usize;
        let places = dies as usize * places_of_die;
        Ages { places_of_die, asked: vec![None; places], counts: [[0; AGES]; 2] }
    }

    fn place(&self, die: u32, plane: Option<u32>) -> usize {
        die as usize * self.places_of_die + plane.map_or(0, |plane| plane as usize + 1)
    }

    /// Adds a requested suspension of a die, or of one of its planes, with part of an operation
    /// left.
    ///
    /// A cancelled phase that is repeated can leave more than the whole: nothing is done.
    pub fn asked(&mut self, at: (u32, Option<u32>), remaining: Dur, undisturbed: Dur) {
        let done_ns = undisturbed.ns().saturating_sub(remaining.ns());
        let bin = u128::from(done_ns) * AGES as u128 / u128::from(undisturbed.ns().max(1));
        // A suspension at the very end counts with the whole length.
        let place = self.place(at.0, at.1);
        self.asked[place] = Some((bin as usize).min(AGES - 1));
    }

    /// Counts a suspension that has taken effect.
    pub fn suspended(&mut self, at: (u32, Option<u32>), is_erase: bool) {
        let place = self.place(at.0, at.1);
        let bin = self.asked[place].take().expect("a suspension was asked for before");
        self.counts[usize::from(is_erase)][bin] += 1;
    }

    /// Returns suspensions of programs and of erases by bin.
    pub fn counts(&self) -> &[[u64; AGES]; 2] {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspension_counts_where_it_was_asked_for_and_when_it_takes_effect() {
        let us = |us: u64| Dur::from_ns(1000 * us);
        let mut ages = Ages::new(2, 2);
        // 160 of 200 us are left: a fifth is done, where the fifth of twenty bins starts.
        ages.asked((0, Some(1)), us(160), us(200));
        assert_eq!(ages.counts(), &[[0; AGES]; 2]);
        // More is left than the whole; nothing; all but nothing; and the very end.
        for (remaining_us, bin) in [(210, 0), (200, 0), (191, 0), (190, 1), (1, 19), (0, 19)] {
            let before = ages.counts()[1][bin];
            ages.asked((1, None), us(remaining_us), us(200));
            ages.suspended((1, None), true);
            assert_eq!(ages.counts()[1][bin], before + 1, "{remaining_us} us left");
        }
        ages.suspended((0, Some(1)), false);
        assert_eq!(ages.counts()[0][4], 1);
        assert_eq!(ages.counts().as_flattened().iter().sum::<u64>(), 7);
    }
}

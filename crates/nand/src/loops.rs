//! Erases in loops of a pulse and a verify: lengths of the loops, and erase times of blocks.

use reprieve_base::Dur;

/// Most loops with their own lengths.
pub const ERASE_LOOPS_MAX: usize = 8;

/// The lengths of the loops of an erase, each a pulse and a verify, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraseLoops {
    lengths: [Dur; ERASE_LOOPS_MAX],
    used: u8,
}

impl EraseLoops {
    /// Creates loops of these lengths, of which the last repeats; `None` unless there are 1 to
    /// [`ERASE_LOOPS_MAX`], none of them empty.
    pub fn new(given: &[Dur]) -> Option<EraseLoops> {
        if given.is_empty() || given.len() > ERASE_LOOPS_MAX || given.contains(&Dur::ZERO) {
            return None;
        }
        let mut lengths = [Dur::ZERO; ERASE_LOOPS_MAX];
        lengths[..given.len()].copy_from_slice(given);
        Some(EraseLoops { lengths, used: given.len() as u8 })
    }

    /// The lengths that differ by place; all further loops are as long as the last.
    pub fn lengths(&self) -> &[Dur] {
        &self.lengths[..usize::from(self.used)]
    }

    /// Returns the length of a loop, counted from 0, that is not the last of its erase.
    pub(crate) fn length(&self, index: u32) -> Dur {
        self.lengths[(index as usize).min(usize::from(self.used) - 1)]
    }

    /// Returns the length of the longest loop.
    pub(crate) fn longest(&self) -> Dur {
        *self.lengths().iter().max().expect("there is a loop")
    }

    /// Returns the loops of an erase of this length, and the pulse of the last one.
    ///
    /// The last loop ends with the erase: it is shorter than others, or longer by at most a verify,
    /// as a loop shorter than a verify does not exist.
    pub(crate) fn divide(&self, whole: Dur, verify: Dur) -> (u32, Dur) {
        let (mut loops, mut before) = (0, verify);
        loop {
            let with_next = before + self.length(loops);
            loops += 1;
            if whole <= with_next {
                return (loops, whole - before);
            }
            before = with_next;
        }
    }
}

/// Erase times of blocks, pulses and verifies together, by the cycles of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EraseLengths {
    rows: Vec<Row>,
}

/// Lengths at one number of cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    cycles: u32,
    /// In ascending order, each with the sum of the weights up to its own.
    up_to: Vec<(Dur, u64)>,
}

impl Row {
    /// Returns the length at the middle of a rank among `ranks`.
    fn of(&self, rank: u32, ranks: u32) -> Dur {
        let total = self.up_to.last().expect("a row has a length").1;
        let middle = (2 * u128::from(rank) + 1) * u128::from(total);
        let is_below =
            |(_, weight): &(Dur, u64)| u128::from(*weight) * 2 * u128::from(ranks) <= middle;
        self.up_to[self.up_to.partition_point(is_below)].0
    }
}

impl EraseLengths {
    /// Creates lengths with their weights, at ascending numbers of cycles.
    ///
    /// Panics unless there is a row, each has a length, and all weights are 1 or more.
    pub fn new(given: &[(u32, Vec<(Dur, u16)>)]) -> EraseLengths {
        assert!(!given.is_empty(), "erases of no length");
        assert!(given.is_sorted_by_key(|(cycles, _)| *cycles), "cycles that do not ascend");
        let row = |(cycles, lengths): &(u32, Vec<(Dur, u16)>)| {
            assert!(!lengths.is_empty(), "no length at {cycles} cycles");
            let mut lengths = lengths.clone();
            lengths.sort_unstable();
            let mut sum = 0;
            let up_to = lengths.iter().map(|(length, weight)| {
                assert!(*weight > 0, "a length that no block has");
                sum += u64::from(*weight);
                (*length, sum)
            });
            Row { cycles: *cycles, up_to: up_to.collect() }
        };
        EraseLengths { rows: given.iter().map(row).collect() }
    }

    /// Returns the number of cycle counts with lengths.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Returns the shortest length.
    pub fn shortest(&self) -> Dur {
        let shortest = self.rows.iter().map(|row| row.up_to[0].0).min();
        shortest.expect("there is a row")
    }

    /// Returns the erase time of the block of `rank` among `ranks` after `cycles`: the length at
    /// its rank, between two rows in proportion to the cycles.
    pub fn of(&self, rank: u32, ranks: u32, cycles: f64) -> Dur {
        let next = self.rows.partition_point(|row| f64::from(row.cycles) <= cycles);
        let (below, above) = match next {
            0 => (&self.rows[0], None),
            _ => (&self.rows[next - 1], self.rows.get(next)),
        };
        let length = below.of(rank, ranks);
        let Some(above) = above else { return length };
        let share = (cycles - f64::from(below.cycles)) / f64::from(above.cycles - below.cycles);
        let more_ns = above.of(rank, ranks).ns() as f64 - length.ns() as f64;
        Dur::from_ns((length.ns() as f64 + more_ns * share).round() as u64)
    }
}

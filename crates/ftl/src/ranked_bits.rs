//! Bits of which the set ones are numbered, and numbers that few of many places have.

use reprieve_base::Archive;

/// Words that are counted together.
pub(super) const GROUP_WORDS: usize = 8;

const WORD_BITS: usize = u64::BITS as usize;

/// Set bits from one entry of the index of their places to the next: about a group of words.
const INDEXED_ONES: u32 = 256;

/// Bits, and how many are set before each group of words.
#[derive(Clone, Debug, Default)]
pub(super) struct RankedBits {
    words: Vec<u64>,
    before: Vec<u32>,
    ones: u32,
    /// Number of the group that holds each `INDEXED_ONES`th set bit; behind them the last group.
    groups: Vec<u32>,
}

impl RankedBits {
    /// Those of whole groups of words.
    pub(super) fn new(words: Vec<u64>) -> RankedBits {
        let (mut ones, mut groups) = (0, Vec::new());
        let group = |(number, words): (u32, &[u64])| {
            let before = ones;
            ones += words.iter().map(|word| word.count_ones()).sum::<u32>();
            groups.resize(ones.div_ceil(INDEXED_ONES) as usize, number);
            before
        };
        let before: Vec<u32> = (0..).zip(words.chunks(GROUP_WORDS)).map(group).collect();
        groups.push(before.len().saturating_sub(1) as u32);
        RankedBits { words, before, ones, groups }
    }

    /// Writes its words, of which there are so many, or takes them back.
    pub(super) fn archive(&mut self, archive: &mut Archive, words: usize) {
        self.words.resize(words, 0);
        archive.table(bytemuck::cast_slice_mut(&mut self.words));
        if archive.is_loading() {
            *self = RankedBits::new(std::mem::take(&mut self.words));
        }
    }

    /// Bits that are set.
    pub(super) fn ones(&self) -> u32 {
        self.ones
    }

    /// Bits that are set before a group of words.
    pub(super) fn before(&self, group: usize) -> u32 {
        self.before[group]
    }

    /// How many bits are set before one that is; `None`: it is not.
    #[inline]
    pub(super) fn number(&self, bit: usize) -> Option<u32> {
        let (word, bit) = (bit / WORD_BITS, 1u64 << (bit % WORD_BITS));
        let bits = self.words[word];
        if bits & bit == 0 {
            return None;
        }
        let group = word / GROUP_WORDS;
        let words = &self.words[group * GROUP_WORDS..word];
        let before = self.before[group] + words.iter().map(|word| word.count_ones()).sum::<u32>();
        Some(before + (bits & (bit - 1)).count_ones())
    }

    /// Returns the place of the set bit with this number, counted from 0.
    pub(super) fn bit(&self, number: u32) -> usize {
        let entry = (number / INDEXED_ONES) as usize;
        let (first, last) = (self.groups[entry] as usize, self.groups[entry + 1] as usize);
        // Groups without set bits have as many before them as the one behind them.
        let behind = self.before[first..=last].partition_point(|before| *before <= number);
        let group = first + behind - 1;
        let mut left = number - self.before[group];
        let mut word = group * GROUP_WORDS;
        while left >= self.words[word].count_ones() {
            left -= self.words[word].count_ones();
            word += 1;
        }
        let mut bits = self.words[word];
        (0..left).for_each(|_| bits &= bits - 1);
        word * WORD_BITS + bits.trailing_zeros() as usize
    }
}

/// Numbers other than zero at few of many places.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse {
    places: RankedBits,
    numbers: Vec<u32>,
}

/// Places for each number, at least, of a table that is kept sparse.
const PLACES_PER_NUMBER: usize = 8;

impl Sparse {
    /// Those of a table; `None` if they are not few.
    pub(super) fn of(table: &[u32]) -> Option<Sparse> {
        let mut words = Vec::with_capacity(words_of(table.len()));
        let mut numbers = Vec::new();
        for chunk in table.chunks(WORD_BITS) {
            let mut word = 0;
            if chunk.iter().fold(0, |all, number| all | number) != 0 {
                let bits = (0..).zip(chunk).map(|(bit, number)| u64::from(*number != 0) << bit);
                word = bits.fold(0, |all, bit| all | bit);
                let mut left = word;
                while left != 0 {
                    numbers.push(chunk[left.trailing_zeros() as usize]);
                    left &= left - 1;
                }
            }
            words.push(word);
            if numbers.len() > table.len() / PLACES_PER_NUMBER {
                return None;
            }
        }
        words.resize(words_of(table.len()), 0);
        Some(Sparse { places: RankedBits::new(words), numbers })
    }

    /// Writes the numbers of a table of `places` places, or takes them back.
    pub(super) fn archive(&mut self, archive: &mut Archive, places: usize) {
        self.places.archive(archive, words_of(places));
        self.numbers.resize(self.places.ones() as usize, 0);
        archive.table(bytemuck::cast_slice_mut(&mut self.numbers));
    }

    /// Makes its places of a table zero.
    pub(super) fn clear(&self, table: &mut [u32]) {
        let chunks = table.chunks_mut(WORD_BITS).zip(&self.places.words);
        chunks.filter(|(_, word)| **word != 0).for_each(|(chunk, _)| chunk.fill(0));
    }

    /// Its numbers that are not zero.
    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Its places and numbers that are not zero.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let words =
            (0..).step_by(WORD_BITS).zip(&self.places.words).filter(|(_, word)| **word != 0);
        let bits = |(first, word): (u32, &u64)| {
            let word = *word;
            (0..u64::BITS).filter(move |bit| word >> bit & 1 != 0).map(move |bit| first + bit)
        };
        words.flat_map(bits).zip(self.numbers.iter().copied())
    }

    /// The number at a place; zero at most.
    #[inline]
    pub(super) fn get(&self, place: u32) -> u32 {
        self.places.number(place as usize).map_or(0, |number| self.numbers[number as usize])
    }
}

/// Words of whole groups, of a bit a place.
fn words_of(places: usize) -> usize {
    places.div_ceil(WORD_BITS).next_multiple_of(GROUP_WORDS)
}

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;

    /// Tables of many sizes with numbers by chance: each place has what the table has.
    #[test]
    fn few_numbers_are_those_of_the_table() {
        let mut chance = Stream::new(1, "test.sparse", 0);
        for entries in [1, 63, 64, 65, 511, 512, 513, 5000] {
            for numbers in [0, 1, entries / 8, entries / 8 + 1] {
                let mut table = vec![0; entries];
                while table.iter().filter(|number| **number != 0).count() < numbers {
                    let place = chance.below(entries as u64) as usize;
                    table[place] = 1 + chance.below(9) as u32;
                }
                let Some(mut few) = Sparse::of(&table) else {
                    assert!(numbers > entries / 8, "{numbers} of {entries} are few");
                    continue;
                };
                assert!(numbers <= entries / 8, "{numbers} of {entries} are not few");
                let mut archive = Archive::saving(Vec::new());
                few.archive(&mut archive, entries);
                let (bytes, mut again) = (archive.into_bytes(), Sparse::default());
                let mut archive = Archive::loading(&bytes);
                again.archive(&mut archive, entries);
                archive.check().expect("all of it was taken");
                for few in [few, again] {
                    let found: Vec<u32> = (0..entries as u32).map(|place| few.get(place)).collect();
                    assert_eq!(found, table);
                    let used = (0..).zip(&table).filter(|(_, number)| **number != 0);
                    assert!(few.pairs().eq(used.map(|(place, number)| (place, *number))));
                }
            }
        }
    }
}

//! Bits with numbered ones.

use reprieve_base::Archive;

/// Words of a group.
pub(super) const GROUP_WORDS: usize = 8;

const WORD_BITS: usize = u64::BITS as usize;

/// Ones between two entries of their index: about a group of words.
const INDEXED_ONES: u32 = 256;

/// Bits, and the number of ones before each group of words.
#[derive(Clone, Debug, Default)]
pub(super) struct RankedBits {
    words: Vec<u64>,
    before: Vec<u32>,
    ones: u32,
    /// Group that holds each `INDEXED_ONES`th set bit, and then the last group.
    groups: Vec<u32>,
}

impl RankedBits {
    /// Creates the bits of whole groups of words.
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

    /// Saves or restores its `words` words.
    pub(super) fn archive(&mut self, archive: &mut Archive, words: usize) {
        self.words.resize(words, 0);
        archive.table(bytemuck::cast_slice_mut(&mut self.words));
        if archive.is_loading() {
            *self = RankedBits::new(std::mem::take(&mut self.words));
        }
    }

    /// Returns the number of ones.
    pub(super) fn ones(&self) -> u32 {
        self.ones
    }

    /// Returns the ones before a group of words.
    pub(super) fn before(&self, group: usize) -> u32 {
        self.before[group]
    }

    /// Returns how many bits are set before a set bit; `None`: it is not set.
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

    /// Brings what [`RankedBits::bit`] reads for these numbers into the caches, table by table, so
    /// that the misses overlap.
    pub(super) fn touch(&self, numbers: impl Iterator<Item = u32> + Clone) {
        let first = |number: u32| self.groups[(number / INDEXED_ONES) as usize];
        let mut sum = numbers.clone().map(first).fold(0, |sum, group| sum ^ group);
        sum ^= numbers.clone().fold(0, |sum, it| sum ^ self.before[first(it) as usize]);
        let words = numbers.map(|it| self.words[self.group(it) * GROUP_WORDS]);
        std::hint::black_box(words.fold(u64::from(sum), |sum, word| sum ^ word));
    }

    /// Returns the group of the one with this number.
    #[inline]
    fn group(&self, number: u32) -> usize {
        let entry = (number / INDEXED_ONES) as usize;
        let (first, last) = (self.groups[entry] as usize, self.groups[entry + 1] as usize);
        // Groups without set bits have as many before them as the next group.
        let behind = self.before[first..=last].partition_point(|before| *before <= number);
        first + behind - 1
    }

    /// Returns the index of the one with this number, counted from 0.
    pub(super) fn bit(&self, number: u32) -> usize {
        let group = self.group(number);
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

#[cfg(test)]
mod tests {
    use reprieve_base::Stream;

    use super::*;

    /// Random bits: the number of each leads back to it, also in restored bits.
    #[test]
    fn the_number_of_a_bit_leads_back_to_it() {
        let mut chance = Stream::new(1, "test.ranked", 0);
        for one_in in [1, 3, 700] {
            let words = 8 * GROUP_WORDS;
            let word =
                |_| (0..WORD_BITS).map(|bit| u64::from(chance.below(one_in) == 0) << bit).sum();
            let mut bits = RankedBits::new((0..words).map(word).collect());
            let mut archive = Archive::saving(Vec::new());
            bits.archive(&mut archive, words);
            let (bytes, mut again) = (archive.into_bytes(), RankedBits::default());
            let mut archive = Archive::loading(&bytes);
            again.archive(&mut archive, words);
            archive.check().expect("all of it was taken");
            for ranked in [bits, again] {
                let is_set =
                    |bit: &usize| ranked.words[bit / WORD_BITS] >> (bit % WORD_BITS) & 1 != 0;
                let set: Vec<usize> = (0..words * WORD_BITS).filter(is_set).collect();
                assert_eq!(ranked.ones() as usize, set.len());
                let of = |number| ranked.bit(number);
                assert_eq!((0..ranked.ones()).map(of).collect::<Vec<_>>(), set);
                let numbers = (0..words * WORD_BITS).filter_map(|bit| ranked.number(bit));
                assert!(numbers.eq(0..ranked.ones()));
            }
        }
    }
}

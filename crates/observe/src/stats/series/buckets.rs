//! Logarithmic buckets, sixteen in each octave: coarse, few, and the same in every bin.

/// Buckets of an octave: the upper end of one is at most a sixteenth above any value in it.
const PER_OCTAVE: u64 = 16;
/// Bits that select a bucket of an octave.
const BITS: u32 = PER_OCTAVE.trailing_zeros();
/// Buckets of all values of 64 bits: sixteen for 0 to 15, and sixteen for each longer octave.
pub const BUCKETS: usize = (PER_OCTAVE * (64 - BITS as u64 + 1)) as usize;

/// Returns the bucket of a value.
#[inline]
pub(super) fn bucket_of(value: u64) -> usize {
    if value < PER_OCTAVE {
        return value as usize;
    }
    let octave = value.ilog2() - BITS;
    let within = (value >> octave) - PER_OCTAVE;
    ((u64::from(octave) + 1) * PER_OCTAVE + within) as usize
}

/// Returns the largest value of a bucket.
pub fn upper_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PER_OCTAVE {
        return bucket;
    }
    let (octave, within) = (bucket / PER_OCTAVE - 1, bucket % PER_OCTAVE);
    let next = u128::from(PER_OCTAVE + within + 1) << octave;
    (next - 1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_without_gap() {
        assert_eq!(BUCKETS, 976);
        for bucket in 1..BUCKETS {
            let last = upper_end(bucket - 1);
            assert_eq!((bucket_of(last), bucket_of(last + 1)), (bucket - 1, bucket), "{last}");
        }
        assert_eq!((bucket_of(0), bucket_of(u64::MAX)), (0, BUCKETS - 1));
        assert_eq!(upper_end(BUCKETS - 1), u64::MAX);
    }

    #[test]
    fn ends_are_those_of_a_calculation_by_hand() {
        // 100 is in the octave from 64: its buckets are 4 wide, and the one of 100 ends with 103.
        assert_eq!(upper_end(bucket_of(100)), 103);
        // 1,000,000 is in the octave from 524,288, whose buckets are 32,768 wide; the fifteenth
        // begins with 524,288 + 14 · 32,768 = 983,040.
        assert_eq!(upper_end(bucket_of(1_000_000)), 983_040 + 32_768 - 1);
    }
}

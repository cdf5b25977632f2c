//! Where the writes of a load may begin, and how long they are.

/// Extent of the writes and trims of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteExtent {
    /// The largest number of bytes that divides every address and length; 0: there are none.
    pub grain_bytes: u64,
    /// Length of the longest, with those that always follow it.
    pub longest_bytes: u64,
}

impl WriteExtent {
    /// Of no writes.
    pub const NONE: WriteExtent = WriteExtent { grain_bytes: 0, longest_bytes: 0 };

    /// Returns the extent of these writes together with others.
    #[must_use]
    pub fn and(self, other: WriteExtent) -> WriteExtent {
        WriteExtent {
            grain_bytes: greatest_common_divisor(self.grain_bytes, other.grain_bytes),
            longest_bytes: self.longest_bytes.max(other.longest_bytes),
        }
    }

    /// Returns the extent of writes at multiples of a grain with these lengths.
    pub(crate) fn of(grain_bytes: u64, lengths: impl Iterator<Item = u64>) -> WriteExtent {
        let of_one = |bytes| WriteExtent { grain_bytes: bytes, longest_bytes: bytes };
        lengths.map(of_one).fold(WriteExtent { grain_bytes, longest_bytes: 0 }, WriteExtent::and)
    }
}

/// Returns the largest number that divides both; 0 is divided by all.
pub(crate) fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

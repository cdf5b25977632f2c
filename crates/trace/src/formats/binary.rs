//! Numbers in the records of binary formats; the caller has seen to it that the bytes are there.

use std::array;

fn bytes<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    array::from_fn(|index| record[at + index])
}

pub(super) fn u16_le(record: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes(record, at))
}

pub(super) fn u32_le(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes(record, at))
}

pub(super) fn u32_be(record: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes(record, at))
}

pub(super) fn u64_le(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes(record, at))
}

pub(super) fn i64_le(record: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(bytes(record, at))
}

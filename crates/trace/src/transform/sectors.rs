//! Requests widened to whole 512-byte sectors.

use reprieve_base::SECTOR_BYTES;

use crate::formats::RawRequest;

/// The request widened outward to whole sectors, and whether that changed it: a drive reads or
/// writes every sector that is touched.
#[inline]
pub(crate) fn widen(raw: RawRequest) -> (RawRequest, bool) {
    let start = raw.offset_bytes / SECTOR_BYTES * SECTOR_BYTES;
    let end = raw.end_bytes().next_multiple_of(SECTOR_BYTES);
    let bytes = u32::try_from(end - start).expect("readers leave room for two sectors");
    let changed = (start, bytes) != (raw.offset_bytes, raw.bytes);
    (RawRequest { offset_bytes: start, bytes, ..raw }, changed)
}

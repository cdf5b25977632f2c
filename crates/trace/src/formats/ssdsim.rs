//! Format `ssdsim`: the ASCII traces of the simulator SSDsim; the columns of `mqsim`.
//!
//! SSDsim keeps sector numbers in 32 bits, so larger ones are not written.

use reprieve_base::{Entry, SECTOR_BYTES};

use super::{Format, PLAIN, RawRequest, Writer, lines, mqsim};

pub(super) const FORMAT: Format = Format {
    entry: Entry {
        name: "ssdsim",
        doc: "SSDsim: ns device sector sectors op (1 read, 0 write); the columns of mqsim.",
    },
    has_devices: true,
    reads_like: Some("mqsim"),
    new_parser: |_| Ok(lines(mqsim::parse)),
    writer: Some(Writer {
        heading: "",
        row: write,
        tick_ns: 1,
        whole_sectors: true,
        holds_fua: false,
        holds_devices: true,
    }),
    ..PLAIN
};

fn write(raw: &RawRequest, out: &mut Vec<u8>) -> Result<(), &'static str> {
    if raw.offset_bytes / SECTOR_BYTES > u64::from(u32::MAX) {
        return Err("ssdsim holds sector numbers below 2^32");
    }
    mqsim::write(raw, out)
}

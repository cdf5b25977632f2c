//! Fields of text rows: splitting, exact numbers, and the checks that every format needs.

use reprieve_base::{Dur, Op, SECTOR_BYTES};

use super::{ADDRESS_BYTES_MAX, DropReason, RawRequest, Row};

/// A whole number: digits alone, or as tables of floats have it, `4096.0` or `4.096e3`.
#[inline]
pub(crate) fn integer(field: &[u8]) -> Option<u64> {
    if field.is_empty() {
        return None;
    }
    let digits = field.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    });
    digits.or_else(|| number(field, 0, Rounding::Refused))
}

/// A digit that says one of two things.
pub(super) fn bit(field: &[u8]) -> Option<bool> {
    match integer(field)? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// A decimal integer of 32 bits.
pub(super) fn small_integer(field: &[u8]) -> Option<u32> {
    integer(field).and_then(|value| u32::try_from(value).ok())
}

/// A hexadecimal integer, with or without `0x`.
pub(super) fn hexadecimal(field: &[u8]) -> Option<u64> {
    let prefixed = field.strip_prefix(b"0x").or_else(|| field.strip_prefix(b"0X"));
    let digits = prefixed.unwrap_or(field);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &byte| {
        let digit = char::from(byte).to_digit(16)?;
        Some(value.checked_mul(16)? | u64::from(digit))
    })
}

/// A decimal number such as `12`, `12.`, `0.026214` or `2.6e-2` in units of `10^-places`, exactly;
/// digits beyond are rounded half up.
///
/// Never through a float: one of 64 bits loses nanoseconds after 104 days, one of 32 bits loses
/// microseconds at once.
#[inline]
pub(crate) fn decimal(field: &[u8], places: usize) -> Option<u64> {
    number(field, places, Rounding::HalfUp)
}

/// The treatment of digits beyond the last place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    HalfUp,
    /// There is no number, unless all are 0.
    Refused,
}

/// A number of digits with at most a point and an exponent, in units of `10^-places`.
fn number(field: &[u8], places: usize, rounding: Rounding) -> Option<u64> {
    let (mantissa, exponent) = match field.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&field[..at], exponent(&field[at + 1..])?),
        None => (field, 0),
    };
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let whole = &mantissa[..point];
    let fraction = mantissa.get(point + 1..).unwrap_or_default();
    if whole.is_empty() {
        return None;
    }
    let kept = i64::try_from(point).ok()? + i64::try_from(places).ok()? + exponent;
    let mut value = 0u64;
    let mut place = 0;
    for &byte in whole.iter().chain(fraction) {
        let digit = digit(byte)?;
        if place < kept {
            value = value.checked_mul(10)?.checked_add(digit)?;
        } else if rounding == Rounding::Refused {
            (digit == 0).then_some(())?;
        } else if place == kept && digit >= 5 {
            value = value.checked_add(1)?;
        }
        place += 1;
    }
    while place < kept && value > 0 {
        value = value.checked_mul(10)?;
        place += 1;
    }
    Some(value)
}

/// The exponent of a number, without its `e`.
fn exponent(field: &[u8]) -> Option<i64> {
    let (sign, digits) = match field.split_first()? {
        (b'-', digits) => (-1, digits),
        (b'+', digits) => (1, digits),
        _ => (1, field),
    };
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let value = std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse::<u16>().ok()?;
    Some(sign * i64::from(value))
}

fn digit(byte: u8) -> Option<u64> {
    byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
}

/// The operation that a word names, in any case.
pub(super) fn operation(word: &[u8]) -> Option<Op> {
    const WORDS: [(&str, Op); 17] = [
        ("r", Op::Read),
        ("w", Op::Write),
        ("read", Op::Read),
        ("write", Op::Write),
        ("rd", Op::Read),
        ("wr", Op::Write),
        ("d", Op::Trim),
        ("t", Op::Trim),
        ("trim", Op::Trim),
        ("discard", Op::Trim),
        ("unmap", Op::Trim),
        ("flush", Op::Flush),
        ("append", Op::Append),
        ("reset", Op::Reset),
        ("finish", Op::Finish),
        ("open", Op::Open),
        ("close", Op::Close),
    ];
    let known = WORDS.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(word));
    known.map(|(_, op)| *op)
}

/// A row in bytes, checked: no length is dropped, no address of any drive is an error.
pub(super) fn row_of_bytes(
    time_ns: u64,
    device: u32,
    op: Op,
    offset_bytes: u64,
    bytes: u64,
) -> Result<Row, &'static str> {
    if bytes == 0 && !op.is_of_zone() {
        return Ok(Row::Drop(DropReason::ZeroLength));
    }
    if offset_bytes >= ADDRESS_BYTES_MAX {
        return Err("the address must be below 2^48 sectors, beyond which no drive reaches");
    }
    // Widening to whole sectors must still fit 32 bits.
    match u32::try_from(bytes) {
        Ok(bytes) if bytes <= u32::MAX - 2 * SECTOR_BYTES as u32 => {
            let raw = RawRequest { time_ns, device, op, offset_bytes, bytes, fua: false };
            Ok(Row::Request(raw))
        }
        _ => Err("the length must be below 4 GiB"),
    }
}

/// Returns the row of a flush, which has no address.
pub(super) fn flush(time_ns: u64, device: u32) -> Row {
    let op = Op::Flush;
    Row::Request(RawRequest { time_ns, device, op, offset_bytes: 0, bytes: 0, fua: false })
}

/// The times of rows that have none: one after the other, at equal distances from 0.
pub(super) struct Rhythm {
    interval_ns: u64,
    rows: u64,
}

impl Rhythm {
    pub(super) fn new(interval: Dur) -> Rhythm {
        Rhythm { interval_ns: interval.ns(), rows: 0 }
    }

    /// The time of the next row.
    pub(super) fn next_ns(&mut self) -> Result<u64, &'static str> {
        let time_ns = self.rows.checked_mul(self.interval_ns);
        self.rows += 1;
        time_ns.ok_or("the times must be below 584 years; row_interval_us must be smaller")
    }
}

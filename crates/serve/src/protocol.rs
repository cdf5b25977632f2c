//! The words of the NBD protocol: numbers, requests, replies.
//!
//! *Source:* the NBD project's `doc/proto.md`, as of 2024.

/// The server's first word.
pub const SERVER_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Its second, and the first of every option: `IHAVEOPT`.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// The first word of the reply to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

/// Handshake flags of both sides: fixed newstyle, and no padding after an export's name.
pub const FIXED_NEWSTYLE: u16 = 1;
pub const NO_ZEROES: u16 = 2;

/// What can be sent in a transmission, as flags of the export: flags are there, flush, forced unit
/// access, trim, zeroes, no fragments, several connections.
const HAS_FLAGS: u16 = 1;
const SEND_FLUSH: u16 = 1 << 2;
const SEND_FUA: u16 = 1 << 3;
const SEND_TRIM: u16 = 1 << 5;
const SEND_WRITE_ZEROES: u16 = 1 << 6;
const SEND_DF: u16 = 1 << 7;
const CAN_MULTI_CONN: u16 = 1 << 8;

/// Flags of a command.
pub const FLAG_FUA: u16 = 1;
pub const FLAG_NO_HOLE: u16 = 1 << 1;
pub const FLAG_DF: u16 = 1 << 2;
pub const FLAG_REQ_ONE: u16 = 1 << 3;

/// What is said of a stretch of the drive in the context `base:allocation`: it takes up no room,
/// it reads as zeros.
pub const STATE_HOLE: u32 = 1;
pub const STATE_ZERO: u32 = 1 << 1;
/// The context, and the number that it has in replies.
pub const ALLOCATION: &[u8] = b"base:allocation";
pub const ALLOCATION_ID: u32 = 1;

/// Errors, as replies have them.
pub const EIO: u32 = 5;
pub const EINVAL: u32 = 22;
pub const ENOSPC: u32 = 28;

/// Bytes of a request without its data.
pub const REQUEST_BYTES: usize = 28;
/// Longest read or write: what the protocol lets every client take for granted.
pub const PAYLOAD_BYTES_MAX: u32 = 32 << 20;
/// Least and preferred length of a request, as advertised; any length is served.
pub const BLOCK_BYTES_MIN: u32 = 512;
pub const BLOCK_BYTES_PREFERRED: u32 = 4096;

/// What a command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Disconnect,
    Flush,
    Trim,
    WriteZeroes,
    BlockStatus,
    /// One that was not offered.
    Unknown,
}

/// A command as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub kind: Kind,
    pub flags: u16,
    pub cookie: u64,
    pub offset: u64,
    pub bytes: u32,
}

impl Request {
    /// The request at the beginning of `data`, which has `REQUEST_BYTES`; `None`: it is none.
    pub fn parse(data: &[u8; REQUEST_BYTES]) -> Option<Request> {
        if number(data, 0, 4) != u64::from(REQUEST_MAGIC) {
            return None;
        }
        Some(Request {
            flags: number(data, 4, 2) as u16,
            kind: match number(data, 6, 2) {
                0 => Kind::Read,
                1 => Kind::Write,
                2 => Kind::Disconnect,
                3 => Kind::Flush,
                4 => Kind::Trim,
                6 => Kind::WriteZeroes,
                7 => Kind::BlockStatus,
                _ => Kind::Unknown,
            },
            cookie: number(data, 8, 8),
            offset: number(data, 16, 8),
            bytes: number(data, 24, 4) as u32,
        })
    }

    /// The error of a request that cannot be served by a drive of this length; 0 if it can.
    pub fn error(&self, drive_bytes: u64) -> u32 {
        let allowed = match self.kind {
            Kind::Read => FLAG_FUA | FLAG_DF,
            Kind::Write | Kind::Trim | Kind::Flush => FLAG_FUA,
            Kind::WriteZeroes => FLAG_FUA | FLAG_NO_HOLE,
            Kind::BlockStatus if self.bytes > 0 => FLAG_REQ_ONE,
            Kind::BlockStatus => return EINVAL,
            Kind::Disconnect | Kind::Unknown => return EINVAL,
        };
        let has_payload = matches!(self.kind, Kind::Read | Kind::Write);
        if self.flags & !allowed != 0 || has_payload && self.bytes > PAYLOAD_BYTES_MAX {
            return EINVAL;
        }
        let end = self.offset.checked_add(u64::from(self.bytes));
        if self.kind != Kind::Flush && end.is_none_or(|end| end > drive_bytes) {
            let writes = matches!(self.kind, Kind::Write | Kind::WriteZeroes);
            return if writes { ENOSPC } else { EINVAL };
        }
        0
    }
}

/// A stretch of the drive that holds data, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub bytes: u32,
    pub is_data: bool,
}

/// A big-endian number of up to 8 bytes.
pub fn number(data: &[u8], from: usize, bytes: usize) -> u64 {
    data[from..from + bytes].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The export's flags; without structured replies there are no fragments that one could forbid.
pub fn export_flags(structured: bool) -> u16 {
    let flags = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_TRIM | SEND_WRITE_ZEROES | CAN_MULTI_CONN;
    if structured { flags | SEND_DF } else { flags }
}

/// Appends the reply to an option.
pub fn push_option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}

/// Appends a reply without data.
pub fn push_simple_reply(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(error.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Appends what stands before the data of a read, all of it in one piece.
pub fn push_data_head(out: &mut Vec<u8>, structured: bool, cookie: u64, offset: u64, bytes: u32) {
    /// The last piece of a reply, and a piece that holds data.
    const DONE: u16 = 1;
    const OFFSET_DATA: u16 = 1;
    if !structured {
        push_simple_reply(out, cookie, 0);
        return;
    }
    push_chunk_head(out, DONE, OFFSET_DATA, cookie, 8 + bytes);
    out.extend(offset.to_be_bytes());
}

/// Appends the reply to a read that has failed or was of nothing.
pub fn push_read_error(out: &mut Vec<u8>, structured: bool, cookie: u64, error: u32) {
    const DONE: u16 = 1;
    const NONE: u16 = 0;
    const ERROR: u16 = 1 << 15 | 1;
    if !structured {
        push_simple_reply(out, cookie, error);
    } else if error == 0 {
        push_chunk_head(out, DONE, NONE, cookie, 0);
    } else {
        push_chunk_head(out, DONE, ERROR, cookie, 6);
        out.extend(error.to_be_bytes());
        // No message: the number says it.
        out.extend(0u16.to_be_bytes());
    }
}

/// Appends where the drive holds data, in stretches that follow each other.
pub fn push_block_status(out: &mut Vec<u8>, cookie: u64, extents: &[Extent]) {
    const DONE: u16 = 1;
    const BLOCK_STATUS: u16 = 5;
    push_chunk_head(out, DONE, BLOCK_STATUS, cookie, 4 + 8 * extents.len() as u32);
    out.extend(ALLOCATION_ID.to_be_bytes());
    for extent in extents {
        let flags = if extent.is_data { 0 } else { STATE_HOLE | STATE_ZERO };
        out.extend(extent.bytes.to_be_bytes());
        out.extend(flags.to_be_bytes());
    }
}

fn push_chunk_head(out: &mut Vec<u8>, flags: u16, kind: u16, cookie: u64, bytes: u32) {
    out.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
    out.extend(flags.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(cookie.to_be_bytes());
    out.extend(bytes.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: Kind, offset: u64, bytes: u32) -> Request {
        Request { kind, flags: 0, cookie: 7, offset, bytes }
    }

    #[test]
    fn a_request_is_read_as_the_protocol_has_it() {
        let mut data = [0; REQUEST_BYTES];
        data[..8].copy_from_slice(&[0x25, 0x60, 0x95, 0x13, 0, 1, 0, 1]);
        data[8..16].copy_from_slice(b"cookie!!");
        data[22..24].copy_from_slice(&[2, 1]);
        data[26] = 16;
        let expected = Request {
            kind: Kind::Write,
            flags: FLAG_FUA,
            cookie: u64::from_be_bytes(*b"cookie!!"),
            offset: 513,
            bytes: 4096,
        };
        assert_eq!(Request::parse(&data), Some(expected));
        data[0] = 0;
        assert_eq!(Request::parse(&data), None);
    }

    #[test]
    fn what_lies_outside_or_was_not_offered_is_refused() {
        let drive_bytes = 1 << 20;
        for (request, error) in [
            (request(Kind::Read, 0, 4096), 0),
            (request(Kind::Read, drive_bytes - 1, 1), 0),
            (request(Kind::Read, drive_bytes - 1, 2), EINVAL),
            (request(Kind::Write, drive_bytes, 1), ENOSPC),
            (request(Kind::Write, u64::MAX, 4096), ENOSPC),
            (request(Kind::Trim, u64::MAX - 1, u32::MAX), EINVAL),
            (request(Kind::WriteZeroes, 0, u32::MAX), ENOSPC),
            (request(Kind::Read, 0, PAYLOAD_BYTES_MAX + 1), EINVAL),
            (request(Kind::Write, 0, u32::MAX), EINVAL),
            (request(Kind::Flush, u64::MAX, 0), 0),
            (request(Kind::Unknown, 0, 0), EINVAL),
            (Request { flags: FLAG_NO_HOLE, ..request(Kind::Write, 0, 1) }, EINVAL),
            (Request { flags: FLAG_NO_HOLE, ..request(Kind::WriteZeroes, 0, 1) }, 0),
            (request(Kind::BlockStatus, 0, u32::MAX), EINVAL),
            (request(Kind::BlockStatus, 0, 0), EINVAL),
            (Request { flags: FLAG_REQ_ONE, ..request(Kind::BlockStatus, 512, 1) }, 0),
            (Request { flags: FLAG_FUA, ..request(Kind::BlockStatus, 512, 1) }, EINVAL),
            (Request { flags: 1 << 4, ..request(Kind::WriteZeroes, 0, 1) }, EINVAL),
        ] {
            assert_eq!(request.error(drive_bytes), error, "{request:?}");
        }
    }
}

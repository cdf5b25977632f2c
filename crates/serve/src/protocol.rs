//! Encoding of the NBD protocol: constants, requests, replies.
//!
//! *Source:* the NBD project's `doc/proto.md`, as of 2024, with its extension of extended headers.

/// The server's first magic number.
pub const SERVER_MAGIC: u64 = 0x4e42_444d_4147_4943;
/// Its second, and that of every option: `IHAVEOPT`.
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// The magic number of the reply to an option.
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;
const EXTENDED_REQUEST_MAGIC: u32 = 0x21e4_1c71;
const EXTENDED_REPLY_MAGIC: u32 = 0x6e8a_278c;

/// Handshake flags of both sides: fixed newstyle, and no padding after an export's name.
pub const FIXED_NEWSTYLE: u16 = 1;
pub const NO_ZEROES: u16 = 2;

/// Transmission flags of the export: flags present, flush, forced unit access, trim, zeroes, no
/// fragments, several connections.
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
/// With extended headers: the length is that of the payload.
const FLAG_PAYLOAD: u16 = 1 << 5;

/// Flags of an extent in the context `base:allocation`: it is not allocated, it reads as zeros.
const STATE_HOLE: u32 = 1;
const STATE_ZERO: u32 = 1 << 1;
/// The context, and its id in replies.
pub const ALLOCATION: &[u8] = b"base:allocation";
pub const ALLOCATION_ID: u32 = 1;

/// Error codes of replies.
pub const EIO: u32 = 5;
pub const EINVAL: u32 = 22;
pub const ENOSPC: u32 = 28;

/// The longest request without its payload.
pub const REQUEST_BYTES_MAX: usize = 32;
/// Longest read or write: the size that the protocol guarantees to clients.
pub const PAYLOAD_BYTES_MAX: u32 = 32 << 20;
/// Minimum and preferred length of a request, as advertised; any length is served.
pub const BLOCK_BYTES_MIN: u32 = 512;
pub const BLOCK_BYTES_PREFERRED: u32 = 4096;

/// The negotiated form of requests and replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headers {
    /// Lengths have 32 bits, and replies are simple.
    Simple,
    /// Replies with data are structured.
    Structured,
    /// All replies are structured, and lengths have 64 bits.
    Extended,
}

impl Headers {
    /// Bytes of a request without its payload.
    pub fn request_bytes(self) -> usize {
        if self == Headers::Extended { REQUEST_BYTES_MAX } else { 28 }
    }
}

/// The type of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Disconnect,
    Flush,
    Trim,
    WriteZeroes,
    BlockStatus,
    /// An unknown type.
    Unknown,
}

/// A received command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub kind: Kind,
    pub flags: u16,
    pub cookie: u64,
    pub offset: u64,
    pub bytes: u64,
}

impl Request {
    /// Parses the request at the start of `data`, which has the length of one; returns it with the
    /// length of its payload, or `None` if either is invalid.
    pub fn parse(data: &[u8], headers: Headers) -> Option<(Request, u64)> {
        let is_extended = headers == Headers::Extended;
        let magic = if is_extended { EXTENDED_REQUEST_MAGIC } else { REQUEST_MAGIC };
        if number(data, 0, 4) != u64::from(magic) {
            return None;
        }
        let mut request = Request {
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
            bytes: number(data, 24, headers.request_bytes() - 24),
        };
        let is_told = is_extended && request.flags & FLAG_PAYLOAD != 0;
        let has_payload = is_told || request.kind == Kind::Write;
        let payload_bytes = if has_payload { request.bytes } else { 0 };
        if is_extended {
            // Without the flag the payload is unknown, and beyond the limit it is not received.
            if has_payload && !is_told || payload_bytes > u64::from(PAYLOAD_BYTES_MAX) {
                return None;
            }
            if request.kind == Kind::Write {
                request.flags &= !FLAG_PAYLOAD;
            }
        }
        Some((request, payload_bytes))
    }

    /// The error of a request that a drive of this length cannot serve; 0 if it can.
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
        if self.flags & !allowed != 0 || has_payload && self.bytes > u64::from(PAYLOAD_BYTES_MAX) {
            return EINVAL;
        }
        let end = self.offset.checked_add(self.bytes);
        if self.kind != Kind::Flush && end.is_none_or(|end| end > drive_bytes) {
            let writes = matches!(self.kind, Kind::Write | Kind::WriteZeroes);
            return if writes { ENOSPC } else { EINVAL };
        }
        0
    }
}

/// The state of an extent in the context `base:allocation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Allocated.
    Data,
    /// Allocated, and reads as zeros.
    Zero,
    /// Not allocated, and reads as zeros.
    Hole,
}

impl Allocation {
    fn flags(self) -> u32 {
        match self {
            Allocation::Data => 0,
            Allocation::Zero => STATE_ZERO,
            Allocation::Hole => STATE_HOLE | STATE_ZERO,
        }
    }
}

/// A range of the drive in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub bytes: u64,
    pub allocation: Allocation,
}

/// A big-endian number of up to 8 bytes.
pub fn number(data: &[u8], from: usize, bytes: usize) -> u64 {
    data[from..from + bytes].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The transmission flags of the export; replies in one piece need no flag to forbid fragments.
pub fn export_flags(headers: Headers) -> u16 {
    let flags = HAS_FLAGS | SEND_FLUSH | SEND_FUA | SEND_TRIM | SEND_WRITE_ZEROES | CAN_MULTI_CONN;
    if headers == Headers::Simple { flags } else { flags | SEND_DF }
}

/// Appends the reply to an option.
pub fn push_option_reply(out: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    out.extend(OPTION_REPLY_MAGIC.to_be_bytes());
    out.extend(option.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
}

/// Flag of the last chunk of a reply.
const DONE: u16 = 1;
/// Types of chunks: none, data, block status, error.
const NONE: u16 = 0;
const OFFSET_DATA: u16 = 1;
const BLOCK_STATUS: u16 = 5;
const BLOCK_STATUS_EXTENDED: u16 = 6;
const REPLY_ERROR: u16 = 1 << 15 | 1;

/// Appends the whole reply to a request that returns no data.
pub fn push_reply(out: &mut Vec<u8>, headers: Headers, request: &Request, error: u32) {
    // A client that expects data also expects a chunk, in structured replies.
    let has_pieces = match headers {
        Headers::Simple => false,
        Headers::Structured => matches!(request.kind, Kind::Read | Kind::BlockStatus),
        Headers::Extended => true,
    };
    if !has_pieces {
        push_simple_reply(out, request.cookie, error);
    } else if error == 0 {
        push_piece_head(out, headers, NONE, request, 0);
    } else {
        push_piece_head(out, headers, REPLY_ERROR, request, 6);
        out.extend(error.to_be_bytes());
        // No message: the number suffices.
        out.extend(0u16.to_be_bytes());
    }
}

/// Appends the head of a read's reply, with all data in one chunk.
pub fn push_data_head(out: &mut Vec<u8>, headers: Headers, request: &Request) {
    if headers == Headers::Simple {
        return push_simple_reply(out, request.cookie, 0);
    }
    push_piece_head(out, headers, OFFSET_DATA, request, 8 + request.bytes as u32);
    out.extend(request.offset.to_be_bytes());
}

/// Appends the block status, in consecutive extents.
pub fn push_block_status(
    out: &mut Vec<u8>,
    headers: Headers,
    request: &Request,
    extents: &[Extent],
) {
    let count = extents.len() as u32;
    if headers == Headers::Extended {
        push_piece_head(out, headers, BLOCK_STATUS_EXTENDED, request, 8 + 16 * count);
        out.extend(ALLOCATION_ID.to_be_bytes());
        out.extend(count.to_be_bytes());
        for extent in extents {
            out.extend(extent.bytes.to_be_bytes());
            out.extend(u64::from(extent.allocation.flags()).to_be_bytes());
        }
        return;
    }
    push_piece_head(out, headers, BLOCK_STATUS, request, 4 + 8 * count);
    out.extend(ALLOCATION_ID.to_be_bytes());
    for extent in extents {
        let bytes = u32::try_from(extent.bytes).expect("no longer than what was asked about");
        out.extend(bytes.to_be_bytes());
        out.extend(extent.allocation.flags().to_be_bytes());
    }
}

fn push_simple_reply(out: &mut Vec<u8>, cookie: u64, error: u32) {
    out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(error.to_be_bytes());
    out.extend(cookie.to_be_bytes());
}

/// Appends the head of the only chunk of a reply, of which `bytes` bytes follow.
fn push_piece_head(out: &mut Vec<u8>, headers: Headers, kind: u16, request: &Request, bytes: u32) {
    let is_extended = headers == Headers::Extended;
    let magic = if is_extended { EXTENDED_REPLY_MAGIC } else { STRUCTURED_REPLY_MAGIC };
    out.extend(magic.to_be_bytes());
    out.extend(DONE.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(request.cookie.to_be_bytes());
    if is_extended {
        out.extend(request.offset.to_be_bytes());
        out.extend(u64::from(bytes).to_be_bytes());
    } else {
        out.extend(bytes.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: Kind, offset: u64, bytes: u64) -> Request {
        Request { kind, flags: 0, cookie: 7, offset, bytes }
    }

    #[test]
    fn a_request_is_read_as_the_protocol_has_it() {
        let mut data = [0; 28];
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
        assert_eq!(Request::parse(&data, Headers::Simple), Some((expected, 4096)));
        assert_eq!(Request::parse(&data, Headers::Structured), Some((expected, 4096)));
        data[0] = 0;
        assert_eq!(Request::parse(&data, Headers::Simple), None);
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
            (request(Kind::Trim, u64::MAX - 1, u64::from(u32::MAX)), EINVAL),
            (request(Kind::WriteZeroes, 0, u64::MAX), ENOSPC),
            (request(Kind::Read, 0, u64::from(PAYLOAD_BYTES_MAX) + 1), EINVAL),
            (request(Kind::Write, 0, u64::from(u32::MAX)), EINVAL),
            (request(Kind::Flush, u64::MAX, 0), 0),
            (request(Kind::Unknown, 0, 0), EINVAL),
            (Request { flags: FLAG_NO_HOLE, ..request(Kind::Write, 0, 1) }, EINVAL),
            (Request { flags: FLAG_NO_HOLE, ..request(Kind::WriteZeroes, 0, 1) }, 0),
            (request(Kind::BlockStatus, 0, u64::MAX), EINVAL),
            (request(Kind::BlockStatus, 0, 0), EINVAL),
            (Request { flags: FLAG_REQ_ONE, ..request(Kind::BlockStatus, 512, 1) }, 0),
            (Request { flags: FLAG_FUA, ..request(Kind::BlockStatus, 512, 1) }, EINVAL),
            (Request { flags: 1 << 4, ..request(Kind::WriteZeroes, 0, 1) }, EINVAL),
            (Request { flags: FLAG_PAYLOAD, ..request(Kind::Write, 0, 1) }, EINVAL),
        ] {
            assert_eq!(request.error(drive_bytes), error, "{request:?}");
        }
    }

    /// An extended request with these flags, this type and this length.
    fn extended(flags: u16, kind: u16, bytes: u64) -> Option<(Request, u64)> {
        let mut data = vec![0x21, 0xe4, 0x1c, 0x71];
        data.extend(flags.to_be_bytes());
        data.extend(kind.to_be_bytes());
        data.extend(*b"cookie!!");
        data.extend([0, 0, 0, 1, 0, 0, 0, 2]);
        data.extend(bytes.to_be_bytes());
        Request::parse(&data, Headers::Extended)
    }

    #[test]
    fn an_extended_request_has_a_length_of_64_bits_and_says_what_follows() {
        let (trim, payload_bytes) = extended(1, 4, 5 << 32).expect("a trim");
        let told = (trim.kind, trim.flags, trim.bytes, payload_bytes);
        assert_eq!(told, (Kind::Trim, FLAG_FUA, 5 << 32, 0));
        assert_eq!((trim.cookie.to_be_bytes(), trim.offset), (*b"cookie!!", (1 << 32) + 2));
        let (write, payload_bytes) = extended(33, 1, 4096).expect("a write");
        assert_eq!((write.flags, write.bytes, payload_bytes), (FLAG_FUA, 4096, 4096));
        // A payload that no trim has is skipped, and the trim is refused.
        let (trim, payload_bytes) = extended(32, 4, 4096).expect("a trim");
        assert_eq!((payload_bytes, trim.error(1 << 40)), (4096, EINVAL));
        assert_eq!(extended(0, 1, 4096), None, "a write that does not tell of its data");
        assert_eq!(extended(32, 1, (32 << 20) + 1), None, "more than the longest data");
        assert_eq!(extended(32, 99, 1 << 40), None);
        let mut compact = vec![0x25, 0x60, 0x95, 0x13];
        compact.resize(REQUEST_BYTES_MAX, 0);
        assert_eq!(Request::parse(&compact, Headers::Extended), None);
    }

    #[test]
    fn extended_replies_are_as_the_protocol_has_them() {
        let request = Request { cookie: 0x0102, offset: 0x0304, ..request(Kind::Read, 0, 5) };
        let pushed = |push: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            push(&mut out);
            out
        };
        // Magic, flags and kind, cookie, offset, length.
        let head = |kind: [u8; 2], length: u8| {
            let [high, low] = kind;
            [
                &[0x6e, 0x8a, 0x27, 0x8c, 0, 1, high, low][..],
                &[0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4],
                &[0, 0, 0, 0, 0, 0, 0, length],
            ]
            .concat()
        };
        let done = pushed(&|out| push_reply(out, Headers::Extended, &request, 0));
        assert_eq!(done, head([0, 0], 0));
        let failed = pushed(&|out| push_reply(out, Headers::Extended, &request, EIO));
        assert_eq!(failed, [head([0x80, 1], 6), vec![0, 0, 0, 5, 0, 0]].concat());
        let data = pushed(&|out| push_data_head(out, Headers::Extended, &request));
        assert_eq!(data, [head([0, 1], 13), vec![0, 0, 0, 0, 0, 0, 3, 4]].concat());
        let extents = [
            Extent { bytes: 6 << 32, allocation: Allocation::Hole },
            Extent { bytes: 7, allocation: Allocation::Data },
            Extent { bytes: 8, allocation: Allocation::Zero },
        ];
        let status = pushed(&|out| push_block_status(out, Headers::Extended, &request, &extents));
        let expected = [
            head([0, 6], 56),
            vec![0, 0, 0, 1, 0, 0, 0, 3],
            vec![0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3],
            vec![0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0],
            vec![0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 2],
        ];
        assert_eq!(status, expected.concat());
    }
}

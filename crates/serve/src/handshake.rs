//! The handshake of the NBD protocol: option haggling, up to the first request.

use crate::protocol::{
    ALLOCATION, ALLOCATION_ID, BLOCK_BYTES_MIN, BLOCK_BYTES_PREFERRED, FIXED_NEWSTYLE, Headers,
    NO_ZEROES, OPTION_MAGIC, PAYLOAD_BYTES_MAX, SERVER_MAGIC, export_flags, number,
    push_option_reply,
};

/// Limit on the data of an option; a client with more is disconnected.
const OPTION_BYTES_MAX: usize = 8192;
/// A whole option.
pub const OPTION_BYTES: usize = 16 + OPTION_BYTES_MAX;
/// Bytes of answers after which the client must take them first.
const ANSWER_BYTES: usize = 4096;

/// Options.
const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const LIST: u32 = 3;
const START_TLS: u32 = 5;
const INFO: u32 = 6;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;
const LIST_META_CONTEXT: u32 = 9;
const SET_META_CONTEXT: u32 = 10;
const EXTENDED_HEADERS: u32 = 11;

/// Replies to options.
const ACK: u32 = 1;
const SERVER: u32 = 2;
const INFORMATION: u32 = 3;
const META_CONTEXT: u32 = 4;
const ERROR: u32 = 1 << 31;
const UNSUPPORTED: u32 = ERROR + 1;
const POLICY: u32 = ERROR + 2;
const INVALID: u32 = ERROR + 3;
const TLS_REQUIRED: u32 = ERROR + 5;
const UNKNOWN: u32 = ERROR + 6;
const EXTENDED_HEADERS_REQUIRED: u32 = ERROR + 10;

/// Kinds of information.
const INFO_EXPORT: u16 = 0;
const INFO_NAME: u16 = 1;
const INFO_DESCRIPTION: u16 = 2;
const INFO_BLOCK_SIZE: u16 = 3;

/// The one export, whose name is empty.
#[derive(Clone, Debug)]
pub struct Export {
    pub bytes: u64,
    pub description: String,
}

/// The outcome of a piece of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More input is needed.
    More,
    /// The next bytes belong to TLS.
    StartTls,
    /// Requests follow.
    Transmission {
        /// The form of requests and replies.
        headers: Headers,
        /// Block status was negotiated.
        tells_allocation: bool,
    },
    /// Disconnect, once the answers are sent.
    Close,
}

/// The state of a handshake.
#[derive(Clone, Debug)]
pub struct Handshake {
    /// `None` until the client's flags arrive.
    no_zeroes: Option<bool>,
    headers: Headers,
    tells_allocation: bool,
    security: HandshakeSecurity,
}

/// The TLS state of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeSecurity {
    /// Not offered.
    Plain,
    /// Required, and not started.
    TlsWanted,
    /// Started.
    TlsStarted,
}

/// The greeting of the server.
pub fn greeting() -> [u8; 18] {
    let mut greeting = [0; 18];
    greeting[..8].copy_from_slice(&SERVER_MAGIC.to_be_bytes());
    greeting[8..16].copy_from_slice(&OPTION_MAGIC.to_be_bytes());
    greeting[16..].copy_from_slice(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    greeting
}

impl Handshake {
    pub fn new(security: HandshakeSecurity) -> Handshake {
        Handshake { no_zeroes: None, headers: Headers::Simple, tells_allocation: false, security }
    }

    /// Records that TLS has started; earlier options are forgotten.
    pub fn tls_started(&mut self) {
        (self.headers, self.tells_allocation) = (Headers::Simple, false);
        self.security = HandshakeSecurity::TlsStarted;
    }

    /// Parses input and appends answers; returns the number of bytes consumed and the outcome.
    ///
    /// Stops early once there are many answers.
    pub fn feed(&mut self, data: &[u8], export: &Export, out: &mut Vec<u8>) -> (usize, Step) {
        let mut taken = 0;
        if self.no_zeroes.is_none() {
            if data.len() < 4 {
                return (0, Step::More);
            }
            let flags = number(data, 0, 4);
            if flags & !u64::from(FIXED_NEWSTYLE | NO_ZEROES) != 0 {
                return (4, Step::Close);
            }
            self.no_zeroes = Some(flags & u64::from(NO_ZEROES) != 0);
            taken = 4;
        }
        loop {
            let rest = &data[taken..];
            if rest.len() < 16 {
                return (taken, Step::More);
            }
            let (option, bytes) = (number(rest, 8, 4) as u32, number(rest, 12, 4) as usize);
            if number(rest, 0, 8) != OPTION_MAGIC || bytes > OPTION_BYTES_MAX {
                return (data.len(), Step::Close);
            }
            let Some(content) = rest.get(16..16 + bytes) else { return (taken, Step::More) };
            taken += 16 + bytes;
            match self.option(option, content, export, out) {
                Step::More if out.len() < ANSWER_BYTES => {}
                step => return (taken, step),
            }
        }
    }

    fn option(&mut self, option: u32, data: &[u8], export: &Export, out: &mut Vec<u8>) -> Step {
        let mut reply = |kind, data: &[u8]| push_option_reply(out, option, kind, data);
        if option == ABORT {
            reply(ACK, &[]);
            return Step::Close;
        }
        if self.security == HandshakeSecurity::TlsWanted && option != START_TLS {
            if option == EXPORT_NAME {
                return Step::Close;
            }
            reply(TLS_REQUIRED, &[]);
            return Step::More;
        }
        match option {
            EXPORT_NAME if data.is_empty() && self.headers != Headers::Extended => {
                return self.old_go(export, out);
            }
            // This option has no error reply.
            EXPORT_NAME => return Step::Close,
            INFO | GO => return self.go(option, data, export, out),
            LIST_META_CONTEXT | SET_META_CONTEXT => self.contexts(option, data, out),
            LIST | START_TLS | STRUCTURED_REPLY | EXTENDED_HEADERS if !data.is_empty() => {
                reply(INVALID, &[]);
            }
            LIST => {
                // The length of a name, and the name, which is empty.
                reply(SERVER, &[0; 4]);
                reply(ACK, &[]);
            }
            START_TLS => match self.security {
                HandshakeSecurity::Plain => reply(POLICY, &[]),
                HandshakeSecurity::TlsStarted => reply(INVALID, &[]),
                HandshakeSecurity::TlsWanted => {
                    reply(ACK, &[]);
                    return Step::StartTls;
                }
            },
            STRUCTURED_REPLY if self.headers == Headers::Extended => {
                reply(EXTENDED_HEADERS_REQUIRED, &[]);
            }
            EXTENDED_HEADERS if self.headers == Headers::Extended => reply(INVALID, &[]),
            STRUCTURED_REPLY | EXTENDED_HEADERS => {
                let extended = option == EXTENDED_HEADERS;
                self.headers = if extended { Headers::Extended } else { Headers::Structured };
                self.tells_allocation = false;
                reply(ACK, &[]);
            }
            _ => reply(UNSUPPORTED, &[]),
        }
        Step::More
    }

    /// Lists or negotiates the metadata contexts of a client's queries.
    fn contexts(&mut self, option: u32, data: &[u8], out: &mut Vec<u8>) {
        let mut reply = |kind, data: &[u8]| push_option_reply(out, option, kind, data);
        let sets = option == SET_META_CONTEXT;
        // Earlier contexts are forgotten, even if this fails.
        self.tells_allocation &= !sets;
        let Some((name, queries)) =
            name_and_queries(data).filter(|_| self.headers != Headers::Simple)
        else {
            return reply(INVALID, &[]);
        };
        if !name.is_empty() {
            return reply(UNKNOWN, &[]);
        }
        let is_named = |query: &&[u8]| *query == ALLOCATION || !sets && *query == b"base:";
        if queries.iter().any(is_named) || !sets && queries.is_empty() {
            let id = if sets { ALLOCATION_ID } else { 0 };
            reply(META_CONTEXT, &[&id.to_be_bytes()[..], ALLOCATION].concat());
            self.tells_allocation |= sets;
        }
        reply(ACK, &[]);
    }

    fn transmission(&self) -> Step {
        let Handshake { headers, tells_allocation, .. } = *self;
        Step::Transmission { headers, tells_allocation }
    }

    fn old_go(&self, export: &Export, out: &mut Vec<u8>) -> Step {
        out.extend(export.bytes.to_be_bytes());
        out.extend(export_flags(self.headers).to_be_bytes());
        if self.no_zeroes == Some(false) {
            out.extend([0; 124]);
        }
        self.transmission()
    }

    fn go(&self, option: u32, data: &[u8], export: &Export, out: &mut Vec<u8>) -> Step {
        let mut reply = |kind, data: &[u8]| push_option_reply(out, option, kind, data);
        let Some((name, wanted)) = name_and_wishes(data) else {
            reply(INVALID, &[]);
            return Step::More;
        };
        if !name.is_empty() {
            reply(UNKNOWN, &[]);
            return Step::More;
        }
        let mut information = |kind: u16, data: &[u8]| {
            reply(INFORMATION, &[&kind.to_be_bytes(), data].concat());
        };
        let flags = export_flags(self.headers).to_be_bytes();
        information(INFO_EXPORT, &[&export.bytes.to_be_bytes()[..], &flags].concat());
        let wants = |kind: u16| wanted.chunks(2).any(|wish| wish == kind.to_be_bytes());
        if wants(INFO_NAME) {
            information(INFO_NAME, &[]);
        }
        if wants(INFO_DESCRIPTION) {
            information(INFO_DESCRIPTION, export.description.as_bytes());
        }
        if wants(INFO_BLOCK_SIZE) {
            let sizes = [BLOCK_BYTES_MIN, BLOCK_BYTES_PREFERRED, PAYLOAD_BYTES_MAX];
            information(INFO_BLOCK_SIZE, &sizes.map(u32::to_be_bytes).concat());
        }
        reply(ACK, &[]);
        if option == GO { self.transmission() } else { Step::More }
    }
}

/// Returns the name of the export, and queries for contexts; `None` if malformed.
fn name_and_queries(data: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (name, rest) = text_and_rest(data)?;
    let (count, mut rest) = (number(rest.get(..4)?, 0, 4), &rest[4..]);
    let mut queries = Vec::new();
    for _ in 0..count {
        let (query, after) = text_and_rest(rest)?;
        queries.push(query);
        rest = after;
    }
    rest.is_empty().then_some((name, queries))
}

/// Splits off a length-prefixed text.
fn text_and_rest(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let bytes = number(data.get(..4)?, 0, 4) as usize;
    data[4..].split_at_checked(bytes)
}

/// Returns the name of the export, and the information requests; `None` if malformed.
fn name_and_wishes(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, rest) = text_and_rest(data)?;
    let wishes = number(rest.get(..2)?, 0, 2) as usize;
    let wanted = rest.get(2..)?;
    (wanted.len() == 2 * wishes).then_some((name, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::OPTION_REPLY_MAGIC;

    fn option(option: u32, data: &[u8]) -> Vec<u8> {
        let head = [&OPTION_MAGIC.to_be_bytes()[..], &option.to_be_bytes()].concat();
        [&head[..], &(data.len() as u32).to_be_bytes(), data].concat()
    }

    fn talk(security: HandshakeSecurity, said: &[u8]) -> (Vec<u8>, usize, Step) {
        let export = Export { bytes: 1 << 20, description: "a drive".into() };
        let mut out = Vec::new();
        let (taken, step) = Handshake::new(security).feed(said, &export, &mut out);
        (out, taken, step)
    }

    #[test]
    fn every_beginning_of_a_handshake_waits_for_the_rest() {
        let go = [&3u32.to_be_bytes()[..], &option(8, &[]), &option(7, &[0, 0, 0, 0, 0, 0])];
        let said = go.concat();
        for length in 0..said.len() {
            let (_, taken, step) = talk(HandshakeSecurity::Plain, &said[..length]);
            assert!(step == Step::More && taken <= length, "{length}");
        }
        let (_, taken, step) = talk(HandshakeSecurity::Plain, &said);
        assert_eq!(
            (taken, step),
            (
                said.len(),
                Step::Transmission { headers: Headers::Structured, tells_allocation: false }
            )
        );
    }

    #[test]
    fn what_is_malformed_is_refused_without_a_panic() {
        let flags = 1u32.to_be_bytes();
        for (data, expected) in [
            (&[][..], INVALID),
            (&[0, 0, 0, 9, 0, 0], INVALID),
            (&[255, 255, 255, 255, 0, 0], INVALID),
            (&[0, 0, 0, 0, 0, 1], INVALID),
            (&[0, 0, 0, 0, 0, 0, 0], INVALID),
            (&[0, 0, 0, 1, 65, 0, 0], UNKNOWN),
        ] {
            let said = [&flags[..], &option(7, data)].concat();
            let (out, _, step) = talk(HandshakeSecurity::Plain, &said);
            assert_eq!((number(&out, 12, 4) as u32, step), (expected, Step::More), "{data:?}");
        }
        assert_eq!(talk(HandshakeSecurity::Plain, &[0, 0, 0, 4]).2, Step::Close, "an unknown flag");
        let endless = [&flags[..], &OPTION_MAGIC.to_be_bytes(), &[0, 0, 0, 3], &[255; 4]].concat();
        assert_eq!(talk(HandshakeSecurity::Plain, &endless).2, Step::Close);
    }

    #[test]
    fn a_context_is_agreed_on_only_where_it_is_known() {
        let flags = 1u32.to_be_bytes();
        let asks = |name: &[u8], queries: &[&[u8]]| {
            let mut data = [&(name.len() as u32).to_be_bytes()[..], name].concat();
            data.extend((queries.len() as u32).to_be_bytes());
            for query in queries {
                data.extend((query.len() as u32).to_be_bytes());
                data.extend(*query);
            }
            data
        };
        // Answers to option 9 or 10, then to structured replies, and the contexts agreed on.
        let answers = |code: u32, data: &[u8], structured: bool| {
            let mut said = flags.to_vec();
            if structured {
                said.extend(option(8, &[]));
            }
            said.extend(option(code, data));
            said.extend(option(7, &[0; 6]));
            let (out, _, step) = talk(HandshakeSecurity::Plain, &said);
            let mut rest = &out[if structured { 20 } else { 0 }..];
            let mut kinds = Vec::new();
            while number(rest, 8, 4) == u64::from(code) {
                let bytes = number(rest, 16, 4) as usize;
                kinds.push((number(rest, 12, 4) as u32, rest[20..20 + bytes].to_vec()));
                rest = &rest[20 + bytes..];
            }
            let Step::Transmission { tells_allocation, .. } = step else { panic!("{step:?}") };
            (kinds, tells_allocation)
        };
        let told = |id: u8| (META_CONTEXT, [&[0, 0, 0, id][..], b"base:allocation"].concat());
        let ack = (ACK, Vec::new());
        for (code, queries, expected, agreed) in [
            (10, &[&b"base:allocation"[..]][..], vec![told(1), ack.clone()], true),
            (10, &[b"qemu:dirty-bitmap:x", b"base:allocation"], vec![told(1), ack.clone()], true),
            (10, &[b"base:"], vec![ack.clone()], false),
            (10, &[], vec![ack.clone()], false),
            (9, &[], vec![told(0), ack.clone()], false),
            (9, &[b"base:"], vec![told(0), ack.clone()], false),
            (9, &[b"qemu:"], vec![ack.clone()], false),
        ] {
            let found = answers(code, &asks(b"", queries), true);
            assert_eq!(found, (expected, agreed), "{code} {queries:?}");
        }
        let good = asks(b"", &[b"base:allocation"]);
        for (data, structured, error) in [
            (good.clone(), false, INVALID),
            (asks(b"other", &[b"base:allocation"]), true, UNKNOWN),
            (good[..good.len() - 1].to_vec(), true, INVALID),
            ([&good[..], &[0]].concat(), true, INVALID),
            (vec![0, 0, 0, 0, 255, 255, 255, 255], true, INVALID),
            (vec![255; 4], true, INVALID),
        ] {
            assert_eq!(answers(10, &data, structured), (vec![(error, vec![])], false), "{data:?}");
        }
    }

    #[test]
    fn extended_headers_take_the_place_of_others_and_no_others_theirs() {
        let flags = 1u32.to_be_bytes();
        // Kinds of answers to these options, the outcome, and the outcome of an end.
        let kinds = |options: &[(u32, &[u8])], last: &[u8]| {
            let options = options.iter().flat_map(|(code, data)| option(*code, data));
            let said = [&flags[..], &options.collect::<Vec<u8>>(), last].concat();
            let (out, _, step) = talk(HandshakeSecurity::Plain, &said);
            let (mut rest, mut kinds) = (&out[..], Vec::new());
            while rest.len() >= 20 && number(rest, 0, 8) == OPTION_REPLY_MAGIC {
                kinds.push(number(rest, 12, 4) as u32);
                rest = &rest[20 + number(rest, 16, 4) as usize..];
            }
            (kinds, step)
        };
        let end = |headers| Step::Transmission { headers, tells_allocation: false };
        let go = option(7, &[0; 6]);
        let extended = end(Headers::Extended);
        assert_eq!(kinds(&[(11, &[])], &go), (vec![ACK, INFORMATION, ACK], extended));
        let both = kinds(&[(8, &[]), (11, &[])], &go);
        assert_eq!(both, (vec![ACK, ACK, INFORMATION, ACK], extended));
        let back = kinds(&[(11, &[]), (8, &[]), (11, &[])], &go);
        let refused = vec![ACK, EXTENDED_HEADERS_REQUIRED, INVALID, INFORMATION, ACK];
        assert_eq!(back, (refused, extended));
        let wrong = kinds(&[(11, &[0])], &go);
        assert_eq!(wrong, (vec![INVALID, INFORMATION, ACK], end(Headers::Simple)));
        assert_eq!(kinds(&[(11, &[])], &option(1, &[])), (vec![ACK], Step::Close));
    }

    #[test]
    fn nothing_is_told_before_tls_where_it_is_wanted() {
        let flags = 1u32.to_be_bytes();
        for (code, data) in [(3, &[][..]), (6, &[0; 6]), (7, &[0; 6]), (8, &[])] {
            let said = [&flags[..], &option(code, data)].concat();
            let (out, _, step) = talk(HandshakeSecurity::TlsWanted, &said);
            assert_eq!((number(&out, 12, 4) as u32, step), (TLS_REQUIRED, Step::More));
            assert_eq!(out.len(), 20, "no word of the export");
        }
        let said = [&flags[..], &option(1, &[])].concat();
        assert_eq!(
            talk(HandshakeSecurity::TlsWanted, &said),
            (Vec::new(), said.len(), Step::Close)
        );
        let said = [&flags[..], &option(5, &[])].concat();
        assert_eq!(talk(HandshakeSecurity::TlsWanted, &said).2, Step::StartTls);
        assert_eq!(talk(HandshakeSecurity::Plain, &said).2, Step::More);
    }
}

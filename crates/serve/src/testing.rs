//! Entries for fuzzing: what a client may send, without a socket.

use crate::handshake::{Export, Handshake, HandshakeSecurity, Step};
pub use crate::listener::tls_config;
use crate::protocol::{Headers, Request};
pub use crate::token::Token;
pub use crate::transport::{Input, Socket, Transport};

/// Negotiates with these bytes as one connection, then parses what follows as requests.
pub fn nbd(data: &[u8]) {
    let Some((choice, mut data)) = data.split_first() else { return };
    let security = match choice % 3 {
        0 => HandshakeSecurity::Plain,
        1 => HandshakeSecurity::TlsWanted,
        _ => HandshakeSecurity::TlsStarted,
    };
    let export = Export { bytes: 1 << 20, description: "a drive".into() };
    let mut handshake = Handshake::new(security);
    let mut answers = Vec::new();
    loop {
        let (taken, step) = handshake.feed(data, &export, &mut answers);
        data = &data[taken..];
        answers.clear();
        match step {
            Step::More if taken > 0 => {}
            Step::More | Step::Close => return,
            Step::StartTls => handshake.tls_started(),
            Step::Transmission { headers, .. } => return requests(data, headers, export.bytes),
        }
    }
}

/// Parses requests until one is invalid; each gets its reply.
fn requests(mut data: &[u8], headers: Headers, drive_bytes: u64) {
    let mut out = Vec::new();
    while let Some((head, rest)) = data.split_at_checked(headers.request_bytes()) {
        let Some((request, payload_bytes)) = Request::parse(head, headers) else { return };
        let error = request.error(drive_bytes);
        crate::protocol::push_reply(&mut out, headers, &request, error);
        let skipped = usize::try_from(payload_bytes).map_or(rest.len(), |n| n.min(rest.len()));
        data = &rest[skipped..];
    }
}

/// Parses a line of the control socket.
pub fn control(line: &str) {
    let _command = crate::control::parse(line);
}

//! Entries for fuzzing: what a client may send, without a socket.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustls::ServerConfig;

use crate::handshake::{Export, Handshake, HandshakeSecurity, Step};
pub use crate::listener::tls_config;
use crate::protocol::{Headers, Request};
use crate::transport::{Input, SystemSocket, Transport};

/// Negotiates with these bytes as one connection, then parses the rest as requests.
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

/// A connection with TLS whose server echoes its input.
pub struct TlsEcho {
    server: Transport,
    client: UnixStream,
}

impl TlsEcho {
    /// Starts TLS with the first bytes of a client.
    pub fn new(config: &Arc<ServerConfig>, early: &[u8]) -> io::Result<TlsEcho> {
        let (client, server) = UnixStream::pair()?;
        client.set_nonblocking(true)?;
        server.set_nonblocking(true)?;
        let mut server = Transport::new(Box::new(SystemSocket(server.into())));
        server.start_tls(config, early)?;
        Ok(TlsEcho { server, client })
    }

    /// Receives bytes of the client, and returns those that it gets.
    pub fn receive(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        self.client.write_all(bytes)?;
        let mut plain = [0; 256];
        while let Input::Bytes(count) = self.server.read(&mut plain)? {
            self.server.write(&plain[..count])?;
        }
        self.server.flush()?;
        let mut sent = Vec::new();
        match self.client.read_to_end(&mut sent) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(sent),
        }
    }
}

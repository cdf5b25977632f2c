//! Metrics connections over HTTP, and control connections of `reprieve ctl`.

use std::io;

use crate::clock::Wall;
use crate::transport::{Input, Socket, Transport};

/// Limit on a request in bytes.
const REQUEST_BYTES_MAX: usize = 16 << 10;
/// Limit on HTTP headers.
const HEADERS_MAX: usize = 64;

/// The kind of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Metrics,
    Control,
}

/// A connection with one request and one answer.
pub struct AdminConnection {
    pub topic: Topic,
    pub opened: Wall,
    pub transport: Transport,
    request: Vec<u8>,
    pub is_answered: bool,
}

/// The state of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// It is incomplete.
    Part,
    /// It is complete.
    Request(String),
    /// The connection has closed without one.
    Nothing,
}

impl AdminConnection {
    pub fn new(topic: Topic, socket: Box<dyn Socket>, now: Wall) -> AdminConnection {
        let transport = Transport::new(socket);
        let request = Vec::new();
        AdminConnection { topic, opened: now, transport, request, is_answered: false }
    }

    /// Receives more of the request.
    pub fn receive(&mut self) -> Received {
        let mut bytes = [0; 4096];
        loop {
            match self.transport.read(&mut bytes) {
                Ok(Input::Bytes(count)) => self.request.extend(&bytes[..count]),
                Ok(Input::Nothing) => break,
                Ok(Input::End) | Err(_) => return Received::Nothing,
            }
            if self.request.len() > REQUEST_BYTES_MAX {
                return Received::Nothing;
            }
        }
        let end: &[u8] = match self.topic {
            Topic::Metrics => b"\r\n\r\n",
            Topic::Control => b"\n",
        };
        match self.request.windows(end.len()).position(|window| window == end) {
            Some(at) => {
                let whole = &self.request[..at + end.len()];
                Received::Request(String::from_utf8_lossy(whole).into_owned())
            }
            None => Received::Part,
        }
    }

    /// Sends the answer, as far as the socket takes it.
    pub fn answer(&mut self, text: &str) -> io::Result<()> {
        self.is_answered = true;
        self.transport.write(text.as_bytes())
    }

    /// Sends more of the answer; returns whether it is complete.
    pub fn send(&mut self) -> io::Result<bool> {
        self.transport.flush()?;
        Ok(!self.transport.has_unsent())
    }
}

/// Returns the answer to an HTTP request.
pub fn http(text: &str, metrics: impl FnOnce() -> String) -> String {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let (status, text) = match request.parse(text.as_bytes()).map(|_| &request) {
        Ok(httparse::Request { method: Some("GET"), path: Some(path), .. }) => match *path {
            "/metrics" | "/" => ("200 OK", metrics()),
            _ => ("404 Not Found", "there is /metrics, and nothing else\n".to_string()),
        },
        Ok(_) => ("405 Method Not Allowed", "only GET is answered\n".to_string()),
        Err(error) => ("400 Bad Request", format!("this is no HTTP: {error}\n")),
    };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status and text of the answer.
    fn asked(question: &str) -> (String, String) {
        let answer = http(question, || "figures\n".to_string());
        let (head, text) = answer.split_once("\r\n\r\n").expect("a head and a text");
        assert!(head.contains(&format!("Content-Length: {}\r\n", text.len())), "{head}");
        (head.lines().next().expect("a status").to_string(), text.to_string())
    }

    #[test]
    fn what_is_asked_over_http_is_answered_by_its_status() {
        let (status, text) = asked("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!((&*status, &*text), ("HTTP/1.1 200 OK", "figures\n"));
        assert_eq!(asked("GET / HTTP/1.0\r\n\r\n").0, "HTTP/1.1 200 OK");
        assert_eq!(asked("GET /metric HTTP/1.1\r\n\r\n").0, "HTTP/1.1 404 Not Found");
        assert_eq!(asked("PUT / HTTP/1.1\r\n\r\n").0, "HTTP/1.1 405 Method Not Allowed");
        let (status, text) = asked("GET /metrics HTTP/1.1\r\nHost\u{7f}: a\r\n\r\n");
        assert_eq!(status, "HTTP/1.1 400 Bad Request");
        assert!(text.starts_with("this is no HTTP: "), "{text}");
        let headers = "A: b\r\n".repeat(HEADERS_MAX + 1);
        let (status, _) = asked(&format!("GET / HTTP/1.1\r\n{headers}\r\n"));
        assert_eq!(status, "HTTP/1.1 400 Bad Request");
    }
}

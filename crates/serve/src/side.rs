//! Conversations beside the drive's: metrics over HTTP, and commands of `reprieve ctl`.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use crate::clock::Wall;
use crate::transport::{Input, Socket, Transport};

/// Bytes of a question.
const QUESTION_BYTES_MAX: usize = 16 << 10;

/// What a conversation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    Metrics,
    Control,
}

/// One question, one answer.
pub struct Side {
    pub topic: Topic,
    pub opened: Wall,
    transport: Transport,
    question: Vec<u8>,
    pub is_answered: bool,
}

/// How far a conversation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The question is not complete.
    Part,
    /// The whole question.
    Question(String),
    /// There will be none.
    Nothing,
}

impl Side {
    pub fn new(topic: Topic, socket: Socket, now: Wall) -> Side {
        let transport = Transport::new(socket);
        Side { topic, opened: now, transport, question: Vec::new(), is_answered: false }
    }

    /// Takes what has come of the question.
    pub fn hear(&mut self) -> Heard {
        let mut bytes = [0; 4096];
        loop {
            match self.transport.read(&mut bytes) {
                Ok(Input::Bytes(count)) => self.question.extend(&bytes[..count]),
                Ok(Input::Nothing) => break,
                Ok(Input::End) | Err(_) => return Heard::Nothing,
            }
            if self.question.len() > QUESTION_BYTES_MAX {
                return Heard::Nothing;
            }
        }
        let end: &[u8] = match self.topic {
            Topic::Metrics => b"\r\n\r\n",
            Topic::Control => b"\n",
        };
        match self.question.windows(end.len()).position(|window| window == end) {
            Some(at) => Heard::Question(String::from_utf8_lossy(&self.question[..at]).into_owned()),
            None => Heard::Part,
        }
    }

    /// Gives the answer, as far as the socket takes it.
    pub fn answer(&mut self, text: &str) -> io::Result<()> {
        self.is_answered = true;
        self.transport.write(text.as_bytes())
    }

    /// Goes on with the answer; whether it is out.
    pub fn go_on(&mut self) -> io::Result<bool> {
        self.transport.flush()?;
        Ok(!self.transport.has_unsent())
    }
}

impl AsFd for Side {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.transport.as_fd()
    }
}

/// The answer to a question over HTTP, whose head is `question`.
pub fn http(question: &str, metrics: impl FnOnce() -> String) -> String {
    let mut words = question.split_whitespace();
    let (status, text) = match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics" | "/")) => ("200 OK", metrics()),
        (Some("GET"), _) => ("404 Not Found", "there is /metrics, and nothing else\n".to_string()),
        _ => ("405 Method Not Allowed", "only GET is answered\n".to_string()),
    };
    let mut answer = Vec::new();
    write!(
        answer,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
    .expect("memory takes any text");
    String::from_utf8(answer).expect("it was made of text")
}

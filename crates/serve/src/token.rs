//! The kind of a socket, in the data of its events.

use rustix::event::epoll::EventData;

use crate::slots::Key;

/// The kind of a socket, in the data of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Clients,
    Metrics,
    Control,
    Stop,
    Synced,
    Client(Key),
    Admin(Key),
}

impl Token {
    pub fn data(self) -> EventData {
        let none = Key { index: 0, generation: 0 };
        let (kind, Key { index, generation }) = match self {
            Token::Clients => (0, none),
            Token::Metrics => (1, none),
            Token::Control => (2, none),
            Token::Stop => (3, none),
            Token::Synced => (4, none),
            Token::Client(key) => (5, key),
            Token::Admin(key) => (6, key),
        };
        EventData::new_u64(u64::from(generation) << 32 | u64::from(index) << 3 | kind)
    }

    pub fn of(data: EventData) -> Token {
        let data = data.u64();
        let key = Key { index: (data as u32) >> 3, generation: (data >> 32) as u32 };
        match data & 7 {
            0 => Token::Clients,
            1 => Token::Metrics,
            2 => Token::Control,
            3 => Token::Stop,
            4 => Token::Synced,
            5 => Token::Client(key),
            6 => Token::Admin(key),
            other => panic!("a socket of kind {other}"),
        }
    }
}

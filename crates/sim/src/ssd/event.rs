//! What can happen in a drive, and as which words the queue keeps it.

use crate::event::{self, Words};
use crate::flash::{FLASH_EVENTS, FlashEvent};

/// What can happen in a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// Something in the flash back end.
    Flash(FlashEvent),
    /// A doorbell has crossed the host link: a request is in its submission queue.
    Rung { request: u32 },
    /// The drive has turned to a command of a submission queue.
    Fetched { request: u32 },
    /// The host has been asked for a command.
    Asked { request: u32 },
    /// A command has crossed the host link.
    Command { request: u32 },
    /// The host has been asked for the data of a write.
    DataAsked { request: u32 },
    /// The data of a write has crossed the host link.
    LinkIn { request: u32 },
    /// All of a request has crossed a host link that keeps them in order.
    Turn { request: u32 },
    /// The drive may have been idle for so long that the buffer is emptied.
    LookIdle,
    /// The last data of a request, or its completion, has crossed the host link.
    Done { request: u32, parts: u32 },
}

impl event::Event for Event {
    #[inline(always)]
    fn words(self) -> Words {
        match self {
            Event::Flash(event) => event.words(),
            Event::Done { request, parts } => [FLASH_EVENTS, request, parts],
            Event::LinkIn { request } => [FLASH_EVENTS + 1, request, 0],
            Event::Rung { request } => [FLASH_EVENTS + 2, request, 0],
            Event::Fetched { request } => [FLASH_EVENTS + 3, request, 0],
            Event::Asked { request } => [FLASH_EVENTS + 4, request, 0],
            Event::Command { request } => [FLASH_EVENTS + 5, request, 0],
            Event::DataAsked { request } => [FLASH_EVENTS + 6, request, 0],
            Event::LookIdle => [FLASH_EVENTS + 7, 0, 0],
            Event::Turn { request } => [FLASH_EVENTS + 8, request, 0],
        }
    }

    #[inline(always)]
    fn from_words(words: Words) -> Event {
        let [what, request, parts] = words;
        match what.wrapping_sub(FLASH_EVENTS) {
            0 => Event::Done { request, parts },
            1 => Event::LinkIn { request },
            2 => Event::Rung { request },
            3 => Event::Fetched { request },
            4 => Event::Asked { request },
            5 => Event::Command { request },
            6 => Event::DataAsked { request },
            7 => Event::LookIdle,
            8 => Event::Turn { request },
            _ => Event::Flash(FlashEvent::from_words(words)),
        }
    }
}

impl From<FlashEvent> for Event {
    #[inline]
    fn from(event: FlashEvent) -> Event {
        Event::Flash(event)
    }
}

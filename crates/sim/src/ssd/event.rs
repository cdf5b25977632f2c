//! What can happen in a drive, and as which words the queue keeps it.

use crate::event::{self, Words};
use crate::flash::{FLASH_EVENTS, FlashEvent};

/// What can happen in a drive; what comes over the host link is the host interface's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// Something in the flash back end.
    Flash(FlashEvent),
    /// The drive may have been idle for so long that the buffer is emptied.
    LookIdle,
}

impl event::Event for Event {
    #[inline(always)]
    fn words(self) -> Words {
        match self {
            Event::Flash(event) => event.words(),
            Event::LookIdle => [FLASH_EVENTS, 0, 0],
        }
    }

    #[inline(always)]
    fn from_words(words: Words) -> Event {
        match words[0] {
            FLASH_EVENTS => Event::LookIdle,
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

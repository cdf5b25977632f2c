//! Events of a drive, and as which words the queue keeps them.

use reprieve_base::event::{self, Words};
use reprieve_flash::{FLASH_EVENTS, FlashEvent};

const BUFFER_OPENS: u32 = FLASH_EVENTS + 1;
const LOOK_AT_POWER: u32 = FLASH_EVENTS + 2;
const SCAN: u32 = FLASH_EVENTS + 3;
const BUSY_WINDOW: u32 = FLASH_EVENTS + 4;

/// Events of a drive; messages of the host link are the host interface's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DriveEvent {
    /// An event of the flash back end.
    Flash(FlashEvent),
    /// The drive may have been idle long enough to flush the buffer.
    LookIdle,
    /// Throttled writes may enter the buffer.
    BufferOpens,
    /// A limit on power may have ended, for which dies wait.
    LookAtPower,
    /// The next page of a scan is read.
    Scan,
    /// A busy window opens (1) or closes (0).
    BusyWindow(u32),
}

impl event::Event for DriveEvent {
    #[inline(always)]
    fn words(self) -> Words {
        match self {
            DriveEvent::Flash(event) => event.words(),
            DriveEvent::LookIdle => [FLASH_EVENTS, 0, 0],
            DriveEvent::BufferOpens => [BUFFER_OPENS, 0, 0],
            DriveEvent::LookAtPower => [LOOK_AT_POWER, 0, 0],
            DriveEvent::Scan => [SCAN, 0, 0],
            DriveEvent::BusyWindow(opens) => [BUSY_WINDOW, opens, 0],
        }
    }

    #[inline(always)]
    fn from_words(words: Words) -> DriveEvent {
        match words[0] {
            FLASH_EVENTS => DriveEvent::LookIdle,
            BUFFER_OPENS => DriveEvent::BufferOpens,
            LOOK_AT_POWER => DriveEvent::LookAtPower,
            SCAN => DriveEvent::Scan,
            BUSY_WINDOW => DriveEvent::BusyWindow(words[1]),
            _ => DriveEvent::Flash(FlashEvent::from_words(words)),
        }
    }
}

impl From<FlashEvent> for DriveEvent {
    #[inline]
    fn from(event: FlashEvent) -> DriveEvent {
        DriveEvent::Flash(event)
    }
}

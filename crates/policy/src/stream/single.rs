//! Single: all pages of the host go into one open block of their plane.

use reprieve_base::Entry;

use super::StreamPolicy;

pub(super) const ENTRY: Entry = Entry { name: "single", doc: "one open block for all pages" };

pub(super) struct Single;

impl StreamPolicy for Single {
    fn streams(&self) -> u8 {
        1
    }

    #[inline]
    fn of_write(&mut self, _: u32, _: u8) -> u8 {
        0
    }

    #[inline]
    fn of_moved(&self, _: u32) -> u8 {
        0
    }
}

//! Hot and cold: pages that were rewritten soon, and the others.

use reprieve_base::{Archive, Entry};
use reprieve_config::Scenario;

use super::StreamPolicy;

pub(super) const ENTRY: Entry = Entry {
    name: "hot-cold",
    doc: "one for pages rewritten within hot_window_share, one for others; under even writes, or \
          with victims at random, only dearer",
};

const COLD: u8 = 0;
const HOT: u8 = 1;

/// Stores the last write of each page, counted in writes: 4 bytes a logical page.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct HotCold {
    /// Number of the last write of each page, modulo 2^32.
    last: Vec<u32>,
    /// Number of the next write, modulo 2^32.
    next: u32,
    window: u32,
}

impl HotCold {
    pub(super) fn of(scenario: &Scenario) -> HotCold {
        let pages = scenario.logical_pages();
        let share = scenario.ftl.streams.hot_window_share;
        let share = share.expect("the key has a default with this policy");
        HotCold::new(pages, (share * f64::from(pages)).round() as u32)
    }

    /// A page is hot that is rewritten at most `window` writes after its last write.
    fn new(pages: u32, window: u32) -> HotCold {
        // As if every page had been written just before the window: a first write is cold.
        HotCold { last: vec![0; pages as usize], next: window.saturating_add(1), window }
    }

    #[inline]
    fn stream(&self, lpn: u32) -> u8 {
        let age = self.next.wrapping_sub(self.last[lpn as usize]);
        if age <= self.window { HOT } else { COLD }
    }
}

impl StreamPolicy for HotCold {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(self);
    }

    fn streams(&self) -> u8 {
        2
    }

    #[inline]
    fn of_write(&mut self, lpn: u32, _: u8) -> u8 {
        let stream = self.stream(lpn);
        self.last[lpn as usize] = self.next;
        self.next = self.next.wrapping_add(1);
        stream
    }

    #[inline]
    fn of_moved(&self, lpn: u32) -> u8 {
        self.stream(lpn)
    }

    fn memory(&self) -> Vec<u32> {
        self.last.iter().map(|last| self.next.wrapping_sub(*last)).collect()
    }

    fn remember(&mut self, ages: &[u32]) {
        self.last = ages.iter().map(|age| self.next.wrapping_sub(*age)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_rewritten_within_the_window_is_hot() {
        let mut streams = HotCold::new(8, 3);
        // First writes are cold; page 0 is rewritten 3 writes after its last, then 4 after.
        let writes = [0, 1, 2, 0, 3, 4, 5, 0, 0];
        let got: Vec<u8> = writes.iter().map(|lpn| streams.of_write(*lpn, 0)).collect();
        assert_eq!(got, [COLD, COLD, COLD, HOT, COLD, COLD, COLD, COLD, HOT]);
        // The next write would follow 1 write after the last of page 0, 3 after 5, 4 after 4.
        let moved = [0, 5, 4, 7].map(|lpn| streams.of_moved(lpn));
        assert_eq!(moved, [HOT, HOT, COLD, COLD]);
    }

    #[test]
    fn what_is_remembered_goes_on_as_before() {
        let mut streams = HotCold::new(4, 3);
        [0, 1, 2, 0].iter().for_each(|lpn| _ = streams.of_write(*lpn, 0));
        let mut other = HotCold::new(4, 3);
        other.remember(&streams.memory());
        // Ages 1, 3, 2, and of a page that was never written more than the window.
        assert_eq!(other.memory()[..3], [1, 3, 2]);
        let got: Vec<u8> = (0..4).map(|lpn| other.of_write(lpn, 0)).collect();
        assert_eq!(got, [HOT, COLD, COLD, COLD]);
    }

    #[test]
    fn numbers_of_writes_may_wrap_around() {
        let mut streams = HotCold::new(2, 3);
        streams.next = u32::MAX - 1;
        let got: Vec<u8> = [0, 1, 1, 0, 1].iter().map(|lpn| streams.of_write(*lpn, 0)).collect();
        assert_eq!(got, [COLD, COLD, HOT, HOT, HOT]);
    }
}

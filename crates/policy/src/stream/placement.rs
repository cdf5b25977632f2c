//! Placement: pages go to the stream of their write's handle, as with flexible data placement.

use reprieve_base::{Archive, Entry};
use reprieve_config::Scenario;

use super::StreamPolicy;

pub(super) const ENTRY: Entry = Entry {
    name: "placement",
    doc: "one for each placement handle, which a load names: reclaim unit handles of NVMe's \
          flexible data placement, whose reclaim units are blocks",
};

/// Stores the handle of the last write of each page: a byte a logical page.
#[derive(serde::Serialize, serde::Deserialize)]
pub(super) struct Handles {
    handles: u8,
    last: Vec<u8>,
}

impl Handles {
    pub(super) fn of(scenario: &Scenario) -> Handles {
        let handles = scenario.ftl.streams.handles;
        let handles = handles.expect("the key has a default with this policy");
        Handles { handles: handles as u8, last: vec![0; scenario.logical_pages() as usize] }
    }
}

impl StreamPolicy for Handles {
    fn archive(&mut self, archive: &mut Archive) {
        archive.part(self);
    }

    fn streams(&self) -> u8 {
        self.handles
    }

    fn of_write(&mut self, lpn: u32, handle: u8) -> u8 {
        self.last[lpn as usize] = handle;
        handle
    }

    fn of_moved(&self, lpn: u32) -> u8 {
        self.last[lpn as usize]
    }

    fn memory(&self) -> Vec<u32> {
        self.last.iter().copied().map(u32::from).collect()
    }

    fn remember(&mut self, handles: &[u32]) {
        let known = |handle: &u32| (*handle as u8).min(self.handles - 1);
        self.last = handles.iter().map(known).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_moved_with_the_handle_of_its_last_write() {
        let mut streams = Handles { handles: 3, last: vec![0; 4] };
        let got: Vec<u8> = [(0, 2), (1, 1), (0, 1), (3, 2)]
            .map(|(lpn, handle)| streams.of_write(lpn, handle))
            .to_vec();
        assert_eq!(got, [2, 1, 1, 2]);
        assert_eq!([0, 1, 2, 3].map(|lpn| streams.of_moved(lpn)), [1, 1, 0, 2]);
        let mut other = Handles { handles: 2, last: vec![0; 4] };
        other.remember(&streams.memory());
        assert_eq!([0, 1, 2, 3].map(|lpn| other.of_moved(lpn)), [1, 1, 0, 1]);
    }
}

//! A timeline of the drive: its requests, and its bytes.

use reprieve_base::Op;
use reprieve_observe::timeline::{Arrival, Name, Timeline};

use super::Ssd;
use super::event_loop::EventLoop;

impl EventLoop {
    /// Handles the arrival of a request.
    #[cold]
    pub(super) fn draw_arrival(&mut self, id: u32) {
        let request = &self.host.requests[id];
        let has_range = request.op != Op::Flush;
        let arrival = Arrival {
            slot: id,
            number: request.id,
            name: Name::of_request(request.op),
            range: has_range.then_some((request.lba, u64::from(request.bytes))),
        };
        self.pages.flash.observers_mut().request_arrived(self.now, arrival);
    }
}

impl Ssd {
    /// Takes the bytes of the timeline since the last call, if one is drawn.
    ///
    /// When the workload is done they are the last.
    pub fn take_timeline(&mut self) -> Vec<u8> {
        self.run.pages.flash.observers_mut().timeline_mut().map_or_else(Vec::new, Timeline::take)
    }
}

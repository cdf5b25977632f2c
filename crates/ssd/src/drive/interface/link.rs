//! The host link: data, and the exchanges of a command where they cross it, first in first out.

use reprieve_base::{Archive, Dur, Time, parts};
use reprieve_config::{Host, Interface, LinkOrder, Packets};

/// A doorbell: a register of 32 bits (NVM Express over PCIe Transport Specification 1.0).
const DOORBELL_BYTES: u64 = 4;
/// An entry of a submission queue (NVM Express Base Specification 2.0, section 4.2).
const SUBMISSION_BYTES: u64 = 64;
/// An entry of a completion queue (the same, section 4.6).
const COMPLETION_BYTES: u64 = 16;

/// Time of bytes on the link.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// `None`: transfers take no time.
    bytes_per_s: Option<u64>,
    packets: Option<Packets>,
    /// The last transfer length and its time, as most lengths are equal.
    last: (u64, Dur),
}

impl Pace {
    #[inline]
    fn time(&mut self, bytes: u64) -> Dur {
        if self.last.0 != bytes {
            self.last = (bytes, self.calculate(bytes));
        }
        self.last.1
    }

    fn calculate(&self, bytes: u64) -> Dur {
        let Some(rate) = self.bytes_per_s else { return Dur::ZERO };
        let bytes = self.packets.map_or(bytes, |packets| packets.on_link_bytes(bytes));
        Dur::of_transfer(bytes, rate)
    }
}

/// One direction of the host link: transfers one after the other, in order.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Link {
    takes_time: bool,
    free_at: Time,
}

impl Link {
    /// Returns when a transfer that is ready at `now` has crossed the link.
    #[inline]
    fn cross(&mut self, now: Time, time: Dur) -> Time {
        if !self.takes_time {
            return now;
        }
        self.free_at = self.free_at.max(now) + time;
        self.free_at
    }
}

/// The host link: a direction in and one out, or one for both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pace: Pace,
    /// Lengths of a doorbell, a submission entry, a completion entry, and a read of host memory.
    doorbell: Dur,
    submission: Dur,
    completion: Dur,
    ask: Dur,
    /// Into the drive, or both ways.
    first: Link,
    /// Out of the drive; `None`: the link is half duplex.
    out: Option<Link>,
    /// Doorbells, queue entries and reads of host memory cross it as well.
    pub(super) carries_commands: bool,
    /// One request at a time crosses it, and none overtakes another.
    pub(super) in_order: bool,
}

impl Links {
    /// Saves or restores the state that changes.
    pub(super) fn archive(&mut self, archive: &mut Archive) {
        parts!(archive; self.pace.last, self.first, self.out);
    }

    pub(super) fn new(host: &Host) -> Links {
        let bytes_per_s = host.link_rate_bytes_per_s();
        let mut pace = Pace { bytes_per_s, packets: host.packets, last: (u64::MAX, Dur::ZERO) };
        let link = Link { takes_time: bytes_per_s.is_some(), free_at: Time::ZERO };
        let in_order = host.order == LinkOrder::InOrder;
        let is_half_duplex = in_order || host.interface == Interface::Sata;
        Links {
            doorbell: pace.time(DOORBELL_BYTES),
            submission: pace.time(SUBMISSION_BYTES),
            completion: pace.time(COMPLETION_BYTES),
            // Sends a packet without data.
            ask: pace.time(0),
            pace,
            first: link,
            out: (!is_half_duplex).then_some(link),
            carries_commands: host.commands_cross_link,
            in_order,
        }
    }

    /// Whether transfers take time.
    pub(super) fn takes_time(&self) -> bool {
        self.first.takes_time
    }

    /// Sends the data of a write that is ready at `now`.
    #[inline]
    pub(super) fn cross_in(&mut self, now: Time, bytes: u64) -> Time {
        self.first.cross(now, self.pace.time(bytes))
    }

    /// Sends the data of a read that is ready at `now`.
    #[inline]
    pub(super) fn cross_out(&mut self, now: Time, bytes: u64) -> Time {
        let time = self.pace.time(bytes);
        self.out().cross(now, time)
    }

    #[inline]
    fn out(&mut self) -> &mut Link {
        self.out.as_mut().unwrap_or(&mut self.first)
    }

    /// Returns when the link is free for a command at `now`.
    pub(super) fn turn(&self, now: Time) -> Time {
        self.first.free_at.max(now)
    }

    /// Sends a doorbell of the host, for a submission or a completion that it has taken.
    #[inline]
    pub(super) fn ring(&mut self, now: Time) -> Time {
        self.first.cross(now, self.doorbell)
    }

    /// Sends a read of host memory.
    #[inline]
    pub(super) fn ask(&mut self, now: Time) -> Time {
        let time = self.ask;
        self.out().cross(now, time)
    }

    /// Sends a submission entry of the host.
    #[inline]
    pub(super) fn submission(&mut self, now: Time) -> Time {
        self.first.cross(now, self.submission)
    }

    /// Sends a completion entry of the drive.
    #[inline]
    pub(super) fn completion(&mut self, now: Time) -> Time {
        let time = self.completion;
        self.out().cross(now, time)
    }
}

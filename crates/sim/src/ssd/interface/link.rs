//! The host link: data, and the exchanges of a command where they cross it, first in first out.

use reprieve_base::{Dur, Time};

use crate::scenario::{Host, Interface, LinkOrder, Packets};

/// A doorbell: a register of 32 bits (NVM Express over PCIe Transport Specification 1.0).
const DOORBELL_BYTES: u64 = 4;
/// An entry of a submission queue (NVM Express Base Specification 2.0, section 4.2).
const SUBMISSION_BYTES: u64 = 64;
/// An entry of a completion queue (the same, section 4.6).
const COMPLETION_BYTES: u64 = 16;

/// One direction of the host link: transfers one after the other, in order.
#[derive(Clone, Copy, Debug)]
struct Link {
    bytes_per_s: Option<u64>,
    packets: Option<Packets>,
    free_at: Time,
}

impl Link {
    /// When a transfer that is ready at `now` has crossed the link.
    #[inline]
    fn cross(&mut self, now: Time, bytes: u64) -> Time {
        let Some(rate) = self.bytes_per_s else { return now };
        let bytes = self.packets.map_or(bytes, |packets| packets.on_link_bytes(bytes));
        self.free_at = self.free_at.max(now) + Dur::of_transfer(bytes, rate);
        self.free_at
    }
}

/// The host link: a direction in and one out, or one for both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    /// In, or both.
    first: Link,
    /// Out; `None`: a link that is half duplex.
    out: Option<Link>,
    /// Doorbells, entries of queues and requests for data cross it as well.
    pub(super) carries_commands: bool,
    /// One request at a time crosses it, and none overtakes another.
    pub(super) in_order: bool,
}

impl Links {
    pub(super) fn new(host: &Host) -> Links {
        let link = Link {
            bytes_per_s: host.link_rate_bytes_per_s(),
            packets: host.packets,
            free_at: Time::ZERO,
        };
        let in_order = host.order == LinkOrder::InOrder;
        let is_half_duplex = in_order || host.interface == Interface::Sata;
        Links {
            first: link,
            out: (!is_half_duplex).then_some(link),
            carries_commands: host.commands_cross_link,
            in_order,
        }
    }

    /// Whether what crosses it does so later.
    pub(super) fn takes_time(&self) -> bool {
        self.first.bytes_per_s.is_some()
    }

    /// Data of a write that is ready at `now`.
    #[inline]
    pub(super) fn cross_in(&mut self, now: Time, bytes: u64) -> Time {
        self.first.cross(now, bytes)
    }

    /// Data of a read that is ready at `now`.
    #[inline]
    pub(super) fn cross_out(&mut self, now: Time, bytes: u64) -> Time {
        self.out.as_mut().unwrap_or(&mut self.first).cross(now, bytes)
    }

    /// When the link is free for a command that comes at `now`, behind what came before it.
    pub(super) fn turn(&self, now: Time) -> Time {
        self.first.free_at.max(now)
    }

    /// The host rings: there is a submission, or it has taken a completion.
    pub(super) fn ring(&mut self, now: Time) -> Time {
        self.cross_in(now, DOORBELL_BYTES)
    }

    /// The drive asks for what is in the host's memory: a packet without data.
    pub(super) fn ask(&mut self, now: Time) -> Time {
        self.cross_out(now, 0)
    }

    /// The host sends an entry of a submission queue.
    pub(super) fn submission(&mut self, now: Time) -> Time {
        self.cross_in(now, SUBMISSION_BYTES)
    }

    /// The drive writes an entry of a completion queue.
    pub(super) fn completion(&mut self, now: Time) -> Time {
        self.cross_out(now, COMPLETION_BYTES)
    }
}

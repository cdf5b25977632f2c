//! Writes of a fio job to a drive with zones: at their ends, and from the first again once reset.

use reprieve_base::SECTOR_BYTES;

use crate::fio::FioJob;

/// The zones that a job writes to, numbered in its region, in sectors.
#[derive(Debug)]
pub(super) struct ZoneWriter {
    size: u64,
    capacity: u64,
    count: u64,
    open_max: usize,
    is_sequential: bool,
    /// Zones written in part.
    open: Vec<OpenZone>,
    /// The zone that a sequential job writes next.
    next_zone: u64,
}

#[derive(Clone, Copy, Debug)]
struct OpenZone {
    zone: u64,
    written: u64,
}

/// A write, and whether its zone is reset before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ZoneWrite {
    pub(super) lba: u64,
    pub(super) sectors: u64,
    pub(super) resets: bool,
}

impl ZoneWriter {
    /// That of a job, if its drive has zones; nothing is written yet.
    pub(super) fn of(job: &FioJob) -> Option<ZoneWriter> {
        let zones = job.zones?;
        let (size, capacity) = (u64::from(zones.size_bytes), u64::from(zones.capacity_bytes));
        Some(ZoneWriter {
            size: size / SECTOR_BYTES,
            capacity: capacity / SECTOR_BYTES,
            count: job.region_bytes / capacity,
            open_max: zones.open_max as usize,
            is_sequential: job.order == crate::fio::JobOrder::Sequential,
            open: Vec::new(),
            next_zone: 0,
        })
    }

    /// Returns the sector at a place of the region for a read of `sectors`, moved before the end of
    /// the zone's capacity.
    pub(super) fn read(&self, place: u64, sectors: u64) -> u64 {
        let within = (place % self.capacity).min(self.capacity.saturating_sub(sectors));
        place / self.capacity * self.size + within
    }

    /// Writes `sectors` to the zone of a place of the region, or to the next one in turn; fewer at
    /// the end of a zone.
    pub(super) fn write(&mut self, place: u64, sectors: u64) -> ZoneWrite {
        let zone = if self.is_sequential { self.next_zone } else { place / self.capacity };
        let mut at = self.open.iter().position(|open| open.zone == zone);
        if at.is_none() && self.open.len() == self.open_max {
            at = Some((place % self.open_max as u64) as usize);
        }
        let at = at.unwrap_or_else(|| {
            self.open.push(OpenZone { zone, written: 0 });
            self.open.len() - 1
        });
        let open = &mut self.open[at];
        let sectors = sectors.min(self.capacity - open.written);
        let write = ZoneWrite {
            lba: open.zone * self.size + open.written,
            sectors,
            resets: open.written == 0,
        };
        open.written += sectors;
        if open.written == self.capacity {
            self.next_zone = (open.zone + 1) % self.count;
            self.open.swap_remove(at);
        }
        write
    }
}

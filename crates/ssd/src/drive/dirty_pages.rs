//! Dirty pages in the write buffer: how long they are held, and their order to the flash.

use reprieve_base::{Dur, Order, Time};
use reprieve_config::{self as scenario, Replacement};

/// The dirty pages of a buffer that holds them.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct DirtyPages {
    /// Their transactions, the next to be sent first.
    pub(super) order: Order,
    /// A page that is used moves to the end of the order.
    is_lru: bool,
    pub(super) high_pages: u64,
    pub(super) low_pages: u64,
    flush_idle: Option<Dur>,
    /// The event that checks for an idle drive is scheduled.
    look_pending: bool,
}

/// Results of a check for an idle drive.
pub(super) enum IdleLook {
    /// The drive is busy.
    Busy,
    /// Not for long enough; to be checked again at this time.
    Again(Time),
    /// Its dirty pages are sent.
    Idle,
}

impl DirtyPages {
    pub(super) fn new(hold: &scenario::Hold, capacity_pages: u64) -> DirtyPages {
        // Rounded down: a share below 1 leaves a page of the buffer that is not dirty.
        let pages = |share: f64| (share * capacity_pages as f64) as u64;
        DirtyPages {
            order: Order::with_capacity(4096),
            is_lru: hold.replacement == Replacement::Lru,
            high_pages: pages(hold.high_watermark).min(capacity_pages - 1),
            low_pages: pages(hold.low_watermark),
            flush_idle: hold.flush_idle,
            look_pending: false,
        }
    }

    /// Removes the first page of the order, while there are more than `down_to_pages`.
    pub(super) fn next(&mut self, down_to_pages: u64) -> Option<u32> {
        if self.order.count() <= down_to_pages {
            return None;
        }
        let id = self.order.first().expect("there are more than none");
        self.order.remove(id);
        Some(id)
    }

    /// Counts a read or overwrite of a page as use.
    #[inline]
    pub(super) fn used(&mut self, id: u32) {
        if self.is_lru && self.order.contains(id) {
            self.order.renew(id);
        }
    }

    /// Starts an idle time at `now`: returns when to check it, unless a check is scheduled.
    pub(super) fn idle_begins(&mut self, now: Time) -> Option<Time> {
        let wait = self.flush_idle.filter(|_| !self.look_pending)?;
        self.look_pending = true;
        Some(now + wait)
    }

    /// Checks whether the drive has been idle for long enough.
    pub(super) fn look(&mut self, idle_since: Option<Time>, now: Time) -> IdleLook {
        let wait = self.flush_idle.expect("only then the drive looks");
        self.look_pending = false;
        match idle_since.map(|since| since + wait) {
            None => IdleLook::Busy,
            Some(due) if due > now => {
                self.look_pending = true;
                IdleLook::Again(due)
            }
            Some(_) => IdleLook::Idle,
        }
    }

    /// Sends every page as soon as it is complete from now on.
    pub(super) fn stay_no_more(&mut self) {
        self.high_pages = 0;
        self.low_pages = 0;
    }

    /// Returns the transactions, the next to be sent first.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        self.order.iter()
    }

    /// Returns the pages, within the limit; errors if they contradict themselves.
    pub(super) fn verify(&self) -> Result<Vec<u32>, String> {
        let ids: Vec<u32> = self.ids().collect();
        let may = ids.len() as u64 <= self.high_pages;
        let told = format!("{} pages stay dirty, and {} may stay", ids.len(), self.high_pages);
        may.then_some(ids).ok_or(told)
    }

    /// Lowers the limit below the current count.
    #[cfg(test)]
    pub(super) fn lower_watermark(&mut self) {
        self.high_pages = self.order.count() - 1;
    }
}

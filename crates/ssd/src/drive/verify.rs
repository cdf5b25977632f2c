//! Rules of write buffer, read cache and submission queues, between two instants.

use reprieve_config::PartialWrite;
use reprieve_policy::txn::Kind;

use super::page_store::PageStore;

impl PageStore {
    /// Checks the buffer and the cache; returns the place and kind of an error.
    pub(super) fn verify(&self) -> Result<(), (&'static str, String)> {
        let (txns, ftl) = (self.flash.txns(), &self.ftl);
        self.buffer.verify(txns, ftl).map_err(|what| ("the write buffer", what))?;
        self.verify_padding().map_err(|what| ("the write buffer", what))?;
        if let Some(cache) = &self.buffer.read_cache {
            let holds = |lpn| self.ftl.tables.map.get(lpn);
            cache.verify(holds).map_err(|what| ("the read cache", what))?;
        }
        if let Some(media) = self.flash.media() {
            media.counted().0.verify().map_err(|what| ("decoding", what))?;
        }
        Ok(())
    }

    /// Where partial writes are padded, none reads the rest; one that a dispatcher has rewritten is
    /// read nevertheless.
    fn verify_padding(&self) -> Result<(), String> {
        let is_padded = self.partial_write == PartialWrite::Pad;
        if !is_padded || self.totals.redistributed_pages.is_some() {
            return Ok(());
        }
        let mut writes = self.flash.txns().iter();
        match writes.find(|(_, txn)| txn.kind == Kind::RmwRead) {
            None => Ok(()),
            Some((id, txn)) => {
                Err(format!("logical page {} is read to be padded, as transaction {id}", txn.lpn))
            }
        }
    }
}

/// A way to corrupt the tables, and a part of the resulting message.
#[cfg(test)]
type DriveBreak = (fn(&mut super::event_loop::EventLoop), &'static str);

/// Ways to break the tables of a drive that has all of them in use.
#[cfg(test)]
pub(super) const BREAKS: &[DriveBreak] = &[
    (|run| run.pages.buffer.give_back(), "the write buffer: "),
    (|run| run.make_a_held_page_awaited(), "awaited true"),
    (
        |run| {
            run.pages.buffer.held.as_mut().expect("pages are held").lower_watermark();
        },
        "may stay",
    ),
    (|run| run.cache().mix_up(), "the read cache: logical page"),
    (|run| run.cache().lose_slot(), " slots, "),
    (|run| run.trim_behind_the_cache(), "was written or trimmed since"),
    (|run| run.host.host_queues().mix_up(), "queue 0 may be fetched from"),
    (|run| run.host.host_queues().count_one_more(), " in all, and "),
    (|run| run.host.host_queues().lose_requests(), "8 are open"),
];

#[cfg(test)]
impl super::event_loop::EventLoop {
    fn cache(&mut self) -> &mut super::read_cache::PageCache {
        self.pages.buffer.read_cache.as_mut().expect("there is a cache")
    }

    fn trim_behind_the_cache(&mut self) {
        let lpn = self.cache().a_page();
        self.pages.ftl.trim(lpn, self.pages.flash.txns_mut());
    }

    fn make_a_held_page_awaited(&mut self) {
        let held = self.pages.buffer.held.as_ref().expect("pages are held");
        let id = held.verify().expect("no more than may")[0];
        self.pages.flash.txns_mut()[id].request = 0;
    }
}

//! A drive of an array, which observes and controls its collection.

use reprieve_base::event::Schedule;
use reprieve_base::{Request, Time};
use reprieve_ftl::Mapping;

use super::Ssd;
use super::event::DriveEvent;
use super::page_store::PageStore;

/// Uses compact, slower tables for a drive, as it is one of many.
pub fn expect_many(drive: &mut Ssd) {
    drive.run.pages.ftl.tables.expect_many();
}

/// Starts or stops optional garbage collection on a drive at `at`.
pub fn let_collect(drive: &mut Ssd, at: Time, lets: bool) {
    drive.run.events.schedule(at, DriveEvent::BusyWindow(u32::from(lets)));
}

/// Returns the free blocks that planes with garbage lack, and the current victims.
pub fn blocks_to_collect(drive: &Ssd) -> u32 {
    drive.run.pages.ftl.blocks_to_collect()
}

/// Whether the die of a read collects.
pub fn collects(drive: &Ssd, read: &Request) -> bool {
    let PageStore { layout, ftl, unwritten_costs_read, .. } = &drive.run.pages;
    let (first, last) = layout.pages(read);
    let die = |lpn| match ftl.tables.map.get(lpn) {
        Mapping::Flash(page) => Some(ftl.numbering.locate(page).0),
        Mapping::Unwritten if *unwritten_costs_read => Some(ftl.image_page(lpn).0),
        _ => None,
    };
    (first..=last).filter_map(die).any(|die| ftl.collects(die))
}

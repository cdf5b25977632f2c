//! Rules of a drive: units that divide, and room for garbage collection.

use reprieve_base::{Dur, UserError};

use super::part::PAGES_MAX;
use crate::resolve::Resolved;
use crate::types::BusyWindow;

/// Transactions of a page are numbered with a byte.
const UNITS_PER_PAGE_MAX: u32 = 256;

/// Blocks that garbage collection of a plane uses beyond its reserve: the open block of the host,
/// its own, and the one being erased.
const GC_BLOCKS: u64 = 3;

pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    mapping_unit(resolved)?;
    padded_programs(resolved)?;
    transfer_unit(resolved)?;
    busy_window(resolved)?;
    over_provisioning(resolved)
}

/// A page is a power of two of mapping units, which can be numbered in it and over the drive.
fn mapping_unit(resolved: &Resolved) -> Result<(), UserError> {
    let (bytes, page_bytes) = (resolved.ftl.mapping_bytes, resolved.geometry.page_bytes);
    let units = page_bytes / bytes;
    let is_part = page_bytes % bytes == 0 && units.is_power_of_two();
    let what =
        || format!("must be geometry.page_bytes = {page_bytes} divided by 1, 2, 4 and so on");
    resolved.refuse("ftl.mapping_bytes", !is_part, what)?;
    let all = resolved.geometry.pages() * u64::from(units);
    let what = || {
        format!(
            "is {units} units a page and {all} in all, and up to {UNITS_PER_PAGE_MAX} a page and \
             {PAGES_MAX} in all can be mapped; must be larger"
        )
    };
    let are_many = units > UNITS_PER_PAGE_MAX || all > PAGES_MAX;
    resolved.refuse("ftl.mapping_bytes", are_many, what)
}

fn busy_window(resolved: &Resolved) -> Result<(), UserError> {
    let Some(BusyWindow { period, length, start }) = resolved.ftl.gc.busy_window else {
        return Ok(());
    };
    let is_wrong = length == Dur::ZERO || length >= period;
    let what = || "must be above 0 and below ftl.busy_window_period_us";
    resolved.refuse("ftl.busy_window_us", is_wrong, what)?;
    let what = || "must be below ftl.busy_window_period_us";
    resolved.refuse("ftl.busy_window_start_us", start >= period, what)
}

/// Blocks of a plane that can hold data for good: all but those that are only ever in SLC mode.
fn blocks_for_data(resolved: &Resolved) -> u64 {
    let own = resolved.ftl.slc_cache.map_or(0, |cache| cache.blocks_per_plane);
    u64::from(resolved.geometry.blocks_per_plane.saturating_sub(own))
}

/// Collection may pad programs, so a victim needs invalid units for all but one of a program, for
/// each open block of moved pages.
fn padded_programs(resolved: &Resolved) -> Result<(), UserError> {
    let (units, geometry) = (resolved.units_together(), resolved.mapping_geometry());
    let user = u64::from(resolved.logical_pages()).div_ceil(u64::from(geometry.planes()));
    let own = u64::from(resolved.ftl.further_open_blocks());
    let kept = u64::from(resolved.ftl.gc_hard_free_blocks) + GC_BLOCKS - 1 + own;
    let blocks = blocks_for_data(resolved);
    let room = blocks.saturating_sub(kept) * u64::from(geometry.pages_per_block);
    let targets = resolved.ftl.open_blocks_of_moved();
    let padded = u64::from((units - 1) * targets) * blocks;
    let apart = match targets {
        1 => String::new(),
        _ => format!(" for each of the {targets} open blocks that it moves pages to"),
    };
    let (what, programs) = match resolved.units_per_page() {
        1 => ("pages", format!("timing.wordline_pages = {units}")),
        _ => ("mapping units", format!("programs of {units}")),
    };
    let what = || {
        format!(
            "leaves {user} {what} of the user in a plane, and with {programs}, of which collection \
             may have to pad all but one in each block{apart}, there is room for {}; must be \
             larger",
            room.saturating_sub(padded)
        )
    };
    let moves = units > 1 && resolved.zones.is_none();
    resolved.refuse("ftl.over_provisioning", moves && user + padded > room, what)
}

/// A page, or a mapping unit of it, consists of whole units.
fn transfer_unit(resolved: &Resolved) -> Result<(), UserError> {
    let bytes = resolved.mapping_bytes();
    let divides = |unit_bytes| bytes % unit_bytes == 0;
    let is_wrong = !resolved.channel.transfer_unit_bytes.is_none_or(divides);
    let of =
        if resolved.units_per_page() > 1 { "ftl.mapping_bytes" } else { "geometry.page_bytes" };
    let what = || format!("must divide {of} = {bytes}");
    resolved.refuse("channel.transfer_unit_bytes", is_wrong, what)
}

/// Garbage collection needs blocks to move to: its reserve, and its open ones.
fn over_provisioning(resolved: &Resolved) -> Result<(), UserError> {
    let (geometry, reserve) = (resolved.mapping_geometry(), resolved.ftl.gc_hard_free_blocks);
    let user_pages_per_plane = resolved.logical_pages().div_ceil(geometry.planes());
    let user_blocks = u64::from(user_pages_per_plane.div_ceil(geometry.pages_per_block));
    let blocks = blocks_for_data(resolved);
    let spare_blocks = blocks.saturating_sub(user_blocks);
    let needed_blocks = u64::from(reserve) + GC_BLOCKS + 1;
    if spare_blocks >= needed_blocks && user_blocks > 0 {
        return Ok(());
    }
    resolved.refuse("geometry.blocks_per_plane", blocks <= needed_blocks, || {
        format!(
            "garbage collection with ftl.gc_hard_free_blocks = {reserve} needs {needed_blocks} \
             spare blocks in a plane; must be at least {}",
            needed_blocks + 1
        )
    })?;
    let what = || "leaves the user not a page; must be smaller";
    resolved.refuse("ftl.over_provisioning", user_blocks == 0, what)?;
    // Rounded up to six decimals, so that the number we name does pass.
    let all = u64::from(geometry.blocks_per_plane);
    let least = ((needed_blocks + all - blocks) as f64 / all as f64 * 1e6).ceil() / 1e6;
    let what = format!(
        "leaves {spare_blocks} spare blocks of {blocks} in a plane, and garbage collection with \
         ftl.gc_hard_free_blocks = {reserve} needs {needed_blocks}; must be at least {least}"
    );
    Err(resolved.fault("ftl.over_provisioning", what))
}

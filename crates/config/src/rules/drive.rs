//! Rules of a drive: room for garbage collection, and units that divide.

use reprieve_base::UserError;

use crate::resolve::Resolved;

/// Blocks that garbage collection of a plane uses beyond its reserve: the open block of the host,
/// its own, and the one being erased.
const GC_BLOCKS: u64 = 3;

pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    wordline_spare(resolved)?;
    transfer_unit(resolved)?;
    over_provisioning(resolved)
}

/// Collection moves whole wordlines, so a victim needs a wordline's number of invalid pages for
/// each open block of moved pages.
fn wordline_spare(resolved: &Resolved) -> Result<(), UserError> {
    let Some(wordline) = resolved.timing.wordline else { return Ok(()) };
    let (pages, geometry) = (wordline.pages, &resolved.geometry);
    let user = u64::from(resolved.logical_pages()).div_ceil(u64::from(geometry.planes()));
    let own = u64::from(resolved.ftl.further_open_blocks());
    let kept = u64::from(resolved.ftl.gc_hard_free_blocks) + GC_BLOCKS - 1 + own;
    let blocks = u64::from(geometry.blocks_per_plane);
    let room = blocks.saturating_sub(kept) * u64::from(geometry.pages_per_block);
    let targets = resolved.ftl.open_blocks_of_moved();
    let padded = u64::from((pages - 1) * targets) * blocks;
    if user + padded <= room {
        return Ok(());
    }
    let apart = match targets {
        1 => String::new(),
        _ => format!(" for each of the {targets} open blocks that it moves pages to"),
    };
    let what = format!(
        "leaves {user} pages of the user in a plane, and with timing.wordline_pages = {pages}, of \
         which collection may have to pad all but one in each block{apart}, there is room for {}; \
         must be larger",
        room.saturating_sub(padded)
    );
    Err(resolved.fault("ftl.over_provisioning", what))
}

/// A page consists of whole units.
fn transfer_unit(resolved: &Resolved) -> Result<(), UserError> {
    let page_bytes = resolved.geometry.page_bytes;
    let divides = |unit_bytes| page_bytes % unit_bytes == 0;
    let is_wrong = !resolved.channel.transfer_unit_bytes.is_none_or(divides);
    let what = || format!("must divide geometry.page_bytes = {page_bytes}");
    resolved.refuse("channel.transfer_unit_bytes", is_wrong, what)
}

/// Garbage collection needs blocks to move to: its reserve, and those it has under way.
fn over_provisioning(resolved: &Resolved) -> Result<(), UserError> {
    let (geometry, reserve) = (&resolved.geometry, resolved.ftl.gc_hard_free_blocks);
    let user_pages_per_plane = resolved.logical_pages().div_ceil(geometry.planes());
    let user_blocks = u64::from(user_pages_per_plane.div_ceil(geometry.pages_per_block));
    let blocks = u64::from(geometry.blocks_per_plane);
    let spare_blocks = blocks - user_blocks;
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
    let least = (needed_blocks as f64 / blocks as f64 * 1e6).ceil() / 1e6;
    let what = format!(
        "leaves {spare_blocks} spare blocks of {blocks} in a plane, and garbage collection with \
         ftl.gc_hard_free_blocks = {reserve} needs {needed_blocks}; must be at least {least}"
    );
    Err(resolved.fault("ftl.over_provisioning", what))
}

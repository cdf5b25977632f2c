//! Rules of the host interface, buffers and link.

use reprieve_base::{Dur, UserError};

use crate::resolve::Resolved;
use crate::types::{Hold, Interface, LinkOrder};

/// Refuses values of these sections that do not fit each other or the geometry.
pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    let page_bytes = resolved.mapping_bytes();
    let what = || format!("must hold at least one page of {page_bytes} bytes");
    resolved.refuse("buffer.bytes", resolved.buffer.bytes < u64::from(page_bytes), what)?;
    let is_small = resolved.read_cache.is_some_and(|cache| cache.bytes < u64::from(page_bytes));
    let what = || format!("must be 0, or hold at least one page of {page_bytes} bytes");
    resolved.refuse("read_cache.bytes", is_small, what)?;
    if let Some(Hold { high_watermark: high, low_watermark: low, .. }) = resolved.buffer.hold {
        let what = || format!("must be at most buffer.high_watermark = {high}");
        resolved.refuse("buffer.low_watermark", low > high, what)?;
    }
    let throttle = &resolved.buffer.throttle;
    let is_endless = throttle.quota_bytes.is_some() && throttle.window == Dur::ZERO;
    resolved.refuse("buffer.quota_window_us", is_endless, || "must be above 0".to_string())?;
    link(resolved)?;
    queues(resolved)
}

/// Commands cross a link only if there is one, and packets have sizes of PCI Express.
fn link(resolved: &Resolved) -> Result<(), UserError> {
    let host = &resolved.host;
    let is_odd = host.packets.is_some_and(|packets| !packets.payload_bytes_max.is_power_of_two());
    let what = || "must be 128, 256, 512, 1024, 2048 or 4096";
    resolved.refuse("host.pcie_max_payload_bytes", is_odd, what)?;
    for (name, uses) in [
        ("host.pcie_max_payload_bytes", host.packets.is_some()),
        ("host.commands_cross_link", host.commands_cross_link),
        ("host.order", host.order == LinkOrder::InOrder),
    ] {
        let what = || "needs a link with host.link_bytes_per_s or host.pcie_generation";
        resolved.refuse(name, uses && host.link_rate_bytes_per_s().is_none(), what)?;
    }
    Ok(())
}

/// Lists of queues and classes have as many entries as there are.
fn queues(resolved: &Resolved) -> Result<(), UserError> {
    let Interface::Nvme(nvme) = &resolved.host.interface else { return Ok(()) };
    if let Some(queue) = resolved.queues.iter().find(|queue| **queue >= nvme.queues) {
        let what = format!("{queue} is no queue; there are those from 0 to {}", nvme.queues - 1);
        return Err(resolved.fault("workload.queues", what));
    }
    let length = nvme.class_weights.len();
    let what = || format!("has {length} items; must have 3, for high, medium and low");
    resolved.refuse("host.class_weights", !matches!(length, 0 | 3), what)?;
    for (name, length) in [
        ("host.queue_weights", nvme.weights.len()),
        ("host.queue_priorities", nvme.priorities.len()),
    ] {
        let queues = nvme.queues;
        let what = || {
            format!("has {length} items, and host.queues = {queues} asks for one for each queue")
        };
        resolved.refuse(name, length != 0 && length != queues as usize, what)?;
    }
    Ok(())
}

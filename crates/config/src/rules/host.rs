//! Rules of what is between the host and the translation layer.

use reprieve_base::UserError;

use crate::resolve::Resolved;
use crate::types::{Interface, LinkOrder};

/// Refuses values of these sections that do not fit each other or the geometry.
pub(super) fn check(resolved: &Resolved) -> Result<(), UserError> {
    let page_bytes = resolved.geometry.page_bytes;
    if resolved.buffer.bytes < u64::from(page_bytes) {
        let what = format!("must hold at least one page of {page_bytes} bytes");
        return Err(resolved.fault("buffer.bytes", what));
    }
    if resolved.read_cache.is_some_and(|cache| cache.bytes < u64::from(page_bytes)) {
        let what = format!("must be 0, or hold at least one page of {page_bytes} bytes");
        return Err(resolved.fault("read_cache.bytes", what));
    }
    if let Some(hold) = &resolved.buffer.hold {
        if hold.low_watermark > hold.high_watermark {
            let what = format!("must be at most buffer.high_watermark = {}", hold.high_watermark);
            return Err(resolved.fault("buffer.low_watermark", what));
        }
    }
    link(resolved)?;
    queues(resolved)
}

/// What crosses a link needs one, and packets have sizes that PCI Express knows.
fn link(resolved: &Resolved) -> Result<(), UserError> {
    let host = &resolved.host;
    if host.packets.is_some_and(|packets| !packets.payload_bytes_max.is_power_of_two()) {
        let what = "must be 128, 256, 512, 1024, 2048 or 4096";
        return Err(resolved.fault("host.pcie_max_payload_bytes", what));
    }
    let users = [
        (host.packets.is_some(), "host.pcie_max_payload_bytes"),
        (host.commands_cross_link, "host.commands_cross_link"),
        (host.order == LinkOrder::InOrder, "host.order"),
    ];
    match users.into_iter().find(|(uses, _)| *uses && host.link_rate_bytes_per_s().is_none()) {
        None => Ok(()),
        Some((_, name)) => {
            let what = "needs a link with host.link_bytes_per_s or host.pcie_generation";
            Err(resolved.fault(name, what))
        }
    }
}

/// Lists of queues and classes have as many entries as there are.
fn queues(resolved: &Resolved) -> Result<(), UserError> {
    let Interface::Nvme(nvme) = &resolved.host.interface else { return Ok(()) };
    if let Some(queue) = resolved.queues.iter().find(|queue| **queue >= nvme.queues) {
        let what = format!("{queue} is no queue; there are those from 0 to {}", nvme.queues - 1);
        return Err(resolved.fault("workload.queues", what));
    }
    if !matches!(nvme.class_weights.len(), 0 | 3) {
        let length = nvme.class_weights.len();
        let what = format!("has {length} items; must have 3, for high, medium and low");
        return Err(resolved.fault("host.class_weights", what));
    }
    for (name, length) in [
        ("host.queue_weights", nvme.weights.len()),
        ("host.queue_priorities", nvme.priorities.len()),
    ] {
        if length != 0 && length != nvme.queues as usize {
            let what = format!(
                "has {length} items, and host.queues = {} asks for one for each queue",
                nvme.queues
            );
            return Err(resolved.fault(name, what));
        }
    }
    Ok(())
}

//! Keys of zones.

use crate::row::*;

const ZONED: &[Need] = &[is("zones.model", &["host-managed"])];
const ZNS: &str = "NVM Express Zoned Namespace Command Set Specification 1.1";

section! {
    /// Zones, which the host writes in order and resets: a block of each of their planes.
    ZONES "zones"

    /// Whether the host addresses zones.
    model [zones] variant_of {
        "none" = None => None, "No: any address is written at any time.";
        "host-managed" = Some(_) => Some(Default::default()),
            "Yes: a zone is written at its write pointer, and reset as a whole.";
    }, or("'none'"), from(ZNS);
    /// Distance of the first bytes of zones; 0: their capacity, a block of each of their planes.
    size_bytes [zones?.size_bytes] count(0, 1 << 48), or("0"), when(ZONED),
        from("ZNS Command Set 1.1, Zone Size and Zone Capacity");
    /// Planes that a zone has a block on; 0: all of the drive.
    planes [zones?.planes] count(0, U32), or("0"), when(ZONED);
    /// Zones that are open at a time; one that was opened by a write is closed for another.
    max_open [zones?.max_open] count(1, 16), or("14"), when(ZONED),
        from("ZNS Command Set 1.1, Maximum Open Resources");
    /// Zones that are open or closed, which are those written in part, at a time.
    max_active [zones?.max_active] count(1, 16), or("14"), when(ZONED),
        from("ZNS Command Set 1.1, Maximum Active Resources");
    /// When a reset is complete.
    reset [zones?.reset_waits] one_of {
        "mapped" = false, "When the zone is empty; its blocks are erased as their dies come to it.";
        "erased" = true, "When its blocks are erased.";
    }, or("'mapped'"), when(ZONED);
}

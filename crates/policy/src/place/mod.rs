//! Placement schemes: the plane that takes the next page of a logical page.

mod aligned;
mod dynamic;
mod in_units;
mod partitioned;
mod static_order;
mod zoned;

use reprieve_base::{Archive, Entry, Geometry};
use reprieve_config::Scenario;

/// View of the planes of the drive for a placement scheme.
pub trait PlaneView {
    /// Pages that wait to be written to the plane's die, plus one if it is in use; 0: the die is
    /// idle.
    fn load(&self, plane: u32) -> u32;
    /// Whether the plane has room for one more page.
    fn has_room(&self, plane: u32) -> bool;
}

/// A placement scheme.
pub trait Placement: Send {
    /// Saves or restores its state, if it has any.
    fn archive(&mut self, _archive: &mut Archive) {}

    /// Returns the plane, counted over the drive, for a page of `lpn` that is written now.
    ///
    /// `None` while every plane that the scheme may choose is full: the page waits.
    fn plane(&mut self, lpn: u32, view: &dyn PlaneView) -> Option<u32>;

    /// Returns the plane of `lpn` in an image that was written in order.
    ///
    /// Homes repeat after a page for each plane of the drive, unless flows have separate dies;
    /// mapping units of one page are consecutive.
    fn home(&self, lpn: u32) -> u32;

    /// Number of pages of flash of that plane before this one; `None`: the number of whole rounds
    /// over the planes of the drive.
    fn image_row(&self, _lpn: u32) -> Option<u32> {
        None
    }

    /// Whether a page is always written to its home.
    fn is_fixed(&self) -> bool;

    /// Returns the pages after which a scheme repeats, while all dies are idle and no plane becomes
    /// full; `None`: it does not repeat.
    fn round(&self) -> Option<u32> {
        None
    }

    /// Returns the position of a cyclic scheme.
    fn position(&self) -> u32 {
        0
    }

    /// Number of positions, of which the first is 0.
    fn positions(&self) -> u32 {
        1
    }

    /// Continues from a valid position.
    fn go_to(&mut self, _position: u32) {}
}

/// Every placement scheme: the 24 static orders, the dynamic ones and those that balance planes.
pub fn entries() -> Vec<Entry> {
    static_order::ENTRIES
        .iter()
        .copied()
        .chain([dynamic::ENTRY, aligned::ALIGNED, aligned::WORDLINE, aligned::LEAST_LOADED])
        .collect()
}

/// Creates the scheme of a scenario, which has checked its name, for planes of this shape.
///
/// Logical pages are mapping units; those of a page have one place.
pub fn make(scenario: &Scenario, geometry: &Geometry) -> Box<dyn Placement> {
    let of_pages = of_pages(scenario, geometry);
    match scenario.units_per_page() {
        1 => of_pages,
        units => Box::new(in_units::InUnits::new(of_pages, units)),
    }
}

/// Returns the scheme of a scenario for pages.
fn of_pages(scenario: &Scenario, geometry: &Geometry) -> Box<dyn Placement> {
    let name = scenario.ftl.placement.as_str();
    if scenario.zones.is_some() {
        return Box::new(zoned::Zoned::new(scenario, geometry));
    }
    if name == dynamic::ENTRY.name {
        Box::new(dynamic::Dynamic::new(geometry))
    } else if name == aligned::ALIGNED.name {
        Box::new(aligned::Aligned::new(geometry, 1))
    } else if name == aligned::WORDLINE.name {
        Box::new(aligned::Aligned::new(geometry, scenario.timing.pages_together()))
    } else if name == aligned::LEAST_LOADED.name {
        Box::new(aligned::Aligned::by_load(geometry, scenario.timing.pages_together()))
    } else {
        let order = static_order::StaticOrder::new(name, geometry);
        match &scenario.parts()[..] {
            [] => Box::new(order),
            parts => Box::new(partitioned::Partitioned::new(&order, parts, geometry)),
        }
    }
}

//! The SSD: host interface, write buffer, FTL, garbage collection, scheduling and suspension.
//!
//! [`Ssd`] runs a [`scenario`]; [`rig`] drives one die with raw commands. Both use the same
//! back end in [`flash`]. The map of the code is in ARCHITECTURE.md.

pub mod event;
pub mod flash;
pub mod ftl;
mod gc;
mod memory;
mod registries;
pub mod rig;
pub mod scenario;
mod sched;
mod slab;
mod ssd;
pub mod stats;
mod suspend;

pub use memory::needed_bytes;
pub use registries::registries;
pub use ssd::Ssd;

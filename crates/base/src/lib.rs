//! Common types: time, geometry, host requests, seeded streams, registries, errors.
//!
//! This crate knows no flash timing, queues or files; every other crate may use it, and it none.

mod archive;
mod error;
pub mod event;
mod geometry;
mod order;
mod rare;
mod registry;
mod request;
mod rng;
mod slab;
mod superblock;
mod time;

pub use archive::Archive;
pub use error::{UserError, nearest};
pub use geometry::{Geometry, PageAddress};
pub use order::Order;
pub use rare::Rare;
pub use registry::Entry;
pub use request::{Op, Request, SECTOR_BYTES};
pub use rng::Stream;
pub use slab::Slab;
pub use superblock::Superblocks;
pub use time::{Dur, Time};

//! The SSD: host interface, write buffer, FTL, garbage collection, scheduling and suspension.
//!
//! [`Ssd`] runs a [`scenario`]; [`rig`] drives one die with raw commands. Both use the same
//! flash back end. [`characterize`] measures one die. The map of the code is in ARCHITECTURE.md.

mod arbitrate;
mod blocks;
pub mod characterize;
mod check;
pub mod dispatch;
mod event;
mod flash;
mod ftl;
mod memory;
mod order;
mod place;
mod policies;
pub mod power;
pub mod power_loss;
mod registries;
pub mod rig;
pub mod sched;
mod seen;
mod slab;
mod ssd;
mod state;
pub mod stats;
mod stream;
pub mod suspend;
mod timeline;
mod twin;
pub mod txn;
mod victim;
mod work;

pub use memory::needed_bytes;
pub use policies::Policies;
pub use registries::registries;
pub use reprieve_config as scenario;
pub use reprieve_nand::reliability;
pub use ssd::{Activity, Course, Cut, Glance, Options, Recovered, Ssd};
pub use timeline::Window;

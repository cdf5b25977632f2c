//! The SSD: host interface, write buffer, FTL, garbage collection, scheduling and suspension.
//!
//! [`Ssd`] runs a [`scenario`]; [`rig`] drives one die with raw commands. Both use the same
//! flash back end. [`characterize`] measures one die. The map of the code is in ARCHITECTURE.md.

mod arbitrate;
pub mod blame;
mod blocks;
pub mod characterize;
mod check;
mod die_events;
pub mod dispatch;
mod event;
mod flash;
mod ftl;
mod memory;
pub mod observe;
mod order;
mod place;
mod policies;
pub mod power;
pub mod power_loss;
mod registries;
pub mod rig;
pub mod sched;
mod slab;
mod ssd;
mod state;
pub mod stats;
mod stream;
mod superblock;
pub mod suspend;
mod timeline;
pub mod txn;
mod victim;
mod work;

pub use memory::needed_bytes;
pub use policies::Policies;
pub use registries::registries;
pub use reprieve_config as scenario;
pub use reprieve_nand::reliability;
pub use ssd::{Activity, Cut, DoneRequest, Options, Recovered, Snapshot, Ssd, TimeSeries};
pub use timeline::Window;

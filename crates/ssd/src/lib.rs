//! The SSD: all components together, and tools on the same back end.
//!
//! [`Ssd`] runs a [`scenario`]; [`rig`] drives one die with raw commands. Both use the same
//! flash back end. [`characterize`] measures one die. The map of the code is in ARCHITECTURE.md.

pub mod characterize;
mod drive;
mod memory;
pub mod observe;
pub mod rig;

pub use drive::{
    Activity, Completion, Cut, Details, Options, PowerLossView, Queue, Recovered, Route, Snapshot,
    Ssd, TimeSeries, in_array,
};
pub use memory::needed_bytes;
pub use reprieve_config as scenario;
pub use reprieve_flash::power_loss;
pub use reprieve_ftl::registries;
pub use reprieve_nand::reliability;
pub use reprieve_observe::timeline::Window;
pub use reprieve_observe::{causes, power, stats};
pub use reprieve_policy::{Policies, dispatch, sched, suspend, txn};
pub use reprieve_state::Store;

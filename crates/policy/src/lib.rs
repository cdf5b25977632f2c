//! Policies: their views, their answers, and the registry of each kind.
//!
//! A policy knows no component: it decides from a view, or from the transactions of [`txn`].

pub mod arbitrate;
pub mod dispatch;
pub mod place;
mod policies;
mod registries;
pub mod sched;
pub mod stream;
pub mod suspend;
pub mod txn;
pub mod victim;
pub mod work;

pub use policies::Policies;
pub use registries::registries;

//! Policies: what each sees, what it answers, and the registry of each kind.
//!
//! A policy knows no component: it is shown a view, or the transactions of [`txn`], and decides.

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

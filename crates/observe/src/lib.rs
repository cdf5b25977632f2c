//! Observers of a run: statistics, causes of waits, power, timeline, and the checker.
//!
//! Components pass events to them; observers change nothing.

pub mod causes;
pub mod check;
pub mod die_events;
pub mod power;
pub mod stats;
pub mod timeline;

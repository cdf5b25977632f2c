//! Observers of a run: statistics, causes of waits, power, timeline, and the checker.
//!
//! Components tell these what happens; none of them changes it.

pub mod causes;
pub mod check;
pub mod die_events;
pub mod power;
pub mod stats;
pub mod timeline;

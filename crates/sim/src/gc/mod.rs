//! Garbage collection: which block is reclaimed, and how far a plane has got with it.

pub mod index;
pub mod job;
pub mod victim;

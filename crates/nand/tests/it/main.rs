//! Tests of one die alone: every time to the nanosecond, every order legal.

mod buffers;
mod cache_program;
mod copyback;
mod device;
mod erases;
mod guards;
mod ledger;
mod lengths;
mod multi_plane;
mod nested;
mod page_types;
mod pieces;
mod planes;
mod power;
mod programs;
mod random;
mod read_law;
mod refusals;
mod reliability;
mod resets;
mod restores;
mod resume_at;
mod segments;
mod target;
mod undisturbed;
mod wordlines;

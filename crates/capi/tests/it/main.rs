//! Tests of the C interface: as a run has it, by hand, in mid-flight, from C.

mod array;
mod c_drive;
mod contract;
mod programs;
mod same;
mod saved;

//! All integration tests of the simulator, in one binary.

mod oracle;
mod oracle_compare;
mod oracle_gen;
mod oracle_self;
mod worked_examples;

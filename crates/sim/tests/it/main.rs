//! All integration tests of the simulator, in one binary.

mod closed_form;
mod collection;
mod commands;
mod conservation;
mod determinism;
mod dispatch;
mod drive;
mod golden;
mod loads;
mod mapping;
mod modes;
mod nested;
mod oracle;
mod oracle_compare;
mod oracle_gen;
mod oracle_self;
mod published;
mod schedulers;
mod smoke;
mod states;
mod worked_examples;

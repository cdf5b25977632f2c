//! All integration tests of the simulator, in one binary.

mod buffers;
mod closed_form;
mod collection;
mod commands;
mod conservation;
mod determinism;
mod dispatch;
mod drive;
mod flows;
mod golden;
mod host;
mod loads;
mod mapping;
mod modes;
mod nested;
mod oracle;
mod oracle_compare;
mod oracle_gen;
mod oracle_self;
mod published;
mod read_cache;
mod schedulers;
mod smoke;
mod states;
mod worked_examples;

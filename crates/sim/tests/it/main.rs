//! All integration tests of the simulator, in one binary.

mod cache_program;
mod closed_form;
mod commands;
mod conservation;
mod copyback;
mod determinism;
mod dispatch;
mod drive;
mod golden;
mod loads;
mod modes;
mod multi_plane;
mod nested;
mod oracle;
mod oracle_compare;
mod oracle_gen;
mod oracle_self;
mod planes;
mod published;
mod schedulers;
mod smoke;
mod states;
mod wordlines;
mod worked_examples;

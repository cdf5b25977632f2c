//! The drive in real time: a network block device whose every answer comes when the model says.
//!
//! One thread does it all: it waits for sockets and for the model's next instant, whichever comes
//! first. The model is that of a run; only here is there a clock, and only here are there sockets.

mod admission;
mod client_table;
mod clients;
mod clock;
mod command;
mod commands;
mod connection;
mod control;
mod drive;
mod ending;
mod handshake;
mod in_flight;
mod inject;
mod listener;
mod metrics;
mod options;
mod pieces;
mod protocol;
mod recorder;
mod report;
mod room;
mod scrape;
mod server;
mod side;
mod sides;
mod slots;
mod sockets;
mod store;
mod token;
mod transport;
mod waiting;

pub use inject::Injection;
pub use options::{Options, Place, Security, Source, Tls};
pub use server::Server;

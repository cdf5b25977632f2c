//! The drive in real time: a network block device whose answers come at the model's times.
//!
//! A single thread waits for sockets and for the model's next event. The model is that of a run;
//! only this crate has a clock and sockets.

mod admission;
mod client_table;
mod clock;
mod command;
mod connection;
mod control;
mod drive;
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

//! The drive in real time: a network block device whose answers come at the model's times.
//!
//! A single thread waits for sockets and for the model's next event. The model is that of a run;
//! only this crate has a clock and sockets.

mod admin;
mod admission;
mod client_table;
mod clock;
mod command;
mod connection;
mod control;
mod data_place;
mod drive;
mod handshake;
mod in_flight;
mod inject;
mod listener;
mod metrics;
mod options;
mod protocol;
mod recorder;
mod report;
mod scrape;
mod server;
mod slots;
mod sockets;
mod split;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod token;
mod transport;
mod waiting;

pub use inject::Injection;
pub use options::{Options, Place, Security, Source, Tls};
pub use server::Server;

//! What a server is asked for: its scenario, where clients find it, and where data goes.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::inject::Injection;

/// What a scenario is read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's content.
    pub text: String,
    /// Its path.
    pub path: String,
    /// Overrides `KEY=VALUE`.
    pub sets: Vec<String>,
}

/// Where clients find the drive.
#[derive(Clone, Debug)]
pub enum Place {
    /// At a socket in the file system.
    Unix(PathBuf),
    /// In the network.
    Tcp(SocketAddr, Security),
}

/// Who can listen in on a network.
#[derive(Clone, Debug)]
pub enum Security {
    /// Nobody.
    Tls(Tls),
    /// Anybody.
    Insecure,
}

/// What TLS needs, as files in PEM.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The server's certificates.
    pub cert: PathBuf,
    /// Their key.
    pub key: PathBuf,
    /// Whose certificates clients have to have; `None`: they need none.
    pub client_ca: Option<PathBuf>,
}

/// What is asked of a server beyond its scenario.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where clients find the drive.
    pub place: Place,
    /// Where commands of `reprieve ctl` are taken; `None`: nowhere.
    pub control: Option<PathBuf>,
    /// The saved state that the drive starts in; `None`: it is preconditioned.
    pub from_state: Option<PathBuf>,
    /// The file that holds the data; `None`: memory does, or a file without a name.
    pub store: Option<PathBuf>,
    /// Memory that data may take up; `None`: as much as the drive has.
    pub memory_bytes: Option<u64>,
    /// No data is kept; reads give zeros.
    pub discard_data: bool,
    /// How many thousandths times slower than the wall's the model's clock runs; above 0.
    pub scale_thousandths: u64,
    /// Where what is asked of the drive is recorded.
    pub record: Option<PathBuf>,
    /// Where metrics are told.
    pub metrics: Option<SocketAddr>,
    /// Faults that commands are to meet.
    pub faults: Vec<Injection>,
}

//! The options of a server: scenario, address, store.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::inject::Injection;

/// The source of a scenario.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file's content.
    pub text: String,
    /// Its path.
    pub path: String,
    /// Overrides `KEY=VALUE`.
    pub sets: Vec<String>,
}

/// The address of the drive.
#[derive(Clone, Debug)]
pub enum Place {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A socket of the network.
    Tcp(SocketAddr, Security),
}

/// Encryption of a network socket.
#[derive(Clone, Debug)]
pub enum Security {
    /// TLS.
    Tls(Tls),
    /// None.
    Insecure,
}

/// TLS files, in PEM.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The server's certificates.
    pub cert: PathBuf,
    /// Their key.
    pub key: PathBuf,
    /// CA of clients' certificates; `None`: clients need none.
    pub client_ca: Option<PathBuf>,
}

/// The options of a server beyond its scenario.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address of the drive.
    pub place: Place,
    /// The control socket; `None`: none.
    pub control: Option<PathBuf>,
    /// The saved state that the drive starts in; `None`: it is preconditioned.
    pub from_state: Option<PathBuf>,
    /// The file that stores the data; `None`: memory, or a temporary file.
    pub store: Option<PathBuf>,
    /// Limit on memory for data; `None`: the capacity of the drive.
    pub memory_bytes: Option<u64>,
    /// No data is kept; reads give zeros.
    pub discard_data: bool,
    /// Thousandths by which the model's clock is slower than the wall's; above 0.
    pub scale_thousandths: u64,
    /// The file of the recording.
    pub record: Option<PathBuf>,
    /// The address of the metrics.
    pub metrics: Option<SocketAddr>,
    /// Faults to inject.
    pub faults: Vec<Injection>,
}

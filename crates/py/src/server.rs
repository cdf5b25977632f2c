//! A drive that serves: made, preconditioned and opened from Python, then run without it.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use reprieve_base::UserError;
use reprieve_serve::{Injection, Options, Place, Security, Server as Device, Source, Tls};

use crate::raise;

/// A drive as a network block device.
#[pyclass(module = "reprieve._native")]
pub struct Server {
    device: Mutex<Device>,
    #[pyo3(get)]
    stop_fd: i32,
    #[pyo3(get)]
    bytes: u64,
    #[pyo3(get)]
    data_note: Option<String>,
}

/// Parses an address.
fn address(option: &str, text: &str) -> Result<SocketAddr, UserError> {
    let found = text.to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| {
        let what = "is no address; it must be HOST:PORT, such as 127.0.0.1:10809";
        UserError::new(format!("{option} {text}: {what}"))
    })
}

/// Options of the command line, which validates them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Asked {
    socket: Option<PathBuf>,
    tcp: Option<String>,
    tls: Option<(PathBuf, PathBuf)>,
    tls_client_ca: Option<PathBuf>,
    control: Option<PathBuf>,
    from_state: Option<PathBuf>,
    store: Option<PathBuf>,
    memory_bytes: Option<u64>,
    discard_data: bool,
    scale_thousandths: u64,
    record: Option<PathBuf>,
    metrics: Option<String>,
    faults: Vec<String>,
}

impl Asked {
    fn options(self) -> Result<Options, UserError> {
        let client_ca = self.tls_client_ca;
        let security = self
            .tls
            .map_or(Security::Insecure, |(cert, key)| Security::Tls(Tls { cert, key, client_ca }));
        let place = match (self.socket, self.tcp) {
            (Some(path), None) => Place::Unix(path),
            (None, Some(text)) => Place::Tcp(address("--tcp", &text)?, security),
            _ => return Err(UserError::new("either --socket or --tcp says where the drive is")),
        };
        Ok(Options {
            place,
            control: self.control,
            from_state: self.from_state,
            store: self.store,
            memory_bytes: self.memory_bytes,
            discard_data: self.discard_data,
            scale_thousandths: self.scale_thousandths,
            record: self.record,
            metrics: self.metrics.map(|text| address("--metrics", &text)).transpose()?,
            faults: self
                .faults
                .iter()
                .map(|text| Injection::parse(text))
                .collect::<Result<_, _>>()?,
        })
    }
}

#[pymethods]
impl Server {
    /// `source`: the scenario's text, its path, and overrides.
    #[new]
    fn new(
        py: Python<'_>,
        source: (String, String, Vec<String>),
        asked: Asked,
    ) -> PyResult<Server> {
        let (text, path, sets) = source;
        let options = asked.options().map_err(raise)?;
        let made = py.detach(|| Device::new(Source { text, path, sets }, options));
        let device = made.map_err(raise)?;
        Ok(Server {
            stop_fd: device.stop_fd(),
            bytes: device.bytes(),
            data_note: device.data_note(),
            device: Mutex::new(device),
        })
    }

    /// Preconditions the drive in part; False when it is ready.
    fn prepare(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.lock().prepare()).map_err(raise)
    }

    /// Accepts clients; returns the addresses of drive, metrics and control.
    fn open(&self, py: Python<'_>) -> PyResult<[Option<String>; 3]> {
        py.detach(|| self.lock().open()).map_err(raise)
    }

    /// Serves until a byte is written to `stop_fd`, and returns the summary as JSON; `say` is
    /// called with messages for the user.
    fn run(&self, py: Python<'_>, say: Py<PyAny>) -> PyResult<String> {
        let mut tell = |text: &str| {
            Python::attach(|py| {
                if let Err(error) = say.call1(py, (text,)) {
                    error.write_unraisable(py, None);
                }
            });
        };
        let result = py.detach(|| self.lock().run(&mut tell));
        result.map(|summary| summary.to_string()).map_err(raise)
    }
}

impl Server {
    fn lock(&self) -> MutexGuard<'_, Device> {
        // A server that panicked is only dropped.
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

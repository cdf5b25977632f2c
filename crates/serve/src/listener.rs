//! Listening sockets, and authorisation of clients.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reprieve_base::UserError;
use rustix::fs::{Access, Mode, access, fchmod};
use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    socket_with,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::options::Tls;
use crate::transport::{Socket, SystemSocket};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;
/// The flags of sockets: they do not block, and no other program gets them.
const NONBLOCKING: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// A listening socket.
pub struct Listener {
    socket: OwnedFd,
    /// Its path, which is removed with it; `None`: it is of the network.
    path: Option<PathBuf>,
    /// Its address, as a user would write it.
    pub place: String,
}

impl Listener {
    /// Errors if no socket can be made at this path: something other than a dead server's socket
    /// exists there, or the folder is not writable.
    pub fn check_place(path: &Path, option: &str) -> Result<(), UserError> {
        let place = format!("{option} {}", path.display());
        let Ok(found) = fs::symlink_metadata(path) else {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let may = access(folder.unwrap_or(Path::new(".")), Access::WRITE_OK | Access::EXEC_OK);
            return may.map_err(|error| cannot_be_made(&error.into()).at(place));
        };
        let what = match found.file_type().is_socket() {
            false => "is there already, and no socket; it must be a path at which nothing is",
            true if is_deserted(path) => return Ok(()),
            true => "is where a server listens; it must be a path at which nothing is",
        };
        Err(UserError::new(what).at(place))
    }

    /// A socket in the file system that only its owner can connect to.
    pub fn unix(path: &Path, option: &str) -> Result<Listener, UserError> {
        Self::check_place(path, option)?;
        let make = || -> io::Result<OwnedFd> {
            let socket = unix_socket()?;
            if fs::symlink_metadata(path).is_ok() {
                fs::remove_file(path)?;
            }
            // Before it has a name, so that no other user can connect earlier.
            fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
            bind(&socket, &SocketAddrUnix::new(path)?)?;
            listen(&socket, BACKLOG)?;
            Ok(socket)
        };
        let place = format!("{option} {}", path.display());
        let socket = make().map_err(|error| cannot_be_made(&error).at(place))?;
        Ok(Listener { socket, path: Some(path.to_owned()), place: path.display().to_string() })
    }

    /// A socket of the network.
    pub fn tcp(address: SocketAddr, option: &str) -> Result<Listener, UserError> {
        let listener = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok((listener.local_addr()?.to_string(), listener))
        });
        let (place, listener) = listener.map_err(|error| {
            let what = format!("cannot be listened at: {error}");
            UserError::new(what).at(format_args!("{option} {address}"))
        })?;
        Ok(Listener { socket: listener.into(), path: None, place })
    }

    /// Accepts the next client; `None` if there is none now.
    pub fn accept(&self) -> io::Result<Option<Box<dyn Socket>>> {
        let socket = match accept_with(&self.socket, NONBLOCKING) {
            Ok(socket) => socket,
            Err(Errno::AGAIN) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if self.path.is_none() {
            set_tcp_nodelay(&socket, true)?;
        }
        Ok(Some(Box::new(SystemSocket(socket))))
    }
}

/// A socket in the file system that does not block and has no name yet.
fn unix_socket() -> rustix::io::Result<OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, NONBLOCKING, None)
}

fn cannot_be_made(error: &io::Error) -> UserError {
    UserError::new(format!("no socket can be made there: {error}"))
}

/// Whether nobody listens at a socket: its server was killed.
fn is_deserted(path: &Path) -> bool {
    let connected = unix_socket().and_then(|socket| connect(&socket, &SocketAddrUnix::new(path)?));
    connected == Err(Errno::CONNREFUSED)
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // It may be gone already.
            let _ = fs::remove_file(path);
        }
    }
}

fn fault(option: &str, path: &Path, what: String) -> UserError {
    UserError::new(what).at(format_args!("{option} {}", path.display()))
}

/// The certificates of a file in PEM, one at least.
fn certificates(option: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, UserError> {
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| fault(option, path, format!("holds no certificate in PEM: {error}")))?;
    match found.is_empty() {
        true => Err(fault(option, path, "holds no certificate in PEM".to_string())),
        false => Ok(found),
    }
}

/// The TLS configuration of a server: its certificates, their key, and the CA of clients, from
/// files in PEM.
pub fn tls_config(tls: &Tls) -> Result<Arc<ServerConfig>, UserError> {
    let Tls { cert, key, client_ca } = tls;
    let of_cert = |what| fault("--tls-cert", cert, what);
    let own = certificates("--tls-cert", cert)?;
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| fault("--tls-key", key, format!("holds no key in PEM: {error}")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let clients = match client_ca {
        None => WebPkiClientVerifier::no_client_auth(),
        Some(path) => {
            let of_ca = |error: String| fault("--tls-client-ca", path, error);
            let mut roots = RootCertStore::empty();
            for root in certificates("--tls-client-ca", path)? {
                roots.add(root).map_err(|error| of_ca(format!("holds no authority: {error}")))?;
            }
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .map_err(|error| of_ca(format!("holds no authority: {error}")))?
        }
    };
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder.with_client_cert_verifier(clients).with_single_cert(own, private)
        })
        .map_err(|error| of_cert(format!("does not do with the key: {error}")))?;
    Ok(Arc::new(config))
}

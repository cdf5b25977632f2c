//! Listening sockets, and authorisation of clients.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reprieve_base::UserError;
use rustix::fs::{Access, Mode, access, fchmod};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::options::Tls;
use crate::transport::Socket;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;

/// A listening socket.
pub enum Listener {
    /// With its path, which is removed with it.
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
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
        let make = || -> io::Result<UnixListener> {
            let socket = unix_socket()?;
            if fs::symlink_metadata(path).is_ok() {
                fs::remove_file(path)?;
            }
            // Before it has a name, so that no other user can connect earlier.
            fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
            bind(&socket, &SocketAddrUnix::new(path)?)?;
            listen(&socket, BACKLOG)?;
            Ok(UnixListener::from(socket))
        };
        let place = format!("{option} {}", path.display());
        let socket = make().map_err(|error| cannot_be_made(&error).at(place))?;
        Ok(Listener::Unix(socket, path.to_owned()))
    }

    /// A socket of the network.
    pub fn tcp(address: SocketAddr, option: &str) -> Result<Listener, UserError> {
        let listener = TcpListener::bind(address)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        let listener = listener.map_err(|error| {
            let what = format!("cannot be listened at: {error}");
            UserError::new(what).at(format_args!("{option} {address}"))
        })?;
        Ok(Listener::Tcp(listener))
    }

    /// Accepts the next client; `None` if there is none now.
    pub fn accept(&self) -> io::Result<Option<Socket>> {
        let socket = match self {
            Listener::Unix(listener, _) => listener.accept().and_then(|(socket, _)| {
                socket.set_nonblocking(true)?;
                Ok(Socket::Unix(socket))
            }),
            Listener::Tcp(listener) => listener.accept().and_then(|(socket, _)| {
                socket.set_nonblocking(true)?;
                socket.set_nodelay(true)?;
                Ok(Socket::Tcp(socket))
            }),
        };
        match socket {
            Ok(socket) => Ok(Some(socket)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Its address, as a user would write it.
    pub fn place(&self) -> String {
        match self {
            Listener::Unix(_, path) => path.display().to_string(),
            Listener::Tcp(listener) => {
                listener.local_addr().expect("a socket that listens has an address").to_string()
            }
        }
    }
}

/// A socket in the file system that does not block and has no name yet.
fn unix_socket() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
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
        match self {
            Listener::Unix(listener, _) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
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

//! TLS handshakes with a client whose bytes are altered on their way, or whose bytes are any.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use reprieve_serve::Tls;
use reprieve_serve::testing::{TlsEcho, tls_config};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, version};

static SERVER: LazyLock<Arc<ServerConfig>> = LazyLock::new(|| {
    let (cert, key) = (file("certificate.pem"), file("key.pem"));
    let tls = Tls { cert: cert.into(), key: key.into(), client_ca: None };
    tls_config(&tls).expect("a certificate and its key")
});

/// Clients of either version.
static CLIENTS: LazyLock<[Arc<ClientConfig>; 2]> = LazyLock::new(|| {
    let own = CertificateDer::from_pem_file(file("certificate.pem")).expect("a certificate");
    [&version::TLS13, &version::TLS12].map(|version| {
        let mut roots = RootCertStore::empty();
        roots.add(own.clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider);
        let config = config.with_protocol_versions(&[version]).expect("a version of the provider");
        Arc::new(config.with_root_certificates(roots).with_no_client_auth())
    })
});

fn file(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tls").join(name).display().to_string()
}

/// The first byte chooses: any bytes, all at once or after the first; or a client, of which three
/// bytes a flight alter one, or leave out the rest. Unaltered, a client gets its input back.
pub fn tls(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    if choice & 1 == 0 {
        let early = if choice & 2 == 0 { data.len() } else { data.len().min(1) };
        if let Ok(mut server) = TlsEcho::new(&SERVER, &data[..early]) {
            let _refused = server.receive(&data[early..]);
        }
        return;
    }
    let name = ServerName::try_from("localhost").expect("a name");
    let client = Arc::clone(&CLIENTS[usize::from(choice >> 1 & 1)]);
    let mut client = ClientConnection::new(client, name).expect("a client");
    let is_altered = !data.is_empty();
    let echoed = talk(&mut client, &mut data.chunks_exact(3));
    assert!(is_altered || echoed == Some(b"a block".to_vec()), "the client gets {echoed:?}");
}

/// Returns what the client gets back; `None`: one of them has closed.
fn talk<'a>(
    client: &mut ClientConnection,
    alterations: &mut impl Iterator<Item = &'a [u8]>,
) -> Option<Vec<u8>> {
    let mut server = TlsEcho::new(&SERVER, &[]).ok()?;
    let mut has_spoken = false;
    for _flight in 0..8 {
        if !client.is_handshaking() && !has_spoken {
            client.writer().write_all(b"a block").ok()?;
            has_spoken = true;
        }
        let mut flight = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut flight).ok()?;
        }
        if let Some([at, alter, cut]) = alterations.next() {
            let at = usize::from(*at) * flight.len() / 256;
            flight.get_mut(at).into_iter().for_each(|byte| *byte ^= alter);
            flight.truncate(if *cut == 1 { at } else { flight.len() });
        }
        let sent = server.receive(&flight).ok()?;
        client.read_tls(&mut &*sent).ok()?;
        client.process_new_packets().ok()?;
    }
    let mut echoed = [0; 16];
    let count = client.reader().read(&mut echoed).ok()?;
    Some(echoed[..count].to_vec())
}

//! A party that knows no plan and repeats what the other one says.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, DistinguishedName, Error, ServerConfig, ServerConnection,
    SignatureScheme, StreamOwned,
};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tacit_net::tcp::{self, Endpoint, Hello, Identity};
use tacit_net::{FRAME_HEADER, NetError, Options, keys};

/// Names of one length, so that the echo only has to replace one by the other.
const NAMES: [&str; 2] = ["alice", "mally"];

/// Takes anybody for whom it wants.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}

impl ClientCertVerifier for Anybody {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}

/// Both ways to speak with the other party under TLS, as the party with this key.
fn configurations(key: &str, certificate: &str) -> (Arc<ClientConfig>, Arc<ServerConfig>) {
    let provider =
        CryptoProvider { kx_groups: vec![aws_lc_rs::kx_group::X25519MLKEM768], ..aws_lc_rs::default_provider() };
    let provider = Arc::new(provider);
    let certificate = || vec![CertificateDer::from_pem_slice(certificate.as_bytes()).expect("our own PEM")];
    let key = || PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("our own PEM");
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody))
        .with_client_auth_cert(certificate(), key())
        .expect("a fitting pair");
    let server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_client_cert_verifier(Arc::new(Anybody))
        .with_single_cert(certificate(), key())
        .expect("a fitting pair");
    (Arc::new(client), Arc::new(server))
}

/// Says everything that it hears, with its own name in place of the other's, `times` times; then `after`.
fn echo(mut connection: impl Read + Write, times: usize, after: &[u8]) {
    let mut heard = [0; 4096];
    for _ in 0..times {
        let Ok(count @ 1..) = connection.read(&mut heard) else { return };
        let mut said = heard[..count].to_vec();
        let places: Vec<usize> = (0..count).filter(|&place| said[place..].starts_with(NAMES[0].as_bytes())).collect();
        for place in places {
            said[place..place + NAMES[1].len()].copy_from_slice(NAMES[1].as_bytes());
        }
        if connection.write_all(&said).and_then(|()| connection.flush()).is_err() {
            return;
        }
    }
    let _ = connection.write_all(after).and_then(|()| connection.flush());
    // It stays, silently.
    while connection.read(&mut heard).is_ok_and(|count| count > 0) {}
}

/// What an honest party makes of one that repeats this many messages of every handshake.
fn after_echoes(times: usize) -> Result<(), NetError> {
    let listeners = NAMES.map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let pairs = NAMES.map(|name| keys::generate(name).expect("randomness"));
    let addresses = listeners.each_ref().map(|listener| listener.local_addr().expect("bound").to_string());
    let parties = [0, 1].map(|party| Endpoint {
        name: NAMES[party].to_owned(),
        address: addresses[party].clone(),
        certificate_pem: pairs[party].1.clone(),
    });
    let (client, server) = configurations(&pairs[1].0, &pairs[1].1);
    let mut ready = [0; FRAME_HEADER];
    ready[0] = 6;
    let [honest, dishonest] = listeners;
    let door = addresses[0].clone();
    // These threads end with their connections.
    thread::spawn(move || {
        while let Ok((socket, _)) = dishonest.accept() {
            let server = Arc::clone(&server);
            thread::spawn(move || {
                echo(StreamOwned::new(ServerConnection::new(server).expect("TLS"), socket), times, &[]);
            });
        }
    });
    thread::spawn(move || {
        let name = ServerName::try_from("alice").expect("a name");
        let mut connection = ClientConnection::new(client, name).expect("TLS");
        let mut socket = TcpStream::connect(door).expect("a listener");
        while connection.is_handshaking() || connection.wants_write() {
            connection.complete_io(&mut socket).expect("the honest party answers");
        }
        echo(StreamOwned::new(connection, socket), times, &ready);
    });
    let identity = Identity::from_pem(&pairs[0].0, &pairs[0].1).expect("our own PEM");
    let options = Options { connect_timeout: Duration::from_secs(5), ..Options::default() };
    tcp::connect_with_listener(honest, &parties, 0, identity, Hello::new([7; 32], "rep3"), &options).map(drop)
}

#[test]
fn whoever_repeats_the_commitment_cannot_open_it() {
    let error = after_echoes(2).expect_err("it knows no plan");
    assert!(matches!(&error, NetError::Cheating { peer, .. } if peer == NAMES[1]), "{error}");
}

#[test]
fn whoever_repeats_a_commitment_and_reveals_nothing_is_not_connected() {
    let error = after_echoes(1).expect_err("it knows no plan");
    assert!(!matches!(error, NetError::DifferentPlan { .. }), "{error}");
}

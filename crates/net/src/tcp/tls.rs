//! TLS 1.3 between parties that know each other's exact certificate. No authority, no names, no expiry: the pinned
//! certificate is the identity, and the handshake proves possession of its key.

use super::Identity;
use crate::error::NetError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConfig, ResolvesClientCert, Resumption};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, ServerConfig};
use rustls::sign::SingleCertAndKey;
use rustls::{
    AlertDescription, CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerMisbehaved,
    SignatureScheme, version,
};
use std::io;
use std::sync::Arc;

/// How this party dials each peer and how it answers.
pub(super) struct Tls {
    pub server: Arc<ServerConfig>,
    /// One per party, each accepting that party's certificate only.
    pub clients: Vec<Arc<ClientConfig>>,
}

impl Tls {
    /// Prepare for the agreed `certificates`, one per party, this one's own at `me`.
    pub fn new(identity: &Identity, certificates: &[CertificateDer<'static>], me: usize) -> Result<Self, NetError> {
        let provider = Arc::new(provider());
        let algorithms = provider.signature_verification_algorithms;
        let own = Arc::new(SingleCertAndKey::from(Arc::clone(&identity.0)));
        let clients = certificates.iter().map(|expected| {
            let pinned = Pinned { accepted: vec![expected.clone()], algorithms };
            let mut config = ClientConfig::builder_with_provider(Arc::clone(&provider))
                .with_protocol_versions(&[&version::TLS13])?
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(pinned))
                .with_client_cert_resolver(Arc::clone(&own) as Arc<dyn ResolvesClientCert>);
            config.resumption = Resumption::disabled();
            config.enable_sni = false;
            Ok(Arc::new(config))
        });
        let clients = clients.collect::<Result<_, Error>>().map_err(unusable)?;
        let peers = certificates.iter().enumerate().filter(|(party, _)| *party != me);
        let accepted = peers.map(|(_, certificate)| certificate.clone()).collect();
        let server = server_config(&provider, Pinned { accepted, algorithms }, own);
        Ok(Self { server: Arc::new(server.map_err(unusable)?), clients })
    }
}

fn server_config(
    provider: &Arc<CryptoProvider>,
    pinned: Pinned,
    own: Arc<SingleCertAndKey>,
) -> Result<ServerConfig, Error> {
    let mut config = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&version::TLS13])?
        .with_client_cert_verifier(Arc::new(pinned))
        .with_cert_resolver(own);
    // A ticket that the dialler never reads would turn its orderly end into a reset.
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(config)
}

fn unusable(error: Error) -> NetError {
    NetError::BadConfiguration { detail: format!("this party cannot speak TLS 1.3: {error}") }
}

/// AES-GCM, which the hardware does, and key exchange that a later quantum computer does not undo: recorded shares of
/// two connections would give away the data they hide.
fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![
            aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256,
            aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384,
        ],
        kx_groups: vec![aws_lc_rs::kx_group::X25519MLKEM768],
        ..aws_lc_rs::default_provider()
    }
}

/// Accepts exactly the given certificates.
#[derive(Debug)]
struct Pinned {
    accepted: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        match self.accepted.iter().any(|accepted| accepted == certificate) {
            true => Ok(()),
            false => Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)),
        }
    }
}

/// TLS 1.2 is never offered, so its signatures never have to be judged.
fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::PeerMisbehaved(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme))
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        no_tls12()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// The name in the handshake's place for one; it is neither sent nor checked.
pub(super) fn no_name() -> ServerName<'static> {
    ServerName::IpAddress(std::net::IpAddr::from([0, 0, 0, 0]).into())
}

/// If this error is about certificates: which side refused the other's.
pub(super) fn wrong_key(error: &io::Error) -> Option<String> {
    match error.get_ref()?.downcast_ref::<Error>()? {
        Error::InvalidCertificate(_) | Error::NoCertificatesPresented => {
            Some("it shows another certificate than the one agreed for it".to_owned())
        }
        Error::AlertReceived(alert) if about_certificates(*alert) => {
            Some(format!("it refuses this party's certificate ({alert:?})"))
        }
        _ => None,
    }
}

fn about_certificates(alert: AlertDescription) -> bool {
    use AlertDescription as Alert;
    matches!(
        alert,
        Alert::AccessDenied
            | Alert::BadCertificate
            | Alert::CertificateRequired
            | Alert::CertificateUnknown
            | Alert::DecryptError
            | Alert::UnknownCA
            | Alert::UnsupportedCertificate
    )
}

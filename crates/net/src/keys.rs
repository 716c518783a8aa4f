//! Key pairs of parties: an ECDSA P-256 key and a self-signed certificate that peers pin exactly.

use crate::error::NetError;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use zeroize::Zeroizing;

/// Make a key pair for the party `name`: `(private_key_pem, certificate_pem)`. The private key is PKCS #8 and not
/// encrypted: write it to a file that only its owner can read. It is erased when it is dropped.
///
/// # Errors
/// [`NetError::BadConfiguration`] if the operating system gives no randomness or `name` cannot stand in a certificate.
pub fn generate(name: &str) -> Result<(Zeroizing<String>, String), NetError> {
    let failed = |error: rcgen::Error| bad(format!("no key pair could be made for party {name:?}: {error}"));
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
    let mut params = CertificateParams::new(Vec::new()).map_err(failed)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let certificate = params.self_signed(&key).map_err(failed)?;
    Ok((Zeroizing::new(key.serialize_pem()), certificate.pem()))
}

/// The SHA-256 of a certificate as people compare it: `"SHA256:"` and 32 hexadecimal bytes joined by ':'.
///
/// # Errors
/// [`NetError::BadConfiguration`] if the text holds no certificate.
pub fn fingerprint(certificate_pem: &str) -> Result<String, NetError> {
    let certificate = certificate(certificate_pem)?;
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let suite = provider.cipher_suites.iter().find_map(|suite| {
        let tls13 = suite.tls13()?;
        (tls13.common.hash_provider.algorithm() == rustls::crypto::hash::HashAlgorithm::SHA256).then_some(tls13)
    });
    let suite = suite.ok_or_else(|| bad("the cryptographic library has no SHA-256".to_owned()))?;
    let digest = suite.common.hash_provider.hash(&certificate);
    let bytes: Vec<String> = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("SHA256:{}", bytes.join(":")))
}

/// The first certificate in a PEM text.
pub(crate) fn certificate(pem: &str) -> Result<CertificateDer<'static>, NetError> {
    CertificateDer::from_pem_slice(pem.as_bytes())
        .map_err(|error| bad(format!("this is no certificate in PEM ({error}); make one with `tacit keys`")))
}

fn bad(detail: String) -> NetError {
    NetError::BadConfiguration { detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_pairs_differ_and_fingerprints_follow() {
        let (key, certificate) = generate("a").expect("randomness");
        let (other_key, other) = generate("a").expect("randomness");
        assert_ne!(key, other_key);
        let print = fingerprint(&certificate).expect("a certificate");
        assert_ne!(print, fingerprint(&other).expect("a certificate"));
        assert_eq!(print.len(), 7 + 95);
        assert!(fingerprint("nonsense").is_err());
    }
}

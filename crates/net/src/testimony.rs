//! What a party says under its name, signed by the key of its certificate, so that it can be shown to anybody later.
//!
//! The key is the one that TLS uses (ECDSA with P-256 and SHA-256), which all parties have pinned already
//! ([why](../../../docs/decisions/0041-signatures-by-the-party-key.md)). What is signed begins with the kind of the
//! testimony, so that a signature of one kind is none of another. A handshake of TLS 1.3 signs what begins with 64
//! spaces, and a certificate is signed as DER, which begins with the byte 0x30: neither is ever a testimony.

use crate::error::NetError;
use crate::keys;
use rustls::SignatureScheme;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, SignatureVerificationAlgorithm, alg_id};
use rustls::server::ParsedCertificate;
use rustls::sign::SigningKey;
use zeroize::Zeroizing;

/// Longest signature: two numbers of 33 bytes, each with its header, in a sequence.
pub const LONGEST: usize = 72;

/// All that stands before the point of a P-256 key in a certificate (RFC 5480): two sequences, the algorithm, the curve
/// and the bit string's header.
const P256: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The kind of a testimony.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// An entry of the party's ledger.
    Entry,
    /// The approval of a plan, for later runs.
    Approval,
    /// That the party takes part in a run, of a plan that it has approved.
    Attendance,
    /// How a run ended at the party.
    Record,
    /// The file of an answer.
    Answer,
}

impl Context {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Entry, Self::Approval, Self::Attendance, Self::Record, Self::Answer];

    /// By which name Python knows it, and what a signature says.
    pub fn name(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Approval => "approval",
            Self::Attendance => "attendance",
            Self::Record => "record",
            Self::Answer => "answer",
        }
    }

    /// That of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.name() == name)
    }

    /// What is signed: the kind, and the bytes behind their length.
    fn message(self, bytes: &[u8]) -> Vec<u8> {
        let length = (bytes.len() as u64).to_le_bytes();
        [b"tacit ", self.name().as_bytes(), b" v1\0", &length, bytes].concat()
    }
}

/// Sign by a private key in PEM. The signature is DER.
///
/// # Errors
/// [`NetError::BadConfiguration`] for what is no key that signs. The text of the key is not repeated.
pub fn sign(private_key_pem: &[u8], context: Context, bytes: &[u8]) -> Result<Vec<u8>, NetError> {
    let key = PrivateKeyDer::from_pem_slice(private_key_pem);
    let key = Zeroizing::new(key.map_err(|_| bad("this is no private key in PEM; make one with `tacit keys`"))?);
    let key = any_supported_type(&key).map_err(|_| of_other_kind())?;
    sign_with(&*key, context, bytes)
}

/// The same by a key that has been read.
pub(crate) fn sign_with(key: &dyn SigningKey, context: Context, bytes: &[u8]) -> Result<Vec<u8>, NetError> {
    let signer = key.choose_scheme(&[SignatureScheme::ECDSA_NISTP256_SHA256]).ok_or_else(of_other_kind)?;
    signer.sign(&context.message(bytes)).map_err(|_| bad("the cryptographic library does not sign; start again"))
}

/// Whether the key of a certificate in PEM has signed these bytes as a testimony of this kind.
///
/// # Errors
/// [`NetError::BadConfiguration`] for what is no certificate.
pub fn verify(certificate_pem: &str, context: Context, bytes: &[u8], signature: &[u8]) -> Result<bool, NetError> {
    Ok(verify_with(&keys::certificate(certificate_pem)?, context, bytes, signature))
}

/// The same for a certificate that has been read.
pub(crate) fn verify_with(certificate: &CertificateDer<'_>, context: Context, bytes: &[u8], signature: &[u8]) -> bool {
    let (Some(point), Some(algorithm)) = (point(certificate), algorithm()) else { return false };
    algorithm.verify_signature(&point, &context.message(bytes), signature).is_ok()
}

/// The point of a P-256 key in a certificate.
fn point(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    Some(parsed.subject_public_key_info().as_ref().strip_prefix(&P256)?.to_vec())
}

fn algorithm() -> Option<&'static dyn SignatureVerificationAlgorithm> {
    let all = default_provider().signature_verification_algorithms.all;
    let wanted = (alg_id::ECDSA_P256, alg_id::ECDSA_SHA256);
    all.iter().copied().find(|each| (each.public_key_alg_id(), each.signature_alg_id()) == wanted)
}

fn of_other_kind() -> NetError {
    bad("this private key is of no kind that signs for a party; make one with `tacit keys`")
}

fn bad(detail: &str) -> NetError {
    NetError::BadConfiguration { detail: detail.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_signature_is_of_one_kind_by_one_key_and_of_these_bytes() {
        let [(key, certificate), (_, other)] = ["a", "b"].map(|name| keys::generate(name).expect("randomness"));
        for context in Context::ALL {
            let signature = sign(key.as_bytes(), context, b"said").expect("a key");
            assert!(signature.len() <= LONGEST);
            for read in Context::ALL {
                let found = verify(&certificate, read, b"said", &signature).expect("a certificate");
                assert_eq!(found, read == context, "{context:?} read as {read:?}");
            }
            assert!(!verify(&certificate, context, b"sai", &signature).expect("a certificate"));
            assert!(!verify(&certificate, context, b"said\0", &signature).expect("a certificate"));
            assert!(!verify(&other, context, b"said", &signature).expect("a certificate"));
        }
    }

    #[test]
    fn what_is_no_key_and_no_certificate_is_told() {
        let (key, certificate) = keys::generate("a").expect("randomness");
        let error = sign(certificate.as_bytes(), Context::Entry, b"").expect_err("no key").to_string();
        assert!(error.contains("no private key"), "{error}");
        assert!(verify(&key, Context::Entry, b"", b"").is_err());
        let broken = key.replace("PRIVATE", "SECRET");
        assert!(!sign(broken.as_bytes(), Context::Entry, b"").expect_err("no key").to_string().contains("SECRET"));
    }

    #[test]
    fn names_are_of_one_kind_each() {
        for context in Context::ALL {
            assert_eq!(Context::named(context.name()), Some(context));
        }
        assert_eq!(Context::named("handshake"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn arbitrary_and_changed_bytes_are_no_signature(bytes: Vec<u8>, place: usize, flip in 1u8..) {
            let (key, certificate) = keys::generate("a").expect("randomness");
            prop_assert!(!verify(&certificate, Context::Record, b"said", &bytes).expect("a certificate"));
            let mut signature = sign(key.as_bytes(), Context::Record, b"said").expect("a key");
            let place = place % signature.len();
            signature[place] ^= flip;
            prop_assert!(!verify(&certificate, Context::Record, b"said", &signature).expect("a certificate"));
        }
    }
}

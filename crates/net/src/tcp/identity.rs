//! What a party proves itself with.

use crate::error::NetError;
use crate::keys;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{Error, InconsistentKeys};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A party's private key and certificate. The key stands in the cryptographic library's memory alone, which erases it.
#[derive(Clone)]
pub struct Identity(pub(super) Arc<CertifiedKey>);

impl Identity {
    /// Read both from PEM texts, as [`keys::generate`] makes them. What is read of the key on the way is erased.
    ///
    /// # Errors
    /// [`NetError::BadConfiguration`] if either text does not hold what it should. The text of the key is not repeated.
    pub fn from_pem(private_key_pem: impl AsRef<[u8]>, certificate_pem: &str) -> Result<Self, NetError> {
        let bad = |detail: &str| NetError::BadConfiguration { detail: detail.to_owned() };
        let no_key = |_| bad("this is no private key in PEM; make one with `tacit keys`");
        let key = Zeroizing::new(PrivateKeyDer::from_pem_slice(private_key_pem.as_ref()).map_err(no_key)?);
        let signing = any_supported_type(&key)
            .map_err(|_| bad("this private key is of no kind that is used; make one with `tacit keys`"))?;
        let certified = CertifiedKey::new(vec![keys::certificate(certificate_pem)?], signing);
        match certified.keys_match() {
            Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(Self(Arc::new(certified))),
            Err(_) => Err(bad("this party's private key is not that of its certificate; copy the right one")),
        }
    }

    /// The signing key of the party.
    pub(crate) fn key(&self) -> &dyn SigningKey {
        &*self.0.key
    }

    /// What proves who the party is.
    pub(super) fn certificate(&self) -> &CertificateDer<'static> {
        &self.0.cert[0]
    }
}

impl std::fmt::Debug for Identity {
    /// Without the private key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_debug_nor_errors_show_the_key() {
        let (key, certificate) = keys::generate("a").expect("randomness");
        let identity = Identity::from_pem(&key, &certificate).expect("both are PEM");
        assert_eq!(format!("{identity:?}"), "Identity { .. }");
        let (_, other) = keys::generate("b").expect("randomness");
        let error = Identity::from_pem(&key, &other).expect_err("a key of another certificate").to_string();
        assert!(error.contains("not that of its certificate"), "{error}");
        let broken = key.replace("PRIVATE", "SECRET");
        let error = Identity::from_pem(&broken, &certificate).expect_err("no key in it").to_string();
        assert!(!error.contains("SECRET"));
    }
}

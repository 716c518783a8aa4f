//! What a party proves itself with.

use crate::error::NetError;
use crate::keys;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A party's private key and certificate.
pub struct Identity {
    pub(crate) key: PrivateKeyDer<'static>,
    pub(crate) certificate: CertificateDer<'static>,
}

impl Identity {
    /// Read both from PEM texts, as [`keys::generate`] makes them.
    ///
    /// # Errors
    /// [`NetError::BadConfiguration`] if either text does not hold what it should. The text of the key is not repeated.
    pub fn from_pem(private_key_pem: &str, certificate_pem: &str) -> Result<Self, NetError> {
        let key =
            PrivateKeyDer::from_pem_slice(private_key_pem.as_bytes()).map_err(|_| NetError::BadConfiguration {
                detail: "this is no private key in PEM; make one with `tacit keys`".to_owned(),
            })?;
        Ok(Self { key, certificate: keys::certificate(certificate_pem)? })
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
        let broken = key.replace("PRIVATE", "SECRET");
        let error = Identity::from_pem(&broken, &certificate).expect_err("no key in it").to_string();
        assert!(!error.contains("SECRET"));
    }
}

//! Key pairs of parties.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use tacit_net::keys;
use zeroize::Zeroizing;

use crate::fault::Result;

/// A party's private key (PEM) as Python gives it: a bytearray, which its holder can erase, or bytes or a string, which
/// nobody can. This copy is erased when it is dropped.
pub struct PrivateKey(pub Zeroizing<Vec<u8>>);

impl<'a, 'py> FromPyObject<'a, 'py> for PrivateKey {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let copy = if let Ok(bytes) = given.cast::<PyByteArray>() {
            bytes.to_vec()
        } else if let Ok(bytes) = given.cast::<PyBytes>() {
            bytes.as_bytes().to_vec()
        } else {
            given.extract::<&str>()?.as_bytes().to_vec()
        };
        Ok(Self(Zeroizing::new(copy)))
    }
}

/// A fresh (private key PEM, self-signed certificate PEM) for a party. The key is a bytearray, so that it can be
/// erased.
#[pyfunction]
pub fn generate_keys<'py>(py: Python<'py>, name: &str) -> Result<(Bound<'py, PyByteArray>, String)> {
    let (key, certificate) = py.detach(|| keys::generate(name))?;
    Ok((PyByteArray::new(py, key.as_bytes()), certificate))
}

/// SHA-256 of the certificate, as shown to people.
#[pyfunction]
pub fn fingerprint(certificate_pem: &str) -> Result<String> {
    Ok(keys::fingerprint(certificate_pem)?)
}

/// The version of tacit, the same for all parties of a run.
#[pyfunction]
pub fn version() -> &'static str {
    tacit_net::VERSION
}

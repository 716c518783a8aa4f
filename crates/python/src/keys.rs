//! Key pairs of parties.

use pyo3::prelude::*;
use tacit_net::keys;

use crate::fault::Result;

/// A fresh (private key PEM, self-signed certificate PEM) for a party.
#[pyfunction]
pub fn generate_keys(py: Python<'_>, name: &str) -> Result<(String, String)> {
    Ok(py.detach(|| keys::generate(name))?)
}

/// SHA-256 of the certificate, as shown to people.
#[pyfunction]
pub fn fingerprint(certificate_pem: &str) -> Result<String> {
    Ok(keys::fingerprint(certificate_pem)?)
}

/// The version of tacit, the same for all parties of a run.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

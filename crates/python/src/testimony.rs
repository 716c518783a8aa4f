//! What parties sign, and who takes part in a run.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit_net::attendance;
use tacit_net::testimony::{self, Context};
use tacit_run::RunError;

use crate::fault::{Failure, Result};
use crate::keys::PrivateKey;

/// A run and its parties, with hashes and signatures in hexadecimal.
#[derive(IntoPyObject)]
pub struct Attendance {
    run: String,
    plan_hash: String,
    approval: String,
    parties: Vec<Present>,
}

/// A party of a run.
#[derive(IntoPyObject)]
struct Present {
    name: String,
    previous: String,
    signature: String,
}

impl Attendance {
    /// As Python has it.
    pub fn of(found: &attendance::Attendance) -> Self {
        let attendance::Attendance { run, plan_hash, approved, parties } = found;
        let parties = parties.iter().map(|present| Present {
            name: present.name.clone(),
            previous: hexadecimal(&present.head),
            signature: hexadecimal(&present.signature),
        });
        let [run, plan_hash, approval] = [run, plan_hash, approved].map(|each| hexadecimal(each));
        Self { run, plan_hash, approval, parties: parties.collect() }
    }
}

/// The signature (DER) of bytes as a testimony of a kind, by a party's private key.
#[pyfunction]
pub fn sign<'py>(
    py: Python<'py>,
    private_key_pem: PrivateKey,
    context: &str,
    content: &[u8],
) -> Result<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &testimony::sign(&private_key_pem.0, named(context)?, content)?))
}

/// Whether the key of a certificate has signed bytes as a testimony of a kind.
#[pyfunction]
pub fn signed_by(certificate_pem: &str, context: &str, content: &[u8], signature: &[u8]) -> Result<bool> {
    Ok(testimony::verify(certificate_pem, named(context)?, content, signature)?)
}

/// Whether the key of a certificate has signed that its party takes part in a run. ledger: the hash of its last entry.
#[pyfunction]
pub fn attends(
    certificate_pem: &str,
    run: &[u8],
    plan_hash: &[u8],
    approval: &[u8],
    ledger: &[u8],
    signature: &[u8],
) -> Result<bool> {
    let statement = attendance::statement(&hash(run)?, &hash(plan_hash)?, &hash(approval)?, &hash(ledger)?);
    Ok(testimony::verify(certificate_pem, Context::Attendance, &statement, signature)?)
}

fn named(context: &str) -> Result<Context> {
    Context::named(context).ok_or_else(|| Failure::input(format!("there is no testimony of the kind {context:?}")))
}

/// 32 bytes.
pub fn hash(bytes: &[u8]) -> Result<[u8; 32]> {
    Ok(bytes.try_into().map_err(|_| RunError::HashLength(bytes.len()))?)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

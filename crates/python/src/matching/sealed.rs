//! A private file with anything in it, encrypted under the party's key.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit_linkage::MatchError;
use tacit_linkage::files::SEALED;
use tacit_run::kept::sealing_key;
use tacit_sealed::pieces;

use crate::fault::Result;

/// Write a file, whole or not at all, in the place of any other; on disk when this returns. label: what the file is,
/// for who reads it.
#[pyfunction]
pub fn write_sealed(py: Python<'_>, path: PathBuf, key: Vec<u8>, label: &str, content: &[u8]) -> Result<()> {
    let key = sealing_key(&key)?;
    py.detach(|| Ok(pieces::replace(&path, &SEALED, &key, label.as_bytes(), 0, content).map_err(MatchError::from)?))
}

/// Read a file that `write_sealed` has written with the same label; None if there is none.
#[pyfunction]
pub fn read_sealed<'py>(
    py: Python<'py>,
    path: PathBuf,
    key: Vec<u8>,
    label: &str,
) -> Result<Option<Bound<'py, PyBytes>>> {
    let key = sealing_key(&key)?;
    let read = py.detach(|| -> Result<Option<Vec<u8>>> {
        let found = pieces::Pieces::open(path, &SEALED, &key, label.as_bytes()).and_then(pieces::Pieces::only);
        Ok(found.map_err(MatchError::from)?.map(|(_, content)| content))
    })?;
    Ok(read.map(|content| PyBytes::new(py, &content)))
}

/// Encrypt bytes for a part of a file. label: what they are, for who reads them.
#[pyfunction]
pub fn seal<'py>(py: Python<'py>, key: Vec<u8>, label: &str, content: &[u8]) -> Result<Bound<'py, PyBytes>> {
    let key = sealing_key(&key)?;
    let sealed = py.detach(|| pieces::seal(&SEALED, &key, label.as_bytes(), content)).map_err(MatchError::from)?;
    Ok(PyBytes::new(py, &sealed))
}

/// Decrypt what `seal` has made with the same key and label.
#[pyfunction]
pub fn unseal<'py>(py: Python<'py>, key: Vec<u8>, label: &str, sealed: &[u8]) -> Result<Bound<'py, PyBytes>> {
    let key = sealing_key(&key)?;
    let open = || pieces::unseal(Path::new(label), &SEALED, &key, label.as_bytes(), sealed);
    Ok(PyBytes::new(py, &zeroize::Zeroizing::new(py.detach(open).map_err(MatchError::from)?)))
}

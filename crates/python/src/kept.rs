//! Kept tables: their files at one node, and the shares that a session takes of them.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use tacit_run::kept::{KeptPart, KeptTable, header_of, sealing_key};
use tacit_run::kept_file;
use tacit_run::{RunError, contain};

use crate::fault::{Failure, Fault, Result};

/// What the file of a kept table says of itself (JSON), unchecked.
#[pyfunction]
pub fn kept_header(py: Python<'_>, path: PathBuf) -> Result<String> {
    Ok(py.detach(|| contain(|| header_of(&path)))?)
}

/// The file of a kept table at one node.
#[pyclass(frozen, module = "tacit._native")]
pub struct KeptFile(Mutex<kept_file::KeptFile>);

#[pymethods]
impl KeptFile {
    /// Open a file and check all but its shares. key: 32 bytes.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, key: &[u8]) -> Result<Self> {
        let file = py.detach(|| contain(|| kept_file::KeptFile::open(&path, &sealing_key(key)?)))?;
        Ok(Self(Mutex::new(file)))
    }

    /// What it says of itself (JSON).
    #[getter]
    fn header(&self) -> Result<String> {
        Ok(self.lock()?.header())
    }

    /// Read the shares that a kept operator takes.
    fn read(&self, py: Python<'_>, operator: &str) -> Result<KeptShares> {
        py.detach(|| {
            let mut file = self.lock()?;
            let part = contain::<_, RunError>(|| file.read(operator))?;
            Ok(KeptShares { table: part.table.clone(), part: Mutex::new(Some(part)) })
        })
    }
}

impl KeptFile {
    fn lock(&self) -> Result<MutexGuard<'_, kept_file::KeptFile>> {
        self.0.lock().map_err(|_| Failure::new(Fault::Internal, "a reader of a kept table has failed"))
    }
}

/// This node's shares of a kept table, for one session. Not printable.
#[pyclass(frozen, module = "tacit._native")]
pub struct KeptShares {
    table: KeptTable,
    part: Mutex<Option<KeptPart>>,
}

#[pymethods]
impl KeptShares {
    /// None of a table that a description (its header as JSON) is of: what a party without a part approves.
    #[staticmethod]
    fn none_of(description: &str) -> Result<Self> {
        Ok(Self { table: KeptTable::described(description)?, part: Mutex::new(None) })
    }
}

impl KeptShares {
    /// Of which table they are.
    pub fn table(&self) -> &KeptTable {
        &self.table
    }

    /// The shares, once.
    pub fn take(&self) -> Result<KeptPart> {
        let taken = self.part.lock().ok().and_then(|mut part| part.take());
        taken.ok_or_else(|| {
            Failure::input("these shares were taken before, or are of a party without a part; read the file")
        })
    }
}

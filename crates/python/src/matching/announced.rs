//! What parties announce of themselves, as Python hands it over and gets it.

use pyo3::prelude::*;
use tacit_linkage::messages::{self, Kind, Resume, RunName};

use crate::fault::{Failure, Result};

/// What a party tells the others of a match before anything else.
#[pyclass(frozen, from_py_object, module = "tacit._native")]
#[derive(Clone)]
pub struct Announcement(pub messages::Announcement);

#[pymethods]
impl Announcement {
    /// Of this party. kinds: of its key columns; columns: that it shares; resume: the run that it holds results of, and
    /// of each bin whether it has one.
    #[new]
    #[pyo3(signature = (*, rows, memory, workers, kinds, columns=vec![], resume=None))]
    fn new(
        rows: u64,
        memory: u64,
        workers: u32,
        kinds: Vec<String>,
        columns: Vec<String>,
        resume: Option<(String, Vec<bool>)>,
    ) -> Result<Self> {
        let (kinds, resume) = (kinds_named(&kinds)?, resume.map(resumed).transpose()?);
        let announced = messages::Announcement { rows, memory, workers, kinds, columns, resume };
        Ok(Self(announced))
    }

    /// Rows of the table.
    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows
    }

    /// Bytes of memory.
    #[getter]
    fn memory(&self) -> u64 {
        self.0.memory
    }

    /// The kinds of the key columns.
    #[getter]
    fn kinds(&self) -> Vec<&'static str> {
        self.0.kinds.iter().map(|kind| kind.name()).collect()
    }

    /// The names of the columns that are shared.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.columns.clone()
    }

    /// Of each bin of an earlier run whether there is a result; none without such a run.
    #[getter]
    fn done(&self) -> Vec<bool> {
        self.0.resume.as_ref().map_or_else(Vec::new, |resume| resume.done.clone())
    }

    /// Whether both parties hold results of one run in these bins.
    fn resumes_with(&self, other: &Self, bins: usize) -> bool {
        self.0.resumes_with(&other.0, bins)
    }
}

/// The names of the kinds of key columns.
#[pyfunction]
pub fn key_kinds() -> Vec<&'static str> {
    Kind::ALL.map(|(_, name)| name).to_vec()
}

/// Kinds by their names.
pub fn kinds_named(names: &[String]) -> Result<Vec<Kind>> {
    let named = |name: &String| Kind::named(name).ok_or_else(|| Failure::input(format!("there is no kind {name:?}")));
    names.iter().map(named).collect()
}

fn resumed((run, done): (String, Vec<bool>)) -> Result<Resume> {
    let run: RunName = run.parse().map_err(|()| Failure::input(format!("{run:?} is no name of a run")))?;
    Ok(Resume { run, done })
}

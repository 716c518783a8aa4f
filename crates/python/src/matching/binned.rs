//! A party's table in bins, and after the match the rows of a join.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use tacit_linkage::files::{Files, SEALED};
use tacit_linkage::keyed::Reading;
use tacit_linkage::output::total;
use tacit_linkage::{Bins, Counts, Join, KeyColumn, KeyedRows, Layout, Normaliser, Partition, Results, Rows};
use tacit_math::Seed;
use tacit_run::kept::sealing_key;
use tacit_sealed::Folder;

use super::rows::{MatchedRows, Reader};
use crate::arrow::{Stream, import_stream};
use crate::fault::{Failure, Result};
use crate::waiting::wait_for;

/// A party's rows in bins, and the result of every bin that has been matched.
#[pyclass(frozen, module = "tacit._native")]
pub struct Binned {
    pub bins: Arc<Bins>,
    results: Arc<Results>,
    counts: Counts,
}

impl Binned {
    /// The rows and their results, for a thread of their own.
    pub fn parts(&self) -> (Arc<Bins>, Arc<Results>) {
        (Arc::clone(&self.bins), Arc::clone(&self.results))
    }
}

/// What has been matched, over all bins.
#[derive(IntoPyObject)]
pub struct Totals {
    keys: u64,
    pairs: u64,
    peer_rows: u64,
}

#[pymethods]
impl Binned {
    /// Put a table into bins. columns: place and normaliser of every key column; payload: places of the columns to
    /// keep. folder: of the bins' files, with the run's name and the key under which they are encrypted; None keeps
    /// everything in memory.
    #[staticmethod]
    #[pyo3(signature = (data, *, key, columns, payload, bins, folder=None, flush_bytes=1 << 28, keep_keyless=false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn partition(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        key: [u8; 16],
        columns: Vec<(usize, String)>,
        payload: Vec<usize>,
        bins: usize,
        folder: Option<(PathBuf, String, Vec<u8>)>,
        flush_bytes: usize,
        keep_keyless: bool,
    ) -> PyResult<Self> {
        let stream = import_stream(data)?;
        let columns = key_columns(columns)?;
        let folder = folder.map(sealed).transpose()?;
        let layout = Layout { bins, folder, flush_bytes, keep_keyless };
        wait_for(py, move || partition(stream, &Seed::from_bytes(key), columns, payload, layout), || ())
    }

    /// The bins and results that an earlier run has left in a folder. data: a table of the same columns, its rows
    /// ignored; the rest as it was given to `partition`.
    #[staticmethod]
    #[pyo3(signature = (data, *, key, columns, payload, bins, folder))]
    fn reopen(
        data: &Bound<'_, PyAny>,
        key: [u8; 16],
        columns: Vec<(usize, String)>,
        payload: Vec<usize>,
        bins: usize,
        folder: (PathBuf, String, Vec<u8>),
    ) -> PyResult<Self> {
        let schema =
            RecordBatchStreamReader::try_new(import_stream(data)?).map_err(|error| unreadable(&error))?.schema();
        let schema = Arc::new(schema.project(&payload).map_err(|error| unreadable(&error))?);
        let folder = sealed(folder)?;
        let results = Arc::new(Results::new(bins, Some(Arc::clone(&folder))));
        let files = Files::new(folder, &Seed::from_bytes(key), &key_columns(columns)?, &payload);
        let bins = Bins::open(files, bins, schema).map_err(Failure::from)?;
        Ok(Self { bins: Arc::new(bins), results, counts: Counts::default() })
    }

    /// Rows in all, rows with NULL in a key column, and by key column the rows without canonical spelling and the first
    /// of them.
    #[getter]
    fn counts(&self) -> (u64, u64, Vec<(u64, Option<u64>)>) {
        (self.counts.rows, self.counts.null, self.counts.invalid.clone())
    }

    /// Of every bin whether it has a result.
    fn done(&self, py: Python<'_>) -> Vec<bool> {
        py.detach(|| self.results.done())
    }

    /// Of every bin how often it was begun; 0 of bins in memory.
    fn begun(&self, py: Python<'_>) -> Result<Vec<u64>> {
        Ok(py.detach(|| self.results.begun())?)
    }

    /// Of every bin whether the peer has shown or said that it has a result of it.
    fn confirmed(&self, py: Python<'_>) -> Result<Vec<bool>> {
        Ok(py.detach(|| self.results.confirmed())?)
    }

    /// Keep which bins the peer says that it has results of.
    fn confirm(&self, py: Python<'_>, told: Vec<bool>) -> Result<()> {
        Ok(py.detach(|| self.results.confirm(&told))?)
    }

    /// Force the bins to the disk.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        let bins = Arc::clone(&self.bins);
        wait_for(py, move || Ok(bins.sync()?), || ())
    }

    /// How many keys and pairs of rows have matched, and how many rows of the peer; after all bins are done.
    fn totals(&self, py: Python<'_>) -> Result<Totals> {
        py.detach(|| {
            let sum = |of: fn(&tacit_linkage::results::Matches) -> u64| total(&self.results, self.bins.count(), of);
            Ok(Totals {
                keys: sum(|m| m.keys)?,
                pairs: sum(|m| m.rows.len() as u64)?,
                peer_rows: sum(|m| m.peer_rows)?,
            })
        })
    }

    /// The rows of a join (inner, left, right, full, anti). first: whether this is the first party; peer_rows: all rows
    /// of the other.
    fn output(&self, py: Python<'_>, join: &str, first: bool, peer_rows: u64) -> Result<MatchedRows> {
        let join = Join::named(join).ok_or_else(|| {
            Failure::input(format!("there is no join {join:?}; choose inner, left, right, full or anti"))
        })?;
        let (bins, results) = (Arc::clone(&self.bins), Arc::clone(&self.results));
        let rows = py.detach(|| Rows::new(bins, results, join, first, peer_rows))?;
        Ok(MatchedRows::of(Reader { schema: rows.schema(), rows }))
    }
}

/// A party's rows with one key or several, in memory.
#[pyclass(frozen, module = "tacit._native")]
pub struct KeyedTable {
    pub rows: Arc<KeyedRows>,
    counts: Counts,
}

#[pymethods]
impl KeyedTable {
    /// Read a table. keys: place and normaliser of every column of every key, the most important key first; payload:
    /// places of the columns to keep.
    #[staticmethod]
    #[pyo3(signature = (data, *, key, keys, payload))]
    fn read(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        key: [u8; 16],
        keys: Vec<Vec<(usize, String)>>,
        payload: Vec<usize>,
    ) -> PyResult<Self> {
        let stream = import_stream(data)?;
        let keys = keys.into_iter().map(key_columns).collect::<Result<Vec<_>>>()?;
        if keys.is_empty() {
            return Err(Failure::input("a table has at least one key").into());
        }
        let read = move || {
            let reader = RecordBatchStreamReader::try_new(stream).map_err(|error| unreadable(&error))?;
            let schema = reader.schema();
            let mut reading = Reading::new(&Seed::from_bytes(key), keys, payload);
            for batch in reader {
                reading.push(&batch.map_err(|error| unreadable(&error))?)?;
            }
            let (rows, counts) = reading.finish(&schema)?;
            Ok(Self { rows: Arc::new(rows), counts })
        };
        wait_for(py, read, || ())
    }

    /// Rows in all, rows without any key, and by column of every key the values without canonical spelling and the
    /// first row of them.
    #[getter]
    fn counts(&self) -> (u64, u64, Vec<(u64, Option<u64>)>) {
        (self.counts.rows, self.counts.null, self.counts.invalid.clone())
    }
}

/// A folder, the name of the run whose files are in it, and the party's key for them.
fn sealed((path, run, key): (PathBuf, String, Vec<u8>)) -> Result<Arc<Folder>> {
    Ok(Arc::new(Folder::new(path, &SEALED, sealing_key(&key)?, run)))
}

/// Key columns by place and by the name of their normaliser.
fn key_columns(columns: Vec<(usize, String)>) -> Result<Vec<KeyColumn>> {
    let named = |(index, name): (usize, String)| Ok(KeyColumn { index, normaliser: Normaliser::named(&name)? });
    columns.into_iter().map(named).collect()
}

fn partition(
    stream: Stream,
    key: &Seed,
    columns: Vec<KeyColumn>,
    payload: Vec<usize>,
    layout: Layout,
) -> Result<Binned> {
    let reader = RecordBatchStreamReader::try_new(stream).map_err(|error| unreadable(&error))?;
    let schema = reader.schema();
    let (bins, folder) = (layout.bins, layout.folder.clone());
    let mut partition = Partition::new(key, columns, payload, layout);
    for batch in reader {
        partition.push(&batch.map_err(|error| unreadable(&error))?)?;
    }
    let (binned, counts) = partition.finish(schema)?;
    Ok(Binned { bins: Arc::new(binned), results: Arc::new(Results::new(bins, folder)), counts })
}

fn unreadable(error: &ArrowError) -> Failure {
    Failure::input(format!("the input cannot be read: {error}"))
}

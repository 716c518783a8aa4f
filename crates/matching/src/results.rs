//! Which rows matched, bin by bin. On disk a bin's result appears whole or not at all, so that a run resumes at the bins that have none.
//!
//! A file `N.matches` holds three numbers of 8 bytes (how many keys matched, how many of the peer's rows have them, how many rows
//! this party lists) and then 4 bytes a listed row.

use std::fs::{File, OpenOptions, rename};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::error::MatchError;

/// One bin's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// How many distinct keys matched.
    pub keys: u64,
    /// How many rows of the peer have one of them; 0 where this party does not learn it.
    pub peer_rows: u64,
    /// This party's rows of the bin in the joint order, one for each pair of rows that match.
    pub rows: Vec<u32>,
}

/// The results of all bins.
pub struct Results {
    folder: Option<PathBuf>,
    /// Without a folder; of each bin its result.
    held: Mutex<Vec<Option<Matches>>>,
    bins: usize,
}

impl Results {
    /// Of so many bins. folder: where the files are, some perhaps from an earlier run; None keeps them in memory.
    pub fn new(bins: usize, folder: Option<PathBuf>) -> Self {
        Self { folder, held: Mutex::new(vec![None; bins]), bins }
    }

    /// Of each bin whether it has a result.
    pub fn done(&self) -> Vec<bool> {
        match &self.folder {
            Some(folder) => (0..self.bins).map(|bin| folder.join(format!("{bin}.matches")).exists()).collect(),
            None => self.held.lock().unwrap_or_else(PoisonError::into_inner).iter().map(Option::is_some).collect(),
        }
    }

    /// Keeps the result of a bin; on disk when this returns.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn put(&self, bin: usize, matches: Matches) -> Result<(), MatchError> {
        let Some(folder) = &self.folder else {
            self.held.lock().unwrap_or_else(PoisonError::into_inner)[bin] = Some(matches);
            return Ok(());
        };
        let (path, fresh) = (folder.join(format!("{bin}.matches")), folder.join(format!("{bin}.fresh")));
        let write = || {
            let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&fresh)?;
            let head = [matches.keys, matches.peer_rows, matches.rows.len() as u64];
            file.write_all(bytemuck::cast_slice(&head))?;
            file.write_all(bytemuck::cast_slice(&matches.rows))?;
            file.sync_all()?;
            rename(&fresh, &path)
        };
        write().map_err(|error| MatchError::file(&path, &error))
    }

    /// The result of a bin.
    ///
    /// # Errors
    /// A file that cannot be read; an input error if the bin has none.
    pub fn get(&self, bin: usize) -> Result<Matches, MatchError> {
        let Some(folder) = &self.folder else {
            let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            return held[bin].clone().ok_or_else(|| MatchError::Input(format!("bin {bin} has no result yet")));
        };
        let path = folder.join(format!("{bin}.matches"));
        let read = || {
            let mut file = File::open(&path)?;
            let mut head = [0u64; 3];
            file.read_exact(bytemuck::cast_slice_mut(&mut head))?;
            let mut rows = vec![0; head[2] as usize];
            file.read_exact(bytemuck::cast_slice_mut(&mut rows))?;
            Ok(Matches { keys: head[0], peer_rows: head[1], rows })
        };
        read().map_err(|error| MatchError::file(&path, &error))
    }
}

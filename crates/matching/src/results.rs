//! Which rows matched, bin by bin. On disk a bin's result appears whole or not at all, so that a run resumes at the bins that have none.
//!
//! A file `N.matches` is one piece: two numbers of 8 bytes (how many keys matched, how many of the peer's rows have them) and 4 bytes a
//! row that this party lists.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::error::MatchError;
use crate::pieces::{Pieces, replace};

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
        let mut piece = bytemuck::cast_slice(&[matches.keys, matches.peer_rows]).to_vec();
        piece.extend_from_slice(bytemuck::cast_slice(&matches.rows));
        replace(&folder.join(format!("{bin}.matches")), matches.rows.len() as u64, &piece)
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
        let missing = || MatchError::Input(format!("bin {bin} has no result yet"));
        let (rows, piece) = Pieces::open(path.clone())?.next().ok_or_else(missing)??;
        let (numbers, listed) = piece.split_at_checked(16).ok_or_else(|| MatchError::damaged(&path))?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| numbers[at + i]));
        if rows.checked_mul(4) != Some(listed.len() as u64) {
            return Err(MatchError::damaged(&path));
        }
        Ok(Matches { keys: number(0), peer_rows: number(8), rows: bytemuck::pod_collect_to_vec(listed) })
    }
}

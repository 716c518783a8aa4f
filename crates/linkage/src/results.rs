//! The matching rows of each bin. On disk a bin's result appears whole or not at all: a resumed run goes on with the
//! bins without a result.
//!
//! A file `N.matches` is one piece: three numbers of 8 bytes and 4 bytes a row that this party lists. The numbers are
//! how many keys matched, how many of the peer's rows have them, and one more than the bin that the worker did before,
//! or 0.
//!
//! **Begun bins.** A file `N.begun` says how often bin N was begun here (8 bytes). It is on disk before the bin's first
//! message. A peer may break off when it has what it wanted of a bin, and before this party has its result. Such a peer
//! cannot have the bin matched again unseen.
//!
//! **Confirmed bins.** A peer that could call bins undone which it has results of could ask again with other rows. So
//! each party knows which of its bins the peer has a result of, too. A worker does one bin after another and keeps each
//! before the next one, so that a peer that took part in a bin has kept the one before. A peer that resumes says which
//! bins it has, which the file `confirmed` keeps.

use std::sync::{Arc, Mutex, PoisonError};

use tacit_sealed::Folder;

use crate::error::MatchError;
use crate::wrong_input::WrongInput;

/// The file about bins that the peer has said it has a result of: a byte for each.
const CONFIRMED: &str = "confirmed";

/// One bin's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// How many distinct keys matched.
    pub keys: u64,
    /// How many rows of the peer have one of them; 0 where this party does not learn it.
    pub peer_rows: u64,
    /// This party's rows of the bin in the joint order, one for each pair of rows that match.
    pub rows: Vec<u32>,
    /// The bin that the worker did before this one, if any: the peer has its result too.
    pub before: Option<u64>,
}

/// The results of all bins.
pub struct Results {
    folder: Option<Arc<Folder>>,
    /// Without a folder; of each bin its result.
    held: Mutex<Vec<Option<Matches>>>,
    bins: usize,
}

fn name(bin: usize) -> String {
    format!("{bin}.matches")
}

fn begun(bin: usize) -> String {
    format!("{bin}.begun")
}

impl Results {
    /// Results of `bins` bins. folder: where the files are, some perhaps from an earlier run; None keeps them in
    /// memory.
    pub fn new(bins: usize, folder: Option<Arc<Folder>>) -> Self {
        Self { folder, held: Mutex::new(vec![None; bins]), bins }
    }

    /// Whether they are kept in memory alone.
    pub fn in_memory(&self) -> bool {
        self.folder.is_none()
    }

    /// Of each bin whether it has a result.
    pub fn done(&self) -> Vec<bool> {
        match &self.folder {
            Some(folder) => (0..self.bins).map(|bin| folder.path(&name(bin)).exists()).collect(),
            None => self.held.lock().unwrap_or_else(PoisonError::into_inner).iter().map(Option::is_some).collect(),
        }
    }

    /// Keeps that a bin begins; on disk when this returns.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn begin(&self, bin: usize) -> Result<(), MatchError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let times = times(folder, bin)?.saturating_add(1);
        Ok(folder.replace(&begun(bin), 0, &times.to_le_bytes())?)
    }

    /// Of each bin how often it was begun; 0 where results are kept in memory alone, as nothing is resumed there.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn begun(&self) -> Result<Vec<u64>, MatchError> {
        let of_bin = |bin| self.folder.as_ref().map_or(Ok(0), |folder| times(folder, bin));
        (0..self.bins).map(of_bin).collect()
    }

    /// Of each bin whether the peer has shown or said that it has a result of it.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn confirmed(&self) -> Result<Vec<bool>, MatchError> {
        let mut confirmed = vec![false; self.bins];
        if let Some(folder) = &self.folder
            && let Some((_, told)) = folder.pieces(CONFIRMED)?.only()?
        {
            if told.len() != self.bins {
                return Err(MatchError::damaged(&folder.path(CONFIRMED)));
            }
            confirmed = told.iter().map(|&byte| byte == 1).collect();
        }
        for (bin, _) in self.done().into_iter().enumerate().filter(|&(_, done)| done) {
            let before = self.get(bin)?.before.and_then(|before| confirmed.get_mut(before as usize));
            before.into_iter().for_each(|confirmed| *confirmed = true);
        }
        Ok(confirmed)
    }

    /// Keeps which bins the peer says it has a result of, besides those that it has confirmed before; on disk when this
    /// returns.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn confirm(&self, told: &[bool]) -> Result<(), MatchError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let all = self.confirmed()?.into_iter().zip(told);
        let bytes: Vec<u8> = all.map(|(before, &now)| u8::from(before || now)).collect();
        Ok(folder.replace(CONFIRMED, self.bins as u64, &bytes)?)
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
        let before = matches.before.map_or(0, |bin| bin + 1);
        let mut piece = bytemuck::cast_slice(&[matches.keys, matches.peer_rows, before]).to_vec();
        piece.extend_from_slice(bytemuck::cast_slice(&matches.rows));
        Ok(folder.replace(&name(bin), matches.rows.len() as u64, &piece)?)
    }

    /// The result of a bin.
    ///
    /// # Errors
    /// A file that cannot be read; an input error if the bin has none.
    pub fn get(&self, bin: usize) -> Result<Matches, MatchError> {
        let missing = || MatchError::from(WrongInput::NoResult { bin });
        let Some(folder) = &self.folder else {
            let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            return held[bin].clone().ok_or_else(missing);
        };
        let damaged = || MatchError::damaged(&folder.path(&name(bin)));
        let (rows, piece) = folder.pieces(&name(bin))?.only()?.ok_or_else(missing)?;
        let (numbers, listed) = piece.split_at_checked(24).ok_or_else(damaged)?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| numbers[at + i]));
        if rows.checked_mul(4) != Some(listed.len() as u64) {
            return Err(damaged());
        }
        Ok(Matches {
            keys: number(0),
            peer_rows: number(8),
            before: number(16).checked_sub(1),
            rows: bytemuck::pod_collect_to_vec(listed),
        })
    }
}

/// How often a bin was begun.
fn times(folder: &Folder, bin: usize) -> Result<u64, MatchError> {
    let Some((_, piece)) = folder.pieces(&begun(bin))?.only()? else { return Ok(0) };
    let bytes = piece.try_into().map_err(|_| MatchError::damaged(&folder.path(&begun(bin))))?;
    Ok(u64::from_le_bytes(bytes))
}

//! The sealed files of one run in one folder. A file's public text is the run's name and its own. So none is taken for
//! another one of the folder, or for one of the same name that another run has left.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::file::sync_folder;
use crate::pieces::{self, Growing, Pieces};
use crate::{Kind, Result, SealedError, SealingKey};

/// A folder of sealed files.
pub struct Folder {
    path: PathBuf,
    kind: &'static Kind,
    key: SealingKey,
    run: String,
    growing: Mutex<HashMap<String, Growing>>,
}

impl Folder {
    /// A folder that exists. run: names the run whose files are in it.
    pub fn new(path: PathBuf, kind: &'static Kind, key: SealingKey, run: String) -> Self {
        Self { path, kind, key, run, growing: Mutex::default() }
    }

    /// Where a file is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn text(&self, name: &str) -> Vec<u8> {
        format!("{}/{name}", self.run).into_bytes()
    }

    /// Appends a piece to a file, which this process has begun, or begins now.
    ///
    /// # Errors
    /// [`SealedError::Unwritten`].
    pub fn append(&self, name: &str, rows: u64, piece: &[u8]) -> Result<()> {
        let path = self.path(name);
        let mut growing = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        if !growing.contains_key(name) {
            growing.insert(name.to_owned(), Growing::begin(&path, self.kind, &self.key, &self.text(name))?);
        }
        let file = growing.get_mut(name).expect("just begun");
        file.append(&path, self.kind, &self.key, rows, piece)
    }

    /// Makes a file of one piece, in the place of any other; on disk when this returns.
    ///
    /// # Errors
    /// [`SealedError::Unwritten`].
    pub fn replace(&self, name: &str, rows: u64, piece: &[u8]) -> Result<()> {
        pieces::replace(&self.path(name), self.kind, &self.key, &self.text(name), rows, piece)
    }

    /// The pieces of a file; none if it is not there.
    ///
    /// # Errors
    /// [`SealedError`], by what is wrong with the file.
    pub fn pieces(&self, name: &str) -> Result<Pieces> {
        Pieces::open(self.path(name), self.kind, &self.key, &self.text(name))
    }

    /// Forces files to the disk, as far as they are there, and their names.
    ///
    /// # Errors
    /// [`SealedError::Unwritten`].
    pub fn sync(&self, names: impl IntoIterator<Item = String>) -> Result<()> {
        for path in names.into_iter().map(|name| self.path(&name)) {
            match File::open(&path).and_then(|file| file.sync_all()) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(SealedError::unwritten(&path, &error));
                }
                _ => {}
            }
        }
        sync_folder(&self.path)
    }
}

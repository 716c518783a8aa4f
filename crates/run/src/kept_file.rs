//! Files of kept tables, as later sessions read them.

use std::path::Path;

use tacit_table::Operator;
use tacit_table::kept::{self, SealingKey};

use crate::error::{Result, RunError};
use crate::kept::{KeptPart, KeptTable};
use crate::registry::Engine;

/// The file of a kept table at one node.
pub struct KeptFile(kept::KeptFile);

impl KeptFile {
    /// Opens a file and checks all but its shares.
    ///
    /// # Errors
    /// When it is no such file, is damaged, or was encrypted under another key.
    pub fn open(path: &Path, key: &SealingKey) -> Result<Self> {
        Ok(Self(kept::KeptFile::open(path, key, |name| Engine::named(name).map(|engine| engine.components))?))
    }

    /// What it says of itself (JSON).
    pub fn header(&self) -> String {
        self.0.header().json()
    }

    /// What a kept operator (as JSON) takes up.
    ///
    /// # Errors
    /// When the operator is none of these, or reads another table.
    pub fn read(&mut self, operator: &str) -> Result<KeptPart> {
        let Operator::Kept(kept) = Operator::from_json(operator)? else { return Err(RunError::NoKept) };
        let table = KeptTable::of(self.0.header());
        Ok(KeptPart { table, shares: self.0.read(&kept)? })
    }
}

//! The members of the operators that keep shares for later sessions and read them again.

use serde::{Deserialize, Serialize};
use tacit_mpc::Shape;

use super::relational::InputColumn;
use crate::encode;

/// `keep`: every node writes its shares of a table to a file of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keep {
    /// Step id.
    pub id: usize,
    /// Step of the table.
    pub input: usize,
    /// The name under which it is kept.
    pub table: String,
    /// The columns kept, in order.
    pub columns: Vec<String>,
}

/// `kept`: a kept table, or some of its columns, becomes a table of this session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Step id.
    pub id: usize,
    /// The name under which it is kept.
    pub table: String,
    /// The columns, with the kinds in which they are kept.
    pub columns: Vec<InputColumn>,
    /// Its public number of rows.
    pub rows: usize,
    /// Whether some of its rows may not be valid.
    pub padded: bool,
    /// Who owns data in it, is no node, and has to approve each use of it.
    #[serde(default)]
    pub owners: Vec<String>,
}

impl Kept {
    /// The shape of the columns, and of the plane of valid rows if it is padded.
    pub fn shape(&self) -> Shape {
        encode::shape(&self.columns, self.rows, self.padded)
    }
}

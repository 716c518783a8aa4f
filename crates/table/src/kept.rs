//! Kept tables: a node's shares of a table in a file, encrypted, for later sessions.
//!
//! A file holds what one node has of every column, and in clear the [`Header`]: name, columns, rows, the nodes, and
//! which run has made it. What a kept table shows is its header. Each column is a part of the sealed file ([`parts`]),
//! component by component, null planes and planes before ring elements. Last come the valid bits, if some rows may not
//! be valid.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tacit_mpc::backends::Components;
use tacit_mpc::{Block, Rows, Shape};

use tacit_sealed::{Kind as FileKind, SealedError, parts};

pub use tacit_sealed::{CHUNK, SealingKey};

use crate::bundle::bundle;
use crate::encode::shape;
use crate::error::{Result, TableError};
use crate::operator::{Encoding, InputColumn, Keep, Kept, Kind};
use crate::table::Table;
use crate::wrong_input::WrongInput;

/// How files of kept tables begin, and what their keys are derived for.
const FILES: FileKind = FileKind {
    magic: *b"tacit kept 1\0\0\0\0",
    file_key: "tacit 2026-11-22 key of one file of a kept table",
    key_name: "tacit 2026-11-22 name of a key of kept tables",
};

/// The public facts of a kept table, the same at every node but for `node`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The name.
    pub table: String,
    /// Random, and common to the files of all nodes; in hexadecimal.
    pub id: String,
    /// The engine by which it is shared.
    pub engine: String,
    /// The nodes in engine order.
    pub nodes: Vec<String>,
    /// The node whose file this is.
    pub node: String,
    /// The public number of rows.
    pub rows: usize,
    /// Whether some of them may not be valid.
    pub padded: bool,
    /// The columns.
    pub columns: Vec<Column>,
    /// What the planner has to know of it, in its own words.
    pub about: Json,
    /// When it was made, in seconds since 1970 in UTC, as the nodes agreed; none in files that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<u64>,
}

/// A column of a kept table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What its integers stand for.
    pub encode: Encoding,
    /// Its kind.
    pub kind: Kind,
}

impl Header {
    /// The header of a table that is about to be kept.
    ///
    /// # Errors
    /// [`TableError::Input`] when a column is not of the table, or is a hash, whose key is of one plan only.
    pub fn new<B: Components>(table: &Table<B>, keep: &Keep, id: &[u8], nodes: &[String], me: usize) -> Result<Self> {
        let column = |name: &String| {
            let value = table.value(name)?;
            if value.encoding == Encoding::Hash {
                return Err(WrongInput::KeptHash { name: name.clone() }.into());
            }
            Ok(Column { name: name.clone(), encode: value.encoding, kind: value.kind })
        };
        Ok(Self {
            table: keep.table.clone(),
            id: id.iter().map(|byte| format!("{byte:02x}")).collect(),
            engine: B::NAME.to_owned(),
            nodes: nodes.to_vec(),
            node: nodes[me].clone(),
            rows: table.rows,
            padded: table.valid.is_some(),
            columns: keep.columns.iter().map(column).collect::<Result<_>>()?,
            about: Json::Null,
            made: None,
        })
    }

    /// The digest of all that the nodes' files have in common.
    pub fn digest(&self) -> [u8; 32] {
        let common = Self { node: String::new(), ..self.clone() };
        *blake3::hash(common.json().as_bytes()).as_bytes()
    }

    /// What the file of a kept table says of itself, unchecked: whoever has no key can only take its word.
    ///
    /// # Errors
    /// [`TableError::Input`] when it is no such file, or cannot be read.
    pub fn unchecked(path: &Path) -> Result<Self> {
        parsed(path, &parts::unchecked_text(path, &FILES)?)
    }

    /// As JSON text.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("names and numbers")
    }

    fn input_column(column: &Column) -> InputColumn {
        let Column { name, encode, kind } = column.clone();
        InputColumn { source: name.clone(), name, encode, kind }
    }

    /// The shape of one component of every part.
    fn shapes(&self) -> Vec<Shape> {
        let columns = self.columns.iter().map(|column| shape(&[Self::input_column(column)], self.rows, false));
        columns.chain(self.padded.then_some(Shape { rows: self.rows, bits: 1, ..Shape::default() })).collect()
    }
}

fn damaged(path: &Path, how: &str) -> TableError {
    SealedError::Damaged { path: path.into(), how: how.into() }.into()
}

fn parsed(path: &Path, text: &[u8]) -> Result<Header> {
    serde_json::from_slice(text).map_err(|_| damaged(path, "what it says of itself is no description of a table"))
}

/// Writes what this node holds of the columns of a table. On the disk when this returns.
///
/// # Errors
/// [`TableError::Input`] when the file cannot be written.
pub fn write<B: Components>(table: &Table<B>, header: &Header, path: &Path, key: &SealingKey) -> Result<()> {
    let mut file = parts::Writer::new(path, &FILES, key, header.json().as_bytes())?;
    let mut part = |rows: Rows<B>| {
        for component in B::take_apart(rows) {
            component.bytes().try_for_each(|bytes| file.push(bytes))?;
        }
        file.end_part()
    };
    for column in &header.columns {
        part(bundle(table.rows, [&**table.value(&column.name)?]).0)?;
    }
    if let Some(valid) = &table.valid {
        part(Rows { bits: vec![valid.clone()], ..Rows::empty(table.rows) })?;
    }
    Ok(file.finish()?)
}

/// The file of a kept table, of which everything but the shares was checked.
pub struct KeptFile {
    header: Header,
    file: parts::Reader,
    components: usize,
}

impl KeptFile {
    /// Opens the file of an engine. components: how many the engine's nodes hold of each value.
    ///
    /// # Errors
    /// [`TableError::Input`] when it is none, is damaged, or was encrypted under another key.
    pub fn open(path: &Path, key: &SealingKey, components: impl Fn(&str) -> Option<usize>) -> Result<Self> {
        let (file, text) = parts::Reader::open(path, &FILES, key)?;
        let header = parsed(path, &text)?;
        let unknown = || WrongInput::NoEngine { path: path.display().to_string(), engine: header.engine.clone() };
        let components = components(&header.engine).ok_or_else(unknown)?;
        let opened = Self { header, file, components };
        opened.file.check_length(&opened.parts())?;
        Ok(opened)
    }

    /// Its public facts.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes of every part.
    fn parts(&self) -> Vec<u64> {
        self.header.shapes().iter().map(|shape| shape.bytes() * self.components as u64).collect()
    }

    /// What this node holds of the columns that an operator reads.
    ///
    /// # Errors
    /// [`TableError::Input`] when the file is damaged, or not of the table that the operator describes.
    pub fn read(&mut self, kept: &Kept) -> Result<KeptShares> {
        let (parts, shapes) = (self.parts(), self.header.shapes());
        let mut out = vec![Block { rows: self.header.rows, ..Block::default() }; self.components];
        let mut wanted = kept.columns.iter().map(|column| self.place(column)).collect::<Result<Vec<_>>>()?;
        if (kept.rows, kept.padded, &kept.table) != (self.header.rows, self.header.padded, &self.header.table) {
            return Err(WrongInput::OtherTable { table: kept.table.clone() }.into());
        }
        wanted.extend(self.header.padded.then_some(shapes.len() - 1));
        for place in wanted {
            let mut part = self.file.part(&parts, place)?;
            for component in &mut out {
                let mut block = Block::zeros(shapes[place]);
                // Whatever the file has behind the last row of a plane is cleared here.
                block.fill_bytes(|bytes| {
                    part.read(bytes)?;
                    // A share that was on the disk is as secret as before.
                    tacit_marks::secret(bytes);
                    Ok::<(), TableError>(())
                })?;
                component.bits.append(&mut block.bits);
                component.r64.append(&mut block.r64);
                component.r128.append(&mut block.r128);
            }
        }
        Ok(KeptShares { engine: self.header.engine.clone(), read: kept.clone(), components: out })
    }

    /// The place of the column that an operator reads.
    fn place(&self, wanted: &InputColumn) -> Result<usize> {
        let same = |column: &Column| {
            (&column.name, column.encode, column.kind) == (&wanted.source, wanted.encode, wanted.kind)
        };
        let place = self.header.columns.iter().position(same);
        let missing = || WrongInput::KeptColumn { name: wanted.source.clone(), table: self.header.table.clone() };
        Ok(place.ok_or_else(missing)?)
    }
}

/// What one node holds of some columns of a kept table. Not printable.
#[must_use]
pub struct KeptShares {
    engine: String,
    /// The operator for which they were read.
    read: Kept,
    components: Vec<Block>,
}

impl KeptShares {
    /// The rows that an operator reads.
    ///
    /// # Errors
    /// [`TableError::Input`] when they are of another engine, or were read for another operator. A column of the same
    /// kind would be opened under the permit of the one that is in the plan.
    pub fn into_rows<B: Components>(self, kept: &Kept) -> Result<Rows<B>> {
        if self.engine != B::NAME || self.read != *kept {
            return Err(WrongInput::OtherShares.into());
        }
        Ok(B::put_together(self.components))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;
    use tacit_mpc::backends::{Components, Networked, Two};

    use super::parts::Writer;
    use super::{Column, FILES, Header, Kept, KeptFile, SealingKey};
    use crate::error::TableError;
    use crate::operator::{Encoding, InputColumn, Kind, Repr};
    use crate::wrong_input::WrongInput;

    const ROWS: usize = 70;
    const KIND: Kind = Kind { repr: Repr::Bits, width: 9, signed: false, nullable: false };

    /// A file of two columns of one kind, of which every bit of every plane is set, also those of rows that the table
    /// does not have.
    fn file() -> KeptFile {
        let column = |name: &str| Column { name: name.into(), encode: Encoding::Int, kind: KIND };
        let header = Header {
            table: "t".into(),
            id: "00".into(),
            engine: Two::NAME.into(),
            nodes: vec!["ann".into(), "bob".into()],
            node: "ann".into(),
            rows: ROWS,
            padded: true,
            columns: vec![column("x"), column("y")],
            about: Json::Null,
            made: None,
        };
        let folder = tempfile::tempdir().expect("a folder");
        let (path, key) = (folder.path().join("t"), SealingKey::new([7; 32]));
        let mut file = Writer::new(&path, &FILES, &key, header.json().as_bytes()).expect("a disk");
        for planes in [9, 9, 1] {
            file.push(&vec![0xff; 16 * planes]).expect("a disk");
            file.end_part().expect("a disk");
        }
        file.finish().expect("a disk");
        KeptFile::open(&path, &key, |_| Some(Two::COUNT)).expect("an intact file")
    }

    /// The operator that takes up a column under the name "v".
    fn reading(source: &str) -> Kept {
        let column = InputColumn { name: "v".into(), source: source.into(), encode: Encoding::Int, kind: KIND };
        Kept { id: 0, table: "t".into(), columns: vec![column], rows: ROWS, padded: true, owners: vec![] }
    }

    #[test]
    fn nothing_behind_the_last_row_is_taken_up() {
        let shares = file().read(&reading("x")).expect("an intact file");
        assert_eq!(shares.components[0].bits.len(), 10);
        assert!(shares.components[0].bits.iter().all(|plane| plane.words() == [!0, (1 << 6) - 1]));
    }

    /// One that is opened under the permit of the other.
    #[test]
    fn a_column_is_not_taken_up_in_place_of_another_of_its_kind() {
        let read = |source| file().read(&reading(source)).expect("an intact file");
        assert!(read("x").into_rows::<Two>(&reading("x")).is_ok());
        let refused = read("y").into_rows::<Two>(&reading("x")).err().expect("another column");
        assert!(matches!(refused, TableError::Input { what: WrongInput::OtherShares, .. }), "{refused}");
    }
}

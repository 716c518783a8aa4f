//! Permits: the right to open one value, minted only from the approved disclosures of a plan.
//!
//! A permit says what may be opened, to whom, and of which shape: each column with its kind, and how many rows at most.
//! An engine opens nothing that is not of this shape.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{MpcError, Result, Shape};

/// What kind of thing a permit discloses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermitKind {
    /// The query's own answer.
    Answer,
    /// Values beyond the answer.
    Value,
    /// A row count.
    Size,
    /// Which of its rows match another owner's.
    Matches,
    /// Keys of rows in an order that no node knows, to the party that says how these are ordered.
    Keys,
    /// How many rows of a shared table are valid, which no party knows before.
    Count,
}

/// In what a column that is opened is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// Boolean-shared planes.
    Bits,
    /// Additive shares modulo 2^32.
    Ring32,
    /// Additive shares modulo 2^64.
    Ring64,
    /// Additive shares modulo 2^128.
    Ring128,
}

/// The public facts about an opened column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenedKind {
    /// In what it is shared.
    pub repr: Sharing,
    /// Bits of the value: the planes themselves, or the public bound of a ring element.
    pub width: usize,
    /// Whether the value is in two's complement.
    pub signed: bool,
    /// Whether it may be NULL, of which there is a plane.
    pub nullable: bool,
}

impl fmt::Display for OpenedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { repr, width, signed, nullable } = self;
        let sharing = match repr {
            Sharing::Bits => "",
            Sharing::Ring32 => " modulo 2^32",
            Sharing::Ring64 => " modulo 2^64",
            Sharing::Ring128 => " modulo 2^128",
        };
        let (sign, null) = (if *signed { ", signed" } else { "" }, if *nullable { ", NULL" } else { "" });
        write!(f, "{width} bits{sharing}{sign}{null}")
    }
}

/// A table column that may be opened.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenedColumn {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: OpenedKind,
}

/// One entry of the approved list.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approval {
    site: String,
    kind: PermitKind,
    recipients: Vec<String>,
    columns: Vec<OpenedColumn>,
    /// No more rows than this; none where the plan knows no bound.
    rows: Option<u64>,
}

/// What an entry discloses, apart from how many rows of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Disclosure {
    site: String,
    kind: PermitKind,
    recipients: Vec<String>,
    columns: Vec<OpenedColumn>,
}

/// The approved disclosures of a plan that have not been used yet, each with the most rows that it may be of.
#[derive(Debug, Default)]
pub struct Permits(HashMap<Disclosure, Option<u64>>);

/// A count, as it is opened.
const COUNT: Shape = Shape { rows: 1, bits: 0, r32: 1, r64: 0, r128: 0 };

/// The right to open one value once. It can be neither copied nor made outside this module.
#[derive(Debug)]
#[must_use = "a permit that is not used discloses nothing"]
pub struct Permit {
    site: String,
    kind: PermitKind,
    recipients: Vec<String>,
    /// Of the columns, with no rows.
    shape: Shape,
    rows: Option<u64>,
}

impl Permits {
    /// The approved list as JSON (see docs/placed-plan.md).
    ///
    /// # Errors
    /// When the text is not such a list, or names a disclosure twice.
    pub fn from_json(text: &str) -> std::result::Result<Self, String> {
        let list: Vec<Approval> =
            serde_json::from_str(text).map_err(|e| format!("the approved disclosures are not valid JSON: {e}"))?;
        let count = list.len();
        let permits: HashMap<Disclosure, Option<u64>> = list.into_iter().map(Approval::split).collect();
        if permits.len() == count {
            Ok(Self(permits))
        } else {
            Err("the approved disclosures name one disclosure twice".into())
        }
    }

    /// Every approval that is left as JSON text, in one order, however the list was written.
    pub fn canonical(&self) -> Vec<String> {
        let text = |(disclosure, &rows): (&Disclosure, &Option<u64>)| {
            let Disclosure { site, kind, recipients, columns } = disclosure.clone();
            let approval = Approval { site, kind, recipients, columns, rows };
            serde_json::to_string(&approval).expect("names and numbers")
        };
        let mut texts: Vec<String> = self.0.iter().map(text).collect();
        texts.sort_unstable();
        texts
    }

    /// Takes the permit for exactly this disclosure out of the list.
    ///
    /// # Errors
    /// [`MpcError::NotPermitted`] when the list does not (or no longer) hold it.
    pub fn take(
        &mut self,
        site: &str,
        kinds: &[PermitKind],
        recipients: &[String],
        columns: &[OpenedColumn],
    ) -> Result<Permit> {
        let mut wanted =
            Disclosure { site: site.into(), kind: kinds[0], recipients: recipients.into(), columns: columns.into() };
        wanted.recipients.sort();
        for &kind in kinds {
            wanted.kind = kind;
            if let Some(rows) = self.0.remove(&wanted) {
                let Disclosure { site, kind, recipients, .. } = wanted;
                return Ok(Permit { site, kind, recipients, shape: shape(columns), rows });
            }
        }
        Err(MpcError::NotPermitted { site: site.into(), what: describe(kinds, recipients, columns) })
    }
}

impl Approval {
    fn split(self) -> (Disclosure, Option<u64>) {
        let Self { site, kind, mut recipients, columns, rows } = self;
        recipients.sort();
        (Disclosure { site, kind, recipients, columns }, rows)
    }
}

/// The shape of these columns, each with its null plane, if it has one; no rows.
fn shape(columns: &[OpenedColumn]) -> Shape {
    let mut shape = Shape::default();
    for OpenedColumn { kind, .. } in columns {
        shape.bits += usize::from(kind.nullable);
        match kind.repr {
            Sharing::Bits => shape.bits += kind.width,
            Sharing::Ring32 => shape.r32 += 1,
            Sharing::Ring64 => shape.r64 += 1,
            Sharing::Ring128 => shape.r128 += 1,
        }
    }
    shape
}

fn describe(kinds: &[PermitKind], recipients: &[String], columns: &[OpenedColumn]) -> String {
    let column = |column: &OpenedColumn| format!("{} ({})", column.name, column.kind);
    let what = match kinds {
        [PermitKind::Size | PermitKind::Count] => "a row count".into(),
        [PermitKind::Matches] => "matching rows".into(),
        _ => format!("columns {}", columns.iter().map(column).collect::<Vec<_>>().join(", ")),
    };
    format!("{what} to {}", recipients.join(", "))
}

impl Permit {
    /// The step that may open.
    pub fn site(&self) -> &str {
        &self.site
    }

    /// No more rows than this; None where the plan knows no bound.
    pub fn most(&self) -> Option<u64> {
        self.rows
    }

    /// The names of the parties that will learn the value, in the order of the alphabet.
    pub fn recipients(&self) -> &[String] {
        &self.recipients
    }

    /// Whether a bundle of this shape may be opened: exactly the approved columns, with or without a plane of which
    /// rows are valid, and no more rows than approved. A count is one number.
    ///
    /// # Errors
    /// [`MpcError::NotPermitted`].
    pub(crate) fn check_open(&self, opened: Shape) -> Result<()> {
        let columns = Shape { rows: opened.rows, ..self.shape };
        let with_valid = Shape { bits: columns.bits + 1, ..columns };
        let opens = match self.kind {
            PermitKind::Answer | PermitKind::Value | PermitKind::Keys => [columns, with_valid].contains(&opened),
            // Its bound is of the number, which is compared once it is known.
            PermitKind::Count if opened == COUNT => return Ok(()),
            PermitKind::Count | PermitKind::Size | PermitKind::Matches => false,
        };
        if !opens {
            let Shape { rows, bits, r32, r64, r128 } = opened;
            return Err(self.refused(format!(
                "{rows} rows of {bits} planes and of {r32}, {r64} and {r128} numbers modulo 2^32, 2^64 and 2^128"
            )));
        }
        self.check_rows(opened.rows as u64)
    }

    /// Whether a number of rows may be told to the nodes of these names, all of them.
    ///
    /// # Errors
    /// [`MpcError::NotPermitted`].
    pub(crate) fn check_announcement(&self, nodes: &[&str]) -> Result<()> {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        if self.kind == PermitKind::Size && nodes == self.recipients {
            return Ok(());
        }
        Err(self.refused(format!("a row count to {}", nodes.join(", "))))
    }

    /// Whether `rows` rows are no more than approved.
    ///
    /// # Errors
    /// [`MpcError::NotPermitted`].
    pub fn check_rows(&self, rows: u64) -> Result<()> {
        match self.rows {
            Some(most) if rows > most => Err(self.refused(format!("{rows} rows, more than {most}"))),
            _ => Ok(()),
        }
    }

    fn refused(&self, what: String) -> MpcError {
        MpcError::NotPermitted { site: self.site.clone(), what }
    }
}

//! The table of prices that times are predicted and protocols are chosen by: of every engine, and of intersections.
//!
//! All parties compute with one table, as they choose by it: the default, or one that they have measured and share.

use serde::{Deserialize, Serialize};
use tacit_mpc::backends::two;
use tacit_table::Operator;
use tacit_table::operator::{GroupBy, Join};

use crate::error::{Result, RunError};

/// CPU time of one node for each row that a step works on, in nanoseconds, beyond what the engine declares itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    input: u64,
    filter: u64,
    project: u64,
    union: u64,
    broadcast: u64,
    join: u64,
    merged_join: u64,
    trusted_join: u64,
    psi: u64,
    circuit_psi: u64,
    group_by: u64,
    trusted_group_by: u64,
    aggregate: u64,
    sort: u64,
    limit: u64,
    kept: u64,
    keep: u64,
    release: u64,
    /// For a step of any size, in nanoseconds: base OTs and what is made of them.
    psi_begin: u64,
    /// The same.
    circuit_psi_begin: u64,
}

/// Three nodes compute on rows.
///
/// Measured on 2026-11-20, on two cores of an AMD EPYC with AVX-512, and rounded: tacit-bench kernels --engine rep3
/// --rows 18,20, of which `make bench` prints the table.
const THREE: Rows = Rows {
    input: 60,
    filter: 60,
    project: 60,
    union: 20,
    broadcast: 20,
    join: 4_000,
    merged_join: 6_500,
    trusted_join: 900,
    psi: 500,
    circuit_psi: 600,
    group_by: 1_500,
    trusted_group_by: 500,
    aggregate: 60,
    sort: 1_500,
    limit: 0,
    kept: 60,
    keep: 60,
    release: 60,
    psi_begin: 10_000_000,
    circuit_psi_begin: 15_000_000,
};

/// Two nodes declare what their primitives take; what is left is as for moving rows. Measured with the table above.
const TWO: Rows = Rows {
    union: 60,
    broadcast: 60,
    join: 60,
    merged_join: 60,
    trusted_join: 60,
    group_by: 60,
    trusted_group_by: 60,
    sort: 60,
    limit: 60,
    ..THREE
};

impl Rows {
    /// Nanoseconds of a step of any size, and of each of its rows.
    fn of(&self, operator: &Operator) -> (u64, u64) {
        match operator {
            Operator::Input(_) => (0, self.input),
            Operator::Filter(_) => (0, self.filter),
            Operator::Project(_) => (0, self.project),
            Operator::Union(_) => (0, self.union),
            Operator::Pairs(_) => (0, self.broadcast),
            Operator::Broadcast(_) => (0, self.broadcast),
            Operator::Join(Join { trusted: Some(_), .. }) => (0, self.trusted_join),
            Operator::Join(join) => (0, if join.merged { self.merged_join } else { self.join }),
            Operator::Psi(_) => (self.psi_begin, self.psi),
            Operator::CircuitPsi(_) => (self.circuit_psi_begin, self.circuit_psi),
            Operator::UniversalIds(_) => (0, self.input),
            Operator::GroupBy(GroupBy { trusted: Some(_), .. }) => (0, self.trusted_group_by),
            // All sort, and bring rows to the edges of groups.
            Operator::GroupBy(_) | Operator::GroupJoin(_) | Operator::Window(_) => (0, self.group_by),
            // A program's rows are the elements of what it is given or makes.
            Operator::Program(_) => (0, self.project),
            Operator::Aggregate(_) => (0, self.aggregate),
            Operator::Sort(_) => (0, self.sort),
            Operator::Limit(_) => (0, self.limit),
            // A partition, as of the ends of groups that need no sort.
            Operator::Resize(_) => (0, self.trusted_group_by),
            Operator::Kept(_) => (0, self.kept),
            Operator::Keep(_) => (0, self.keep),
            Operator::Release(_) => (0, self.release),
        }
    }

    /// Seconds of one node's processor for a step that works on as many rows.
    pub fn seconds(&self, operator: &Operator, rows: usize) -> f64 {
        let (begin, each) = self.of(operator);
        (rows as f64 * each as f64) * 1e-9 + begin as f64 / 1e9
    }
}

/// The prices of an engine that has none of its primitives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByRows {
    /// Nanoseconds a row.
    pub rows: Rows,
}

/// The prices of the engine `two`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByWork {
    /// Nanoseconds a row, beyond the work.
    pub rows: Rows,
    /// Picoseconds of the primitives.
    pub work: two::prices::Prices,
}

/// All prices. A table that parties share says when and where it was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    date: String,
    machine: String,
    /// Of three nodes.
    pub rep3: ByRows,
    /// Of two nodes.
    pub two: ByWork,
    /// Of intersections and their relatives.
    pub matching: tacit_psi::Prices,
    /// Of the text of a shared table.
    #[serde(skip)]
    digest: Option<[u8; 32]>,
}

impl Default for Prices {
    fn default() -> Self {
        Self {
            date: "2026-11-22".into(),
            machine: "AMD EPYC with AVX-512, 2 cores".into(),
            rep3: ByRows { rows: THREE },
            two: ByWork { rows: TWO, work: Default::default() },
            matching: Default::default(),
            digest: None,
        }
    }
}

impl Prices {
    /// A table that parties share, as JSON: the file prices.toml of docs/platform-engineer.md.
    ///
    /// # Errors
    /// When it is malformed, a price is missing, or one is absurd.
    pub fn from_json(text: &str) -> Result<Self> {
        // In two steps: an error in what was told names no position in a text that nobody has written.
        let told: serde_json::Value = serde_json::from_str(text).map_err(malformed)?;
        let prices: Self = serde_json::from_value(told).map_err(malformed)?;
        Ok(Self { digest: Some(*blake3::hash(text.as_bytes()).as_bytes()), ..prices })
    }

    /// The table as JSON, from which it can be made again.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("names and numbers")
    }

    /// The digest of a shared table; none of the default.
    pub fn digest(&self) -> Option<[u8; 32]> {
        self.digest
    }

    /// When, and on which machine, it was measured.
    pub fn measured(&self) -> (&str, &str) {
        (&self.date, &self.machine)
    }
}

fn malformed(error: serde_json::Error) -> RunError {
    RunError::Prices(error.to_string())
}

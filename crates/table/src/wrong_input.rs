//! What can be wrong with a plan, with an owner's data for it, or with a kept table that it reads.
//!
//! Fields are names, numbers and kinds. No field holds a value of the data: errors are printed and logged.

use std::path::PathBuf;

use tacit_sealed::SealedError;

use crate::operator::Encoding;

/// What is wrong with a plan or with a party's data.
#[derive(Debug, thiserror::Error)]
pub enum WrongInput {
    /// A text that is no operator.
    #[error("the plan's operator is malformed: {detail}")]
    Operator {
        /// The reader's words.
        detail: String,
    },
    /// A text that is no list of operators.
    #[error("the plan's operators are malformed: {detail}")]
    Operators {
        /// The reader's words.
        detail: String,
    },
    /// Two operators of a list with one id.
    #[error("the plan's operators are malformed: {operator} has the id of an operator before it")]
    RepeatedId {
        /// The second one's name.
        operator: String,
    },
    /// An operator that got more or fewer tables than it has inputs.
    #[error("{given} tables for {needed} inputs")]
    TableCount {
        /// How many tables it got.
        given: usize,
        /// How many inputs it has.
        needed: usize,
    },
    /// An operator whose table no step before has made.
    #[error("step {step} gives no table before it")]
    NoTable {
        /// The step whose table it takes.
        step: usize,
    },
    /// An owner that is no party.
    #[error("no owner {name:?} takes part; the parties are {}", .parties.join(", "))]
    NoParty {
        /// The owner's name.
        name: String,
        /// All parties' names.
        parties: Vec<String>,
    },
    /// An owner that is no node, where one has to be.
    #[error("no owner {name:?} is a node; the parties are {}", .parties.join(", "))]
    NoNode {
        /// The owner's name.
        name: String,
        /// All parties' names.
        parties: Vec<String>,
    },
    /// A side of a `circuit_psi` whose owner is none of the nodes.
    #[error("the owner {owner:?} is no node")]
    SideOutside {
        /// The owner's name.
        owner: String,
    },
    /// An operator that shows the order of rows which no sort of the plan put in order.
    #[error("the plan shows the order of rows that none of its sorts put in order; sort them first")]
    Unordered,
    /// A release that is to end runs and is not of one bit, or not to all parties.
    #[error("the plan guards a run by something else than one bit that all parties are told")]
    Guard,
    /// A program that checks bounds, without an output that says whether all of them hold.
    #[error(
        "the plan's program checks bounds, and no output is one bit that says whether all hold; make the plan anew"
    )]
    Unchecked,
    /// Something of a program with checked bounds that is opened or kept before all parties know that they hold.
    #[error(
        "the plan opens or keeps what {program} computed before the guard of the bounds that it checks; make the plan \
         anew"
    )]
    Unguarded {
        /// The program's name.
        program: String,
    },
    /// An input that its owner sorts by a column outside the input.
    #[error("the plan sorts {owner} by a column that it does not share")]
    SortColumn {
        /// The owner's name.
        owner: String,
    },
    /// A merged join of a table that its owner sorts by something else.
    #[error(
        "a merged join by {} of a table that its owner sorts by {}",
        .keys.join(", "),
        if .order.is_empty() { "nothing".to_owned() } else { .order.join(", ") }
    )]
    MergeOrder {
        /// The columns by which it is joined.
        keys: Vec<String>,
        /// The columns by which the owner sorts it.
        order: Vec<String>,
    },
    /// A merged join in which a party is to see keys.
    #[error("{trusted} cannot order the rows of a merged join, which their owners sort")]
    MergedTrusted {
        /// The party.
        trusted: String,
    },
    /// A join of repeated keys in which a party is to see keys.
    #[error("{trusted} cannot order the rows of a join whose left keys repeat")]
    RepeatedTrusted {
        /// The party.
        trusted: String,
    },
    /// Groups that a party is to order, of which an aggregate needs the order of a column, too.
    #[error("{trusted} cannot order rows for {aggregate:?}, which needs the order of a column that it does not see")]
    TrustedOrder {
        /// The party.
        trusted: String,
        /// The aggregate's name.
        aggregate: String,
    },
    /// More keys on one side of a join than on the other, or none.
    #[error("a {operator} needs as many left keys as right keys, at least one")]
    KeyCount {
        /// The operator's noun: join or psi.
        operator: &'static str,
    },
    /// An aggregate of a column without a column.
    #[error("the aggregate {aggregate:?} names no column")]
    Uncolumned {
        /// The aggregate's name.
        aggregate: String,
    },
    /// A position that there is not for every number of values, or too fine a fraction for the rows of a table.
    #[error("{aggregate:?}: no such position in the order of its values; take a fraction with fewer digits")]
    Rank {
        /// The aggregate's name.
        aggregate: String,
    },
    /// An aggregate of groups without group keys.
    #[error("{aggregate:?}: \"any\" needs group keys")]
    Ungrouped {
        /// The aggregate's name.
        aggregate: String,
    },

    /// A column of a window without what its function needs.
    #[error("the window's column {name:?} needs {needed}")]
    Window {
        /// The column's name.
        name: String,
        /// What it needs.
        needed: &'static str,
    },
    /// A condition that is no truth value.
    #[error("the column {column:?} is no truth value, which a condition is")]
    NoTruth {
        /// The column's name.
        column: String,
    },
    /// An aggregate of some rows where only all rows can be aggregated.
    #[error("{aggregate:?}: only sums and counts of a whole table have a condition")]
    Conditional {
        /// The aggregate's name.
        aggregate: String,
    },

    /// A table of more rows than its step declares.
    #[error("{owner} has {rows} rows, more than the {most} declared for this {operator}")]
    Undeclared {
        /// The owner's name.
        owner: String,
        /// Rows of the owner's data.
        rows: usize,
        /// Rows that are declared.
        most: usize,
        /// The operator's noun: input or join.
        operator: &'static str,
    },
    /// A table of more rows than widths of sums and hashes allow for.
    #[error("{what} has {rows} rows; a table has at most 2^31, so ask about fewer rows")]
    TableRows {
        /// Which table, or whose.
        what: String,
        /// Its rows.
        rows: u64,
    },
    /// A join of more rows than can be counted.
    #[error("a join of {rows} rows; at most 2^32 - 1 are possible")]
    JoinRows {
        /// Rows of both sides together.
        rows: usize,
    },
    /// More rows than may be moved for a join of repeated keys.
    #[error(
        "a join of {left} and {right} rows, where {repeats} rows may have one key, moves more than {most}; ask about \
         fewer rows, or declare that keys repeat less often"
    )]
    Partners {
        /// Rows of the side whose keys repeat so often.
        left: usize,
        /// Rows of the other side.
        right: usize,
        /// The most rows of one key.
        repeats: usize,
        /// The most rows that are moved.
        most: usize,
    },
    /// A join of repeated keys that keeps rows of the wrong side, or a number of repeats that is none.
    #[error("a join where {repeats} left rows may have one key; it has one at least, and left rows stay only with one")]
    Repeats {
        /// The most left rows of one key.
        repeats: usize,
    },
    /// More pairs of rows than may be made.
    #[error("{left} rows beside {right} rows are more than {most} pairs; ask about fewer rows, or join by equal keys")]
    Pairs {
        /// Rows of one side.
        left: usize,
        /// Rows of the other side.
        right: usize,
        /// The most pairs.
        most: usize,
    },
    /// A table that is to be one row at most.
    #[error("a scalar of {rows} rows; it has at most one")]
    ScalarRows {
        /// Its rows.
        rows: usize,
    },
    /// A table to be padded to its source without the source's size.
    #[error("rows are padded to those of their source: give its number of rows")]
    SourceRows,
    /// A column with NULLs where a program takes an array.
    #[error("a program takes the column {column:?} as an array, and it has NULLs")]
    ArrayNulls {
        /// The column.
        column: String,
    },
    /// A column of strings, or numbers where a program takes bits.
    #[error("a program takes the column {column:?} as an array, and it holds strings, or numbers where it takes bits")]
    ArrayColumn {
        /// The column.
        column: String,
    },
    /// A column with more or fewer rows than a program's array has elements.
    #[error("a program takes the column {column:?} as an array of {elements} elements, and it has {rows} rows")]
    ArrayRows {
        /// The column.
        column: String,
        /// Its rows.
        rows: usize,
        /// The array's elements.
        elements: usize,
    },
    /// A column that a program names and does not take.
    #[error("no instruction of the program takes the column {column:?}")]
    ArrayTaken {
        /// The column.
        column: String,
    },
    /// An estimate without a size that it depends on.
    #[error("the number of rows of step {step} is needed")]
    StepRows {
        /// The step that announces it.
        step: usize,
    },

    /// A column that a table of the plan does not have.
    #[error("the plan refers to column {name:?} of a table with columns {}", .columns.join(", "))]
    PlanColumn {
        /// The column's name.
        name: String,
        /// The table's columns.
        columns: Vec<String>,
    },
    /// A column that an owner's data does not have.
    #[error("the data of {owner} has no column {name:?}")]
    DataColumn {
        /// The owner's name.
        owner: String,
        /// The column's name.
        name: String,
    },
    /// A column with more or fewer rows than its table.
    #[error("column {name:?} has not as many rows as its table, {rows}")]
    ColumnRows {
        /// The column's name.
        name: String,
        /// Rows of the table.
        rows: usize,
    },
    /// A key column of another type than the join's.
    #[error("column {name:?} holds {found}, which are no keys of this join")]
    KeyColumn {
        /// The column's name.
        name: String,
        /// What it holds.
        found: &'static str,
    },
    /// Keys that stand in several rows of their owner's data.
    #[error("the keys of {owner} repeat, where the plan takes them for unique")]
    RepeatedKeys {
        /// The owner's name.
        owner: String,
    },
    /// A hash where the string itself is needed.
    #[error("column {name:?} is a hash, which cannot be opened as a string")]
    OpenedHash {
        /// The column's name.
        name: String,
    },
    /// A hash in a table to keep: its key is of one plan only.
    #[error("column {name:?} is a hash, which later plans cannot use")]
    KeptHash {
        /// The column's name.
        name: String,
    },
    /// A column called nullable in an answer that it is not in.
    #[error("column {name:?} is not released, and cannot be NULL in the answer")]
    NotReleased {
        /// The column's name.
        name: String,
    },
    /// A column of a full join that is without NULLs.
    #[error("column {name:?} of a full join has to be nullable")]
    NotNullable {
        /// The column's name.
        name: String,
    },

    /// A value that does not fit what the plan declares of its column.
    #[error("column {column:?}, row {row}: {wrong}")]
    Value {
        /// The column's name.
        column: String,
        /// The value's row, from 1.
        row: usize,
        /// What is wrong with it.
        wrong: WrongValue,
    },
    /// A constant of the plan that does not fit its kind.
    #[error("the constant {text:?}: {wrong}")]
    Constant {
        /// The constant, which is public.
        text: String,
        /// What is wrong with it.
        wrong: WrongValue,
    },
    /// A string constant that is to be encoded as an integer.
    #[error("the constant {text:?} has no integer encoding")]
    IntegerText {
        /// The constant, which is public.
        text: String,
    },
    /// A string constant among numbers.
    #[error("a string constant where a number is needed")]
    NoNumber,
    /// A product that no ring holds.
    #[error("a product of {width} bits; at most 128 are possible")]
    ProductWidth {
        /// Its bits.
        width: usize,
    },

    /// The file of a kept table that cannot be used.
    #[error("{error}{}", advice(.error))]
    File {
        /// Which file, and why.
        error: SealedError,
    },
    /// Columns beyond the memory budget that cannot be written.
    #[error(
        "{folder}: tables beyond the memory budget cannot be written there ({reason}); make room, or name another \
         folder under [memory] in the private file", folder = .folder.display()
    )]
    Spill {
        /// Where to.
        folder: PathBuf,
        /// The operating system's reason.
        reason: String,
    },
    /// A step that takes more memory than there is.
    #[error(
        "needs about {} of memory, and this party's budget is {}; raise the budget under [memory] in the private file, \
         or ask about fewer rows or columns", mebibytes(*.need), mebibytes(*.budget)
    )]
    Memory {
        /// What the step takes alone, in bytes.
        need: u64,
        /// The budget, in bytes.
        budget: u64,
    },
    /// A file of an engine that there is not.
    #[error("{path}: there is no engine {engine:?}")]
    NoEngine {
        /// Which file.
        path: String,
        /// The engine's name.
        engine: String,
    },
    /// A file of another kept table than the plan reads.
    #[error("the file is not of the table {table:?} of the plan")]
    OtherTable {
        /// The kept table's name in the plan.
        table: String,
    },
    /// A column that a kept table does not have.
    #[error("{name:?} is not a column of the kept table {table:?}")]
    KeptColumn {
        /// The column's name.
        name: String,
        /// The kept table's name.
        table: String,
    },
    /// Shares that were read for another operator or engine.
    #[error("these are not the shares that the operator reads")]
    OtherShares,
}

/// What is wrong with one value.
#[derive(Debug, thiserror::Error)]
pub enum WrongValue {
    /// NULL where none may be.
    #[error("NULL in a column declared without NULLs")]
    Null,
    /// An integer outside its kind.
    #[error(
        "a value outside the declared bounds, which fit {width} bits, {}",
        if *.signed { "signed" } else { "unsigned" }
    )]
    OutOfBounds {
        /// Bits of the kind.
        width: usize,
        /// Whether one of them is the sign.
        signed: bool,
    },
    /// A string longer than declared.
    #[error("a string of {bytes} bytes where at most {most} are declared")]
    TooLong {
        /// Its bytes.
        bytes: usize,
        /// Bytes that are declared.
        most: usize,
    },
    /// A string with a byte that its encoding pads with.
    #[error("a string with a zero byte")]
    ZeroByte,
    /// A value of another type than the plan expects.
    #[error("{found} where the plan expects {encoding:?} encoding")]
    OtherType {
        /// What its column holds.
        found: &'static str,
        /// The encoding that the plan expects.
        encoding: Encoding,
    },
}

/// What to do about the file of a kept table.
fn advice(error: &SealedError) -> &'static str {
    match error {
        SealedError::Damaged { .. } => "; put a copy back, or drop the table and make it again",
        SealedError::OtherKey { .. } => {
            "; put that key back where the private file has it, or drop the table and make it again"
        }
        SealedError::Unwritten { .. } => "; free space or repair the disk",
        SealedError::Unread { .. } | SealedError::Randomness(_) => "",
    }
}

/// A number of bytes as people read it.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

//! What can be wrong with a party's data or options, with the plan of a match, and with what is to be run by it.
//!
//! Fields are names, numbers and types. No field holds a value of the data: errors are printed and logged.

use arrow_schema::DataType;

/// What is wrong with this party's data or options.
#[derive(Debug, thiserror::Error)]
pub enum WrongInput {
    /// A protocol that there is not.
    #[error("there is no protocol {name:?}; choose auto, {}", .known.join(", "))]
    NoProtocol {
        /// The name asked for.
        name: String,
        /// The protocols' names.
        known: Vec<String>,
    },
    /// A choice among no protocols.
    #[error("no protocol")]
    NoChoice,
    /// A method of universal ids that there is not.
    #[error("there is no way {name:?} to compute ids; choose auto, {}", .known.join(", "))]
    NoMethod {
        /// The name asked for.
        name: String,
        /// The methods' names.
        known: Vec<&'static str>,
    },
    /// A normaliser that there is not.
    #[error(
        "there is no normaliser {name:?}; choose exact, email, name, phone, or phone:REGION with a region of two letters such as phone:DE"
    )]
    NoNormaliser {
        /// The name asked for.
        name: String,
    },
    /// A number of bins that cannot be.
    #[error("{bins} bins; choose from 1 to {most}")]
    BinCount {
        /// The number asked for.
        bins: usize,
        /// The largest number.
        most: usize,
    },
    /// A recipient that is no party.
    #[error("the recipients are among the parties")]
    ForeignRecipient,
    /// Nobody who learns the outcome.
    #[error("a match without recipients")]
    NoRecipient,

    /// More keys than this party has announced rows.
    #[error("{keys} keys are given, more than the {rows} rows announced")]
    Unannounced {
        /// Distinct keys of this party.
        keys: usize,
        /// Rows that it has announced.
        rows: usize,
    },
    /// More keys with many rows than the announced rows allow for.
    #[error("more keys repeat often than its rows allow for; start the match anew")]
    Repetitions,
    /// More rows than universal ids have room for.
    #[error("ids are given to fewer than 2^32 rows")]
    IdRows,

    /// A key column that a normaliser of text is to read.
    #[error("key column {name:?} is no text ({data_type}), so it cannot be normalised; leave out its normaliser")]
    Normalised {
        /// The column's name.
        name: String,
        /// The column's type.
        data_type: DataType,
    },
    /// A key column of a type without equality.
    #[error(
        "key column {name:?} has the type {data_type}, which has no equality to match by; cast it to text or a number"
    )]
    KeyType {
        /// The column's name.
        name: String,
        /// The column's type.
        data_type: DataType,
    },
    /// A column that cannot be part of the outcome.
    #[error("a column {wrong} cannot be carried along; leave it out with --columns")]
    Carried {
        /// What is wrong with it.
        wrong: WrongColumn,
    },
    /// A column to share that is no integer.
    #[error("a column to share is no 64-bit integer; cast it")]
    SharedType,
    /// A column to sum that is no integer.
    #[error("the column to sum is no 64-bit integer; cast it")]
    SummedType,
    /// Shares without names for their columns, or without columns.
    #[error("give a name to each column of shares, and share one at least")]
    SharedNames,
    /// Names of columns that no message holds.
    #[error("the names of the columns are too long; leave out some with --columns")]
    LongNames,

    /// A bin with other columns than the rest.
    #[error("the columns of a bin are not those of the others; start the run anew")]
    BinColumns,
    /// A result of rows that its bin does not have.
    #[error("a result names rows that its bin does not have; start the run anew")]
    BinRows,
    /// A bin that has not been matched.
    #[error("bin {bin} has no result yet")]
    NoResult {
        /// The bin's number, from 0.
        bin: usize,
    },
}

/// Why a column cannot be part of the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongColumn {
    /// Its type.
    #[error("of a type that cannot be rearranged")]
    Type,
    /// Its size.
    #[error("with more than 2 GiB of text in one batch")]
    Size,
    /// Its layout.
    #[error("that is no proper Arrow data")]
    Layout,
}

/// Why a text is no plan of a match.
#[derive(Debug, thiserror::Error)]
pub enum WrongPlan {
    /// It is not the JSON of a plan.
    #[error("{detail}")]
    Json {
        /// The reader's words.
        detail: String,
    },
    /// Two parties with one name.
    #[error("a party is named twice")]
    PartyTwice,
    /// Recipients that are no parties, or in another order.
    #[error("those that learn the outcome are no parties in their order")]
    Recipients,
    /// A key without columns, or no key.
    #[error("a key has no column")]
    EmptyKey,
    /// Tables of no party, of one party twice, in another order, or by other keys than the plan's.
    #[error("its tables are not one of each of some parties, by its keys")]
    Tables,
    /// A network of a latency or a bandwidth that there is not.
    #[error("no network has its latency and bandwidth")]
    Link,
    /// Parties, keys or rules that the outcome does not fit.
    #[error("its parties cannot learn what it reveals")]
    Unfit,
}

/// What an approved plan does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unapproved {
    /// Which rows match.
    #[error("which rows match")]
    Rows,
    /// Another protocol or number of bins.
    #[error("rows by this protocol, or in this number of bins")]
    RowsByThis,
    /// An outcome of whole tables.
    #[error("what is in the place of rows")]
    InPlaceOfRows,
    /// The match of several parties.
    #[error("which keys all have")]
    Common,
    /// The number of keys that match.
    #[error("how many keys match")]
    Numbers,
    /// Numbers to another party than approved.
    #[error("numbers to the other party")]
    NumbersToOther,
    /// Universal ids.
    #[error("universal ids")]
    Ids,
    /// Another protocol or number of keys of universal ids.
    #[error("universal ids by this protocol or number of keys")]
    IdsByThis,
    /// Shares.
    #[error("shares")]
    Shares,
    /// Another number of keys of shares.
    #[error("shares by this number of keys")]
    SharesByThis,
    /// Shares of other columns.
    #[error("shares of these columns")]
    SharesOfThese,
    /// Questions about a prepared table.
    #[error("which keys a prepared table had")]
    Prepared,
}

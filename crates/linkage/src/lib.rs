//! Tables in and out of intersections: identifiers of any columns to tokens, and tokens and payload to bins in memory
//! or on disk. One intersection runs for each bin. The rows that match come out in the same order at both parties.
//!
//! | module | what it does |
//! |---|---|
//! | [`normalise`] | one canonical spelling of e-mail addresses, telephone numbers and names |
//! | [`canonical`] | key columns of Arrow batches to unambiguous bytes |
//! | [`tokeniser`] | these to tokens under the key of a run |
//! | [`bins`] | tokens and payload, bin by bin, in memory or in private files |
//! | [`files`] | the encrypted files of bins |
//! | [`results`] | which rows matched, bin by bin; on disk they are what a run resumes from |
//! | [`choice`] | which protocol runs, in which roles and bins, by prices |
//! | [`family`] | the protocols, by name |
//! | [`messages`] | what parties tell each other of themselves, before and after a match |
//! | [`plan`] | what they have approved: the kind of outcome, who learns it, by which rules |
//! | [`parties`] | the steps that they take together, from connecting to the end |
//! | [`run`] | the intersections of all bins, by one or several workers |
//! | [`repetitions`] | keys that repeat: all combinations of rows, in one order |
//! | [`many`] | the match of more than two parties |
//! | [`aggregate`] | how many keys match, and sums over them, instead of the rows |
//! | [`ids`] | universal ids of the rows of both parties, instead of the rows that match |
//! | [`shares`] | shares of the rows that match, instead of the rows |
//! | [`keyed`] | rows with one key or several, in memory, for ids and shares |
//! | [`prepared`] | a large table prepared once and asked about many times |
//! | [`output`] | the rows of a join, as a stream of batches |
//! | [`error`] | why a match ends, by whose fault |
//! | [`wrong_input`] | what is wrong with data, options or a plan |

pub mod aggregate;
pub mod bins;
pub mod canonical;
pub mod choice;
pub mod distinct;
pub mod error;
pub mod family;
pub mod files;
pub mod ids;
pub mod keyed;
pub mod many;
pub mod messages;
pub mod normalise;
pub mod output;
pub mod parties;
pub mod plan;
pub mod prepared;
pub mod repetitions;
pub mod results;
pub mod run;
pub mod shares;
pub mod tokeniser;
pub mod wrong_input;

pub use bins::{Bins, Layout, Partition};
pub use canonical::{Counts, KeyColumn};
pub use error::MatchError;
pub use ids::{IdRows, Ids};
pub use keyed::KeyedRows;
pub use normalise::Normaliser;
pub use output::{Join, Rows};
pub use parties::Parties;
pub use plan::MatchPlan;
pub use results::Results;
pub use run::{Progress, Run};
pub use tokeniser::Tokeniser;
pub use wrong_input::{Unapproved, WrongInput, WrongPlan};

//! What can go wrong in a run, by whose fault it is, and what peers are told of it.

use tacit_mpc::MpcError;
use tacit_net::{Fault, NetError};
use tacit_psi::PsiError;
use tacit_table::TableError;

use crate::containment::Panicked;

/// The result of a step of a run.
pub type Result<T, E = RunError> = std::result::Result<T, E>;

/// What ended a run, or keeps it from beginning.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The connection to a peer failed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The engine failed.
    #[error(transparent)]
    Mpc(#[from] MpcError),
    /// A table operation failed.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The intersection of two owners' tables failed.
    #[error(transparent)]
    Psi(#[from] PsiError),
    /// The code panicked.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// One of the above in this step.
    #[error("{error}")]
    In {
        /// The step's name.
        step: String,
        /// What went wrong in it.
        error: Box<RunError>,
    },

    /// No engine of nodes has this name.
    #[error("there is no engine {name:?} of nodes; the engines are {}", quoted(.engines))]
    NoEngine {
        /// The name.
        name: String,
        /// The names that engines have.
        engines: Vec<&'static str>,
    },
    /// An engine among too few or too many nodes.
    #[error("the engine {engine} has {needed} nodes, not {given}; name {needed} nodes")]
    NodeCount {
        /// The engine's name.
        engine: &'static str,
        /// How many nodes it has.
        needed: usize,
        /// How many are named.
        given: usize,
    },
    /// Programs of which an engine may get a result wrong too often.
    #[error(
        "{}: the engine {engine} may give a wrong result with a probability of up to 2^{exponent}, and none above \
         2^{most} is accepted; declare tighter bounds, or compute with another engine",
        .programs.join(", ")
    )]
    MayFail {
        /// The names of all programs of the plan.
        programs: Vec<String>,
        /// The engine's name.
        engine: &'static str,
        /// The bound of the probability, as a power of two.
        exponent: i32,
        /// What is accepted.
        most: i32,
    },
    /// Two nodes with one name.
    #[error("a node is named twice; name each party once")]
    NodeTwice,
    /// A run without anybody.
    #[error("no parties; name at least one")]
    NoParties,
    /// A party that connects without a part in the plan.
    #[error("party {party:?} takes no part in this plan: it is neither a node nor one of its clients")]
    NoPart {
        /// The party's name.
        party: String,
    },
    /// A client that owns no input, has no kept table to approve and gets no answer, or is a node.
    #[error("party {party:?} is no client of this plan: clients are no nodes, and own data of it or get answers")]
    Bystander {
        /// The party's name.
        party: String,
    },
    /// An owner of data in a kept table that has to approve its use and takes no part.
    #[error("a kept table has data of {party:?}, which is no client of this plan and has to approve it")]
    Absent {
        /// The party's name.
        party: String,
    },
    /// A party without an address.
    #[error("{0:?} takes part and is none of the parties; describe it")]
    Undescribed(String),
    /// Permits that are malformed.
    #[error("{0}")]
    Permits(String),
    /// A table of prices that is malformed.
    #[error("the table of prices is not as it should be: {0}; docs/platform-engineer.md tells its form")]
    Prices(String),
    /// No network has this latency and this bandwidth.
    #[error(
        "a link of {latency} s and {bandwidth} bytes per second; give a latency of at least 0 and a bandwidth above 0"
    )]
    Link {
        /// In seconds.
        latency: f64,
        /// In bytes a second.
        bandwidth: f64,
    },
    /// A bandwidth to which nothing can be slowed down.
    #[error("a bandwidth of {0} bytes per second; give at least 1, or None")]
    Bandwidth(f64),
    /// A time that is none.
    #[error("{name} is {value} s: {detail}; give a number of seconds")]
    Seconds {
        /// Of the option.
        name: &'static str,
        /// In seconds.
        value: f64,
        /// Why it is none.
        detail: String,
    },
    /// No threads, or none that the operating system gives.
    #[error("the party cannot compute with {threads} threads: {detail}; give it fewer, and at least 1")]
    Threads {
        /// How many.
        threads: usize,
        /// Why not.
        detail: String,
    },
    /// A hash of another length.
    #[error("a hash has 32 bytes, not {0}")]
    HashLength(usize),

    /// The owner's data cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// A part of a kept table at a client.
    #[error("only nodes have parts of kept tables; a client runs the step as any other")]
    KeptAtClient,
    /// No data at its owner.
    #[error("this party owns the input; give its data")]
    NoData,
    /// Data of another party's side, or none of this party's.
    #[error("each owner of a psi gives the data of its own side, and of no other")]
    OtherSide,
    /// One side alone on the engine that is both owners.
    #[error("the engine without security is both owners of a psi; give both sides' data")]
    OneSide,
    /// Sides of a psi that two different nodes do not own.
    #[error("a psi of {:?} and {:?}, which are not two of the nodes", .owners[0], .owners[1])]
    NotTwoNodes {
        /// The owners' names, left first.
        owners: [String; 2],
    },
    /// An operator other than psi.
    #[error("{0} is no psi; give it to the method that executes it")]
    NoPsi(String),
    /// An operator other than keep.
    #[error("{0} is no keep; give it to the method that executes it")]
    NoKeep(String),
    /// An operator other than kept.
    #[error("the operator reads no kept table")]
    NoKept,
    /// An operator other than release.
    #[error("{0} is no release; give it to the method that executes it")]
    NoRelease(String),
    /// A table that no step before has made.
    #[error("{operator}: step {step} gives no table before it")]
    NoTable {
        /// The operator's name.
        operator: String,
        /// The step whose table it takes.
        step: usize,
    },

    /// Keeping without nodes.
    #[error("the engine without security has no shares to keep")]
    Unkept,
    /// Keeping with nodes that hold nothing.
    #[error("the engine {0} keeps no tables: some of its nodes hold no shares; keep them with another engine")]
    HoldsNothing(&'static str),
    /// More or fewer kept tables than the plan reads.
    #[error("{given} kept tables for a plan that reads {needed}; give all")]
    KeptCount {
        /// How many are given.
        given: usize,
        /// How many the plan reads.
        needed: usize,
    },
    /// Shares of a kept table that the nodes have not compared.
    #[error("the shares are of another kept table than this party approved; this is a fault in this party's tacit")]
    OtherKept,
    /// A description of a kept table that is none.
    #[error("this is no description of a kept table")]
    Description,
    /// A planner's knowledge of a kept table that is no JSON.
    #[error("what is known of the kept table is no JSON")]
    About,
    /// A key of another length.
    #[error("a key has 32 bytes, not {0}")]
    KeyLength(usize),
    /// No randomness for the id of a kept table.
    #[error("no randomness: {0}")]
    Randomness(String),

    /// A second thread at a busy session.
    #[error("the session executes another operator; drive it by one thread")]
    Busy,
    /// A session that is over.
    #[error("the session has ended ({}); connect again", .0.description())]
    Ended(End),
    /// The session was aborted under an operator.
    #[error("the session was aborted while the operator ran")]
    Aborted,
    /// An engine of this process that ended before it began.
    #[error("an engine did not start")]
    NotStarted,
}

impl RunError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Net(error) => error.fault(),
            Self::Mpc(error) => error.fault(),
            Self::Table(error) => error.fault(),
            Self::Psi(error) => error.fault(),
            Self::In { error, .. } => error.fault(),
            Self::Panicked(_) | Self::OtherKept | Self::Randomness(_) | Self::NotStarted => Fault::Internal,
            Self::NoEngine { .. }
            | Self::NodeCount { .. }
            | Self::MayFail { .. }
            | Self::NodeTwice
            | Self::NoParties
            | Self::NoPart { .. }
            | Self::Bystander { .. }
            | Self::Absent { .. }
            | Self::Undescribed(_)
            | Self::Permits(_)
            | Self::Prices(_)
            | Self::Link { .. }
            | Self::Bandwidth(_)
            | Self::Seconds { .. }
            | Self::Threads { .. }
            | Self::HashLength(_)
            | Self::Unreadable(_)
            | Self::NoData
            | Self::KeptAtClient
            | Self::OtherSide
            | Self::OneSide
            | Self::NotTwoNodes { .. }
            | Self::NoPsi(_)
            | Self::NoKeep(_)
            | Self::NoKept
            | Self::NoRelease(_)
            | Self::NoTable { .. }
            | Self::Unkept
            | Self::HoldsNothing(_)
            | Self::KeptCount { .. }
            | Self::About
            | Self::Description
            | Self::KeyLength(_)
            | Self::Busy
            | Self::Ended(_)
            | Self::Aborted => Fault::Input,
        }
    }

    /// The peer and the step concerned, where there are.
    pub fn place(&self) -> [Option<&str>; 2] {
        match self {
            Self::Net(error) | Self::Mpc(MpcError::Net(error)) | Self::Table(TableError::Net(error)) => {
                [error.peer(), error.step()]
            }
            Self::Mpc(MpcError::NotPermitted { site, .. }) => [None, Some(site)],
            Self::Psi(error) => error.place(),
            Self::In { step, error } => {
                let [peer, within] = error.place();
                [peer, Some(within.unwrap_or(step))]
            }
            _ => [None, None],
        }
    }

    /// The same, located in a step unless it is located already.
    pub fn at(self, step: &str) -> Self {
        Self::In { step: step.to_owned(), error: Box::new(self) }
    }
}

/// Names as a person reads them: "a" and "b".
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" and ")
}

/// What peers are told when this party ends because of a fault: the kind only, because an error's own words may quote
/// data.
pub fn reason_for_peers(fault: Fault) -> &'static str {
    match fault {
        Fault::Input => "its own input was refused",
        Fault::Policy => "its policy refused",
        Fault::Withheld => "a checked bound does not hold",
        Fault::Misbehaved => "a peer misbehaved",
        Fault::Cheating => "a peer cheated",
        Fault::Gone => "it lost a peer",
        Fault::Interrupted => "it was interrupted",
        Fault::Internal => "it failed",
    }
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In order.
    Closed,
    /// By this party's wish.
    Aborted,
    /// By an error.
    Failed,
}

impl End {
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Closed => "it was closed",
            Self::Aborted => "it was aborted",
            Self::Failed => "an error ended it",
        }
    }
}

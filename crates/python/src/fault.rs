//! One Python exception class per fault, and the way from every Rust error to it.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tacit_matching::MatchError;
use tacit_mpc::MpcError;
use tacit_net::NetError;
use tacit_ot::OtError;
use tacit_psi::PsiError;
use tacit_table::TableError;

pyo3::create_exception!(
    tacit._native,
    TacitError,
    PyException,
    "Base of all native errors. Subclasses are by whose fault it is.\n\n``peer`` and ``step`` name the peer and the step concerned, or are None."
);
pyo3::create_exception!(
    tacit._native,
    InputError,
    TacitError,
    "The user's or owner's input is wrong (bad plan JSON, data outside declared bounds, wrong Arrow type)."
);
pyo3::create_exception!(
    tacit._native,
    PolicyError,
    TacitError,
    "A value would be opened that the approved disclosures do not contain. Attribute ``step``."
);
pyo3::create_exception!(
    tacit._native,
    PeerError,
    TacitError,
    "A peer misbehaves: wrong key, other version, other plan, broken protocol. Attributes ``peer`` and ``step``."
);
pyo3::create_exception!(
    tacit._native,
    PeerGoneError,
    TacitError,
    "A peer cannot be reached, died, aborted or timed out. Attributes ``peer`` and ``step``."
);
pyo3::create_exception!(tacit._native, InternalError, TacitError, "tacit's own fault.");

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The user's or the owner's.
    Input,
    /// The plan's: it would disclose what is not approved.
    Policy,
    /// A peer that breaks the agreement.
    Peer,
    /// A peer that is no longer there.
    PeerGone,
    /// Ours.
    Internal,
}

impl Fault {
    /// What peers are told when this party ends for this reason: the kind only, because an error's own words may quote data.
    pub fn reason_for_peers(self) -> &'static str {
        match self {
            Self::Input => "its own input was refused",
            Self::Policy => "its policy refused",
            Self::Peer => "a peer misbehaved",
            Self::PeerGone => "it lost a peer",
            Self::Internal => "it failed",
        }
    }
}

/// An error on its way to Python.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Whose fault it is.
    pub fault: Fault,
    message: String,
    peer: Option<String>,
    step: Option<String>,
}

/// The result of anything a native method does.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// A failure that concerns no peer.
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self { fault, message: message.into(), peer: None, step: None }
    }

    /// A wrong input.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Fault::Input, message)
    }

    /// The same, located in a step unless it is located already.
    pub fn at(mut self, step: &str) -> Self {
        self.step.get_or_insert_with(|| step.to_owned());
        self
    }
}

impl From<NetError> for Failure {
    fn from(error: NetError) -> Self {
        let fault = match error {
            NetError::NotReachable { .. }
            | NetError::Gone { .. }
            | NetError::Aborted { .. }
            | NetError::TimedOut { .. } => Fault::PeerGone,
            // An interruption is what its caller asked for; nobody sees it as an error unless an operator was running.
            NetError::BadConfiguration { .. } | NetError::Interrupted { .. } => Fault::Input,
            _ => Fault::Peer,
        };
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self { fault, peer: owned(error.peer()), step: owned(error.step()), message: error.to_string() }
    }
}

impl From<MpcError> for Failure {
    fn from(error: MpcError) -> Self {
        let message = error.to_string();
        match error {
            MpcError::Net(error) => error.into(),
            MpcError::Misbehaved(_) => Self::new(Fault::Peer, message),
            MpcError::NotPermitted { site, .. } => Self::new(Fault::Policy, message).at(&site),
            MpcError::Randomness(_) => Self::new(Fault::Internal, message),
        }
    }
}

impl From<MatchError> for Failure {
    fn from(error: MatchError) -> Self {
        let message = error.to_string();
        match error {
            MatchError::Protocol(PsiError::Net(error) | PsiError::Ot(OtError::Net(error))) => error.into(),
            MatchError::Protocol(
                PsiError::Cheating { peer, step, .. } | PsiError::Ot(OtError::Cheating { peer, step, .. }),
            ) => Self { fault: Fault::Peer, message, peer: Some(peer), step: Some(step) },
            MatchError::Protocol(PsiError::Input(_))
            | MatchError::Overflow(_)
            | MatchError::Input(_)
            | MatchError::File { .. }
            | MatchError::Damaged { .. } => Self::new(Fault::Input, message),
            MatchError::Protocol(PsiError::Ot(_) | PsiError::Randomness(_)) => Self::new(Fault::Internal, message),
        }
    }
}

impl From<PsiError> for Failure {
    fn from(error: PsiError) -> Self {
        MatchError::from(error).into()
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Input(message) => Self::new(Fault::Input, message),
            TableError::Policy(message) => Self::new(Fault::Policy, message),
            TableError::Net(error) => error.into(),
            TableError::Peer(message) => Self::new(Fault::Peer, message),
            TableError::Internal(message) => Self::new(Fault::Internal, message),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let exception = match failure.fault {
            Fault::Input => InputError::new_err,
            Fault::Policy => PolicyError::new_err,
            Fault::Peer => PeerError::new_err,
            Fault::PeerGone => PeerGoneError::new_err,
            Fault::Internal => InternalError::new_err,
        }(failure.message);
        Python::attach(|py| {
            let value = exception.value(py);
            value.setattr("peer", failure.peer)?;
            value.setattr("step", failure.step)?;
            Ok::<_, PyErr>(())
        })
        .map_or_else(|error| error, |()| exception)
    }
}

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let base = py.get_type::<TacitError>();
    base.setattr("peer", py.None())?;
    base.setattr("step", py.None())?;
    module.add("TacitError", base)?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("PolicyError", py.get_type::<PolicyError>())?;
    module.add("PeerError", py.get_type::<PeerError>())?;
    module.add("PeerGoneError", py.get_type::<PeerGoneError>())?;
    module.add("InternalError", py.get_type::<InternalError>())
}

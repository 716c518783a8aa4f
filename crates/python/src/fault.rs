//! One Python exception class per fault, and the way from every Rust error to it.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tacit_linkage::MatchError;
pub use tacit_net::Fault;
use tacit_net::NetError;
use tacit_psi::PsiError;
use tacit_run::RunError;
use tacit_run::containment::Panicked;

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
    WithheldError,
    TacitError,
    "A bound that the program checks does not hold, as all parties are told alike. Nothing else is revealed."
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
pyo3::create_exception!(
    tacit._native,
    CheatingError,
    TacitError,
    "A peer sent what no honest party sends, where a protocol checks that. Attributes ``peer`` and ``step``."
);
pyo3::create_exception!(tacit._native, InternalError, TacitError, "tacit's own fault.");

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
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let [peer, step] = error.place().map(|text| text.map(str::to_owned));
        Self { fault: error.fault(), message: error.to_string(), peer, step }
    }
}

impl From<MatchError> for Failure {
    fn from(error: MatchError) -> Self {
        let [peer, step] = error.place().map(|text| text.map(str::to_owned));
        Self { fault: error.fault(), message: error.to_string(), peer, step }
    }
}

impl From<NetError> for Failure {
    fn from(error: NetError) -> Self {
        RunError::from(error).into()
    }
}

impl From<PsiError> for Failure {
    fn from(error: PsiError) -> Self {
        RunError::from(error).into()
    }
}

impl From<Panicked> for Failure {
    fn from(panic: Panicked) -> Self {
        RunError::from(panic).into()
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let exception = match failure.fault {
            // An interruption is what its caller asked for; nobody sees it as an error unless an operator was running.
            Fault::Input | Fault::Interrupted => InputError::new_err,
            Fault::Policy => PolicyError::new_err,
            Fault::Withheld => WithheldError::new_err,
            Fault::Misbehaved => PeerError::new_err,
            Fault::Cheating => CheatingError::new_err,
            Fault::Gone => PeerGoneError::new_err,
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

/// What peers are told when this party ends because of a fault of this kind, as Python names it.
#[pyfunction]
pub fn reason_for_peers(kind: &str) -> Result<&'static str> {
    let fault = match kind {
        "input" => Fault::Input,
        "policy" => Fault::Policy,
        "withheld" => Fault::Withheld,
        "peer" => Fault::Misbehaved,
        "peer gone" => Fault::Gone,
        "cheating" => Fault::Cheating,
        "interrupted" => Fault::Interrupted,
        "internal" => Fault::Internal,
        _ => return Err(Failure::input(format!("there is no kind of fault {kind:?}"))),
    };
    Ok(tacit_run::reason_for_peers(fault))
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
    module.add("WithheldError", py.get_type::<WithheldError>())?;
    module.add("PeerError", py.get_type::<PeerError>())?;
    module.add("PeerGoneError", py.get_type::<PeerGoneError>())?;
    module.add("CheatingError", py.get_type::<CheatingError>())?;
    module.add("InternalError", py.get_type::<InternalError>())
}

//! A protocol written in Python, or in any language that Python can call: an object with the rounds of
//! `tacit_psi::Rounds`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tacit_net::Traffic;
use tacit_ot::Adversary;
use tacit_psi::{Declared, Driven, Item, Match, Outcome, PsiError, Role, Rounds, Sizes, WrongInput};

/// The protocol of an object with `declared(sender, receiver)` and `party(role)`, each party an object with the rounds.
/// name: for errors.
pub fn plugged(plugin: Py<PyAny>, name: &str) -> Driven {
    let makes = Python::attach(|py| plugin.clone_ref(py));
    let called: Arc<str> = name.into();
    let declared = move |sizes: Sizes| declared(&plugin, sizes).unwrap_or_default();
    let party = move |role: Role| -> Result<Box<dyn Rounds>, PsiError> {
        let name = if role == Role::Sender { "sender" } else { "receiver" };
        let object = Python::attach(|py| makes.call_method1(py, "party", (name,)));
        let object = object.map_err(|error| failed(&called, &error))?;
        let sizes = Sizes { sender: 0, receiver: 0 };
        Ok(Box::new(Plugged { object, role, sizes, called: Arc::clone(&called) }))
    };
    // What an adversary may do is the plug-in's own promise, which its user has read; tacit assumes the least of it.
    Driven::new("plug-in", Adversary::SemiHonest, declared, party)
}

type Figures = (u64, u64, u64);

fn declared(plugin: &Py<PyAny>, sizes: Sizes) -> PyResult<Declared> {
    let (setup, online): (Figures, Figures) =
        Python::attach(|py| plugin.call_method1(py, "declared", (sizes.sender, sizes.receiver))?.extract(py))?;
    let traffic = |(rounds, sender, receiver): Figures| Traffic { rounds, sender, receiver };
    Ok(Declared { setup: traffic(setup), online: traffic(online) })
}

/// The exception's own words could quote items.
fn failed(name: &str, error: &PyErr) -> PsiError {
    let exception = Python::attach(|py| error.get_type(py).to_string());
    WrongInput::Raised { name: name.to_owned(), exception }.into()
}

struct Plugged {
    object: Py<PyAny>,
    role: Role,
    /// Of the present pair of sets.
    sizes: Sizes,
    called: Arc<str>,
}

impl Plugged {
    fn bytes(&self, method: &str, id: u32, input: &[u8]) -> Result<Vec<u8>, PsiError> {
        let call = |py: Python<'_>| self.object.call_method1(py, method, (id, PyBytes::new(py, input)))?.extract(py);
        Python::attach(call).map_err(|error| failed(&self.called, &error))
    }

    /// A number of rounds; one that raises has none, and fails when its outcome is asked for.
    fn count(&self, method: &str) -> u32 {
        Python::attach(|py| self.object.call_method0(py, method)?.extract(py)).unwrap_or_default()
    }
}

impl Rounds for Plugged {
    fn setup_round_count(&self) -> u32 {
        self.count("setup_round_count")
    }

    fn setup(&mut self, id: u32, input: &[u8]) -> Result<Vec<u8>, PsiError> {
        self.bytes("setup", id, input)
    }

    fn begin(&mut self, items: &[Item], sizes: Sizes) -> Result<(), PsiError> {
        self.sizes = sizes;
        let packed: Vec<u8> = items.iter().flat_map(|item| item.to_le_bytes()).collect();
        let call = |py: Python<'_>| {
            let packed = PyBytes::new(py, &packed);
            self.object.call_method1(py, "begin", (packed, sizes.sender, sizes.receiver)).map(drop)
        };
        Python::attach(call).map_err(|error| failed(&self.called, &error))
    }

    fn online_round_count(&self) -> u32 {
        self.count("online_round_count")
    }

    fn round(&mut self, id: u32, input: &[u8]) -> Result<Vec<u8>, PsiError> {
        self.bytes("round", id, input)
    }

    fn outcome(&mut self) -> Result<Outcome, PsiError> {
        let packed: Vec<u8> = Python::attach(|py| self.object.call_method0(py, "outcome")?.extract(py))
            .map_err(|error| failed(&self.called, &error))?;
        let outcome = unpacked(&packed, self.role);
        // What follows indexes this party's items by these numbers.
        let refused = || WrongInput::Outcome { name: self.called.to_string(), role: self.role };
        Ok(outcome.filter(|outcome| outcome.fits(self.sizes)).ok_or_else(refused)?)
    }
}

/// Numbers of 4 bytes as an outcome; None if there are bytes too many.
fn unpacked(packed: &[u8], role: Role) -> Option<Outcome> {
    let (numbers, rest) = packed.as_chunks::<4>();
    let mut numbers = numbers.iter().map(|four| u32::from_le_bytes(*four));
    if !rest.is_empty() || (role == Role::Receiver && numbers.len() % 2 == 1) {
        return None;
    }
    Some(match role {
        Role::Sender => Outcome::Sender { order: numbers.collect() },
        Role::Receiver => {
            let pair = || Some(Match { mine: numbers.next()?, theirs: numbers.next()? });
            Outcome::Receiver(std::iter::from_fn(pair).collect())
        }
    })
}

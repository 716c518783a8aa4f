//! The protocols that find matches, without data.

use pyo3::prelude::*;
use tacit_linkage::family;
use tacit_psi::vole_psi::Variant;
use tacit_psi::{Sizes, VolePsi};

/// About how many items of each bin a receiver that deviates may ask with 2^64 hashes for each, under the protocol
/// against malicious parties.
#[pyfunction]
pub fn matching_questions(receiver: usize, bins: usize) -> usize {
    let sizes = Sizes { sender: receiver, receiver };
    VolePsi { variant: Variant::Malicious, bins }.questions(sizes)
}

/// The names of all protocols, each with the adversary it withstands.
#[pyfunction]
pub fn matching_protocols() -> Vec<(&'static str, &'static str)> {
    let adversary = |protocol: &dyn tacit_psi::Protocol| match protocol.adversary() {
        tacit_ot::Adversary::SemiHonest => "semi-honest",
        tacit_ot::Adversary::Malicious => "malicious",
    };
    family::protocols(1).iter().map(|protocol| (protocol.name(), adversary(protocol.as_ref()))).collect()
}

//! What a match costs, without data.

use pyo3::prelude::*;
use tacit_matching::family;
use tacit_matching::repetitions::Places;
use tacit_psi::alignment::{self, Learns};
use tacit_psi::binning;
use tacit_psi::vole_psi::Variant;
use tacit_psi::{Sizes, Traffic, VolePsi};

use crate::fault::{Failure, Result};

/// Rounds and payload bytes of a phase.
#[derive(IntoPyObject)]
pub struct Phase {
    rounds: u64,
    sender: u64,
    receiver: u64,
}

impl From<Traffic> for Phase {
    fn from(Traffic { rounds, sender, receiver }: Traffic) -> Self {
        Self { rounds, sender, receiver }
    }
}

/// The declared cost of a worker's setup and of one bin.
#[derive(IntoPyObject)]
pub struct MatchingCost {
    setup: Phase,
    bin: Phase,
}

/// The padded size of each of `bins` bins for an announced number of rows.
#[pyfunction]
pub fn matching_capacity(rows: usize, bins: usize) -> Result<usize> {
    if bins == 0 || bins > binning::MOST {
        return Err(Failure::input(format!("{bins} bins; choose from 1 to {}", binning::MOST)));
    }
    Ok(binning::capacity(rows, bins))
}

/// Bytes by which a party that announced `rows` rows tells in each of `bins` bins how often its keys repeat.
#[pyfunction]
pub fn matching_counts_bytes(matches: usize, rows: usize, bins: usize) -> usize {
    Places::new(matches, rows, bins).bytes()
}

/// The declared cost of a protocol with `bins` padded bins, each of these sizes.
#[pyfunction]
pub fn matching_cost(
    protocol: &str,
    sender: usize,
    receiver: usize,
    bins: usize,
    both_learn: bool,
) -> Result<MatchingCost> {
    let protocol = family::named(protocol, bins)?;
    let learns = if both_learn { Learns::Both } else { Learns::Receiver };
    let declared = alignment::declared(protocol.as_ref(), Sizes { sender, receiver }, learns);
    Ok(MatchingCost { setup: declared.setup.into(), bin: declared.online.into() })
}

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

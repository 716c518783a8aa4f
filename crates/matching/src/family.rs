//! The protocols that bins can be matched with, by name.

use std::sync::Arc;

use tacit_psi::vole_psi::Variant;
use tacit_psi::{DhPsi, Kkrt, Protocol, VolePsi};

use crate::error::MatchError;

/// Every protocol of the room, the default first.
pub fn protocols() -> Vec<Arc<dyn Protocol>> {
    vec![
        Arc::new(VolePsi(Variant::Fast)),
        Arc::new(VolePsi(Variant::Compact)),
        Arc::new(VolePsi(Variant::Malicious)),
        Arc::new(Kkrt),
        Arc::new(DhPsi),
    ]
}

/// A protocol by its name.
///
/// # Errors
/// An input error that lists the names.
pub fn named(name: &str) -> Result<Arc<dyn Protocol>, MatchError> {
    let all = protocols();
    let names: Vec<&str> = all.iter().map(|protocol| protocol.name()).collect();
    let unknown = MatchError::Input(format!("there is no protocol {name:?}; choose auto, {}", names.join(", ")));
    all.iter().find(|protocol| protocol.name() == name).cloned().ok_or(unknown)
}

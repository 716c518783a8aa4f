//! The protocols that bins can be matched with, by name.

use std::sync::Arc;

use tacit_psi::vole_psi::Variant;
use tacit_psi::{DhPsi, Kkrt, Protocol, VolePsi};

use crate::error::MatchError;

/// Every protocol of the room, the default first. bins: number of bins of the run; statistical bounds hold for all bins
/// together.
pub fn protocols(bins: usize) -> Vec<Arc<dyn Protocol>> {
    vec![
        Arc::new(VolePsi { variant: Variant::Fast, bins }),
        Arc::new(VolePsi { variant: Variant::Compact, bins }),
        Arc::new(VolePsi { variant: Variant::Malicious, bins }),
        Arc::new(Kkrt { bins }),
        Arc::new(DhPsi { bins }),
    ]
}

/// A protocol by its name, for a run of `bins` bins.
///
/// # Errors
/// An input error that lists the names.
pub fn named(name: &str, bins: usize) -> Result<Arc<dyn Protocol>, MatchError> {
    let all = protocols(bins);
    let names: Vec<&str> = all.iter().map(|protocol| protocol.name()).collect();
    let unknown = MatchError::Input(format!("there is no protocol {name:?}; choose auto, {}", names.join(", ")));
    all.iter().find(|protocol| protocol.name() == name).cloned().ok_or(unknown)
}

//! The protocols that bins can be matched with, by name.

use std::sync::Arc;

use tacit_psi::vole_psi::Variant;
use tacit_psi::{DhPsi, Kkrt, Protocol, VolePsi};

use crate::error::MatchError;
use crate::wrong_input::WrongInput;

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
    let known = || all.iter().map(|protocol| protocol.name().to_owned()).collect();
    let found = all.iter().find(|protocol| protocol.name() == name).cloned();
    Ok(found.ok_or_else(|| WrongInput::NoProtocol { name: name.to_owned(), known: known() })?)
}

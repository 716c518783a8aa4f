//! The binding: the Python module `tacit._native`.
//!
//! Python holds handles (`Session`, `SharedTable`) and calls one coarse method per operator. Every method that may
//! block runs its work on a native thread without the GIL (`waiting`); every error becomes one Python exception class
//! per fault (`fault`); panics never show content. Tables cross as Arrow (`arrow`).

mod arrow;
mod calibration;
mod cost;
mod fault;
mod kept;
mod keys;
mod machine;
mod matching;
mod party;
mod prices;
mod report;
mod session;
mod table;
mod testimony;
mod waiting;

use pyo3::prelude::*;

/// The native module: handles on sessions and shared tables. One coarse method per operator; the GIL is released in
/// each.
#[pymodule(name = "_native")]
mod native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::calibration::{Calibration, measure_links};
    #[pymodule_export]
    use crate::cost::{circuit_psi_rows, cost, engines, operators, permits};
    #[pymodule_export]
    use crate::fault::reason_for_peers;
    #[pymodule_export]
    use crate::kept::{KeptFile, KeptShares, kept_header};
    #[pymodule_export]
    use crate::keys::{fingerprint, generate_keys, version};
    #[pymodule_export]
    use crate::machine::processors;
    #[pymodule_export]
    use crate::matching::{
        Announcement, Binned, Group, Identified, KeyedTable, MatchPlan, MatchedRows, Offer, Pair, PreparedSet,
        SharedRows, choose_bins, choose_leader, choose_whole, ids_methods, key_kinds, matching_protocols,
        matching_questions, published_bytes, query_cost, read_sealed, seal, unseal, write_sealed,
    };
    #[pymodule_export]
    use crate::party::Party;
    #[pymodule_export]
    use crate::prices::{default_prices, measured};
    #[pymodule_export]
    use crate::session::Session;
    #[pymodule_export]
    use crate::table::{Opened, SharedTable};
    #[pymodule_export]
    use crate::testimony::{attends, sign, signed_by};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        tacit_run::containment::install_hook();
        tacit_math::allocator::keep_large_vectors();
        let tacit_run::Link { latency, bandwidth } = tacit_run::Link::UNDECLARED;
        module.add("UNDECLARED_LINK", (latency, bandwidth))?;
        module.add("MOST_BINS", tacit_psi::binning::MOST)?;
        module.add("MOST_MEMORY", tacit_linkage::messages::announcement::MOST_MEMORY)?;
        module.add("MOST_WORKERS", tacit_linkage::messages::announcement::MOST_WORKERS)?;
        module.add("MOST_PREPARED", tacit_linkage::messages::prepared::MOST_PREPARED)?;
        module.add("MOST_BUDGET", tacit_psi::unbalanced::LARGEST_BUDGET)?;
        module.add("BYTES_PER_TOKEN", tacit_linkage::choice::bins::BYTES_PER_TOKEN)?;
        crate::fault::register(module)
    }
}

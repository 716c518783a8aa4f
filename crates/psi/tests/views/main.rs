//! What a party can compute from all that it saw in an intersection: views with derived values, beside simulators and
//! planted faults.

mod agreements;
mod circuit_psi;
#[path = "../circuit/curious.rs"]
mod curious;
mod enacted;
mod intersections;
mod malicious;
mod multi_keys;
mod owners;
mod permute_share;
mod relatives;
mod stores;
mod sums;
mod union_senders;
mod unions;
mod vole_psi;
mod world;

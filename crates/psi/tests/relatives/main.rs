//! Protocols whose functionality is another than the intersection, each against the clear computation.

mod cardinality_sum;
#[cfg(tacit_memcheck)]
mod constant_time;
mod multi_key;
mod pair;
mod permute_share;
mod private_id;
mod private_id_oprf;
mod ps3i;
mod traits;
mod unbalanced;

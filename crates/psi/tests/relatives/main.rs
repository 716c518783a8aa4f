//! Protocols whose functionality is another than the intersection, each against the clear computation.

mod cardinality_sum;
mod multi_key;
mod pair;
mod permute_share;
mod private_id;
mod private_id_oprf;
mod ps3i;
mod traits;
mod unbalanced;

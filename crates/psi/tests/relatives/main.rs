//! Protocols whose functionality is another than the intersection, each against the clear computation.

mod cardinality_sum;
mod pair;
mod private_id;
mod unbalanced;

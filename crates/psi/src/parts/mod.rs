//! What several protocols are made of.

pub mod binning;
pub(crate) mod blinding;
pub mod chance;
pub mod cuckoo;
pub mod group;
pub(crate) mod masking;
pub mod okvs;
pub mod permute_share;
pub mod row_counts;
pub mod tag_lookup;
pub(crate) mod tag_map;
pub mod tags;
pub mod tokens;

//! Products of shared bits and ring elements, and conversions between both.

pub(super) mod and;
pub(super) mod batches;
pub(super) mod bit_product;
pub(super) mod convert;
pub(super) mod inject;
pub(super) mod matrices;
pub(super) mod multiply;
pub(super) mod scan;
pub(super) mod select;
pub(super) mod truncate;

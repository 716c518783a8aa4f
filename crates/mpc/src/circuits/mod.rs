//! Boolean circuits, written once over any [`Gates`]. A number is a slice of planes, least significant first.
//!
//! Those over planes are shallow: depth logarithmic in the width, for engines where a level of AND gates is a round.
//! [`small`] has those that are garbled, with the fewest gates. An engine is
//! asked first whether it has a better way, by [`Backend::evaluate`].

mod arithmetic;
mod compare;
mod convert;
mod division;
mod gates;
mod leading;
mod named;
mod reciprocal;
mod rounding;
mod select;
pub mod small;
mod whole;

pub use arithmetic::{add, negative, sign};
pub use compare::{and_all, and_pairs, equal, less_than, or_all};
pub use convert::{narrow_to_ring, resize, to_planes, to_ring};
pub use division::divide;
pub use gates::{Blank, Counts, Gates};
pub use leading::leading_one;
pub use reciprocal::Reciprocal;
pub use rounding::floor;
pub use select::{mask_all, mux};

pub use crate::function::{Evaluation, Function};

use crate::SharedTypes;

/// A shared number: its planes, least significant first.
pub type Planes<B> = Vec<<B as SharedTypes>::Bits>;

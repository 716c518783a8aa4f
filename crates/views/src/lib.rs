//! What can one party compute from everything that it saw? The battery of tests of secrecy, for tests alone.
//!
//! A [`View`] is what one party knows after a run: named bit strings. A [`Run`] puts beside it what the party may know
//! (its declared outputs and its own inputs) and what it must not learn (the others' secrets). [`play`] makes runs by
//! the hundreds. Then
//! - [`leaks`] finds every linear combination of view bits that is one of secret bits,
//! - [`constants`] finds every linear relation among bits that should be independent,
//! - [`biased`] finds bits that are one too often or too seldom,
//! - [`correlated`] finds view bits that lean to a secret bit without being equal to it,
//! - [`repeats`] finds equal words and equal differences of words, within a run and across runs,
//! - [`indistinguishable`] compares real views with those of a simulator.
//!
//! A check that finds something says which named bits take part. By chance, one finds something in clean data with a
//! probability below 2^-40. None of them sees a leak that only computing shows, such as the image of a secret under a
//! known one-way function. So a test adds what the party can derive: [`Kind::Derived`]. Nor does one see a leak that is
//! neither linear nor in pairs of bits.
//!
//! docs/security/views.md tells how to write a view test.

mod columns;
mod compare;
mod frequency;
mod play;
mod relations;
mod repeats;
mod seed;
mod space;
mod view;

pub use compare::{Difference, indistinguishable};
pub use frequency::{Biased, Correlated, biased, correlated};
pub use play::play;
pub use relations::{Relation, constants, leaks, runs_needed};
pub use repeats::{Repeat, repeats};
pub use seed::seed;
pub use view::{Kind, Part, Run, View};

/// The probability that a check finds something in clean data.
const FALSE_ALARM: f64 = 1.0 / (1u64 << 41) as f64;

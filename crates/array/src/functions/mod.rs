//! Numeric functions of shared fixed-point numbers, written once over [`tacit_mpc::Backend`].
//!
//! A number v is the integer v 2^f in a ring of k bits. Each function is planned first, from k, f and the interval that
//! its numbers are proved to lie in. The plan chooses widths, tables and numbers of steps. It states its error, or says
//! why there is none ([`Refused`]). All of that is public, and plans are equal at all nodes. Running a plan discloses
//! nothing: docs/protocols/functions.md.
//!
//! | function | plan | way |
//! |---|---|---|
//! | e^x | [`Exp`] | split products of one or two digits of the exponent |
//! | sin, cos | [`Circle`] | a split product of two words; the ring reduces the angle |
//! | sigmoid, tanh, erf | [`Odd`] | odd Fourier series as one split product |
//! | 1 / y, x / y | [`Divide`] | normalisation, Goldschmidt's series |
//! | sqrt y, 1 / sqrt y | [`Root`] | normalisation, a polynomial and a step of third order |
//! | ln y | [`Log`] | normalisation, a polynomial and a step by e^x |
//!
//! Truncations inside round by [`tacit_mpc::Backend::truncate`]. So results are functions of shares: engines agree
//! within the stated errors, not bit for bit.

mod circle;
mod coefficients;
mod curve;
mod divide;
mod exponential;
mod fixed;
mod interval;
mod logarithm;
mod normal;
mod polynomial;
mod root;
mod series;
mod tables;

pub use circle::{Angle, Circle};
pub use curve::Curve;
pub use divide::Divide;
pub use exponential::Exp;
pub use interval::{Interval, Refused};
pub use logarithm::Log;
pub use root::Root;
pub use series::Odd;

//! Two nodes, additive secret sharing with oblivious transfer (GMW), semi-honest, one node corrupted.
//!
//! x = x0 + x1, where node i holds x_i: components of vectors over Z/2^k add up, components of planes XOR. Linear maps
//! are local. Every product is a sum of what one node knows alone and of two cross products, x0 y1 and x1 y0. Each of
//! these is from correlated OTs of one direction ([`transfers`]); those of many ring elements are from oblivious linear
//! evaluation ([`tacit_ot::ole`]). Sources: Goldreich, Micali, Wigderson, STOC 1987 (sharing, AND); Gilboa, CRYPTO 1999
//! (multiplication); Demmler, Schneider, Zohner, NDSS 2015 (ABY: conversions).
//!
//! A transferred string serves for its product at once: node 0 tells by one bit whether it wants the random string that
//! it has or the other one. Node 1 tells the difference of its two random strings masked by its factor. Both go in the
//! same round. That sends what Beaver's triples would, without a multiplication of random numbers before.
//!
//! Messages are at positions and of sizes that depend only on public row counts.
//!
//! | operation | file | | operation | file |
//! |---|---|---|---|---|
//! | AND | [`products::and`] | | conjunction of planes | [`lookups::conjunction`] |
//! | inner products | [`products::multiply`] | | carries of sums | [`lookups::carry`] |
//! | matrices, convolutions | [`products::matrices`] | | | |
//! | injection | [`products::inject`] | | streamed digits of both | [`lookups::table`] |
//! | selection | [`products::select`] | | element chosen by a digit | [`lookups::choose`] |
//! | products with scans | [`products::scan`] | | whole circuit | [`garbled`] |
//! | truncation | [`products::truncate`] | | | |
//! | summands, masks | [`products::convert`] | | correlated OTs | [`transfers`] |
//! | shuffle | [`rows::shuffle`], [`rows::permute`] | | which of them runs | [`strategy`], by [`prices`] |
//! | input | [`rows::input`] | | rounds and bytes of each | [`costs`] |
//! | opening, announcement | [`rows::open`] | | | |

mod costs;
mod engine;
pub(in crate::backends) mod garbled;
mod lookups;
mod node;
pub mod prices;
mod products;
mod rows;
mod strategy;
mod terms;
mod transfers;
#[cfg(test)]
mod views;

use tacit_net::{Cost, PartyId, Traffic};

pub use costs::TwoCosts;
pub use garbled::{Builder, Circuit, Input, OFFSET_BITS, ROWS_A_KEY, Wire};
pub use node::{Share, Two};
pub use transfers::Order;

/// Nodes of the engine.
const NODES: usize = 2;

/// What a protocol costs the nodes in direction d: node d is the sender.
fn in_direction(d: usize, traffic: Traffic) -> Cost {
    traffic.between(PartyId(d), PartyId(1 - d), NODES)
}

/// What a protocol of each direction costs, one after the other; `of` gives that of a direction.
fn in_both_directions(of: impl Fn(usize) -> Traffic) -> Cost {
    let mut cost = in_direction(0, of(0));
    cost += in_direction(1, of(1));
    cost
}

//! Four servers, additive secret sharing with two assistants (PrivPy), semi-honest, one server corrupted.
//!
//! x = x1 + x2, where the primary server S1 holds x1 and S2 holds x2: components of vectors over Z/2^k add up,
//! components of planes XOR. The assistants Sa and Sb hold nothing: what they are sent lives as long as the operation
//! does. Linear maps are local. Engine order is S1, S2, Sa, Sb.
//!
//! Source: Li, Duan, Yu, Zhao, Xu, "PrivPy: Enabling Scalable and General Privacy-Preserving Computation" (2018),
//! sections 4 and 5. **Departures** Z/2^k in place of a field; docs/protocols/four.md has these and the others.
//!
//! Any **two** servers together know everything, but S1 and S2 are not the only such pair. Sa and Sb have both shares
//! of every factor; S1 knows the randomness of what Sa and Sb are sent.
//!
//! Messages are at positions and of sizes that depend only on public row counts.
//!
//! | operation | file | | operation | file |
//! |---|---|---|---|---|
//! | products, as they are and divided by the scale | [`multiply`] | | input | [`input`] |
//! | products of matrices, convolutions | [`bilinear`] | | opening, announcement | [`open`] |
//! | comparison | [`compare`] | | shuffle | [`shuffle`] |
//! | truncation, injection, split products | [`truncate`], [`convert`] | | integers wider than a ring | [`integers`] |
//! | products with scans, summands, masks | [`convert`] | | rounds, bytes and failure of each | [`costs`], [`failure`] |

mod bilinear;
mod compare;
mod convert;
mod costs;
mod engine;
pub mod failure;
mod input;
mod integers;
mod multiply;
mod open;
mod shuffle;
mod truncate;

use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use zeroize::Zeroizing;

pub use costs::FourCosts;

use crate::backends::generator::generator;
use crate::backends::two::garbled::{Pair, Transfers};
use crate::linear::Column;
use crate::{Linear, MpcError, Result};

/// Servers of the engine.
const NODES: usize = 4;

/// Servers that hold shares: the first ones.
const HOLDERS: usize = 2;

/// The primary server that holds x1.
const S1: PartyId = PartyId(0);
/// The primary server that holds x2.
const S2: PartyId = PartyId(1);
/// The assistant that gets x1' and y2'.
const SA: PartyId = PartyId(2);
/// The assistant that gets x2' and y1'.
const SB: PartyId = PartyId(3);

/// A server's component: of a primary server one of two, of an assistant none. Not printable, not comparable.
#[derive(Clone)]
#[must_use]
pub struct Share<T> {
    held: Option<T>,
    rows: usize,
}

impl<T> Share<T> {
    fn new(held: T) -> Self
    where
        T: Column,
    {
        Self { rows: held.len(), held: Some(held) }
    }

    /// What an assistant knows of a column: how long it is.
    fn of_rows(rows: usize) -> Self {
        Self { held: None, rows }
    }

    /// The component of a primary server.
    fn own(&self) -> &T {
        self.held.as_ref().expect("a primary server has a component")
    }
}

impl<T: Column> Linear<T> for Share<T> {
    fn map_many(inputs: &[&Self], outputs: usize, rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self> {
        let held: Option<Vec<&T>> = inputs.iter().map(|x| x.held.as_ref()).collect();
        let Some(held) = held else { return (0..outputs).map(|_| Self::of_rows(rows)).collect() };
        let out: Vec<_> = map(&held).into_iter().map(Share::new).collect();
        assert_eq!(out.len(), outputs, "as many outputs as promised");
        out
    }

    fn rows(&self) -> usize {
        self.rows
    }
}

/// What the secrets of pairs of servers are for.
const PURPOSE: &str = "four: generator of a pair of servers";

/// A server of the engine.
pub struct Four {
    session: Session,
    /// The generator of S1 and S2 at these: their joint randomness. Of Sa and Sb at those.
    joint: Prg,
    /// The generator of S1 and Sa at these; of S2 and Sb at those.
    across: Prg,
    /// This server's own generator.
    own: Prg,
    /// The offset of the labels that Sa garbles with.
    garbling: Zeroizing<u128>,
    /// OT state of the assistants, created by the first comparison.
    transfers: Option<Transfers>,
    /// Whether there was a comparison, whose OTs have been set up.
    compared: bool,
}

impl Four {
    /// Sets the engine up on a session of exactly four parties, in engine order. Each generator of two servers begins
    /// with a secret that both have in common in this session, so that no seed is sent.
    ///
    /// # Errors
    /// When the operating system gives no randomness, or somebody else carries the session's bytes.
    pub fn new(mut session: Session) -> Result<Self> {
        assert_eq!(session.parties(), NODES, "four has four servers");
        let fresh = || Seed::random().map_err(|e| MpcError::Randomness(e.to_string()));
        let own = fresh()?;
        let garbling = Zeroizing::new(u128::from_le_bytes(*fresh()?.expose()) | 1);
        let [beside, across] = partners(session.me());
        let [for_beside, for_across] = [session.pair_secret(beside, PURPOSE)?, session.pair_secret(across, PURPOSE)?];
        let joint = generator(&session, "joint", &Seed::from_secret(&for_beside));
        let across = generator(&session, "across", &Seed::from_secret(&for_across));
        let own = generator(&session, "own", &own);
        Ok(Self { session, joint, across, own, garbling, transfers: None, compared: false })
    }

    fn me(&self) -> PartyId {
        self.session.me()
    }

    /// Whether this is S1 or S2.
    fn holds(&self) -> bool {
        self.me().0 < HOLDERS
    }

    /// The other primary server of one, the other assistant of one.
    fn beside(&self) -> PartyId {
        partners(self.me())[0]
    }

    /// A column that S1 knows and S2 has zeros of; assistants have none.
    fn of_first<T: Column>(&self, rows: usize, value: impl FnOnce() -> T, zero: impl FnOnce() -> T) -> Share<T> {
        match self.me() {
            S1 => Share::new(value()),
            S2 => Share::new(zero()),
            _ => Share::of_rows(rows),
        }
    }

    /// A column that S2 knows and S1 has zeros of; assistants have none.
    fn of_second<T: Column>(&self, rows: usize, value: impl FnOnce() -> T, zero: impl FnOnce() -> T) -> Share<T> {
        match self.me() {
            S1 => Share::new(zero()),
            S2 => Share::new(value()),
            _ => Share::of_rows(rows),
        }
    }

    /// At an assistant: what both garble with.
    fn assistants(&mut self) -> Pair<'_> {
        let (garbles, peer, offset) = (self.me() == SA, self.beside(), *self.garbling);
        let Self { session, transfers, joint, .. } = self;
        Pair { session, garbles, peer, offset, transfers, common: joint }
    }
}

/// Whom a server has generators with: the server of its own kind, and the one of the other kind.
fn partners(server: PartyId) -> [PartyId; 2] {
    match server {
        S1 => [S2, SA],
        S2 => [S1, SB],
        SA => [SB, S1],
        _ => [SA, S2],
    }
}

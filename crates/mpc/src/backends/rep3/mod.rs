//! Three nodes, replicated secret sharing, semi-honest, one node corrupted.
//!
//! x = x0 + x1 + x2, where node i holds (x_i, x_(i+1)): components of vectors over Z/2^k add up, components of planes
//! XOR. Each pair of nodes shares a pseudorandom generator, so that nodes can agree on masks without messages. Sources:
//! Araki, Furukawa, Lindell, Nof, Ohara, CCS 2016 (sharing, multiplication); Mohassel, Rindal, CCS 2018 (ABY3:
//! conversions).
//!
//! Messages are at positions and of sizes that depend only on public row counts.
//!
//! | operation | file | | operation | file |
//! |---|---|---|---|---|
//! | AND | [`and`] | | shuffle | [`shuffle`] |
//! | inner products | [`multiply`] | | input | [`input`] |
//! | injection | [`inject`] | | opening, announcement | [`open`] |
//! | selection | [`inject`], then [`multiply`] | | summands, masks | [`convert`] |
//! | products with scans | [`scan`] | | functions of two summands | [`split`] |
//! | truncation | [`truncate`], [`fused`] | | rounds and bytes of each | [`costs`] |

mod and;
mod convert;
mod costs;
mod fused;
mod inject;
mod input;
mod multiply;
mod open;
mod scan;
mod shuffle;
mod split;
mod truncate;

use tacit_math::{Plane, Prg, Ring, Seed, ring};
use tacit_net::{PartyId, Session};

pub use costs::Rep3Costs;
use input::{components, share_rows};
use split::Summands;

use crate::backends::components::exactly;
use crate::backends::generator::generator;
use crate::backends::{Components, Costs, Networked};
use crate::linear::Column;
use crate::{Apart, Backend, Block, Linear, LinearScan, Permit, Result, Rows, Shape, SharedTypes, Split};

/// A node's share: components i and i+1 of three. Not printable, not comparable.
#[derive(Clone)]
#[must_use]
pub struct Share<T> {
    mine: T,
    next: T,
}

impl<T> Share<T> {
    fn component(&self, which: Held) -> &T {
        match which {
            Held::Mine => &self.mine,
            Held::Next => &self.next,
        }
    }
}

/// Which of the two components that a node holds.
#[derive(Clone, Copy)]
enum Held {
    Mine,
    Next,
}

impl<T: Column> Linear<T> for Share<T> {
    fn map_many(inputs: &[&Self], outputs: usize, _rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self> {
        let side = |which| map(&inputs.iter().map(|x| x.component(which)).collect::<Vec<_>>());
        let out: Vec<_> =
            side(Held::Mine).into_iter().zip(side(Held::Next)).map(|(mine, next)| Share { mine, next }).collect();
        assert_eq!(out.len(), outputs, "as many outputs as promised");
        out
    }

    // Both components of a row move together.
    fn map_each(inputs: &[&Self], _rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self> {
        let columns =
            [Held::Mine, Held::Next].into_iter().flat_map(|which| inputs.iter().map(move |x| x.component(which)));
        let mut mine = map(&columns.collect::<Vec<_>>());
        assert_eq!(mine.len(), 2 * inputs.len(), "as many outputs as inputs");
        let next = mine.split_off(inputs.len());
        mine.into_iter().zip(next).map(|(mine, next)| Share { mine, next }).collect()
    }

    fn rows(&self) -> usize {
        self.mine.len()
    }
}

/// One of the three nodes, by its place in the engine.
const NODES: usize = 3;

/// What a pair's secret is for.
const PURPOSE: &str = "rep3: generator of a pair of nodes";

/// A node of the engine: its session with the two others and the generators it shares with each.
pub struct Rep3 {
    session: Session,
    with_next: Prg,
    with_previous: Prg,
    /// Who plays the first role in the next shuffle.
    turn: usize,
}

impl Rep3 {
    /// Sets the engine up on a session of exactly three parties, in engine order. Each pair's generator begins with a
    /// secret that the two have in common in this session, so that no seed is ever sent.
    ///
    /// # Errors
    /// When somebody else carries the session's bytes.
    pub fn new(mut session: Session) -> Result<Self> {
        assert_eq!(session.parties(), NODES, "rep3 has three nodes");
        let (next, previous) = (neighbour(session.me(), 1), neighbour(session.me(), 2));
        let [for_next, for_previous] = [session.pair_secret(next, PURPOSE)?, session.pair_secret(previous, PURPOSE)?];
        let with_next = generator(&session, "with next", &Seed::from_secret(&for_next));
        let with_previous = generator(&session, "with previous", &Seed::from_secret(&for_previous));
        Ok(Self { session, with_next, with_previous, turn: 0 })
    }

    fn me(&self) -> usize {
        self.session.me().0
    }

    fn next(&self) -> PartyId {
        neighbour(self.session.me(), 1)
    }

    fn previous(&self) -> PartyId {
        neighbour(self.session.me(), 2)
    }

    /// Whether this node is a holder of component c, and as which of its two.
    fn holds(&self, c: usize) -> Option<Held> {
        match (c + NODES - self.me()) % NODES {
            0 => Some(Held::Mine),
            1 => Some(Held::Next),
            _ => None,
        }
    }
}

fn neighbour(of: PartyId, steps: usize) -> PartyId {
    PartyId((of.0 + steps) % NODES)
}

impl Networked for Rep3 {
    const NAME: &'static str = "rep3";
    const NODES: usize = NODES;
    type Formulas = Rep3Costs;

    fn start(session: Session) -> Result<Self> {
        Self::new(session)
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    fn into_session(self) -> Session {
        self.session
    }
}

impl Components for Rep3 {
    // What it draws with the next node less what it draws with the previous one.
    fn add_zero(&mut self, component: &mut Block) {
        component.add_random(&mut self.with_next);
        component.subtract_random(&mut self.with_previous);
    }

    fn take_apart(rows: Rows<Self>) -> Vec<Block> {
        let (mine, next) = components(rows);
        vec![mine, next]
    }

    fn put_together(components: Vec<Block>) -> Rows<Self> {
        let [mine, next] = exactly(components);
        share_rows(mine, next)
    }
}

impl SharedTypes for Rep3 {
    type Bits = Share<Plane>;
    type Vector<R: Ring> = Share<Vec<R>>;
}

impl Backend for Rep3 {
    const INJECT_AT_MOST: usize = Rep3Costs::INJECT_AT_MOST;

    fn step<T>(&mut self, name: &str, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.session.enter(name);
        let out = body(self);
        self.session.leave();
        out
    }

    fn public_bits(&self, rows: usize, value: impl FnOnce() -> Plane) -> Self::Bits {
        self.public(value(), || Plane::zeros(rows))
    }

    fn public_vector<R: Ring>(&self, rows: usize, value: impl FnOnce() -> Vec<R>) -> Self::Vector<R> {
        self.public(value(), || vec![R::ZERO; rows])
    }

    fn and_xor(
        &mut self,
        x: &[&Self::Bits],
        y: &[&Self::Bits],
        base: &[Option<&Self::Bits>],
    ) -> Result<Vec<Self::Bits>> {
        self.and_planes(x, y, base)
    }

    fn inner_products<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.inner_products_of_vectors(terms)
    }

    fn scan_product<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Self::Bits],
    ) -> Result<Self::Vector<u32>> {
        self.digit_times_scan::<S, N>(digit)
    }

    fn inject<R: Ring>(&mut self, bits: &[&Self::Bits]) -> Result<Vec<Self::Vector<R>>> {
        self.inject_bits(bits)
    }

    fn summands<R: Ring>(&mut self, x: &[&Self::Vector<R>], width: usize) -> Result<Vec<[Vec<Self::Bits>; 2]>> {
        self.two_summands(x, width)
    }

    fn mask<R: Ring>(&mut self, rows: usize) -> Result<(Self::Vector<R>, Vec<Self::Bits>)> {
        self.ring_mask(rows)
    }

    fn unmask<R: Ring>(&mut self, mask: Self::Vector<R>, difference: &[&Self::Bits]) -> Result<Self::Vector<R>> {
        self.ring_unmask(mask, difference)
    }

    fn split_product<R: Ring>(&mut self, x: &[&Self::Vector<R>], f: &impl Split<R>) -> Result<Vec<Self::Vector<R>>> {
        self.split_products(x, f)
    }

    fn narrow(&self, x: &Self::Vector<u128>) -> Self::Vector<u64> {
        Share { mine: ring::narrow(&x.mine), next: ring::narrow(&x.next) }
    }

    fn truncate<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Self::Vector<R>>> {
        self.truncated(&x.iter().copied().map(Summands::Shared).collect::<Vec<_>>(), by)
    }

    fn truncate_apart<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Apart<Self, R>>> {
        self.truncated_apart(x, by)
    }

    fn multiply_truncate<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
        by: usize,
    ) -> Result<Vec<Self::Vector<R>>> {
        self.truncated_products(terms, by)
    }

    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        self.step("shuffle", |b| b.shuffle_by_hops(rows, None).map(|(rows, _)| rows))
    }

    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)> {
        self.step("shuffle", |b| b.shuffle_by_hops(rows, Some(reveal)))
    }

    fn input(&mut self, owner: PartyId, shape: Shape, data: Option<Block>) -> Result<Rows<Self>> {
        self.input_block(owner, shape, data)
    }

    fn open(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        self.open_rows(rows, permit)
    }

    fn announce(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        self.announce_number(owner, number, permit)
    }
}

impl Rep3 {
    /// A public value is component 0; the other components are zero.
    fn public<T>(&self, value: T, zero: impl Fn() -> T) -> Share<T> {
        match self.holds(0) {
            Some(Held::Mine) => Share { mine: value, next: zero() },
            Some(Held::Next) => Share { mine: zero(), next: value },
            None => Share { mine: zero(), next: zero() },
        }
    }
}

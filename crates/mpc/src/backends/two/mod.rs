//! Two nodes, additive secret sharing with oblivious transfer (GMW), semi-honest, one node corrupted.
//!
//! x = x0 + x1, where node i holds x_i: components of vectors over Z/2^k add up, components of planes XOR. Linear maps are local.
//! Every product is a sum of what one node knows alone and of two cross products, x0 y1 and x1 y0, each from correlated OTs
//! of one direction ([`stock`]); those of many ring elements are from oblivious linear evaluation ([`tacit_ot::ole`]). Sources: Goldreich, Micali,
//! Wigderson, STOC 1987 (sharing, AND); Gilboa, CRYPTO 1999 (multiplication); Demmler, Schneider, Zohner, NDSS 2015 (ABY: conversions).
//!
//! A transferred string serves for its product at once: node 0 tells by one bit whether it wants the random string that it
//! has or the other one, node 1 tells the difference of its two random strings masked by its factor, both in the same round, which
//! sends what Beaver's triples would, without a multiplication of random numbers before.
//!
//! Messages are at positions and of sizes that depend only on public row counts.

mod and;
mod batches;
mod bit_product;
mod carry;
mod choice;
mod choose;
mod conjunction;
mod convert;
mod costs;
mod garbled;
mod lanes;
mod multiply;
mod network;
mod open;
mod permute;
mod prices;
mod shuffle;
mod stock;
mod table;
#[cfg(test)]
mod views;

use tacit_math::{Plane, Prg, Ring, Seed};
use tacit_net::{PartyId, Session};
use tacit_ot::ole::Ole;

pub use costs::TwoCosts;
pub use garbled::{Builder, Circuit, Input, OFFSET_BITS, ROWS_A_KEY, Wire};
pub(in crate::backends) use open::{component, share_rows};
pub use stock::account::Order;

use zeroize::Zeroizing;

use self::choice::garbles;
use self::garbled::Transfers;
use self::stock::Stock;
use crate::backends::{Costs, Networked};
use crate::bits::planes_of;
use crate::circuits::Function;
use crate::linear::Column;
use crate::{Backend, Block, Linear, LinearScan, Link, MpcError, Permit, Result, Rows, Shape, circuits};

/// A node's component of two. Not printable, not comparable.
#[derive(Clone)]
#[must_use]
pub struct Share<T>(T);

impl<T: Column> Linear<T> for Share<T> {
    fn map_many(inputs: &[&Self], outputs: usize, _rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self> {
        let out: Vec<_> = map(&inputs.iter().map(|x| &x.0).collect::<Vec<_>>()).into_iter().map(Share).collect();
        assert_eq!(out.len(), outputs, "as many outputs as promised");
        out
    }

    fn rows(&self) -> usize {
        self.0.len()
    }
}

const NODES: usize = 2;

/// What the nodes' secret is for.
const PURPOSE: &str = "two: generator of both nodes";

/// A node of the engine: its session with the other one and its stock of correlated OTs.
pub struct Two {
    session: Session,
    stock: Stock,
    /// The offset of the labels that this node garbles with. Nothing else has it: what would give away the stock's offset opens no circuit, and what
    /// would give away this one opens no transfer.
    garbling: Zeroizing<u128>,
    /// What labels of garbled circuits are transferred with, once there was one.
    transfers: Option<Transfers>,
    /// What many products are made with, once there were many.
    ole: Option<Ole>,
    /// The declared network.
    link: Option<Link>,
    /// The generator that both nodes hold.
    common: Prg,
    /// This node's own generator.
    own: Prg,
    /// Who gave the elements of the last injection.
    turn: usize,
}

impl Two {
    /// Sets the engine up on a session of exactly two parties: base OTs in both directions. The generator that both hold begins with
    /// a secret that they have in common in this session, so that no seed is sent.
    ///
    /// # Errors
    /// When the peer is gone or misbehaves, the operating system gives no randomness, or somebody else carries the session's bytes.
    pub fn new(session: Session) -> Result<Self> {
        Self::begin(session, Stock::new)
    }

    /// As [`Self::new`], with a second session between the same nodes, in which all stock is made: ahead of its use, if it is ordered
    /// ([`Self::order`]).
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_stock_ahead(session: Session, background: Session) -> Result<Self> {
        Self::begin(session, |session| Stock::made_ahead(session, background))
    }

    /// Has stock made for a step, in the background, after what was ordered before. All nodes order the same in the same order, in which
    /// the steps use it ([`Costs::orders`]).
    pub fn order(&mut self, step: &str, order: Order) {
        self.stock.order(step, order);
    }

    fn begin(mut session: Session, stock: impl FnOnce(&mut Session) -> Result<Stock>) -> Result<Self> {
        assert_eq!(session.parties(), NODES, "two has two nodes");
        let fresh = || Seed::random().map_err(|e| MpcError::Randomness(e.to_string()));
        let own = fresh()?;
        let garbling = Zeroizing::new(u128::from_le_bytes(*fresh()?.expose()) | 1);
        let peer = PartyId(1 - session.me().0);
        let common = Prg::new(&Seed::from_secret(&*session.pair_secret(peer, PURPOSE)?));
        session.enter("setup");
        let stock = stock(&mut session)?;
        session.leave();
        Ok(Self {
            session,
            stock,
            garbling,
            transfers: None,
            ole: None,
            link: None,
            common,
            own: Prg::new(&own),
            turn: 0,
        })
    }

    fn me(&self) -> usize {
        self.session.me().0
    }

    fn peer(&self) -> PartyId {
        PartyId(1 - self.me())
    }

    /// A public value is component 0.
    fn public<T>(&self, value: impl FnOnce() -> T, zero: impl FnOnce() -> T) -> Share<T> {
        Share(if self.me() == 0 { value() } else { zero() })
    }
}

impl Networked for Two {
    const NAME: &'static str = "two";
    const NODES: usize = NODES;
    type Formulas = TwoCosts;

    fn start(session: Session) -> Result<Self> {
        Self::new(session)
    }

    fn declare(&mut self, link: Link) {
        self.link = Some(link);
        self.stock.declare(link);
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    fn into_session(self) -> Session {
        self.stock.end();
        self.session
    }

    fn abort(self, reason: &str) {
        self.stock.abort(reason);
        self.session.abort(reason);
    }
}

impl Backend for Two {
    type Bits = Share<Plane>;
    type Vector<R: Ring> = Share<Vec<R>>;

    const INJECT_AT_MOST: usize = TwoCosts::INJECT_AT_MOST;
    const SIGNS: bool = TwoCosts::SIGNS;

    fn step<T>(&mut self, name: &str, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.session.enter(name);
        let out = body(self);
        self.session.leave();
        out
    }

    fn public_bits(&self, rows: usize, value: impl FnOnce() -> Plane) -> Self::Bits {
        self.public(value, || Plane::zeros(rows))
    }

    fn public_vector<R: Ring>(&self, rows: usize, value: impl FnOnce() -> Vec<R>) -> Self::Vector<R> {
        self.public(value, || vec![R::ZERO; rows])
    }

    fn and_xor(
        &mut self,
        x: &[&Self::Bits],
        y: &[&Self::Bits],
        base: &[Option<&Self::Bits>],
    ) -> Result<Vec<Self::Bits>> {
        self.and_planes(x, y, base)
    }

    fn conjoin(&mut self, mut planes: Vec<Self::Bits>) -> Result<Vec<Self::Bits>> {
        let rows = planes.first().map_or(0, |plane| plane.rows());
        let Some(way) = conjunction::Way::of(self.link, rows, planes.len()) else {
            return circuits::and_pairs(self, planes);
        };
        let others = planes.split_off(way.counts(planes.len()).0);
        let mut conjunctions = self.conjunctions(planes, way)?;
        conjunctions.extend(others);
        Ok(conjunctions)
    }

    fn whole(&mut self, function: Function, inputs: &[&Self::Bits]) -> Result<Option<Vec<Self::Bits>>> {
        if !self.link.is_some_and(|link| garbles(link, function, inputs[0].rows())) {
            return Ok(None);
        }
        let inputs: Vec<Input<'_>> = inputs.iter().copied().map(Input::Shared).collect();
        let outputs = self.step("garbled", |b| b.garbled(&choice::circuit(function), &inputs));
        outputs.map(Some)
    }

    fn inner_products<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.inner_products_of_vectors(terms)
    }

    fn select<R: Ring>(&mut self, bits: &[&Self::Bits], x: &[&Self::Vector<R>]) -> Result<Vec<Self::Vector<R>>> {
        self.bits_times_vectors(bits, x)
    }

    fn scan_product<R: Ring, S: LinearScan<R, N>, const N: usize>(
        &mut self,
        digit: &[&Self::Bits],
        bits: [&Self::Bits; N],
    ) -> Result<Self::Vector<R>> {
        self.bits_times_scan::<R, S, N>(digit, bits)
    }

    fn inject<R: Ring>(&mut self, bits: &[&Self::Bits]) -> Result<Vec<Self::Vector<R>>> {
        self.inject_bits(bits)
    }

    fn summands<R: Ring>(&mut self, x: &[&Self::Vector<R>], width: usize) -> Result<Vec<[Vec<Self::Bits>; 2]>> {
        Ok(x.iter().map(|x| self.two_summands(x, width)).collect())
    }

    fn carries<R: Ring>(&mut self, x: &Self::Vector<R>, width: usize) -> Result<Option<[Vec<Self::Bits>; 2]>> {
        let Some(way) = carry::Way::of(self.link, x.0.len(), width) else { return Ok(None) };
        self.carries_of(x.0.len(), planes_of(&x.0, width), way).map(Some)
    }

    fn carries_of_planes(&mut self, x: &[Self::Bits], y: &[Self::Bits]) -> Result<Option<[Vec<Self::Bits>; 2]>> {
        if carry::digits_of_planes(self.link, x[0].0.rows(), x.len()).is_none() {
            return Ok(None);
        }
        self.carries_of_shared(x, y).map(Some)
    }

    fn mask<R: Ring>(&mut self, rows: usize) -> Result<(Self::Vector<R>, Vec<Self::Bits>)> {
        Ok(self.ring_mask(rows))
    }

    fn unmask<R: Ring>(&mut self, mask: Self::Vector<R>, difference: &[&Self::Bits]) -> Result<Self::Vector<R>> {
        self.ring_unmask(mask, difference)
    }

    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        self.step("shuffle", |b| b.shuffle_by_both(rows))
    }

    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)> {
        self.step("shuffle", |b| b.shuffle_by_both_and_reveal(rows, reveal))
    }

    fn input(&mut self, owner: PartyId, shape: Shape, data: Option<Block>) -> Result<Rows<Self>> {
        Ok(self.input_block(owner, shape, data))
    }

    fn open(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        self.open_rows(rows, permit)
    }

    fn announce(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        self.announce_number(owner, number, permit)
    }
}

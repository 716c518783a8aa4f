//! The engine's trait: every operation of [`Backend`] and the function that runs it.

use tacit_math::matrix::Element;
use tacit_math::{Plane, Ring, ring};
use tacit_net::{PartyId, Session};

use super::garbled::{self, Input};
use super::node::{Share, Two};
use super::prices::Prices;
use super::rows::{component, share_rows};
use super::strategy::{self, Way};
use super::{NODES, TwoCosts};
use crate::backends::components::exactly;
use crate::backends::{Components, Costs, Networked};
use crate::bilinear;
use crate::circuits::{Evaluation, Function};
use crate::ops::nonzero_digits;
use crate::{
    Apart, Backend, Bilinear, Block, Linear, LinearScan, Link, Permit, Result, Rows, Shape, SharedTypes, Split,
};

impl Networked for Two {
    const NAME: &'static str = "two";
    const NODES: usize = NODES;
    type Formulas = TwoCosts;

    fn start(session: Session) -> Result<Self> {
        Self::new(session)
    }

    fn declare(&mut self, link: Link) {
        self.terms.link = link;
        self.stock.agree(&self.terms);
    }

    fn price(&mut self, prices: Prices) {
        self.terms.prices = prices;
        self.stock.agree(&self.terms);
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

impl Components for Two {
    // What both draw, which one adds and the other subtracts.
    fn add_zero(&mut self, component: &mut Block) {
        match self.me() {
            0 => component.add_random(&mut self.common),
            _ => component.subtract_random(&mut self.common),
        }
    }

    fn take_apart(rows: Rows<Self>) -> Vec<Block> {
        vec![component(rows)]
    }

    fn put_together(components: Vec<Block>) -> Rows<Self> {
        let [own] = exactly(components);
        share_rows(own)
    }
}

impl SharedTypes for Two {
    type Bits = Share<Plane>;
    type Vector<R: Ring> = Share<Vec<R>>;
}

/// Planes behind references.
fn owned(planes: &[&Share<Plane>]) -> Vec<Share<Plane>> {
    planes.iter().copied().cloned().collect()
}

impl Two {
    fn garbled_whole(&mut self, function: Function, inputs: &[&Share<Plane>]) -> Result<Vec<Share<Plane>>> {
        let inputs: Vec<Input<'_>> = inputs.iter().copied().map(Input::Shared).collect();
        self.step("garbled", |b| b.garbled(&garbled::circuit(function), &inputs))
    }

    /// The conjunctions of some groups of planes, and the planes that are in none.
    fn conjoined(&mut self, planes: &[&Share<Plane>], way: Way) -> Result<Vec<Share<Plane>>> {
        let (planes, others) = planes.split_at(way.conjoined(planes.len()).0);
        let mut conjunctions = self.conjunctions(owned(planes), way)?;
        conjunctions.extend(owned(others));
        Ok(conjunctions)
    }
}

impl Backend for Two {
    const INJECT_AT_MOST: usize = TwoCosts::INJECT_AT_MOST;
    const SIGNS: bool = TwoCosts::SIGNS;
    const SUMS_PRODUCTS: bool = TwoCosts::SUMS_PRODUCTS;

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

    fn evaluate(&mut self, what: Evaluation, inputs: &[&Self::Bits]) -> Result<Option<Vec<Self::Bits>>> {
        let (terms, rows, (x, y)) = (&self.terms, inputs[0].rows(), inputs.split_at(inputs.len() / 2));
        let digits = |carries: [Vec<Self::Bits>; 2]| carries.into_iter().flatten().collect();
        let evaluated = match what {
            Evaluation::Whole(function) => {
                strategy::garbles(terms, function, rows).then(|| self.garbled_whole(function, inputs))
            }
            Evaluation::Conjunctions { planes } => {
                strategy::conjunction(terms, rows, planes).map(|way| self.conjoined(inputs, way))
            }
            Evaluation::Carries { width, summands: true } => strategy::carries(terms, rows, width).map(|way| {
                // The other summand is the peer's.
                let own = [x, y][self.me()].iter().map(|plane| plane.0.clone()).collect();
                self.carries_of(rows, own, way).map(digits)
            }),
            Evaluation::Carries { width, summands: false } => strategy::carries_of_planes(terms, rows, width)
                .map(|_| self.carries_of_shared(&owned(x), &owned(y)).map(digits)),
        };
        evaluated.transpose()
    }

    fn inner_products<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.inner_products_of_vectors(terms)
    }

    fn bilinear<R: Element>(&mut self, products: &[Bilinear<'_, Self::Vector<R>>]) -> Result<Vec<Self::Vector<R>>> {
        bilinear::in_two_ways(
            self,
            products,
            |form| strategy::multiplies_matrices(form, size_of::<R>()),
            |b, whole| b.products_of_matrices(whole),
            |b, others| bilinear::by_inner_products(others, |terms| b.inner_products(terms)),
        )
    }

    fn select<R: Ring>(&mut self, bits: &[&Self::Bits], x: &[&Self::Vector<R>]) -> Result<Vec<Self::Vector<R>>> {
        self.bits_times_vectors(bits, x)
    }

    fn scan_product<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Self::Bits],
    ) -> Result<Self::Vector<u32>> {
        let flags = nonzero_digits(self, digit)?;
        self.bits_times_scan::<u32, S, N>(digit, std::array::from_fn(|t| &flags[t]))
    }

    fn inject<R: Ring>(&mut self, bits: &[&Self::Bits]) -> Result<Vec<Self::Vector<R>>> {
        self.inject_bits(bits)
    }

    fn summands<R: Ring>(&mut self, x: &[&Self::Vector<R>], width: usize) -> Result<Vec<[Vec<Self::Bits>; 2]>> {
        Ok(x.iter().map(|x| self.two_summands(x, width)).collect())
    }

    fn mask<R: Ring>(&mut self, rows: usize) -> Result<(Self::Vector<R>, Vec<Self::Bits>)> {
        Ok(self.ring_mask(rows))
    }

    fn unmask<R: Ring>(&mut self, mask: Self::Vector<R>, difference: &[&Self::Bits]) -> Result<Self::Vector<R>> {
        self.ring_unmask(mask, difference)
    }

    fn split_product<R: Ring>(&mut self, x: &[&Self::Vector<R>], f: &impl Split<R>) -> Result<Vec<Self::Vector<R>>> {
        self.split_products(x, f)
    }

    fn random_bits(&mut self, rows: &[usize]) -> Vec<Self::Bits> {
        Plane::random_all(rows, &mut self.own).into_iter().map(Share).collect()
    }

    fn narrow(&self, x: &Self::Vector<u128>) -> Self::Vector<u64> {
        Share(ring::narrow(&x.0))
    }

    fn truncate<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Self::Vector<R>>> {
        self.truncated(x, by)
    }

    fn truncate_apart<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Apart<Self, R>>> {
        self.truncated_apart(x, by)
    }

    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        self.step("shuffle", |b| b.shuffle_by_both(rows))
    }

    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)> {
        self.step("shuffle", |b| b.shuffle_by_both_and_reveal(rows, reveal))
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

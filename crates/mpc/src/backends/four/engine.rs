//! The engine's trait: every operation of [`Backend`] and the function that runs it.

use tacit_math::matrix::Element;
use tacit_math::{Plane, Ring, ring};
use tacit_net::{PartyId, Session};

use super::input::{component, no_rows, share_rows};
use super::{Four, FourCosts, NODES, S1, Share, failure};
use crate::backends::components::exactly;
use crate::backends::{Components, Costs, Networked};
use crate::{Apart, Backend, Bilinear, Block, Linear, LinearScan, Permit, Result, Rows, Shape, SharedTypes, Split};

impl Networked for Four {
    const NAME: &'static str = "four";
    const NODES: usize = NODES;
    type Formulas = FourCosts;

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

impl Components for Four {
    // What S1 and S2 draw, which one adds and the other subtracts.
    fn add_zero(&mut self, component: &mut Block) {
        match self.me() {
            S1 => component.add_random(&mut self.joint),
            _ => component.subtract_random(&mut self.joint),
        }
    }

    fn take_apart(rows: Rows<Self>) -> Vec<Block> {
        component(rows).into_iter().collect()
    }

    fn put_together(components: Vec<Block>) -> Rows<Self> {
        let [own] = exactly(components);
        share_rows(own)
    }

    fn holding_none(shape: Shape) -> Rows<Self> {
        no_rows(shape)
    }
}

impl SharedTypes for Four {
    type Bits = Share<Plane>;
    type Vector<R: Ring> = Share<Vec<R>>;
}

impl Backend for Four {
    const INJECT_AT_MOST: usize = FourCosts::INJECT_AT_MOST;
    const SUMS_PRODUCTS: bool = FourCosts::SUMS_PRODUCTS;

    fn step<T>(&mut self, name: &str, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.session.enter(name);
        let out = body(self);
        self.session.leave();
        out
    }

    fn public_bits(&self, rows: usize, value: impl FnOnce() -> Plane) -> Self::Bits {
        self.of_first(rows, value, || Plane::zeros(rows))
    }

    fn public_vector<R: Ring>(&self, rows: usize, value: impl FnOnce() -> Vec<R>) -> Self::Vector<R> {
        self.of_first(rows, value, || vec![R::ZERO; rows])
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

    fn bilinear<R: Element>(&mut self, products: &[Bilinear<'_, Self::Vector<R>>]) -> Result<Vec<Self::Vector<R>>> {
        self.bilinear_maps(products)
    }

    fn multiply_within<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
        by: usize,
        _within: &[[u128; 2]],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.scaled_inner_products(terms, by)
    }

    fn bilinear_within<R: Element>(
        &mut self,
        products: &[Bilinear<'_, Self::Vector<R>>],
        by: usize,
        _within: &[[u128; 2]],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.scaled_maps(products, by)
    }

    fn truncate_within<R: Ring>(
        &mut self,
        x: &[&Self::Vector<R>],
        by: usize,
        _within: &[u128],
    ) -> Result<Vec<Self::Vector<R>>> {
        Ok(self.scaled_vectors(x, by))
    }

    fn sign_within<R: Ring>(&mut self, x: &Self::Vector<R>, width: usize) -> Result<Option<Self::Bits>> {
        failure::compares(width, R::BITS).then(|| self.negative(x)).transpose()
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

    // Each primary server draws its component.
    fn random_bits(&mut self, rows: &[usize]) -> Vec<Self::Bits> {
        if !self.holds() {
            return rows.iter().map(|&rows| Share::of_rows(rows)).collect();
        }
        Plane::random_all(rows, &mut self.own).into_iter().map(Share::new).collect()
    }

    fn narrow(&self, x: &Self::Vector<u128>) -> Self::Vector<u64> {
        Share { held: x.held.as_ref().map(|held| ring::narrow(held)), rows: x.rows() }
    }

    fn truncate<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Self::Vector<R>>> {
        self.truncated(x, by)
    }

    fn truncate_apart<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Apart<Self, R>>> {
        self.truncated_apart(x, by)
    }

    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        self.step("shuffle", |b| b.shuffle_twice(rows, None).map(|(rows, _)| rows))
    }

    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)> {
        self.step("shuffle", |b| b.shuffle_twice(rows, Some(reveal)))
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

//! An engine without data: it runs a protocol on row counts alone and adds up the declared costs of an engine's
//! primitives.
//!
//! Because control flow never depends on secrets, the sum is what a real run of the same call sends, to the byte.
//!
//! The memory that it predicts is of all columns that are there at a time. Beside them it counts twice what a primitive
//! sends: a message is made, and another one arrives.

use std::time::Duration;

use tacit_math::matrix::Element;
use tacit_math::{Plane, Ring};
use tacit_net::{Cost, PartyId};

use super::clients;
use super::cost::{Costs, Needs, Ordered, Products};
use super::stored::{Memory, Stored};
use crate::bilinear;
use crate::circuits::Evaluation;
use crate::linear::Column;
use crate::ops::nonzero_digits;
use crate::products::common_factors;
use crate::split::{assert_products, assert_truncation};
use crate::{
    Apart, Backend, Bilinear, Block, Form, Linear, LinearScan, Link, Permit, Result, Rows, Shape, SharedTypes, Split,
};

/// A column of which only the number of rows is known, and what it takes of memory.
#[derive(Clone)]
pub struct Counted {
    rows: usize,
    stored: Stored,
}

impl Counted {
    fn new<T: Column>(rows: usize, memory: &Memory) -> Self {
        Self { rows, stored: memory.column(T::bytes(rows)) }
    }
}

impl<T: Column> Linear<T> for Counted {
    fn map_many(inputs: &[&Self], outputs: usize, rows: usize, _map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self> {
        // Without inputs it is nobody's.
        let memory = inputs.first().map_or_else(Memory::default, |input| input.stored.memory().clone());
        (0..outputs).map(|_| Counted::new::<T>(rows, &memory)).collect()
    }

    fn rows(&self) -> usize {
        self.rows
    }
}

/// Adds up the costs of engine `E`.
pub struct Tally<E> {
    names: Vec<String>,
    clients: Vec<String>,
    total: Cost,
    engine: E,
    circuits: Circuits,
    memory: Memory,
}

/// Circuits that an engine was asked to evaluate as a whole, and those of them that it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circuits {
    /// All of them.
    pub asked: usize,
    /// As a whole.
    pub whole: usize,
}

impl<E: Costs> Tally<E> {
    /// A tally for nodes of these names, in engine order.
    pub fn new(names: Vec<String>) -> Self {
        let (total, engine, circuits, memory) = Default::default();
        Self { names, clients: vec![], total, engine, circuits, memory }
    }

    /// The same for nodes that have these clients.
    pub fn with_clients(self, clients: Vec<String>) -> Self {
        Self { clients, ..self }
    }

    /// The cost so far, to each node in engine order and to each client behind them; the count starts again at zero.
    pub fn take(&mut self) -> Cost {
        std::mem::replace(&mut self.total, Cost::alike(self.names.len() + self.clients.len(), 0, 0))
    }

    /// The circuits since this was last asked.
    pub fn take_circuits(&mut self) -> Circuits {
        std::mem::take(&mut self.circuits)
    }

    /// The memory that all columns of a node take, in bytes.
    pub fn memory(&self) -> u64 {
        self.memory.now() * E::COMPONENTS as u64
    }

    /// The most memory that a node has taken at a time since this was last asked, in bytes.
    pub fn take_memory(&mut self) -> u64 {
        self.memory.take_most() * E::COMPONENTS as u64
    }

    /// Counts bytes that a node has for a moment, beside all columns.
    pub fn pass(&mut self, bytes: u64) {
        self.memory.pass(bytes / E::COMPONENTS as u64);
    }

    /// Adds the cost of a primitive. Its messages are in memory beside all columns.
    fn pay(&mut self, cost: Cost) {
        let sent = cost.sent.iter().max().copied().unwrap_or(0);
        self.memory.pass(2 * sent / E::COMPONENTS as u64);
        self.total += cost;
    }

    fn bits(&self, rows: usize) -> Counted {
        Counted::new::<Plane>(rows, &self.memory)
    }

    fn vector<R: Ring>(&self, rows: usize) -> Counted {
        Counted::new::<Vec<R>>(rows, &self.memory)
    }

    /// What comes out of maps.
    fn results<R: Ring>(&self, products: &[Bilinear<'_, Counted>]) -> Vec<Counted> {
        products.iter().map(|product| self.vector::<R>(product.rows())).collect()
    }

    /// Maps of an engine that makes some as a whole, and the others of inner products.
    fn bilinear_in_two_ways<R: Element>(&mut self, products: &[Bilinear<'_, Counted>]) -> Result<Vec<Counted>> {
        bilinear::in_two_ways(
            self,
            products,
            |form| E::is_whole(form, size_of::<R>()),
            |tally, whole| {
                let forms: Vec<Form> = whole.iter().map(|product| product.form).collect();
                if !forms.is_empty() {
                    let (cost, memory) = tally.engine.whole(&forms, size_of::<R>());
                    tally.pass(memory);
                    tally.total += cost;
                }
                Ok(tally.results::<R>(whole))
            },
            |tally, others| bilinear::by_inner_products::<R, _>(others, |terms| tally.inner_products::<R>(terms)),
        )
    }

    /// The probability of a wrong result since this was last asked ([`Costs::failure`]).
    pub fn take_failure(&mut self) -> f64 {
        self.engine.failure()
    }

    /// Processor time of each node since this was last asked ([`Costs::processor`]).
    pub fn take_processor(&mut self) -> Duration {
        self.engine.processor()
    }

    /// Declares the network, as [`super::Networked::declare`].
    pub fn declare(&mut self, link: Link) {
        self.engine.declare(link);
    }

    /// Replaces the default prices, as [`super::Networked::price`].
    pub fn price(&mut self, prices: E::Prices) {
        self.engine.price(prices);
    }

    /// From now on what can be made ahead of its use is no part of the cost of what uses it ([`Costs::make_ahead`]).
    pub fn make_ahead(&mut self) {
        self.engine.make_ahead();
    }

    /// What was taken of the stock that is made ahead, since this was last asked.
    pub fn take_needs(&mut self) -> Needs {
        self.engine.needs()
    }

    /// What is made ahead for steps that follow each other ([`Costs::orders`]).
    pub fn orders(&mut self, steps: &[Needs]) -> Vec<Ordered<E::Order>> {
        self.engine.orders(steps)
    }

    /// The stock for unforeseen needs ([`Costs::unforeseen`]).
    pub fn unforeseen(&mut self, needs: &Needs) -> Vec<Ordered<E::Order>> {
        self.engine.unforeseen(needs)
    }

    /// Counts a table that an owner will share, without data.
    pub fn columns(&self, shape: Shape) -> Rows<Self> {
        let rows = shape.rows;
        Rows {
            rows,
            bits: (0..shape.bits).map(|_| self.bits(rows)).collect(),
            r32: (0..shape.r32).map(|_| self.vector::<u32>(rows)).collect(),
            r64: (0..shape.r64).map(|_| self.vector::<u64>(rows)).collect(),
            r128: (0..shape.r128).map(|_| self.vector::<u128>(rows)).collect(),
        }
    }
}

fn lengths(columns: &[&Counted]) -> Vec<usize> {
    columns.iter().map(|c| c.rows).collect()
}

/// Of both operands and what comes out, for each.
fn lengths_of(products: &[Bilinear<'_, Counted>]) -> Vec<[usize; 3]> {
    products.iter().map(|product| product.form.lengths()).collect()
}

/// The sums of products that some inner products are.
fn sums(terms: &[Vec<(&Counted, &Counted)>]) -> Vec<Products> {
    terms.iter().map(|pairs| Products { rows: pairs[0].0.rows, count: pairs.len() }).collect()
}

impl<E: Costs> SharedTypes for Tally<E> {
    type Bits = Counted;
    type Vector<R: Ring> = Counted;
}

impl<E: Costs> Backend for Tally<E> {
    fn step<T>(&mut self, _name: &str, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        body(self)
    }

    fn public_bits(&self, rows: usize, _value: impl FnOnce() -> Plane) -> Counted {
        self.bits(rows)
    }

    fn public_vector<R: Ring>(&self, rows: usize, _value: impl FnOnce() -> Vec<R>) -> Counted {
        self.vector::<R>(rows)
    }

    const INJECT_AT_MOST: usize = E::INJECT_AT_MOST;
    const SIGNS: bool = E::SIGNS;
    const SUMS_PRODUCTS: bool = E::SUMS_PRODUCTS;

    fn and_xor(&mut self, x: &[&Counted], y: &[&Counted], _base: &[Option<&Counted>]) -> Result<Vec<Counted>> {
        let groups = common_factors(x, y);
        let products: Vec<Products> =
            groups.iter().map(|group| Products { rows: group.common(x, y).rows, count: group.outputs.len() }).collect();
        let cost = self.engine.and(&products);
        self.pay(cost);
        Ok(x.iter().map(|&c| c.clone()).collect())
    }

    fn evaluate(&mut self, what: Evaluation, inputs: &[&Counted]) -> Result<Option<Vec<Counted>>> {
        let (rows, circuits) = (inputs[0].rows, usize::from(matches!(what, Evaluation::Whole(_))));
        self.circuits.asked += circuits;
        let Some((cost, planes)) = self.engine.evaluate(what, rows) else { return Ok(None) };
        self.circuits.whole += circuits;
        self.pay(cost);
        Ok(Some((0..planes).map(|_| self.bits(rows)).collect()))
    }

    fn inner_products<R: Ring>(&mut self, terms: &[Vec<(&Counted, &Counted)>]) -> Result<Vec<Counted>> {
        let outputs: Vec<Counted> = terms.iter().map(|pairs| pairs[0].0.clone()).collect();
        let cost = self.engine.inner_products(&sums(terms), size_of::<R>());
        self.pay(cost);
        Ok(outputs)
    }

    fn bilinear<R: Element>(&mut self, products: &[Bilinear<'_, Counted>]) -> Result<Vec<Counted>> {
        let Some(cost) = self.engine.bilinear(&lengths_of(products), size_of::<R>()) else {
            return self.bilinear_in_two_ways::<R>(products);
        };
        self.pay(cost);
        Ok(self.results::<R>(products))
    }

    fn bilinear_truncate<R: Element>(&mut self, products: &[Bilinear<'_, Counted>], by: usize) -> Result<Vec<Counted>> {
        assert_truncation::<R>(by);
        let Some(cost) = self.engine.bilinear_truncate(&lengths_of(products), by, size_of::<R>()) else {
            let products = self.bilinear::<R>(products)?;
            return self.truncate::<R>(&products.iter().collect::<Vec<_>>(), by);
        };
        self.pay(cost);
        Ok(self.results::<R>(products))
    }

    fn multiply_within<R: Ring>(
        &mut self,
        terms: &[Vec<(&Counted, &Counted)>],
        by: usize,
        within: &[[u128; 2]],
    ) -> Result<Vec<Counted>> {
        assert_truncation::<R>(by);
        assert_eq!(terms.len(), within.len(), "bounds of every output's factors");
        let Some(cost) = self.engine.multiply_within(&sums(terms), by, size_of::<R>(), within) else {
            return self.multiply_truncate::<R>(terms, by);
        };
        self.pay(cost);
        Ok(terms.iter().map(|pairs| pairs[0].0.clone()).collect())
    }

    fn bilinear_within<R: Element>(
        &mut self,
        products: &[Bilinear<'_, Counted>],
        by: usize,
        within: &[[u128; 2]],
    ) -> Result<Vec<Counted>> {
        assert_truncation::<R>(by);
        assert_eq!(products.len(), within.len(), "bounds of every output's operands");
        let Some(cost) = self.engine.bilinear_within(&lengths_of(products), by, size_of::<R>(), within) else {
            return self.bilinear_truncate::<R>(products, by);
        };
        self.pay(cost);
        Ok(self.results::<R>(products))
    }

    fn truncate_within<R: Ring>(&mut self, x: &[&Counted], by: usize, within: &[u128]) -> Result<Vec<Counted>> {
        assert_truncation::<R>(by);
        assert_eq!(x.len(), within.len(), "bounds of every number");
        let Some(cost) = self.engine.truncate_within(&lengths(x), by, size_of::<R>(), within) else {
            return self.truncate::<R>(x, by);
        };
        self.pay(cost);
        Ok(x.iter().map(|&c| c.clone()).collect())
    }

    fn sign_within<R: Ring>(&mut self, x: &Counted, width: usize) -> Result<Option<Counted>> {
        let Some(cost) = self.engine.sign_within(x.rows, width, size_of::<R>()) else { return Ok(None) };
        self.pay(cost);
        Ok(Some(self.bits(x.rows)))
    }

    fn select<R: Ring>(&mut self, bits: &[&Counted], x: &[&Counted]) -> Result<Vec<Counted>> {
        let cost = self.engine.select(&lengths(bits), size_of::<R>());
        self.pay(cost);
        Ok(x.iter().map(|&c| c.clone()).collect())
    }

    fn scan_product<S: LinearScan<u32, N>, const N: usize>(&mut self, digit: &[&Counted]) -> Result<Counted> {
        if !E::SCANS_DIGITS {
            nonzero_digits(self, digit)?;
        }
        let rows = digit[0].rows;
        let cost = self.engine.scan_product(rows, N);
        self.pay(cost);
        Ok(self.vector::<u32>(rows))
    }

    fn inject<R: Ring>(&mut self, bits: &[&Counted]) -> Result<Vec<Counted>> {
        let cost = self.engine.inject(&lengths(bits), size_of::<R>());
        self.pay(cost);
        Ok(bits.iter().map(|c| self.vector::<R>(c.rows)).collect())
    }

    fn split_product<R: Ring>(&mut self, x: &[&Counted], f: &impl Split<R>) -> Result<Vec<Counted>> {
        assert_products(f);
        let cost = self.engine.split_product(&lengths(x), f.products(), size_of::<R>());
        self.pay(cost);
        Ok(x.iter().map(|&c| c.clone()).collect())
    }

    fn random_bits(&mut self, rows: &[usize]) -> Vec<Counted> {
        rows.iter().map(|&rows| self.bits(rows)).collect()
    }

    fn narrow(&self, x: &Counted) -> Counted {
        self.vector::<u64>(x.rows)
    }

    fn truncate<R: Ring>(&mut self, x: &[&Counted], by: usize) -> Result<Vec<Counted>> {
        assert_truncation::<R>(by);
        let cost = self.engine.truncate(&lengths(x), by, size_of::<R>());
        self.pay(cost);
        Ok(x.iter().map(|&c| c.clone()).collect())
    }

    fn truncate_apart<R: Ring>(&mut self, x: &[&Counted], by: usize) -> Result<Vec<Apart<Self, R>>> {
        assert_truncation::<R>(by);
        let cost = self.engine.truncate_apart(&lengths(x), by, size_of::<R>());
        self.pay(cost);
        let planes = |rows| (0..by).map(|_| self.bits(rows)).collect();
        Ok(x.iter().map(|&c| Apart { less_carry: c.clone(), low: [planes(c.rows), planes(c.rows)] }).collect())
    }

    fn multiply_truncate<R: Ring>(&mut self, terms: &[Vec<(&Counted, &Counted)>], by: usize) -> Result<Vec<Counted>> {
        assert_truncation::<R>(by);
        let cost = self.engine.multiply_truncate(&sums(terms), by, size_of::<R>());
        self.pay(cost);
        Ok(terms.iter().map(|pairs| pairs[0].0.clone()).collect())
    }

    fn summands<R: Ring>(&mut self, x: &[&Counted], width: usize) -> Result<Vec<[Vec<Counted>; 2]>> {
        let cost = self.engine.summands(&lengths(x), width);
        self.pay(cost);
        let planes = |rows| (0..width).map(|_| self.bits(rows)).collect();
        Ok(x.iter().map(|c| [planes(c.rows), planes(c.rows)]).collect())
    }

    fn mask<R: Ring>(&mut self, rows: usize) -> Result<(Counted, Vec<Counted>)> {
        let cost = self.engine.mask(rows, R::BITS as usize);
        self.pay(cost);
        Ok((self.vector::<R>(rows), (0..R::BITS).map(|_| self.bits(rows)).collect()))
    }

    fn unmask<R: Ring>(&mut self, mask: Counted, difference: &[&Counted]) -> Result<Counted> {
        let cost = self.engine.unmask(mask.rows, difference.len());
        self.pay(cost);
        Ok(mask)
    }

    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        let cost = self.engine.shuffle(rows.shape());
        self.pay(cost);
        Ok(rows)
    }

    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)> {
        let cost = self.engine.shuffle_reveal(rows.shape(), reveal.shape());
        self.pay(cost);
        let shape = Shape { rows: 0, ..reveal.shape() };
        Ok((rows, Block::zeros(shape)))
    }

    fn input(&mut self, owner: PartyId, shape: Shape, _data: Option<Block>) -> Result<Rows<Self>> {
        let nodes = self.names.len();
        let cost = if owner.0 < nodes {
            self.engine.input(owner.0, shape)
        } else {
            clients::dealt::<E>(nodes, owner.0, shape)
        };
        self.pay(cost);
        Ok(self.columns(shape))
    }

    fn open(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        permit.check_open(rows.shape())?;
        let place = |name: &String| self.names.iter().position(|n| n == name);
        let recipients: Vec<usize> = permit.recipients().iter().filter_map(place).collect();
        let clients = permit.recipients().iter().filter(|name| self.clients.contains(name)).count();
        if clients > 0 {
            self.pay(clients::given::<E>(self.names.len(), clients, rows.shape()));
        }
        if clients == 0 || !recipients.is_empty() {
            let cost = self.engine.open(rows.shape(), &recipients);
            self.pay(cost);
        }
        Ok(None)
    }

    fn announce(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        permit.check_announcement(&self.names.iter().map(String::as_str).collect::<Vec<_>>())?;
        let nodes = self.names.len();
        let cost = if owner.0 < nodes { self.engine.announce(owner.0) } else { clients::told(nodes, owner.0) };
        self.pay(cost);
        Ok(number.expect("a tally is told every size"))
    }
}

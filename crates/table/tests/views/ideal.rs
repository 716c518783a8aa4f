//! The simulator of every operator: the operator itself, over an engine that computes nothing.
//!
//! Of every method the ideal engine ([`Engine::become_ideal`]) gives a node what a secure engine would. That is fresh
//! random shares, of rows that are shuffled and revealed a uniformly random order of numbers that everyone knows, and
//! of what is opened the declared answer. It has no peers and no secrets. That each method of a real engine is as good
//! is for the views of crates/mpc; that an operator needs nothing else is seen here.

use std::cell::RefCell;
use std::collections::VecDeque;

use tacit_math::{Plane, Prg, Ring, Seed, permutation, ring};
use tacit_mpc::backends::{Components, Networked, Rep3, Two};
use tacit_mpc::circuits::Evaluation;
use tacit_mpc::{Apart, Backend, Block, Linear, LinearScan, Permit, Result, Rows, Shape, SharedTypes, Split};
use tacit_net::{PartyId, Session};

use crate::plain::Sorting;
use crate::watched::unwrapped;
use crate::world::{Form, Told, tidy};

/// What an operator discloses, in its order.
#[derive(Clone)]
pub enum Disclosed {
    /// Opened rows: to these nodes, in a random order, in which they are sorted if the plan says so. Several parts, one
    /// after the other, have orders of their own.
    Opened { parts: Vec<Block>, to: &'static [usize], sorting: Option<Sorting> },
    /// An announced number.
    Number(u64),
}

/// What the plan makes public of a run.
#[derive(Clone, Default)]
pub struct Public {
    pub disclosed: VecDeque<Disclosed>,
    /// The numbers by which shuffled rows are revealed as planes, by the number of rows; none: their places.
    pub labels: Option<fn(usize) -> Vec<u64>>,
}

/// What a node's shares look like where they are not simply random.
pub trait Dealing: Told {
    /// Of numbers that `dealer` knows and deals, given at the dealer: what each node holds.
    fn dealt(node: usize, planes: Option<Vec<Plane>>, rows: usize, width: usize, prg: &mut Prg) -> Vec<Vec<Plane>>;
    /// The summand that node 0 knows of a number's components, and the one that needs no dealing: its part, by
    /// component.
    fn parts<R: Ring>(node: usize, components: &[Vec<R>]) -> (Option<Vec<R>>, Vec<Option<Vec<R>>>);
    /// Which components of a mask are drawn at a node.
    fn masked(node: usize) -> &'static [bool];
    /// Which component of what is unmasked is what was opened.
    fn unmasked(node: usize) -> Option<usize>;
    /// Of rows that a node held as these components, and random ones: what it holds once they are shuffled.
    fn shuffled(_own: &[Block], random: Vec<Block>) -> Vec<Block> {
        random
    }
    /// Which components of an input are random at a node, and which one makes up the data.
    fn shared(node: usize, owner: usize) -> (&'static [bool], Option<usize>);
    /// The bits that components of the number of a row have; those above are zero.
    fn number(rows: usize) -> u32;
}

impl Dealing for Rep3 {
    /// Node 0 deals component 0 and 1.
    fn dealt(node: usize, planes: Option<Vec<Plane>>, rows: usize, width: usize, prg: &mut Prg) -> Vec<Vec<Plane>> {
        let random: Vec<Plane> = (0..width).map(|_| Plane::random(rows, prg)).collect();
        let zeros = || vec![Plane::zeros(rows); width];
        match node {
            0 => {
                let planes = planes.expect("node 0 knows them");
                let rest = planes.iter().zip(&random).map(|(plane, random)| plane.xor(random)).collect();
                vec![random, rest]
            }
            1 => vec![random, zeros()],
            _ => vec![zeros(), random],
        }
    }

    fn parts<R: Ring>(node: usize, components: &[Vec<R>]) -> (Option<Vec<R>>, Vec<Option<Vec<R>>>) {
        let [mine, next] = components else { unreachable!("two components") };
        match node {
            0 => (Some(mine.iter().zip(next).map(|(x, y)| x.add(*y)).collect()), vec![None, None]),
            1 => (None, vec![None, Some(next.clone())]),
            _ => (None, vec![Some(mine.clone()), None]),
        }
    }

    fn masked(node: usize) -> &'static [bool] {
        [&[true, true], &[true, false], &[false, true]][node]
    }

    fn unmasked(node: usize) -> Option<usize> {
        [None, Some(1), Some(0)][node]
    }

    fn shared(node: usize, owner: usize) -> (&'static [bool], Option<usize>) {
        match (node + 3 - owner) % 3 {
            0 => (&[true, false], Some(1)),
            1 => (&[true, false], None),
            _ => (&[false, true], None),
        }
    }

    /// Places are sums modulo the first of these powers of two that is at least the count of rows.
    fn number(rows: usize) -> u32 {
        [8, 16, 24].into_iter().find(|&bits| rows <= 1 << bits).map_or(u32::MAX, |bits| (1 << bits) - 1)
    }
}

impl Dealing for Two {
    /// Node 0 knows them by itself.
    fn dealt(_: usize, planes: Option<Vec<Plane>>, rows: usize, width: usize, _: &mut Prg) -> Vec<Vec<Plane>> {
        vec![planes.unwrap_or_else(|| vec![Plane::zeros(rows); width])]
    }

    fn parts<R: Ring>(node: usize, components: &[Vec<R>]) -> (Option<Vec<R>>, Vec<Option<Vec<R>>>) {
        let own = components[0].clone();
        if node == 0 { (Some(own), vec![None]) } else { (None, vec![Some(own)]) }
    }

    fn masked(node: usize) -> &'static [bool] {
        [&[true], &[false]][node]
    }

    fn unmasked(node: usize) -> Option<usize> {
        [None, Some(0)][node]
    }

    /// Two rows that change places exchange their masks, too: a node's shares of all rows add up to what they did
    /// before.
    fn shuffled(own: &[Block], random: Vec<Block>) -> Vec<Block> {
        let [own, mut random] = [own[0].clone(), random[0].clone()];
        if own.rows > 0 {
            let last = own.rows - 1;
            for (own, random) in own.bits.iter().zip(&mut random.bits) {
                let odd = (0..=last).filter(|&row| own.get(row) != random.get(row)).count() % 2 == 1;
                *random = Plane::from_fn(own.rows(), |row| random.get(row) ^ (odd && row == last));
            }
            fit(&own.r32, &mut random.r32);
            fit(&own.r64, &mut random.r64);
            fit(&own.r128, &mut random.r128);
        }
        vec![random]
    }

    fn shared(node: usize, owner: usize) -> (&'static [bool], Option<usize>) {
        if node == owner { (&[false], Some(0)) } else { (&[true], None) }
    }

    fn number(_: usize) -> u32 {
        u32::MAX
    }
}

/// Makes columns add up to what others do, by their last row.
fn fit<R: Ring>(like: &[Vec<R>], columns: &mut [Vec<R>]) {
    for (like, column) in like.iter().zip(columns) {
        let missing = ring::sum(like).sub(ring::sum(column));
        if let Some(last) = column.last_mut() {
            *last = last.add(missing);
        }
    }
}

/// An engine, or the ideal one in its place, at one node. They are one type, so that operators are compiled for it
/// once.
pub struct Engine<B> {
    /// In the place of the ideal engine: for what is local, and for its session, in which nothing is sent.
    inner: B,
    ideal: Option<Prg>,
    public: Public,
}

impl<B: Dealing + 'static> Engine<B> {
    /// From now on the ideal engine.
    pub fn become_ideal(&mut self) {
        self.ideal = Some(Prg::new(&Seed::random().expect("randomness")));
    }

    /// Told what the plan makes public of a run. A real engine has no use for it.
    pub fn hear(&mut self, public: Public) {
        self.public = public;
    }

    fn is_real(&self) -> bool {
        self.ideal.is_none()
    }

    fn prg(&mut self) -> &mut Prg {
        self.ideal.as_mut().expect("the ideal engine")
    }

    fn node(&self) -> usize {
        self.inner.session().me().0
    }

    /// Shares of which the node holds these components.
    fn vector<R: Ring>(&self, rows: usize, components: Vec<Vec<R>>) -> B::Vector<R> {
        let components = RefCell::new(components.into_iter());
        let zeros = self.inner.public_vector(rows, || vec![R::ZERO; rows]);
        zeros.map(rows, |_| components.borrow_mut().next().expect("as many components"))
    }

    fn planes(&self, rows: usize, components: Vec<Vec<Plane>>) -> Vec<B::Bits> {
        let width = components[0].len();
        let one = |j: usize| {
            let mut own = components.iter().map(|planes| planes[j].clone());
            let own = RefCell::new(&mut own);
            self.inner
                .public_bits(rows, || Plane::zeros(rows))
                .map(rows, |_| own.borrow_mut().next().expect("a component"))
        };
        (0..width).map(one).collect()
    }

    fn random_vector<R: Ring>(&mut self, rows: usize) -> B::Vector<R> {
        let components = (0..B::COUNT).map(|_| self.prg().vector(rows)).collect();
        self.vector(rows, components)
    }

    fn random_bits(&mut self, rows: usize) -> B::Bits {
        let components = (0..B::COUNT).map(|_| vec![Plane::random(rows, self.prg())]).collect();
        self.planes(rows, components).swap_remove(0)
    }

    fn shuffled(&mut self, rows: Rows<Self>) -> Rows<Self> {
        let random = (0..B::COUNT).map(|_| tidy(Block::random(rows.shape(), self.prg()))).collect();
        unwrapped(B::put_together(B::shuffled(&Self::take_apart(rows), random)))
    }
}

/// The rows of one block of planes, and then those of another.
fn behind(first: Block, second: Block) -> Block {
    let planes = first.bits.iter().zip(&second.bits).map(|(first, second)| Plane::concat(&[first, second]));
    Block { rows: first.rows + second.rows, bits: planes.collect(), ..first }
}

/// What a node holds of a column.
fn components<T: Clone>(column: &impl Linear<T>) -> Vec<T> {
    let components = RefCell::new(Vec::new());
    let _same = column.map(column.rows(), |component| {
        components.borrow_mut().push(component.clone());
        component.clone()
    });
    components.into_inner()
}

fn planes_of<R: Ring>(numbers: &[R], width: usize) -> Vec<Plane> {
    (0..width as u32).map(|j| Plane::from_fn(numbers.len(), |i| numbers[i].bit(j) == R::ONE)).collect()
}

impl<B: Dealing + 'static> SharedTypes for Engine<B> {
    type Bits = B::Bits;
    type Vector<R: Ring> = B::Vector<R>;
}

impl<B: Dealing + 'static> Backend for Engine<B> {
    const INJECT_AT_MOST: usize = B::INJECT_AT_MOST;
    const SIGNS: bool = B::SIGNS;
    const SUMS_PRODUCTS: bool = B::SUMS_PRODUCTS;

    fn step<T>(&mut self, _name: &str, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        body(self)
    }

    fn public_bits(&self, rows: usize, value: impl FnOnce() -> Plane) -> Self::Bits {
        self.inner.public_bits(rows, value)
    }

    fn public_vector<R: Ring>(&self, rows: usize, value: impl FnOnce() -> Vec<R>) -> Self::Vector<R> {
        self.inner.public_vector(rows, value)
    }

    fn mul<R: Ring>(&mut self, x: &[&Self::Vector<R>], y: &[&Self::Vector<R>]) -> Result<Vec<Self::Vector<R>>> {
        if self.is_real() {
            return self.inner.mul(x, y);
        }
        Ok(x.iter().map(|x| self.random_vector(x.rows())).collect())
    }

    fn and(&mut self, x: &[&Self::Bits], y: &[&Self::Bits]) -> Result<Vec<Self::Bits>> {
        if self.is_real() {
            return self.inner.and(x, y);
        }
        Ok(x.iter().map(|x| self.random_bits(x.rows())).collect())
    }

    fn and_xor(
        &mut self,
        x: &[&Self::Bits],
        y: &[&Self::Bits],
        base: &[Option<&Self::Bits>],
    ) -> Result<Vec<Self::Bits>> {
        if self.is_real() { self.inner.and_xor(x, y, base) } else { self.and(x, y) }
    }

    fn evaluate(&mut self, what: Evaluation, inputs: &[&Self::Bits]) -> Result<Option<Vec<Self::Bits>>> {
        if self.is_real() { self.inner.evaluate(what, inputs) } else { Ok(None) }
    }

    fn inner_products<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
    ) -> Result<Vec<Self::Vector<R>>> {
        if self.is_real() {
            return self.inner.inner_products(terms);
        }
        Ok(terms.iter().map(|terms| self.random_vector(terms[0].0.rows())).collect())
    }

    fn select<R: Ring>(&mut self, bits: &[&Self::Bits], x: &[&Self::Vector<R>]) -> Result<Vec<Self::Vector<R>>> {
        if self.is_real() { self.inner.select(bits, x) } else { self.mul(x, x) }
    }

    fn scan_product<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Self::Bits],
    ) -> Result<Self::Vector<u32>> {
        if self.is_real() {
            return self.inner.scan_product::<S, N>(digit);
        }
        let rows = digit[0].rows();
        let places: B::Vector<u32> = self.random_vector(rows);
        Ok(places.map(rows, |component| component.iter().map(|place| place & B::number(rows)).collect()))
    }

    fn inject<R: Ring>(&mut self, bits: &[&Self::Bits]) -> Result<Vec<Self::Vector<R>>> {
        if self.is_real() {
            return self.inner.inject(bits);
        }
        Ok(bits.iter().map(|bit| self.random_vector(bit.rows())).collect())
    }

    fn split_product<R: Ring>(&mut self, x: &[&Self::Vector<R>], f: &impl Split<R>) -> Result<Vec<Self::Vector<R>>> {
        if self.is_real() { self.inner.split_product(x, f) } else { self.mul(x, x) }
    }

    fn narrow(&self, x: &Self::Vector<u128>) -> Self::Vector<u64> {
        self.inner.narrow(x)
    }

    fn truncate<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Self::Vector<R>>> {
        if self.is_real() { self.inner.truncate(x, by) } else { self.mul(x, x) }
    }

    fn truncate_apart<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Apart<Self, R>>> {
        if self.is_real() {
            let apart = self.inner.truncate_apart(x, by)?;
            return Ok(apart.into_iter().map(|apart| Apart { less_carry: apart.less_carry, low: apart.low }).collect());
        }
        let whole = |x: &&Self::Vector<R>| Apart { less_carry: self.random_vector(x.rows()), low: [vec![], vec![]] };
        Ok(x.iter().map(whole).collect())
    }

    fn summands<R: Ring>(&mut self, x: &[&Self::Vector<R>], width: usize) -> Result<Vec<[Vec<Self::Bits>; 2]>> {
        if self.is_real() {
            return self.inner.summands(x, width);
        }
        let node = self.node();
        let each = x.iter().map(|x| {
            let rows = x.rows();
            let (known, parts) = B::parts(node, &components::<Vec<R>>(*x));
            let known = known.map(|known| planes_of(&known, width));
            let first = B::dealt(node, known, rows, width, self.prg());
            let zeros = || vec![Plane::zeros(rows); width];
            let second = parts.into_iter().map(|part| part.map_or_else(zeros, |part| planes_of(&part, width)));
            [self.planes(rows, first), self.planes(rows, second.collect())]
        });
        Ok(each.collect())
    }

    fn mask<R: Ring>(&mut self, rows: usize) -> Result<(Self::Vector<R>, Vec<Self::Bits>)> {
        if self.is_real() {
            return self.inner.mask(rows);
        }
        let node = self.node();
        let drawn: Vec<Vec<R>> = B::masked(node)
            .iter()
            .map(|&drawn| if drawn { self.prg().vector(rows) } else { vec![R::ZERO; rows] })
            .collect();
        let width = R::BITS as usize;
        let sum = |i: usize| drawn.iter().fold(R::ZERO, |sum, component| sum.add(component[i]));
        let negated: Vec<R> = (0..rows).map(|i| sum(i).neg()).collect();
        let planes = (node == 0).then(|| planes_of(&negated, width));
        let planes = B::dealt(node, planes, rows, width, self.prg());
        Ok((self.vector(rows, drawn), self.planes(rows, planes)))
    }

    fn unmask<R: Ring>(&mut self, mask: Self::Vector<R>, difference: &[&Self::Bits]) -> Result<Self::Vector<R>> {
        if self.is_real() {
            return self.inner.unmask(mask, difference);
        }
        let rows = mask.rows();
        let mut own = components::<Vec<R>>(&mask);
        if let Some(opened) = B::unmasked(self.node()) {
            own[opened] = self.prg().vector(rows);
        }
        Ok(self.vector(rows, own))
    }

    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        if self.is_real() {
            return Ok(unwrapped(self.inner.shuffle(unwrapped(rows))?));
        }
        Ok(self.shuffled(rows))
    }

    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)> {
        if self.is_real() {
            let (rows, revealed) = self.inner.shuffle_reveal(unwrapped(rows), unwrapped(reveal))?;
            return Ok((unwrapped(rows), revealed));
        }
        let (count, shape) = (rows.rows, reveal.shape());
        let order = permutation::random(count, self.prg());
        let places = || (0..count as u64).collect();
        let labels = self.public.labels.filter(|_| shape.bits > 0).map_or_else(places, |labels| labels(count));
        let plane = |j: usize| Plane::from_fn(count, |i| labels[order[i] as usize] >> j & 1 == 1);
        let bits = (0..shape.bits).map(plane).collect();
        let revealed = Block { rows: count, bits, r32: vec![order.clone(); shape.r32], ..Block::default() };
        Ok((self.shuffled(rows), revealed))
    }

    fn input(&mut self, owner: PartyId, shape: Shape, data: Option<Block>) -> Result<Rows<Self>> {
        if self.is_real() {
            return Ok(unwrapped(self.inner.input(owner, shape, data)?));
        }
        let (random, rest) = B::shared(self.node(), owner.0);
        let mut own: Vec<Block> = random
            .iter()
            .map(|&random| if random { tidy(Block::random(shape, self.prg())) } else { Block::zeros(shape) })
            .collect();
        if let Some(place) = rest {
            let missing = own.iter().fold(data.expect("the owner's"), |rest, component| rest.minus(component));
            own[place] = if random.contains(&true) { missing } else { tidy(Block::random(shape, self.prg())) };
        }
        Ok(unwrapped(B::put_together(own)))
    }

    fn open(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        if self.is_real() {
            return self.inner.open(&unwrapped(rows.clone()), permit);
        }
        let Some(Disclosed::Opened { parts, to, sorting }) = self.public.disclosed.pop_front() else {
            unreachable!("an opening that nobody declared")
        };
        let shuffled = parts.iter().map(|part| part.gather(&permutation::random(part.rows, self.prg())));
        let answer = shuffled.reduce(behind).expect("a part");
        assert_eq!(rows.shape(), answer.shape(), "what is opened has the shape that is declared");
        Ok(to.contains(&self.node()).then(|| sorting.map_or_else(|| answer.clone(), |sorting| sorting.sort(&answer))))
    }

    fn announce(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        if self.is_real() {
            return self.inner.announce(owner, number, permit);
        }
        let Some(Disclosed::Number(number)) = self.public.disclosed.pop_front() else {
            unreachable!("a number that nobody declared")
        };
        Ok(number)
    }
}

impl<B: Dealing + 'static> Networked for Engine<B> {
    const NAME: &'static str = B::NAME;
    const NODES: usize = B::NODES;
    type Formulas = B::Formulas;

    fn start(session: Session) -> Result<Self> {
        Ok(Self { inner: B::start(session)?, ideal: None, public: Public::default() })
    }

    fn session(&self) -> &Session {
        self.inner.session()
    }

    fn session_mut(&mut self) -> &mut Session {
        self.inner.session_mut()
    }

    fn into_session(self) -> Session {
        self.inner.into_session()
    }
}

impl<B: Dealing + 'static> Components for Engine<B> {
    const COUNT: usize = B::COUNT;

    fn add_zero(&mut self, component: &mut Block) {
        self.inner.add_zero(component);
    }

    fn take_apart(rows: Rows<Self>) -> Vec<Block> {
        B::take_apart(unwrapped(rows))
    }

    fn put_together(components: Vec<Block>) -> Rows<Self> {
        unwrapped(B::put_together(components))
    }
}

impl<B: Dealing + 'static> Told for Engine<B> {
    const FILLED: bool = B::FILLED;

    fn begin(session: Session, beside: Session) -> Self {
        Self { inner: B::begin(session, beside), ideal: None, public: Public::default() }
    }

    fn told(call: &str, node: usize) -> &'static [(&'static str, Form)] {
        B::told(call, node)
    }
}

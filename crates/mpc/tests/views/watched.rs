//! An engine that writes down, call by call, what its node sees: own components of all shares in and out, messages,
//! generators' outputs.

use std::cell::RefCell;
use std::sync::Arc;

use bytemuck::cast_slice;
use tacit_math::matrix::Element;
use tacit_math::{Plane, Ring};
use tacit_mpc::backends::Networked;
use tacit_mpc::circuits::Evaluation;
use tacit_mpc::{Apart, Backend, Bilinear, Block, Linear, LinearScan, Permit, Result, Rows, Shape, SharedTypes, Split};
use tacit_net::{PartyId, Transcript};
use tacit_views::{Kind, View};

/// One call of a method that may communicate, at one node.
#[derive(Clone)]
pub struct Call {
    /// The method.
    pub name: &'static str,
    /// Shares in and out.
    pub shared: Vec<Shared>,
    /// What the call gives in clear.
    pub public: View,
    /// Messages and generators' outputs during the call.
    pub seen: View,
}

/// A node's components of some shared columns.
#[derive(Clone)]
pub struct Shared {
    /// Which argument or result.
    pub name: &'static str,
    /// Bytes of a ring element; none for planes, whose columns are whole words.
    pub cell: Option<usize>,
    /// Rows of every column.
    pub rows: usize,
    /// For each component that the node holds, the columns one behind the other.
    pub components: Vec<Vec<u8>>,
}

/// The engine and its notes.
pub struct Watched<B> {
    inner: B,
    transcript: Arc<Transcript>,
    calls: Vec<Call>,
    shuffles: usize,
    injections: usize,
}

impl<B: Networked> Watched<B> {
    /// Watches an engine whose session records contents.
    pub fn new(inner: B) -> Self {
        let transcript = inner.session().transcript().expect("contents are recorded");
        transcript.take_seen();
        Self { inner, transcript, calls: vec![], shuffles: 0, injections: 0 }
    }

    /// The calls since this was last asked. Afterwards roles that go in turn are where they were at the beginning.
    pub fn take(&mut self) -> Vec<Call> {
        while !self.shuffles.is_multiple_of(3) {
            self.shuffles += 1;
            let _ = self.inner.shuffle(Rows::empty(0)).expect("a shuffle of nothing");
        }
        if !std::mem::take(&mut self.injections).is_multiple_of(2) {
            let nothing = self.inner.public_bits(0, || Plane::zeros(0));
            let _ = self.inner.inject::<u32>(&[&nothing]).expect("an injection of nothing");
        }
        self.transcript.take_seen();
        std::mem::take(&mut self.calls)
    }

    /// The shares of the latest call.
    #[allow(dead_code, reason = "for the views of operators on tables")]
    pub fn latest(&self) -> Vec<Shared> {
        self.calls.last().map_or_else(Vec::new, |call| call.shared.clone())
    }

    /// The engine.
    #[allow(dead_code, reason = "for the views of operators on tables")]
    pub fn inner(&self) -> &B {
        &self.inner
    }

    /// The engine, to tell it something.
    #[allow(dead_code, reason = "for the views of operators on tables")]
    pub fn inner_mut(&mut self) -> &mut B {
        &mut self.inner
    }

    /// Which node this is.
    pub fn node(&self) -> usize {
        self.inner.session().me().0
    }

    /// The engine itself.
    pub fn into_inner(self) -> B {
        self.inner
    }

    fn call<T>(
        &mut self,
        name: &'static str,
        shares: Vec<Shared>,
        run: impl FnOnce(&mut B) -> Result<T>,
        results: impl FnOnce(&T) -> (Vec<Shared>, View),
    ) -> Result<T> {
        self.transcript.take_seen();
        let out = run(&mut self.inner)?;
        let (results, public) = results(&out);
        let seen = View::of(&self.transcript).joined();
        self.calls.push(Call { name, shared: grouped(shares.into_iter().chain(results)), public, seen });
        Ok(out)
    }
}

/// Columns of one name and length as one.
fn grouped(columns: impl Iterator<Item = Shared>) -> Vec<Shared> {
    let mut groups: Vec<Shared> = Vec::new();
    for column in columns {
        let same =
            |group: &&mut Shared| (group.name, group.cell, group.rows) == (column.name, column.cell, column.rows);
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.components.iter_mut().zip(&column.components).for_each(|(all, more)| all.extend_from_slice(more));
            }
            None => groups.push(column),
        }
    }
    groups
}

/// What a node holds of a column: a linear map is called once for each component.
fn components<T: Clone>(column: &impl Linear<T>, bytes: impl Fn(&T) -> Vec<u8>) -> Vec<Vec<u8>> {
    let components = RefCell::new(Vec::new());
    let _same = column.map(column.rows(), |component| {
        components.borrow_mut().push(bytes(component));
        component.clone()
    });
    components.into_inner()
}

fn plane(name: &'static str, column: &impl Linear<Plane>) -> Shared {
    let components = components(column, |plane| cast_slice(plane.words()).to_vec());
    Shared { name, cell: None, rows: column.rows(), components }
}

fn planes<'a, S: Linear<Plane> + 'a>(name: &'static str, columns: impl IntoIterator<Item = &'a S>) -> Vec<Shared> {
    columns.into_iter().map(|column| plane(name, column)).collect()
}

fn vector<R: Ring>(name: &'static str, column: &impl Linear<Vec<R>>) -> Shared {
    let components = components(column, |vector| cast_slice(vector).to_vec());
    Shared { name, cell: Some(size_of::<R>()), rows: column.rows(), components }
}

fn vectors<'a, R: Ring, S: Linear<Vec<R>> + 'a>(
    name: &'static str,
    columns: impl IntoIterator<Item = &'a S>,
) -> Vec<Shared> {
    columns.into_iter().map(|column| vector::<R>(name, column)).collect()
}

/// The operands of bilinear maps.
fn operands<R: Element, B: Backend>(products: &[Bilinear<'_, B::Vector<R>>]) -> Vec<Shared> {
    let mut shares = vectors::<R, _>("x", products.iter().map(|product| product.x));
    shares.extend(vectors::<R, _>("y", products.iter().map(|product| product.y)));
    shares
}

/// All columns of a bundle.
pub fn bundle<B: Backend>(name: &'static str, rows: &Rows<B>) -> Vec<Shared> {
    let mut columns = planes(name, &rows.bits);
    columns.extend(vectors::<u32, _>(name, &rows.r32));
    columns.extend(vectors::<u64, _>(name, &rows.r64));
    columns.extend(vectors::<u128, _>(name, &rows.r128));
    grouped(columns.into_iter())
}

/// A bundle in clear, one part for each kind of columns as in [`bundle`].
pub fn clear(name: &str, block: &Block) -> View {
    let parts = [
        block.bits.iter().flat_map(|plane| cast_slice::<u64, u8>(plane.words()).to_vec()).collect::<Vec<u8>>(),
        cast_slice(&block.r32.concat()).to_vec(),
        cast_slice(&block.r64.concat()).to_vec(),
        cast_slice(&block.r128.concat()).to_vec(),
    ];
    parts.into_iter().fold(View::default(), |view, bytes| view.with(Kind::Opened, name, bytes))
}

fn nothing() -> View {
    View::default()
}

/// The same columns for the other type of engine.
pub fn unwrapped<
    B: Backend,
    C: Backend<Bits = B::Bits, Vector<u32> = B::Vector<u32>, Vector<u64> = B::Vector<u64>, Vector<u128> = B::Vector<u128>>,
>(
    rows: Rows<B>,
) -> Rows<C> {
    Rows { rows: rows.rows, bits: rows.bits, r32: rows.r32, r64: rows.r64, r128: rows.r128 }
}

impl<B: Networked> SharedTypes for Watched<B> {
    type Bits = B::Bits;
    type Vector<R: Ring> = B::Vector<R>;
}

impl<B: Networked> Backend for Watched<B> {
    const INJECT_AT_MOST: usize = B::INJECT_AT_MOST;
    const SIGNS: bool = B::SIGNS;
    const SUMS_PRODUCTS: bool = B::SUMS_PRODUCTS;

    fn step<T>(&mut self, name: &str, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.inner.session_mut().enter(name);
        let out = body(self);
        self.inner.session_mut().leave();
        out
    }

    fn public_bits(&self, rows: usize, value: impl FnOnce() -> Plane) -> Self::Bits {
        self.inner.public_bits(rows, value)
    }

    fn public_vector<R: Ring>(&self, rows: usize, value: impl FnOnce() -> Vec<R>) -> Self::Vector<R> {
        self.inner.public_vector(rows, value)
    }

    fn not(&self, x: &Self::Bits) -> Self::Bits {
        self.inner.not(x)
    }

    fn mul<R: Ring>(&mut self, x: &[&Self::Vector<R>], y: &[&Self::Vector<R>]) -> Result<Vec<Self::Vector<R>>> {
        let mut shares = vectors::<R, _>("x", x.iter().copied());
        shares.extend(vectors::<R, _>("y", y.iter().copied()));
        self.call("mul", shares, |b| b.mul(x, y), |out| (vectors::<R, _>("product", out), nothing()))
    }

    fn and(&mut self, x: &[&Self::Bits], y: &[&Self::Bits]) -> Result<Vec<Self::Bits>> {
        let mut shares = planes("x", x.iter().copied());
        shares.extend(planes("y", y.iter().copied()));
        self.call("and", shares, |b| b.and(x, y), |out| (planes("product", out), nothing()))
    }

    fn and_xor(
        &mut self,
        x: &[&Self::Bits],
        y: &[&Self::Bits],
        base: &[Option<&Self::Bits>],
    ) -> Result<Vec<Self::Bits>> {
        let mut shares = planes("x", x.iter().copied());
        shares.extend(planes("y", y.iter().copied()));
        shares.extend(planes("base", base.iter().copied().flatten()));
        self.call("and_xor", shares, |b| b.and_xor(x, y, base), |out| (planes("product", out), nothing()))
    }

    fn evaluate(&mut self, what: Evaluation, inputs: &[&Self::Bits]) -> Result<Option<Vec<Self::Bits>>> {
        let shares = planes("inputs", inputs.iter().copied());
        let results = |out: &Option<Vec<B::Bits>>| (planes("outputs", out.iter().flatten()), nothing());
        self.call("evaluate", shares, |b| b.evaluate(what, inputs), results)
    }

    fn inner_products<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
    ) -> Result<Vec<Self::Vector<R>>> {
        let mut shares = vectors::<R, _>("x", terms.iter().flatten().map(|&(x, _)| x));
        shares.extend(vectors::<R, _>("y", terms.iter().flatten().map(|&(_, y)| y)));
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("sums", out), nothing());
        self.call("inner_products", shares, |b| b.inner_products(terms), results)
    }

    fn select<R: Ring>(&mut self, bits: &[&Self::Bits], x: &[&Self::Vector<R>]) -> Result<Vec<Self::Vector<R>>> {
        let mut shares = planes("bits", bits.iter().copied());
        shares.extend(vectors::<R, _>("x", x.iter().copied()));
        self.call("select", shares, |b| b.select(bits, x), |out| (vectors::<R, _>("selected", out), nothing()))
    }

    fn scan_product<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Self::Bits],
    ) -> Result<Self::Vector<u32>> {
        self.injections += N;
        let shares = planes("digit", digit.iter().copied());
        let results = |out: &B::Vector<u32>| (vec![vector::<u32>("places", out)], nothing());
        self.call("scan_product", shares, |b| b.scan_product::<S, N>(digit), results)
    }

    fn inject<R: Ring>(&mut self, bits: &[&Self::Bits]) -> Result<Vec<Self::Vector<R>>> {
        self.injections += bits.len();
        let shares = planes("bits", bits.iter().copied());
        self.call("inject", shares, |b| b.inject(bits), |out| (vectors::<R, _>("elements", out), nothing()))
    }

    fn summands<R: Ring>(&mut self, x: &[&Self::Vector<R>], width: usize) -> Result<Vec<[Vec<Self::Bits>; 2]>> {
        let shares = vectors::<R, _>("x", x.iter().copied());
        let results = |out: &Vec<[Vec<B::Bits>; 2]>| {
            let mut summands = planes("first", out.iter().flat_map(|[first, _]| first));
            summands.extend(planes("second", out.iter().flat_map(|[_, second]| second)));
            (summands, nothing())
        };
        self.call("summands", shares, |b| b.summands(x, width), results)
    }

    fn mask<R: Ring>(&mut self, rows: usize) -> Result<(Self::Vector<R>, Vec<Self::Bits>)> {
        let results = |(mask, negated): &(B::Vector<R>, Vec<B::Bits>)| {
            let mut shares = vec![vector::<R>("mask", mask)];
            shares.extend(planes("negated", negated));
            (shares, nothing())
        };
        self.call("mask", vec![], |b| b.mask(rows), results)
    }

    fn unmask<R: Ring>(&mut self, mask: Self::Vector<R>, difference: &[&Self::Bits]) -> Result<Self::Vector<R>> {
        let mut shares = vec![vector::<R>("mask", &mask)];
        shares.extend(planes("difference", difference.iter().copied()));
        let results = |out: &B::Vector<R>| (vec![vector::<R>("unmasked", out)], nothing());
        self.call("unmask", shares, |b| b.unmask(mask, difference), results)
    }

    fn split_product<R: Ring>(&mut self, x: &[&Self::Vector<R>], f: &impl Split<R>) -> Result<Vec<Self::Vector<R>>> {
        let shares = vectors::<R, _>("x", x.iter().copied());
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("values", out), nothing());
        self.call("split_product", shares, |b| b.split_product(x, f), results)
    }

    fn random_bits(&mut self, rows: &[usize]) -> Vec<Self::Bits> {
        let results = |out: &Vec<B::Bits>| (planes("drawn", out), nothing());
        self.call("random_bits", vec![], |b| Ok(b.random_bits(rows)), results).expect("nothing is sent")
    }

    fn narrow(&self, x: &Self::Vector<u128>) -> Self::Vector<u64> {
        self.inner.narrow(x)
    }

    fn truncate<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Self::Vector<R>>> {
        self.injections += x.len();
        let shares = vectors::<R, _>("x", x.iter().copied());
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("truncated", out), nothing());
        self.call("truncate", shares, |b| b.truncate(x, by), results)
    }

    fn truncate_apart<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Apart<Self, R>>> {
        self.injections += x.len();
        let shares = vectors::<R, _>("x", x.iter().copied());
        let results = |out: &Vec<Apart<B, R>>| {
            let mut shares = vectors::<R, _>("less carry", out.iter().map(|apart| &apart.less_carry));
            shares.extend(planes("first", out.iter().flat_map(|apart| &apart.low[0])));
            shares.extend(planes("second", out.iter().flat_map(|apart| &apart.low[1])));
            (shares, nothing())
        };
        let apart = self.call("truncate_apart", shares, |b| b.truncate_apart(x, by), results)?;
        Ok(apart.into_iter().map(|apart| Apart { less_carry: apart.less_carry, low: apart.low }).collect())
    }

    fn multiply_truncate<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
        by: usize,
    ) -> Result<Vec<Self::Vector<R>>> {
        self.injections += terms.len();
        let mut shares = vectors::<R, _>("x", terms.iter().flatten().map(|&(x, _)| x));
        shares.extend(vectors::<R, _>("y", terms.iter().flatten().map(|&(_, y)| y)));
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("truncated", out), nothing());
        self.call("multiply_truncate", shares, |b| b.multiply_truncate(terms, by), results)
    }

    fn bilinear<R: Element>(&mut self, products: &[Bilinear<'_, Self::Vector<R>>]) -> Result<Vec<Self::Vector<R>>> {
        let shares = operands::<R, B>(products);
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("product", out), nothing());
        self.call("bilinear", shares, |b| b.bilinear(products), results)
    }

    fn bilinear_truncate<R: Element>(
        &mut self,
        products: &[Bilinear<'_, Self::Vector<R>>],
        by: usize,
    ) -> Result<Vec<Self::Vector<R>>> {
        self.injections += products.len();
        let shares = operands::<R, B>(products);
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("truncated", out), nothing());
        self.call("bilinear_truncate", shares, |b| b.bilinear_truncate(products, by), results)
    }

    fn multiply_within<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
        by: usize,
        within: &[[u128; 2]],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.injections += terms.len();
        let mut shares = vectors::<R, _>("x", terms.iter().flatten().map(|&(x, _)| x));
        shares.extend(vectors::<R, _>("y", terms.iter().flatten().map(|&(_, y)| y)));
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("truncated", out), nothing());
        self.call("multiply_within", shares, |b| b.multiply_within(terms, by, within), results)
    }

    fn bilinear_within<R: Element>(
        &mut self,
        products: &[Bilinear<'_, Self::Vector<R>>],
        by: usize,
        within: &[[u128; 2]],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.injections += products.len();
        let shares = operands::<R, B>(products);
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("truncated", out), nothing());
        self.call("bilinear_within", shares, |b| b.bilinear_within(products, by, within), results)
    }

    fn truncate_within<R: Ring>(
        &mut self,
        x: &[&Self::Vector<R>],
        by: usize,
        within: &[u128],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.injections += x.len();
        let shares = vectors::<R, _>("x", x.iter().copied());
        let results = |out: &Vec<B::Vector<R>>| (vectors::<R, _>("truncated", out), nothing());
        self.call("truncate_within", shares, |b| b.truncate_within(x, by, within), results)
    }

    fn sign_within<R: Ring>(&mut self, x: &Self::Vector<R>, width: usize) -> Result<Option<Self::Bits>> {
        let shares = vec![vector::<R>("x", x)];
        let results = |out: &Option<B::Bits>| (planes("signs", out), nothing());
        self.call("sign_within", shares, |b| b.sign_within(x, width), results)
    }

    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        self.shuffles += 1;
        let shares = bundle("rows", &rows);
        let results = |out: &Rows<B>| (bundle("shuffled", out), nothing());
        Ok(unwrapped(self.call("shuffle", shares, |b| b.shuffle(unwrapped(rows)), results)?))
    }

    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)> {
        self.shuffles += 1;
        let mut shares = bundle("rows", &rows);
        shares.extend(bundle("reveal", &reveal));
        let results = |(out, revealed): &(Rows<B>, Block)| (bundle("shuffled", out), clear("revealed", revealed));
        let run = |b: &mut B| b.shuffle_reveal(unwrapped(rows), unwrapped(reveal));
        let (rows, revealed) = self.call("shuffle_reveal", shares, run, results)?;
        Ok((unwrapped(rows), revealed))
    }

    fn input(&mut self, owner: PartyId, shape: Shape, data: Option<Block>) -> Result<Rows<Self>> {
        let own = data.as_ref().map_or_else(nothing, |data| clear("own input", data));
        let results = |out: &Rows<B>| (bundle("shared", out), own);
        Ok(unwrapped(self.call("input", vec![], |b| b.input(owner, shape, data), results)?))
    }

    fn open(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        let shares = bundle("rows", rows);
        let results = |out: &Option<Block>| (vec![], out.as_ref().map_or_else(nothing, |out| clear("opened", out)));
        self.call("open", shares, |b| b.open(&unwrapped(rows.clone()), permit), results)
    }

    fn announce(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        let results = |out: &u64| (vec![], View::default().with(Kind::Opened, "announced", out.to_le_bytes()));
        self.call("announce", vec![], |b| b.announce(owner, number, permit), results)
    }
}

//! The reference engine: one process plays all parties on values in clear. No security whatsoever; every test compares
//! with it.

use tacit_math::{Plane, Prg, Ring, Seed, permutation, ring};
use tacit_net::PartyId;

use crate::bits::{planes_of, vector_of};
use crate::linear::Column;
use crate::ops::nonzero_digits;
use crate::{Apart, Backend, Block, Linear, LinearScan, MpcError, Permit, Result, Rows, Shape, SharedTypes, Split};

/// A value in clear, in place of a share.
#[derive(Clone)]
pub struct Open<T>(T);

impl<T: Column> Linear<T> for Open<T> {
    fn map_many(inputs: &[&Self], _outputs: usize, _rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self> {
        map(&inputs.iter().map(|x| &x.0).collect::<Vec<_>>()).into_iter().map(Open).collect()
    }

    fn rows(&self) -> usize {
        self.0.len()
    }
}

/// The engine without security.
pub struct Clear {
    shuffles: Prg,
}

impl Clear {
    /// A fresh engine.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn new() -> Result<Self> {
        let seed = Seed::random().map_err(|e| MpcError::Randomness(e.to_string()))?;
        Ok(Self { shuffles: Prg::new(&seed) })
    }
}

fn open_rows(rows: &Rows<Clear>) -> Block {
    Block {
        rows: rows.rows,
        bits: rows.bits.iter().map(|c| c.0.clone()).collect(),
        r32: rows.r32.iter().map(|c| c.0.clone()).collect(),
        r64: rows.r64.iter().map(|c| c.0.clone()).collect(),
        r128: rows.r128.iter().map(|c| c.0.clone()).collect(),
    }
}

fn close_rows(block: Block) -> Rows<Clear> {
    Rows {
        rows: block.rows,
        bits: block.bits.into_iter().map(Open).collect(),
        r32: block.r32.into_iter().map(Open).collect(),
        r64: block.r64.into_iter().map(Open).collect(),
        r128: block.r128.into_iter().map(Open).collect(),
    }
}

/// x / 2^by rounded down, for -2^(k-2) <= x < 2^(k-2).
fn rounded_down<R: Ring>(x: R, by: usize) -> R {
    let quarter = R::ONE.shl(R::BITS - 2);
    x.add(quarter).shr(by as u32).sub(quarter.shr(by as u32))
}

impl SharedTypes for Clear {
    type Bits = Open<Plane>;
    type Vector<R: Ring> = Open<Vec<R>>;
}

impl Backend for Clear {
    const INJECT_AT_MOST: usize = 6;

    fn step<T>(&mut self, _name: &str, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        body(self)
    }

    fn public_bits(&self, _rows: usize, value: impl FnOnce() -> Plane) -> Self::Bits {
        Open(value())
    }

    fn public_vector<R: Ring>(&self, _rows: usize, value: impl FnOnce() -> Vec<R>) -> Self::Vector<R> {
        Open(value())
    }

    fn and_xor(
        &mut self,
        x: &[&Self::Bits],
        y: &[&Self::Bits],
        base: &[Option<&Self::Bits>],
    ) -> Result<Vec<Self::Bits>> {
        let one = |((x, y), base): ((&&Self::Bits, &&Self::Bits), &Option<&Self::Bits>)| {
            let product = x.0.and(&y.0);
            Open(base.map_or_else(|| product.clone(), |base| product.xor(&base.0)))
        };
        Ok(x.iter().zip(y).zip(base).map(one).collect())
    }

    fn inner_products<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
    ) -> Result<Vec<Self::Vector<R>>> {
        let product = |pairs: &Vec<(&Open<Vec<R>>, &Open<Vec<R>>)>| {
            let rows = pairs.first().map_or(0, |(x, _)| x.rows());
            (0..rows).map(|i| pairs.iter().fold(R::ZERO, |sum, (x, y)| sum.add(x.0[i].mul(y.0[i])))).collect()
        };
        Ok(terms.iter().map(|pairs| Open(product(pairs))).collect())
    }

    fn scan_product<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Self::Bits],
    ) -> Result<Self::Vector<u32>> {
        let flags = nonzero_digits(self, digit)?;
        let flags: Vec<Open<Vec<u32>>> = self.inject(&flags.iter().collect::<Vec<_>>())?;
        let columns: [&[u32]; N] = std::array::from_fn(|t| flags[t].0.as_slice());
        let mut factors: [Vec<u32>; N] = columns.map(|c| vec![0; c.len()]);
        let mut base = vec![0; columns[0].len()];
        S::start(columns).piece(columns, factors.each_mut().map(Vec::as_mut_slice), &mut base);
        let row = |i: usize| (0..N).fold(base[i].add(i as u32), |sum, t| sum.add(columns[t][i].mul(factors[t][i])));
        Ok(Open((0..base.len()).map(row).collect()))
    }

    fn inject<R: Ring>(&mut self, bits: &[&Self::Bits]) -> Result<Vec<Self::Vector<R>>> {
        Ok(bits.iter().map(|b| Open(vector_of(&[&b.0], b.rows()))).collect())
    }

    fn split_product<R: Ring>(&mut self, x: &[&Self::Vector<R>], f: &impl Split<R>) -> Result<Vec<Self::Vector<R>>> {
        let each = x.iter().map(|x| {
            let [mut u, mut w] = [(); 2].map(|()| vec![R::ZERO; x.rows() * f.products()]);
            let mut out = vec![R::ZERO; x.rows()];
            f.first(&x.0, &mut u);
            f.second(&vec![R::ZERO; x.rows()], &mut w, &mut out);
            for (u, w) in u.chunks(x.rows().max(1)).zip(w.chunks(x.rows().max(1))) {
                out = ring::add(&out, &u.iter().zip(w).map(|(u, &w)| u.mul(w)).collect::<Vec<_>>());
            }
            Open(out)
        });
        Ok(each.collect())
    }

    fn narrow(&self, x: &Self::Vector<u128>) -> Self::Vector<u64> {
        Open(ring::narrow(&x.0))
    }

    // To the nearest integer, of which two are as near up.
    fn truncate<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Self::Vector<R>>> {
        let half = R::ONE.shl(by as u32 - 1);
        Ok(x.iter().map(|x| Open(x.0.iter().map(|x| rounded_down(x.add(half), by)).collect())).collect())
    }

    fn truncate_apart<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Apart<Self, R>>> {
        let whole = |x: &&Self::Vector<R>| Apart {
            less_carry: Open(x.0.iter().map(|&x| rounded_down(x, by)).collect()),
            low: [vec![], vec![]],
        };
        Ok(x.iter().map(whole).collect())
    }

    fn summands<R: Ring>(&mut self, x: &[&Self::Vector<R>], width: usize) -> Result<Vec<[Vec<Self::Bits>; 2]>> {
        let zeros = |rows| (0..width).map(|_| Open(Plane::zeros(rows))).collect();
        Ok(x.iter().map(|x| [planes_of(&x.0, width).into_iter().map(Open).collect(), zeros(x.rows())]).collect())
    }

    fn mask<R: Ring>(&mut self, rows: usize) -> Result<(Self::Vector<R>, Vec<Self::Bits>)> {
        let y: Vec<R> = self.shuffles.vector(rows);
        let negated: Vec<R> = y.iter().map(|v| v.neg()).collect();
        Ok((Open(y), planes_of(&negated, R::BITS as usize).into_iter().map(Open).collect()))
    }

    fn unmask<R: Ring>(&mut self, mask: Self::Vector<R>, difference: &[&Self::Bits]) -> Result<Self::Vector<R>> {
        let planes: Vec<&Plane> = difference.iter().map(|b| &b.0).collect();
        let difference = vector_of(&planes, mask.rows());
        Ok(Open(ring::add(&mask.0, &difference)))
    }

    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>> {
        let p = permutation::random(rows.rows, &mut self.shuffles);
        Ok(rows.gather_public(&p))
    }

    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)> {
        let p = permutation::random(rows.rows, &mut self.shuffles);
        let revealed = open_rows(&reveal.gather_public(&p));
        assert!(revealed.r32.iter().flatten().all(|&row| (row as usize) < rows.rows), "numbers of rows");
        Ok((rows.gather_public(&p), revealed))
    }

    fn input(&mut self, _owner: PartyId, shape: Shape, data: Option<Block>) -> Result<Rows<Self>> {
        let data = data.expect("the clear engine is every owner");
        assert_eq!(data.shape(), shape, "data of the declared shape");
        Ok(close_rows(data))
    }

    fn open(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>> {
        permit.check_open(rows.shape())?;
        Ok(Some(open_rows(rows)))
    }

    fn announce(&mut self, _owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64> {
        let number = number.expect("the clear engine is every owner");
        permit.check_rows(number)?;
        Ok(number)
    }
}

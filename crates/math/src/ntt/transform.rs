//! The negacyclic transform of [`DEGREE`] coefficients, three or five levels of butterflies in a pass over memory.
//!
//! Forward is Cooley and Tukey's, from coefficients in order to values in an order of its own; backward is Gentleman
//! and Sande's. The order of values is the same for every prime. Products with roots are Shoup's (a root goes with the
//! quotient of its division by the prime), reduced lazily (Harvey, *Faster arithmetic for number-theoretic transforms*,
//! 2014). Primes have 44 bits, multiplications 52, so that forward nothing has to be reduced before the end, and
//! backward little.

use super::lanes::{BITS, Job, LANES, Lanes, vectors_mut};
use super::{DEGREE, Factor, Prime};

/// Levels of butterflies.
const LEVELS: u32 = DEGREE.ilog2();

/// Blocks of eight coefficients that are handled together: those of the last three levels.
const GROUP: usize = LANES * LANES;

/// The powers of a root of -1, or of its inverse, in the order of their use.
pub(super) struct Roots {
    /// Those of the levels at which butterflies are between vectors.
    outer: Vec<Factor>,
    /// Those of the last three levels, for each group of blocks: seven vectors of roots and quotients.
    inner: Vec<[[[u64; LANES]; 2]; 7]>,
}

impl Roots {
    /// The powers of a number, each with its quotient.
    pub(super) fn new(root: u64, p: u64) -> Self {
        let mut powers = vec![1; DEGREE];
        for i in 1..DEGREE {
            powers[i] = super::multiply(powers[i - 1], root, p);
        }
        let power = |i: usize| Factor::new(powers[i.reverse_bits() >> (usize::BITS - LEVELS)], p);
        let outer = (0..DEGREE / LANES).map(power).collect();
        let of_group = |group: usize| {
            let vector = |of_first: usize, step: usize| {
                let factors: [Factor; LANES] = std::array::from_fn(|lane| power(of_first + step * lane));
                [factors.map(|f| f.number), factors.map(|f| f.quotient)]
            };
            let first = DEGREE / LANES + LANES * group;
            let [second, third] = [2 * first, 4 * first];
            [
                vector(first, 1),
                vector(second, 2),
                vector(second + 1, 2),
                vector(third, 4),
                vector(third + 1, 4),
                vector(third + 2, 4),
                vector(third + 3, 4),
            ]
        };
        Self { outer, inner: (0..DEGREE / GROUP).map(of_group).collect() }
    }

    /// Those of three levels in a block of the first of them.
    #[inline(always)]
    fn of_block<L: Lanes>(&self, block: usize) -> [Root<L>; 7] {
        let mut roots = [Root::splat(self.outer[block]); 7];
        for (i, root) in roots.iter_mut().enumerate().skip(1) {
            // Two of the second level, then four of the third.
            let at = if i < 3 { 2 * block + i - 1 } else { 4 * block + i - 3 };
            *root = Root::splat(self.outer[at]);
        }
        roots
    }

    /// Those of two levels.
    #[inline(always)]
    fn of_half<L: Lanes>(&self, block: usize) -> [Root<L>; 3] {
        let root = |i: usize| Root::splat(self.outer[i]);
        [root(block), root(2 * block), root(2 * block + 1)]
    }

    #[inline(always)]
    fn of_group<L: Lanes>(&self, group: usize) -> [Root<L>; 7] {
        let mut roots = [Root { number: L::splat(0), quotient: L::splat(0) }; 7];
        for (root, [number, quotient]) in roots.iter_mut().zip(&self.inner[group]) {
            *root = Root { number: L::load(number), quotient: L::load(quotient) };
        }
        roots
    }
}

/// Eight vectors, `step` apart.
#[inline(always)]
fn loaded<L: Lanes>(vectors: &[[u64; LANES]], at: usize, step: usize) -> [L; LANES] {
    let mut x = [L::splat(0); LANES];
    for (i, x) in x.iter_mut().enumerate() {
        *x = L::load(&vectors[at + i * step]);
    }
    x
}

/// Factors and their quotients.
#[derive(Clone, Copy)]
pub(super) struct Root<L> {
    pub(super) number: L,
    pub(super) quotient: L,
}

impl<L: Lanes> Root<L> {
    #[inline(always)]
    pub(super) fn splat(factor: Factor) -> Self {
        Self { number: L::splat(factor.number), quotient: L::splat(factor.quotient) }
    }

    /// A sum with a product below 2p with any number below 2^52.
    #[inline(always)]
    pub(super) fn times(self, x: L, sum: L, constants: &Constants<L>) -> L {
        let quotient = L::splat(0).plus_high(x, self.quotient);
        sum.plus_low(x, self.number).plus_low(quotient, constants.negative)
    }
}

/// What all butterflies of a prime need.
#[derive(Clone, Copy)]
pub(super) struct Constants<L> {
    p: L,
    /// 2^52 - p.
    negative: L,
    twice: L,
    one: Root<L>,
    low: L,
}

impl<L: Lanes> Constants<L> {
    #[inline(always)]
    pub(super) fn new(p: u64) -> Self {
        Self {
            p: L::splat(p),
            negative: L::splat((1 << BITS) - p),
            twice: L::splat(2 * p),
            one: Root::splat(Factor { number: 1, quotient: (1 << BITS) / p }),
            low: L::splat((1 << BITS) - 1),
        }
    }

    /// The residue below p of a number below 2p.
    #[inline(always)]
    pub(super) fn canonical(&self, x: L) -> L {
        let x = x.and(self.low);
        x.least(x.minus(self.p))
    }
}

/// From coefficients below p to values below p.
pub(super) struct Forward<'a> {
    pub(super) prime: &'a Prime,
    pub(super) polynomial: &'a mut [u64],
}

impl Job for Forward<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (roots, c) = (&self.prime.forward, Constants::<L>::new(self.prime.p));
        let vectors = vectors_mut(self.polynomial);
        assert_eq!(vectors.len(), DEGREE / LANES, "a whole polynomial");
        for blocks in [1, 8, 64] {
            let step = vectors.len() / blocks / LANES;
            for (block, vectors) in vectors.chunks_exact_mut(LANES * step).enumerate() {
                let roots = roots.of_block(blocks + block);
                for at in 0..step {
                    let mut x = loaded(vectors, at, step);
                    split_three(&mut x, &roots, &c);
                    (0..LANES).for_each(|i| x[i].store(&mut vectors[at + i * step]));
                }
            }
        }
        for (group, vectors) in vectors.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut x = loaded(vectors, 0, 1);
            for (half, block) in [0, 4].into_iter().zip(512 + 2 * group..) {
                let [first, second, third] = roots.of_half(block);
                split(&mut x, half, half + 2, first, &c);
                split(&mut x, half + 1, half + 3, first, &c);
                split(&mut x, half, half + 1, second, &c);
                split(&mut x, half + 2, half + 3, third, &c);
            }
            let mut x = L::transpose(x);
            split_three(&mut x, &roots.of_group(group), &c);
            for (&x, vector) in x.iter().zip(vectors) {
                c.canonical(c.one.times(x, L::splat(0), &c)).store(vector);
            }
        }
    }
}

/// Three levels of a block: the distances of four vectors, two and one.
#[inline(always)]
fn split_three<L: Lanes>(x: &mut [L; LANES], roots: &[Root<L>; 7], c: &Constants<L>) {
    for i in 0..4 {
        split(x, i, i + 4, roots[0], c);
    }
    for i in [0, 1, 4, 5] {
        split(x, i, i + 2, roots[1 + i / 4], c);
    }
    for i in [0, 2, 4, 6] {
        split(x, i, i + 1, roots[3 + i / 2], c);
    }
}

/// x + w y and x - w y, each up to 2p more than before.
#[inline(always)]
fn split<L: Lanes>(v: &mut [L; LANES], x: usize, y: usize, root: Root<L>, c: &Constants<L>) {
    let sum = root.times(v[y], v[x], c);
    let difference = v[x].plus(v[x]).plus(c.twice).minus(sum);
    (v[x], v[y]) = (sum, difference);
}

/// From values below p to coefficients below p, all times a factor.
pub(super) struct Backward<'a> {
    pub(super) prime: &'a Prime,
    pub(super) polynomial: &'a mut [u64],
    /// The factor divided by the degree, and the same times the root of the last level.
    pub(super) scale: [Factor; 2],
}

impl Job for Backward<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (p, roots, c) = (self.prime.p, &self.prime.backward, Constants::<L>::new(self.prime.p));
        let zero = L::splat(0);
        let vectors = vectors_mut(self.polynomial);
        assert_eq!(vectors.len(), DEGREE / LANES, "a whole polynomial");
        for (group, vectors) in vectors.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut x = loaded(vectors, 0, 1);
            join_three(&mut x, &roots.of_group(group), 1, p, &c);
            let mut x = L::transpose(x);
            let [near, far] = [L::splat(8 * p), L::splat(16 * p)];
            for (half, block) in [0, 4].into_iter().zip(512 + 2 * group..) {
                let [first, second, third] = roots.of_half(block);
                join(&mut x, half, half + 1, second, near, &c);
                join(&mut x, half + 2, half + 3, third, near, &c);
                join(&mut x, half, half + 2, first, far, &c);
                join(&mut x, half + 1, half + 3, first, far, &c);
            }
            (0..LANES).for_each(|i| x[i].store(&mut vectors[i]));
        }
        for (blocks, bound) in [(64, 32), (8, 2), (1, 16)] {
            let step = vectors.len() / blocks / LANES;
            for (block, vectors) in vectors.chunks_exact_mut(LANES * step).enumerate() {
                let mut roots = roots.of_block(blocks + block);
                if blocks == 1 {
                    roots[0] = Root::splat(self.scale[1]);
                }
                for at in 0..step {
                    let mut x = loaded(vectors, at, step);
                    join_three(&mut x, &roots, bound, p, &c);
                    // Sums are below 2^52 by now, or the last ones.
                    match blocks {
                        64 => (0..4).for_each(|i| x[i] = c.one.times(x[i], zero, &c)),
                        1 => {
                            let scale = Root::splat(self.scale[0]);
                            (0..4).for_each(|i| x[i] = scale.times(x[i], zero, &c));
                            (0..LANES).for_each(|i| x[i] = c.canonical(x[i]));
                        }
                        _ => {}
                    }
                    (0..LANES).for_each(|i| x[i].store(&mut vectors[at + i * step]));
                }
            }
        }
    }
}

/// Three levels of a block of numbers below `bound` p: the distances of one vector, two and four. Sums end below 8
/// `bound` p, and differences below 2p.
#[inline(always)]
fn join_three<L: Lanes>(x: &mut [L; LANES], roots: &[Root<L>; 7], bound: u64, p: u64, c: &Constants<L>) {
    let [first, second, third] = [L::splat(bound * p), L::splat(2 * bound * p), L::splat(4 * bound * p)];
    for i in [0, 2, 4, 6] {
        join(x, i, i + 1, roots[3 + i / 2], first, c);
    }
    for i in [0, 1, 4, 5] {
        join(x, i, i + 2, roots[1 + i / 4], second, c);
    }
    for i in 0..4 {
        join(x, i, i + 4, roots[0], third, c);
    }
}

/// x + y and (x - y) w, for a y not above a multiple of p.
#[inline(always)]
fn join<L: Lanes>(v: &mut [L; LANES], x: usize, y: usize, root: Root<L>, multiple: L, c: &Constants<L>) {
    let difference = v[x].plus(multiple).minus(v[y]);
    v[x] = v[x].plus(v[y]);
    v[y] = root.times(difference, L::splat(0), c);
}

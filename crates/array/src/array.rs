//! Shaped arrays of shares.

use std::cell::LazyCell;
use std::sync::Arc;

use tacit_math::{Plane, Ring as RingElement, matrix, ring};
use tacit_mpc::{Backend, Linear, linear};

use crate::program::Ring;

/// The shares of an array's elements, row by row.
pub enum Shares<B: Backend> {
    /// A plane of bits.
    Bits(B::Bits),
    /// Integers modulo 2^64.
    Ring64(B::Vector<u64>),
    /// Integers modulo 2^128.
    Ring128(B::Vector<u128>),
}

impl<B: Backend> Shares<B> {
    /// In what they are shared.
    pub fn ring(&self) -> Ring {
        match self {
            Self::Bits(_) => Ring::Bits,
            Self::Ring64(_) => Ring::Ring64,
            Self::Ring128(_) => Ring::Ring128,
        }
    }

    /// How many there are.
    pub fn elements(&self) -> usize {
        match self {
            Self::Bits(x) => x.rows(),
            Self::Ring64(x) => x.rows(),
            Self::Ring128(x) => x.rows(),
        }
    }

    /// Element i is the old element from[i], which is public. Local. from: asked for once, if there is data.
    pub(crate) fn gather(&self, elements: usize, from: impl Fn() -> Vec<u32>) -> Self {
        let from = LazyCell::new(from);
        match self {
            Self::Bits(x) => Self::Bits(x.map(elements, |plane| plane.gather(&from))),
            Self::Ring64(x) => Self::Ring64(x.map(elements, |x| ring::gather(x, &from))),
            Self::Ring128(x) => Self::Ring128(x.map(elements, |x| ring::gather(x, &from))),
        }
    }
}

impl<B: Backend> Clone for Shares<B> {
    fn clone(&self) -> Self {
        match self {
            Self::Bits(x) => Self::Bits(x.clone()),
            Self::Ring64(x) => Self::Ring64(x.clone()),
            Self::Ring128(x) => Self::Ring128(x.clone()),
        }
    }
}

/// A ring whose vectors are arrays.
pub(crate) trait Element: RingElement + matrix::Element {
    /// The vector, if it is of this ring.
    fn of<B: Backend>(shares: &Shares<B>) -> Option<&B::Vector<Self>>;

    /// A vector as an array's shares.
    fn shares<B: Backend>(vector: B::Vector<Self>) -> Shares<B>;
}

macro_rules! element {
    ($ring:ty, $shares:ident) => {
        impl Element for $ring {
            fn of<B: Backend>(shares: &Shares<B>) -> Option<&B::Vector<Self>> {
                if let Shares::$shares(vector) = shares { Some(vector) } else { None }
            }

            fn shares<B: Backend>(vector: B::Vector<Self>) -> Shares<B> {
                Shares::$shares(vector)
            }
        }
    };
}

element!(u64, Ring64);
element!(u128, Ring128);

/// Shares with a public shape. Cloning copies handles, not shares.
pub struct Array<B: Backend> {
    /// The sizes of its axes.
    pub shape: Vec<usize>,
    shares: Arc<Shares<B>>,
    /// The elements, where they are public.
    pub(crate) public: Option<Arc<Vec<i128>>>,
}

impl<B: Backend> Array<B> {
    /// Shares of a shape.
    ///
    /// # Panics
    /// Unless there are as many as the shape says.
    pub fn new(shape: &[usize], shares: Shares<B>) -> Self {
        assert_eq!(shape.iter().product::<usize>(), shares.elements(), "as many elements as the shape says");
        Self { shape: shape.to_vec(), shares: Arc::new(shares), public: None }
    }

    /// Its elements.
    pub fn shares(&self) -> &Shares<B> {
        &self.shares
    }

    /// Its elements, copied where another array has them too.
    pub fn into_shares(self) -> Shares<B> {
        Arc::try_unwrap(self.shares).unwrap_or_else(|shares| Shares::clone(&shares))
    }

    /// In what its elements are shared.
    pub fn ring(&self) -> Ring {
        self.shares.ring()
    }

    /// How many elements it has.
    pub fn elements(&self) -> usize {
        self.shares.elements()
    }

    /// Public numbers.
    pub(crate) fn public(b: &B, shape: &[usize], ring: Ring, values: Vec<i128>) -> Self {
        let rows = values.len();
        let shares = match ring {
            Ring::Bits => Shares::Bits(b.public_bits(rows, || Plane::from_fn(rows, |i| values[i] == 1))),
            Ring::Ring64 => Shares::Ring64(b.public_vector(rows, || values.iter().map(|&x| x as u64).collect())),
            Ring::Ring128 => Shares::Ring128(b.public_vector(rows, || values.iter().map(|&x| x as u128).collect())),
        };
        Self { public: Some(Arc::new(values)), ..Self::new(shape, shares) }
    }

    /// The vector of an array that is of this ring.
    pub(crate) fn vector<R: Element>(&self) -> &B::Vector<R> {
        R::of(&self.shares).expect("rings are checked when a program is read")
    }

    /// The plane of an array of bits.
    pub(crate) fn bits(&self) -> &B::Bits {
        match self.shares() {
            Shares::Bits(x) => x,
            _ => panic!("rings are checked when a program is read"),
        }
    }

    /// Elements of this one in another shape: element i is the old element from[i].
    pub(crate) fn gathered(&self, shape: &[usize], from: impl Fn() -> Vec<u32>) -> Self {
        let elements = shape.iter().product();
        let taken = |public: &Arc<Vec<i128>>| Arc::new(from().into_iter().map(|i| public[i as usize]).collect());
        let public = self.public.as_ref().map(taken);
        Self { shape: shape.to_vec(), shares: Arc::new(self.shares.gather(elements, from)), public }
    }

    /// The same elements in another shape.
    pub(crate) fn reshaped(&self, shape: &[usize]) -> Self {
        Self { shape: shape.to_vec(), ..self.clone() }
    }
}

impl<B: Backend> Clone for Array<B> {
    fn clone(&self) -> Self {
        Self { shape: self.shape.clone(), shares: Arc::clone(&self.shares), public: self.public.clone() }
    }
}

/// Vectors of arrays one behind the other, and how long each is: for what an engine computes of one vector at a time.
pub(crate) fn joined<R: Element, B: Backend>(vectors: &[&B::Vector<R>]) -> (B::Vector<R>, Vec<usize>) {
    let joined = if let [only] = vectors { (*only).clone() } else { linear::concat_vectors(vectors) };
    (joined, vectors.iter().map(|vector| vector.rows()).collect())
}

/// The vectors of which one is made.
pub(crate) fn parted<R: Element, B: Backend>(vector: B::Vector<R>, rows: &[usize]) -> Vec<B::Vector<R>> {
    if rows.len() == 1 {
        return vec![vector];
    }
    starts(rows).map(|(start, rows)| vector.map(rows, |x| x[start..start + rows].to_vec())).collect()
}

/// The planes of which one is made.
pub(crate) fn parted_bits<B: Backend>(plane: B::Bits, rows: &[usize]) -> Vec<B::Bits> {
    if rows.len() == 1 {
        return vec![plane];
    }
    starts(rows).map(|(start, rows)| plane.map(rows, |x| x.slice(start, rows))).collect()
}

/// Where each part begins, with its length.
fn starts(rows: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    rows.iter().scan(0, |end, &rows| {
        let start = *end;
        *end += rows;
        Some((start, rows))
    })
}

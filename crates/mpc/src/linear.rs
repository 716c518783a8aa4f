//! Shares under linear maps.

use tacit_math::plane::words_for;
use tacit_math::{Plane, Ring, ring};

/// A share of a column `T` (a plane or a vector of ring elements), consisting of components on which every linear map
/// acts one by one. Mapping the components of a share of x gives a share of f(x), without any message.
pub trait Linear<T>: Clone {
    /// Applies a linear map from several columns to `outputs` columns of `rows` rows.
    ///
    /// The map must be linear (over GF(2) for planes, over the ring for vectors) and must not depend on secrets. It is
    /// called once for each component, or not at all by an engine that holds no data.
    fn map_many(inputs: &[&Self], outputs: usize, rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self>;

    /// The same for a map that takes every column by itself, and any number of columns. It may be called once for the
    /// columns of all components, one after the other.
    fn map_each(inputs: &[&Self], rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self> {
        Self::map_many(inputs, inputs.len(), rows, map)
    }

    /// Number of rows.
    fn rows(&self) -> usize;

    /// A linear map of one column to one column of `rows` rows.
    fn map(&self, rows: usize, map: impl Fn(&T) -> T) -> Self {
        single(Self::map_many(&[self], 1, rows, |x| vec![map(x[0])]))
    }

    /// A linear map of two columns of equal length to one.
    fn zip(&self, other: &Self, map: impl Fn(&T, &T) -> T) -> Self {
        single(Self::map_many(&[self, other], 1, self.rows(), |x| vec![map(x[0], x[1])]))
    }
}

fn single<S>(mut outputs: Vec<S>) -> S {
    assert_eq!(outputs.len(), 1, "a map to one column");
    outputs.swap_remove(0)
}

/// XOR of two shared planes.
pub fn xor<S: Linear<Plane>>(x: &S, y: &S) -> S {
    x.zip(y, Plane::xor)
}

/// XOR of shared planes of one length, each with its partner.
pub fn xor_all<S: Linear<Plane>>(x: &[&S], y: &[&S]) -> Vec<S> {
    assert_eq!(x.len(), y.len(), "pairs of planes");
    let rows = x.first().map_or(0, |plane| plane.rows());
    S::map_many(&[x, y].concat(), x.len(), rows, |planes| {
        let (x, y) = planes.split_at(planes.len() / 2);
        Plane::xor_all(x, y)
    })
}

/// Sum of two shared vectors.
pub fn add<R: Ring, S: Linear<Vec<R>>>(x: &S, y: &S) -> S {
    x.zip(y, |a, b| ring::add(a, b))
}

/// Difference of two shared vectors.
pub fn sub<R: Ring, S: Linear<Vec<R>>>(x: &S, y: &S) -> S {
    x.zip(y, |a, b| ring::sub(a, b))
}

/// A shared vector times a public constant.
pub fn scale<R: Ring, S: Linear<Vec<R>>>(x: &S, by: R) -> S {
    x.map(x.rows(), |a| ring::scale(a, by))
}

/// The rows of several shared planes, one after the other.
pub fn concat_bits<S: Linear<Plane>>(parts: &[&S]) -> S {
    let rows = parts.iter().map(|p| p.rows()).sum();
    single(S::map_many(parts, 1, rows, |planes| vec![Plane::concat(planes)]))
}

/// The rows of several shared vectors, one after the other.
pub fn concat_vectors<R: Ring, S: Linear<Vec<R>>>(parts: &[&S]) -> S {
    let rows = parts.iter().map(|p| p.rows()).sum();
    single(S::map_many(parts, 1, rows, |vectors| {
        vec![vectors.iter().map(|v| v.as_slice()).collect::<Vec<_>>().concat()]
    }))
}

/// The sum of all rows, as a vector of one row.
pub fn total<R: Ring, S: Linear<Vec<R>>>(x: &S) -> S {
    x.map(1, |v| vec![ring::sum(v)])
}

/// A column in clear, whose length is public.
pub(crate) trait Column: Clone {
    fn len(&self) -> usize;

    /// Memory of a column of this length.
    fn bytes(rows: usize) -> u64;
}

impl Column for Plane {
    fn len(&self) -> usize {
        self.rows()
    }

    fn bytes(rows: usize) -> u64 {
        (words_for(rows) * size_of::<u64>()) as u64
    }
}

impl<R: Ring> Column for Vec<R> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn bytes(rows: usize) -> u64 {
        (rows * size_of::<R>()) as u64
    }
}

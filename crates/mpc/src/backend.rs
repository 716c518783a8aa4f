//! The one trait that circuits, operations and tables are written against.

use tacit_math::matrix::Element;
use tacit_math::{Plane, Ring};
use tacit_net::PartyId;

use crate::function::Evaluation;
use crate::{
    Apart, Bilinear, Block, Linear, LinearScan, MatrixProduct, Permit, Result, Rows, Shape, SharedTypes, Split,
};
use crate::{bilinear, linear};

/// A secure computation engine at one node. Every node calls the same methods with the same public arguments in the
/// same order. All methods work on whole vectors; those that take `&mut self` may communicate.
///
/// Values are shares: nothing about a secret can be read except through [`Backend::open`], which needs a [`Permit`].
pub trait Backend: SharedTypes {
    /// The widest number that is cheaper to convert to a ring plane by plane than through an adder.
    const INJECT_AT_MOST: usize;

    /// Whether the sign of a difference of ring elements takes less than a comparison of planes.
    const SIGNS: bool = false;

    /// Whether a sum of any number of products takes one word.
    const SUMS_PRODUCTS: bool = true;

    /// Runs the body as a named step: the name of its metrics and of its errors.
    fn step<T>(&mut self, name: &str, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T>;

    /// Shares of a public plane of `rows` rows.
    fn public_bits(&self, rows: usize, value: impl FnOnce() -> Plane) -> Self::Bits;

    /// Shares of a public vector of `rows` rows.
    fn public_vector<R: Ring>(&self, rows: usize, value: impl FnOnce() -> Vec<R>) -> Self::Vector<R>;

    /// The complement of a shared plane. Local.
    fn not(&self, x: &Self::Bits) -> Self::Bits {
        linear::xor(x, &self.public_bits(x.rows(), || Plane::ones(x.rows())))
    }

    /// The complements of shared planes of one length. Local.
    fn not_all(&self, x: &[&Self::Bits]) -> Vec<Self::Bits> {
        let rows = x.first().map_or(0, |plane| plane.rows());
        let ones = self.public_bits(rows, || Plane::ones(rows));
        linear::xor_all(x, &vec![&ones; x.len()])
    }

    /// out[k] = x[k] * y[k], element by element. One round.
    fn mul<R: Ring>(&mut self, x: &[&Self::Vector<R>], y: &[&Self::Vector<R>]) -> Result<Vec<Self::Vector<R>>> {
        let terms: Vec<_> = x.iter().zip(y).map(|(&x, &y)| vec![(x, y)]).collect();
        self.inner_products(&terms)
    }

    /// out[k] = x[k] AND y[k], for planes of any lengths (x[k] as long as y[k]). One round.
    fn and(&mut self, x: &[&Self::Bits], y: &[&Self::Bits]) -> Result<Vec<Self::Bits>> {
        self.and_xor(x, y, &vec![None; x.len()])
    }

    /// out[k] = (x[k] AND y[k]) XOR base[k], where there is one. One round; costs what [`Backend::and`] does.
    ///
    /// Some engines pay less for products with a common factor: give the same reference for it
    /// ([`crate::common_factors`]).
    fn and_xor(
        &mut self,
        x: &[&Self::Bits],
        y: &[&Self::Bits],
        base: &[Option<&Self::Bits>],
    ) -> Result<Vec<Self::Bits>>;

    /// Planes of one length that follow from the given ones, if the engine has a way that takes less time than gate by
    /// gate. Returns None without communicating otherwise. The choice depends only on public sizes.
    fn evaluate(&mut self, _what: Evaluation, _inputs: &[&Self::Bits]) -> Result<Option<Vec<Self::Bits>>> {
        Ok(None)
    }

    /// out[k] = sum over t of x * y for the pairs (x, y) in terms[k], element by element. One round, one word a row and
    /// output.
    fn inner_products<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
    ) -> Result<Vec<Self::Vector<R>>>;

    /// out[k] = x[k] where bits[k] is one, else zero, row by row.
    fn select<R: Ring>(&mut self, bits: &[&Self::Bits], x: &[&Self::Vector<R>]) -> Result<Vec<Self::Vector<R>>> {
        let bits = self.inject(bits)?;
        self.mul(&bits.iter().collect::<Vec<_>>(), x)
    }

    /// out = sum over t of x[t] * factor[t] + base + row number. The bit x[t] is one in the rows whose digit is t + 1,
    /// and a scan gives factors and base from x. The digit has one to three planes, so one value more than there are x.
    /// The result is numbers of rows: an engine may compute only as many bits as these need.
    fn scan_product<S: LinearScan<u32, N>, const N: usize>(
        &mut self,
        digit: &[&Self::Bits],
    ) -> Result<Self::Vector<u32>>;

    /// Each bit as the ring element 0 or 1.
    fn inject<R: Ring>(&mut self, bits: &[&Self::Bits]) -> Result<Vec<Self::Vector<R>>>;

    /// Two Boolean-shared numbers of `width` planes each whose sum modulo 2^width is x modulo 2^width.
    fn summands<R: Ring>(&mut self, x: &[&Self::Vector<R>], width: usize) -> Result<Vec<[Vec<Self::Bits>; 2]>>;

    /// A fresh random ring vector y and the Boolean shares of -y, for converting to the ring by [`Backend::unmask`].
    fn mask<R: Ring>(&mut self, rows: usize) -> Result<(Self::Vector<R>, Vec<Self::Bits>)>;

    /// Given the planes of x - y for a mask y of [`Backend::mask`]: shares of x. The planes are opened to nodes that
    /// know nothing of y. Of n low planes: shares of a number that is x modulo 2^n.
    fn unmask<R: Ring>(&mut self, mask: Self::Vector<R>, difference: &[&Self::Bits]) -> Result<Self::Vector<R>>;

    /// f(x) for a function of x = s + t, where one node knows s and others know t. A function of shares: where f is
    /// rounded, of all sums s + t of one number not the same may come out.
    fn split_product<R: Ring>(&mut self, x: &[&Self::Vector<R>], f: &impl Split<R>) -> Result<Vec<Self::Vector<R>>>;

    /// Uniformly random planes of these lengths, of which no node knows a bit. Local.
    fn random_bits(&mut self, rows: &[usize]) -> Vec<Self::Bits>;

    /// The same numbers modulo 2^64. Local.
    fn narrow(&self, x: &Self::Vector<u128>) -> Self::Vector<u64>;

    /// x / 2^by, rounded to one of the two integers beside it if it is none, for |x| <= 2^(k-2) - 1. To which one is a
    /// function of shares and no secret from who knows x, the result and some of them: docs/protocols/arrays.md. The
    /// mean error is zero if the shares are uniform.
    ///
    /// # Panics
    /// Unless 1 <= by <= k - 2.
    fn truncate<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Self::Vector<R>>>;

    /// x / 2^by rounded down, less a carry, for -2^(k-2) <= x < 2^(k-2); and the carry as that of two numbers.
    ///
    /// # Panics
    /// Unless 1 <= by <= k - 2.
    fn truncate_apart<R: Ring>(&mut self, x: &[&Self::Vector<R>], by: usize) -> Result<Vec<Apart<Self, R>>>;

    /// What [`Backend::truncate`] gives of inner products. They are of fresh uniform shares.
    ///
    /// # Panics
    /// Unless 1 <= by <= k - 2.
    fn multiply_truncate<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
        by: usize,
    ) -> Result<Vec<Self::Vector<R>>> {
        let products = self.inner_products(terms)?;
        self.truncate(&products.iter().collect::<Vec<_>>(), by)
    }

    /// Products of matrices and convolutions. An engine has one round and one word an element for them, or makes them
    /// of [`Backend::inner_products`], a bounded number of products at a time.
    ///
    /// # Panics
    /// If an operand reaches beyond its vector.
    fn bilinear<R: Element>(&mut self, products: &[Bilinear<'_, Self::Vector<R>>]) -> Result<Vec<Self::Vector<R>>> {
        bilinear::by_inner_products(products, |terms| self.inner_products(terms))
    }

    /// What [`Backend::truncate`] gives of them. They are of fresh uniform shares.
    ///
    /// # Panics
    /// If an operand reaches beyond its vector, and unless 1 <= by <= k - 2.
    fn bilinear_truncate<R: Element>(
        &mut self,
        products: &[Bilinear<'_, Self::Vector<R>>],
        by: usize,
    ) -> Result<Vec<Self::Vector<R>>> {
        let products = self.bilinear(products)?;
        self.truncate(&products.iter().collect::<Vec<_>>(), by)
    }

    /// What [`Backend::multiply_truncate`] gives of factors that are no farther from zero than `within` says, for each
    /// output. An engine may have a form that gives numbers up to two units beside the quotient, and wrong ones with
    /// the probability that it declares ([`crate::backends::Costs::failure`]).
    ///
    /// # Panics
    /// Unless 1 <= by <= k - 2.
    fn multiply_within<R: Ring>(
        &mut self,
        terms: &[Vec<(&Self::Vector<R>, &Self::Vector<R>)>],
        by: usize,
        _within: &[[u128; 2]],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.multiply_truncate(terms, by)
    }

    /// What [`Backend::bilinear_truncate`] gives, by such a form.
    ///
    /// # Panics
    /// If an operand reaches beyond its vector, and unless 1 <= by <= k - 2.
    fn bilinear_within<R: Element>(
        &mut self,
        products: &[Bilinear<'_, Self::Vector<R>>],
        by: usize,
        _within: &[[u128; 2]],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.bilinear_truncate(products, by)
    }

    /// What [`Backend::truncate`] gives of numbers that are no farther from zero than `within` says, by such a form.
    ///
    /// # Panics
    /// Unless 1 <= by <= k - 2.
    fn truncate_within<R: Ring>(
        &mut self,
        x: &[&Self::Vector<R>],
        by: usize,
        _within: &[u128],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.truncate(x, by)
    }

    /// Whether numbers of `width` bits are negative, if the engine has such a form for them. Returns None without
    /// communicating otherwise. The choice depends only on public sizes.
    fn sign_within<R: Ring>(&mut self, _x: &Self::Vector<R>, _width: usize) -> Result<Option<Self::Bits>> {
        Ok(None)
    }

    /// Products of matrices, row after row: [`Backend::bilinear`] of them.
    ///
    /// # Panics
    /// If a matrix reaches beyond its vector.
    fn matrix_products<R: Element>(
        &mut self,
        products: &[MatrixProduct<'_, Self::Vector<R>>],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.bilinear(&products.iter().map(MatrixProduct::bilinear).collect::<Vec<_>>())
    }

    /// Products of matrices that are truncated: [`Backend::bilinear_truncate`] of them.
    ///
    /// # Panics
    /// If a matrix reaches beyond its vector, and unless 1 <= by <= k - 2.
    fn matrix_products_truncate<R: Element>(
        &mut self,
        products: &[MatrixProduct<'_, Self::Vector<R>>],
        by: usize,
    ) -> Result<Vec<Self::Vector<R>>> {
        self.bilinear_truncate(&products.iter().map(MatrixProduct::bilinear).collect::<Vec<_>>(), by)
    }

    /// Products of matrices within bounds: [`Backend::bilinear_within`] of them.
    ///
    /// # Panics
    /// If a matrix reaches beyond its vector, and unless 1 <= by <= k - 2.
    fn matrix_products_within<R: Element>(
        &mut self,
        products: &[MatrixProduct<'_, Self::Vector<R>>],
        by: usize,
        within: &[[u128; 2]],
    ) -> Result<Vec<Self::Vector<R>>> {
        self.bilinear_within(&products.iter().map(MatrixProduct::bilinear).collect::<Vec<_>>(), by, within)
    }

    /// The rows in a uniformly random order that no node knows.
    fn shuffle(&mut self, rows: Rows<Self>) -> Result<Rows<Self>>;

    /// Shuffles two bundles by the same secret random permutation and makes the second one public to all nodes.
    ///
    /// Not a disclosure only because of the contract: the revealed rows, as a multiset, must be public already (such as
    /// the numbers 0..n). Then what the nodes see is a uniformly random arrangement of it, and words of planes say
    /// nothing more: behind the last row they are zero. A caller checks that it got that multiset, because a peer may
    /// send anything. Its vectors over Z/2^32 hold numbers of rows, below their count: an engine may move only as many
    /// bits of them. None in an engine without data.
    fn shuffle_reveal(&mut self, rows: Rows<Self>, reveal: Rows<Self>) -> Result<(Rows<Self>, Block)>;

    /// Shares of the owner's bundle (given only at the owner).
    fn input(&mut self, owner: PartyId, shape: Shape, data: Option<Block>) -> Result<Rows<Self>>;

    /// Opens a bundle of the permit's shape to its recipients. None at other nodes.
    fn open(&mut self, rows: &Rows<Self>, permit: Permit) -> Result<Option<Block>>;

    /// The owner tells all nodes a number of rows, no larger than the permit says, which is of kind size and for all of
    /// them.
    fn announce(&mut self, owner: PartyId, number: Option<u64>, permit: Permit) -> Result<u64>;
}

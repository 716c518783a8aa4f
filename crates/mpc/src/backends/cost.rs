//! Declared costs: what every primitive of an engine sends, as formulas of public sizes.

use std::time::Duration;

use tacit_net::Cost;

use crate::circuits::Evaluation;
use crate::{Form, Link, Shape};

/// What a step takes of the stock that an engine makes ahead, use by use: how many OTs of each direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs(pub(super) Vec<[usize; 2]>);

/// A part of the stock that is made ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered<Order> {
    /// The position, among the steps it was asked for, of the one that is the first to use it.
    pub step: usize,
    /// What the engine is to make.
    pub order: Order,
    /// What making it costs.
    pub cost: Cost,
    /// What making it takes of each node's processor.
    pub processor: Duration,
}

/// Products of columns of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Products {
    /// Rows of the columns.
    pub rows: usize,
    /// How many products.
    pub count: usize,
}

/// The formulas of an engine, one for each communicating primitive of [`crate::Backend`], by node in engine order. They
/// may depend on what was called before (nodes may take roles in turn).
pub trait Costs: Default {
    /// An order of stock that the engine makes ahead of its use.
    type Order;
    /// What its primitives take of a processor; the default is what was measured once.
    type Prices: Clone + Default;
    /// How many components of every value a node holds.
    const COMPONENTS: usize;
    /// How many nodes hold values: the first ones. None: all do.
    const HOLDERS: Option<usize> = None;
    /// [`crate::Backend::INJECT_AT_MOST`] of the engine.
    const INJECT_AT_MOST: usize;
    /// [`crate::Backend::SIGNS`] of the engine.
    const SIGNS: bool = false;
    /// [`crate::Backend::SUMS_PRODUCTS`] of the engine.
    const SUMS_PRODUCTS: bool = true;
    /// Whether the engine scans the planes of a digit. Other engines first compute a bit for each value, gate by gate.
    const SCANS_DIGITS: bool = false;
    /// Whether some of its forms fail with a small probability ([`Self::failure`]).
    const FAILS: bool = false;
    /// Whether the engine chooses between garbled circuits and gates by the network between the nodes.
    const GARBLES: bool = false;
    /// ANDs, in groups with a common factor.
    fn and(&mut self, groups: &[Products]) -> Cost;
    /// [`crate::Backend::evaluate`] on that many rows, and how many planes it gives, where the engine does not go gate
    /// by gate.
    fn evaluate(&mut self, _what: Evaluation, _rows: usize) -> Option<(Cost, usize)> {
        None
    }
    /// The network that the nodes declare ([`super::Networked::declare`]).
    fn declare(&mut self, _link: Link) {}
    /// Replaces the default prices ([`super::Networked::price`]).
    fn price(&mut self, _prices: Self::Prices) {}
    /// What each node's processor takes for all that was declared since this was last asked, at measured prices; zero
    /// of an engine without them.
    fn processor(&mut self) -> Duration {
        Duration::ZERO
    }
    /// From now on an engine that can make its stock ahead of its use does, which is then no part of what uses it.
    fn make_ahead(&mut self) {}
    /// What was taken since this was last asked, of what is made ahead.
    fn needs(&mut self) -> Needs {
        Needs::default()
    }
    /// What is made ahead for the needs of steps that follow each other, known together.
    fn orders(&mut self, _steps: &[Needs]) -> Vec<Ordered<Self::Order>> {
        Vec::new()
    }
    /// The stock for unforeseen needs: made when a step asks for it.
    fn unforeseen(&mut self, _needs: &Needs) -> Vec<Ordered<Self::Order>> {
        Vec::new()
    }
    /// Inner products, one for each output, over a ring of `bytes` bytes an element.
    fn inner_products(&mut self, outputs: &[Products], bytes: usize) -> Cost;
    /// Products of matrices and convolutions, from the number of elements of both operands and of what comes out of
    /// each. None of an engine that makes them of inner products.
    fn bilinear(&mut self, _lengths: &[[usize; 3]], _bytes: usize) -> Option<Cost> {
        None
    }
    /// Whether an engine computes a map as one product of matrices, and not as inner products.
    fn is_whole(_form: &Form, _bytes: usize) -> bool {
        false
    }
    /// The cost of several maps as products of matrices, and the bytes of memory at a node beside all columns.
    fn whole(&mut self, _forms: &[Form], _bytes: usize) -> (Cost, u64) {
        unreachable!("this engine makes no map as a whole")
    }
    /// The same, truncated. None of an engine that truncates them by [`Self::truncate`].
    fn bilinear_truncate(&mut self, _lengths: &[[usize; 3]], _by: usize, _bytes: usize) -> Option<Cost> {
        None
    }
    /// [`crate::Backend::multiply_within`]. None of an engine that has no form for it.
    fn multiply_within(
        &mut self,
        _outputs: &[Products],
        _by: usize,
        _bytes: usize,
        _within: &[[u128; 2]],
    ) -> Option<Cost> {
        None
    }
    /// [`crate::Backend::bilinear_within`]. None of an engine that has no form for it.
    fn bilinear_within(
        &mut self,
        _lengths: &[[usize; 3]],
        _by: usize,
        _bytes: usize,
        _within: &[[u128; 2]],
    ) -> Option<Cost> {
        None
    }
    /// [`crate::Backend::truncate_within`]. None of an engine that has no form for it.
    fn truncate_within(&mut self, _rows: &[usize], _by: usize, _bytes: usize, _within: &[u128]) -> Option<Cost> {
        None
    }
    /// [`crate::Backend::sign_within`], where the engine has a form for numbers of that width.
    fn sign_within(&mut self, _rows: usize, _width: usize, _bytes: usize) -> Option<Cost> {
        None
    }
    /// The probability, at most, with which what was declared since this was last asked gives a wrong result.
    fn failure(&mut self) -> f64 {
        0.0
    }
    /// Vectors of these lengths over a ring of `bytes` bytes an element, each times a bit.
    fn select(&mut self, rows: &[usize], bytes: usize) -> Cost {
        let mut cost = self.inject(rows, bytes);
        let products: Vec<Products> = rows.iter().map(|&rows| Products { rows, count: 1 }).collect();
        cost += self.inner_products(&products, bytes);
        cost
    }
    /// A sum of `bits` bits times vectors that a scan of the bits gives: they tell the values of a digit but zero.
    fn scan_product(&mut self, rows: usize, bits: usize) -> Cost;
    /// Injection of planes of these lengths.
    fn inject(&mut self, rows: &[usize], bytes: usize) -> Cost;
    /// Split products of vectors of these lengths: each is a sum of as many products.
    fn split_product(&mut self, rows: &[usize], products: usize, bytes: usize) -> Cost;
    /// Truncation of vectors of these lengths by `by` bits.
    fn truncate(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost;
    /// The same, with the low bits apart.
    fn truncate_apart(&mut self, rows: &[usize], by: usize, bytes: usize) -> Cost;
    /// Inner products that are truncated.
    fn multiply_truncate(&mut self, outputs: &[Products], by: usize, bytes: usize) -> Cost;
    /// Decomposition of vectors of these lengths to `width` planes.
    fn summands(&mut self, rows: &[usize], width: usize) -> Cost;
    /// A mask of `width` planes.
    fn mask(&mut self, rows: usize, width: usize) -> Cost;
    /// Its removal.
    fn unmask(&mut self, rows: usize, width: usize) -> Cost;
    /// A shuffle.
    fn shuffle(&mut self, shape: Shape) -> Cost;
    /// A shuffle that reveals a second bundle.
    fn shuffle_reveal(&mut self, shape: Shape, reveal: Shape) -> Cost;
    /// Input by an owner.
    fn input(&mut self, owner: usize, shape: Shape) -> Cost;
    /// Opening to some nodes.
    fn open(&mut self, shape: Shape, recipients: &[usize]) -> Cost;
    /// A number told to all nodes.
    fn announce(&mut self, owner: usize) -> Cost;
}

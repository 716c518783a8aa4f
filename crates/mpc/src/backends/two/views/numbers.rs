//! Protocols on ring elements: products of bits and elements, products of elements, chosen elements, and planes that
//! become numbers.

use tacit_math::plane::words_for;
use tacit_math::{Plane, Prg};
use tacit_ot::silent::lookup::LOOKUP_STRINGS;
use tacit_views::{Kind, Run, View, biased, constants, indistinguishable, repeats};

use super::streamed::check_streamed;
use super::{
    FEW, NODES, Own, Protocol, Source, Strings, THIN, check, check_rows, check_simulator, check_sources, findings,
    plane, shape, watch, words,
};
use crate::backends::two::lookups::ENTRIES;
use crate::backends::two::lookups::choose::exchange;
use crate::backends::two::products::multiply::{chosen, packed_elements, weighted_sum};
use crate::backends::two::strategy::MANY;
use crate::backends::two::{Share, Two};
use crate::bits::planes_of;
use crate::{Backend, Block, LinearScan, MatrixProduct, Place, Result, Rows, Split, linear};

fn selected(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let r64 = b.select(&x.bits.iter().collect::<Vec<_>>(), &x.r64.iter().collect::<Vec<_>>())?;
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

fn injected(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let r64 = b.inject(&x.bits.iter().collect::<Vec<_>>())?;
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

fn multiplied(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let r64 = b.mul(&[&x.r64[0]], &[&x.r64[1]])?;
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

/// x y + y y.
fn added_up(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let [x0, x1] = [0, 1].map(|which| &x.r64[which]);
    let r64 = b.inner_products(&[vec![(x0, x1), (x1, x1)]])?;
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

/// By bits whose wrap is injected into words of 32 bits: of numbers, with the low bits apart, and of a product. Numbers
/// within bounds are truncated as any are.
fn truncated(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let mut r64 = b.truncate(&[&x.r64[0]], 16)?;
    r64.extend(b.truncate_within(&[&x.r64[1]], 16, &[1 << 62])?);
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

/// Nothing is asked for, and nothing sent.
fn no_sign(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    assert!(b.sign_within(&x.r64[0], 9)?.is_none());
    Ok(Rows { r64: x.r64, ..Rows::empty(x.rows) })
}

fn truncated_apart(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let apart = b.truncate_apart(&[&x.r64[0], &x.r64[1]], 3)?;
    let (r64, low): (_, Vec<_>) = apart.into_iter().map(|apart| (apart.less_carry, apart.low.concat())).unzip();
    Ok(Rows { r64, bits: low.concat(), ..Rows::empty(x.rows) })
}

fn truncated_products(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let [x0, x1] = [0, 1].map(|which| &x.r64[which]);
    let mut r64 = b.multiply_truncate(&[vec![(x0, x1)]], 16)?;
    r64.extend(b.multiply_within(&[vec![(x1, x1)]], 16, &[[1 << 31; 2]])?);
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

/// Of vectors of two elements a row times a column, and the product of the first elements.
fn factors(x: &Rows<Two>) -> [MatrixProduct<'_, Share<Vec<u64>>>; 2] {
    [2, 1].map(|inner| MatrixProduct::new(&x.r64[0], &x.r64[1], [1, inner, 1]))
}

fn matrices(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let products = b.matrix_products(&factors(&x))?;
    Ok(Rows { r64: vec![linear::concat_vectors(&[&products[0], &products[1]])], ..Rows::empty(x.rows) })
}

fn truncated_matrices(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let mut products = b.matrix_products_truncate(&factors(&x)[..1], 16)?;
    products.extend(b.matrix_products_within(&factors(&x)[1..], 16, &[[1 << 31; 2]])?);
    Ok(Rows { r64: vec![linear::concat_vectors(&[&products[0], &products[1]])], ..Rows::empty(x.rows) })
}

/// x^2 = s^2 + s 2 t + t^2.
struct Square;

impl Split<u64> for Square {
    fn products(&self) -> usize {
        2
    }

    fn first(&self, s: &[u64], u: &mut [u64]) {
        let (squares, numbers) = u.split_at_mut(s.len());
        squares.iter_mut().zip(s).for_each(|(square, s)| *square = s.wrapping_mul(*s));
        numbers.copy_from_slice(s);
    }

    fn second(&self, t: &[u64], w: &mut [u64], v: &mut [u64]) {
        let (ones, twice) = w.split_at_mut(t.len());
        ones.fill(1);
        twice.iter_mut().zip(t).for_each(|(twice, t)| *twice = t.wrapping_mul(2));
        v.iter_mut().zip(t).for_each(|(v, t)| *v = t.wrapping_mul(*t));
    }
}

fn split(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    Ok(Rows { r64: b.split_product(&[&x.r64[0]], &Square)?, ..Rows::empty(x.rows) })
}

/// To each row what came before it: the first bits, and twice the second ones.
struct Before(u64);

impl LinearScan<u64, 2> for Before {
    fn begin(at: Place<u64, 2>) -> Self {
        Self(at.before[0].wrapping_add(2_u64.wrapping_mul(at.before[1])))
    }

    fn piece(&mut self, columns: [&[u64]; 2], factors: [&mut [u64]; 2], base: &mut [u64]) {
        let [first, second] = factors;
        for (row, base) in base.iter_mut().enumerate() {
            (first[row], second[row], *base) = (self.0, self.0.wrapping_mul(3), self.0);
            self.0 = self.0.wrapping_add(columns[0][row]).wrapping_add(2_u64.wrapping_mul(columns[1][row]));
        }
    }
}

fn scanned(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let bits = [&x.bits[0], &x.bits[1]];
    Ok(Rows { r64: vec![b.bits_times_scan::<u64, Before, 2>(&bits, bits)?], ..Rows::empty(x.rows) })
}

/// Both summands of the low bits of x; then a mask, its planes and it.
fn known_to_one(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let mut bits: Vec<Share<Plane>> = Vec::new();
    for [first, second] in b.summands::<u64>(&[&x.r64[0]], WIDTH)? {
        bits.extend(first.into_iter().chain(second));
    }
    let (mask, negated) = b.mask::<u64>(x.rows)?;
    bits.extend(negated);
    Ok(Rows { bits, r64: vec![mask], ..Rows::empty(x.rows) })
}

/// Planes of a summand.
const WIDTH: usize = 9;

/// One of seven elements, or zero.
fn looked_up(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let factors: Vec<&[u64]> = x.r64.iter().map(|share| &share.0[..]).collect();
    let chosen = b.chosen(&x.bits.iter().collect::<Vec<_>>(), &factors)?;
    Ok(Rows { r64: vec![Share(chosen)], ..Rows::empty(x.rows) })
}

/// The number that node 1 gets, as planes: what is opened to it, and nothing at node 0.
fn unmasked(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let mask = if b.me() == 0 { x.r64[0].0.clone() } else { vec![0; x.rows] };
    let number: Share<Vec<u64>> = b.ring_unmask(Share(mask), &x.bits.iter().collect::<Vec<_>>())?;
    let number = if b.me() == 0 { vec![0; x.rows] } else { number.0 };
    Ok(Rows { bits: planes_of(&number, 64).into_iter().map(Share).collect(), ..Rows::empty(x.rows) })
}

const ELEMENTS: Strings = Strings::Elements(8);

pub(super) const SELECT: Protocol<'_> =
    Protocol { name: "select", shape: shape(1, 1), strings: ELEMENTS, used: None, run: &selected };
pub(super) const INJECT: Protocol<'_> =
    Protocol { name: "inject", shape: shape(2, 0), strings: ELEMENTS, used: None, run: &injected };
const MULTIPLY: Protocol<'_> =
    Protocol { name: "multiply", shape: shape(0, 2), strings: ELEMENTS, used: None, run: &multiplied };
const ADD_UP: Protocol<'_> = Protocol { name: "inner product", run: &added_up, ..MULTIPLY };
const SPLIT: Protocol<'_> = Protocol { name: "split product", shape: shape(0, 1), run: &split, ..MULTIPLY };
const TRUNCATE: Protocol<'_> =
    Protocol { name: "truncate", strings: Strings::Elements(4), run: &truncated, ..MULTIPLY };
const NO_SIGN: Protocol<'_> = Protocol { name: "signs within bounds", run: &no_sign, ..LOCAL };
const TRUNCATE_APART: Protocol<'_> = Protocol { name: "truncate apart", run: &truncated_apart, ..TRUNCATE };
const TRUNCATE_PRODUCTS: Protocol<'_> = Protocol { name: "truncate products", run: &truncated_products, ..MULTIPLY };
const MATRICES: Protocol<'_> = Protocol { name: "matrix product", run: &matrices, ..MULTIPLY };
const TRUNCATE_MATRICES: Protocol<'_> =
    Protocol { name: "truncate matrix product", run: &truncated_matrices, ..MULTIPLY };
const SCAN: Protocol<'_> = Protocol { name: "scan product", run: &scanned, ..INJECT };
const LOCAL: Protocol<'_> =
    Protocol { name: "summands and masks", shape: shape(0, 1), strings: Strings::None, used: None, run: &known_to_one };
const CHOOSE: Protocol<'_> =
    Protocol { name: "choose", shape: shape(3, 7), strings: Strings::None, used: None, run: &looked_up };
const UNMASK: Protocol<'_> =
    Protocol { name: "unmask", shape: shape(64, 1), strings: Strings::None, used: None, run: &unmasked };

// views: Two::inject
// views: Two::select
// views: crates/mpc/src/backends/two/products/bit_product.rs
// views: crates/mpc/src/backends/two/products/inject.rs
// views: crates/mpc/src/backends/two/products/select.rs
// views: crates/mpc/src/backends/two/products/batches.rs
#[test]
fn products_tell_nothing() {
    check(&SELECT, 3, Source::Slice, THIN);
    check(&INJECT, 10, Source::Dealt, THIN);
}

#[test]
fn streamed_products_tell_nothing() {
    for rows in [3, 64] {
        check_streamed(&SELECT, rows, simulated_selection);
        check_streamed(&INJECT, rows, simulated_injection);
    }
}

/// By transfers: these are few.
// views: Two::mul
// views: Two::inner_products
// views: crates/mpc/src/backends/two/products/multiply.rs
#[test]
fn products_of_elements_tell_nothing() {
    check(&MULTIPLY, 1, Source::Dealt, THIN);
    check(&ADD_UP, 1, Source::Dealt, THIN);
}

/// Inner products of the factors, and truncations of them: nothing else is sent.
// views: Two::bilinear Two::bilinear_truncate Two::matrix_products Two::matrix_products_truncate
// views: Two::bilinear_within Two::matrix_products_within
#[test]
fn matrix_products_tell_nothing() {
    check(&MATRICES, 2, Source::Dealt, THIN);
    check(&TRUNCATE_MATRICES, 2, Source::Dealt, THIN);
}

/// A truncation's own bits go into an AND, whose product is injected.
// views: Two::truncate
// views: Two::truncate_apart
// views: Two::multiply_truncate Two::multiply_within Two::truncate_within Two::sign_within
// views: Two::split_product
// views: crates/mpc/src/backends/two/products/truncate.rs
#[test]
fn truncations_tell_nothing() {
    // There is no form for signs within bounds, which would send something.
    check(&NO_SIGN, 1, Source::Dealt, THIN);
    check(&TRUNCATE, 3, Source::Dealt, THIN);
    check(&TRUNCATE_APART, 3, Source::Dealt, THIN);
    check(&TRUNCATE_PRODUCTS, 1, Source::Dealt, THIN);
    check(&SPLIT, 1, Source::Dealt, THIN);
}

// views: Two::scan_product
// views: crates/mpc/src/backends/two/products/scan.rs
#[test]
fn products_with_scans_tell_nothing() {
    check(&SCAN, 3, Source::Slice, THIN);
}

/// Each node knows the planes of its component of a number, and node 0 the masks that it draws: a function of what is a
/// node's own, without a message.
// views: Two::summands
// views: Two::mask
#[test]
fn summands_and_masks_send_nothing() {
    let owns = watch(&LOCAL, 3, Source::Slice, THIN, 400);
    for (node, own) in owns.iter().enumerate() {
        for own in own {
            assert_eq!(own.seen.bits(), 0, "no message");
            let zeros = || vec![Plane::zeros(3); WIDTH];
            let of_input = planes_of(&own.input.r64[0], WIDTH);
            let summands = if node == 0 { [of_input, zeros()] } else { [zeros(), of_input] };
            let negated: Vec<u64> = own.output.r64[0].iter().map(|y| y.wrapping_neg()).collect();
            let expected = summands.into_iter().flatten().chain(planes_of(&negated, 64));
            assert!(
                own.output
                    .bits
                    .iter()
                    .map(|plane| plane.words().to_vec())
                    .eq(expected.map(|plane| plane.words().to_vec()))
            );
        }
    }
    let masks = |node: usize| -> Vec<View> {
        owns[node].iter().map(|own| View::default().with(Kind::Own, "mask", words(&own.output.r64[0]))).collect()
    };
    assert_eq!((biased(&masks(0)), constants(&masks(0)), repeats(&masks(0), 8)), (vec![], vec![], vec![]));
    assert!(owns[1].iter().all(|own| own.output.r64[0] == [0; 3]), "node 1 knows nothing of a mask");
}

/// Enough products to be evaluated.
const EVALUATED: usize = MANY;

const EVALUATE: Protocol<'_> = Protocol { name: "products by evaluation", strings: Strings::Elements(8), ..MULTIPLY };

/// What a node has of one evaluated product, its own numbers and bits first; bits are the lowest of their word.
struct Evaluation {
    own: [u64; 2],
    out: u64,
    /// Of the evaluation: a share, a bit, and a bit that says whether the public number is to be added.
    share: u64,
    bit: u64,
    wraps: u64,
    /// The peer's d and e.
    flip: u64,
    masked: u64,
    /// The choice and its string, and both strings of the peer's.
    choice: u64,
    chosen: u64,
    zero: u64,
    one: u64,
}

impl Evaluation {
    /// Row by row: the messages of the evaluation are those of its own room, and longer than the others.
    fn all(own: &Own) -> Vec<Self> {
        let parts: Vec<&[u8]> =
            own.seen.parts().iter().map(|part| &part.bytes[..]).filter(|part| part.len() < 1 << 17).collect();
        let words = |number: usize| -> Vec<u64> { bytemuck::pod_collect_to_vec(parts[number]) };
        let [shares, bits, wraps, flips, masked, choices, chosen, zero, one] = std::array::from_fn(words);
        assert_eq!(parts.len(), 9, "what is noted, both messages, and OTs");
        let row = |i: usize| Self {
            own: [0, 1].map(|which| own.input.r64[which][i]),
            out: own.output.r64[0][i],
            share: shares[i],
            bit: bit(&bits, i),
            // The public number is odd.
            wraps: wraps[i] & 1,
            flip: bit(&flips, i),
            masked: masked[i],
            choice: bit(&choices, i),
            chosen: chosen[i],
            zero: zero[i],
            one: one[i],
        };
        (0..EVALUATED).map(row).collect()
    }

    fn view(&self) -> View {
        let bits = self.bit | self.wraps << 1 | self.flip << 2 | self.choice << 3;
        let numbers = [bits, self.share, self.masked, self.chosen, self.zero, self.one];
        let view = numbers.iter().enumerate().fold(View::default(), |view, (at, number)| {
            let kind = if at == 0 || at == 2 { Kind::Received } else { Kind::Drawn };
            view.with(kind, &format!("number {at}"), words(&[*number]))
        });
        view.with(Kind::Own, "own", words(&self.own)).cut(|part, bit| part > 0 || bit < 4)
    }

    fn run(&self, peer: &Self) -> Run {
        let sums = [0, 1].map(|which| self.own[which].wrapping_add(peer.own[which]));
        Run {
            view: self.view(),
            known: View::default().with(Kind::Own, "output", words(&[self.out])),
            secret: View::default().with(
                Kind::Own,
                "numbers",
                words(&[sums[0], sums[1], self.out.wrapping_add(peer.out)]),
            ),
        }
    }

    /// A view with the same own numbers and output: the first string that this node offered is what makes the output
    /// right.
    fn simulated(&self, modulus: u64, prg: &mut Prg) -> Self {
        let [share, masked, chosen, one, bits] = prg.vector::<u64>(5)[..] else { unreachable!("five words") };
        let [b, wraps, flip, choice] = [0, 1, 2, 3].map(|at| bits >> at & 1);
        // The peer's number is to be added where this node's bit is one, and this node's where the peer's is.
        let of_peer = signed(choice ^ b, chosen.wrapping_add(choice.wrapping_mul(masked)));
        let number = modulus.wrapping_mul(wraps);
        let products = self.out.wrapping_sub(self.own[0].wrapping_mul(self.own[1])).wrapping_sub(share);
        let zero = signed(flip, number.wrapping_mul(flip).wrapping_add(of_peer).wrapping_sub(products));
        Self { share, bit: b, wraps, flip, masked, choice, chosen, zero, one, ..*self }
    }
}

/// Of many products every row of one call is a run. The evaluation gives each node a share, a bit and a number, here
/// noted as from a dealer. What the products of these bits and numbers show is seen and simulated with them.
#[test]
fn evaluated_products_tell_nothing() {
    let owns = watch(&EVALUATE, EVALUATED, Source::Dealt, THIN, 1);
    let evaluations = owns.each_ref().map(|own| Evaluation::all(&own[0]));
    let Block { r64: plain, .. } = owns[0][0].input.clone().plus(&owns[1][0].input);
    let Block { r64: products, .. } = owns[0][0].output.clone().plus(&owns[1][0].output);
    assert!((0..EVALUATED).all(|i| products[0][i] == plain[0][i].wrapping_mul(plain[1][i])), "products");
    let mut prg = Prg::new(&super::seed("evaluations"));
    for node in 0..NODES {
        let pairs = || evaluations[node].iter().zip(&evaluations[1 - node]).take(2_000);
        let real: Vec<Run> = pairs().map(|(own, peer)| own.run(peer)).collect();
        assert_eq!(findings(&real, 64), Vec::<String>::new(), "node {node}");
        let modulus = owns[node][0].seen.parts().iter().find(|part| part.name == "wraps").expect("noted");
        let modulus: Vec<u64> = bytemuck::pod_collect_to_vec(&modulus.bytes);
        let modulus = modulus.into_iter().find(|&wraps| wraps != 0).expect("of one in two");
        let simulated: Vec<Run> =
            pairs().map(|(own, peer)| own.run(peer).seeing(own.simulated(modulus, &mut prg).view())).collect();
        assert_eq!(indistinguishable(&real, &simulated), [], "node {node}");
    }
    // An e that is not masked: the number itself, of the rows in which it is not zero.
    let [first, second] = &evaluations;
    let bare = first.iter().zip(second).take(2_000).map(|(own, peer)| {
        let mut run = own.run(peer);
        let bare = Evaluation { masked: peer.masked.wrapping_sub(peer.zero).wrapping_add(peer.one), ..*own };
        run.view = bare.view();
        run.secret.add(
            Kind::Own,
            "the peer's strings",
            words(&[peer.masked.wrapping_sub(peer.zero).wrapping_add(peer.one)]),
        );
        run
    });
    assert!(!findings(&bare.collect::<Vec<_>>(), 64).is_empty(), "a number that is not masked is found");
}

// views: crates/mpc/src/backends/two/lookups/choose.rs
#[test]
fn chosen_elements_tell_nothing() {
    check(&CHOOSE, 3, Source::Slice, THIN);
}

// views: Two::unmask
// views: crates/mpc/src/backends/two/products/convert.rs
#[test]
fn conversions_open_what_is_masked_and_nothing_behind_it() {
    for source in [Source::Slice, Source::Concat, Source::Kept] {
        check(&UNMASK, 3, source, THIN);
    }
}

#[test]
#[ignore = "minutes: make nightly"]
fn numbers_of_many_rows_tell_nothing() {
    for protocol in [SELECT, INJECT, CHOOSE, UNMASK] {
        check_rows(&protocol, FEW.into_iter().chain([130]));
    }
    check_sources(&MULTIPLY, 3);
}

fn bytes(numbers: &[u64]) -> Vec<u8> {
    words(numbers)
}

pub(super) fn bit(words: &[u64], row: usize) -> u64 {
    words[row / 64] >> (row % 64) & 1
}

/// x (1 - 2 bit).
pub(super) fn signed(bit: u64, x: u64) -> u64 {
    if bit == 1 { x.wrapping_neg() } else { x }
}

/// The first string of each OT that this node offered is what makes its output right; all else is random.
pub(super) fn simulated_selection(_node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let mut of = Selection::random(own.input.rows, prg);
    for row in 0..own.input.rows {
        of.settle(row, own.input.r64[0][row], bit(plane(&own.input, 0), row), own.output.r64[0][row]);
    }
    [of.flips, of.masked, of.choices, of.strings, of.zero, of.one].iter().map(|part| bytes(part)).collect()
}

/// Products of bits and elements, one for each plane. Where this node gives the elements, the first strings make the
/// output right; where it gives the bits, the received strings do.
pub(super) fn simulated_injection(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let (rows, all) = (own.input.rows, words_for(own.input.rows));
    let [flips, choices] = [(); 2].map(|()| prg.vector::<u64>(all));
    let masked: Vec<u64> = prg.vector(rows);
    let [mut strings, mut zero, one] = [(); 3].map(|()| prg.vector::<u64>(64 * all));
    // Node 1 gives the elements for the first plane, node 0 for the second.
    let [given, taken] = [1 - node, node];
    for row in 0..rows {
        let (b, out) = (bit(plane(&own.input, given), row), own.output.r64[given][row]);
        let d = bit(&flips, row);
        zero[row] = signed(d, signed(b, 1).wrapping_mul(d).wrapping_add(b).wrapping_sub(out));
        let (b, out, c) = (bit(plane(&own.input, taken), row), own.output.r64[taken][row], bit(&choices, row));
        strings[row] = signed(c ^ b, out).wrapping_sub(c.wrapping_mul(masked[row]));
    }
    let messages = if node == 0 { [&masked, &flips] } else { [&flips, &masked] };
    let parts = messages.into_iter().chain([&choices, &strings, &zero, &one]);
    parts.map(|part| bytes(part)).collect()
}

/// Products of a bit and an element of each row, in both directions.
struct Selection {
    flips: Vec<u64>,
    masked: Vec<u64>,
    choices: Vec<u64>,
    strings: Vec<u64>,
    zero: Vec<u64>,
    one: Vec<u64>,
}

impl Selection {
    fn random(rows: usize, prg: &mut Prg) -> Self {
        let all = words_for(rows);
        let [flips, choices] = [(); 2].map(|()| prg.vector::<u64>(all));
        let [strings, zero, one] = [(); 3].map(|()| prg.vector::<u64>(64 * all));
        Self { flips, masked: prg.vector(rows), choices, strings, zero, one }
    }

    /// This node's share of a row, if this is the first string that it offered.
    fn share(&self, row: usize, x: u64, b: u64, zero: u64) -> u64 {
        let (c, d) = (bit(&self.choices, row), bit(&self.flips, row));
        let received = signed(c ^ b, self.strings[row].wrapping_add(c.wrapping_mul(self.masked[row])));
        let sent = x.wrapping_mul(b).wrapping_add(signed(b, x).wrapping_mul(d));
        sent.wrapping_add(received).wrapping_sub(signed(d, zero))
    }

    /// Makes a row's share what it is to be.
    fn settle(&mut self, row: usize, x: u64, b: u64, out: u64) {
        self.zero[row] = signed(bit(&self.flips, row), self.share(row, x, b, 0).wrapping_sub(out));
    }
}

/// An injection and two selections with what its shares give, of which the last one makes the output right.
fn simulated_scan(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let rows = own.input.rows;
    let mut injected = own.clone();
    injected.output.r64 = (0..2).map(|_| prg.vector(rows)).collect();
    let injection = simulated_injection(node, &injected, prg);
    let flags = &injected.output.r64;
    let (mut factors, mut base) = ([vec![0; rows], vec![0; rows]], vec![0; rows]);
    let columns = [&flags[0][..], &flags[1][..]];
    Before::start(columns).piece(columns, factors.each_mut().map(|column| &mut column[..]), &mut base);
    let mut selections = [(); 2].map(|()| Selection::random(rows, prg));
    for (row, &base) in base.iter().enumerate() {
        let bits = [0, 1].map(|which| bit(plane(&own.input, which), row));
        let number = if node == 0 { row as u64 } else { 0 };
        let [first, second] = &mut selections;
        let first = first.share(row, factors[0][row], bits[0], first.zero[row]);
        let rest = own.output.r64[0][row].wrapping_sub(base).wrapping_sub(number).wrapping_sub(first);
        second.settle(row, factors[1][row], bits[1], rest);
    }
    let mut parts = injection[..2].to_vec();
    selections.iter().for_each(|of| parts.extend([&of.flips, &of.masked].map(|part| bytes(part))));
    let strings: [fn(&Selection) -> &Vec<u64>; 4] = [|of| &of.choices, |of| &of.strings, |of| &of.zero, |of| &of.one];
    for (injected, of) in injection[2..].iter().zip(strings) {
        parts.push(selections.iter().fold(injected.clone(), |part, selection| [part, bytes(of(selection))].concat()));
    }
    parts
}

/// As [`simulated_selection`]: the first of the first strings of each product.
fn simulated_product(_node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let rows = own.input.rows;
    let packed = packed_elements(64);
    let [differences, choices] = [(); 2].map(|()| prg.vector::<u64>(rows));
    let masked: Vec<u64> = prg.vector(rows * packed);
    let [strings, mut zero, one] = [(); 3].map(|()| prg.vector::<u64>(64 * rows));
    let sum = |strings: &[u64]| weighted_sum::<u64>(&strings.iter().map(|&s| s.into()).collect::<Vec<u128>>());
    for row in 0..rows {
        let [x, y] = [0, 1].map(|which| own.input.r64[which][row]);
        let product = 64 * row..64 * (row + 1);
        let received = sum(&strings[product.clone()])
            .wrapping_add(chosen(&masked[packed * row..packed * (row + 1)], choices[row]));
        let share = x.wrapping_mul(y).wrapping_add(x.wrapping_mul(differences[row])).wrapping_add(received);
        zero[product.start] = 0;
        let others = sum(&zero[product.clone()]);
        zero[product.start] = share.wrapping_sub(own.output.r64[0][row]).wrapping_sub(others);
    }
    [differences, masked, choices, strings, zero, one].iter().map(|part| bytes(part)).collect()
}

/// The first element of the table that this node offered is what makes its output right.
fn simulated_choice(_node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let (rows, all) = (own.input.rows, words_for(own.input.rows));
    let places: [Vec<u64>; 3] = [(); 3].map(|()| prg.vector(all));
    let flips: Vec<u64> = prg.vector(3 * all);
    let entries: Vec<u64> = prg.vector(ENTRIES * rows);
    let found: Vec<u64> = prg.vector(64 * all);
    let mut tables: Vec<u64> = prg.vector(LOOKUP_STRINGS * 64 * all);
    for row in 0..rows {
        let mut table: [u64; LOOKUP_STRINGS] =
            std::array::from_fn(|t| if t == 0 { 0 } else { own.input.r64[t - 1][row] });
        for i in 0..3 {
            exchange(&mut table, i, (bit(plane(&own.input, i), row) ^ bit(&flips[i * all..], row)).wrapping_neg());
        }
        let place = (0..3).fold(0, |place, i| place | (bit(&places[i], row) as usize) << i);
        let entry = if place == 0 { 0 } else { entries[ENTRIES * row + place - 1] };
        let received = found[row].wrapping_add(entry);
        tables[LOOKUP_STRINGS * row] = table[0].wrapping_add(received).wrapping_sub(own.output.r64[0][row]);
    }
    let mut parts = places.to_vec();
    parts.extend([found, tables, flips, entries]);
    parts.iter().map(|part| bytes(part)).collect()
}

/// Node 1 gets what its output is more than its own components.
fn simulated_unmasking(node: usize, own: &Own, _prg: &mut Prg) -> Vec<Vec<u8>> {
    let message = |j: usize| own.output.bits[j].xor(&own.input.bits[j]).words().to_vec();
    if node == 0 { vec![] } else { (0..64).map(|j| words(&message(j))).collect() }
}

#[test]
fn numbers_are_simulated() {
    check_simulator(&SELECT, 3, simulated_selection);
    check_simulator(&SELECT, 65, simulated_selection);
    check_simulator(&INJECT, 3, simulated_injection);
    check_simulator(&SCAN, 3, simulated_scan);
    check_simulator(&MULTIPLY, 2, simulated_product);
    check_simulator(&UNMASK, 3, simulated_unmasking);
    check_simulator(&CHOOSE, 3, simulated_choice);
}

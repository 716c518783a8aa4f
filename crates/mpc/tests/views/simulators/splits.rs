//! Simulators of split products and of what is made of them. A node has three roles: it deals a third of the rows, it
//! is node p + 1 of the previous node's third and node p + 2 of the next one's.

use std::ops::Range;

use bytemuck::{cast_slice, pod_collect_to_vec};
use tacit_math::Ring;
use tacit_mpc::Block;
use tacit_views::{Kind, View};

use super::{NEXT, Node, PREVIOUS, ROWS, named, own_product};
use crate::world::third;

/// Bits that are cut off of a shared number: its words take one byte.
pub const BY: u32 = 5;

/// Bits that are cut off of a product: its words take two bytes.
pub const BY_OF_PRODUCT: u32 = 9;

/// Rings over which truncation is simulated.
trait Number: Ring {
    /// The first vector of a block.
    fn column(block: Block) -> Vec<Self>;
}

impl Number for u32 {
    fn column(mut block: Block) -> Vec<Self> {
        block.r32.swap_remove(0)
    }
}

impl Number for u64 {
    fn column(mut block: Block) -> Vec<Self> {
        block.r64.swap_remove(0)
    }
}

/// 2^(k-2).
fn quarter<R: Ring>() -> R {
    R::ONE.shl(R::BITS - 2)
}

/// Both components that a node holds.
type Own<R> = [Vec<R>; 2];

/// The part of both in a third.
fn part<R: Ring>(own: &Own<R>, dealer: usize) -> Own<R> {
    let rows = third(ROWS, dealer);
    [0, 1].map(|which| own[which][rows.clone()].to_vec())
}

/// Each row's number of some vectors.
fn each<R: Ring, const N: usize>(vectors: [&[R]; N], one: impl Fn([R; N]) -> R) -> Vec<R> {
    (0..vectors[0].len()).map(|i| one(vectors.map(|vector| vector[i]))).collect()
}

/// Low bytes of words, as they are sent.
fn bytes<R: Ring>(words: &[R], width: usize) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_u128().to_le_bytes()[..width].to_vec()).collect()
}

impl Node<'_> {
    fn own<R: Number>(&self, name: &str) -> Own<R> {
        [0, 1].map(|which| R::column(self.share(name, which)))
    }

    fn numbers<R: Ring>(&mut self, count: usize) -> Vec<R> {
        self.prg.vector(count)
    }

    fn draws<R: Ring>(&mut self, generator: &str, numbers: &[R]) {
        self.seen.add(Kind::Drawn, generator, cast_slice(numbers).to_vec());
    }

    fn receives(&mut self, steps: usize, bytes: Vec<u8>) {
        self.seen.add(Kind::Received, &format!("from {}", (self.node + steps) % 3), bytes);
    }

    fn next_third(&self) -> Range<usize> {
        third(ROWS, (self.node + 1) % 3)
    }
}

/// Numbers of a view: some of the first that were drawn of a generator, or that came from a node.
fn numbers_of<R: Number>(view: &View, kind: Kind, name: &str, range: Range<usize>) -> Vec<R> {
    let part = view.parts().iter().find(|part| part.kind == kind && part.name == name).expect("numbers of a run");
    let size = size_of::<R>();
    pod_collect_to_vec(&part.bytes[size * range.start..size * range.end])
}

/// s of the products that a node deals: what it computes itself, and the words that it gets.
fn summand<R: Number>(view: &View, node: usize, own: &[R]) -> Vec<R> {
    let [first, second] = [1, 2].map(|steps| {
        let name = format!("from {}", (node + steps) % 3);
        numbers_of::<R>(view, Kind::Received, &name, 0..own.len())
    });
    each([own, &first, &second], |[own, first, second]| own.add(first).add(second))
}

/// crates/mpc/src/backends/rep3/split.rs, of x^2 = s^2 + s 2 t + t^2. Components that are drawn are the result's, words
/// that are dealt are uniform. What the other node sends makes the last component the result's.
pub fn split_product(node: &mut Node<'_>) {
    let (x, y): (Own<u32>, Own<u32>) = (node.own("x"), node.own("values"));
    let [next, previous] = [(node.node + 1) % 3, (node.node + 2) % 3];
    // Of node p + 2 and p + 1: its words, its t and the component that is drawn give its part.
    let own_part = |words: &[u32], t: &[u32], h: &[u32]| {
        let (ones, others) = words.split_at(t.len());
        each([ones, others, t, h], |[one, other, t, h]| {
            one.wrapping_add(other.wrapping_mul(2).wrapping_mul(t)).wrapping_sub(h)
        })
    };
    let other_part = |own: &[u32], t: &[u32], y: &[u32]| {
        each([own, t, y], |[own, t, y]| y.wrapping_sub(t.wrapping_mul(t)).wrapping_sub(own))
    };
    let ([t, _], [last, drawn]) = (part(&x, next), part(&y, next));
    let masks: Vec<u32> = node.numbers(2 * node.next_third().len());
    node.draws(NEXT, &masks);
    node.draws(NEXT, &drawn);
    let of_previous = other_part(&own_part(&masks, &t, &drawn), &t, &last);

    let [first, second] = part(&y, node.node);
    let masks: Vec<u32> = node.numbers(2 * first.len());
    node.draws(PREVIOUS, &masks);
    node.draws(PREVIOUS, &first);
    node.draws(NEXT, &second);

    let ([_, t], [drawn, last]) = (part(&x, previous), part(&y, previous));
    let dealt: Vec<u32> = node.numbers(2 * t.len());
    node.receives(2, cast_slice(&dealt).to_vec());
    node.draws(PREVIOUS, &drawn);
    let of_next = other_part(&own_part(&dealt, &t, &drawn), &t, &last);
    node.receives(1, cast_slice(&of_next).to_vec());
    node.receives(2, cast_slice(&of_previous).to_vec());
}

/// crates/mpc/src/backends/rep3/truncate.rs.
pub fn truncate(node: &mut Node<'_>) {
    let (x, y): (Own<u32>, Own<u32>) = (node.own("x"), node.own("truncated"));
    let [next, previous] = [(node.node + 1) % 3, (node.node + 2) % 3];
    let [[of_next, _], [_, of_previous], [a, b]] = [part(&x, next), part(&x, previous), part(&x, node.node)];
    let s = each([&a, &b], |[a, b]| a.wrapping_add(b));
    // Words are elements of Z/2^32.
    truncated::<u32, u32>(node, BY, &y, [&s, &of_previous, &of_next]);
}

/// crates/mpc/src/backends/rep3/fused.rs: what a node has of products of elements.
pub fn multiply_truncate(node: &mut Node<'_>) {
    let own = own_products(node);
    masked(node, &own);
}

fn own_products(node: &Node<'_>) -> Vec<u32> {
    let [x, y]: [Own<u32>; 2] = [node.own("x"), node.own("y")];
    let rows = [&x[0][..], &x[1], &y[0], &y[1]];
    each(rows, |[x0, x1, y0, y1]| x0.mul(y0.add(y1)).add(x1.mul(y0)))
}

/// dither(s, t).
fn dither<R: Ring>(s: R, t: R, by: u32) -> R {
    let quarter = quarter::<R>();
    let s = s.add(quarter.sub(R::ONE));
    let (m, n) = (s.bit(R::BITS - 1), t.bit(R::BITS - 1));
    let wrap = m.add(n).sub(m.mul(n)).shl(R::BITS - by);
    s.shr(by).add(t.shr(by)).sub(wrap).sub(quarter.shr(by).sub(R::ONE))
}

/// How many of a node's products come out as its s says, in a view of it. first: components of all nodes by names.
pub fn fitting(view: &View, node: &Node<'_>, first: &dyn Fn(&str) -> [Vec<u32>; 3]) -> usize {
    let rows = third(ROWS, node.node);
    let s = summand(view, node.node, &own_products(node)[rows.clone()]);
    let [x, y, out] = ["x", "y", "truncated"].map(|name| {
        let [a, b, c] = first(name);
        each([&a, &b, &c], |[a, b, c]| a.add(b).add(c))
    });
    let fits = |(&s, i): (&u32, usize)| out[i] == dither(s, x[i].mul(y[i]).sub(s), BY_OF_PRODUCT);
    s.iter().zip(rows).filter(|&each| fits(each)).count()
}

/// The same of a product of matrices (crates/mpc/src/backends/rep3/bilinear.rs).
pub fn bilinear_truncate(node: &mut Node<'_>) {
    let [x, y]: [Own<u64>; 2] = [node.own("x"), node.own("y")];
    masked(node, &own_product([&x[0], &x[1]], [&y[0], &y[1]]));
}

/// The functionality gives a fresh sharing of products: s of the third that a node deals, and r of the two others. They
/// are taken from the real run, where a node computes s and draws r. One of two words gives s with the other one and
/// what the node computes.
fn masked<R: Number>(node: &mut Node<'_>, own: &[R]) {
    let (by, y): (_, Own<R>) = (BY_OF_PRODUCT, node.own("truncated"));
    let [next, previous] = [(node.node + 1) % 3, (node.node + 2) % 3];
    let real = named(&node.call.seen);
    let [rows_of_next, rows_of_previous] = [next, previous].map(|dealer| third(ROWS, dealer).len());
    let [of_previous, of_next] = [(NEXT, rows_of_previous), (PREVIOUS, rows_of_next)]
        .map(|(generator, rows)| numbers_of::<R>(&real, Kind::Drawn, generator, rows..2 * rows));
    let own = &own[third(ROWS, node.node)];
    let s = summand(&real, node.node, own);
    for (generator, r) in [(NEXT, &of_previous), (PREVIOUS, &of_next)] {
        let a: Vec<R> = node.numbers(r.len());
        node.draws(generator, &a);
        node.draws(generator, r);
    }
    let one = node.numbers(s.len());
    let other = each([&s, &one, own], |[s, one, own]| s.sub(one).sub(own));
    node.receives(1, cast_slice(&one).to_vec());
    node.receives(2, cast_slice(&other).to_vec());
    truncated::<R, u32>(node, by, &y, [&s, &of_previous, &of_next]);
}

/// The truncation of s of a node's own third and t of the two others, by words of another ring.
fn truncated<R: Number, W: Ring>(node: &mut Node<'_>, by: u32, y: &Own<R>, [s, of_previous, of_next]: [&[R]; 3]) {
    let (up, width) = (R::BITS - by, by.div_ceil(8) as usize);
    let [next, previous] = [(node.node + 1) % 3, (node.node + 2) % 3];
    let word = |x: R| W::from_u128(x.to_u128());
    // The part that a node sends, of a dealt word.
    let own_part = |words: &[W], t: &[R], h: &[W]| {
        let tops: Vec<W> = t.iter().map(|t| word(t.bit(R::BITS - 1))).collect();
        each([words, &tops, h], |[word, top, h]| word.mul(top.neg()).sub(h))
    };
    // A word of whose bits `by` are these and the others are drawn.
    let filled = |low: Vec<R>, more: &[W]| {
        let low: Vec<W> = low.into_iter().map(word).collect();
        each([&low, more], |[low, more]| low.add(more.shl(by)))
    };
    // The part that makes the last component the result's, of which more than `by` bits are sent.
    let other_part = |own: &[W], t: &[R], y: &[R], more: &[W]| {
        let sum = filled(each([t, y], |[t, y]| y.sub(t.shr(by)).shr(up)), more);
        each([&sum, own], |[sum, own]| sum.sub(own))
    };
    let less = |y: &[R], h: &[W]| {
        let h: Vec<R> = h.iter().map(|h| R::from_u128(h.to_u128()).shl(up)).collect();
        each([y, &h], |[y, h]| y.sub(h))
    };
    let [last, first] = part(y, next);
    let [words, h, more]: [Vec<W>; 3] = [(); 3].map(|()| node.numbers(of_next.len()));
    node.draws(NEXT, &less(&first, &h));
    node.draws(NEXT, &words);
    node.draws(NEXT, &h);
    let from_previous = other_part(&own_part(&words, of_next, &h), of_next, &last, &more);

    let ([first, second], quarter) = (part(y, node.node), quarter::<R>());
    let [words, h, more]: [Vec<W>; 3] = [(); 3].map(|()| node.numbers(s.len()));
    let q = less(&first, &h);
    let summand = each([s], |[s]| {
        let s = s.add(quarter.sub(R::ONE));
        s.shr(by).sub(s.bit(R::BITS - 1).shl(up)).sub(quarter.shr(by).sub(R::ONE))
    });
    let of_h = each([&second, &summand, &q], |[second, summand, q]| second.sub(summand).add(q).shr(up));
    let h_next = filled(of_h, &more);
    node.draws(PREVIOUS, &q);
    node.draws(PREVIOUS, &words);
    node.draws(PREVIOUS, &h);
    node.draws(NEXT, &h_next);

    let [first, last] = part(y, previous);
    let [words, h, more]: [Vec<W>; 3] = [(); 3].map(|()| node.numbers(of_previous.len()));
    let dealt = [cast_slice(&less(&first, &h)).to_vec(), bytes(&words, width)].concat();
    node.receives(2, dealt);
    node.draws(PREVIOUS, &h);
    let from_next = other_part(&own_part(&words, of_previous, &h), of_previous, &last, &more);
    node.receives(1, bytes(&from_next, width));
    node.receives(2, bytes(&from_previous, width));
}

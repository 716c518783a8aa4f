//! Simulators of split products and of what is made of them. A node has three roles: it deals a third of the rows, it
//! is node p + 1 of the previous node's third and node p + 2 of the next one's.

use std::ops::Range;

use bytemuck::cast_slice;
use tacit_views::Kind;

use super::{NEXT, Node, PREVIOUS, ROWS};
use crate::world::third;

/// Bits that are cut off of a shared number: its words take one byte.
pub const BY: u32 = 5;

/// Bits that are cut off of a product: its words take two bytes.
pub const BY_OF_PRODUCT: u32 = 9;

/// 2^(k-2) in Z/2^32.
const QUARTER: u32 = 1 << 30;

/// Both components that a node holds.
type Own = [Vec<u32>; 2];

/// The part of both in a third.
fn part(own: &Own, dealer: usize) -> Own {
    let rows = third(ROWS, dealer);
    [0, 1].map(|which| own[which][rows.clone()].to_vec())
}

/// Each row's number of some vectors.
fn each<const N: usize>(vectors: [&[u32]; N], one: impl Fn([u32; N]) -> u32) -> Vec<u32> {
    (0..vectors[0].len()).map(|i| one(vectors.map(|vector| vector[i]))).collect()
}

/// Low bytes of words, as they are sent.
fn bytes(words: &[u32], width: usize) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()[..width].to_vec()).collect()
}

impl Node<'_> {
    fn own(&self, name: &str) -> Own {
        [0, 1].map(|which| self.share(name, which).r32.swap_remove(0))
    }

    fn numbers(&mut self, count: usize) -> Vec<u32> {
        self.prg.vector(count)
    }

    fn draws(&mut self, generator: &str, numbers: &[u32]) {
        self.seen.add(Kind::Drawn, generator, cast_slice(numbers).to_vec());
    }

    fn receives(&mut self, steps: usize, bytes: Vec<u8>) {
        self.seen.add(Kind::Received, &format!("from {}", (self.node + steps) % 3), bytes);
    }

    fn next_third(&self) -> Range<usize> {
        third(ROWS, (self.node + 1) % 3)
    }
}

/// crates/mpc/src/backends/rep3/split.rs, of x^2 = s^2 + s 2 t + t^2. Components that are drawn are the result's, words
/// that are dealt are uniform. What the other node sends makes the last component the result's.
pub fn split_product(node: &mut Node<'_>) {
    let (x, y) = (node.own("x"), node.own("values"));
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
    let masks = node.numbers(2 * node.next_third().len());
    node.draws(NEXT, &masks);
    node.draws(NEXT, &drawn);
    let of_previous = other_part(&own_part(&masks, &t, &drawn), &t, &last);

    let [first, second] = part(&y, node.node);
    let masks = node.numbers(2 * first.len());
    node.draws(PREVIOUS, &masks);
    node.draws(PREVIOUS, &first);
    node.draws(NEXT, &second);

    let ([_, t], [drawn, last]) = (part(&x, previous), part(&y, previous));
    let dealt = node.numbers(2 * t.len());
    node.receives(2, cast_slice(&dealt).to_vec());
    node.draws(PREVIOUS, &drawn);
    let of_next = other_part(&own_part(&dealt, &t, &drawn), &t, &last);
    node.receives(1, cast_slice(&of_next).to_vec());
    node.receives(2, cast_slice(&of_previous).to_vec());
}

/// crates/mpc/src/backends/rep3/truncate.rs.
pub fn truncate(node: &mut Node<'_>) {
    let (x, y) = (node.own("x"), node.own("truncated"));
    let [next, previous] = [(node.node + 1) % 3, (node.node + 2) % 3];
    let [[of_next, _], [_, of_previous], [a, b]] = [part(&x, next), part(&x, previous), part(&x, node.node)];
    let s = each([&a, &b], |[a, b]| a.wrapping_add(b));
    truncated(node, BY, &y, [&s, &of_previous, &of_next]);
}

/// crates/mpc/src/backends/rep3/fused.rs: masks that are kept as t are those whose upper bits the result's component
/// has; the dealer's s is one whose upper bits the sum of its components has. Their low bits are uniform, as is one of
/// two words that give s.
pub fn multiply_truncate(node: &mut Node<'_>) {
    let by = BY_OF_PRODUCT;
    let ([x, z], y) = ([node.own("x"), node.own("y")], node.own("truncated"));
    let [next, previous] = [(node.node + 1) % 3, (node.node + 2) % 3];
    let low = |node: &mut Node<'_>, count| node.numbers(count).iter().map(|x| x >> (32 - by)).collect::<Vec<u32>>();
    let kept = |node: &mut Node<'_>, component: &[u32]| {
        let low = low(node, component.len());
        each([component, &low], |[component, low]| component << by | low)
    };
    let ([last_of_next, _], [_, last_of_previous]) = (part(&y, next), part(&y, previous));
    let of_previous = kept(node, &last_of_previous);
    let of_next = kept(node, &last_of_next);
    let masks = [&of_previous, &of_next].map(|r| node.numbers(r.len()));
    node.draws(NEXT, &masks[0]);
    node.draws(NEXT, &of_previous);
    node.draws(PREVIOUS, &masks[1]);
    node.draws(PREVIOUS, &of_next);

    let [first, second] = part(&y, node.node);
    let low = low(node, first.len());
    let s = each([&first, &second, &low], |[first, second, low]| {
        let upper = first.wrapping_add(second).wrapping_add((QUARTER >> by) - 1);
        (upper << by | low).wrapping_sub(QUARTER - 1)
    });
    let one = node.numbers(s.len());
    let ([x0, x1], [z0, z1]) = (part(&x, node.node), part(&z, node.node));
    let other = each([&s, &one, &x0, &x1, &z0, &z1], |[s, one, x0, x1, z0, z1]| {
        let own = x0.wrapping_mul(z0.wrapping_add(z1)).wrapping_add(x1.wrapping_mul(z0));
        s.wrapping_sub(one).wrapping_sub(own)
    });
    node.receives(1, cast_slice(&one).to_vec());
    node.receives(2, cast_slice(&other).to_vec());
    truncated(node, by, &y, [&s, &of_previous, &of_next]);
}

/// The truncation of s of a node's own third and t of the two others.
fn truncated(node: &mut Node<'_>, by: u32, y: &Own, [s, of_previous, of_next]: [&[u32]; 3]) {
    let (up, width) = (32 - by, by.div_ceil(8) as usize);
    let [next, previous] = [(node.node + 1) % 3, (node.node + 2) % 3];
    // The part that a node sends, of a dealt word.
    let own_part = |words: &[u32], t: &[u32], h: &[u32]| {
        each([words, t, h], |[word, t, h]| word.wrapping_mul((t >> 31).wrapping_neg()).wrapping_sub(h))
    };
    // The part that makes the last component the result's, of which more than `by` bits are sent.
    let other_part = |own: &[u32], t: &[u32], y: &[u32], more: &[u32]| {
        each([own, t, y, more], |[own, t, y, more]| (y.wrapping_sub(t >> by) >> up | more << by).wrapping_sub(own))
    };
    let less = |y: &[u32], h: &[u32]| each([y, h], |[y, h]| y.wrapping_sub(h << up));
    let [last, first] = part(y, next);
    let [words, h, more] = [(); 3].map(|()| node.numbers(of_next.len()));
    node.draws(NEXT, &less(&first, &h));
    node.draws(NEXT, &words);
    node.draws(NEXT, &h);
    let from_previous = other_part(&own_part(&words, of_next, &h), of_next, &last, &more);

    let [first, second] = part(y, node.node);
    let [words, h, more] = [(); 3].map(|()| node.numbers(s.len()));
    let q = less(&first, &h);
    let summand = each([s], |[s]| {
        let s = s.wrapping_add(QUARTER - 1);
        (s >> by).wrapping_sub((s >> 31) << up).wrapping_sub((QUARTER >> by) - 1)
    });
    let h_next = each([&second, &summand, &q, &more], |[second, summand, q, more]| {
        second.wrapping_sub(summand).wrapping_add(q) >> up | more << by
    });
    node.draws(PREVIOUS, &q);
    node.draws(PREVIOUS, &words);
    node.draws(PREVIOUS, &h);
    node.draws(NEXT, &h_next);

    let [first, last] = part(y, previous);
    let [words, h, more] = [(); 3].map(|()| node.numbers(of_previous.len()));
    let dealt = [cast_slice(&less(&first, &h)).to_vec(), bytes(&words, width)].concat();
    node.receives(2, dealt);
    node.draws(PREVIOUS, &h);
    let from_next = other_part(&own_part(&words, of_previous, &h), of_previous, &last, &more);
    node.receives(1, bytes(&from_next, width));
    node.receives(2, bytes(&from_previous, width));
}

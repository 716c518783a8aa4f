//! Simulators of the three nodes' protocols: each makes what a node sees from its shares in and out and from what is
//! declared, alone. The battery does not tell them from real runs, jointly with the secrets: the protocols' security
//! argument, kept executable.

mod splits;

use bytemuck::{cast_slice, pod_collect_to_vec};
use tacit_math::{Plane, Prg, Ring, Seed, permutation};
use tacit_mpc::backends::{Networked, Rep3};
use tacit_mpc::{Backend, Block, Result, Rows, Shape};
use tacit_net::PartyId;
use tacit_views::{Difference, Kind, Run, View, indistinguishable, runs_needed, seed};

use crate::methods::{Before, Square, product};
use crate::permits::permit;
use crate::watched::{Call, Shared, Watched, bundle, unwrapped};
use crate::world::{Ends, PARTIES, THIN, dealt, shape, tidy, watch};

/// Rows of every column: no bit lies behind the last one.
const ROWS: usize = 64;

/// Bits of every word that are looked at: some rows of planes, the lowest bits of numbers.
const LANES: u64 = 0x3_0000_0003;

/// What a simulator knows, and what it makes.
struct Node<'a> {
    node: usize,
    call: &'a Call,
    prg: Prg,
    seen: View,
}

impl Node<'_> {
    /// A component of the shares of this name, as a block: planes, then elements of Z/2^32, then those of Z/2^64.
    fn share(&self, name: &str, component: usize) -> Block {
        let mut block = Block { rows: ROWS, ..Block::default() };
        for shared in self.call.shared.iter().filter(|shared| shared.name == name) {
            let bytes = &shared.components[component];
            match shared.cell {
                None => block.bits.extend(bytes.chunks(ROWS / 8).map(plane)),
                Some(4) => block.r32.extend(bytes.chunks(4 * ROWS).map(pod_collect_to_vec::<u8, u32>)),
                Some(_) => block.r64.extend(bytes.chunks(8 * ROWS).map(pod_collect_to_vec::<u8, u64>)),
            }
        }
        block
    }

    /// Random numbers.
    fn random(&mut self, shape: Shape) -> Block {
        Block::random(shape, &mut self.prg)
    }

    fn drawn(&mut self, generator: &str, block: &Block) {
        columns(block).into_iter().for_each(|column| self.seen.add(Kind::Drawn, generator, column));
    }

    /// What is received of the bundle that a shuffle reveals.
    fn received_numbers(&mut self, steps: usize, block: &Block) {
        let name = format!("from {}", (self.node + steps) % 3);
        for column in &block.r32 {
            // One byte each: there are at most 256 rows.
            self.seen.add(Kind::Received, &name, column.iter().map(|number| *number as u8).collect::<Vec<_>>());
        }
    }

    fn received(&mut self, steps: usize, block: &Block) {
        let name = format!("from {}", (self.node + steps) % 3);
        columns(block).into_iter().for_each(|column| self.seen.add(Kind::Received, &name, column));
    }
}

const NEXT: &str = "with next";
const PREVIOUS: &str = "with previous";

fn plane(bytes: &[u8]) -> Plane {
    Plane::from_words(ROWS, pod_collect_to_vec(bytes))
}

fn columns(block: &Block) -> Vec<Vec<u8>> {
    let bits = block.bits.iter().map(|plane| cast_slice(plane.words()).to_vec());
    let numbers = block.r32.iter().map(|vector| cast_slice(vector).to_vec());
    bits.chain(numbers).chain(block.r64.iter().map(|vector| cast_slice(vector).to_vec())).collect()
}

/// crates/mpc/src/backends/rep3/and.rs: what is received is the second component of the product; the
/// masks are any two whose difference is the first one less what the node computes.
fn and(node: &mut Node<'_>) {
    let [x, y, z] = ["x", "y", "product"].map(|name| [0, 1].map(|which| node.share(name, which)));
    let with_next = node.random(z[0].shape());
    let local = |k: usize| {
        let [[x0, x1], [y0, y1]] = [[&x[0].bits[k], &x[1].bits[k]], [&y[0].bits[k], &y[1].bits[k]]];
        x0.and(&y0.xor(y1)).xor(&x1.and(y0))
    };
    let local = Block { rows: ROWS, bits: (0..z[0].bits.len()).map(local).collect(), ..Block::default() };
    node.drawn(NEXT, &with_next);
    node.drawn(PREVIOUS, &with_next.clone().plus(&local).minus(&z[0]));
    node.received(1, &z[1]);
}

/// crates/mpc/src/backends/rep3/multiply.rs: the same of ring elements.
fn mul(node: &mut Node<'_>) {
    let [x, y, z] = ["x", "y", "product"].map(|name| [0, 1].map(|which| node.share(name, which)));
    let with_next = node.random(z[0].shape());
    let local = |k: usize| {
        let [[x0, x1], [y0, y1]] = [[&x[0].r32[k], &x[1].r32[k]], [&y[0].r32[k], &y[1].r32[k]]];
        (0..ROWS).map(|i| x0[i].mul(y0[i].add(y1[i])).add(x1[i].mul(y0[i]))).collect()
    };
    let local = Block { rows: ROWS, r32: (0..z[0].r32.len()).map(local).collect(), ..Block::default() };
    node.drawn(NEXT, &with_next);
    node.drawn(PREVIOUS, &with_next.clone().plus(&local).minus(&z[0]));
    node.received(1, &z[1]);
}

/// A node's own part of the product of two square matrices of [`ROWS`] elements, the first one transposed.
fn own_product<R: Ring>([x0, x1]: [&[R]; 2], [y0, y1]: [&[R]; 2]) -> Vec<R> {
    const SIDE: usize = ROWS.isqrt();
    let term = |i: usize, j: usize, k: usize| {
        let (x, y) = (k * SIDE + i, k * SIDE + j);
        x0[x].mul(y0[y].add(y1[y])).add(x1[x].mul(y0[y]))
    };
    let sum = |i, j| (0..SIDE).fold(R::ZERO, |sum, k| sum.add(term(i, j, k)));
    (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))).map(|(i, j)| sum(i, j)).collect()
}

/// crates/mpc/src/backends/rep3/bilinear.rs: as a product of elements, whatever the node computes.
fn bilinear(node: &mut Node<'_>) {
    let [x, y, z] = ["x", "y", "product"].map(|name| [0, 1].map(|which| node.share(name, which)));
    let with_next = node.random(z[0].shape());
    let local = own_product([&x[0].r64[0], &x[1].r64[0]], [&y[0].r64[0], &y[1].r64[0]]);
    let local = Block { rows: ROWS, r64: vec![local], ..Block::default() };
    node.drawn(NEXT, &with_next);
    node.drawn(PREVIOUS, &with_next.clone().plus(&local).minus(&z[0]));
    node.received(1, &z[1]);
}

/// crates/mpc/src/backends/rep3/inject.rs: node 0 draws a mask and its result; nodes 1 and 2 have a random number from
/// node 0 and a part that makes theirs the result.
fn inject(node: &mut Node<'_>) {
    let [bit, out] = ["bits", "elements"].map(|name| [0, 1].map(|which| node.share(name, which)));
    let random = node.random(out[0].shape());
    let signed = |bit: &Plane, plus: u32| {
        let one = |(i, x): (usize, &u32)| if bit.get(i) { x.neg().add(plus) } else { *x };
        Block { rows: ROWS, r32: vec![random.r32[0].iter().enumerate().map(one).collect()], ..Block::default() }
    };
    match node.node {
        0 => {
            node.drawn(PREVIOUS, &random);
            node.drawn(PREVIOUS, &out[0]);
            node.drawn(NEXT, &out[1]);
        }
        1 => {
            let own = signed(&bit[1].bits[0], 0).minus(&out[0]);
            node.received(2, &random);
            node.drawn(PREVIOUS, &out[0]);
            node.received(1, &out[1].clone().minus(&own));
        }
        _ => {
            let own = signed(&bit[0].bits[0], 1).minus(&out[1]);
            node.drawn(NEXT, &random);
            node.drawn(NEXT, &out[1]);
            node.received(2, &out[0].clone().minus(&own));
        }
    }
}

/// crates/mpc/src/backends/rep3/scan.rs, of a digit of one plane: shares of its values and masked factors are uniform.
/// The masks of the last step are any two whose difference is the first component of the result less what the node has
/// computed.
fn scan_product(node: &mut Node<'_>) {
    let [digit, out] = ["digit", "places"].map(|name| [0, 1].map(|which| node.share(name, which)));
    let one = Shape { r32: 1, ..shape(ROWS) };
    let [c, first, second, with_next] = [(); 4].map(|()| node.random(one));
    let bits = |which: usize| (0..ROWS).map(|i| u32::from(digit[which].bits[0].get(i))).collect::<Vec<u32>>();
    let rows = |each: &dyn Fn(usize) -> u32| Block {
        rows: ROWS,
        r32: vec![(0..ROWS).map(each).collect()],
        ..Block::default()
    };
    let (c_j, r, r_other) = (c.r32[0].clone(), first.r32[0].clone(), second.r32[0].clone());
    let local = if node.node == 0 {
        let (x, y) = (bits(0), bits(1));
        rows(&|i| (x[i] ^ y[i]).wrapping_mul(r[i].wrapping_add(r_other[i])))
    } else {
        let d = bits(if node.node == 1 { 1 } else { 0 });
        let one = u32::from(node.node == 2);
        let x: Vec<u32> = (0..ROWS).map(|i| if d[i] == 1 { one.wrapping_sub(c_j[i]) } else { c_j[i] }).collect();
        let before = |i: usize| x[..i].iter().fold(0u32, |sum, &x| sum.wrapping_add(x));
        let number = |i: usize| if node.node == 1 { i as u32 } else { 0 };
        rows(&|i| {
            let y_0 = if d[i] == 1 { before(i) } else { 0 };
            // The factor is the base, too.
            let sum = before(i).wrapping_add(y_0).wrapping_add(number(i));
            sum.wrapping_add(c_j[i].wrapping_mul(r[i].wrapping_add(r_other[i])))
        })
    };
    // What is above the byte of a number is not sent, and not known of the mask.
    let above = node.random(one);
    let mut previous = with_next.clone().plus(&local).minus(&out[0]);
    let bits = previous.r32[0].iter_mut().zip(&above.r32[0]);
    bits.for_each(|(mask, above)| *mask = *mask & 0xff | above & !0xff);
    match node.node {
        0 => {
            node.drawn(PREVIOUS, &c);
            node.received_numbers(1, &first);
            node.received_numbers(2, &second);
            node.drawn(NEXT, &with_next);
            node.drawn(PREVIOUS, &previous);
        }
        1 => {
            node.received_numbers(2, &c);
            [&first, &second, &with_next].into_iter().for_each(|drawn| node.drawn(NEXT, drawn));
            node.drawn(PREVIOUS, &previous);
        }
        _ => {
            node.drawn(NEXT, &c);
            [&first, &second].into_iter().for_each(|drawn| node.drawn(PREVIOUS, drawn));
            node.drawn(NEXT, &with_next);
            node.drawn(PREVIOUS, &previous);
        }
    }
    node.received_numbers(1, &out[1]);
}

/// crates/mpc/src/backends/rep3/convert.rs: dealt planes are the result's components, drawn or received.
fn dealt_planes(node: &mut Node<'_>, name: &str) {
    let [mine, next] = [0, 1].map(|which| node.share(name, which));
    match node.node {
        0 => node.drawn(PREVIOUS, &mine),
        1 => node.received(2, &mine),
        _ => node.drawn(NEXT, &next),
    }
}

fn summands(node: &mut Node<'_>) {
    dealt_planes(node, "first");
}

fn mask(node: &mut Node<'_>) {
    let [mine, next] = [0, 1].map(|which| node.share("mask", which));
    if node.node != 2 {
        node.drawn(PREVIOUS, &mine);
    }
    if node.node != 1 {
        node.drawn(NEXT, &next);
    }
    dealt_planes(node, "negated");
}

/// Disclosed to nodes 1 and 2: the difference, which is the component of the result that both hold.
fn unmask(node: &mut Node<'_>) {
    let own = node.share("difference", 0).plus(&node.share("difference", 1));
    let opened = |vector: &[u32]| -> Vec<Plane> {
        (0..own.bits.len()).map(|j| Plane::from_fn(ROWS, |i| vector[i] >> j & 1 == 1)).collect()
    };
    let as_planes = |block: Block| Block { rows: ROWS, bits: opened(&block.r32[0]), ..Block::default() };
    match node.node {
        0 => {}
        1 => node.received(1, &as_planes(node.share("unmasked", 1)).minus(&own)),
        _ => node.received(2, &as_planes(node.share("unmasked", 0)).minus(&own)),
    }
}

/// crates/mpc/src/backends/rep3/shuffle.rs, in its first turn: what is received on the way is uniform, what is received
/// at the end is the result. Disclosed to all: the revealed arrangement, of which one part is uniform and the other the
/// rest.
fn shuffle(node: &mut Node<'_>) {
    let [mine, next] = [0, 1].map(|which| node.share("shuffled", which));
    let revealed: Vec<Vec<u32>> = node
        .call
        .public
        .parts()
        .iter()
        .filter(|part| part.bits() == 32 * ROWS)
        .map(|part| pod_collect_to_vec(&part.bytes))
        .collect();
    let revealed = Block { rows: ROWS, r32: revealed, ..Block::default() };
    let part = node.random(revealed.shape());
    let rest = revealed.minus(&part);
    let [rows, more] = [(); 2].map(|()| node.random(mine.shape()));
    let [masks, others] = [(); 2].map(|()| node.random(part.shape()));
    let [first, second] = [(); 2].map(|()| permutation::random(ROWS, &mut node.prg));
    match node.node {
        0 => {
            node.drawn(NEXT, &more);
            node.drawn(NEXT, &others);
            node.received(1, &next.plus(&rows).gather(&first));
            node.received_numbers(1, &part.clone().plus(&masks).gather(&first));
            node.drawn(PREVIOUS, &rows);
            node.drawn(PREVIOUS, &mine.minus(&rows));
            node.drawn(PREVIOUS, &masks);
            node.received_numbers(2, &rest);
        }
        1 => {
            node.drawn(PREVIOUS, &rows);
            node.drawn(PREVIOUS, &masks);
            node.drawn(NEXT, &more);
            node.drawn(NEXT, &others);
            node.received(2, &mine);
            node.received_numbers(2, &part);
            node.received(1, &next);
            node.received_numbers(1, &rest);
        }
        _ => {
            let arrived = mine.plus(&rows).gather(&first).minus(&more).gather(&second);
            node.received(1, &arrived);
            node.received_numbers(1, &part.clone().minus(&masks).gather(&first).minus(&others).gather(&second));
            node.drawn(PREVIOUS, &more);
            node.drawn(PREVIOUS, &others);
            node.drawn(NEXT, &next.minus(&rows));
            node.drawn(NEXT, &rows);
            node.drawn(NEXT, &masks);
            node.received_numbers(1, &rest);
        }
    }
}

/// crates/mpc/src/backends/rep3/input.rs, by node 1: the owner and the node before it draw a component, the one after
/// it receives the other.
fn input(node: &mut Node<'_>) {
    let [mine, next] = [0, 1].map(|which| node.share("shared", which));
    match node.node {
        0 => node.drawn(NEXT, &next),
        1 => node.drawn(PREVIOUS, &mine),
        _ => node.received(2, &mine),
    }
}

/// crates/mpc/src/backends/rep3/open.rs: what is received is what is opened less the node's own components.
fn open(node: &mut Node<'_>) {
    let own = node.share("rows", 0).plus(&node.share("rows", 1));
    let parts = node.call.public.parts();
    let bits = parts[0].bytes.chunks(ROWS / 8).map(plane).collect();
    let r32 = parts[1].bytes.chunks(4 * ROWS).map(pod_collect_to_vec).collect();
    node.received(2, &Block { rows: ROWS, bits, r32, ..Block::default() }.minus(&own));
}

/// A call of each protocol, with its simulator.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Protocol {
    And,
    Mul,
    Inject,
    ScanProduct,
    Summands,
    Unmask,
    Shuffle,
    ShuffleReveal,
    Input,
    Open,
    SplitProduct,
    Truncate,
    MultiplyTruncate,
    Bilinear,
    BilinearTruncate,
}

impl Protocol {
    fn shape(self) -> Shape {
        let of = |bits, r32| Shape { bits, r32, ..shape(ROWS) };
        match self {
            Self::Bilinear | Self::BilinearTruncate => Shape { r64: 2, ..shape(ROWS) },
            Self::And => of(2, 0),
            Self::Mul | Self::MultiplyTruncate => of(0, 2),
            Self::Inject | Self::ScanProduct => of(1, 0),
            Self::Summands | Self::SplitProduct | Self::Truncate => of(0, 1),
            Self::Unmask => of(32, 0),
            Self::Shuffle | Self::ShuffleReveal | Self::Input | Self::Open => of(1, 1),
        }
    }

    /// Bits of every word that are looked at. What is truncated has its words' lowest bits higher up.
    fn lanes(self) -> u64 {
        if self == Self::BilinearTruncate {
            // Words of 32 bits are among those of 64.
            return 1 << 32 | 1 | 1 << splits::BY_OF_PRODUCT | 1 << (64 - splits::BY_OF_PRODUCT);
        }
        let word = match self {
            Self::Truncate => 1 | 1 << (32 - splits::BY) | 1 << 31,
            Self::MultiplyTruncate => 1 | 1 << splits::BY_OF_PRODUCT | 1 << (32 - splits::BY_OF_PRODUCT),
            _ => return LANES,
        };
        word << 32 | word
    }

    fn run(self, b: &mut Watched<Rep3>, x: Rows<Watched<Rep3>>, plain: Block) -> Result<()> {
        let planes: Vec<_> = x.bits.iter().collect();
        match self {
            Self::And => drop(b.and(&planes[..1], &planes[1..])?),
            Self::Mul => drop(b.mul(&[&x.r32[0]], &[&x.r32[1]])?),
            Self::Inject => drop(b.inject::<u32>(&planes)?),
            Self::ScanProduct => drop(b.scan_product::<Before<1>, 1>(&planes)?),
            Self::Summands => drop(b.summands::<u32>(&[&x.r32[0]], 4)?),
            Self::Unmask => {
                let (mask, _) = b.mask::<u32>(ROWS)?;
                let _ = b.unmask(mask, &planes)?;
            }
            Self::Shuffle => drop(b.shuffle(x)?),
            Self::ShuffleReveal => {
                let numbers = b.public_vector(ROWS, || (0..ROWS as u32).collect());
                drop(b.shuffle_reveal(x, Rows { r32: vec![numbers], ..Rows::empty(ROWS) })?);
            }
            Self::Input => {
                let data = (b.node() == 1).then_some(plain);
                drop(b.input(PartyId(1), self.shape(), data)?);
            }
            Self::Open => drop(b.open(&x, permit(&PARTIES[..Rep3::NODES], x.shape()))?),
            Self::SplitProduct => drop(b.split_product(&[&x.r32[0]], &Square)?),
            Self::Truncate => drop(b.truncate(&[&x.r32[0]], splits::BY as usize)?),
            Self::MultiplyTruncate => {
                let by = splits::BY_OF_PRODUCT as usize;
                drop(b.multiply_truncate(&[vec![(&x.r32[0], &x.r32[1])]], by)?);
            }
            Self::Bilinear => drop(b.matrix_products(&[product(&x.r64[0], &x.r64[1], ROWS)])?),
            Self::BilinearTruncate => {
                let by = splits::BY_OF_PRODUCT as usize;
                drop(b.matrix_products_truncate(&[product(&x.r64[0], &x.r64[1], ROWS)], by)?);
            }
        }
        Ok(())
    }
}

/// What makes the view of a node in a call of this name.
type Simulator = fn(&mut Node<'_>);

fn simulator(call: &str) -> Simulator {
    match call {
        "and" => and,
        "mul" => mul,
        "inject" => inject,
        "scan_product" => scan_product,
        "summands" => summands,
        "mask" => mask,
        "unmask" => unmask,
        "shuffle" | "shuffle_reveal" => shuffle,
        "input" => input,
        "open" => open,
        "split_product" => splits::split_product,
        "truncate" => splits::truncate,
        "multiply_truncate" => splits::multiply_truncate,
        "bilinear" => bilinear,
        "bilinear_truncate" => splits::bilinear_truncate,
        _ => unreachable!("a protocol"),
    }
}

/// A real view with names as simulators give them.
fn named(seen: &View) -> View {
    let mut view = View::default();
    for part in seen.parts().iter().filter(|part| [Kind::Received, Kind::Drawn].contains(&part.kind)) {
        // A generator's numbers for a permutation, of which most are not used.
        if !part.bits().is_multiple_of(8 * 4096) {
            view.add(part.kind, part.name.split(" in ").next().unwrap_or_default(), part.bytes.clone());
        }
    }
    view
}

/// Real runs of a call at a node and simulated ones, with the same shares, outputs and secrets.
fn pairs(
    nodes: &[Vec<Vec<Call>>],
    node: usize,
    call: usize,
    prg: &mut Prg,
    simulator: fn(&str) -> Simulator,
    lanes: u64,
) -> [Vec<Run>; 2] {
    let each = (0..nodes[node].len()).map(|run| {
        let own = &nodes[node][run][call];
        let mut known = own.public.clone();
        let mut secret = View::default();
        for (which, shared) in own.shared.iter().enumerate() {
            let components = nodes.iter().map(|node| &node[run][call].shared[which]).collect::<Vec<&Shared>>();
            shared.components.iter().for_each(|component| known.add(Kind::Own, shared.name, component.clone()));
            let third = components[(node + 2) % 3].components[0].clone();
            secret.add(Kind::Own, shared.name, third);
        }
        let seed = Seed::from_bytes(std::array::from_fn(|_| prg.vector(1)[0]));
        let mut simulated = Node { node, call: own, prg: Prg::new(&seed), seen: View::default() };
        simulator(own.name)(&mut simulated);
        let run = |view: View| Run { view, known: known.clone(), secret: secret.clone() }.lanes(lanes);
        [run(named(&own.seen)), run(simulated.seen.joined())]
    });
    let (real, simulated) = each.map(|[real, simulated]| (real, simulated)).unzip();
    [real, simulated]
}

/// A run of a protocol at a node, on random numbers.
fn body(
    protocol: Protocol,
    seed: &Seed,
) -> impl Fn(Watched<Rep3>, usize) -> Result<(Watched<Rep3>, Ends)> + Sync + Copy {
    move |mut b, run| {
        let mut prg = Prg::new(&seed.derive(&run.to_string()));
        let plain = tidy(Block::random(protocol.shape(), &mut prg));
        let x: Rows<Rep3> = dealt(&plain, b.node(), &mut prg);
        let begin = bundle("begin", &x);
        protocol.run(&mut b, unwrapped(x), plain)?;
        Ok((b, Ends { begin, end: vec![], declared: View::default() }))
    }
}

/// What tells simulated views of a protocol from real ones, node by node and call by call.
fn differences(protocol: Protocol, simulator: fn(&str) -> Simulator) -> Vec<(usize, usize, Vec<Difference>)> {
    let seed = seed(&format!("simulation of {protocol:?}"));
    let body = body(protocol, &seed);
    let mut prg = Prg::new(&seed.derive("simulators"));
    let pilot = watch::<Rep3>(1, THIN, body);
    let calls = pilot[0][0].len() - 1;
    let places: Vec<(usize, usize)> = (0..3).flat_map(|node| (1..calls).map(move |call| (node, call))).collect();
    let needed = |&(node, call): &(usize, usize)| {
        runs_needed(&pairs(&pilot, node, call, &mut prg, simulator, protocol.lanes())[0][0])
    };
    let runs = places.iter().map(needed).max().expect("calls");
    let nodes = watch::<Rep3>(runs, THIN, body);
    let found = places.into_iter().map(|(node, call)| {
        let [real, simulated] = pairs(&nodes, node, call, &mut prg, simulator, protocol.lanes());
        (node, call, indistinguishable(&real, &simulated))
    });
    found.collect()
}

#[test]
fn simulated_views_of_three_nodes_are_like_real_ones() {
    use Protocol::{And, Inject, Input, Mul, Open, ScanProduct, Shuffle, ShuffleReveal, Summands, Unmask};
    use Protocol::{Bilinear, BilinearTruncate, MultiplyTruncate, SplitProduct, Truncate};
    let older = [And, Mul, Inject, ScanProduct, Summands, Unmask, Shuffle, ShuffleReveal, Input, Open];
    for protocol in older.into_iter().chain([SplitProduct, Truncate, MultiplyTruncate, Bilinear, BilinearTruncate]) {
        for (node, call, found) in differences(protocol, simulator) {
            assert!(
                found.is_empty(),
                "{protocol:?}, node {node}, call {call}: {} differences, {:?}",
                found.len(),
                found[0]
            );
        }
    }
}

#[test]
fn a_simulator_that_leaves_a_relation_out_is_told_apart() {
    // All that is seen is uniform, and so it is here; but not with the product's shares, which the node has too.
    let careless: fn(&str) -> Simulator = |_| {
        |node: &mut Node<'_>| {
            let shape = node.share("product", 0).shape();
            let [next, previous, received] = [(); 3].map(|()| node.random(shape));
            node.drawn(NEXT, &next);
            node.drawn(PREVIOUS, &previous);
            node.received(1, &received);
        }
    };
    // A word of a plane, and one a number.
    for (protocol, words) in [(Protocol::And, 1), (Protocol::Bilinear, ROWS)] {
        for (node, _, found) in differences(protocol, careless) {
            let relations = found.iter().filter(|found| matches!(found, Difference::Relation { real: true, .. }));
            let expected = words * LANES.count_ones() as usize;
            assert_eq!(relations.count(), expected, "{protocol:?}: node {node} receives its second component");
        }
    }
}

#[test]
fn uniform_words_alone_are_told_from_truncations() {
    // Of the same sizes as what is seen, but without the result.
    let careless: fn(&str) -> Simulator = |call| {
        if call != "truncate" {
            return |_: &mut Node<'_>| {};
        }
        |node: &mut Node<'_>| {
            splits::truncate(node);
            for part in std::mem::take(&mut node.seen).parts() {
                let bytes: Vec<u8> = node.prg.vector(part.bytes.len());
                node.seen.add(part.kind, &part.name, bytes);
            }
        }
    };
    let found = differences(Protocol::Truncate, careless);
    assert_eq!(found.len(), 3, "a call at each node");
    assert!(found.iter().all(|(_, _, found)| !found.is_empty()), "what is seen makes the result");
}

/// The dealer's s of a fused product, and what is left of the product, decide how the result is rounded. Whoever knows
/// the product and the result sees whether the s of a view fits.
#[test]
fn a_simulated_dealer_has_an_s_that_fits_the_result() {
    const RUNS: usize = 8;
    let protocol = Protocol::MultiplyTruncate;
    let seed = seed("s of a dealer");
    let nodes = watch::<Rep3>(RUNS, THIN, body(protocol, &seed));
    let mut prg = Prg::new(&seed.derive("simulators"));
    let [mut real, mut simulated, mut careless] = [0; 3];
    for (node, run) in (0..3).flat_map(|node| (0..RUNS).map(move |run| (node, run))) {
        let at = |node: usize| -> &Call {
            nodes[node][run].iter().find(|call| call.name == "multiply_truncate").expect("the call")
        };
        let first = |name: &str| -> [Vec<u32>; 3] {
            [0, 1, 2]
                .map(|node| at(node).shared.iter().find(|shared| shared.name == name).expect("shares"))
                .map(|shared| pod_collect_to_vec(&shared.components[0]))
        };
        let one = Seed::from_bytes(std::array::from_fn(|_| prg.vector(1)[0]));
        let mut one = Node { node, call: at(node), prg: Prg::new(&one), seen: View::default() };
        splits::multiply_truncate(&mut one);
        let seen = std::mem::take(&mut one.seen).joined();
        let mut uniform = View::default();
        for part in seen.parts() {
            uniform.add(part.kind, &part.name, one.prg.vector::<u8>(part.bytes.len()));
        }
        real += splits::fitting(&named(&one.call.seen), &one, &first);
        simulated += splits::fitting(&seen, &one, &first);
        careless += splits::fitting(&uniform, &one, &first);
    }
    assert_eq!([real, simulated], [RUNS * ROWS; 2], "s fits");
    assert!(careless < RUNS * ROWS * 3 / 4, "words of its own have an s that fits {careless} times");
}

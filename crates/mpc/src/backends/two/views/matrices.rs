//! Products of matrices that are made as a whole.

use tacit_math::matrix::Element;
use tacit_views::{Kind, Run, View, indistinguishable};

use super::{NODES, Own, Protocol, Source, Strings, THIN, findings, shape, watch};
use crate::backends::two::{Share, Two, strategy};
use crate::{Backend, Block, MatrixProduct, Result, Rows, Shape};

/// Enough products to be made so, and enough elements to be runs.
const SIZES: [usize; 3] = [64, 8, 32];
const ROWS: usize = SIZES[0] * SIZES[1];

/// The columns of a ring.
trait Columned: Element {
    const SHAPE: Shape;
    fn shares(rows: &Rows<Two>) -> &[Share<Vec<Self>>];
    fn rows(column: Vec<Share<Vec<Self>>>) -> Rows<Two>;
    fn columns(block: &Block) -> &[Vec<Self>];
}

macro_rules! columned {
    ($ring:ty, $columns:ident) => {
        impl Columned for $ring {
            const SHAPE: Shape = Shape { $columns: 2, ..shape(0, 0) };
            fn shares(rows: &Rows<Two>) -> &[Share<Vec<Self>>] {
                &rows.$columns
            }
            fn rows(column: Vec<Share<Vec<Self>>>) -> Rows<Two> {
                Rows { $columns: column, ..Rows::empty(SIZES[0] * SIZES[2]) }
            }
            fn columns(block: &Block) -> &[Vec<Self>] {
                &block.$columns
            }
        }
    };
}

columned!(u64, r64);
columned!(u128, r128);

fn product<R: Columned>(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let [left, right] = R::shares(&x) else { panic!("two columns") };
    let product = MatrixProduct::new(left, right, SIZES);
    assert!(strategy::multiplies_matrices(&product.bilinear().form, size_of::<R>()));
    Ok(R::rows(b.matrix_products(&[product])?))
}

fn words<R: Columned>(words: &[R]) -> Vec<u8> {
    bytemuck::cast_slice(words).to_vec()
}

fn multiplied<R: Columned>(x: &[R], y: &[R]) -> Vec<R> {
    let [rows, inner, columns] = SIZES;
    let term = |i: usize, t: usize, j: usize| x[i * inner + t].mul(y[t * columns + j]);
    let element = |i, j| (0..inner).fold(R::ZERO, |sum, t| sum.add(term(i, t, j)));
    (0..rows).flat_map(|i| (0..columns).map(move |j| element(i, j))).collect()
}

/// The product of what a node has by itself.
fn own_part<R: Columned>(own: &Own) -> Vec<R> {
    let columns = R::columns(&own.input);
    multiplied(&columns[0], &columns[1])
}

/// The parts of a node's view that are its shares, and the lengths of what it received.
fn parts<R: Columned>(own: &Own) -> (Vec<R>, Vec<usize>) {
    let received = own.seen.parts().iter().filter(|part| part.kind == Kind::Received).map(|part| part.bytes.len());
    let shares = own.seen.parts().iter().find(|part| part.name == "shares").expect("noted");
    (bytemuck::pod_collect_to_vec(&shares.bytes), received.collect())
}

fn tells_nothing<R: Columned>(name: &str) {
    let whole = Protocol { name, shape: R::SHAPE, strings: Strings::None, used: None, run: &product::<R> };
    let owns = watch(&whole, ROWS, Source::Dealt, THIN, 1);
    let [first, second] = owns.each_ref().map(|own| &own[0]);
    let [x, y] = [0, 1].map(|which| -> Vec<R> {
        let pairs = R::columns(&first.input)[which].iter().zip(&R::columns(&second.input)[which]);
        pairs.map(|(a, b)| a.add(*b)).collect()
    });
    let exact = multiplied(&x, &y);
    for node in 0..NODES {
        let (own, peer) = (&owns[node][0], &owns[1 - node][0]);
        let (shares, received) = parts::<R>(own);
        assert!(received.len() == 2 && received.iter().all(|&bytes| bytes > 1 << 17), "a request and an answer");
        let local = own_part::<R>(own);
        let [out, of_peer, inputs] = [&own.output, &peer.output, &peer.input].map(|block| &R::columns(block)[0]);
        let run = |i: usize, share: R| Run {
            view: View::default().with(Kind::Drawn, "share", words(&[share])),
            known: View::default().with(Kind::Own, "output", words(&[out[i]])),
            secret: View::default().with(Kind::Own, "product", words(&[exact[i], inputs[i % ROWS]])),
        };
        let real: Vec<Run> = (0..2_000).map(|i| run(i, shares[i])).collect();
        assert_eq!(findings(&real, 64), Vec::<String>::new(), "node {node}");
        let simulated: Vec<Run> = (0..2_000).map(|i| run(i, out[i].sub(local[i]))).collect();
        assert_eq!(indistinguishable(&real, &simulated), [], "node {node}");
        assert!(real.iter().zip(&simulated).all(|(real, simulated)| real.view == simulated.view));
        assert!((0..exact.len()).all(|i| out[i].add(of_peer[i]) == exact[i]));
    }
    // Where the other node would draw no mask, a share is the product less what both compute alone.
    let [local, theirs] = [first, second].map(own_part::<R>);
    let bare: Vec<Run> = (0..2_000)
        .map(|i| Run {
            view: View::default().with(Kind::Drawn, "share", words(&[exact[i].sub(local[i]).sub(theirs[i])])),
            known: View::default(),
            secret: View::default().with(Kind::Own, "product", words(&[exact[i].sub(local[i]), theirs[i]])),
        })
        .collect();
    assert!(!findings(&bare, 64).is_empty(), "a share that is not masked is found");
}

/// An encrypted product gives each node a share, here noted as from a dealer; its messages are those of its own room,
/// and there are no others. A simulator takes from the output what the node computes alone: the share. Every element is
/// a run.
// views: crates/mpc/src/backends/two/products/matrices.rs
#[test]
fn products_of_matrices_as_a_whole_tell_nothing() {
    tells_nothing::<u64>("matrices as a whole");
    tells_nothing::<u128>("matrices of 128 bits as a whole");
}

//! Products of matrices that are made as a whole.

use tacit_views::{Kind, Run, View, indistinguishable};

use super::{NODES, Own, Protocol, Source, Strings, THIN, findings, shape, watch, words};
use crate::backends::two::{Two, strategy};
use crate::{Backend, MatrixProduct, Result, Rows};

/// Enough products to be made so, and enough elements to be runs.
const SIZES: [usize; 3] = [64, 8, 32];
const ROWS: usize = SIZES[0] * SIZES[1];

fn product(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let product = MatrixProduct::new(&x.r64[0], &x.r64[1], SIZES);
    assert!(strategy::multiplies_matrices(&product.bilinear().form, 8));
    Ok(Rows { r64: b.matrix_products(&[product])?, ..Rows::empty(SIZES[0] * SIZES[2]) })
}

const WHOLE: Protocol<'_> =
    Protocol { name: "matrices as a whole", shape: shape(0, 2), strings: Strings::None, used: None, run: &product };

fn multiplied(x: &[u64], y: &[u64]) -> Vec<u64> {
    let [rows, inner, columns] = SIZES;
    let term = |i: usize, t: usize, j: usize| x[i * inner + t].wrapping_mul(y[t * columns + j]);
    let element = |i, j| (0..inner).fold(0_u64, |sum, t| sum.wrapping_add(term(i, t, j)));
    (0..rows).flat_map(|i| (0..columns).map(move |j| element(i, j))).collect()
}

/// The parts of a node's view that are its shares, and the lengths of what it received.
fn parts(own: &Own) -> (Vec<u64>, Vec<usize>) {
    let received = own.seen.parts().iter().filter(|part| part.kind == Kind::Received).map(|part| part.bytes.len());
    let shares = own.seen.parts().iter().find(|part| part.name == "shares").expect("noted");
    (bytemuck::pod_collect_to_vec(&shares.bytes), received.collect())
}

/// An encrypted product gives each node a share, here noted as from a dealer; its messages are those of its own room,
/// and there are no others. A simulator takes from the output what the node computes alone: the share. Every element is
/// a run.
// views: crates/mpc/src/backends/two/products/matrices.rs
#[test]
fn products_of_matrices_as_a_whole_tell_nothing() {
    let owns = watch(&WHOLE, ROWS, Source::Dealt, THIN, 1);
    let [first, second] = owns.each_ref().map(|own| &own[0]);
    let [x, y] = [0, 1].map(|which| -> Vec<u64> {
        let pairs = first.input.r64[which].iter().zip(&second.input.r64[which]);
        pairs.map(|(a, b)| a.wrapping_add(*b)).collect()
    });
    let exact = multiplied(&x, &y);
    for node in 0..NODES {
        let (own, peer) = (&owns[node][0], &owns[1 - node][0]);
        let (shares, received) = parts(own);
        assert!(received.len() == 2 && received.iter().all(|&bytes| bytes > 1 << 17), "a request and an answer");
        let local = multiplied(&own.input.r64[0], &own.input.r64[1]);
        let run = |i: usize, share: u64| Run {
            view: View::default().with(Kind::Drawn, "share", words(&[share])),
            known: View::default().with(Kind::Own, "output", words(&[own.output.r64[0][i]])),
            secret: View::default().with(Kind::Own, "product", words(&[exact[i], peer.input.r64[0][i % ROWS]])),
        };
        let real: Vec<Run> = (0..2_000).map(|i| run(i, shares[i])).collect();
        assert_eq!(findings(&real, 64), Vec::<String>::new(), "node {node}");
        let simulated: Vec<Run> = (0..2_000).map(|i| run(i, own.output.r64[0][i].wrapping_sub(local[i]))).collect();
        assert_eq!(indistinguishable(&real, &simulated), [], "node {node}");
        assert!(real.iter().zip(&simulated).all(|(real, simulated)| real.view == simulated.view));
        assert!((0..exact.len()).all(|i| own.output.r64[0][i].wrapping_add(peer.output.r64[0][i]) == exact[i]));
    }
    // Where the other node would draw no mask, a share is the product less what both compute alone.
    let [local, theirs] = [first, second].map(|own| multiplied(&own.input.r64[0], &own.input.r64[1]));
    let bare: Vec<Run> = (0..2_000)
        .map(|i| Run {
            view: View::default().with(
                Kind::Drawn,
                "share",
                words(&[exact[i].wrapping_sub(local[i]).wrapping_sub(theirs[i])]),
            ),
            known: View::default(),
            secret: View::default().with(Kind::Own, "product", words(&[exact[i].wrapping_sub(local[i]), theirs[i]])),
        })
        .collect();
    assert!(!findings(&bare, 64).is_empty(), "a share that is not masked is found");
}

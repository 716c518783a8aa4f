use crate::pair::{cost, generator, run};
use crate::relay;
use tacit_math::Ring;
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::OtError;
use tacit_ot::ole::{self, BLOCK, CrossProducts, Ole};

/// Pairs of both parties, the extreme ones first.
fn numbers(count: usize) -> [[Vec<i64>; 2]; 2] {
    const EXTREMES: [i64; 5] = [i64::MIN, i64::MAX, 0, -1, 1];
    let mut prg = generator("OLE");
    let mut column = |step: usize| {
        let mut column: Vec<i64> = prg.vector(count);
        column.iter_mut().take(25).enumerate().for_each(|(i, x)| *x = EXTREMES[i / step % 5]);
        column
    };
    [[column(1), column(1)], [column(5), column(5)]]
}

fn check<R: Ring>(counts: &[usize]) {
    let inputs: Vec<_> = counts.iter().map(|&count| numbers(count)).collect();
    let party = |session: &mut Session| {
        let me = session.me().0;
        session.enter("setup");
        let mut ole = Ole::setup(session, PartyId(1 - me)).expect("an honest peer");
        session.leave();
        session.enter("products");
        let products = |input: &[[Vec<i64>; 2]; 2]| {
            let [x, y] = &input[me];
            let products = ole.cross_products(session, x.len(), |at| x[at].to_vec(), |at| y[at].to_vec());
            products.expect("an honest peer")
        };
        let products: Vec<CrossProducts<R>> = inputs.iter().map(products).collect();
        session.leave();
        let snapshot = session.meter().snapshot();
        (products, [cost(&snapshot.under("protocol/setup")), cost(&snapshot.under("protocol/products"))])
    };
    let ((alice, _), (bob, _)) = run(party, party);
    for ((input, a), b) in inputs.iter().zip(&alice.0).zip(&bob.0) {
        let [[x0, y0], [x1, y1]] = input;
        for i in 0..x0.len() {
            let product = |x: i64, y: i64| (i128::from(x) * i128::from(y)) as u128;
            let expected = R::from_u128(product(x0[i], y1[i]).wrapping_add(product(x1[i], y0[i])));
            let lacks = |bits: &CrossProducts<R>, wraps: &CrossProducts<R>| match bits.bits[i / 64] >> (i % 64) & 1 {
                1 => wraps.wraps[i],
                _ => R::ZERO,
            };
            let sum = a.shares[i].add(b.shares[i]).add(lacks(a, b)).add(lacks(b, a));
            assert_eq!(sum, expected, "product {i} of {}", x0.len());
        }
    }
    let setup = ole::setup_cost();
    let products = counts.iter().map(|&count| ole::cost(count)).sum::<Traffic>();
    for costs in [alice.1, bob.1] {
        assert_eq!(costs, [setup, products].map(|cost| (cost.rounds, cost.sender)));
    }
    assert_eq!((setup.sender, products.sender), (setup.receiver, products.receiver));
}

#[test]
fn shares_add_up_to_products() {
    check::<u128>(&[1, 0, BLOCK + 5]);
    check::<u64>(&[BLOCK, 33 * BLOCK + 100]);
    check::<u32>(&[70]);
}

fn party(session: &mut Session) -> Result<CrossProducts<u64>, OtError> {
    let mut ole = Ole::setup(session, PartyId(1 - session.me().0))?;
    let zeros = |range: std::ops::Range<usize>| vec![0; range.len()];
    ole.cross_products(session, 100, zeros, zeros)
}

#[test]
fn numbers_that_are_no_residues_are_refused() {
    let honest = |session: &mut Session| drop(party(session).expect("an honest peer"));
    let messages = relay::record(honest, honest);
    let residues = |bytes: usize| bytes > 1000;
    for target in (0..messages.len()).filter(|&i| residues(messages[i].bytes)) {
        let tamper = |number: usize, bytes: &mut [u8]| {
            if number == target {
                let end = bytes.len();
                bytes[end - 100_000..].fill(0xff);
            }
        };
        let (a, b) = relay::run(&messages, party, party, tamper);
        let cheating = |error: Option<OtError>| matches!(error, Some(OtError::Cheating { .. }));
        assert!(cheating(a.err()) || cheating(b.err()), "message {target}");
    }
    assert!(messages.iter().filter(|message| residues(message.bytes)).count() >= 6);
}

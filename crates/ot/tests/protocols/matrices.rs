use crate::pair::{cost, generator, run};
use crate::relay;
use tacit_math::Ring;
use tacit_net::{Options, PartyId, Session, Traffic, memory};
use tacit_ot::OtError;
use tacit_ot::ole::matrices::{self, Product, Sizes};
use tacit_ot::ole::{self, Ole};

const fn sizes([rows, inner, columns]: [usize; 3]) -> Sizes {
    Sizes { rows, inner, columns }
}

/// One party's shares of both matrices.
struct Shares<R> {
    sizes: Sizes,
    left: Vec<R>,
    right: Vec<R>,
}

impl<R: Ring> Shares<R> {
    /// The sum of what two parties get: cross products alone.
    fn cross(&self, other: &Self) -> Vec<R> {
        let Sizes { rows, inner, columns } = self.sizes;
        let element = |i: usize, j: usize| {
            let term = |t: usize| {
                let [x, y] = [i * inner + t, t * columns + j];
                self.left[x].mul(other.right[y]).add(other.left[x].mul(self.right[y]))
            };
            (0..inner).map(term).fold(R::ZERO, R::add)
        };
        (0..rows).flat_map(|i| (0..columns).map(move |j| element(i, j))).collect()
    }
}

/// Elements of both matrices by row and column.
fn product<R: Ring, T>(shares: &Shares<R>, with: impl FnOnce(&Product<'_, R>) -> T) -> T {
    let left = |row: usize, inner: usize| shares.left[row * shares.sizes.inner + inner];
    let right = |inner: usize, column: usize| shares.right[inner * shares.sizes.columns + column];
    with(&Product { sizes: shares.sizes, left: &left, right: &right })
}

/// Products in one call; every party's shares by what `draw` gives for it.
fn check<R: Ring>(all: &[[usize; 3]], draw: impl Fn(usize, usize) -> Vec<R>) {
    let all: Vec<Sizes> = all.iter().copied().map(sizes).collect();
    let of = |party: usize| -> Vec<Shares<R>> {
        let shares = |&sizes: &Sizes| Shares {
            sizes,
            left: draw(party, sizes.rows * sizes.inner),
            right: draw(party, sizes.inner * sizes.columns),
        };
        all.iter().map(shares).collect()
    };
    let inputs = [of(0), of(1)];
    let party = |session: &mut Session| {
        let me = session.me().0;
        session.enter("setup");
        let mut ole = Ole::setup(session, PartyId(1 - me)).expect("an honest peer");
        session.leave();
        session.enter("products");
        let own = &inputs[me];
        let lefts: Vec<_> = own.iter().map(|of| move |i: usize, t: usize| of.left[i * of.sizes.inner + t]).collect();
        let rights: Vec<_> =
            own.iter().map(|of| move |t: usize, j: usize| of.right[t * of.sizes.columns + j]).collect();
        let products: Vec<Product<'_, R>> =
            (0..own.len()).map(|i| Product { sizes: own[i].sizes, left: &lefts[i], right: &rights[i] }).collect();
        let shares = ole.matrix_products(session, &products).expect("an honest peer");
        session.leave();
        let snapshot = session.meter().snapshot();
        (shares, [cost(&snapshot.under("protocol/setup")), cost(&snapshot.under("protocol/products"))])
    };
    let ((alice, _), (bob, _)) = run(party, party);
    for (i, (a, b)) in alice.0.iter().zip(&bob.0).enumerate() {
        let sums: Vec<R> = a.iter().zip(b).map(|(a, b)| a.add(*b)).collect();
        assert!(sums == inputs[0][i].cross(&inputs[1][i]), "{:?} of {} bits", all[i], R::BITS);
    }
    let (setup, products) = (ole::setup_cost(), matrices::cost(&all, R::BITS));
    for costs in [alice.1, bob.1] {
        assert_eq!(costs, [setup, products].map(|cost: Traffic| (cost.rounds, cost.sender)));
    }
    assert_eq!(products.sender, products.receiver);
}

/// Zeros and empty matrices, rows and columns, and sizes around the ends of blocks.
const SIZES: [[usize; 3]; 11] = [
    [1, 1, 1],
    [0, 3, 2],
    [3, 0, 2],
    [2, 3, 0],
    [1, 300, 1],
    [1, 7, 90],
    [90, 7, 1],
    [25, 26, 27],
    [3, 16_385, 1],
    [129, 2, 65],
    [64, 16, 17],
];

fn random<R: Ring>() -> impl Fn(usize, usize) -> Vec<R> {
    |party, count| {
        let drawn: Vec<u128> = generator(&format!("shares of {party}, {count}")).vector(count);
        drawn.into_iter().map(R::from_u128).collect()
    }
}

#[test]
fn shares_add_up_to_products_of_matrices() {
    check::<u64>(&SIZES, random());
    check::<u128>(&SIZES, random());
    check::<u64>(&[], random());
}

/// All zero, all 2^(k-1) and all 2^k - 1, at both parties.
#[test]
fn extreme_shares_add_up_to_products_of_matrices() {
    fn extremes<R: Ring>() {
        let all = [R::ZERO, R::ONE.shl(R::BITS - 1), R::ZERO.sub(R::ONE)];
        for (a, b) in all.into_iter().flat_map(|a| all.map(|b| (a, b))) {
            check(&[[9, 200, 11]], |party, count| vec![[a, b][party]; count]);
        }
    }
    extremes::<u64>();
    extremes::<u128>();
}

/// More inner blocks than requests are kept, several units of rows, and several batches.
#[test]
#[ignore = "minutes: make nightly"]
fn large_products_of_matrices_go_in_batches() {
    check::<u64>(&[[3, 1_200_000, 3], [40, 40, 40], [200_000, 8, 2], [2, 5_000, 400]], random());
    check::<u128>(&[[512, 512, 512]], random());
}

fn party(session: &mut Session) -> Result<Vec<Vec<u64>>, OtError> {
    let mut ole = Ole::setup(session, PartyId(1 - session.me().0))?;
    let shares = Shares { sizes: sizes([3, 4, 5]), left: vec![0; 12], right: vec![0; 20] };
    product(&shares, |product| ole.matrix_products(session, std::slice::from_ref(product)))
}

#[test]
fn messages_of_numbers_that_are_no_residues_are_refused() {
    let honest = |session: &mut Session| drop(party(session).expect("an honest peer"));
    let messages = relay::record(honest, honest);
    let residues = |bytes: usize| bytes > 1000;
    for target in (0..messages.len()).filter(|&i| residues(messages[i].bytes)) {
        let tamper = |number: usize, bytes: &mut [u8]| {
            if number == target {
                let end = bytes.len();
                bytes[end - 80_000..].fill(0xff);
            }
        };
        let (a, b) = relay::run(&messages, party, party, tamper);
        let cheating = |error: Option<OtError>| matches!(error, Some(OtError::Cheating { .. }));
        assert!(cheating(a.err()) || cheating(b.err()), "message {target}");
    }
    assert!(messages.iter().filter(|message| residues(message.bytes)).count() >= 6);
}

/// A peer whose matrices have other sizes sends answers that are longer or shorter: what is left of one, or lacks, ends
/// the session.
#[test]
fn answers_of_other_lengths_are_refused() {
    let party = |session: &mut Session, [rows, inner, columns]: [usize; 3]| {
        let mut ole = Ole::setup(session, PartyId(1 - session.me().0))?;
        let (left, right) = (vec![1; rows * inner], vec![1_u64; inner * columns]);
        let shares = Shares { sizes: sizes([rows, inner, columns]), left, right };
        product(&shares, |product| ole.matrix_products(session, std::slice::from_ref(product)))
    };
    let [mut a, mut b]: [Session; 2] =
        memory::mesh(&["alice", "bob"], &Options::default()).try_into().expect("two parties");
    let both = std::thread::scope(|scope| {
        let alice = scope.spawn(move || party(&mut a, [8, 4, 5]).is_ok() && a.close().is_ok());
        let bob = scope.spawn(move || party(&mut b, [8, 4, 7]).is_ok() && b.close().is_ok());
        [alice, bob].map(|party| party.join().expect("a party"))
    });
    assert_eq!(both, [false; 2]);
}

//! What a party can compute from its view of products of matrices: of the peer's key, request and answer, and of its
//! shares.

use tacit_math::ntt::DEGREE;
use tacit_math::{Prg, Ring, Seed};
use tacit_net::PartyId;
use tacit_views::{Kind, Run, View, biased, constants, correlated, indistinguishable, leaks, play, runs_needed};

use super::super::planes::unpack_residues;
use super::super::{Ole, REQUEST, SEED};
use super::base::{Base, base};
use super::{Product, Sizes};

const ALICE: PartyId = PartyId(0);

/// A product with two elements.
const SIZES: Sizes = Sizes { rows: 2, inner: 1, columns: 1 };
const RESULTS: usize = 2;
const RUNS: usize = 140;

/// Numbers of each polynomial that are looked at, and bits of each: two of them are equal in a number that is small.
const FEW: usize = 2;
const LANES: u64 = 1 << 40 | 1 << 30 | 1;

fn words<R: Ring>(words: &[R]) -> Vec<u8> {
    bytemuck::cast_slice(words).to_vec()
}

/// Of a request coefficients modulo its first prime, among them those of elements.
fn of_request(base: &Base, mut request: &[u8]) -> Vec<u64> {
    let limb = 0;
    let mut polynomial = vec![0; DEGREE];
    assert!(unpack_residues(&mut request, base.prime(limb).number(), &mut polynomial), "residues");
    base.prime(limb).backward(&mut polynomial, base.plain_scale(limb));
    polynomial[..FEW].to_vec()
}

/// Of an answer all coefficients of the first polynomial that it has modulo the first prime that stays, and some of the
/// second one.
fn of_answer(base: &Base, mut answer: &[u8]) -> Vec<u64> {
    assert_eq!(answer.len(), base.answer(RESULTS));
    let prime = base.kept_primes().next().expect("a prime");
    let [mut c_0, mut c_1] = [vec![0; 8], vec![0; DEGREE]];
    let fits = [&mut c_0, &mut c_1].map(|words| unpack_residues(&mut answer, prime.number(), words));
    assert_eq!(fits, [true; 2], "residues");
    [&c_0[..RESULTS], &c_1[..FEW]].concat()
}

/// What Alice has of a run in which all her elements are one, so that results are sums of Bob's elements.
struct Seen<R> {
    request: Vec<u64>,
    answer: Vec<u64>,
    shares: Vec<R>,
}

impl<R: Ring> Seen<R> {
    fn view(&self) -> View {
        View::default()
            .with(Kind::Received, "request", words(&self.request))
            .with(Kind::Received, "answer", words(&self.answer))
            .with(Kind::Derived, "shares", words(&self.shares))
    }

    /// From nothing.
    fn simulated(prg: &mut Prg) -> Self {
        Self { request: prg.vector(FEW), answer: prg.vector(RESULTS + FEW), shares: prg.vector(RESULTS) }
    }
}

/// Alice's view, Bob's elements, and the results that both parties' shares add up to.
fn run<R: Ring>(prg: &mut Prg) -> (Seen<R>, Vec<R>, Vec<R>) {
    let of_bob: Vec<R> = prg.vector(3);
    let played = play(&["alice", "bob"], 1, |mut session, _| {
        let me = session.me();
        let left = |row: usize, _| if me == ALICE { R::ONE } else { of_bob[row] };
        let right = |_, _| if me == ALICE { R::ONE } else { of_bob[2] };
        let mut ole = Ole::setup(&mut session, PartyId(1 - me.0)).expect("an honest peer");
        let product = Product { sizes: SIZES, left: &left, right: &right };
        let shares = ole.matrix_products(&mut session, &[product]).expect("an honest peer").remove(0);
        (session, shares)
    });
    let [alice, bob]: [Vec<_>; 2] = played.try_into().expect("two parties");
    let ((view, own), (_, theirs)) = (&alice[0], &bob[0]);
    let base = base(R::BITS);
    let received = view.filter(|part| part.kind == Kind::Received);
    let messages: Vec<&[u8]> = received.parts().iter().map(|part| &part.bytes[..]).collect();
    // A request of 128 bits is as long as a key.
    let lengths = [SEED, REQUEST, base.request(), base.answer(RESULTS)];
    assert!(messages.iter().map(|message| message.len()).eq(lengths), "a seed, a key, a request and an answer");
    let sums: Vec<R> = own.iter().zip(theirs).map(|(own, theirs)| own.add(*theirs)).collect();
    assert_eq!(sums, [0, 1].map(|row| of_bob[row].add(of_bob[2])));
    let [request, answer] = [of_request(base, messages[2]), of_answer(base, messages[3])];
    let seen = Seen { request, answer, shares: own.clone() };
    (seen, of_bob, sums)
}

fn are_uniform<R: Ring>(seed: u8) {
    let mut prg = Prg::new(&Seed::from_bytes([seed; 16]));
    let (mut real, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (seen, elements, sums) = run::<R>(&mut prg);
        let secret = View::default().with(Kind::Own, "Bob's elements", words(&elements));
        let run = Run { view: seen.view(), known: View::default(), secret };
        bare.push(run.seeing(View::default().with(Kind::Derived, "sums", words(&sums))).lanes(LANES));
        real.push(run.lanes(LANES));
    }
    assert!(RUNS >= runs_needed(&real[0]), "{}", runs_needed(&real[0]));
    assert_eq!((leaks(&real), correlated(&real)), (vec![], vec![]));
    let received: Vec<View> = real.iter().map(|run| run.view.only(&[Kind::Received])).collect();
    assert_eq!((constants(&received), biased(&received)), (vec![], vec![]));
    let made: Vec<Run> = real
        .iter()
        .map(|run| Run { view: Seen::<R>::simulated(&mut prg).view().lanes(LANES), ..run.clone() })
        .collect();
    assert_eq!(indistinguishable(&real, &made), []);
    // Shares without the answerer's mask are the results: their lowest bits are those of Bob's elements.
    assert_eq!(leaks(&bare).len(), RESULTS);
}

// views: crates/ot/src/ole/matrices.rs crates/ot/src/ole/matrices/ask.rs crates/ot/src/ole/matrices/answer.rs
#[test]
fn requests_answers_and_shares_are_uniform() {
    are_uniform::<u64>(93);
}

#[test]
fn requests_answers_and_shares_of_128_bits_are_uniform() {
    are_uniform::<u128>(94);
}

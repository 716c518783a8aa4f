//! What a party can compute from its view of products: of the peer's key, request and answer, and of its shares.

use tacit_math::ntt::DEGREE;
use tacit_math::{Prg, Seed};
use tacit_net::PartyId;
use tacit_views::{Kind, Run, View, biased, constants, correlated, indistinguishable, leaks, play, runs_needed};

use super::moduli::{DROPPED, moduli};
use super::planes::{bytes, unpack_residues};
use super::sample::errors;
use super::{ANSWER, Ole, PLACES, REQUEST};

const ALICE: PartyId = PartyId(0);
const PRODUCTS: usize = 2;
const RUNS: usize = 140;

/// Numbers of each polynomial that are looked at, and bits of each: two of them are equal in a number that is small.
const FEW: usize = 2;
const LANES: u64 = 1 << 40 | 1 << 30 | 1;

fn words(words: &[u64]) -> Vec<u8> {
    bytemuck::cast_slice(words).to_vec()
}

/// Of a request coefficients modulo the first prime of P, of which its numbers are multiples, and values modulo the
/// first prime of T.
fn of_request(mut request: &[u8]) -> Vec<u64> {
    let (moduli, mut polynomial, mut out) = (moduli(), vec![0; DEGREE], Vec::new());
    for (i, prime) in moduli.primes.iter().enumerate() {
        assert!(unpack_residues(&mut request, prime.number(), &mut polynomial), "residues");
        if i == 0 {
            prime.backward(&mut polynomial, &moduli.plain[0]);
        }
        if i == 0 || i == DROPPED {
            out.extend(&polynomial[..FEW]);
        }
    }
    out
}

/// Of an answer coefficients of both polynomials modulo the first prime of T.
fn of_answer(answer: &[u8]) -> Vec<u64> {
    let (mut polynomial, mut out) = (vec![0; DEGREE], Vec::new());
    let mut rest = &answer[bytes(PLACES[0]) + bytes(PLACES[1])..];
    for _ in 0..2 {
        assert!(unpack_residues(&mut rest, moduli().kept()[0].number(), &mut polynomial), "residues");
        out.extend(&polynomial[..FEW]);
    }
    out
}

/// What Alice has of a run in which all her numbers are one, so that a sum of products is the sum of Bob's numbers.
struct Seen {
    key: Vec<u64>,
    request: Vec<u64>,
    answer: Vec<u64>,
    shares: Vec<u64>,
    /// Bits as words of equal bits: her own ones, and whether she has to add T where Bob's are one.
    bits: Vec<u64>,
    wraps: Vec<u64>,
}

impl Seen {
    fn view(&self) -> View {
        View::default()
            .with(Kind::Received, "key", words(&self.key))
            .with(Kind::Received, "request", words(&self.request))
            .with(Kind::Received, "answer", words(&self.answer))
            .with(Kind::Derived, "shares", words(&self.shares))
            .with(Kind::Derived, "bits", words(&self.bits))
            .with(Kind::Derived, "wraps", words(&self.wraps))
    }

    /// From nothing.
    fn simulated(prg: &mut Prg) -> Self {
        let mut bits = || prg.vector::<u64>(PRODUCTS).into_iter().map(|word| 0u64.wrapping_sub(word & 1)).collect();
        let (bits, wraps) = (bits(), bits());
        let mut some = |count: usize| prg.vector::<u64>(count);
        Self { key: some(2 * FEW), request: some(2 * FEW), answer: some(2 * FEW), shares: some(PRODUCTS), bits, wraps }
    }
}

/// Alice's view, Bob's numbers, and the sums that both parties' shares add up to.
fn run(prg: &mut Prg) -> (Seen, Vec<u64>, Vec<u64>) {
    let of_bob: [Vec<i64>; 2] = [prg.vector(PRODUCTS), prg.vector(PRODUCTS)];
    let played = play(&["alice", "bob"], 1, |mut session, _| {
        let me = session.me();
        let numbers = |which: usize| if me == ALICE { vec![1; PRODUCTS] } else { of_bob[which].clone() };
        let mut ole = Ole::setup(&mut session, PartyId(1 - me.0)).expect("an honest peer");
        let [x, y] = [0, 1].map(|which| move |range: std::ops::Range<usize>| numbers(which)[range].to_vec());
        let products = ole.cross_products::<u64>(&mut session, PRODUCTS, x, y).expect("an honest peer");
        (session, products)
    });
    let [alice, bob]: [Vec<_>; 2] = played.try_into().ok().expect("two parties");
    let ((view, own), (_, theirs)) = (&alice[0], &bob[0]);
    let received = |length: usize| -> Vec<Vec<u8>> {
        let parts = view.filter(|part| part.kind == Kind::Received && part.bytes.len() == length);
        parts.parts().iter().map(|part| part.bytes.clone()).collect()
    };
    let (requests, answers) = (received(REQUEST), received(ANSWER));
    assert_eq!((requests.len(), answers.len()), (2, 1), "a key and a request; an answer");
    let all = |bits: u64| (0..PRODUCTS).map(|i| 0u64.wrapping_sub(bits >> i & 1)).collect::<Vec<u64>>();
    let [bits, of_bits] = [own, theirs].map(|party| all(party.bits[0]));
    let sums: Vec<u64> = (0..PRODUCTS)
        .map(|i| {
            let wraps = (bits[i] & theirs.wraps[i]).wrapping_add(of_bits[i] & own.wraps[i]);
            own.shares[i].wrapping_add(theirs.shares[i]).wrapping_add(wraps)
        })
        .collect();
    let expected = of_bob[0].iter().zip(&of_bob[1]).map(|(x, y)| x.wrapping_add(*y) as u64);
    assert!(sums.iter().copied().eq(expected));
    let seen = Seen {
        key: of_request(&requests[0]),
        request: of_request(&requests[1]),
        answer: of_answer(&answers[0]),
        shares: own.shares.clone(),
        bits,
        wraps: own.wraps.iter().map(|&wrap| 0u64.wrapping_sub(u64::from(wrap != 0))).collect(),
    };
    (seen, of_bob.concat().into_iter().map(|x| x as u64).collect(), sums)
}

// views: crates/ot/src/ole.rs crates/ot/src/ole/ask.rs crates/ot/src/ole/answer.rs
#[test]
fn keys_requests_answers_and_shares_are_uniform() {
    let mut prg = Prg::new(&Seed::from_bytes([91; 16]));
    let (mut real, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (seen, numbers, sums) = run(&mut prg);
        let secret = View::default().with(Kind::Own, "Bob's numbers", words(&numbers));
        let run = Run { view: seen.view(), known: View::default(), secret };
        bare.push(run.seeing(View::default().with(Kind::Derived, "sums", words(&sums))).lanes(LANES));
        real.push(run.lanes(LANES));
    }
    assert!(RUNS >= runs_needed(&real[0]), "{}", runs_needed(&real[0]));
    assert_eq!((leaks(&real), correlated(&real)), (vec![], vec![]));
    let received: Vec<View> = real.iter().map(|run| run.view.only(&[Kind::Received])).collect();
    assert_eq!((constants(&received), biased(&received)), (vec![], vec![]));
    let made: Vec<Run> =
        real.iter().map(|run| Run { view: Seen::simulated(&mut prg).view().lanes(LANES), ..run.clone() }).collect();
    assert_eq!(indistinguishable(&real, &made), []);
    // Shares without the answerer's mask are the sums: their lowest bits are those of Bob's numbers.
    assert_eq!(leaks(&bare).len(), PRODUCTS);
}

/// A request without a secret is an error and no more, where its numbers are not: a small number of either sign.
#[test]
fn requests_without_a_secret_are_found() {
    let mut prg = Prg::new(&Seed::from_bytes([92; 16]));
    let (prime, mut polynomial) = (&moduli().primes[0], vec![0; DEGREE]);
    let views: Vec<View> = (0..RUNS)
        .map(|_| {
            errors(&mut prg, &mut polynomial);
            let mut residues = vec![0; DEGREE];
            prime.add(&mut residues, &polynomial);
            View::default().with(Kind::Received, "request", words(&residues[..FEW])).lanes(LANES)
        })
        .collect();
    assert!(constants(&views).len() >= FEW);
}

//! The answerer: multiplies encrypted blocks by blocks of its matrix, adds them up, masks the sums, and hides what they
//! were made of.

use tacit_math::ntt::{DEGREE, PRIME_BITS};
use tacit_math::{Ring, lanes};
use zeroize::Zeroizing;

use super::super::answer::Answerer;
use super::super::planes::{pack, unpack_residues};
use super::super::sample::{digits, errors, ternary, uniform};
use super::base::{Base, FLOOD_DIGITS, Halves, halves, padded};

/// Factors that are transformed before they meet the requests: products are reduced together.
const AT_ONCE: usize = 4;

/// A request: for each prime the values of b and of a.
pub(super) type Request = Vec<[Vec<u64>; 2]>;

/// What one answer is drawn from, and the places of its results.
struct Drawn<'a> {
    places: &'a [usize],
    /// u and e''.
    ternary: Zeroizing<Vec<u64>>,
    error: Zeroizing<Vec<u64>>,
    /// f, as digits.
    flood: [Zeroizing<Vec<u64>>; FLOOD_DIGITS],
    /// The remainders of the masks, as halves.
    masks: Halves,
}

/// A block polynomial of which these are the coefficients, at their places below a length and zero elsewhere.
pub(super) fn factor<R: Ring>(base: &Base, length: usize, block: impl Iterator<Item = (usize, R)>) -> Halves {
    let mut y = base.zeros(padded(length));
    for (place, number) in block {
        y.iter_mut().zip(halves(number)).for_each(|(y, half)| y[place] = half);
    }
    y
}

impl Answerer {
    /// Reads a request. None if it has numbers that are no residues.
    pub(super) fn read(&mut self, base: &Base, mut message: &[u8]) -> Option<Request> {
        assert_eq!(message.len(), base.request(), "a whole request");
        let residues = (0..base.limbs.len()).map(|limb| {
            let number = base.prime(limb).number();
            let mut values = [(); 2].map(|()| vec![0; DEGREE]);
            let fits = unpack_residues(&mut message, number, &mut values[0]);
            uniform(&mut self.public, number, &mut values[1]);
            fits.then_some(values)
        });
        residues.collect()
    }

    /// For each row of requests the sum of its requests times the factors, as a message that has the coefficients at
    /// the given places alone; and their masks.
    pub(super) fn answer_blocks<R: Ring>(
        &mut self,
        base: &Base,
        requests: &[Vec<Request>],
        factors: &[Halves],
        places: &[Vec<usize>],
    ) -> Vec<(Vec<u8>, Vec<R>)> {
        let (masks, drawn) = self.draw::<R>(base, places);
        let limbs = lanes::map(true, (0..base.limbs.len()).collect(), |limb| {
            self.residues(base, limb, (requests, factors), &drawn)
        });
        let mut rows: Vec<[Vec<Vec<u64>>; 2]> = drawn.iter().map(|_| Default::default()).collect();
        for of_rows in limbs {
            for (row, polynomials) in rows.iter_mut().zip(of_rows) {
                row.iter_mut().zip(polynomials).for_each(|(limbs, polynomial)| limbs.push(polynomial));
            }
        }
        let message = |mut polynomials: [Vec<Vec<u64>>; 2]| {
            polynomials.iter_mut().for_each(|c| base.divide(c));
            let [c_0, c_1] = &polynomials;
            let mut message = Vec::new();
            for polynomial in c_0.iter().zip(c_1).flat_map(|(c_0, c_1)| [c_0, c_1]) {
                pack(polynomial, PRIME_BITS, &mut message);
            }
            message
        };
        lanes::map(true, rows, message).into_iter().zip(masks).collect()
    }

    /// The masks of all rows, and what each row's answer is drawn from.
    fn draw<'a, R: Ring>(&mut self, base: &Base, places: &'a [Vec<usize>]) -> (Vec<Vec<R>>, Vec<Drawn<'a>>) {
        let masks: Vec<Vec<R>> = places.iter().map(|places| self.secret.vector(places.len())).collect();
        let drawn = places.iter().zip(&masks).map(|(places, masks)| self.draw_row(base, places, masks)).collect();
        (masks, drawn)
    }

    fn draw_row<'a, R: Ring>(&mut self, base: &Base, places: &'a [usize], masks: &[R]) -> Drawn<'a> {
        let length = padded(places.len());
        let fresh = |length: usize| Zeroizing::new(vec![0; length]);
        let mut drawn = Drawn {
            places,
            ternary: fresh(DEGREE),
            error: fresh(DEGREE),
            flood: std::array::from_fn(|_| fresh(length)),
            masks: base.zeros(length),
        };
        ternary(&mut self.secret, &mut drawn.ternary);
        errors(&mut self.secret, &mut drawn.error);
        drawn.flood.iter_mut().for_each(|words| digits(&mut self.secret, base.flood_bits, words));
        for (i, &mask) in masks.iter().enumerate() {
            drawn.masks.iter_mut().zip(base.remainder(mask)).for_each(|(words, half)| words[i] = half);
        }
        drawn
    }

    /// Modulo one prime: for each row the coefficients of c_0 that are told, and all of c_1.
    fn residues(
        &self,
        base: &Base,
        limb: usize,
        (requests, factors): (&[Vec<Request>], &[Halves]),
        drawn: &[Drawn<'_>],
    ) -> Vec<[Vec<u64>; 2]> {
        let (prime, place) = (base.prime(limb), base.limbs[limb]);
        let mut sums: Vec<[Vec<u64>; 2]> = drawn.iter().map(|_| [(); 2].map(|()| vec![0; DEGREE])).collect();
        let mut y: [Zeroizing<Vec<u64>>; AT_ONCE] = std::array::from_fn(|_| Zeroizing::new(vec![0; DEGREE]));
        for (part, factors) in factors.chunks(AT_ONCE).enumerate() {
            for (y, factor) in y.iter_mut().zip(factors) {
                y.fill(0);
                base.add_plain(limb, &mut y[..factor[0].len()], factor);
                prime.forward(y);
            }
            for (sums, requests) in sums.iter_mut().zip(requests) {
                let requests = &requests[part * AT_ONCE..][..factors.len()];
                for (side, sum) in sums.iter_mut().enumerate() {
                    let pair = |i: usize| [&requests[i][limb][side][..], &y[i][..]];
                    match factors.len() {
                        AT_ONCE => prime.add_products(sum, std::array::from_fn::<_, AT_ONCE, _>(pair)),
                        few => (0..few).for_each(|i| prime.add_products(sum, [pair(i)])),
                    }
                }
            }
        }
        // The encryption of zero times u; then what is told of c_0, masked and with its noise, and c_1 with its error.
        let end = |(mut c, drawn): ([Vec<u64>; 2], &Drawn<'_>)| {
            let mut u = Zeroizing::new(vec![0; DEGREE]);
            prime.add(&mut u, &drawn.ternary);
            prime.forward(&mut u);
            for (c, zero) in c.iter_mut().zip(&self.zero[place]) {
                prime.add_products(c, [[zero, &u]]);
                prime.backward(c, base.plain_scale(limb));
            }
            let [product, mut c_1] = c;
            prime.add(&mut c_1, &drawn.error);
            let mut c_0: Vec<u64> = drawn.places.iter().map(|&place| product[place]).collect();
            c_0.resize(padded(c_0.len()), 0);
            let mut f = Zeroizing::new(vec![0; c_0.len()]);
            base.flood(limb, &mut f, drawn.flood.each_ref().map(|words| &words[..]));
            prime.add(&mut c_0, &f);
            base.add_rounded(limb, &mut c_0, &drawn.masks);
            [c_0, c_1]
        };
        sums.into_iter().zip(drawn).map(end).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::base::base;
    use super::super::fresh::{are_errors, centred, coefficients, difference, moments, product};
    use super::super::tests::parties;
    use super::*;

    fn signed(words: &[u64]) -> Vec<i64> {
        words.iter().map(|&word| word as i64).collect()
    }

    /// Digits of noise, of all draws: each is uniform, and no two are alike.
    fn are_digits(lists: &[&[u64]], bits: u32) {
        let lists: Vec<Vec<i64>> = lists.iter().map(|list| signed(list)).collect();
        let bound = f64::from(bits).exp2();
        for (number, list) in lists.iter().enumerate() {
            assert!(list.iter().all(|digit| (*digit as u64) < 1 << bits), "digit {number}");
            for before in &lists[..number] {
                let (means, variances, correlation) = moments([before, list]);
                assert!(means.iter().all(|mean| (mean / bound - 0.5).abs() < 0.02), "{means:?}");
                assert!(variances.iter().all(|variance| (variance * 12.0 / bound.powi(2) - 1.0).abs() < 0.05));
                assert!(correlation.abs() < 0.05, "digit {number}: {correlation}");
            }
        }
    }

    fn answers_are_rerandomised<R: Ring>() {
        let base = base(R::BITS);
        let (mut asker, mut answerer) = parties();
        let message = asker.ask_block(base, [(0, R::ONE)].into_iter(), Vec::new());
        let request = answerer.read(base, &message).expect("residues");
        let requests: Vec<Vec<Request>> = (0..4).map(|_| vec![request.clone()]).collect();
        let factors = [factor(base, 3, [(0, R::ZERO.sub(R::ONE)), (2, R::ONE)].into_iter())];
        let places = [(); 2].map(|()| (0..DEGREE).collect::<Vec<_>>());
        // Two rows of one call and two of another.
        let drawn: Vec<Drawn<'_>> = (0..2).flat_map(|_| answerer.draw::<R>(base, &places).1).collect();
        let pairs = || (0..4).flat_map(|row| (0..row).map(move |before| [before, row]));
        let u: Vec<Vec<i64>> = drawn.iter().map(|drawn| signed(&drawn.ternary)).collect();
        assert!(u.iter().flatten().all(|u| u.abs() <= 1));
        for [before, row] in pairs() {
            let (means, variances, correlation) = moments([&u[before], &u[row]]);
            assert!(means.iter().all(|mean| mean.abs() < 0.05), "{means:?}");
            assert!(variances.iter().all(|variance| (variance * 1.5 - 1.0).abs() < 0.05), "{variances:?}");
            assert!(correlation.abs() < 0.05, "u of answers {before} and {row}: {correlation}");
        }
        let digits: Vec<&[u64]> = drawn.iter().flat_map(|drawn| &drawn.flood).map(|digits| &digits[..]).collect();
        are_digits(&digits, base.flood_bits);
        let errors = |limb: usize| -> Vec<Vec<i64>> {
            let prime = base.prime(limb);
            let known = product(base, limb, &request, &factors[0]);
            let rows = answerer.residues(base, limb, (&requests, &factors), &drawn);
            let error = |([_, c_1], drawn): (&[Vec<u64>; 2], &Drawn<'_>)| {
                let [mut u, mut masked] = [vec![0; DEGREE], vec![0; DEGREE]];
                prime.add(&mut u, &drawn.ternary);
                prime.forward(&mut u);
                prime.add_products(&mut masked, [[&answerer.zero[base.limbs[limb]][1], &u]]);
                let rest = difference(prime, c_1, &coefficients(base, limb, &masked));
                centred(prime, &difference(prime, &rest, &known))
            };
            rows.iter().zip(&drawn).map(error).collect()
        };
        let first = errors(0);
        pairs().for_each(|[before, row]| are_errors([&first[before], &first[row]]));
        assert!((1..base.limbs.len()).all(|limb| errors(limb) == first), "one e'' modulo all primes");
    }

    /// What is left of c_1 without a y and p u is e'': dividing by P hides it from whoever sees an answer.
    #[test]
    fn answers_have_a_ternary_polynomial_and_an_error_of_their_own() {
        answers_are_rerandomised::<u64>();
        answers_are_rerandomised::<u128>();
    }
}

//! Silent correlations: the noise against every attack known on the syndromes of a public binary code of rate one half.

use tacit_math::code::{BLOCK, WORDS};
use tacit_math::gf::{Field, Gf64, Gf128};
use tacit_ot::silent::noise::{DISTANCE, LEAST, Noise, least_weight};
use tacit_ot::silent::{cot, lookup, vole};

use crate::bound::{Bound, Kind};
use crate::numbers::{log2_choose, log2_sum};

/// Positions in which Stern's lists differ at most; more never helps here.
const MOST_LISTED: usize = 6;

/// Widest window of a collision of Stern's lists.
const WIDEST_WINDOW: usize = 140;

/// The heaviest outer words that are counted; heavier ones give fewer words of few changes.
const HEAVIEST: usize = 140;

/// How words are counted.
const FIRST_MOMENT: &str = "first moment over permutations: Divsalar, Jin, McEliece (Allerton 1998)";

/// A correlation of which a run makes vectors: the longest ones, or shorter ones that hand out less.
struct Correlation {
    name: &'static str,
    /// Values are from a field of 2^bits elements.
    bits: usize,
    longest: Noise,
    /// What the longest vector hands out. The other outputs are kept for the next one.
    handed_out: usize,
}

impl Correlation {
    /// The lowest bound of each attack, over the shapes that vectors have: of the least number of segments the longest,
    /// and each that is half as long; and the shortest.
    fn bounds(&self, count: f64) -> Vec<Bound> {
        let (kept, least) = (self.longest.outputs - self.handed_out, least_weight(self.bits));
        let halved = std::iter::successors(Some(self.longest.outputs), |outputs| Some(outputs / 2));
        let shapes = halved.take_while(|&outputs| outputs > LEAST).chain([LEAST]);
        let of_shape = |outputs: usize| {
            let noise = Noise::new(outputs, self.bits);
            assert!(noise.segments == least || outputs == LEAST, "halves of the longest vector have as many segments");
            let vectors = (count / (outputs - kept) as f64).ceil().max(1.0);
            Use { name: self.name, bits: self.bits, noise, vectors }.bounds()
        };
        let mut lowest: Vec<Bound> = Vec::new();
        for bounds in shapes.map(of_shape) {
            if lowest.is_empty() {
                lowest = bounds;
                continue;
            }
            for (least, bound) in lowest.iter_mut().zip(bounds) {
                if bound.bits < least.bits {
                    *least = bound;
                }
            }
        }
        lowest
    }
}

/// A shape of a correlation's vectors, and how many of them a run makes.
struct Use {
    name: &'static str,
    bits: usize,
    noise: Noise,
    vectors: f64,
}

impl Use {
    fn weight(&self) -> f64 {
        self.noise.segments as f64
    }

    fn length(&self) -> f64 {
        self.noise.length() as f64
    }

    /// Dimension of the code whose errors the noise is: places that a set of information has.
    fn dimension(&self) -> f64 {
        self.length() - self.noise.outputs.next_multiple_of(BLOCK) as f64
    }

    fn bound(&self, attack: &str, bits: f64, kind: Kind, source: &'static str) -> Bound {
        let Self { name, noise, vectors, .. } = self;
        let with = format!("t {}, N {}, 2^{:.1} vectors", noise.segments, noise.length(), vectors.log2());
        Bound { what: format!("{name}: {attack}"), with, bits, kind, source }
    }

    /// Each attack has to look at every vector that it attacks. A linear test and a guess of places serve all vectors
    /// of a run, as the code is the same. But a vector falls by each with the same probability, so the work for one
    /// success does not shrink.
    fn bounds(&self) -> Vec<Bound> {
        let ones = self.bits == 1;
        let lessens = if ones { 2.0 } else { 1.0 };
        let linear = -self.weight() * (1.0 - lessens * DISTANCE).log2();
        let mut bounds = vec![
            self.bound(
                "linear tests at pseudo-distance",
                linear,
                Kind::Hardness,
                "Couteau, Rindal, Raghuraman (CRYPTO 2021), section 2; distance: libOTe",
            ),
            self.bound(
                "information sets, common supports",
                self.information_sets(),
                Kind::Hardness,
                "Prange (1962) on 2^s - 1 sums of syndromes; Metzner, Kapturowski (1990)",
            ),
            self.bound(
                "collisions of lists, one of many vectors",
                self.stern() - 0.5 * self.vectors.log2(),
                Kind::Hardness,
                "Stern (1988); Dumer (1991); one of many: Sendrier (PQCrypto 2011)",
            ),
        ];
        if ones {
            let changes = self.changes();
            bounds.push(self.bound(
                &format!("words of at most {changes} changes"),
                -log2_sum(&self.words(changes)),
                Kind::Words,
                FIRST_MOMENT,
            ));
            bounds.push(self.bound(
                "tests of few changes, over the code's seed",
                self.few_changes(changes),
                Kind::Statistical,
                FIRST_MOMENT,
            ));
        }
        bounds
    }

    /// A guess of places without noise. For ones each segment's parity check is known too (Esser, Santini, CRYPTO
    /// 2024), so that one place fewer a segment is needed. Else a sum of the 2^s syndromes vanishes at a noisy place
    /// with probability one half.
    fn information_sets(&self) -> f64 {
        if self.bits == 1 {
            let known = self.dimension() - self.weight();
            return -self.weight() * (1.0 - known / self.length()).log2();
        }
        let sums = (self.bits as f64).exp2();
        -self.weight() * 0.75f64.log2() - (sums - 1.0).log2()
    }

    /// The best cost over p and l: lists of p of half of the places, which agree in a window of l bits. A step of a
    /// list costs one, an elimination a quarter of the square of the dimension in words of 64 bits.
    fn stern(&self) -> f64 {
        let (n, weight) = (self.length(), self.noise.segments);
        let sums = if self.bits == 1 { 0.0 } else { self.bits as f64 };
        let dimension = self.dimension() + sums;
        let elimination = 2.0 * self.dimension().log2() - 6.0;
        let mut least = f64::INFINITY;
        for p in 0..=MOST_LISTED {
            for window in (0..WIDEST_WINDOW).step_by(2) {
                let l = window as f64;
                let half = ((dimension + l) / 2.0).floor();
                let list = log2_choose(half, p as f64);
                // Words that sums of syndromes show have any weight up to t; ones show one word of weight t.
                let lightest = if self.bits == 1 { weight } else { 2 * p };
                let found: Vec<f64> = (lightest..=weight)
                    .map(|w| {
                        let w = w as f64;
                        let words =
                            if self.bits == 1 { 0.0 } else { log2_choose(self.weight(), w) + sums - self.weight() };
                        words + 2.0 * list + log2_choose(n - dimension - l, w - 2.0 * p as f64) - log2_choose(n, w)
                    })
                    .collect();
                let lists = if p == 0 { 0.0 } else { (list + 1.0).max(2.0 * list - l) };
                least = least.min(lists.max(elimination) - log2_sum(&found).min(0.0));
            }
        }
        least
    }

    /// The probabilities that `changes` changes of a test, each in a uniform segment, touch 0, 1, 2, ... segments.
    fn touched(&self, changes: usize) -> Vec<f64> {
        let segments = self.weight();
        let mut chances = vec![0.0; changes + 1];
        chances[0] = 1.0;
        for _ in 0..changes {
            for touched in (1..=changes).rev() {
                let (before, stays) = ((touched - 1) as f64, touched as f64 / segments);
                chances[touched] = chances[touched] * stays + chances[touched - 1] * (1.0 - before / segments);
            }
            chances[0] = 0.0;
        }
        chances
    }

    /// The most changes of a test along the noise that leave regular noise of ones a bias of 2^-128 or more. A place
    /// that is uniform in a segment with one or two changes at uniform positions divides the bias by e in the mean. One
    /// in a segment without a change leaves it as it is.
    fn changes(&self) -> usize {
        let bits = |changes| -> f64 {
            let each = (0..).zip(self.touched(changes)).map(|(touched, chance)| f64::from(touched) * chance);
            f64::log2(f64::exp(1.0)) * each.sum::<f64>()
        };
        (1..).take_while(|&changes| bits(changes) <= 128.0).last().unwrap_or(0)
    }

    /// log2 of the expected number of words of h changes, for h from 1 to `changes`: words of the blocks whose running
    /// sums, after a random permutation, have h ones. They are inputs of the last accumulator, each of whose ones is a
    /// change of a test along the noise.
    fn words(&self, changes: usize) -> Vec<f64> {
        let n = self.length();
        let in_block =
            |w: usize| if w.is_multiple_of(4) { WORDS.get(w / 4).map_or(0.0, |&words| words as f64) } else { 0.0 };
        // Coefficients of the product over all blocks: f = (1 + g)^m fulfils f' (1 + g) = m g' f.
        let blocks = self.noise.outputs.div_ceil(BLOCK) as f64;
        let mut words = vec![0.0; HEAVIEST + 1];
        words[0] = 1.0;
        for k in 1..=HEAVIEST {
            let sum: f64 = (1..=k).map(|j| (blocks * j as f64 - (k - j) as f64) * in_block(j) * words[k - j]).sum();
            words[k] = sum / k as f64;
        }
        // Of weight w, h ones after summing: C(n - h, floor(w/2)) C(h - 1, ceil(w/2) - 1) of C(n, w).
        let of_changes = |h: usize| {
            let of_weight = (1..=HEAVIEST).filter(|&w| words[w] > 0.0).map(|w| {
                let (down, up) = ((w / 2) as f64, w.div_ceil(2) as f64);
                words[w].log2() + log2_choose(n - h as f64, down) + log2_choose(h as f64 - 1.0, up - 1.0)
                    - log2_choose(n, w as f64)
            });
            log2_sum(&of_weight.collect::<Vec<_>>())
        };
        (1..=changes).map(of_changes).collect()
    }

    /// Bits of the advantage, over the code's seed, of whoever finds all words of few changes and applies them to every
    /// vector. Each segment that a word touches halves its bias in the mean, or more. The mean of |1 - 2u| is one half
    /// for a change at u, and for two changes at a distance of u.
    fn few_changes(&self, changes: usize) -> f64 {
        let bias = |changes| {
            let of_segments =
                (0..).zip(self.touched(changes)).map(|(touched, chance)| chance.log2() - f64::from(touched));
            log2_sum(&of_segments.collect::<Vec<_>>())
        };
        let each = (1..)
            .zip(self.words(changes))
            .map(|(changes, words)| words + (0.5 * self.vectors.log2() + bias(changes)).min(0.0));
        -log2_sum(&each.collect::<Vec<_>>())
    }
}

/// Bounds of `count` correlations of the engine `two`.
pub fn of_correlations(count: f64) -> Vec<Bound> {
    let [ots, lookups] = [cot::largest(), lookup::largest()];
    let all = [
        Correlation { name: "silent OT", bits: 1, longest: cot::noise(ots), handed_out: ots },
        Correlation {
            name: "silent lookups",
            bits: lookup::WIDTH,
            longest: lookup::noise(lookups),
            handed_out: lookups,
        },
    ];
    all.iter().flat_map(|correlation| correlation.bounds(count)).collect()
}

/// Bounds of VOLE for `count` columns of stores.
pub fn of_columns(count: f64) -> Vec<Bound> {
    [over::<Gf64>("VOLE over GF(2^64)"), over::<Gf128>("VOLE over GF(2^128)")]
        .iter()
        .flat_map(|correlation| correlation.bounds(count))
        .collect()
}

fn over<F: Field>(name: &'static str) -> Correlation {
    let longest = Noise::new(vole::largest::<F>(), F::BITS);
    Correlation { name, bits: F::BITS, longest, handed_out: vole::handed_out::<F>() }
}

//! Oblivious linear evaluation and products of matrices by ring-LWE: hardness by the published table, and what rounding
//! leaves.

use tacit_ot::ole::{self, Parameters, matrices};

use crate::bound::{Bound, Kind};

/// Dimension and the largest log2 q for 128 bits against classical computers with a ternary secret: Albrecht et al.,
/// *Homomorphic Encryption Standard*, 2018, table 1.
const TABLE: [(usize, f64); 6] =
    [(1024, 27.0), (2048, 54.0), (4096, 109.0), (8192, 218.0), (16384, 438.0), (32768, 881.0)];

/// The standard deviation of errors that the table supposes.
const TABLE_DEVIATION: f64 = 3.19;

/// Hardness of ring-LWE by the table, for a ternary secret and the errors of [`ole::parameters`].
fn of_table(what: String, degree: usize, log2_modulus: f64) -> Bound {
    let deviation = ole::parameters().error_variance.sqrt();
    assert!(deviation >= TABLE_DEVIATION, "errors are at least the table's");
    let (_, allowed) = TABLE.into_iter().find(|(n, _)| *n == degree).expect("a dimension of the table");
    Bound {
        what,
        with: format!("N {degree}, log2 q {log2_modulus:.1} of {allowed:.0}, sigma {deviation:.2}"),
        // At one dimension bits times log2 q hardly changes, and falls towards the table's row for 128 bits.
        bits: 128.0 * allowed / log2_modulus,
        kind: Kind::Hardness,
        source: "Albrecht et al., Homomorphic Encryption Standard (2018), table 1",
    }
}

/// Bounds of `count` products in each direction.
pub fn of_products(count: f64) -> Vec<Bound> {
    let Parameters { degree, log2_plaintext, log2_dropped, error_variance, most_error, log2_flood, places } =
        ole::parameters();
    let n = (degree as f64).log2();
    let blocks = (count / degree as f64).ceil().log2();
    // |e y| has a standard deviation of sqrt(N) sigma T/2 in a coefficient; |e' u + e'' s| is at most 2 N times the
    // largest error.
    let of_factor = n + (n / 2.0 + error_variance.log2() / 2.0 + log2_plaintext - 1.0) - log2_flood;
    let of_zero = n + (1.0 + n + f64::from(most_error).log2()) - log2_flood;
    // A coefficient of c_1 loses up to 2^-places, times a ternary secret: the sum of N is below the margin by
    // Hoeffding's inequality.
    let lost = (-f64::from(places[1])).exp2();
    let margin = 0.5 - (-f64::from(places[0] + 1)).exp2() - (log2_flood - log2_dropped).exp2();
    let truncated = 2.0 * margin * margin / (degree as f64 * lost * lost) / std::f64::consts::LN_2 - 1.0 - n - blocks;
    let with = |text: String| format!("{text}, 2^{blocks:.0} blocks");
    vec![
        of_table(
            "products: ring-LWE of s and of u by the published table".into(),
            degree,
            log2_plaintext + log2_dropped,
        ),
        Bound {
            what: "products: drowned noise shows the answerer's factor".into(),
            with: with(format!("log2 T {log2_plaintext:.1}, noise of {log2_flood} bits")),
            bits: -(of_factor + blocks),
            kind: Kind::Statistical,
            source: "Juvekar et al., Gazelle (USENIX Security 2018); crates/ot/src/ole.rs (1)",
        },
        Bound {
            what: "products: drowned noise shows the rerandomisation".into(),
            with: with(format!("errors up to {most_error}")),
            bits: -(of_zero + blocks),
            kind: Kind::Statistical,
            source: "the same",
        },
        Bound {
            what: "products: a share is wrong".into(),
            with: with(format!("{} places", places[1])),
            bits: truncated,
            kind: Kind::Statistical,
            source: "Hoeffding (1963), theorem 2; wraps are exact: ole.rs",
        },
    ]
}

/// The fewest products of elements that an answer has, about: matrices with fewer go one by one.
const OF_ANSWER: f64 = 8192.0;

/// Bounds of `count` products of elements in matrices, in each direction.
pub fn of_matrices(count: f64) -> Vec<Bound> {
    let Parameters { degree, log2_plaintext, log2_dropped, error_variance, most_error, .. } = ole::parameters();
    // An asker has one secret, and its setup gives samples of it modulo all primes, whatever q is in a ring.
    let log2_setup = log2_plaintext + log2_dropped;
    let mut bounds =
        vec![of_table("matrices: ring-LWE of the secret s by the published table".into(), degree, log2_setup)];
    let answers = (count / OF_ANSWER).ceil().log2();
    let of_ring = |bits: u32| {
        let matrices::Parameters { degree, bits, log2_modulus, log2_kept, log2_flood, requests } =
            matrices::parameters(bits);
        let (n, terms, largest) = (degree as f64, (degree * requests) as f64, f64::from(bits - 1).exp2());
        // What is decoded is off by less than a half, for the worst errors: nothing is left to chance.
        let worst = (f64::from(most_error) + 0.5) * terms * largest + 2.0 * n * f64::from(most_error) + 1.0;
        let off =
            ((worst.log2() - log2_modulus).exp2() + (log2_flood - log2_modulus).exp2() + (n + 1.0) / log2_kept.exp2())
                * f64::from(bits).exp2();
        assert!(off < 0.499, "shares are exact: {off}");
        // The sum of e y by its standard deviation, as e is as it was drawn; roundings by their bound.
        let drowned =
            (terms * error_variance).sqrt() * largest + 0.5 * terms * largest + 2.0 * n * f64::from(most_error);
        [
            // An answer's u is in samples modulo q alone.
            of_table(format!("matrices of {bits} bits: ring-LWE of u by the published table"), degree, log2_modulus),
            Bound {
                what: format!("matrices of {bits} bits: drowned noise shows the answerer's matrix"),
                with: format!("noise of {log2_flood} bits, 2^{answers:.0} answers of {requests} requests"),
                bits: log2_flood - n.log2() - drowned.log2() - answers,
                kind: Kind::Statistical,
                source: "Juvekar et al., Gazelle (USENIX Security 2018); crates/ot/src/ole/matrices.rs (1)",
            },
        ]
    };
    bounds.extend([64, 128].into_iter().flat_map(of_ring));
    bounds
}

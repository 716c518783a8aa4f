//! Base OT, OT extension, trees and checks, and hashes of blocks under published keys.

use tacit_math::gf::{Field, Gf128};
use tacit_math::universal;
use tacit_mpc::backends::two;
use tacit_ot::silent::noise::Noise;
use tacit_ot::silent::{cot, lookup, vole};
use tacit_ot::softspoken::COLUMNS;
use tacit_psi::binning::AT_ONCE;

use crate::bound::{Bound, Kind};

/// log2 of the order of ristretto255's group.
const LOG2_GROUP: f64 = 252.0;

/// The largest divisor d of l + 1, for the order l of that group, whose 2 d questions the default budget of a prepared
/// table (2^20) allows. Of l - 1, that takes d questions, it is 132.
const DIVISOR: u32 = 7_210;

/// Bounds of what does not depend on sizes.
pub fn of_every_run() -> Vec<Bound> {
    let columns = COLUMNS as f64;
    vec![
        Bound {
            what: "base OT, Diffie-Hellman: discrete logarithms".into(),
            with: format!("a group of 2^{LOG2_GROUP} elements"),
            // The mean is sqrt(pi l / 4) steps.
            bits: (LOG2_GROUP + (std::f64::consts::PI / 4.0).log2()) / 2.0,
            kind: Kind::Generic,
            source: "Pollard's rho: Bernstein, Lange, Schwabe (PKC 2011); ristretto255: RFC 9496",
        },
        Bound {
            what: "prepared table: its key, by questions about answers in sequence".into(),
            with: format!("{} questions, {DIVISOR} divides the order plus 1", 2 * DIVISOR),
            bits: (LOG2_GROUP - f64::from(DIVISOR).log2()) / 2.0,
            kind: Kind::Generic,
            source: "Cheon (EUROCRYPT 2006), Theorem 2",
        },
        Bound {
            what: "SoftSpokenOT: unequal columns pass the check".into(),
            with: format!("{COLUMNS} columns, hashes of {} bits, {AT_ONCE} setups at once", universal::BITS),
            // Who fails once has ended the run: a run has one try for each setup that is under way.
            bits: f64::from(universal::BITS) - (AT_ONCE as f64 * columns * (columns - 1.0) / 2.0).log2(),
            kind: Kind::Statistical,
            source: "Roy (CRYPTO 2022), section 4; Carter, Wegman (1979)",
        },
    ]
}

/// Bounds of malicious VOLE for `count` columns.
pub fn of_columns(count: f64) -> Vec<Bound> {
    let largest = vole::largest::<Gf128>();
    let noise = Noise::new(largest, Gf128::BITS);
    let vectors = (count / largest as f64).ceil().max(1.0).log2();
    vec![Bound {
        what: "malicious VOLE: inconsistent trees pass the check".into(),
        with: format!("depth {}, 2^{vectors:.1} vectors", noise.depth),
        bits: Gf128::BITS as f64 - 1.0 - f64::from(noise.depth) - vectors,
        kind: Kind::Statistical,
        source: "Yang et al., Ferret (CCS 2020), Figure 7; crates/ot/src/silent/check.rs",
    }]
}

/// Bounds of `count` correlations of the engine `two` under the offset of a node, and of its garbling.
pub fn of_correlations(count: f64) -> Vec<Bound> {
    let ots = cot::noise(cot::largest());
    let vectors = (count / cot::largest() as f64).ceil().log2();
    let offset = lookup::ENTROPY as f64;
    let generic = |what: &str, with: String, bits: f64, source| Bound {
        what: what.into(),
        with,
        bits,
        kind: Kind::Generic,
        source,
    };
    let strings = (lookup::LOOKUP_STRINGS - 1) as f64;
    let met = |what: &str, hashes: f64| Bound {
        what: what.into(),
        with: format!("2^{:.1} strings, offset of {offset} bits", hashes.log2()),
        bits: offset + 1.0 - 2.0 * hashes.log2(),
        kind: Kind::Statistical,
        source: "the same section: the term without evaluations of AES",
    };
    let garbled = (2 * two::ROWS_A_KEY) as f64;
    vec![
        generic(
            "hash of OTs: an offset is met",
            format!("2^{:.0} strings, offset of {offset} bits", count.log2()),
            offset - count.log2(),
            "Guo, Katz, Wang, Yu (S&P 2020), section 7.2; attack: Guo et al. (CRYPTO 2020)",
        ),
        generic(
            "hash of lookups: a multiple of the offset is met",
            format!("2^{:.1} strings, offset of {offset} bits", (count * strings).log2()),
            offset - (count * strings).log2(),
            "the same; each multiple of the offset is as random as it",
        ),
        met("hash of OTs: the inputs or images of two meet", count),
        met("hash of lookups: the inputs or images of two meet", count * strings),
        generic(
            "trees: a node on a hidden path is met",
            format!("{} trees, depth {}, 2^{vectors:.1} vectors", ots.segments, ots.depth),
            offset - ((ots.segments * ots.depth as usize) as f64).log2() - vectors,
            "Guo et al., Half-Tree (EUROCRYPT 2023), theorem 2",
        ),
        generic(
            "garbling: a label's other value is met",
            format!("{garbled} calls a key, offset of {} bits", two::OFFSET_BITS),
            f64::from(two::OFFSET_BITS) - garbled.log2() - 1.0,
            "Guo et al. (CRYPTO 2020), section 4 (MiTCCRH)",
        ),
        Bound {
            what: "garbling: labels of two rows differ by the offset".into(),
            with: format!("2^{:.0} hashes, {} rows a key", count.log2(), two::ROWS_A_KEY),
            bits: f64::from(two::OFFSET_BITS) - (two::ROWS_A_KEY as f64).log2() - count.log2(),
            kind: Kind::Statistical,
            source: "the same section: the term without evaluations of AES",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::DIVISOR;

    /// The order of ristretto255's group is 2^252 and this (RFC 9496, section 4).
    const TAIL: u128 = 27_742_317_777_372_353_535_851_937_790_883_648_493;

    const BUDGET: u128 = 1 << 20;

    fn order_modulo(divisor: u128) -> u128 {
        let half = (1u128 << 126) % divisor;
        (half * half + TAIL % divisor) % divisor
    }

    #[test]
    fn no_larger_divisor_helps_within_the_default_budget() {
        let below = (2..=BUDGET).filter(|&d| order_modulo(d) == 1).max();
        let above = (2..=BUDGET / 2).filter(|&d| order_modulo(d) == d - 1).max();
        assert_eq!((below, above), (Some(132), Some(u128::from(DIVISOR))));
    }
}

//! Numbers on demand: the security of a whole run, recomputed from the constants of the code.
//!
//! Every line is one way in which a guarantee may not hold. It gives the work of the best attack known on an
//! assumption, or the probability that chance breaks a bound, over all bins, vectors and calls of a run. A line
//! "together" adds up what chance may break in a run of one protocol. The formulas here are written anew, from the
//! papers; what they are applied to is read from the crates. `make security` prints the table, a test checks it.

mod bound;
mod lattice;
mod matching;
mod numbers;
mod silent;
mod symmetric;
mod transfers;

use bound::Bound;
use tacit_psi::set_union;

/// Items of each side of an intersection, rows of a table: few, many, and the most that ids by `oprf` are made for.
/// Then two counts for which the larger parameters are taken.
const ITEMS: [usize; 5] = [1000, 1 << 20, set_union::MOST, 1 << 24, 1_000_000_000];

/// Correlations, and products, of a session of the engine `two`.
const CORRELATIONS: f64 = (1 << 30) as f64;

/// Bounds of what is part of every run.
fn of_every_run() -> Vec<Bound> {
    [transfers::of_every_run(), symmetric::of_every_run()].concat()
}

/// The bounds of `items` items a side.
fn of_items(items: usize) -> Vec<Bound> {
    let (columns, rows) = (matching::columns(items), items as f64);
    let (always, checks) = (of_every_run(), transfers::of_columns(columns));
    let (identifiers, tables) = (symmetric::of_identifiers(matching::identifiers(rows)), symmetric::of_tables(rows));
    let mut bounds = [silent::of_columns(columns), checks.clone(), identifiers.clone(), tables.clone()].concat();
    bounds.push(Bound::together("a query's strings and kept tables", always.iter().chain(&tables)));
    let of_match = [always, identifiers].concat();
    for bins in matching::bins_of(items) {
        bounds.extend(matching::in_bins(items, bins, &of_match, &checks));
    }
    bounds.extend(matching::whole(items, &of_match));
    bounds
}

/// The bounds of a session of the engine `two`.
fn of_two() -> Vec<Bound> {
    let mut bounds = [
        silent::of_correlations(CORRELATIONS),
        transfers::of_correlations(CORRELATIONS),
        lattice::of_products(CORRELATIONS),
        lattice::of_matrices(CORRELATIONS),
    ]
    .concat();
    // The largest tables: a query's strings and what it keeps and reads belong to its session.
    let tables = symmetric::of_tables(ITEMS.into_iter().max().expect("sizes") as f64);
    let all = of_every_run();
    bounds.push(Bound::together("a session of the engine two", all.iter().chain(&tables).chain(&bounds)));
    bounds
}

/// The bounds of every scale, under its title.
fn sections() -> Vec<(String, Vec<Bound>)> {
    let title = |items: usize| format!("{items} items a side (2^{:.1})", (items as f64).log2());
    let mut sections = vec![("every run".to_owned(), of_every_run())];
    sections.extend(ITEMS.map(|items| (title(items), of_items(items))));
    sections.push((format!("2^{} correlations, and as many products", CORRELATIONS.log2()), of_two()));
    sections
}

fn main() {
    println!("Bits of security of one whole run. hardness: of an assumption; generic: of a search by brute force;");
    println!(
        "statistical, overflow: of chance; run: of all that is left to chance in a run of one protocol; words: of a code's light words."
    );
    println!("Assumptions are what the source says.");
    for (title, bounds) in sections() {
        println!("\n{title}\n{}", bound::heads());
        bounds.iter().for_each(|bound| println!("{bound}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Kind;

    fn broken(title: &str, bounds: &[Bound]) -> Vec<String> {
        bounds.iter().filter(|bound| !bound.holds()).map(|bound| format!("{title}: {bound}")).collect()
    }

    #[test]
    fn every_bound_of_a_run_holds() {
        let broken: Vec<String> = sections().iter().flat_map(|(title, bounds)| broken(title, bounds)).collect();
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }

    #[test]
    fn runs_hold_together_at_sizes_between() {
        let sizes = [1, 2, 3, 4, 30, 257, 4097, 50_000, 700_000, 1_400_000, 3_490_000, 5_600_000, 10_000_000];
        for items in sizes {
            let broken = broken(&items.to_string(), &of_items(items));
            assert!(broken.is_empty(), "{}", broken.join("\n"));
        }
    }

    #[test]
    fn every_protocol_is_added_up() {
        let runs = |items| of_items(items).into_iter().filter(|bound| bound.kind == Kind::Run).map(|bound| bound.what);
        let of = [
            "a query's strings and kept tables",
            "vole",
            "vole-compact",
            "vole-malicious",
            "dh",
            "kkrt",
            "circuit-psi",
            "several owners",
            "unbalanced",
            "sums",
            "shares, ids of several keys",
            "ids by oprf",
        ];
        assert_eq!(runs(1000).collect::<Vec<_>>(), of.map(|run| format!("{run}: together")));
    }

    fn of_kind(kind: Kind, bits: f64) -> Bound {
        Bound { what: String::new(), with: String::new(), bits, kind, source: "" }
    }

    #[test]
    fn too_few_bits_are_seen() {
        let kinds = [Kind::Hardness, Kind::Generic, Kind::Statistical, Kind::Run, Kind::Overflow, Kind::Words];
        for kind in kinds {
            assert!(of_kind(kind, kind.asked()).holds() && !of_kind(kind, kind.asked() - 0.1).holds());
        }
    }

    #[test]
    fn events_that_hold_each_by_itself_are_too_many_together() {
        let together = |bits: &[f64]| {
            let events: Vec<Bound> = bits.iter().map(|&bits| of_kind(Kind::Statistical, bits)).collect();
            assert!(events.iter().all(Bound::holds));
            Bound::together("", events.iter().chain([&of_kind(Kind::Hardness, 0.0)]))
        };
        // Two of 2^-40, as bounds of single events once were; and what is far below one more of them.
        assert!(!together(&[40.0, 40.0]).holds() && !together(&[40.0, 57.0]).holds());
        assert!(together(&[41.0, 42.0, 42.0]).holds() && (together(&[41.0, 42.0, 42.0]).bits - 40.0).abs() < 1e-12);
        assert!((together(&[40.0, 40.0, 40.0, 40.0, 40.0]).bits - 37.678).abs() < 1e-3);
    }
}

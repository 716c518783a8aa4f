//! Numbers on demand: the security of a whole run, recomputed from the constants of the code.
//!
//! Every line is one way in which a guarantee may not hold: the work of the best attack known on an assumption, or the
//! probability that chance breaks a bound, over all bins, vectors and calls of a run. The formulas here are written anew, from
//! the papers; what they are applied to is read from the crates. `make security` prints the table, a test checks it.

mod bound;
mod lattice;
mod matching;
mod numbers;
mod silent;
mod symmetric;
mod transfers;

use bound::Bound;

/// Items of each side of an intersection, rows of a table.
const ITEMS: [usize; 3] = [1 << 20, 1 << 24, 1_000_000_000];

/// Correlations, and products, of a session of the engine `two`.
const CORRELATIONS: f64 = (1 << 30) as f64;

/// The bounds of every scale, under its title.
fn sections() -> Vec<(String, Vec<Bound>)> {
    let mut sections = vec![("every run".to_owned(), [transfers::of_every_run(), symmetric::of_every_run()].concat())];
    for items in ITEMS {
        let columns = matching::columns(items);
        let mut bounds =
            [silent::of_columns(columns), transfers::of_columns(columns), symmetric::of_items(items as f64)].concat();
        for bins in matching::bins_of(items) {
            bounds.extend(matching::in_bins(items, bins));
        }
        bounds.extend(matching::whole(items));
        sections.push((format!("{items} items a side (2^{:.1})", (items as f64).log2()), bounds));
    }
    let of_two = [
        silent::of_correlations(CORRELATIONS),
        transfers::of_correlations(CORRELATIONS),
        lattice::of_products(CORRELATIONS),
    ];
    sections.push((format!("2^{} correlations, and as many products", CORRELATIONS.log2()), of_two.concat()));
    sections
}

fn main() {
    println!("Bits of security of one whole run. hardness: of an assumption; generic: of a search by brute force;");
    println!("statistical, overflow: of chance; words: of a code's light words. Assumptions are what the source says.");
    for (title, bounds) in sections() {
        println!("\n{title}\n{}", bound::heads());
        bounds.iter().for_each(|bound| println!("{bound}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Kind;

    #[test]
    fn every_bound_of_a_run_holds() {
        let broken: Vec<String> = sections()
            .into_iter()
            .flat_map(|(title, bounds)| bounds.into_iter().map(move |bound| (title.clone(), bound)))
            .filter(|(_, bound)| !bound.holds())
            .map(|(title, bound)| format!("{title}: {bound}"))
            .collect();
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }

    #[test]
    fn too_few_bits_are_seen() {
        let bound = |kind: Kind, bits| Bound { what: String::new(), with: String::new(), bits, kind, source: "" };
        for kind in [Kind::Hardness, Kind::Generic, Kind::Statistical, Kind::Overflow, Kind::Words] {
            assert!(bound(kind, kind.asked()).holds() && !bound(kind, kind.asked() - 0.1).holds());
        }
    }
}

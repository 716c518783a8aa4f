//! Intersections: bins, stores, tables, codes and tags, over all bins of a run.

use std::f64::consts::LN_2;

use tacit_net::PartyId;
use tacit_psi::binning::{FAVOURED, MOST, capacity};
use tacit_psi::blind_join::Shape;
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::cuckoo::{self, CHOICES, failure_log2};
use tacit_psi::kkrt::{self, near_log2};
use tacit_psi::multi_party::Owners;
use tacit_psi::okvs::Layout;
use tacit_psi::set_union::{self, Functions};
use tacit_psi::tags::tag_bits;
use tacit_psi::unbalanced::LARGEST_BUDGET;
use tacit_psi::vole_psi::oprf::Function;
use tacit_psi::vole_psi::{Variant, VolePsi};
use tacit_psi::{DhPsi, Sizes, cardinality_sum};

use crate::bound::{Bound, Kind};
use crate::numbers::{log2_binomial_tail, log2_factorial};

/// Sets up to this size have their own table of bins evaluated; a larger set's bound is below that of this one, as
/// every term falls with n.
const EVALUATED: usize = 1 << 20;

/// Owners of a set that several intersect.
const OWNERS: usize = 5;

/// Keys of a row, of matches by several.
const KEYS: usize = 3;

/// log2 of the hashes that a receiver is counted on.
const QUESTIONS: f64 = 64.0;

const ALL_PAIRS: &str = "union bound over all pairs of all bins";

const SUBFIELD: &str = "Raghuraman, Rindal (CCS 2022), section 4";

const BANDS: &str = "Kingman (1970); Bienstock et al. (USENIX Security 2023); crates/psi/src/parts/okvs.rs";

/// The numbers of bins of a run over `items` items: as the command chooses them, and as many as it ever does.
pub fn bins_of(items: usize) -> Vec<usize> {
    let chosen = items.div_ceil(FAVOURED).min(MOST);
    if chosen == 1 { vec![1] } else { vec![chosen, MOST] }
}

/// Columns of the stores of all bins at a receiver.
pub fn columns(items: usize) -> f64 {
    let bins = bins_of(items)[0];
    let size = capacity(items, bins);
    (bins * VolePsi { variant: Variant::Fast, bins }.strength(Sizes { sender: size, receiver: size }).layout.columns())
        as f64
}

/// The bounds of a run, and their sum with those of what is part of every such run.
fn run(name: &str, always: &[Bound], own: Vec<Bound>) -> Vec<Bound> {
    let together = Bound::together(name, always.iter().chain(&own));
    [own, vec![together]].concat()
}

fn statistical(what: impl Into<String>, with: String, bits: f64, source: &'static str) -> Bound {
    Bound { what: what.into(), with, bits, kind: Kind::Statistical, source }
}

/// Bounds of an intersection of two sets of `items` items each in `bins` bins. always: of what is part of every match.
/// checks: of malicious VOLE.
pub fn in_bins(items: usize, bins: usize, always: &[Bound], checks: &[Bound]) -> Vec<Bound> {
    let size = capacity(items, bins);
    let sizes = Sizes { sender: size, receiver: size };
    let over = |text: String| format!("{text}, {bins} bins of {size}");
    let mut bounds = Vec::new();
    if bins > 1 {
        let tail = log2_binomial_tail(items as f64, 1.0 / bins as f64, size as f64 + 1.0);
        bounds.push(Bound {
            what: "bins: one of either party overflows".into(),
            with: over(format!("{items} items")),
            bits: -(tail + (2.0 * bins as f64).log2()),
            kind: Kind::Overflow,
            source: "exact binomial tail; sizes: Badrinarayanan et al., section 3.1",
        });
    }
    let always = [always, &bounds].concat();
    for (name, variant) in
        [("vole", Variant::Fast), ("vole-compact", Variant::Compact), ("vole-malicious", Variant::Malicious)]
    {
        let always = if variant == Variant::Malicious { [&always, checks].concat() } else { always.clone() };
        bounds.extend(run(name, &always, vole(name, VolePsi { variant, bins }, sizes)));
    }
    let pairs = 2.0 * (size as f64).log2() + (bins as f64).log2();
    let dh = DhPsi { bins }.tag_bits(sizes);
    let tags = statistical(
        "dh: tags of different items are equal",
        over(format!("{dh} bits")),
        f64::from(dh) - pairs,
        ALL_PAIRS,
    );
    bounds.extend(run("dh", &always, vec![tags]));
    let kkrt = kkrt::Parameters { sizes, pairs: bins };
    let (tag, width) = (kkrt.tag_bits(), 64 * kkrt.code_words());
    let of_kkrt = vec![
        statistical(
            "kkrt: tags of different items are equal",
            over(format!("{tag} bits")),
            // Each of three tags is compared with one bin.
            f64::from(tag) - pairs,
            ALL_PAIRS,
        ),
        statistical(
            "kkrt: code words nearer than 128",
            over(format!("w {width}")),
            -(near_log2(width) + ((CHOICES * size * bins) as f64).log2()),
            "Kolesnikov et al. (CCS 2016), section 3.2",
        ),
        table("kkrt: items do not fit into the table", size, bins),
    ];
    bounds.extend(run("kkrt", &always, of_kkrt));
    bounds
}

/// Bounds of intersections of all bins by VOLE.
fn vole(name: &str, psi: VolePsi, sizes: Sizes) -> Vec<Bound> {
    let (strength, bins, size) = (psi.strength(sizes), psi.bins as f64, sizes.sender as f64);
    let over = |text: String| format!("{text}, {bins} bins of {size}");
    let mut bounds = vec![
        statistical(
            format!("{name}: tags of different items are equal"),
            over(format!("{} bits", strength.tag_bits)),
            f64::from(strength.tag_bits) - 2.0 * size.log2() - bins.log2(),
            ALL_PAIRS,
        ),
        statistical(
            format!("{name}: a store has an item that is not in it"),
            over(format!("{} bits", strength.scalar_bits)),
            strength.scalar_bits as f64 - (size * bins).log2(),
            SUBFIELD,
        ),
        statistical(
            format!("{name}: a store cannot be encoded"),
            over(format!("bands of {}", strength.layout.band)),
            -(store(&strength.layout, sizes.receiver) + bins.log2()),
            BANDS,
        ),
    ];
    if strength.proof_bits > 0 {
        bounds.push(statistical(
            format!("{name}: a receiver guesses the proof of a match"),
            over(format!("{} bits", strength.proof_bits)),
            f64::from(strength.proof_bits) - bins.log2(),
            "one guess a bin, as a wrong one ends the run",
        ));
        // Columns that hold one item more of 2^64 than it is counted on.
        let (asked, columns) = (psi.questions(sizes) as f64 + 1.0, strength.layout.columns() as f64);
        let held = QUESTIONS * asked - log2_factorial(asked) + strength.scalar_bits as f64 * (columns - asked);
        bounds.push(statistical(
            format!("{name}: a receiver asks about more items than is said"),
            over(format!("2^{QUESTIONS} hashes")),
            -(held + bins.log2()),
            "Garimella et al. (CRYPTO 2021), section 6",
        ));
    }
    bounds
}

/// Bounds of what is done over whole sets of `items` items. always: of what is part of every match.
pub fn whole(items: usize, always: &[Bound]) -> Vec<Bound> {
    let sizes = Sizes { sender: items, receiver: items };
    let asked = tag_bits(items as u128 * u128::from(LARGEST_BUDGET));
    let unbalanced = statistical(
        "unbalanced: an asked item matches wrongly",
        format!("{asked} bits, 2^{} asked items", LARGEST_BUDGET.ilog2()),
        f64::from(asked) - (items as f64).log2() - (LARGEST_BUDGET as f64).log2(),
        "union bound over the budget",
    );
    let compared = |name: &str, bits: u32, sizes: Sizes| {
        let pairs = (sizes.sender as f64).log2() + (sizes.receiver as f64).log2();
        let tags = format!("{name}: tags of different items are equal");
        run(name, always, vec![statistical(tags, format!("{bits} bits"), f64::from(bits) - pairs, ALL_PAIRS)])
    };
    let keys = Shape { rows: sizes, columns: Sizes { sender: KEYS, receiver: KEYS } };
    let mut bounds = [
        run("circuit-psi", always, circuit(sizes)),
        run("several owners", always, several(items, OWNERS)),
        run("unbalanced", always, vec![unbalanced]),
        compared("sums", cardinality_sum::tag_bits(sizes), sizes),
        compared("shares, ids of several keys", keys.tag_bits(), keys.identifiers()),
    ]
    .concat();
    // More are refused.
    if set_union::check_size(items).is_ok() {
        bounds.extend(run("ids by oprf", always, ids(items)));
    }
    bounds
}

fn circuit(sizes: Sizes) -> Vec<Bound> {
    let joined = CircuitPsi::new(sizes, Payloads::default());
    let (bins, keys) = (joined.bins() as f64, CHOICES * sizes.sender);
    let mut bounds = vec![
        statistical(
            "circuit-psi: a bin matches that does not",
            format!("{} bits, {bins} bins", joined.tag_bits()),
            joined.tag_bits() as f64 - bins.log2(),
            "Rindal, Schoppmann (EUROCRYPT 2021), section 5",
        ),
        table("circuit-psi: items do not fit into the table", sizes.receiver, 1),
        in_bins_once("circuit-psi", sizes),
        stored("circuit-psi: a store", &joined.layout(), keys, 1),
    ];
    bounds.extend(functions("circuit-psi: the function", joined.function(), 1));
    bounds
}

/// Bounds of a match of several owners of `items` items each, all of whom learn the result.
fn several(items: usize, owners: usize) -> Vec<Bound> {
    let all = (0..owners).map(PartyId).collect();
    let of = Owners { sizes: vec![items; owners], leader: PartyId(0), recipients: all };
    let told = of.told().count();
    // All owners are alike.
    let (others, one) = (of.others().count(), PartyId(1));
    let tag = of.tag_bits(one);
    let mut bounds = vec![
        statistical(
            "several owners: an item passes that one lacks",
            format!("{} bits, {owners} owners", of.share_bits()),
            f64::from(of.share_bits()) - (items as f64).log2(),
            "Kolesnikov et al. (CCS 2017), section 6",
        ),
        statistical(
            "several owners: a recipient takes a tag for another item's",
            format!("{tag} bits, {told} recipients"),
            f64::from(tag) - ((of.tags() * told) as f64).log2() - (items as f64).log2(),
            ALL_PAIRS,
        ),
        stored("several owners: a store", &of.layout(one), items, others),
    ];
    bounds.extend(functions("several owners: a function", of.function(one), others));
    bounds
}

/// Of universal ids and their union.
fn ids(items: usize) -> Vec<Bound> {
    let (bins, keys) = (cuckoo::bins(items, 1), CHOICES * items);
    let tag = tag_bits(bins as u128);
    let all = (2.0 * items as f64).log2();
    let Functions { of_sender, of_receiver, in_bins, at_places } = set_union::functions(items, items);
    let mut bounds = vec![
        statistical(
            "ids by oprf: two items have one id",
            format!("128 bits, 2^{all:.1} items"),
            129.0 - 2.0 * all,
            "birthday bound",
        ),
        statistical(
            "union: a bin's secret is met",
            format!("{} bits, {bins} bins", set_union::SECRET_BITS),
            f64::from(set_union::SECRET_BITS) - (bins as f64).log2(),
            "Garimella et al. (PKC 2021), section 4",
        ),
        statistical(
            "union: tags of different values are equal",
            format!("{tag} bits, {bins} bins"),
            f64::from(tag) - (bins as f64).log2(),
            "union bound over the bins",
        ),
        table("union: numbers do not fit into bins", items, 1),
        in_bins_once("union", Sizes { sender: items, receiver: items }),
        stored("union: the store of secrets", &set_union::store_layout(items), keys, 1),
    ];
    bounds.extend(functions("union: the function of bins", in_bins, 1));
    bounds.extend(functions("union: the function of places", at_places, 1));
    bounds.extend(functions("ids by oprf: the sender's function", of_sender, 1));
    bounds.extend(functions("ids by oprf: the receiver's function", of_receiver, 1));
    bounds
}

/// Identifiers of all parties of a match of `rows` rows a party: of several owners, or of rows with several keys.
pub fn identifiers(rows: f64) -> f64 {
    OWNERS.max(2 * KEYS) as f64 * rows
}

/// Bounds of `count` functions of these sizes.
fn functions(what: &str, function: Function, count: usize) -> Vec<Bound> {
    let (strength, Sizes { sender, receiver }) = (function.strength(), function.sizes);
    vec![
        statistical(
            format!("{what} has the value of another item"),
            format!("{} bits, {sender} items, {count} of {}", strength.scalar_bits, function.of),
            strength.scalar_bits as f64 - ((sender * count) as f64).log2(),
            SUBFIELD,
        ),
        stored(&format!("{what} has a store that"), &strength.layout, receiver, count),
    ]
}

/// That numbers are one item in bins of theirs.
fn in_bins_once(what: &str, Sizes { sender, receiver }: Sizes) -> Bound {
    let all = ((sender + receiver) as f64).log2();
    let with = format!("2^{all:.1} numbers of 128 bits");
    statistical(
        format!("{what}: two numbers are one in their bins"),
        with,
        123.0 - 2.0 * all,
        "crates/psi/src/parts/cuckoo.rs",
    )
}

/// The bound on one of `count` stores that cannot be encoded.
fn stored(what: &str, layout: &Layout, keys: usize, count: usize) -> Bound {
    let with = format!("{keys} keys, bands of {}, {count} stores", layout.band);
    statistical(format!("{what} cannot be encoded"), with, -(store(layout, keys) + (count as f64).log2()), BANDS)
}

/// log2 of the bound on the probability that keys at random places of a layout wait for its band. The bound is n
/// e^(-theta w), where theta > 0 solves (n / s) (e^theta - 1) = theta.
fn store(layout: &Layout, keys: usize) -> f64 {
    if layout.places == 1 {
        // Random rows of all columns.
        return keys as f64 - layout.band as f64;
    }
    let load = keys as f64 / (layout.clusters * layout.places) as f64;
    let excess = |theta: f64| load * theta.exp_m1() - theta;
    let (mut below, mut above) = (1e-9, 50.0);
    assert!(excess(below) < 0.0 && excess(above) > 0.0, "fewer keys than places");
    for _ in 0..200 {
        let middle = (below + above) / 2.0;
        if excess(middle) < 0.0 { below = middle } else { above = middle }
    }
    (keys as f64).log2() - below * layout.band as f64 / LN_2
}

fn table(what: &str, size: usize, tables: usize) -> Bound {
    let evaluated = size.min(EVALUATED);
    let bits = -(failure_log2(evaluated, cuckoo::bins(size, tables) * evaluated / size) + (tables as f64).log2());
    Bound {
        what: what.into(),
        with: format!("{size} items, {} places, {tables} tables", cuckoo::bins(size, tables)),
        bits,
        kind: Kind::Statistical,
        source: "Hall's theorem; Fountoulakis, Panagiotou (2012), section 3",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::of_every_run;
    use crate::symmetric::of_identifiers;

    #[test]
    fn any_number_of_owners_holds_together() {
        for owners in [2, 3, 4, 8, 17, 100] {
            for items in [10, 100_000, 2_000_000, 1 << 24] {
                let always = [of_every_run(), of_identifiers((owners * items) as f64)].concat();
                let together = run("several owners", &always, several(items, owners)).pop().expect("a sum");
                assert!(together.kind == Kind::Run && together.holds(), "{owners} owners of {items}: {together}");
            }
        }
    }
}

//! Intersections: bins, stores, tables, codes and tags, over all bins of a run.

use std::f64::consts::LN_2;

use tacit_net::PartyId;
use tacit_psi::binning::{FAVOURED, MOST, capacity};
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::cuckoo::{self, CHOICES, failure_log2};
use tacit_psi::kkrt::{self, near_log2};
use tacit_psi::multi_party::Owners;
use tacit_psi::okvs::Layout;
use tacit_psi::tags::tag_bits;
use tacit_psi::unbalanced::LARGEST_BUDGET;
use tacit_psi::vole_psi::{Variant, VolePsi};
use tacit_psi::{DhPsi, Sizes, set_union};

use crate::bound::{Bound, Kind};
use crate::numbers::log2_binomial_tail;

/// Sets up to this size have their own table of bins evaluated; a larger set's bound is below that of this one, as every term falls with n.
const EVALUATED: usize = 1 << 20;

/// Owners of a set that several intersect.
const OWNERS: usize = 5;

/// The numbers of bins of a run over so many items: as the command chooses them, and as many as it ever does.
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

/// Bounds of an intersection of two sets of so many items in so many bins.
pub fn in_bins(items: usize, bins: usize) -> Vec<Bound> {
    let size = capacity(items, bins);
    let sizes = Sizes { sender: size, receiver: size };
    let pairs = 2.0 * (size as f64).log2() + (bins as f64).log2();
    let over = |text: String| format!("{text}, {bins} bins of {size}");
    let statistical =
        |what: String, with: String, bits: f64, source| Bound { what, with, bits, kind: Kind::Statistical, source };
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
    for (name, variant) in
        [("vole", Variant::Fast), ("vole-compact", Variant::Compact), ("vole-malicious", Variant::Malicious)]
    {
        let strength = VolePsi { variant, bins }.strength(sizes);
        bounds.push(statistical(
            format!("{name}: tags of different items are equal"),
            over(format!("{} bits", strength.tag_bits)),
            f64::from(strength.tag_bits) - pairs,
            "union bound over all pairs of all bins",
        ));
        bounds.push(statistical(
            format!("{name}: a store has an item that is not in it"),
            over(format!("{} bits", strength.scalar_bits)),
            strength.scalar_bits as f64 - ((size * bins) as f64).log2(),
            "Raghuraman, Rindal (CCS 2022), section 4",
        ));
        if strength.proof_bits > 0 {
            bounds.push(statistical(
                format!("{name}: a receiver guesses the proof of a match"),
                over(format!("{} bits", strength.proof_bits)),
                f64::from(strength.proof_bits) - (bins as f64).log2(),
                "one guess a bin, as a wrong one ends the run",
            ));
        }
        bounds.push(statistical(
            format!("{name}: a store cannot be encoded"),
            over(format!("bands of {}", strength.layout.band)),
            -(store(&strength.layout, size) + (bins as f64).log2()),
            "Kingman (1970); Bienstock et al. (USENIX Security 2023); crates/psi/src/okvs.rs",
        ));
    }
    let dh = DhPsi { bins }.tag_bits(sizes);
    bounds.push(statistical(
        "dh: tags of different items are equal".into(),
        over(format!("{dh} bits")),
        f64::from(dh) - pairs,
        "union bound over all pairs of all bins",
    ));
    let kkrt = kkrt::Parameters { sizes, pairs: bins };
    let tag = kkrt.tag_bits();
    bounds.push(statistical(
        "kkrt: tags of different items are equal".into(),
        over(format!("{tag} bits")),
        // Each of three tags is compared with one bin.
        f64::from(tag) - pairs,
        "union bound over all pairs of all bins",
    ));
    let width = 64 * kkrt.code_words();
    bounds.push(statistical(
        "kkrt: code words nearer than 128".into(),
        over(format!("w {width}")),
        -(near_log2(width) + ((CHOICES * size * bins) as f64).log2()),
        "Kolesnikov et al. (CCS 2016), section 3.2",
    ));
    bounds.push(table("kkrt: items do not fit into the table", size, bins));
    bounds
}

/// Bounds of what is done over whole sets of so many items.
pub fn whole(items: usize) -> Vec<Bound> {
    let n = items as f64;
    let sizes = Sizes { sender: items, receiver: items };
    let statistical = |what: &str, with: String, bits: f64, source| Bound {
        what: what.into(),
        with,
        bits,
        kind: Kind::Statistical,
        source,
    };
    let joined = CircuitPsi::new(sizes, Payloads::default());
    let evaluations = joined.evaluations();
    let function = VolePsi { variant: Variant::Fast, bins: 1 }.strength(evaluations);
    let (bins, keys) = (joined.bins() as f64, CHOICES * items);
    let owners =
        Owners { sizes: vec![items; OWNERS], leader: PartyId(0), recipients: (0..OWNERS).map(PartyId).collect() };
    let asked = tag_bits(items as u128 * u128::from(LARGEST_BUDGET));
    let programmed = [
        ("circuit-psi: a store cannot be encoded", joined.layout(), keys),
        ("circuit-psi: the function's store cannot be encoded", function.layout, evaluations.receiver),
    ];
    let mut bounds = vec![
        statistical(
            "circuit-psi: a bin matches that does not",
            format!("{} bits, {bins} bins", joined.tag_bits()),
            joined.tag_bits() as f64 - bins.log2(),
            "Rindal, Schoppmann (EUROCRYPT 2021), section 5",
        ),
        statistical(
            "circuit-psi: a store has an item that is not in it",
            format!("{} bits", function.scalar_bits),
            function.scalar_bits as f64 - (keys as f64).log2(),
            "Raghuraman, Rindal (CCS 2022), section 4",
        ),
        table("circuit-psi: items do not fit into the table", items, 1),
        statistical(
            "several owners: an item passes that one lacks",
            format!("{} bits, {OWNERS} owners", owners.share_bits()),
            f64::from(owners.share_bits()) - n.log2(),
            "Kolesnikov et al. (CCS 2017), section 6",
        ),
        statistical(
            "unbalanced: an asked item matches wrongly",
            format!("{asked} bits, 2^{} asked items", LARGEST_BUDGET.ilog2()),
            f64::from(asked) - n.log2() - (LARGEST_BUDGET as f64).log2(),
            "union bound over the budget",
        ),
    ];
    // More are refused.
    if set_union::check_size(items).is_ok() {
        bounds.extend(union(items));
        bounds.push(statistical(
            "union: a bin's secret is met",
            format!("{} bits, {} bins", set_union::SECRET_BITS, cuckoo::bins(items, 1)),
            f64::from(set_union::SECRET_BITS) - (cuckoo::bins(items, 1) as f64).log2(),
            "Garimella et al. (PKC 2021), section 4",
        ));
    }
    bounds.extend(programmed.into_iter().map(|(what, layout, keys)| {
        statistical(
            what,
            format!("{keys} keys, bands of {}", layout.band),
            -store(&layout, keys),
            "Kingman (1970); Bienstock et al. (USENIX Security 2023); crates/psi/src/okvs.rs",
        )
    }));
    bounds
}

/// Bounds of a union, and of the ids that it is of, besides the secrets of its bins.
fn union(items: usize) -> Vec<Bound> {
    let (bins, keys) = (cuckoo::bins(items, 1), CHOICES * items);
    let statistical =
        |what: String, with: String, bits: f64, source| Bound { what, with, bits, kind: Kind::Statistical, source };
    let tag = tag_bits(bins as u128);
    let mut bounds = vec![
        statistical(
            "union: tags of different values are equal".into(),
            format!("{tag} bits, {bins} bins"),
            f64::from(tag) - (bins as f64).log2(),
            "union bound over the bins",
        ),
        table("union: numbers do not fit into bins", items, 1),
        statistical(
            "union: the store of secrets cannot be encoded".into(),
            format!("{keys} keys"),
            -store(&set_union::store_layout(items), keys),
            "Kingman (1970); Bienstock et al. (USENIX Security 2023); crates/psi/src/okvs.rs",
        ),
    ];
    let functions = [
        ("union: the function of bins", Sizes { sender: keys, receiver: bins }),
        ("union: the function of places", Sizes { sender: bins, receiver: bins }),
        ("ids by oprf: each of two functions", Sizes { sender: items, receiver: items }),
    ];
    for (what, sizes) in functions {
        let strength = VolePsi { variant: Variant::Fast, bins: 1 }.strength(sizes);
        bounds.push(statistical(
            format!("{what} has the value of another item"),
            format!("{} bits, {} items", strength.scalar_bits, sizes.sender),
            strength.scalar_bits as f64 - (sizes.sender as f64).log2(),
            "Raghuraman, Rindal (CCS 2022), section 4",
        ));
        bounds.push(statistical(
            format!("{what} has a store that cannot be encoded"),
            format!("{} keys, bands of {}", sizes.receiver, strength.layout.band),
            -store(&strength.layout, sizes.receiver),
            "Kingman (1970); Bienstock et al. (USENIX Security 2023); crates/psi/src/okvs.rs",
        ));
    }
    bounds
}

/// log2 of the bound on the probability that keys at random places of a layout wait for its band: n e^(-theta w), where theta > 0 solves
/// (n / s) (e^theta - 1) = theta.
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

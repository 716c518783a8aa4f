//! CPU time of the protocols: what matches are predicted to take, and protocols are chosen by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a protocol takes of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Seconds for sets of any size: base OTs and the first correlations.
    pub begin: f64,
    /// Seconds for each item of both sets.
    pub item: f64,
    /// Seconds for each item that a row has beside the first one; zero of a protocol with one item a row.
    #[serde(default)]
    pub further: f64,
}

const fn price(begin: f64, item: f64) -> Price {
    Price { begin, item, further: 0.0 }
}

/// The default table, by the protocols' names.
///
/// Measured on 2026-11-22, on a core of an AMD EPYC with AVX-512; without it, relatives take up to thrice as long.
/// Above the prices is the program that measures them. What a protocol begins with is its time for sets of few items.
const MEASURED: [(&str, Price); 11] = [
    // tacit-bench psi --rows 4,18,20, both roles together; network and memory dominate all but dh and vole-compact
    ("vole", price(0.06, 0.45e-6)),
    ("vole-compact", price(0.06, 0.55e-6)),
    ("vole-malicious", price(0.06, 0.45e-6)),
    ("kkrt", price(0.06, 0.45e-6)),
    ("dh", price(0.003, 20e-6)),
    ("multi-party", price(0.06, 0.45e-6)),
    // tacit-bench relatives --rows 0,18, each party
    ("dh-cardinality", price(0.01, 8e-6)),
    ("private-id-ddh", price(0.01, 21e-6)),
    ("private-id-oprf", price(0.1, 2.5e-6)),
    ("multi-key-private-id", Price { begin: 0.01, item: 27e-6, further: 8e-6 }),
    ("ps3i", Price { begin: 0.1, item: 10e-6, further: 8e-6 }),
];

/// The most that a protocol may be said to begin with, or an item to take, in seconds.
const MOST: f64 = 10.0;

/// What every protocol takes of the processor, by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Price>")]
pub struct Prices(BTreeMap<String, Price>);

impl Default for Prices {
    fn default() -> Self {
        Self(MEASURED.map(|(name, price)| (name.to_owned(), price)).into())
    }
}

impl TryFrom<BTreeMap<String, Price>> for Prices {
    type Error = String;

    fn try_from(told: BTreeMap<String, Price>) -> Result<Self, String> {
        if let Some((name, _)) = MEASURED.iter().find(|(name, _)| !told.contains_key(*name)) {
            return Err(format!("there is no price of {name}"));
        }
        for (name, Price { begin, item, further }) in &told {
            if MEASURED.iter().all(|(known, _)| known != name) {
                return Err(format!("there is no protocol {name}"));
            }
            if ![begin, item, further].iter().all(|seconds| (0.0..=MOST).contains(*seconds)) {
                return Err(format!("a price of {name} is not from 0 to {MOST} seconds"));
            }
        }
        Ok(Self(told))
    }
}

impl Prices {
    /// The price of a protocol. One from elsewhere is taken to be as fast as the fastest.
    pub fn of(&self, protocol: &str) -> Price {
        self.0.get(protocol).or_else(|| self.0.get("vole")).copied().unwrap_or(price(0.0, 0.0))
    }

    /// All prices, by the protocols' names.
    pub fn table(&self) -> &BTreeMap<String, Price> {
        &self.0
    }

    /// Seconds of the processor for as many items of both sets together.
    pub fn seconds(&self, protocol: &str, items: f64) -> f64 {
        let Price { begin, item, .. } = self.of(protocol);
        begin + item * items
    }
}

#[cfg(test)]
mod tests {
    use super::{Price, Prices};

    #[test]
    fn a_table_has_every_protocol_and_no_other() {
        let table = Prices::default().table().clone();
        assert_eq!(Prices::try_from(table.clone()), Ok(Prices::default()));
        let changed = |name: &str, price: Option<Price>| {
            let mut table = table.clone();
            match price {
                Some(price) => table.insert(name.to_owned(), price),
                None => table.remove(name),
            };
            Prices::try_from(table).map_err(|error| error.to_string())
        };
        let dear = Price { begin: 1.0, item: 1.0, further: 0.0 };
        assert_eq!(changed("dh", Some(dear)).map(|prices| prices.seconds("dh", 2.0)), Ok(3.0));
        assert_eq!(changed("dh", None), Err("there is no price of dh".into()));
        assert_eq!(changed("magic", Some(dear)), Err("there is no protocol magic".into()));
        for wrong in [-1.0, 11.0, f64::NAN] {
            let refused = changed("dh", Some(Price { item: wrong, ..dear }));
            assert_eq!(refused, Err("a price of dh is not from 0 to 10 seconds".into()));
        }
    }
}

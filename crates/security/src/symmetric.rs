//! Ciphers and keyed hashes of data: generators, kept files, connections, tokens, hashes of strings.

use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use tacit_psi::tokens::PADDING_BITS;
use tacit_table::kept::CHUNK;

use crate::bound::{Bound, Kind};

/// Bytes of a cipher's block.
const BLOCK: f64 = 16.0;

/// Blocks of the longest identifier that is reckoned with, 200 bytes: the first holds 12 of them.
const IDENTIFIER_BLOCKS: f64 = 13.0;

/// Bytes that a row of a wide kept table takes at a node of `rep3`.
const ROW: f64 = 512.0;

/// log2 of the bytes that a pair's generator gives, and that a connection carries, in a long session: a tebibyte.
const LOG2_SESSION: f64 = 40.0;

/// Bytes of a full TLS record.
const RECORD: f64 = 16384.0;

/// The planner's source, whose constants are read here as they stand.
const PLANNER: &str = include_str!("../../../python/tacit/plan/facts/kinds.py");

/// An integer constant of the planner.
fn of_planner(name: &str) -> f64 {
    let line = PLANNER.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
    let digits = line.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.and_then(|digits| digits.parse().ok()).expect("a constant of python/tacit/plan/facts/kinds.py")
}

/// Minus log2 of the advantage against a cipher in counter mode for 2^`log2_blocks` blocks under one key: that no two
/// blocks are equal.
fn counter_mode(log2_blocks: f64) -> f64 {
    129.0 - 2.0 * log2_blocks
}

/// Bounds of what does not depend on sizes.
pub fn of_every_run() -> Vec<Bound> {
    let suite = TLS13_AES_128_GCM_SHA256.tls13().expect("a suite of TLS 1.3");
    let records = suite.common.confidentiality_limit as f64;
    let of_key = (records * (RECORD / BLOCK + 1.0)).log2();
    let keys = (LOG2_SESSION - records.log2() - RECORD.log2()).max(0.0);
    let statistical = |what: &str, with: String, bits, source| Bound {
        what: what.into(),
        with,
        bits,
        kind: Kind::Statistical,
        source,
    };
    vec![
        statistical(
            "generators of a pair: counter mode is told from random",
            format!("2^{LOG2_SESSION} bytes a session"),
            counter_mode(LOG2_SESSION - BLOCK.log2()),
            "Bellare, Desai, Jokipii, Rogaway (FOCS 1997), theorem 13",
        ),
        statistical(
            "TLS 1.3: AES-GCM is told from random",
            format!("2^{:.0} records a key, 2^{LOG2_SESSION} bytes", records.log2()),
            counter_mode(of_key) - keys,
            "RFC 8446, section 5.5; Luykx, Paterson (2017)",
        ),
    ]
}

/// Bounds of a match of `count` identifiers of all parties together.
pub fn of_identifiers(count: f64) -> Vec<Bound> {
    let identifiers = count.log2();
    let token_bits = 128.0 - f64::from(PADDING_BITS.count_ones());
    vec![Bound {
        what: "tokens: two identifiers have one token".into(),
        with: format!("2^{identifiers:.1} of {IDENTIFIER_BLOCKS} blocks, {token_bits} bits"),
        bits: token_bits - (12.0 * IDENTIFIER_BLOCKS).log2() - 2.0 * identifiers,
        kind: Kind::Statistical,
        source: "Bellare, Pietrzak, Rogaway (CRYPTO 2005), theorem 3",
    }]
}

/// Bounds of a query over tables of `items` rows a side.
pub fn of_tables(items: f64) -> Vec<Bound> {
    let statistical = |what: &str, with: String, bits, source| Bound {
        what: what.into(),
        with,
        bits,
        kind: Kind::Statistical,
        source,
    };
    let file = (items * ROW / BLOCK).log2();
    let chunks = (items * ROW / CHUNK as f64).ceil().log2().max(0.0);
    let [collision, widest] = ["COLLISION_BITS", "WIDEST"].map(of_planner);
    let strings = (2.0 * items).log2();
    let width = (2.0 * strings.ceil() + collision).min(widest);
    vec![
        statistical(
            "kept file: counter mode is told from random",
            format!("2^{file:.1} blocks under the file's own key"),
            counter_mode(file),
            "Bellare, Desai, Jokipii, Rogaway (FOCS 1997); nonces are counted",
        ),
        statistical(
            "kept file: a changed chunk is taken",
            format!("{CHUNK} bytes a chunk, 2^{chunks:.1} chunks"),
            128.0 - (CHUNK as f64 / BLOCK + 3.0).log2() - chunks,
            "McGrew, Viega (INDOCRYPT 2004), theorem 2",
        ),
        statistical(
            "strings of a query: two have one hash",
            format!("2^{strings:.1} strings of all columns and constants, {width} bits"),
            width - 2.0 * strings + 1.0,
            "birthday bound; BLAKE3 under the plan's key",
        ),
    ]
}

//! Every protocol file, every method of `Backend` and everything written above them has a view test.
//!
//! A test says what it looks at in lines `// views: path ...` directly above its `#[test]`; methods as `Rep3::and` or
//! `Two::and`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Where protocols and operators are.
const ROOMS: [&str; 7] = [
    "crates/mpc/src/backends",
    "crates/mpc/src/circuits",
    "crates/mpc/src/fixed.rs",
    "crates/mpc/src/ops",
    "crates/ot/src",
    "crates/psi/src",
    "crates/table/src/operators",
];

/// Engines whose methods are looked at one by one.
const ENGINES: [&str; 3] = ["Rep3", "Two", "Four"];

/// Methods of `Backend` that never communicate.
const LOCAL: [&str; 6] = ["step", "public_bits", "public_vector", "not", "not_all", "narrow"];

/// Files that exchange no message, each with what it is.
const SILENT: [(&str, &str); 72] = [
    ("crates/mpc/src/backends/cell.rs", "arithmetic of one element"),
    ("crates/mpc/src/backends/clear.rs", "the engine without security, of one party"),
    ("crates/mpc/src/backends/components.rs", "shares as files have them"),
    ("crates/mpc/src/backends/cost.rs", "formulas"),
    ("crates/mpc/src/backends/four/costs.rs", "formulas"),
    ("crates/mpc/src/backends/four/engine.rs", "calls of the files beside it"),
    ("crates/mpc/src/backends/four/failure.rs", "a formula of public bounds"),
    ("crates/mpc/src/backends/generator.rs", "makes generators"),
    ("crates/mpc/src/backends/mod.rs", "a list of modules"),
    ("crates/mpc/src/backends/networked.rs", "a trait"),
    ("crates/mpc/src/backends/rep3/costs.rs", "formulas"),
    ("crates/mpc/src/backends/rep3/scan/digits.rs", "arithmetic"),
    ("crates/mpc/src/backends/rep3/split/scratch.rs", "memory for the arithmetic of split products"),
    ("crates/mpc/src/backends/stored.rs", "bytes that an engine without data adds up"),
    ("crates/mpc/src/backends/tally.rs", "the engine without data"),
    ("crates/mpc/src/backends/two/costs.rs", "formulas"),
    ("crates/mpc/src/backends/two/engine.rs", "calls of the files beside it"),
    ("crates/mpc/src/backends/two/garbled/circuit.rs", "circuits"),
    ("crates/mpc/src/backends/two/garbled/function.rs", "circuits"),
    ("crates/mpc/src/backends/two/garbled/half_gates.rs", "one gate in memory; its messages are in garbled/mod.rs"),
    ("crates/mpc/src/backends/two/garbled/tile.rs", "a circuit in memory; its messages are in garbled/mod.rs"),
    ("crates/mpc/src/backends/two/lookups/mod.rs", "a list of modules"),
    ("crates/mpc/src/backends/two/mod.rs", "a list of modules"),
    ("crates/mpc/src/backends/two/prices.rs", "measured times"),
    ("crates/mpc/src/backends/two/products/mod.rs", "a list of modules"),
    ("crates/mpc/src/backends/two/rows/mod.rs", "a list of modules"),
    ("crates/mpc/src/backends/two/strategy.rs", "which protocol runs: public sizes"),
    ("crates/mpc/src/backends/two/terms.rs", "the network and prices, which are public"),
    ("crates/mpc/src/backends/two/transfers/account.rs", "counts of what was taken, which is public"),
    ("crates/mpc/src/circuits/gates.rs", "gates, which engines are asked for, and their number"),
    ("crates/mpc/src/circuits/mod.rs", "a list of modules"),
    ("crates/mpc/src/circuits/named.rs", "which circuit a function has"),
    ("crates/mpc/src/circuits/small.rs", "circuits for garbling"),
    ("crates/mpc/src/ops/mod.rs", "a list of modules"),
    ("crates/ot/src/adversary.rs", "a choice in code"),
    ("crates/ot/src/error.rs", "errors"),
    ("crates/ot/src/lib.rs", "a list of modules"),
    ("crates/ot/src/ole/lift.rs", "arithmetic"),
    ("crates/ot/src/ole/matrices/base.rs", "public numbers, and arithmetic"),
    ("crates/ot/src/ole/matrices/blocks.rs", "sizes of blocks, which are public"),
    ("crates/ot/src/ole/moduli.rs", "public numbers"),
    ("crates/ot/src/ole/planes.rs", "an encoding"),
    ("crates/ot/src/ole/sample.rs", "random polynomials; what hides in them is seen in ask.rs and answer.rs"),
    ("crates/ot/src/silent.rs", "a list of modules"),
    ("crates/ot/src/silent/supply.rs", "what is left of a batch"),
    ("crates/ot/src/vole.rs", "types"),
    ("crates/psi/src/parts/binning.rs", "which item goes in which bin, in memory"),
    ("crates/psi/src/parts/chance.rs", "constants"),
    ("crates/psi/src/choice.rs", "which protocol runs, by public sizes"),
    ("crates/psi/src/intersection/circuit_psi/words.rs", "an encoding"),
    ("crates/psi/src/parts/cuckoo.rs", "a hash table in memory; what is sent of it is seen in circuit_psi.rs"),
    ("crates/psi/src/error.rs", "errors"),
    ("crates/psi/src/parts/group.rs", "arithmetic of curve points"),
    ("crates/psi/src/lib.rs", "a list of modules"),
    ("crates/psi/src/prices.rs", "constants, or a table that all parties share"),
    ("crates/psi/src/parts/tag_lookup.rs", "equal tags in memory"),
    ("crates/psi/src/parts/okvs/elimination.rs", "linear algebra; the store is seen in okvs.rs"),
    ("crates/psi/src/parts/okvs/order.rs", "an order of rows in memory"),
    ("crates/psi/src/interface/protocol.rs", "traits"),
    ("crates/psi/src/interface/role.rs", "a choice in code"),
    ("crates/psi/src/relatives/mod.rs", "protocols of this room behind traits"),
    ("crates/psi/src/interface/rounds.rs", "a trait"),
    ("crates/psi/src/interface/rounds/state.rs", "an encoding of a state that its own party keeps"),
    ("crates/psi/src/parts/tag_map.rs", "maps in memory"),
    ("crates/table/src/operators/filter.rs", "one AND of planes"),
    ("crates/table/src/operators/mod.rs", "a list of modules"),
    ("crates/table/src/operators/project.rs", "chooses columns"),
    ("crates/table/src/operators/runs.rs", "comparisons of neighbours, by circuits"),
    ("crates/psi/src/interface/mod.rs", "a list of modules"),
    ("crates/psi/src/intersection/mod.rs", "a list of modules"),
    ("crates/psi/src/parts/mod.rs", "a list of modules"),
    ("crates/psi/src/wrong_input.rs", "errors"),
];

/// Modules of tests within these rooms.
const TESTS: [&str; 27] = [
    "crates/mpc/src/backends/attacks.rs",
    "crates/mpc/src/backends/rep3/shuffle/liar.rs",
    "crates/mpc/src/backends/two/rows/shuffle/liar.rs",
    "crates/mpc/src/backends/two/views/faults.rs",
    "crates/mpc/src/backends/two/views/gates.rs",
    "crates/mpc/src/backends/two/views/matrices.rs",
    "crates/mpc/src/backends/two/views/mod.rs",
    "crates/mpc/src/backends/two/views/moves.rs",
    "crates/mpc/src/backends/two/views/numbers.rs",
    "crates/mpc/src/backends/two/views/streamed.rs",
    "crates/mpc/src/backends/two/views/whole.rs",
    "crates/mpc/src/backends/two/garbled/known_answers.rs",
    "crates/mpc/src/backends/two/garbled/views.rs",
    "crates/mpc/src/backends/two/transfers/views.rs",
    "crates/ot/src/base/views.rs",
    "crates/ot/src/correlated/views.rs",
    "crates/ot/src/ggm/views.rs",
    "crates/ot/src/ole/fresh.rs",
    "crates/ot/src/ole/matrices/fresh.rs",
    "crates/ot/src/ole/matrices/tests.rs",
    "crates/ot/src/ole/matrices/views.rs",
    "crates/ot/src/ole/views.rs",
    "crates/ot/src/silent/attacks.rs",
    "crates/ot/src/silent/cot/views.rs",
    "crates/ot/src/silent/views.rs",
    "crates/ot/src/softspoken/deviation.rs",
    "crates/ot/src/softspoken/views.rs",
];

/// How a file says that it exchanges messages.
const MESSAGES: [&str; 9] = [
    ".send(",
    ".recv(",
    ".recv_pieces(",
    "next_round(",
    "Outgoing::",
    "send_open(",
    "send_masked(",
    "recv_block(",
    "recv_plane(",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// All Rust files under a folder, or the file, as paths from the root.
fn sources(at: &Path) -> Vec<String> {
    if at.is_file() {
        let path = at.strip_prefix(root()).expect("in the workspace").to_str().expect("a name");
        return if path.ends_with(".rs") { vec![path.to_owned()] } else { vec![] };
    }
    let entries = fs::read_dir(at).into_iter().flatten();
    let mut files: Vec<String> = entries.flat_map(|entry| sources(&entry.expect("an entry").path())).collect();
    files.sort();
    files
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("a source")
}

/// What must be looked at.
fn wanted() -> BTreeSet<String> {
    let files = ROOMS.iter().flat_map(|room| sources(&root().join(room)));
    let silent: BTreeSet<&str> = SILENT.iter().map(|&(file, _)| file).chain(TESTS).collect();
    let mut wanted: BTreeSet<String> = files.filter(|file| !silent.contains(file.as_str())).collect();
    let backend = text("crates/mpc/src/backend.rs");
    let methods = backend.lines().filter_map(|line| line.strip_prefix("    fn "));
    for method in methods.filter_map(|line| line.split(['<', '(']).next()).filter(|method| !LOCAL.contains(method)) {
        wanted.extend(ENGINES.map(|engine| format!("{engine}::{method}")));
    }
    wanted
}

/// What tests look at, each with the file of the test.
fn covered() -> BTreeMap<String, String> {
    let mut covered = BTreeMap::new();
    let crates = fs::read_dir(root().join("crates")).expect("crates");
    let files = crates.flat_map(|room| {
        let room = room.expect("a crate").path();
        [sources(&room.join("src")), sources(&room.join("tests"))].concat()
    });
    for file in files.filter(|file| !file.starts_with("crates/views/")) {
        let text = text(&file);
        let mut named = Vec::new();
        let mut lines = text.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            if let Some(names) = line.strip_prefix("// views: ") {
                named.extend(names.split_whitespace().map(str::to_owned));
            } else if line == "#[test]" {
                let ignored = lines.peek().is_some_and(|next| next.starts_with("#[ignore"));
                assert!(!ignored || named.is_empty(), "{file}: a view test that `make test` leaves out");
                covered.extend(named.drain(..).map(|name| (name, file.clone())));
            } else {
                assert!(named.is_empty(), "{file}: `// views:` stands above `{line}`, not above a test");
            }
        }
    }
    covered
}

#[test]
fn everything_has_a_view_test() {
    let (wanted, covered) = (wanted(), covered());
    let missing: Vec<&String> = wanted.iter().filter(|name| !covered.contains_key(*name)).collect();
    assert!(missing.is_empty(), "without a view test (docs/security/views.md), and not in SILENT: {missing:#?}");
    let unknown: Vec<_> = covered.iter().filter(|(name, _)| !wanted.contains(*name)).collect();
    assert!(unknown.is_empty(), "tests that look at nothing that is there: {unknown:#?}");
}

#[test]
fn silent_files_exchange_nothing() {
    for (file, what) in SILENT {
        let text = text(file);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let sends = code.into_iter().find(|line| MESSAGES.iter().any(|message| line.contains(message)));
        assert!(sends.is_none(), "{file} ({what}): {sends:?}");
    }
}

//! Known answers of garbling: a file of labels and tables, what this room computes, and an implementation that shares
//! no code with it.
//!
//! The other implementation goes row by row and gate by gate over the circuit as it is written, with AES from another
//! library. `TACIT_UPDATE_GOLDEN=1` lets it write the file anew.

use std::mem::MaybeUninit;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use serde::{Deserialize, Serialize};

use super::circuit::{Builder, Circuit, Wire};
use super::half_gates::Keys;
use super::tile::{Memory, Tile, Write};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/half_gates.json");

/// Blocks are 32 hexadecimal digits of a 128-bit number; labels and tables are row by row.
#[derive(Serialize, Deserialize)]
struct Vectors {
    inputs: usize,
    /// Wires are numbered: inputs first, then one a gate.
    gates: Vec<Gate>,
    outputs: Vec<usize>,
    delta: String,
    first_key: String,
    rows: Vec<Row>,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Gate {
    And(usize, usize),
    Xor(usize, usize),
    Not(usize),
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Row {
    /// The label of zero of each input.
    inputs: Vec<String>,
    /// The garbler's and the evaluator's half of each AND.
    tables: Vec<[String; 2]>,
    /// The label of zero of each output.
    outputs: Vec<String>,
}

fn hex(block: u128) -> String {
    format!("{block:032x}")
}

fn block(hex: &str) -> u128 {
    u128::from_str_radix(hex, 16).expect("hexadecimal digits")
}

fn vectors() -> Vectors {
    let text = std::fs::read_to_string(FILE).expect("the file of vectors");
    serde_json::from_str(&text).expect("vectors")
}

mod plain {
    //! Zahur, Rosulek, Evans, "Two Halves Make a Whole" (EUROCRYPT 2015), Figure 2. The hash is H(x, i) = AES_i(s(x)) +
    //! s(x), s(l, r) = (l + r, l), of Guo, Katz, Wang, Weng, Yu (CRYPTO 2020), section 4.2. A block's bytes are
    //! little-endian.

    use super::*;

    fn h(x: u128, i: u128) -> u128 {
        let (l, r) = ((x >> 64) as u64, x as u64);
        let s = u128::from(l ^ r) << 64 | u128::from(l);
        let mut image = aes::Block::from(s.to_le_bytes());
        aes::Aes128::new(&i.to_le_bytes().into()).encrypt_block(&mut image);
        u128::from_le_bytes(image.into()) ^ s
    }

    fn lsb(x: u128) -> bool {
        x & 1 == 1
    }

    /// One row: the tables and the outputs' zero labels.
    pub fn garble(v: &Vectors, inputs: &[u128]) -> (Vec<[u128; 2]>, Vec<u128>) {
        let (delta, mut j) = (block(&v.delta), block(&v.first_key));
        let (mut w, mut tables) = (inputs.to_vec(), vec![]);
        for &gate in &v.gates {
            let label = match gate {
                Gate::Xor(a, b) => w[a] ^ w[b],
                Gate::Not(a) => w[a] ^ delta,
                Gate::And(a, b) => {
                    let (wa0, wb0, j0, j1) = (w[a], w[b], j, j + 1);
                    j += 2;
                    let (pa, pb) = (lsb(wa0), lsb(wb0));
                    let tg = h(wa0, j0) ^ h(wa0 ^ delta, j0) ^ if pb { delta } else { 0 };
                    let wg = h(wa0, j0) ^ if pa { tg } else { 0 };
                    let te = h(wb0, j1) ^ h(wb0 ^ delta, j1) ^ wa0;
                    let we = h(wb0, j1) ^ if pb { te ^ wa0 } else { 0 };
                    tables.push([tg, te]);
                    wg ^ we
                }
            };
            w.push(label);
        }
        (tables, v.outputs.iter().map(|&out| w[out]).collect())
    }

    /// One row: the outputs' labels from those of the inputs.
    pub fn evaluate(v: &Vectors, tables: &[[u128; 2]], inputs: &[u128]) -> Vec<u128> {
        let mut j = block(&v.first_key);
        let (mut w, mut tables) = (inputs.to_vec(), tables.iter());
        for &gate in &v.gates {
            let label = match gate {
                Gate::Xor(a, b) => w[a] ^ w[b],
                Gate::Not(a) => w[a],
                Gate::And(a, b) => {
                    let [tg, te] = *tables.next().expect("a table for each AND");
                    let wg = h(w[a], j) ^ if lsb(w[a]) { tg } else { 0 };
                    let we = h(w[b], j + 1) ^ if lsb(w[b]) { te ^ w[a] } else { 0 };
                    j += 2;
                    wg ^ we
                }
            };
            w.push(label);
        }
        v.outputs.iter().map(|&out| w[out]).collect()
    }

    /// One row in clear.
    pub fn compute(v: &Vectors, inputs: &[bool]) -> Vec<bool> {
        let mut w = inputs.to_vec();
        for &gate in &v.gates {
            w.push(match gate {
                Gate::And(a, b) => w[a] & w[b],
                Gate::Xor(a, b) => w[a] ^ w[b],
                Gate::Not(a) => !w[a],
            });
        }
        v.outputs.iter().map(|&out| w[out]).collect()
    }
}

/// The circuit as this room has it.
fn circuit(v: &Vectors) -> Circuit {
    let (mut build, mut wires): (Builder, Vec<Wire>) = Builder::new(v.inputs);
    for &gate in &v.gates {
        wires.push(match gate {
            Gate::And(a, b) => build.and(wires[a], wires[b]),
            Gate::Xor(a, b) => build.xor(wires[a], wires[b]),
            Gate::Not(a) => build.not(wires[a]),
        });
    }
    build.finish(&v.outputs.iter().map(|&out| wires[out]).collect::<Vec<_>>())
}

/// Input number i of all rows, for each i.
fn by_input(v: &Vectors, label: impl Fn(usize, &str) -> u128) -> Vec<Vec<u128>> {
    (0..v.inputs).map(|i| v.rows.iter().map(|row| label(i, &row.inputs[i])).collect()).collect()
}

#[test]
fn the_plain_implementation_gives_the_vectors() {
    let kept = vectors();
    let row = |row: &Row| {
        let inputs: Vec<u128> = row.inputs.iter().map(|label| block(label)).collect();
        let (tables, outputs) = plain::garble(&kept, &inputs);
        let tables = tables.iter().map(|table| table.map(hex)).collect();
        Row { inputs: row.inputs.clone(), tables, outputs: outputs.into_iter().map(hex).collect() }
    };
    let rows: Vec<Row> = kept.rows.iter().map(row).collect();
    if std::env::var_os("TACIT_UPDATE_GOLDEN").is_some() {
        let new = Vectors { rows, ..kept };
        let text = serde_json::to_string_pretty(&new).expect("vectors") + "\n";
        return std::fs::write(FILE, text).expect("a writable file");
    }
    assert_eq!(rows, kept.rows);
}

#[test]
fn plain_evaluation_computes_the_circuit() {
    let v = vectors();
    let delta = block(&v.delta);
    for (number, row) in v.rows.iter().enumerate() {
        let tables: Vec<_> = row.tables.iter().map(|[g, e]| [block(g), block(e)]).collect();
        for bits in 0..1usize << v.inputs {
            let bit = |i: usize| bits >> i & 1 == 1;
            let held: Vec<u128> =
                (0..v.inputs).map(|i| block(&row.inputs[i]) ^ if bit(i) { delta } else { 0 }).collect();
            let clear = plain::compute(&v, &(0..v.inputs).map(bit).collect::<Vec<_>>());
            let expected: Vec<u128> =
                row.outputs.iter().zip(clear).map(|(zero, bit)| block(zero) ^ if bit { delta } else { 0 }).collect();
            assert_eq!(plain::evaluate(&v, &tables, &held), expected, "row {number}, inputs {bits:b}");
        }
    }
}

#[test]
fn garbling_gives_the_vectors() {
    let v = vectors();
    let (circuit, rows) = (circuit(&v), v.rows.len());
    let zero = by_input(&v, |_, label| block(label));
    let mut memory = Memory::new(&circuit);
    let mut tile = Tile::new(&mut memory, zero.iter().map(|labels| Some(labels.as_slice())).collect(), rows);
    let mut tables: Vec<Vec<u128>> = vec![];
    let send = |blocks: usize, garble: Write<'_>| {
        tables.push(garble(&mut vec![MaybeUninit::uninit(); blocks]).to_vec());
        Ok(())
    };
    tile.garble(&circuit, &mut Keys::new(block(&v.first_key)), block(&v.delta), send).expect("nothing can fail");
    let outputs = tile.outputs(&circuit);
    for (number, row) in v.rows.iter().enumerate() {
        let got: Vec<_> = tables.iter().map(|table| [table[number], table[rows + number]].map(hex)).collect();
        assert_eq!(got, row.tables, "row {number}");
        assert_eq!(outputs.iter().map(|labels| hex(labels[number])).collect::<Vec<_>>(), row.outputs, "row {number}");
    }
}

#[test]
fn evaluation_with_the_vectors_gives_the_labels_of_the_plain_implementation() {
    let v = vectors();
    let (circuit, rows, delta) = (circuit(&v), v.rows.len(), block(&v.delta));
    for bits in 0..1usize << v.inputs {
        let held = by_input(&v, |i, label| block(label) ^ if bits >> i & 1 == 1 { delta } else { 0 });
        let mut memory = Memory::new(&circuit);
        let mut tile = Tile::new(&mut memory, held.iter().map(|labels| Some(labels.as_slice())).collect(), rows);
        let mut next = 0..circuit.ands();
        let receive = |blocks: usize, take: &mut dyn FnMut(&[u128])| {
            let gate = next.next().expect("a table for each AND");
            let half = |which: usize| v.rows.iter().map(move |row| block(&row.tables[gate][which]));
            let table: Vec<u128> = half(0).chain(half(1)).collect();
            assert_eq!(table.len(), blocks);
            take(&table);
            Ok(())
        };
        tile.evaluate(&circuit, &mut Keys::new(block(&v.first_key)), receive).expect("nothing can fail");
        let outputs = tile.outputs(&circuit);
        for (number, row) in v.rows.iter().enumerate() {
            let tables: Vec<_> = row.tables.iter().map(|[g, e]| [block(g), block(e)]).collect();
            let labels: Vec<u128> = held.iter().map(|labels| labels[number]).collect();
            let expected = plain::evaluate(&v, &tables, &labels);
            assert_eq!(outputs.iter().map(|labels| labels[number]).collect::<Vec<_>>(), expected, "inputs {bits:b}");
        }
    }
}

//! Random tables with NULLs, extremes, duplicates and rows to filter out.

use std::collections::{HashMap, HashSet};

use tacit_math::{Prg, Seed};

use super::{Cell, Clear};

/// Random numbers for test data.
pub struct Random(Prg);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Prg::new(&Seed::from_bytes(std::array::from_fn(|i| (seed >> (8 * (i % 8))) as u8))))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.0.vector::<u64>(1)[0] % bound as u64) as usize
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    fn or_null(&mut self, cell: Cell) -> Cell {
        if self.below(5) == 0 { Cell::Null } else { cell }
    }
}

const NAMES: [&str; 6] = ["", "a", "ab", "abc", "é", "zz"];

/// The big table, step 1.
pub fn table(random: &mut Random, rows: usize) -> Clear {
    let row = |random: &mut Random, i: usize| {
        let k = random.pick(&[-8, -1, 0, 0, 1, 2, 7]);
        let small = random.below(40) as i128 - 20;
        let v = random.pick(&[-65536, 65535, 0, 1, -1, small, small]);
        let r = random.pick(&[-524288, 524287, 0, small, small * 1000]);
        let q = random.pick(&[-(1 << 69), (1 << 69) - 1, 0, small, small << 60]);
        let (b, keep, u) = (random.below(2), random.below(3).min(1), random.pick(&[0, 255, 7, 8]));
        let (h, s) = (random.pick(&NAMES), random.pick(&NAMES));
        vec![
            Cell::Int(i as i128),
            random.or_null(Cell::Int(k)),
            random.or_null(Cell::Int(v)),
            random.or_null(Cell::Int(r)),
            random.or_null(Cell::Int(q)),
            random.or_null(Cell::Int(b as i128)),
            Cell::Int(keep as i128),
            random.or_null(Cell::Text(h.into())),
            random.or_null(Cell::Text(s.into())),
            Cell::Int(u),
        ]
    };
    let rows = (0..rows).map(|i| row(random, i)).collect();
    Clear::new(&["id", "k", "v", "r", "q", "b", "keep", "h", "s", "u"], rows)
}

/// The table of unique keys, step 2: unique among rows to keep, with some rows not to keep that repeat keys.
pub fn unique(random: &mut Random, rows: usize) -> Clear {
    let mut keys: Vec<i128> = (-8..8).collect();
    let mut out = Vec::new();
    for i in 0..rows {
        let name = Cell::Text(NAMES[i % NAMES.len()].into());
        let (p, w) = (random.below(1000) as i128 - 500, random.below(1 << 20) as i128 - (1 << 19));
        let keep = random.below(3) > 0 && !keys.is_empty();
        let k = if keep { keys.swap_remove(random.below(keys.len())) } else { random.below(16) as i128 - 8 };
        let k = random.or_null(Cell::Int(k));
        let name = if i < NAMES.len() { name } else { Cell::Null };
        out.push(vec![k, name, random.or_null(Cell::Int(p)), Cell::Int(w), Cell::Int(keep.into())]);
    }
    Clear::new(&["lk", "lh", "p", "w", "lkeep"], out)
}

/// The table of keys that are unique in all rows, step 6: those without a NULL of lk, of lh, and of l3, ls and lr
/// together.
pub fn distinct(random: &mut Random, rows: usize) -> Clear {
    let mut keys: Vec<i128> = (-8..8).collect();
    let mut seen = HashSet::new();
    let mut row = |random: &mut Random, i: usize| {
        let lk = Cell::Int(keys.swap_remove(random.below(keys.len())));
        let [l3, ls, lr] = std::iter::repeat_with(|| {
            let (l3, lr) = (random.pick(&[-8, -1, 0, 7]), random.pick(&[-524288, 0, 0, 524287]));
            let ls = Cell::Text(random.pick(&NAMES).into());
            [Cell::Int(l3), random.or_null(ls), Cell::Int(lr)]
        })
        .find(|key| seen.insert(key.clone()))
        .expect("more keys than rows");
        let lh = NAMES.get(i).map_or(Cell::Null, |&name| Cell::Text(name.into()));
        let (p, w) = (random.below(1000) as i128 - 500, random.below(1 << 20) as i128 - (1 << 19));
        let keep = Cell::Int(random.below(3).min(1) as i128);
        vec![random.or_null(lk), l3, ls, lr, lh, random.or_null(Cell::Int(p)), Cell::Int(w), keep]
    };
    let rows = (0..rows).map(|i| row(random, i)).collect();
    Clear::new(&["lk", "l3", "ls", "lr", "lh", "p", "w", "lkeep"], rows)
}

/// The tables of all inputs.
pub fn inputs(seed: u64, rows: usize, left_rows: usize) -> HashMap<usize, Clear> {
    let mut random = Random::new(seed);
    let (first, second) = (table(&mut random, rows), unique(&mut random, left_rows));
    HashMap::from([(1, first), (2, second), (6, distinct(&mut random, left_rows))])
}

/// The columns that hold strings.
pub const TEXTS: [&str; 4] = ["h", "s", "lh", "ls"];

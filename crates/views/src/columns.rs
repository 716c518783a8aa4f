//! Runs as a matrix over GF(2): one column for each named bit, one row for each run.

use crate::View;

/// The columns of some views of one layout.
pub struct Columns {
    /// The name of each part and the number of its first bit.
    starts: Vec<(String, usize)>,
    /// Bit r % 64 of word r / 64 of a column is its bit in run r.
    pub columns: Vec<Vec<u64>>,
}

/// Words of a column over `runs` runs.
pub fn words_for(runs: usize) -> usize {
    runs.div_ceil(64)
}

impl Columns {
    /// Panics unless all views have the same parts, as long.
    pub fn of(views: &[&View]) -> Self {
        let Some(first) = views.first() else { return Self { starts: vec![], columns: vec![] } };
        let layout = |view| View::parts(view).iter().map(|part| (part.kind, &part.name, part.bits()));
        let differs = views.iter().position(|view| !layout(view).eq(layout(first)));
        assert!(
            differs.is_none(),
            "run {differs:?} has other parts than the first one: what is seen depends on more than public sizes"
        );
        let mut columns = vec![vec![0; words_for(views.len())]; first.bits()];
        for (run, view) in views.iter().enumerate() {
            let mut rest = &mut columns[..];
            for part in view.parts() {
                let (own, others) = rest.split_at_mut(part.bits());
                for (columns, &byte) in own.chunks_mut(8).zip(&part.bytes) {
                    for (bit, column) in columns.iter_mut().enumerate() {
                        column[run / 64] |= u64::from(byte >> bit & 1) << (run % 64);
                    }
                }
                rest = others;
            }
        }
        let mut starts = Vec::new();
        let mut at = 0;
        for (number, part) in first.parts().iter().enumerate() {
            starts.push((format!("{:?} {} (part {number})", part.kind, part.name), at));
            at += part.bits();
        }
        Self { starts, columns }
    }

    /// What a column is.
    pub fn name(&self, column: usize) -> String {
        let part = self.starts.partition_point(|&(_, start)| start <= column) - 1;
        let (name, start) = &self.starts[part];
        format!("{name}, bit {}", column - start)
    }
}

/// The number of ones.
pub fn ones(column: &[u64]) -> usize {
    column.iter().map(|word| word.count_ones() as usize).sum()
}

/// The column over `runs` runs that is one in each.
pub fn all_ones(runs: usize) -> Vec<u64> {
    let mut column = vec![!0; words_for(runs)];
    if let Some(last) = column.last_mut() {
        *last >>= (64 - runs % 64) % 64;
    }
    column
}

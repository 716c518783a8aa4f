//! Runs as a matrix over GF(2): one column for each named bit, one row for each run.

use crate::View;

/// The columns of some views of one layout.
pub struct Columns {
    /// The name of each part and the number of its first bit.
    starts: Vec<(String, usize)>,
    /// How many columns there are.
    pub count: usize,
    /// Words of a column.
    words: usize,
    /// Column after column: bit r % 64 of word r / 64 of a column is its bit in run r.
    bits: Vec<u64>,
}

/// Words of a column over `runs` runs.
pub fn words_for(runs: usize) -> usize {
    runs.div_ceil(64)
}

/// Asserts that all views have the same parts, as long.
pub fn assert_alike<'a>(views: impl IntoIterator<Item = &'a View>) {
    let layout = |view: &'a View| view.parts().iter().map(|part| (part.kind, &part.name, part.bits()));
    let mut views = views.into_iter();
    let Some(first) = views.next() else { return };
    let differs = views.position(|view| !layout(view).eq(layout(first))).map(|before| before + 1);
    assert!(
        differs.is_none(),
        "run {differs:?} has other parts than the first one: what is seen depends on more than public sizes"
    );
}

impl Columns {
    /// Panics unless all views have the same parts, as long.
    pub fn of(views: &[&View]) -> Self {
        assert_alike(views.iter().copied());
        let words = words_for(views.len());
        let (mut starts, mut count) = (Vec::new(), 0);
        for (number, part) in views.first().iter().flat_map(|view| view.parts()).enumerate() {
            starts.push((format!("{:?} {} (part {number})", part.kind, part.name), count));
            count += part.bits();
        }
        let mut bits = vec![0; count * words];
        for (eight, views) in views.chunks(8).enumerate() {
            let (word, shift) = (eight / 8, 8 * (eight % 8));
            for (number, (_, start)) in starts.iter().enumerate() {
                let of_runs: Vec<&[u8]> = views.iter().map(|view| &view.parts()[number].bytes[..]).collect();
                let end = start + views[0].parts()[number].bits();
                for (byte, first) in (*start..end).step_by(8).enumerate() {
                    let rows = of_runs.iter().rev().fold(0, |rows, bytes| rows << 8 | u64::from(bytes[byte]));
                    let columns = square(rows).to_le_bytes();
                    for (column, of_column) in (first..end).zip(columns) {
                        bits[column * words + word] |= u64::from(of_column) << shift;
                    }
                }
            }
        }
        Self { starts, count, words, bits }
    }

    /// One of them.
    pub fn column(&self, column: usize) -> &[u64] {
        &self.bits[column * self.words..(column + 1) * self.words]
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.count).map(|column| self.column(column))
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

/// Bit j of byte i becomes bit i of byte j.
fn square(mut bits: u64) -> u64 {
    for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swapped = (bits ^ bits >> shift) & mask;
        bits ^= swapped ^ swapped << shift;
    }
    bits
}

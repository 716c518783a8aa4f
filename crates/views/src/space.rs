//! Spaces of vectors over GF(2), by elimination.

/// A vector, and behind it what goes along when vectors are added: which columns they are sums of, or the same columns
/// elsewhere.
pub type Vector = Vec<u64>;

/// The space that some vectors span: each reduced by those before it, with a pivot of its own among its first words.
#[derive(Clone)]
pub struct Space {
    /// Words in which pivots are looked for.
    words: usize,
    basis: Vec<(usize, Vector)>,
}

impl Space {
    /// The space of no vector.
    pub fn new(words: usize) -> Self {
        Self { words, basis: vec![] }
    }

    /// The vector less what the space spans of it.
    pub fn reduced(&self, mut vector: Vector) -> Vector {
        for (pivot, reduced) in &self.basis {
            if vector[pivot / 64] >> (pivot % 64) & 1 == 1 {
                vector.iter_mut().zip(reduced).for_each(|(a, b)| *a ^= b);
            }
        }
        vector
    }

    /// Adds a vector to what is spanned. If it is so already: the rest of it behind the first words.
    pub fn insert(&mut self, vector: Vector) -> Option<Vector> {
        let vector = self.reduced(vector);
        match vector[..self.words].iter().position(|&word| word != 0) {
            Some(word) => {
                self.basis.push((64 * word + vector[word].trailing_zeros() as usize, vector));
                None
            }
            None => Some(vector[self.words..].to_vec()),
        }
    }
}

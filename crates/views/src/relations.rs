//! Linear relations: combinations of bits over GF(2) that hold in every run.

use crate::columns::{Columns, all_ones, words_for};
use crate::space::{Space, Vector};
use crate::{Run, View};

/// Bits whose XOR is the same in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// What takes part, by name.
    pub bits: Vec<String>,
}

/// Runs beyond the number of bits: independent bits then show a relation with a probability below 2^-63.
const MARGIN: usize = 64;

/// How many runs [`leaks`] and [`constants`] take for runs such as this one.
pub fn runs_needed(run: &Run) -> usize {
    run.view.bits() + run.known.bits() + run.secret.bits() + 1 + MARGIN
}

/// Every independent linear combination of view bits (and a constant) that is a combination of secret bits, beyond
/// those that follow from known bits. Sees any leak that is linear over GF(2): missing and reused masks, unmasked
/// lanes, low bits of sums. Does not see one that only holds often ([`correlated`](crate::correlated)).
///
/// # Panics
/// With fewer runs than [`runs_needed`].
pub fn leaks(runs: &[Run]) -> Vec<Relation> {
    let [view, known, secret] = matrices(runs);
    let quick = search(runs.len(), &view, &known, &secret, false);
    if quick.is_empty() { quick } else { search(runs.len(), &view, &known, &secret, true) }
}

/// Every independent linear relation among bits of views: combinations that are the same in every run. For the parts of
/// a view that should be independent of each other, such as what was received and what was drawn. Finds reused masks
/// and unmasked constants even where no secret depends on them. A bit that never changes is a relation of one bit. What
/// an opened value explains changes with the value and is no finding.
///
/// # Panics
/// Without 65 runs more than bits.
pub fn constants(views: &[View]) -> Vec<Relation> {
    let needed = views.first().map_or(0, |view| view.bits() + 1 + MARGIN);
    assert!(views.len() >= needed, "{} runs, too few to find relations: {needed} are needed", views.len());
    let mut space = Space::new(words_for(views.len()));
    let mut names = Names::new(views.len(), &mut space, true);
    names.insert_all(&mut space, &Columns::of(&views.iter().collect::<Vec<_>>()))
}

fn matrices(runs: &[Run]) -> [Columns; 3] {
    let parts: [fn(&Run) -> &View; 3] = [|run| &run.view, |run| &run.known, |run| &run.secret];
    let matrices = parts.map(|part| Columns::of(&runs.iter().map(part).collect::<Vec<_>>()));
    let needed = runs.first().map_or(0, runs_needed);
    assert!(runs.len() >= needed, "{} runs, too few to find relations: {needed} are needed", runs.len());
    matrices
}

fn search(runs: usize, view: &Columns, known: &Columns, secret: &Columns, named: bool) -> Vec<Relation> {
    let mut space = Space::new(words_for(runs));
    let mut names = Names::new(runs, &mut space, named);
    names.insert_all(&mut space, known);
    let mut explained = space.clone();
    names.insert_all(&mut space, view);
    let mut found = Vec::new();
    for column in 0..secret.count {
        let vector = names.vector(secret, column);
        // A secret that follows from what is known, or from secrets before it, says nothing new.
        if explained.insert(vector.clone()).is_none() {
            found.extend(space.insert(vector).map(|combination| names.relation(&combination)));
        }
    }
    found
}

/// Which columns a vector of a space is the sum of, if that is to be known.
struct Names {
    words: usize,
    named: bool,
    names: Vec<String>,
}

impl Names {
    /// Puts the constant one into the space, under no name.
    fn new(runs: usize, space: &mut Space, named: bool) -> Self {
        let _independent = space.insert(all_ones(runs));
        Self { words: words_for(runs), named, names: vec![] }
    }

    /// A column, and behind it its number as a bit.
    fn vector(&mut self, columns: &Columns, column: usize) -> Vector {
        let mut vector = columns.column(column).to_vec();
        if self.named {
            let number = self.names.len();
            self.names.push(columns.name(column));
            vector.resize(self.words + number / 64 + 1, 0);
            vector[self.words + number / 64] |= 1 << (number % 64);
        }
        vector
    }

    fn insert_all(&mut self, space: &mut Space, columns: &Columns) -> Vec<Relation> {
        let vectors = 0..columns.count;
        vectors
            .filter_map(|column| {
                let vector = self.vector(columns, column);
                space.insert(vector).map(|combination| self.relation(&combination))
            })
            .collect()
    }

    fn relation(&self, combination: &[u64]) -> Relation {
        let takes_part =
            |&number: &usize| combination.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1);
        Relation { bits: (0..self.names.len()).filter(takes_part).map(|number| self.names[number].clone()).collect() }
    }
}

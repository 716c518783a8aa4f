//! Frequencies of bits, by themselves and given a secret bit, with Hoeffding's bound (1963, theorem 2) for how far they
//! stray by chance.

use crate::columns::{Columns, all_ones, ones, words_for};
use crate::space::Space;
use crate::{FALSE_ALARM, Run, View};

/// A bit, or all bits of a part, that are one too often or too seldom.
#[derive(Clone, Debug, PartialEq)]
pub struct Biased {
    /// The bit or the part.
    pub what: String,
    /// How often it is one.
    pub frequency: f64,
    /// How far from one half it may stray by chance.
    pub bound: f64,
}

/// A view bit that is one more often where a secret bit is one, or less often.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlated {
    /// The view bit.
    pub seen: String,
    /// The secret bit.
    pub secret: String,
    /// How often the view bit is one given the secret bit is zero, and given it is one.
    pub frequencies: [f64; 2],
    /// How far these may be apart by chance.
    pub bound: f64,
}

/// How far from its expectation a frequency strays in `count` independent trials, with this probability.
pub(crate) fn stray(count: f64, probability: f64) -> f64 {
    ((2.0 / probability).ln() / (2.0 * count)).sqrt()
}

/// Every bit whose frequency over all runs is not one half, and every part whose bits together are not. For parts that
/// should be uniform. A bit that never changes is found too: `frequency` is 0 or 1. Sees a bias of more than `bound`:
/// 0.06 for a thousand bits in 4,000 runs.
pub fn biased(views: &[View]) -> Vec<Biased> {
    let Some(first) = views.first() else { return vec![] };
    let matrix = Columns::of(&views.iter().collect::<Vec<_>>());
    let tests = (matrix.count + first.parts().len()) as f64;
    let runs = views.len() as f64;
    let check = |what: String, ones: usize, trials: f64| {
        let (frequency, bound) = (ones as f64 / trials, stray(trials, FALSE_ALARM / tests));
        ((frequency - 0.5).abs() > bound).then_some(Biased { what, frequency, bound })
    };
    let counts: Vec<usize> = matrix.all().map(ones).collect();
    let mut found: Vec<Biased> =
        counts.iter().enumerate().filter_map(|(column, &ones)| check(matrix.name(column), ones, runs)).collect();
    let mut at = 0;
    for (number, part) in first.parts().iter().enumerate() {
        let bits = part.bits();
        let ones = counts[at..at + bits].iter().sum();
        at += bits;
        if bits > 0 {
            found.extend(check(format!("{:?} {} (part {number})", part.kind, part.name), ones, runs * bits as f64));
        }
    }
    found
}

/// Every pair of a view bit and a secret bit where one leans to the other. Sees leaks that are not linear, such as a
/// product of a secret with a random bit. View bits that follow from known bits are left out, and so are secret bits
/// that hardly ever change.
pub fn correlated(runs: &[Run]) -> Vec<Correlated> {
    let matrix = |part: fn(&Run) -> &View| Columns::of(&runs.iter().map(part).collect::<Vec<_>>());
    let [view, known, secret] = [matrix(|run| &run.view), matrix(|run| &run.known), matrix(|run| &run.secret)];
    let mut explained = Space::new(words_for(runs.len()));
    for column in std::iter::once(all_ones(runs.len())).chain(known.all().map(<[u64]>::to_vec)) {
        explained.insert(column);
    }
    let own = |&column: &usize| explained.reduced(view.column(column).to_vec()).iter().all(|&word| word == 0);
    let candidates: Vec<usize> = (0..view.count).filter(|column| !own(column)).collect();
    let tests = (candidates.len() * secret.count) as f64;
    let mut found = Vec::new();
    for (number, hidden) in secret.all().enumerate() {
        let given = [runs.len() - ones(hidden), ones(hidden)];
        if given.iter().any(|&count| count < runs.len() / 64) {
            continue;
        }
        let [zeros, one] = given.map(|count| count as f64);
        let bound = stray(1.0 / (1.0 / zeros + 1.0 / one), FALSE_ALARM / tests);
        for &column in &candidates {
            let both: usize = view.column(column).iter().zip(hidden).map(|(a, b)| (a & b).count_ones() as usize).sum();
            let frequencies = [(ones(view.column(column)) - both) as f64 / zeros, both as f64 / one];
            if (frequencies[0] - frequencies[1]).abs() > bound {
                let (seen, secret) = (view.name(column), secret.name(number));
                found.push(Correlated { seen, secret, frequencies, bound });
            }
        }
    }
    found
}

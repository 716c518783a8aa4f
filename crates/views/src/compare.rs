//! Real views beside simulated ones.

use crate::columns::{Columns, all_ones, assert_alike, ones, words_for};
use crate::frequency::stray;
use crate::repeats::{changing, repeats_among};
use crate::space::Space;
use crate::{FALSE_ALARM, Run, View};

/// What tells real from simulated.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// A bit, or the XOR of two, with its frequency in real and in simulated runs.
    Frequency {
        /// The bit, or both.
        bits: Vec<String>,
        /// Real, then simulated.
        frequencies: [f64; 2],
        /// How far these may be apart by chance.
        bound: f64,
    },
    /// A bit that is a combination of those before it in all real runs and not in all simulated ones, or the other way
    /// about. Only what chance does not explain counts.
    Relation {
        /// The last bit of the relation.
        bit: String,
        /// Whether it holds in real runs.
        real: bool,
    },
    /// Equal words or differences in one and not in the other: how many in real and in simulated runs, and the first
    /// places.
    Repeats {
        /// Real, then simulated.
        counts: [usize; 2],
        /// One of them.
        example: Vec<String>,
    },
}

/// Most pairs of bits whose XOR is looked at; of more, every few.
const PAIRS: usize = 1 << 22;

/// What differs between real runs and as many simulated ones. Views are compared jointly with what is known and with
/// the secrets. So a simulated run is a copy of a real one whose view was made anew from its input, output and declared
/// disclosures. Looks at frequencies of bits and of XORs of two bits, and at linear relations that hold in one and not
/// in the other. Looks at equal words of 8 and 16 bytes, too. No difference is no proof: two distributions may differ
/// in what needs more bits at once than two and is not linear.
///
/// # Panics
/// With fewer runs than [`runs_needed`](crate::runs_needed), or if views are laid out differently.
pub fn indistinguishable(real: &[Run], simulated: &[Run]) -> Vec<Difference> {
    assert_eq!(real.len(), simulated.len(), "as many simulated runs as real ones");
    let needed = real.first().map_or(0, crate::runs_needed);
    assert!(real.len() >= needed, "{} runs, too few to find relations: {needed} are needed", real.len());
    let joint = |run: &Run| {
        let mut all = run.known.clone();
        all.extend(run.secret.clone());
        all.extend(run.view.clone());
        all
    };
    let all = [real, simulated].map(|runs| runs.iter().map(joint).collect::<Vec<View>>());
    assert_alike(all.iter().flatten());
    let halves = all.map(|views| Columns::of(&views.iter().collect::<Vec<_>>()));
    let mut found = frequencies(&halves, real.len());
    found.extend(relations(&halves, real.len()));
    let views = [real, simulated].map(|runs| runs.iter().map(|run| run.view.clone()).collect::<Vec<_>>());
    // A bit that is the same in all runs of one half by chance leaves its word out of both.
    let [mut both, second] = views.each_ref().map(|views| changing(views));
    for (both, second) in both.iter_mut().flatten().zip(second.iter().flatten()) {
        *both &= second;
    }
    for bytes in [8, 16] {
        let [first, second] = views.each_ref().map(|views| repeats_among(views, bytes, &both));
        let counts = [first.len(), second.len()];
        // What repeats by the nature of the protocol does so in both, about as often.
        if (counts[0] == 0) != (counts[1] == 0) {
            let example = first.into_iter().chain(second).next().map(|repeat| repeat.places).unwrap_or_default();
            found.push(Difference::Repeats { counts, example });
        }
    }
    found
}

/// Of the real half and the simulated one.
fn frequencies(halves: &[Columns; 2], runs: usize) -> Vec<Difference> {
    let count = halves[0].count;
    let pairs = count * count.saturating_sub(1) / 2;
    let step = pairs.div_ceil(PAIRS).max(1);
    let tests = (count + pairs.div_ceil(step)) as f64;
    let bound = stray(runs as f64 / 2.0, FALSE_ALARM / tests);
    let far = |[a, b]: [usize; 2]| a.abs_diff(b) as f64 / runs as f64 > bound;
    let frequency = |count: usize| count as f64 / runs as f64;
    let difference = |columns: &[usize], counts: [usize; 2]| Difference::Frequency {
        bits: columns.iter().map(|&column| halves[0].name(column)).collect(),
        frequencies: counts.map(frequency),
        bound,
    };
    let mut found = Vec::new();
    for column in 0..count {
        let counts = halves.each_ref().map(|half| ones(half.column(column)));
        if far(counts) {
            found.push(difference(&[column], counts));
        }
    }
    let places = (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
    for (i, j) in places.step_by(step) {
        let differ = |half: &Columns| {
            half.column(i).iter().zip(half.column(j)).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
        };
        let counts = halves.each_ref().map(differ);
        if far(counts) {
            found.push(difference(&[i, j], counts));
        }
    }
    found
}

/// A relation among bits that are seldom one holds in most runs of both halves. The runs in which it fails all fall
/// into one half with a probability of 2 to the minus their number, so few of them tell nothing.
fn relations(halves: &[Columns; 2], runs: usize) -> Vec<Difference> {
    let enough = (halves[0].count as f64 / FALSE_ALARM).log2().ceil() as usize;
    let mut found = Vec::new();
    for real in [true, false] {
        let [first, second] = if real { [0, 1] } else { [1, 0] };
        let mut space = Space::new(words_for(runs));
        let independent = space.insert([all_ones(runs), all_ones(runs)].concat());
        debug_assert!(independent.is_none(), "the first vector");
        for column in 0..halves[0].count {
            let rest = space.insert([first, second].map(|half: usize| halves[half].column(column)).concat());
            if rest.is_some_and(|rest| ones(&rest) >= enough.min(runs / 4)) {
                found.push(Difference::Relation { bit: halves[0].name(column), real });
            }
        }
    }
    found
}

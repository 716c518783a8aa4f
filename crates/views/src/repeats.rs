//! Equal words, and equal differences of words.

use crate::columns::assert_alike;
use crate::{FALSE_ALARM, View};

/// Words that are equal, or two pairs of words with equal XOR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Where: run, part and number of the word in its part; two positions, or four of which the first two and the last
    /// two differ alike.
    pub places: Vec<String>,
}

/// Most differences that are looked at.
const DIFFERENCES: usize = 1 << 17;

#[derive(Clone, Copy)]
struct Word {
    run: usize,
    part: usize,
    at: usize,
    value: u128,
}

/// Every word that occurs again, within a run or in another one, and every difference (XOR) of two words of a run that
/// does. A part is cut into words of `bytes` bytes, 4, 8 or 16, and a rest is left out. So are words with a bit that is
/// constant over all runs, which are no random words. For parts that should be independent and uniform. With words so
/// short that chance makes some equal, only what chance does not explain is looked at: fewer differences, then words
/// within a run alone.
pub fn repeats(views: &[View], bytes: usize) -> Vec<Repeat> {
    repeats_among(views, bytes, &changing(views))
}

/// As [`repeats`], of words of which all bits are among the changing ones.
pub(crate) fn repeats_among(views: &[View], bytes: usize, changing: &[Vec<u8>]) -> Vec<Repeat> {
    assert!([4, 8, 16].contains(&bytes), "words of 4, 8 or 16 bytes");
    let words = words(views, bytes, changing);
    let most = most(bytes);
    let mut found = Vec::new();
    let mut runs: Vec<Vec<usize>> = vec![vec![]; views.len()];
    (0..words.len()).for_each(|word| runs[words[word].run].push(word));
    let single = |&word: &usize| (words[word].value, [word, word]);
    if words.len() <= most {
        found.extend(equal((0..words.len()).map(|word| single(&word)).collect()));
    } else {
        // A chance of equality within each run: their number enters the bound as a factor only.
        let most = most / (runs.len() as f64).sqrt().ceil() as usize;
        found.extend(runs.iter().flat_map(|run| equal(run.iter().take(most).map(single).collect())));
    }
    let quota = most.min(DIFFERENCES) / runs.len().max(1);
    let pairs = runs.iter().flat_map(|run| {
        let pairs = run.iter().enumerate().flat_map(|(i, &a)| run[..i].iter().map(move |&b| [a, b]));
        pairs.take(quota).map(|[a, b]| (words[a].value ^ words[b].value, [a, b]))
    });
    found.extend(equal(pairs.collect()));
    let place = |&word: &usize| {
        let Word { run, part, at, .. } = words[word];
        let seen = &views[run].parts()[part];
        format!("run {run}, {:?} {} (part {part}), word {at}", seen.kind, seen.name)
    };
    found.into_iter().map(|words| Repeat { places: words.iter().map(place).collect() }).collect()
}

/// The most random words that are all different but with the probability of a false alarm: n^2 / 2 pairs.
fn most(bytes: usize) -> usize {
    (2.0 * FALSE_ALARM * 2f64.powi(8 * bytes as i32)).sqrt() as usize
}

/// Which bits of views are not the same in all runs, part by part.
pub(crate) fn changing(views: &[View]) -> Vec<Vec<u8>> {
    assert_alike(views);
    let Some(first) = views.first() else { return vec![] };
    let mut changes: Vec<Vec<u8>> = first.parts().iter().map(|part| vec![0; part.bytes.len()]).collect();
    for view in views {
        for (changes, (part, first)) in changes.iter_mut().zip(view.parts().iter().zip(first.parts())) {
            let bytes = part.bytes.iter().zip(&first.bytes);
            changes.iter_mut().zip(bytes).for_each(|(changes, (byte, first))| *changes |= byte ^ first);
        }
    }
    changes
}

/// The words of every run of which all bits change.
fn words(views: &[View], bytes: usize, changing: &[Vec<u8>]) -> Vec<Word> {
    let mut words = Vec::new();
    for (run, view) in views.iter().enumerate() {
        for (part, seen) in view.parts().iter().enumerate() {
            for (at, word) in seen.bytes[..seen.bits() / 8].chunks_exact(bytes).enumerate() {
                if changing[part][bytes * at..bytes * (at + 1)].iter().all(|&changes| changes == 0xff) {
                    let value = word.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte));
                    words.push(Word { run, part, at, value });
                }
            }
        }
    }
    words
}

/// The words of every value that is there twice, or the pairs of words whose difference is.
fn equal(mut values: Vec<(u128, [usize; 2])>) -> Vec<Vec<usize>> {
    values.sort_unstable();
    let twice = values.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    twice
        .map(|pair| [pair[0].1, pair[1].1])
        .map(|[[a, b], [c, d]]| if a == b { vec![a, c] } else { vec![a, b, c, d] })
        .collect()
}

//! Equal words, and equal differences of words.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::columns::{Columns, ones};
use crate::{FALSE_ALARM, View};

/// Words that are equal, or two pairs of words with equal XOR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Where: run, part and number of the word in its part; two places, or four of which the first two and the last two differ alike.
    pub places: Vec<String>,
}

/// Most differences that are looked at.
const DIFFERENCES: usize = 1 << 20;

#[derive(Clone, Copy)]
struct Word {
    run: usize,
    part: usize,
    at: usize,
    value: u128,
}

/// Every word that occurs again, within a run or in another one, and every difference (XOR) of two words of a run that does. A part
/// is cut into words of so many bytes, 4, 8 or 16; a rest is left out, and so are words with a bit that is constant over all
/// runs, which are no random words. For parts that should be independent and uniform; with words so short that chance makes some equal,
/// only what chance does not explain is looked at: fewer differences, then words within a run alone.
pub fn repeats(views: &[View], bytes: usize) -> Vec<Repeat> {
    assert!([4, 8, 16].contains(&bytes), "words of 4, 8 or 16 bytes");
    let words = words(views, bytes);
    let most = most(bytes);
    let mut found = Vec::new();
    let groups: Vec<&[Word]> = words.chunk_by(|a, b| a.run == b.run).collect();
    if words.len() <= most {
        found.extend(equal(words.iter().map(|word| (word.value, vec![*word]))));
    } else {
        // A chance of equality within each run: their number enters the bound as a factor only.
        let most = most / (groups.len() as f64).sqrt().ceil() as usize;
        for group in &groups {
            found.extend(equal(group.iter().take(most).map(|word| (word.value, vec![*word]))));
        }
    }
    let quota = most.min(DIFFERENCES) / groups.len().max(1);
    let pairs = groups.iter().flat_map(|group| {
        let pairs = group.iter().enumerate().flat_map(|(i, a)| group[..i].iter().map(move |b| (a, b)));
        pairs.take(quota).map(|(a, b)| (a.value ^ b.value, vec![*a, *b]))
    });
    found.extend(equal(pairs));
    let place = |word: &Word| {
        let part = &views[word.run].parts()[word.part];
        format!("run {}, {:?} {} (part {}), word {}", word.run, part.kind, part.name, word.part, word.at)
    };
    found.into_iter().map(|words| Repeat { places: words.iter().map(place).collect() }).collect()
}

/// So many random words are all different with a probability of 1 less the false alarm: n^2 / 2 pairs.
fn most(bytes: usize) -> usize {
    (2.0 * FALSE_ALARM * 2f64.powi(8 * bytes as i32)).sqrt() as usize
}

/// The words of every run of which all bits change.
fn words(views: &[View], bytes: usize) -> Vec<Word> {
    let matrix = Columns::of(&views.iter().collect::<Vec<_>>());
    let changes: Vec<bool> =
        matrix.columns.iter().map(|column| !matches!(ones(column), n if n == 0 || n == views.len())).collect();
    let mut words = Vec::new();
    for (run, view) in views.iter().enumerate() {
        let mut start = 0;
        for (part, seen) in view.parts().iter().enumerate() {
            for (at, word) in seen.bytes[..seen.bits() / 8].chunks_exact(bytes).enumerate() {
                let first = start + 8 * bytes * at;
                if changes[first..first + 8 * bytes].iter().all(|&changes| changes) {
                    let value = word.iter().rev().fold(0, |value, &byte| value << 8 | u128::from(byte));
                    words.push(Word { run, part, at, value });
                }
            }
            start += seen.bits();
        }
    }
    words
}

/// The places of every value that was there before.
fn equal(values: impl Iterator<Item = (u128, Vec<Word>)>) -> Vec<Vec<Word>> {
    let mut first: HashMap<u128, Vec<Word>> = HashMap::new();
    let mut found = Vec::new();
    for (value, places) in values {
        match first.entry(value) {
            Entry::Occupied(before) => found.push([before.get().clone(), places].concat()),
            Entry::Vacant(entry) => {
                entry.insert(places);
            }
        }
    }
    found
}

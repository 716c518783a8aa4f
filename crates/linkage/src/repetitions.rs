//! Keys that repeat: the rows of a join are all combinations of rows with one key. They are in one order at every party
//! that learns the matches: by key, then by the first of these parties' rows, then by the second's, and so on.
//!
//! A party's message about a bin has a length that follows from public sizes alone ([`Places`]). A party is believed as
//! far as its announced rows go: over all bins, matching keys cannot stand in more rows than it announced.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tacit_net::{PartyId, Session};
use tacit_psi::PsiError;
use tacit_psi::binning::capacity;

use crate::distinct::Distinct;
use crate::error::MatchError;
use crate::wrong_input::WrongInput;

/// A count of a byte; this one stands for a greater one, in 4 bytes, behind them.
pub const LONG: u32 = u8::MAX as u32;

/// The public room in which one party tells, for each key of a bin that matches, in how many of its rows the key
/// stands. It has a byte for each key that could match, then 4 bytes for each that could stand in 255 rows or more.
/// Unused bytes are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    keys: usize,
    long: usize,
}

impl Places {
    /// Of a party that announced `rows` rows, in `bins` bins. matches: how many keys of a bin can match.
    pub fn new(matches: usize, rows: usize, bins: usize) -> Self {
        // Keys with 255 rows or more spread over the bins as all keys do.
        let long = match rows / LONG as usize {
            0 => 0,
            many => capacity(many, bins),
        };
        Self { keys: matches, long: long.min(matches) }
    }

    /// Bytes of the message.
    pub fn bytes(self) -> usize {
        self.keys + size_of::<u32>() * self.long
    }

    /// How many keys of a bin may stand in 255 rows or more.
    pub fn long(self) -> usize {
        self.long
    }

    /// The message; None if there is no room for it.
    fn write(self, counts: &[u32]) -> Option<Vec<u8>> {
        let long: Vec<u32> = counts.iter().copied().filter(|&count| count >= LONG).collect();
        if counts.len() > self.keys || long.len() > self.long {
            return None;
        }
        let mut message: Vec<u8> = counts.iter().map(|&count| count.min(LONG) as u8).collect();
        message.resize(self.keys, 0);
        message.extend(long.iter().flat_map(|count| count.to_le_bytes()));
        message.resize(self.bytes(), 0);
        Some(message)
    }

    /// The counts of `keys` keys; None if the message does not hold as many.
    fn read(self, message: &[u8], keys: usize) -> Option<Vec<u32>> {
        let (short, long) = message.split_at_checked(self.keys)?;
        let (short, unused) = short.split_at_checked(keys)?;
        let mut long = long.as_chunks::<4>().0.iter().map(|count| u32::from_le_bytes(*count));
        let count = |&byte: &u8| match u32::from(byte) {
            0 => None,
            LONG => long.next().filter(|&count| count >= LONG),
            count => Some(count),
        };
        let counts = short.iter().map(count).collect::<Option<Vec<u32>>>()?;
        (unused.iter().all(|&byte| byte == 0) && long.all(|count| count == 0)).then_some(counts)
    }
}

/// A party that learns the matches.
pub struct Learner<'a> {
    /// Which one.
    pub party: PartyId,
    /// The room in which it tells.
    pub places: Places,
    /// Its announced rows of which no bin has told yet.
    pub left: &'a AtomicU64,
}

/// How often every matched key occurs at each party that learns the matches.
pub struct Repetitions {
    /// By party, in order.
    counts: Vec<Vec<u32>>,
    /// This party's place among them.
    me: usize,
}

impl Repetitions {
    /// Tell each other. One round, in which each sends the bytes of its [`Places`] to each other one. learners: those
    /// that learn the matches, in order, this party among them. mine: how often each matched key occurs here.
    ///
    /// # Errors
    /// The connection's failure; a peer that tells what cannot be; keys of this party that have no room.
    pub fn exchange(session: &mut Session, learners: &[Learner<'_>], mine: Vec<u32>) -> Result<Self, MatchError> {
        session.next_round();
        let (me, keys) = (session.me(), mine.len());
        let place = learners.iter().position(|learner| learner.party == me).unwrap_or(learners.len());
        let message = learners.get(place).and_then(|learner| learner.places.write(&mine));
        let message = message.ok_or(WrongInput::Repetitions)?;
        for learner in learners.iter().filter(|learner| learner.party != me) {
            session.send(learner.party, message.clone())?;
        }
        let mut counts = Vec::with_capacity(learners.len());
        for learner in learners {
            counts.push(if learner.party == me { mine.clone() } else { receive(session, learner, keys)? });
        }
        Ok(Self { counts, me: place })
    }

    /// How many rows all matched keys have at the party of this position.
    pub fn rows_of(&self, place: usize) -> u64 {
        total(&self.counts[place])
    }

    /// How many rows the join has; the greatest number if there are more.
    pub fn joint_rows(&self) -> u64 {
        let (all, keys) = (0..self.counts.len(), self.counts.first().map_or(0, Vec::len));
        (0..keys).fold(0, |sum: u64, key| sum.saturating_add(self.combinations(key, all.clone())))
    }

    /// This party's row of every row of the join, of which the caller knows how many there are. matched: its distinct
    /// tokens that match, in the order that all know.
    pub fn rows(&self, distinct: &Distinct, matched: &[u32]) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.joint_rows() as usize);
        for (key, &token) in matched.iter().enumerate() {
            let outer = self.combinations(key, 0..self.me);
            let inner = self.combinations(key, self.me + 1..self.counts.len()) as usize;
            for _ in 0..outer {
                distinct.rows(token).for_each(|row| rows.extend(std::iter::repeat_n(row, inner)));
            }
        }
        rows
    }

    /// Combinations of a key's rows at some of the parties.
    fn combinations(&self, key: usize, places: Range<usize>) -> u64 {
        self.counts[places].iter().map(|counts| u64::from(counts[key])).fold(1, u64::saturating_mul)
    }
}

fn total(counts: &[u32]) -> u64 {
    counts.iter().map(|&count| u64::from(count)).sum()
}

fn receive(session: &mut Session, learner: &Learner<'_>, keys: usize) -> Result<Vec<u32>, MatchError> {
    let mut message = vec![0; learner.places.bytes()];
    session.recv(learner.party, &mut message)?;
    let counts = learner.places.read(&message, keys).ok_or_else(|| {
        PsiError::cheating(session, learner.party, "what it says of keys that repeat is no number of rows for each")
    })?;
    let spent = learner.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(total(&counts)));
    match spent {
        Ok(_) => Ok(counts),
        Err(_) => {
            let detail = "its matching keys stand in more rows than it has announced";
            Err(PsiError::cheating(session, learner.party, detail).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_read_as_they_were_written(counts in prop::collection::vec(1u32..600, 0..20), more in 0usize..5) {
            let places = Places { keys: counts.len() + more, long: counts.len() };
            let message = places.write(&counts).expect("there is room");
            prop_assert_eq!(message.len(), places.bytes());
            prop_assert_eq!(places.read(&message, counts.len()), Some(counts));
        }

        #[test]
        fn whatever_a_peer_sends_is_counts_or_refused(message in prop::collection::vec(any::<u8>(), 0..40), keys in 0usize..9) {
            let places = Places { keys: 8, long: 3 };
            if let Some(counts) = places.read(&message, keys) {
                prop_assert_eq!(counts.len(), keys);
                prop_assert!(counts.iter().all(|&count| count > 0));
            }
        }
    }

    #[test]
    fn the_room_follows_from_public_numbers() {
        assert_eq!(Places::new(100, 254, 1).bytes(), 100);
        assert_eq!(Places::new(100, 510, 1).bytes(), 100 + 2 * 4);
        assert_eq!(Places::new(1, 1 << 40, 1).bytes(), 5);
        assert!(Places::new(2, 2, 1).write(&[255, 1]).is_none(), "255 of two rows");
    }
}

//! Keys that repeat: the rows of a join are all combinations of rows with one key, in one order at every party that learns the matches: by
//! key, then by the first of these parties' rows, then by the second's, and so on.

use std::ops::Range;

use tacit_net::{PartyId, Session};
use tacit_psi::PsiError;

use crate::distinct::Distinct;
use crate::error::MatchError;

/// How often every matched key occurs at each party that learns the matches.
pub struct Repetitions {
    /// By party, in order; None where every key occurs once.
    counts: Vec<Option<Vec<u32>>>,
    /// This party's place among them.
    me: usize,
    keys: usize,
}

impl Repetitions {
    /// Tell each other: one byte that says whether any key occurs more than once, then 4 bytes for each matched key if so. One round.
    /// parties: those that learn the matches, in order, this one among them. mine: how often each matched key occurs here.
    ///
    /// # Errors
    /// The connection's failure; a peer that tells what cannot be.
    pub fn exchange(session: &mut Session, parties: &[PartyId], mine: Vec<u32>) -> Result<Self, MatchError> {
        session.next_round();
        let (keys, repeated) = (mine.len(), mine.iter().any(|&count| count > 1));
        let peers = || parties.iter().copied().enumerate();
        let mut message = vec![u8::from(repeated)];
        if repeated {
            message.extend_from_slice(bytemuck::cast_slice(&mine));
        }
        let me = session.me();
        for (_, peer) in peers().filter(|&(_, peer)| peer != me) {
            session.send(peer, message.clone())?;
        }
        let mut counts = vec![None; parties.len()];
        let mut place = 0;
        let mut own = repeated.then_some(mine);
        for (at, peer) in peers() {
            if peer == me {
                (place, counts[at]) = (at, own.take());
            } else {
                counts[at] = receive(session, peer, keys)?;
            }
        }
        Ok(Self { counts, me: place, keys })
    }

    /// How many rows all matched keys have at the party of this place.
    pub fn rows_of(&self, place: usize) -> u64 {
        match &self.counts[place] {
            None => self.keys as u64,
            Some(counts) => counts.iter().map(|&count| u64::from(count)).sum(),
        }
    }

    /// How many rows the join has; the greatest number if there are more.
    pub fn joint_rows(&self) -> u64 {
        let all = 0..self.counts.len();
        (0..self.keys).fold(0, |sum: u64, key| sum.saturating_add(self.combinations(key, all.clone())))
    }

    /// This party's row of every row of the join. matched: its distinct tokens that match, in the order that all know.
    pub fn rows(&self, distinct: &Distinct, matched: &[u32]) -> Vec<u32> {
        let mut rows = Vec::with_capacity(matched.len());
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
        let count = |counts: &Option<Vec<u32>>| counts.as_ref().map_or(1, |counts| u64::from(counts[key]));
        self.counts[places].iter().map(count).fold(1, u64::saturating_mul)
    }
}

fn receive(session: &mut Session, peer: PartyId, keys: usize) -> Result<Option<Vec<u32>>, MatchError> {
    let mut flag = [0];
    session.recv(peer, &mut flag)?;
    match flag[0] {
        0 => Ok(None),
        1 => {
            let mut theirs = vec![0u32; keys];
            session.recv(peer, bytemuck::cast_slice_mut(&mut theirs))?;
            match theirs.contains(&0) {
                false => Ok(Some(theirs)),
                true => Err(PsiError::cheating(session, peer, "it reports a matched key without rows").into()),
            }
        }
        _ => Err(PsiError::cheating(session, peer, "whether its keys repeat is neither yes nor no").into()),
    }
}

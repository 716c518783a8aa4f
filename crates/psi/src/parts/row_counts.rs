//! How many rows each match stands for, told by one party to the other, and rounds that other parties let pass.
//!
//! **Functionality.** Both parties know their matching items in one order ([`crate::alignment`]), and how many rows of
//! one of them these stand for in all. That party tells the other how many each stands for, so that both can write the
//! rows of the join in one order. **Adversary** semi-honest. **Discloses** these counts to the other party.
//!
//! **Cost** 1 round: one bit a row, set at the first row of each match, so that the message tells nothing by its size.

use crate::error::PsiError;
use tacit_net::{PartyId, Session};

/// Tell the peer for every match, in the common order, how many rows of this party it stands for. One round.
///
/// The peer has to know their sum.
///
/// # Errors
/// [`PsiError::Cheating`] if a match stands for no row: the peer reports a match of an item that is padding. The
/// connection's failure.
pub fn tell(session: &mut Session, peer: PartyId, counts: &[u32]) -> Result<(), PsiError> {
    if counts.contains(&0) {
        return Err(PsiError::cheating(session, peer, "it reports a match of what is no row"));
    }
    let rows = counts.iter().map(|&count| count as usize).sum();
    let mut firsts = vec![0_u8; declared(rows) as usize];
    counts.iter().fold(0, |row, &count| {
        firsts[row / 8] |= 1 << (row % 8);
        row + count as usize
    });
    session.next_round();
    Ok(session.send(peer, firsts)?)
}

/// What the peer tells by [`tell`] about `matches` matches, which stand for `rows` rows.
///
/// # Errors
/// [`PsiError::Cheating`] if the counts are not of `matches` matches and `rows` rows.
pub fn hear(session: &mut Session, peer: PartyId, matches: usize, rows: usize) -> Result<Vec<u32>, PsiError> {
    let mut bytes = vec![0_u8; declared(rows) as usize];
    session.next_round();
    session.recv(peer, &mut bytes)?;
    let mut firsts: Vec<usize> = (0..8 * bytes.len()).filter(|&row| bytes[row / 8] >> (row % 8) & 1 == 1).collect();
    if firsts.len() != matches || firsts.first().is_some_and(|&row| row != 0) || (matches == 0) != (rows == 0) {
        return Err(PsiError::cheating(session, peer, "counts of other matches"));
    }
    if firsts.last().is_some_and(|&row| row >= rows) {
        return Err(PsiError::cheating(session, peer, "a match beyond the last row"));
    }
    firsts.push(rows);
    Ok(firsts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect())
}

/// What [`tell`] costs its sender, in bytes, if the matches stand for `rows` rows.
pub fn declared(rows: usize) -> u64 {
    rows.div_ceil(8) as u64
}

/// Every other party of the session lets `rounds` rounds pass.
pub fn stand_by(session: &mut Session, rounds: u64) {
    (0..rounds).for_each(|_| session.next_round());
}

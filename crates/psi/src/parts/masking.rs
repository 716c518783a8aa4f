//! Masked items on the wire: the steps that all protocols by Diffie-Hellman share.

use crate::error::PsiError;
use crate::interface::protocol::Item;
use crate::parts::blinding::{Blinds, FixedPoint};
use crate::parts::group::{ENCODING_BYTES, Encoding, Exponent, HashToGroup, InvalidPoint};
use crate::parts::tags::low_bits;
use tacit_math::randomness;
use tacit_net::{PartyId, Session};

/// Points to a message: about 15 ms of work, so that the peer soon has something to do. A party sends one piece while
/// it computes the next.
const PIECE: usize = 2048;

/// Bytes of each party's part of a context.
const NONCE: usize = 16;

/// What [`agree`] takes from each party.
pub const AGREE_BYTES: u64 = NONCE as u64;

/// A context that is fresh if one of the parties is honest: what random oracles are bound to. One round,
/// [`AGREE_BYTES`] each way.
///
/// # Errors
/// The connection's failure; no randomness.
pub fn agree(session: &mut Session, peer: PartyId, protocol: &str) -> Result<[u8; 32], PsiError> {
    session.next_round();
    let (mut mine, mut theirs) = ([0; NONCE], [0; NONCE]);
    randomness::fill(&mut mine)?;
    // Sent as it is.
    tacit_marks::public(&mut mine);
    session.send(peer, mine.to_vec())?;
    session.recv(peer, &mut theirs)?;
    let ordered = if session.me() < peer { [mine, theirs] } else { [theirs, mine] };
    let mut hasher = blake3::Hasher::new_derive_key("tacit 2026 psi: a context of two parties");
    hasher.update(ordered.as_flattened()).update(protocol.as_bytes());
    Ok(*hasher.finalize().as_bytes())
}

/// Sends the masked items, in the present round, piece by piece as they are computed.
///
/// # Errors
/// The connection's failure.
pub fn send_masked(
    session: &mut Session,
    peer: PartyId,
    exponent: &Exponent,
    hash: &HashToGroup,
    items: &[Item],
) -> Result<(), PsiError> {
    for piece in items.chunks(PIECE) {
        session.send(peer, exponent.mask(hash, piece).into_flattened())?;
    }
    Ok(())
}

/// Sends the blinded items, in the present round, piece by piece as they are computed.
///
/// # Errors
/// The connection's failure.
pub fn send_blinded(
    session: &mut Session,
    peer: PartyId,
    blinds: &Blinds,
    hash: &HashToGroup,
    items: &[Item],
) -> Result<(), PsiError> {
    let base = FixedPoint::base();
    for from in (0..items.len()).step_by(PIECE) {
        let part = from..items.len().min(from + PIECE);
        session.send(peer, blinds.blind(&base, hash, items, part).into_flattened())?;
    }
    Ok(())
}

/// Receives the answers to `count` blinded items in the present round, and unblinds them.
///
/// # Errors
/// The connection's failure; [`PsiError::Cheating`] if one is no point.
pub fn receive_unblinded(
    session: &mut Session,
    peer: PartyId,
    blinds: &Blinds,
    key: &FixedPoint,
    count: usize,
) -> Result<Vec<Encoding>, PsiError> {
    let mut points = Vec::with_capacity(count);
    receive_pieces(session, peer, count, |from, piece| {
        points.append(&mut blinds.unblind(key, piece, from..from + piece.len())?);
        Ok(())
    })?;
    Ok(points)
}

/// Sends points in the present round.
///
/// # Errors
/// The connection's failure.
pub fn send_points(session: &mut Session, peer: PartyId, points: &[Encoding]) -> Result<(), PsiError> {
    for piece in points.chunks(PIECE) {
        session.send(peer, piece.as_flattened().to_vec())?;
    }
    Ok(())
}

/// Receives `count` points of the present round and raises them to the exponent, piece by piece, handing on every
/// piece.
///
/// # Errors
/// The connection's failure; [`PsiError::Cheating`] if one is no point.
pub fn receive_raised(
    session: &mut Session,
    peer: PartyId,
    exponent: &Exponent,
    count: usize,
    mut take: impl FnMut(&[Encoding]),
) -> Result<(), PsiError> {
    receive_pieces(session, peer, count, |_, piece| {
        take(&exponent.raise(piece)?);
        Ok(())
    })
}

/// Receives `count` points of the present round and hands on every piece with the number of points before it.
fn receive_pieces(
    session: &mut Session,
    peer: PartyId,
    count: usize,
    mut work: impl FnMut(usize, &[Encoding]) -> Result<(), InvalidPoint>,
) -> Result<(), PsiError> {
    let mut piece = vec![[0; ENCODING_BYTES]; count.min(PIECE)];
    for from in (0..count).step_by(PIECE) {
        let piece = &mut piece[..PIECE.min(count - from)];
        session.recv(peer, piece.as_flattened_mut())?;
        work(from, piece).map_err(|InvalidPoint(place)| InvalidPoint(from + place).sent_by(session, peer))?;
    }
    Ok(())
}

/// Receives `count` points of the present round as they are.
///
/// # Errors
/// The connection's failure.
pub fn receive_points(session: &mut Session, peer: PartyId, count: usize) -> Result<Vec<Encoding>, PsiError> {
    let mut points = vec![[0; ENCODING_BYTES]; count];
    session.recv(peer, points.as_flattened_mut())?;
    Ok(points)
}

/// Whole bytes of a tag of `bits` bits.
pub fn tag_bytes(bits: u32) -> usize {
    bits.div_ceil(8) as usize
}

/// Sends tags in the present round.
///
/// # Errors
/// The connection's failure.
pub fn send_tags(session: &mut Session, peer: PartyId, tags: &[u128], bits: u32) -> Result<(), PsiError> {
    let width = tag_bytes(bits);
    for piece in tags.chunks((1 << 20) / width) {
        session.send(peer, piece.iter().flat_map(|tag| tag.to_le_bytes().into_iter().take(width)).collect())?;
    }
    Ok(())
}

/// Receives `count` tags of the present round.
///
/// # Errors
/// The connection's failure.
pub fn receive_tags(session: &mut Session, peer: PartyId, count: usize, bits: u32) -> Result<Vec<u128>, PsiError> {
    let width = tag_bytes(bits);
    let mut bytes = vec![0; width * count];
    session.recv(peer, &mut bytes)?;
    let tag = |chunk: &[u8]| {
        let mut tag = [0; 16];
        tag[..width].copy_from_slice(chunk);
        u128::from_le_bytes(tag) & low_bits(bits)
    };
    Ok(bytes.chunks(width).map(tag).collect())
}

//! What a run is continued from elsewhere, as bytes.
//!
//! | bytes | meaning |
//! |---|---|
//! | 16 | `tacit rounds 2` and zeros |
//! | 1 + n | the protocol's name, with its length |
//! | 1 | the role: 0 the sender's, 1 the receiver's |
//! | 32 | digest of what the protocol's object holds: parameters, values, payload |
//! | 16 | the seed of all this party's randomness |
//! | 32 | digest of all that was sent |
//! | 4 | how many events there were (little endian, as all numbers) |
//! | | the events: a byte that says which, and what belongs to it |
//! | 32 | BLAKE3 of all before |
//!
//! | event | byte | what belongs to it |
//! |---|---|---|
//! | a round of setup or of a pair of sets | 0 | what came in, with its length (8) |
//! | a pair of sets begins | 1 | both sizes (8 each), and this party's items with their number (8) |
//! | the outcome was taken | 2 | |

use crate::error::PsiError;
use crate::interface::protocol::{Item, Sizes};
use crate::interface::role::Role;
use crate::wrong_input::WrongInput;
use tacit_math::Seed;
use zeroize::{Zeroize, Zeroizing};

const MAGIC: [u8; 16] = *b"tacit rounds 2\0\0";

/// Bytes of a digest.
pub(super) const DIGEST: usize = 32;

/// Sets are far smaller: a size that nobody checked sizes no table.
const MOST_ITEMS: u64 = 1 << 32;

/// What happened to a run, in order.
pub(super) enum Event {
    /// A round, with what came in.
    Round(Vec<u8>),
    /// A pair of sets began.
    Begin(Vec<Item>, Sizes),
    /// The outcome was taken.
    Outcome,
}

/// Messages and items are this party's secrets together with the seed.
impl Drop for Event {
    fn drop(&mut self) {
        match self {
            Self::Round(bytes) => bytes.zeroize(),
            Self::Begin(items, _) => items.zeroize(),
            Self::Outcome => {}
        }
    }
}

impl Event {
    fn write(&self, out: &mut Vec<u8>) {
        let number = |number: usize| (number as u64).to_le_bytes();
        match self {
            Self::Round(bytes) => {
                out.push(0);
                out.extend_from_slice(&number(bytes.len()));
                out.extend_from_slice(bytes);
            }
            Self::Begin(items, sizes) => {
                out.push(1);
                for size in [sizes.sender, sizes.receiver, items.len()] {
                    out.extend_from_slice(&number(size));
                }
                items.iter().for_each(|item| out.extend_from_slice(&item.to_le_bytes()));
            }
            Self::Outcome => out.push(2),
        }
    }

    /// Tells events apart.
    pub(super) fn digest(&self) -> [u8; DIGEST] {
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.bytes()));
        self.write(&mut bytes);
        *blake3::hash(&bytes).as_bytes()
    }

    /// Bytes that [`Self::write`] appends.
    fn bytes(&self) -> usize {
        match self {
            Self::Round(bytes) => 1 + 8 + bytes.len(),
            Self::Begin(items, _) => 1 + 3 * 8 + size_of::<Item>() * items.len(),
            Self::Outcome => 1,
        }
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some(match take::<1>(from)? {
            [0] => {
                let length = number(from)?;
                let (bytes, rest) = from.split_at_checked(usize::try_from(length).ok()?)?;
                *from = rest;
                Self::Round(bytes.to_vec())
            }
            [1] => {
                let sizes = [number(from)?, number(from)?, number(from)?];
                if sizes.iter().any(|&size| size > MOST_ITEMS) {
                    return None;
                }
                let [sender, receiver, items] = sizes.map(|size| size as usize);
                let (bytes, rest) = from.split_at_checked(size_of::<Item>() * items)?;
                *from = rest;
                let items = bytes.as_chunks().0.iter().map(|item| Item::from_le_bytes(*item)).collect();
                Self::Begin(items, Sizes { sender, receiver })
            }
            [2] => Self::Outcome,
            _ => return None,
        })
    }
}

/// A run as it was saved.
pub(super) struct State {
    pub protocol: String,
    pub role: Role,
    /// Of what the protocol's object holds.
    pub held: [u8; DIGEST],
    pub seed: Seed,
    /// Of all that was sent.
    pub sent: [u8; DIGEST],
    pub events: Vec<Event>,
}

impl State {
    pub(super) fn write(&self) -> Zeroizing<Vec<u8>> {
        let events: usize = self.events.iter().map(Event::bytes).sum();
        // No reallocation leaves a copy of secrets behind.
        let mut out = Zeroizing::new(Vec::with_capacity(
            MAGIC.len() + 1 + self.protocol.len() + 1 + DIGEST + 16 + DIGEST + 4 + events + DIGEST,
        ));
        out.extend_from_slice(&MAGIC);
        out.push(u8::try_from(self.protocol.len()).expect("a short name"));
        out.extend_from_slice(self.protocol.as_bytes());
        out.push(if self.role == Role::Sender { 0 } else { 1 });
        out.extend_from_slice(&self.held);
        out.extend_from_slice(self.seed.expose());
        out.extend_from_slice(&self.sent);
        out.extend_from_slice(&u32::try_from(self.events.len()).expect("few rounds").to_le_bytes());
        self.events.iter().for_each(|event| event.write(&mut out));
        let digest = blake3::hash(&out);
        out.extend_from_slice(digest.as_bytes());
        out
    }

    /// The state of these bytes.
    ///
    /// # Errors
    /// [`PsiError::Input`] if they are none, or were changed.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, PsiError> {
        let parsed = bytes.split_last_chunk::<DIGEST>().and_then(|(body, digest)| {
            // The comparison takes one time; how it ends is told by the refusal.
            let intact = tacit_marks::published(blake3::hash(body) == *digest);
            if intact { Self::parse(body) } else { None }
        });
        Ok(parsed.ok_or(WrongInput::NoState)?)
    }

    fn parse(mut from: &[u8]) -> Option<Self> {
        let from = &mut from;
        if take(from)? != MAGIC {
            return None;
        }
        let [length] = take::<1>(from)?;
        let (name, rest) = from.split_at_checked(length.into())?;
        *from = rest;
        let role = match take::<1>(from)? {
            [0] => Role::Sender,
            [1] => Role::Receiver,
            _ => return None,
        };
        let (held, seed, sent) = (take(from)?, Seed::from_bytes(take(from)?), take(from)?);
        let count = u32::from_le_bytes(take(from)?);
        let mut events = Vec::new();
        for _ in 0..count {
            events.push(Event::read(from)?);
        }
        let protocol = std::str::from_utf8(name).ok()?.to_owned();
        from.is_empty().then_some(Self { protocol, role, held, seed, sent, events })
    }
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*taken)
}

fn number(from: &mut &[u8]) -> Option<u64> {
    take(from).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What an event is made of, which unlike events can be printed.
    type Parts = (u8, Vec<u8>, Vec<Item>, usize);

    fn parts() -> impl Strategy<Value = Vec<Parts>> {
        let event =
            (0u8..3, prop::collection::vec(any::<u8>(), 0..20), prop::collection::vec(any::<Item>(), 0..4), 0usize..9);
        prop::collection::vec(event, 0..5)
    }

    fn events(parts: Vec<Parts>) -> Vec<Event> {
        let event = |(kind, bytes, items, receiver): Parts| match kind {
            0 => Event::Round(bytes),
            1 => {
                let sizes = Sizes { sender: items.len(), receiver };
                Event::Begin(items, sizes)
            }
            _ => Event::Outcome,
        };
        parts.into_iter().map(event).collect()
    }

    /// With its digest made right again, so that what is behind the digest is reached.
    fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.truncate(bytes.len().saturating_sub(DIGEST));
        let digest = blake3::hash(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        bytes
    }

    proptest! {
        #[test]
        fn a_state_is_read_as_it_was_written(parts in parts(), role: bool, seed: [u8; 16]) {
            let role = if role { Role::Sender } else { Role::Receiver };
            let state = State { protocol: "dh".into(), role, held: [4; DIGEST], seed: Seed::from_bytes(seed), sent: [3; DIGEST], events: events(parts) };
            let bytes = state.write();
            prop_assert_eq!(bytes.capacity(), bytes.len());
            let read = State::read(&bytes).expect("what was written");
            prop_assert_eq!(&read.write()[..], &bytes[..]);
        }

        #[test]
        fn changed_states_are_refused_or_read_without_a_panic(
            parts in parts(),
            at: prop::sample::Index,
            put in prop::collection::vec(any::<u8>(), 1..9),
            cut: bool,
        ) {
            let state = State { protocol: "dh".into(), role: Role::Sender, held: [4; DIGEST], seed: Seed::from_bytes([1; 16]), sent: [3; DIGEST], events: events(parts) };
            let mut bytes = state.write().to_vec();
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { put.iter().zip(&mut bytes[at..]).for_each(|(new, old)| *old ^= new | 1) }
            prop_assert!(State::read(&bytes).is_err());
            // Behind the digest: an error of one sentence, or a state no larger than its bytes.
            let bytes = resealed(bytes);
            match State::read(&bytes) {
                Err(error) => prop_assert!(!error.to_string().contains('\n')),
                Ok(state) => prop_assert!(state.write().len() <= bytes.len()),
            }
        }

        #[test]
        fn anything_else_is_no_state(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(State::read(&bytes).is_err());
            prop_assert!(State::read(&resealed(bytes)).is_err());
        }
    }

    #[test]
    fn lengths_that_are_not_there_take_no_memory() {
        let state = |events: Vec<u8>, count: u32| {
            let mut bytes =
                [&MAGIC[..], &[2], b"dh", &[0], &[4; DIGEST], &[1; 16], &[2; DIGEST], &count.to_le_bytes(), &events]
                    .concat();
            bytes.extend_from_slice(&[0; DIGEST]);
            State::read(&resealed(bytes))
        };
        assert!(state(vec![2, 2], 2).is_ok());
        assert!(state(vec![2], u32::MAX).is_err());
        assert!(state([&[0][..], &u64::MAX.to_le_bytes()].concat(), 1).is_err());
        for size in [u64::MAX, 1 << 60, 1 << 32] {
            assert!(state([&[1][..], &[0; 16], &size.to_le_bytes()].concat(), 1).is_err());
        }
        assert!(state([&[1][..], &(1u64 << 40).to_le_bytes(), &[0; 16]].concat(), 1).is_err());
    }
}

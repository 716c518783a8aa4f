//! A question about a prepared table, and what its owner offers to answer.

use tacit_math::Seed;
use tacit_psi::unbalanced::LARGEST_BUDGET;

use super::layout::Layout;
use super::{Kind, Message, Misbehaviour, kind};
use crate::messages::announcement::MOST_ROWS;

/// Fewer rows than this can be prepared.
pub const MOST_PREPARED: u64 = 1 << 32;

/// Names a published set.
pub type Fingerprint = [u8; 32];

/// The fingerprint of a published set.
pub fn fingerprint(published: &[u8]) -> Fingerprint {
    blake3::derive_key("tacit 2026-11-24 fingerprint of a published set", published)
}

/// What a party asks about: rows (8 bytes), whether it has a published set (1), and the fingerprint of that (32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// How many rows.
    pub rows: u64,
    /// The published set that it has.
    pub has: Option<Fingerprint>,
}

/// A prepared table, in 69 bytes, and its kinds.
#[derive(Clone)]
pub struct Offered {
    /// Rows of the table.
    pub rows: u64,
    /// How many rows may be asked about now.
    pub most: u64,
    /// How many rows may be asked about in all.
    pub budget: u64,
    /// The kinds of the key columns.
    pub kinds: Vec<Kind>,
    /// Of the published set.
    pub published: Fingerprint,
    /// The key of tokens.
    pub token_key: Seed,
}

impl Message for Asked {
    fn write(&self) -> Vec<u8> {
        let has = self.has.unwrap_or_default();
        [&self.rows.to_le_bytes()[..], &[u8::from(self.has.is_some())], &has].concat()
    }

    fn read(bytes: &[u8]) -> Result<Self, Misbehaviour> {
        let mut layout = Layout(bytes);
        let (rows, has, fingerprint) = (layout.long()?, layout.flag()?, layout.bytes()?);
        layout.end()?;
        match rows <= MOST_ROWS {
            true => Ok(Self { rows, has: has.then_some(fingerprint) }),
            false => Err(Misbehaviour::Rows),
        }
    }
}

impl Message for Offered {
    fn write(&self) -> Vec<u8> {
        let mut bytes = [self.rows, self.most, self.budget].map(u64::to_le_bytes).concat();
        bytes.extend_from_slice(&self.published);
        bytes.extend_from_slice(self.token_key.expose());
        kind::write(&self.kinds, &mut bytes);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Self, Misbehaviour> {
        let mut layout = Layout(bytes);
        let [rows, most, budget] = [layout.long()?, layout.long()?, layout.long()?];
        let (published, token_key) = (layout.bytes()?, Seed::from_bytes(layout.bytes()?));
        let kinds = kind::read(&mut layout)?;
        layout.end()?;
        if rows >= MOST_PREPARED {
            return Err(Misbehaviour::Rows);
        }
        if budget == 0 || budget > LARGEST_BUDGET || most > budget {
            return Err(Misbehaviour::Budget);
        }
        Ok(Self { rows, most, budget, kinds, published, token_key })
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Kind, Message, Misbehaviour, Offered, Seed};

    fn honest() -> Offered {
        let (published, token_key) = ([7; 32], Seed::from_bytes([9; 16]));
        Offered { rows: 10, most: 5, budget: 9, kinds: vec![Kind::Text], published, token_key }
    }

    fn read(change: impl FnOnce(&mut Offered)) -> Result<Offered, Misbehaviour> {
        let mut told = honest();
        change(&mut told);
        Offered::read(&told.write())
    }

    #[test]
    fn an_honest_offer_and_an_honest_question_are_heard() {
        let heard = read(|_| ()).expect("an honest offer");
        assert_eq!((heard.rows, heard.most, heard.budget, heard.published), (10, 5, 9, [7; 32]));
        assert_eq!((&heard.kinds[..], heard.token_key.expose()), (&[Kind::Text][..], &[9; 16]));
        for asked in [Asked { rows: 3, has: Some([1; 32]) }, Asked { rows: 0, has: None }] {
            assert_eq!(Asked::read(&asked.write()), Ok(asked));
            assert_eq!(asked.write().len(), 41);
        }
    }

    #[test]
    fn other_offers_and_questions_are_refused() {
        assert_eq!(read(|told| told.rows = 1 << 32).err(), Some(Misbehaviour::Rows));
        assert_eq!(read(|told| told.most = 10).err(), Some(Misbehaviour::Budget));
        assert_eq!(read(|told| told.budget = 0).err(), Some(Misbehaviour::Budget));
        assert_eq!(read(|told| told.budget = 1 << 60).err(), Some(Misbehaviour::Budget));
        let whole = honest().write();
        let (mut longer, mut unknown) = (whole.clone(), whole.clone());
        longer.push(0);
        *unknown.last_mut().expect("a kind") = 9;
        assert_eq!(Offered::read(&unknown).err(), Some(Misbehaviour::Kinds));
        for bytes in [&[], &whole[..whole.len() - 1], &longer] {
            assert_eq!(Offered::read(bytes).err(), Some(Misbehaviour::Layout));
        }
        let asked = Asked { rows: 1 << 40, has: None }.write();
        assert_eq!(Asked::read(&asked), Err(Misbehaviour::Rows));
        assert_eq!(Asked::read(&asked[1..]), Err(Misbehaviour::Layout));
    }
}

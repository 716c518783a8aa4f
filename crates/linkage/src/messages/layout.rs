//! The bytes of a message, from its beginning to its end.

use super::Misbehaviour;

/// The unread bytes of a message.
pub struct Layout<'a>(pub &'a [u8]);

impl Layout<'_> {
    /// The next bytes.
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Misbehaviour> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Misbehaviour::Layout)?;
        self.0 = rest;
        Ok(*first)
    }

    /// The next bytes, as many as a peer says: no more than there are.
    pub fn slice(&mut self, length: usize) -> Result<&[u8], Misbehaviour> {
        let (first, rest) = self.0.split_at_checked(length).ok_or(Misbehaviour::Layout)?;
        self.0 = rest;
        Ok(first)
    }

    /// A number of 2 bytes.
    pub fn short(&mut self) -> Result<usize, Misbehaviour> {
        Ok(usize::from(u16::from_le_bytes(self.bytes()?)))
    }

    /// A number of 8 bytes.
    pub fn long(&mut self) -> Result<u64, Misbehaviour> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    /// A yes or a no: 1 or 0.
    pub fn flag(&mut self) -> Result<bool, Misbehaviour> {
        match self.bytes()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Misbehaviour::Layout),
        }
    }

    /// Nothing is left.
    pub fn end(self) -> Result<(), Misbehaviour> {
        if self.0.is_empty() { Ok(()) } else { Err(Misbehaviour::Layout) }
    }
}

//! The kinds of key columns: keys match within one kind only.

use super::Misbehaviour;
use super::layout::Layout;

/// The kind of the values of a key column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Integers and decimals.
    Number,
    /// Floating-point numbers.
    Floating,
    /// True or false.
    Boolean,
    /// Days.
    Date,
    /// Points in time.
    ZonedTimestamp,
    /// Points in time of an unknown zone.
    Timestamp,
    /// Times of a day.
    Time,
    /// Anything else.
    Bytes,
}

impl Kind {
    /// All kinds, each with its name.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Text, "text"),
        (Self::Number, "number"),
        (Self::Floating, "floating-point number"),
        (Self::Boolean, "boolean"),
        (Self::Date, "date"),
        (Self::ZonedTimestamp, "timestamp with time zone"),
        (Self::Timestamp, "timestamp"),
        (Self::Time, "time"),
        (Self::Bytes, "bytes"),
    ];

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(kind, _)| kind)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// As many kinds as there are key columns: their number (2 bytes), and a byte each.
pub(super) fn write(kinds: &[Kind], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(kinds.len() as u16).to_le_bytes());
    bytes.extend(kinds.iter().map(|&kind| kind as u8));
}

/// The same, of a peer.
pub(super) fn read(layout: &mut Layout<'_>) -> Result<Vec<Kind>, Misbehaviour> {
    let count = layout.short()?;
    let kind = |&byte: &u8| Kind::ALL.get(usize::from(byte)).map(|(kind, _)| *kind).ok_or(Misbehaviour::Kinds);
    layout.slice(count)?.iter().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn kinds_are_listed_in_the_order_of_their_bytes() {
        for (byte, (kind, name)) in Kind::ALL.into_iter().enumerate() {
            assert_eq!((kind as usize, kind.name(), Kind::named(name)), (byte, name, Some(kind)));
        }
        assert_eq!(Kind::named("texts"), None);
    }
}

//! How a column is represented under sharing.

use serde::{Deserialize, Serialize};
use tacit_mpc::{OpenedKind, Sharing};

/// In what a value is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Repr {
    /// Boolean-shared planes.
    Bits,
    /// Additive shares modulo 2^64.
    Ring64,
    /// Additive shares modulo 2^128.
    Ring128,
}

impl From<Repr> for Sharing {
    fn from(repr: Repr) -> Self {
        match repr {
            Repr::Bits => Self::Bits,
            Repr::Ring64 => Self::Ring64,
            Repr::Ring128 => Self::Ring128,
        }
    }
}

impl From<Kind> for OpenedKind {
    fn from(Kind { repr, width, signed, nullable }: Kind) -> Self {
        Self { repr: repr.into(), width, signed, nullable }
    }
}

/// A column's representation with its public bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "KindJson")]
pub struct Kind {
    /// In what it is shared.
    pub repr: Repr,
    /// Bits of the value: the planes themselves, or the public bound of a ring element.
    pub width: usize,
    /// Whether the value is in two's complement.
    pub signed: bool,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// What the integers of a `bits` column stand for. Decides how a constant is encoded and what an opened column becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// An integer or a Boolean.
    #[default]
    Int,
    /// The keyed hash of a string.
    Hash,
    /// The zero-padded bytes of a string, the first one most significant.
    Bytes,
}

impl Kind {
    /// A truth value that is never NULL.
    pub const TRUTH: Self = Self { repr: Repr::Bits, width: 1, signed: false, nullable: false };

    /// Whether opened values are Booleans.
    pub fn is_boolean(&self) -> bool {
        self.repr == Repr::Bits && self.width == 1 && !self.signed
    }

    /// The smallest value.
    pub fn low(&self) -> i128 {
        if self.signed { i128::MIN >> (128 - self.width.min(128)) } else { 0 }
    }

    /// The largest value (of those that 127 bits hold).
    pub fn high(&self) -> i128 {
        let bits = if self.signed { self.width - 1 } else { self.width };
        if bits >= 127 { i128::MAX } else { (1 << bits) - 1 }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KindJson {
    repr: Repr,
    width: usize,
    signed: bool,
    nullable: bool,
}

impl TryFrom<KindJson> for Kind {
    type Error = String;

    fn try_from(json: KindJson) -> Result<Self, String> {
        let KindJson { repr, width, signed, nullable } = json;
        let most = match repr {
            Repr::Bits => 1 << 20,
            Repr::Ring64 => 64,
            Repr::Ring128 => 128,
        };
        if (1..=most).contains(&width) {
            Ok(Self { repr, width, signed, nullable })
        } else {
            Err(format!("a {repr:?} column of {width} bits: the width is 1 to {most}"))
        }
    }
}

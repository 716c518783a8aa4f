//! The name of a run, by which both parties recognise what each has kept of it. It follows from the key of the run's
//! tokens, of which it tells nothing.

use std::fmt::{Display, Formatter, Result as Written};
use std::str::FromStr;

use tacit_math::Seed;

/// The name of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunName(pub [u8; 16]);

impl RunName {
    /// Of the run with a key.
    pub fn of(key: &Seed) -> Self {
        let digest = blake3::derive_key("tacit 2026-11-24 name of a run of matching", key.expose());
        Self(std::array::from_fn(|at| digest[at]))
    }
}

impl Display for RunName {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Written {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// From 32 hexadecimal digits.
impl FromStr for RunName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits: Option<Vec<u8>> = text.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
        let digits: [u8; 32] = digits.and_then(|digits| digits.try_into().ok()).ok_or(())?;
        Ok(Self(std::array::from_fn(|at| digits[2 * at] << 4 | digits[2 * at + 1])))
    }
}

#[cfg(test)]
mod tests {
    use super::RunName;
    use tacit_math::Seed;

    #[test]
    fn a_name_is_read_as_it_is_written_and_runs_have_different_ones() {
        let [one, two] = [1, 2].map(|key| RunName::of(&Seed::from_bytes([key; 16])));
        assert_ne!(one, two);
        assert_eq!(one.to_string().parse(), Ok(one));
        for text in ["", "0", "g0000000000000000000000000000000", "0000000000000000000000000000000000"] {
            assert_eq!(text.parse::<RunName>(), Err(()));
        }
    }
}

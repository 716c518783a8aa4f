//! What the receiver of numbers tells the other party: how many keys match (8 bytes), whether a sum is shown (1), and
//! the sum or 0 (8). It is as long whatever the numbers are.

use super::layout::Layout;
use super::{Message, Misbehaviour};

/// Numbers in place of the rows that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// How many keys match.
    pub keys: u64,
    /// The sum over them, if it is shown.
    pub sum: Option<i64>,
}

impl Numbers {
    /// Whether they can be of tables of these rows. least: how many keys a sum stands for at least, if there is one.
    ///
    /// # Errors
    /// What cannot be.
    pub fn check(&self, rows: [u64; 2], least: Option<u64>) -> Result<(), Misbehaviour> {
        let shown = least.is_some_and(|least| self.keys >= least);
        match self.keys <= rows[0].min(rows[1]) && self.sum.is_some() == shown {
            true => Ok(()),
            false => Err(Misbehaviour::Numbers),
        }
    }
}

impl Message for Numbers {
    fn write(&self) -> Vec<u8> {
        let (shown, sum) = (u8::from(self.sum.is_some()), self.sum.unwrap_or(0));
        [&self.keys.to_le_bytes()[..], &[shown], &sum.to_le_bytes()].concat()
    }

    fn read(bytes: &[u8]) -> Result<Self, Misbehaviour> {
        let mut layout = Layout(bytes);
        let (keys, shown, sum) = (layout.long()?, layout.flag()?, i64::from_le_bytes(layout.bytes()?));
        layout.end()?;
        match shown || sum == 0 {
            true => Ok(Self { keys, sum: shown.then_some(sum) }),
            false => Err(Misbehaviour::Numbers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, Misbehaviour, Numbers};

    #[test]
    fn numbers_are_told_in_as_many_bytes_whatever_they_are() {
        let told = [(0, None), (3, None), (3, Some(0)), (3, Some(-5)), (u64::MAX, Some(i64::MAX)), (1, Some(i64::MIN))];
        for (keys, sum) in told {
            let numbers = Numbers { keys, sum };
            assert_eq!(Numbers::read(&numbers.write()), Ok(numbers));
            assert_eq!(numbers.write().len(), 17);
        }
    }

    #[test]
    fn other_bytes_are_no_numbers() {
        let mut undecided = Numbers { keys: 1, sum: Some(2) }.write();
        undecided[8] = 2;
        let mut unshown = Numbers { keys: 1, sum: None }.write();
        unshown[16] = 1;
        for bytes in [vec![], b"{}".to_vec(), vec![0; 16], vec![0; 18], undecided] {
            assert_eq!(Numbers::read(&bytes), Err(Misbehaviour::Layout));
        }
        assert_eq!(Numbers::read(&unshown), Err(Misbehaviour::Numbers));
    }

    #[test]
    fn numbers_that_no_tables_have_are_refused() {
        let check = |keys, sum, least| Numbers { keys, sum }.check([5, 9], least).is_ok();
        assert!(check(5, None, None) && check(5, Some(7), Some(5)) && check(4, None, Some(5)));
        assert!(!check(6, None, None) && !check(6, Some(7), Some(5)));
        assert!(!check(5, Some(7), None) && !check(5, None, Some(5)) && !check(4, Some(7), Some(5)));
    }
}

//! Keys of a join of two owners' tables at their owner: which rows have equal keys, as items for a protocol.
//!
//! An item is the keyed hash of all key columns of a row, each as its integer encoding or as its string with its length
//! before it. So two rows have the same item exactly when the engine's join would find their keys equal, but for a
//! collision. Two of n different keys share an item with a probability below n^2 / 2^129. A row with a NULL among its
//! keys has no item. Whatever is missing to the public size are random items, which match nothing, so that neither
//! NULLs nor repeated keys show.

use tacit_math::{KeyedHash, Prg, Seed};

use crate::data::{ColumnData, DataColumn, DataTable};
use crate::error::{Result, TableError};
use crate::operator::{Encoding, PsiSide};
use crate::wrong_input::WrongInput;

/// Bytes of an integer in what is hashed.
const INTEGER: usize = size_of::<i128>();

/// An owner's rows, grouped by their keys. Debug would show keys: there is none.
pub struct KeyGroups {
    /// Items of the groups, then random ones up to the public size.
    pub items: Vec<u128>,
    /// The rows of all groups, group by group.
    rows: Vec<u32>,
    /// Where each group's rows end.
    ends: Vec<u32>,
}

impl KeyGroups {
    /// Groups the rows of a side's data and pads the items to `size`. unique: no key may repeat.
    ///
    /// # Errors
    /// [`TableError::Input`] when the data has more rows than `size`, lacks a key column or repeats unique keys;
    /// [`TableError::Internal`] when the operating system gives no randomness.
    pub fn new(side: &PsiSide, data: &DataTable, size: usize, unique: bool, hash: &KeyedHash) -> Result<Self> {
        if data.rows > size {
            let (owner, rows) = (side.owner.clone(), data.rows);
            return Err(WrongInput::Undeclared { owner, rows, most: size, operator: "join" }.into());
        }
        let mut tokens = tokens(side, data, hash)?;
        tokens.sort_unstable();
        let groups = tokens.chunk_by(|a, b| a.0 == b.0);
        let (items, ends): (Vec<u128>, Vec<u32>) = groups
            .scan(0, |end, group| {
                *end += group.len() as u32;
                Some((group[0].0, *end))
            })
            .unzip();
        if unique && items.len() < tokens.len() {
            return Err(WrongInput::RepeatedKeys { owner: side.owner.clone() }.into());
        }
        let rows = tokens.into_iter().map(|(_, row)| row).collect();
        Ok(Self { items: padded(items, size)?, rows, ends })
    }

    /// How many rows each of the matching items stands for.
    pub fn counts(&self, matching: &[u32]) -> Vec<u32> {
        matching.iter().map(|&item| self.group(item).len() as u32).collect()
    }

    /// The rows of the matching items, one after the other; a single row of an item as often as its count says.
    pub fn rows(&self, matching: &[u32], counts: &[u32]) -> Vec<u32> {
        let repeated = matching.iter().zip(counts).flat_map(|(&item, &count)| {
            let group = self.group(item);
            group.iter().cycle().take(group.len().max(count as usize))
        });
        repeated.copied().collect()
    }

    /// The row of every item, `none` for random ones. Keys are unique.
    pub fn row_of_each(&self, none: u32) -> Vec<u32> {
        let mut rows = self.rows.clone();
        rows.resize(self.items.len(), none);
        rows
    }

    /// The row of every item. Of the `rows` rows, those without a key have random items. Random items that are left
    /// have `rows`, which is none. Keys are unique.
    pub fn row_of_each_or_keyless(&self, rows: usize) -> Vec<u32> {
        let mut keyed = vec![false; rows];
        self.rows.iter().for_each(|&row| keyed[row as usize] = true);
        let keyless = (0..rows as u32).filter(|&row| !keyed[row as usize]);
        let mut found: Vec<u32> = self.rows.iter().copied().chain(keyless).collect();
        found.resize(self.items.len(), rows as u32);
        found
    }

    /// The rows of an item; random ones have none.
    fn group(&self, item: u32) -> &[u32] {
        let item = item as usize;
        let Some(&end) = self.ends.get(item) else { return &[] };
        let start = if item == 0 { 0 } else { self.ends[item - 1] };
        &self.rows[start as usize..end as usize]
    }
}

/// Item and row of every row without a NULL among its keys.
fn tokens(side: &PsiSide, data: &DataTable, hash: &KeyedHash) -> Result<Vec<(u128, u32)>> {
    let columns = side.keys.iter().map(|key| {
        let column = data
            .column(&key.source)
            .ok_or_else(|| WrongInput::DataColumn { owner: side.owner.clone(), name: key.source.clone() })?;
        let text = matches!(column.data, ColumnData::Text(_));
        if text != (key.encode == Encoding::Hash) || column.data.rows() != data.rows {
            let (name, found) = (key.source.clone(), column.data.description());
            return Err(WrongInput::KeyColumn { name, found }.into());
        }
        Ok(column)
    });
    let columns: Vec<&DataColumn> = columns.collect::<Result<_>>()?;
    let mut bytes = Vec::new();
    let rows = (0..data.rows).filter(|&row| columns.iter().all(|column| !column.is_null(row)));
    let token = |row: usize| {
        bytes.clear();
        columns.iter().for_each(|column| write(&column.data, row, &mut bytes));
        (hash.hash(&bytes), row as u32)
    };
    Ok(rows.map(token).collect())
}

fn write(data: &ColumnData, row: usize, out: &mut Vec<u8>) {
    let integer = match data {
        ColumnData::Integers(values) => i128::from(values[row]),
        ColumnData::Wide(values) => values[row],
        ColumnData::Booleans(values) => i128::from(values.get(row)),
        ColumnData::Text(text) => {
            let string = text.get(row);
            out.extend_from_slice(&(string.len() as u64).to_le_bytes());
            return out.extend_from_slice(string);
        }
    };
    let bytes: [u8; INTEGER] = integer.to_le_bytes();
    out.extend_from_slice(&bytes);
}

fn padded(mut items: Vec<u128>, size: usize) -> Result<Vec<u128>> {
    let seed = Seed::random().map_err(|error| {
        TableError::Internal(format!("the operating system gives no randomness ({error}); start again"))
    })?;
    items.extend(Prg::new(&seed).vector::<u128>(size - items.len()));
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Text;
    use crate::operator::PsiKey;
    use tacit_math::Plane;

    fn side(keys: &[(&str, Encoding)]) -> PsiSide {
        let keys = keys.iter().map(|&(source, encode)| PsiKey { source: source.into(), encode }).collect();
        PsiSide { local: 1, owner: "a".into(), rows: None, pad_to_source: false, keys, columns: vec![] }
    }

    fn column(name: &str, data: ColumnData, nulls: Option<&[usize]>) -> DataColumn {
        let nulls = nulls.map(|rows| Plane::from_fn(data.rows(), |row| rows.contains(&row)));
        DataColumn { name: name.into(), data, nulls }
    }

    fn table(columns: Vec<DataColumn>) -> DataTable {
        DataTable { rows: columns[0].data.rows(), columns, pad_to: None }
    }

    fn text(strings: &[&str]) -> ColumnData {
        let mut text = Text::default();
        strings.iter().for_each(|string| text.push(string.as_bytes()));
        ColumnData::Text(text)
    }

    fn hash() -> KeyedHash {
        KeyedHash::new(&[7; 32])
    }

    fn groups(keys: &[(&str, Encoding)], data: &DataTable, size: usize) -> KeyGroups {
        KeyGroups::new(&side(keys), data, size, false, &hash()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The rows of the groups, each sorted, in the order of their first rows.
    fn grouped(found: &KeyGroups) -> Vec<Vec<u32>> {
        let mut groups: Vec<Vec<u32>> = (0..found.ends.len() as u32).map(|item| found.group(item).to_vec()).collect();
        groups.sort();
        groups
    }

    #[test]
    fn rows_of_equal_keys_are_one_item_and_nulls_none() {
        let numbers = ColumnData::Integers(vec![5, 6, 5, 5, 0, 6]);
        let data =
            table(vec![column("n", numbers, Some(&[4])), column("s", text(&["x", "y", "x", "z", "", ""]), Some(&[5]))]);
        let found = groups(&[("n", Encoding::Int), ("s", Encoding::Hash)], &data, 9);
        assert_eq!(grouped(&found), [vec![0, 2], vec![1], vec![3]]);
        assert_eq!(found.items.len(), 9);
    }

    #[test]
    fn items_depend_on_values_and_not_on_how_they_are_held() {
        let key = [("k", Encoding::Int)];
        let one = groups(&key, &table(vec![column("k", ColumnData::Integers(vec![-3, 1]), None)]), 2);
        let other = groups(&key, &table(vec![column("k", ColumnData::Wide(vec![1, -3]), None)]), 2);
        assert_eq!(one.items, other.items);
        let truth = ColumnData::Booleans(Plane::from_fn(1, |_| true));
        assert!(one.items.contains(&groups(&key, &table(vec![column("k", truth, None)]), 1).items[0]));
    }

    #[test]
    fn where_one_string_ends_and_the_next_begins_matters() {
        let keys = [("a", Encoding::Hash), ("b", Encoding::Hash)];
        let one = groups(&keys, &table(vec![column("a", text(&["xy"]), None), column("b", text(&["z"]), None)]), 1);
        let other = groups(&keys, &table(vec![column("a", text(&["x"]), None), column("b", text(&["yz"]), None)]), 1);
        assert_ne!(one.items, other.items);
    }

    #[test]
    fn matching_items_become_rows_side_by_side() {
        let key = [("k", Encoding::Int)];
        let left = groups(&key, &table(vec![column("k", ColumnData::Integers(vec![1, 2, 3]), None)]), 4);
        let right = groups(&key, &table(vec![column("k", ColumnData::Integers(vec![3, 1, 3, 9]), None)]), 5);
        let place = |of: &KeyGroups, item: u128| of.items.iter().position(|&each| each == item).expect("there") as u32;
        let common: Vec<u128> = left.items.iter().copied().filter(|item| right.items.contains(item)).collect();
        let mine: Vec<u32> = common.iter().map(|&item| place(&left, item)).collect();
        let theirs: Vec<u32> = common.iter().map(|&item| place(&right, item)).collect();
        let counts = right.counts(&theirs);
        let mut pairs: Vec<_> = left.rows(&mine, &counts).into_iter().zip(right.rows(&theirs, &counts)).collect();
        pairs.sort_unstable();
        assert_eq!(pairs, [(0, 1), (2, 0), (2, 2)]);
    }

    #[test]
    fn repeated_unique_keys_too_many_rows_and_wrong_columns_are_input_errors() {
        let data = table(vec![column("k", ColumnData::Integers(vec![1, 1]), None)]);
        let refused = |side: PsiSide, size, unique| match KeyGroups::new(&side, &data, size, unique, &hash()) {
            Err(TableError::Input { what, .. }) => Some(what),
            _ => None,
        };
        let keys = |name, encoding| side(&[(name, encoding)]);
        assert!(matches!(refused(keys("k", Encoding::Int), 2, true), Some(WrongInput::RepeatedKeys { .. })));
        let many = refused(keys("k", Encoding::Int), 1, false);
        assert!(matches!(many, Some(WrongInput::Undeclared { rows: 2, most: 1, operator: "join", .. })));
        let missing = refused(keys("missing", Encoding::Int), 2, false);
        assert!(matches!(missing, Some(WrongInput::DataColumn { name, .. }) if name == "missing"));
        assert!(matches!(refused(keys("k", Encoding::Hash), 2, false), Some(WrongInput::KeyColumn { .. })));
        assert!(refused(keys("k", Encoding::Int), 2, false).is_none());
    }
}
